// SPDX-License-Identifier: Apache-2.0
// Under what a choice of a config is kept.
#include "lib/bench/tuning/ConfigKey.h"

#include "lib/pipeline/Compiler.h"
#include "unittests/bench/Cases.h"

namespace nereid::bench {
namespace {

class ConfigKeyTest : public CaseFolder {
protected:
  std::string key(const launch::KernelCase &one, const std::vector<std::string> &names) {
    Diagnostics diags;
    const auto kernel =
        pipeline::openSource({.path = folder + "/double.py", .function = "right"}, diags);
    EXPECT_TRUE(kernel) << diags.render();
    return kernel ? configKey("configs", *kernel, one, {.target = "cpu"}, "this machine", names)
                  : "";
  }
};

TEST_F(ConfigKeyTest, TheLastArgumentOfANameHolds) {
  launch::KernelCase twice = doubling("right"), once = twice;
  twice.arguments.emplace_back("n=101");
  once.arguments.back() = "n=101";
  EXPECT_EQ(key(twice, {"n"}), key(once, {"n"}));
  EXPECT_NE(key(doubling("right"), {"n"}), key(once, {"n"}));
  EXPECT_EQ(key(doubling("right"), {}), key(once, {}));
}

TEST_F(ConfigKeyTest, NumbersAreTheArgumentsWithoutAMaker) {
  EXPECT_EQ(scalarArguments(doubling("right")), std::vector<std::string>{"n"});
}

} // namespace
} // namespace nereid::bench
