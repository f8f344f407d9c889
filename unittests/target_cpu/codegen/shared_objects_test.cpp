// SPDX-License-Identifier: Apache-2.0
// Kernels whose code is the same share an object, whatever their descriptions say; others do not.
#include "lib/targets/cpu/codegen/SharedObjects.h"

#include "lib/targets/cpu/codegen/Codegen.h"

#include <fmt/format.h>
#include <gtest/gtest.h>

namespace nereid::cpu {
namespace {

class SharedObjectsTest : public testing::Test {
protected:
  SharedObjectsTest() : generator(*parseMachine("")) {}

  /// A function that stores the number.
  std::unique_ptr<pipeline::CodeModule> code(const std::string &name, int number,
                                             const std::string &description) {
    const std::string text =
        fmt::format("target triple = \"{}\"\ndefine void @{}(ptr %0) {{\n  store i32 {}, ptr %0\n"
                    "  ret void\n}}\n",
                    generator.machine().triple, name, number);
    Diagnostics diags;
    auto made = generator.parse(text, "test.ll", diags);
    EXPECT_TRUE(made) << diags.render();
    made->attachKernelInfo(description);
    return made;
  }
  std::string key(pipeline::CodeModule &code, const std::string &machine = "m") {
    return keyOfCode(static_cast<codegen::LlvmModule &>(code), machine);
  }

  CodeGenerator generator;
};

TEST_F(SharedObjectsTest, CodeDecidesAndItsDescriptionDoesNot) {
  auto first = code("shared_key", 1, "a"), same = code("shared_key", 1, "b");
  auto other = code("shared_key", 2, "a");
  EXPECT_EQ(key(*first), "") << "nobody has compiled one of this name";
  EXPECT_NE(key(*first), "");
  EXPECT_EQ(key(*first), key(*same));
  EXPECT_EQ(same->kernelInfo(), "b");
  EXPECT_NE(key(*first), key(*other));
  EXPECT_EQ(key(*first, "n"), "") << "another machine";
  EXPECT_NE(key(*first, "n"), key(*first));
}

TEST_F(SharedObjectsTest, ObjectsAreThoseOfTheirCode) {
  std::vector<std::vector<uint8_t>> objects;
  for (int number : {7, 7, 7, 8, 7}) {
    Diagnostics diags;
    auto made = code("shared_object", number, fmt::format("kernel {}", objects.size()));
    EXPECT_TRUE(generator.emitObject(*made, objects.emplace_back(), diags)) << diags.render();
  }
  EXPECT_FALSE(objects[0].empty());
  EXPECT_EQ(objects[0], objects[1]);
  EXPECT_EQ(objects[0], objects[2]);
  EXPECT_NE(objects[0], objects[3]);
  EXPECT_EQ(objects[0], objects[4]);
}

TEST_F(SharedObjectsTest, AKnownObjectIsNotMadeAgain) {
  auto first = code("shared_find", 1, "a");
  EXPECT_EQ(key(*first), "");
  keepObject(key(*first), {1, 2, 3});
  std::vector<uint8_t> object;
  Diagnostics diags;
  const CpuMachine &machine = generator.machine();
  const std::string own = machine.targetName + machine.tuneFor + machine.featureText();
  EXPECT_EQ(key(*first, own), "");
  keepObject(key(*first, own), {4, 5});
  ASSERT_TRUE(generator.emitObject(*first, object, diags));
  EXPECT_EQ(object, (std::vector<uint8_t>{4, 5}));
}

TEST_F(SharedObjectsTest, TheOldestGivesWay) {
  for (int i = 0; i < 64; ++i) {
    keepObject("gives way " + std::to_string(i), {1});
  }
  EXPECT_TRUE(findObject("gives way 0"));
  keepObject("gives way 63", {1}); // known: takes no place
  EXPECT_TRUE(findObject("gives way 0"));
  keepObject("gives way 64", {1});
  EXPECT_FALSE(findObject("gives way 0"));
  EXPECT_TRUE(findObject("gives way 1"));
}

} // namespace
} // namespace nereid::cpu
