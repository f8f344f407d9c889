// SPDX-License-Identifier: Apache-2.0
// What becomes a parameter of the launcher, under which conditions a specialization runs, and in
// which order they are tried.
#include "lib/aot/Interface.h"
#include "lib/language/syntax/Parser.h"

#include <gtest/gtest.h>

namespace nereid::aot {
namespace {

Result<Interface> interfaceOf(const std::string &parameters,
                              const std::vector<std::string> &signatures) {
  Diagnostics diags;
  auto module =
      language::parseModule("k.py", "@triton.jit\ndef k(" + parameters + "):\n    pass\n", diags);
  std::vector<language::Signature> parsed;
  for (const std::string &signature : signatures) {
    auto one = language::parseSignature(signature, *module->find("k"));
    if (!one) {
      return one.error();
    }
    parsed.push_back(*one);
  }
  return makeInterface(parsed);
}

std::vector<std::string> order(const Interface &interface) {
  std::vector<std::string> texts;
  for (const SpecializationPlan &plan : interface.specializations) {
    texts.push_back(plan.signature);
  }
  return texts;
}

TEST(AotInterface, SameConstantIsNoParameter) {
  auto interface =
      interfaceOf("x, n, BLOCK: tl.constexpr", {"*fp32, i32, 64", "*fp32:16, i32, 64"});
  ASSERT_TRUE(interface);
  ASSERT_EQ(interface->parameters.size(), 2u);
  EXPECT_EQ(interface->parameters[0].type(), "float *");
  EXPECT_EQ(interface->parameters[1].type(), "int32_t ");
  EXPECT_EQ(interface->specializations[0].constants.at("BLOCK"), 64);
  EXPECT_EQ(order(*interface),
            (std::vector<std::string>{"x=*fp32:16,n=i32,BLOCK=64", "x=*fp32,n=i32,BLOCK=64"}));
}

TEST(AotInterface, DifferentConstantsAreAsked) {
  auto interface = interfaceOf("x, BLOCK: tl.constexpr, FAST: tl.constexpr, P: tl.constexpr",
                               {"*fp32, 64, True, 0.5", "*fp32, 128, False, 1"});
  ASSERT_TRUE(interface);
  ASSERT_EQ(interface->parameters.size(), 4u);
  EXPECT_EQ(interface->parameters[1].type(), "int64_t ");
  EXPECT_EQ(interface->parameters[2].type(), "bool ");
  EXPECT_EQ(interface->parameters[3].type(), "double ");
  const auto &conditions = interface->specializations[1].conditions;
  ASSERT_EQ(conditions.size(), 3u);
  EXPECT_EQ(conditionText(*interface, conditions[0]), "BLOCK is 128");
  EXPECT_EQ(conditionText(*interface, conditions[1]), "FAST is 0");
  EXPECT_EQ(conditionText(*interface, conditions[2]), "P is 1");
  EXPECT_EQ(conditions[2].value, 0x3FF0000000000000); // 1.0
  // The entry takes only x.
  EXPECT_EQ(interface->specializations[1].slots, std::vector<int64_t>{0});
}

TEST(AotInterface, ChainOfPromisesInAnyOrder) {
  auto interface = interfaceOf("x, n", {"*fp32, i32", "*fp32:16, i32:16", "*fp32:64, i32:16",
                                        "*fp32:16, i32", "*fp32:64, 32"});
  ASSERT_TRUE(interface);
  EXPECT_EQ(order(*interface),
            (std::vector<std::string>{"x=*fp32:64,n=32", "x=*fp32:64,n=i32:16",
                                      "x=*fp32:16,n=i32:16", "x=*fp32:16,n=i32", "x=*fp32,n=i32"}));
}

TEST(AotInterface, UnrelatedOnesStayInOrder) {
  auto interface = interfaceOf("x, y, n", {"*fp32, *fp32:16, i32", "*fp32:16, *fp32, i32"});
  ASSERT_TRUE(interface);
  EXPECT_EQ(order(*interface)[0], "x=*fp32,y=*fp32:16,n=i32");
}

TEST(AotInterface, Refused) {
  struct Case {
    std::vector<std::string> signatures;
    const char *why;
  };
  for (const Case &one : std::vector<Case>{
           {{"*fp32, i32, 1", "*fp16, i32, 1"}, "parameter 'x': it has another type"},
           {{"*fp32, i32, 1", "*fp32, i64, 1"}, "parameter 'n': it has another type"},
           {{"*fp32, i32, 1", "*fp32, i32, 1"}, "would never run"},
           {{"*fp32, i32, \"a\"", "*fp32, i32, \"b\""}, "choose by the constant"},
           {{"*fp32, i32, 1", "None, None, 1"}, "between None and a value at run time"},
       }) {
    auto interface = interfaceOf("x, n, C: tl.constexpr", one.signatures);
    ASSERT_FALSE(interface) << one.why;
    EXPECT_EQ(interface.error().code, "E0020");
    EXPECT_NE(interface.error().message.find(one.why), std::string::npos)
        << interface.error().message;
  }
}

TEST(AotInterface, GridArgumentsComeLast) {
  Diagnostics diags;
  auto module = language::parseModule("k.py", "@triton.jit\ndef k(x, n):\n    pass\n", diags);
  auto signature = language::parseSignature("*fp32, i32", *module->find("k"));
  auto interface = makeInterface({*signature}, {"rows", "heads"});
  ASSERT_TRUE(interface);
  ASSERT_EQ(interface->parameters.size(), 4u);
  EXPECT_EQ(interface->parameters[2].name, "rows");
  EXPECT_EQ(interface->parameters[3].type(), "int64_t ");
  EXPECT_EQ(interface->specializations[0].slots, (std::vector<int64_t>{0, 1}));
  for (const char *name : {"x", "for", "a-b", ""}) {
    auto refused = makeInterface({*signature}, {name});
    ASSERT_FALSE(refused) << name;
    EXPECT_EQ(refused.error().code, "E0023");
  }
}

TEST(AotInterface, NamesThatCCannotHave) {
  auto interface = interfaceOf("default, default_, options", {"i32, i32, *bf16"});
  ASSERT_TRUE(interface);
  EXPECT_EQ(interface->parameters[0].name, "default_");
  EXPECT_EQ(interface->parameters[1].name, "default__");
  EXPECT_EQ(interface->parameters[2].name, "options_");
  EXPECT_EQ(interface->parameters[2].type(), "uint16_t *");
  EXPECT_FALSE(isCName("größe"));
  EXPECT_FALSE(isCName("2d"));
  EXPECT_FALSE(isCName("template"));
  EXPECT_TRUE(isCName("_x2"));
}

} // namespace
} // namespace nereid::aot
