// SPDX-License-Identifier: Apache-2.0
// SHA-256 against the vectors of FIPS 180-4's examples and NIST's long message.
#include "lib/support/Hash.h"

#include <gtest/gtest.h>

#include <map>

using namespace nereid;

namespace {

TEST(Hash, KnownVectors) {
  EXPECT_EQ(toHex(sha256("")), "e3b0c44298fc1c149afbf4c8996fb92427ae41e4649b934ca495991b7852b855");
  EXPECT_EQ(toHex(sha256("abc")),
            "ba7816bf8f01cfea414140de5dae2223b00361a396177a9cb410ff61f20015ad");
  EXPECT_EQ(toHex(sha256("abcdbcdecdefdefgefghfghighijhijkijkljklmklmnlmnomnopnopq")),
            "248d6a61d20638b8e5c026930c3e6039a33ce45964ff2167f6ecedd419db06c1");
  EXPECT_EQ(toHex(sha256(std::string(1000000, 'a'))),
            "cdc76e5c9914fb9281a1c7e284d73e67f1809a48a497200e046d39ccc7112cd0");
}

/// Around the ends of blocks; the digests are those of Python's hashlib.
TEST(Hash, LengthsAroundBlocks) {
  std::string text;
  for (int i = 0; i < 300; ++i) {
    text += static_cast<char>(i * 7);
  }
  const std::map<size_t, std::string> beginnings = {
      {55, "576a1bf8d4478657"},  {56, "9b20501dfd1d9916"},  {63, "30b345906b493f06"},
      {64, "d8bc63b4fc1156e5"},  {65, "1ee23b0fbcaecc1a"},  {119, "7a6589821178918c"},
      {120, "655250427d56b1b0"}, {128, "54c9eb041badfd70"}, {300, "9a76b8af8f16f19d"}};
  for (const auto &[length, beginning] : beginnings) {
    EXPECT_EQ(toHex(sha256(text.substr(0, length))).substr(0, 16), beginning) << length;
  }
}

TEST(Hash, FieldsAreSeparated) {
  EXPECT_NE(Sha256().field("ab").field("c").finish(), Sha256().field("a").field("bc").finish());
  using namespace std::string_literals;
  EXPECT_EQ(Sha256().field("ab").field("").finish(), sha256("\2\0\0\0\0\0\0\0ab\0\0\0\0\0\0\0\0"s));
}

} // namespace
