// SPDX-License-Identifier: Apache-2.0
#include "lib/aot/Archive.h"
#include "lib/aot/ObjectMerge.h"
#include "lib/aot/RuntimeArchive.h"

#include <gtest/gtest.h>

#include <algorithm>

namespace nereid::aot {
namespace {

TEST(AotArchive, MembersComeBack) {
  const std::vector<ArchiveMember> members = {
      {"a.o", {1, 2, 3}},
      {"a_member_with_a_long_name.o", {4, 5}},
      {"exactly_fifteen", {}},
      {"another_member_with_a_long_name.o", std::vector<uint8_t>(1001, 7)}};
  Result<std::vector<uint8_t>> written = writeArchive(members);
  ASSERT_TRUE(written);
  const std::vector<uint8_t> &bytes = *written;
  const std::string text(bytes.begin(), bytes.end());
  EXPECT_EQ(text.substr(0, 10), "!<arch>\n//"); // no symbols, no index of them
  EXPECT_NE(text.find("a.o/            0           0     0     644     3         `\n"),
            std::string::npos);
  auto back = readArchive(bytes);
  ASSERT_TRUE(back);
  ASSERT_EQ(back->size(), members.size());
  for (size_t i = 0; i < members.size(); ++i) {
    EXPECT_EQ((*back)[i].name, members[i].name);
    EXPECT_EQ((*back)[i].bytes, members[i].bytes);
  }
}

TEST(AotArchive, EqualObjectsMakeEqualBytesWithAnIndex) {
  auto members = readArchive(runtimeArchive());
  ASSERT_TRUE(members);
  Result<std::vector<uint8_t>> bytes = writeArchive(*members), again = writeArchive(*members);
  ASSERT_TRUE(bytes && again);
  EXPECT_EQ(*bytes, *again);
  const std::string text(bytes->begin(), bytes->end());
  EXPECT_EQ(text.substr(0, 24), "!<arch>\n/               ");
  const std::string index = text.substr(0, text.find("ELF"));
  for (const ArchiveMember &member : *members) {
    for (const std::string &symbol : definedGlobals(member.bytes)) {
      EXPECT_NE(index.find(symbol + '\0'), std::string::npos) << symbol;
    }
  }
}

TEST(AotArchive, DamagedObjectsAreNotPutIn) {
  auto members = readArchive(runtimeArchive());
  ASSERT_TRUE(members);
  members->back().bytes.resize(40);
  Result<std::vector<uint8_t>> bytes = writeArchive(*members);
  ASSERT_FALSE(bytes);
  EXPECT_EQ(bytes.error().code, "E0024");
  EXPECT_NE(bytes.error().message.find(members->back().name), std::string::npos)
      << bytes.error().message;
}

TEST(AotArchive, ThinOnesAreRefused) {
  const std::string text = "!<thin>\n";
  EXPECT_FALSE(readArchive(std::span(reinterpret_cast<const uint8_t *>(text.data()), 8)));
}

TEST(AotArchive, DamagedOnesAreRefused) {
  const std::vector<uint8_t> bytes = *writeArchive({{"a.o", {1, 2, 3, 4}}});
  for (size_t length = 9; length < bytes.size(); ++length) {
    auto cut = readArchive(std::span(bytes).first(length));
    EXPECT_TRUE(!cut || cut->empty()) << length;
  }
  EXPECT_FALSE(readArchive({}));
}

TEST(AotArchive, RuntimeIsComplete) {
  auto members = readArchive(runtimeArchive());
  ASSERT_TRUE(members);
  std::vector<std::string> names;
  for (const ArchiveMember &member : *members) {
    for (const std::string &name : definedGlobals(member.bytes)) {
      names.push_back(name);
    }
  }
  for (const char *name : {"nereid_rt_launch_6", "nereid_rt_select_6", "nereid_rt_assert_fail",
                           "nereid_rt_print", "nereid_rt_yield", "nereid_aot_release"}) {
    EXPECT_NE(std::find(names.begin(), names.end(), name), names.end()) << name;
  }
#if !__has_feature(address_sanitizer) && !__has_feature(thread_sanitizer) // they double its code
  EXPECT_LT(runtimeArchive().size(), 300u << 10);
#endif
  EXPECT_NE(runtimeHeader().find("nereid_aot_options"), std::string_view::npos);
}

TEST(AotMerge, DamagedObjectsAreRefused) {
  auto members = readArchive(runtimeArchive());
  ASSERT_TRUE(members);
  const std::vector<uint8_t> &object = members->front().bytes;
  ASSERT_NE(machineOf(object), 0);
  for (size_t length = 0; length < object.size(); length += 7) {
    EXPECT_FALSE(mergeObjects({{std::span(object).first(length), {}}}, {})) << length;
  }
}

} // namespace
} // namespace nereid::aot
