// SPDX-License-Identifier: Apache-2.0
// SHA-256 against the vectors of FIPS 180-4's examples and NIST's long message.
#include "lib/support/Hash.h"

#include <gtest/gtest.h>

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

TEST(Hash, PiecesMakeNoDifference) {
  std::string text;
  for (int i = 0; i < 300; ++i) {
    text += static_cast<char>(i * 7);
  }
  for (size_t length : {55u, 56u, 63u, 64u, 65u, 119u, 120u, 128u, 300u}) {
    const std::string part = text.substr(0, length);
    for (size_t cut : {size_t{0}, size_t{1}, length / 2, length}) {
      Sha256 hash;
      hash.add(std::string_view(part).substr(0, cut)).add(std::string_view(part).substr(cut));
      EXPECT_EQ(hash.finish(), sha256(part)) << length << " " << cut;
    }
  }
}

TEST(Hash, FieldsAreSeparated) {
  EXPECT_NE(Sha256().field("ab").field("c").finish(), Sha256().field("a").field("bc").finish());
  EXPECT_EQ(Sha256().field("ab").finish(), Sha256().field("ab").finish());
}

} // namespace
