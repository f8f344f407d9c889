// SPDX-License-Identifier: Apache-2.0
// Specializations by ranges of sizes: their conditions, their order, which overlaps are refused,
// and constants that the launcher takes from the specialization instead of asking for them.
#include "lib/aot/Interface.h"
#include "lib/language/syntax/Parser.h"

#include <gtest/gtest.h>

namespace nereid::aot {
namespace {

Result<Interface> interfaceOf(const std::vector<std::string> &signatures,
                              const std::vector<std::string> &chosen = {}) {
  Diagnostics diags;
  auto module = language::parseModule(
      "k.py", "@triton.jit\ndef k(x, m, n, BLOCK: tl.constexpr):\n    pass\n", diags);
  std::vector<language::Signature> parsed;
  for (const std::string &signature : signatures) {
    auto one = language::parseSignature(signature, *module->find("k"));
    if (!one) {
      return one.error();
    }
    parsed.push_back(*one);
  }
  return makeInterface(parsed, {}, chosen);
}

std::vector<std::string> order(const Interface &interface) {
  std::vector<std::string> texts;
  for (const SpecializationPlan &plan : interface.specializations) {
    texts.push_back(plan.signature);
  }
  return texts;
}

TEST(AotRanges, BecomeConditions) {
  auto interface = interfaceOf({"*fp32, i32, i32:16{1..4096}, 64", "*fp32, i32, i32{4097..}, 64"});
  ASSERT_TRUE(interface);
  const auto &first = interface->specializations[0];
  ASSERT_EQ(first.conditions.size(), 3u);
  EXPECT_EQ(conditionText(*interface, first.conditions[0]), "n is divisible by 16");
  EXPECT_EQ(conditionText(*interface, first.conditions[1]), "n is at least 1");
  EXPECT_EQ(conditionText(*interface, first.conditions[2]), "n is at most 4096");
  EXPECT_EQ(first.kernelSignature, "x=*fp32,m=i32,n=i32:16,BLOCK=64");
  EXPECT_EQ(interface->specializations[1].conditions.size(), 1u);
}

TEST(AotRanges, TheInnerOneComesFirst) {
  auto interface = interfaceOf({"*fp32, i32, i32, 64", "*fp32, i32, i32{..4096}, 64",
                                "*fp32, i32, i32{1..64}, 64", "*fp32, i32, 7, 64"});
  ASSERT_TRUE(interface);
  ASSERT_EQ(order(*interface).size(), 4u);
  EXPECT_EQ(order(*interface)[0], "x=*fp32,m=i32,n=7,BLOCK=64");
  EXPECT_EQ(order(*interface)[1], "x=*fp32,m=i32,n=i32{1..64},BLOCK=64");
  EXPECT_EQ(order(*interface)[2], "x=*fp32,m=i32,n=i32{..4096},BLOCK=64");
  EXPECT_EQ(order(*interface)[3], "x=*fp32,m=i32,n=i32,BLOCK=64");
}

TEST(AotRanges, OverlapsAreRefused) {
  auto partly = interfaceOf({"*fp32, i32, i32{1..4096}, 64", "*fp32, i32, i32{4096..9000}, 64"});
  ASSERT_FALSE(partly);
  EXPECT_EQ(partly.error().code, "E0026");
  EXPECT_EQ(
      partly.error().message,
      "two specializations are meant when n is from 4096 to 4096: "
      "'x=*fp32,m=i32,n=i32{1..4096},BLOCK=64' and 'x=*fp32,m=i32,n=i32{4096..9000},BLOCK=64'");
  // A cross: neither is inside the other.
  auto cross = interfaceOf({"*fp32, i32{..8}, i32, 64", "*fp32, i32, i32{9..}, 64"});
  ASSERT_FALSE(cross);
  EXPECT_NE(cross.error().message.find("when m is at most 8 and n is at least 9"),
            std::string::npos)
      << cross.error().message;
  EXPECT_EQ(interfaceOf({"*fp32, i32, i32{1..4}, 64", "*fp32, i32, i32{1..4}, 64"}).error().code,
            "E0020");
  // Disjoint in one parameter, or different in something else.
  EXPECT_TRUE(interfaceOf({"*fp32, i32{..8}, i32, 64", "*fp32, i32{9..}, i32{9..}, 64"}));
  EXPECT_TRUE(interfaceOf({"*fp32, i32, i32{1..8}, 64", "*fp32, i32, i32{5..9}, 128"}));
}

TEST(AotRanges, ChosenConstantsAreNotAsked) {
  const std::vector<std::string> signatures = {"*fp32, i32, i32{..1024}, 1024",
                                               "*fp32, i32, i32{1025..}, 4096"};
  auto asked = interfaceOf(signatures), chosen = interfaceOf(signatures, {"BLOCK"});
  ASSERT_TRUE(asked && chosen);
  EXPECT_EQ(asked->parameters.size(), 4u);
  EXPECT_EQ(chosen->parameters.size(), 3u);
  EXPECT_EQ(chosen->specializations[0].conditions.size(), 1u);
  EXPECT_EQ(chosen->specializations[0].constants.at("BLOCK"), 1024);
  EXPECT_EQ(chosen->specializations[1].constants.at("BLOCK"), 4096);
  // Nothing is left to choose by.
  auto same = interfaceOf({"*fp32, i32, i32, 64", "*fp32, i32, i32, 128"}, {"BLOCK"});
  ASSERT_FALSE(same);
  EXPECT_NE(same.error().message.find("would never run"), std::string::npos);
  for (const char *name : {"FOO", "n"}) {
    auto refused = interfaceOf({"*fp32, i32, i32, 64", "*fp32, i32, 7, 64"}, {name});
    ASSERT_FALSE(refused) << name;
    EXPECT_EQ(refused.error().code, "E0020");
  }
}

} // namespace
} // namespace nereid::aot
