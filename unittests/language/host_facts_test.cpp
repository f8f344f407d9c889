// SPDX-License-Identifier: Apache-2.0
// What Python's libraries give on every machine, against values computed by Python 3.11.
#include "lib/language/host/HostFacts.h"

#include <gtest/gtest.h>

namespace nereid::language {
namespace {

/// As a signature spells it, or "open".
std::string shown(const std::optional<ConstValue> &value) {
  return value ? constantText(*value) : "open";
}

ConstValue tupleOf(std::vector<ConstValue> values) {
  auto tuple = std::make_shared<ConstTuple>();
  tuple->values = std::move(values);
  return tuple;
}

const ConstValue two = int64_t(2), text = std::string("0");

TEST(HostFacts, Constants) {
  EXPECT_EQ(std::get<double>(*hostConstant("math.pi")), 3.141592653589793);
  EXPECT_EQ(shown(hostConstant("sys.platform")), "'linux'");
  EXPECT_EQ(shown(hostConstant("triton.__version__")), "'" + std::string(languageVersion) + "'");
  EXPECT_EQ(shown(hostConstant("torch.version.cuda")), "None");
  EXPECT_EQ(shown(hostConstant("torch.__version__")), "open");
  EXPECT_EQ(shown(hostConstant("math.sqrt")), "open");
}

TEST(HostFacts, Math) {
  auto real = [](const char *name, std::vector<ConstValue> arguments) {
    std::optional<ConstValue> result = hostFunction(name, arguments);
    return result && std::get_if<double>(&*result) ? std::get<double>(*result) : -12345.0;
  };
  EXPECT_DOUBLE_EQ(real("math.sqrt", {two}), 1.4142135623730951);
  EXPECT_DOUBLE_EQ(real("math.log", {two}), 0.6931471805599453);
  EXPECT_DOUBLE_EQ(real("math.log", {int64_t(8), two}), 3.0);
  EXPECT_DOUBLE_EQ(real("math.log2", {0.25}), -2.0);
  EXPECT_DOUBLE_EQ(real("math.exp", {-1.0}), 0.36787944117144233);
  EXPECT_DOUBLE_EQ(real("math.pow", {two, 0.5}), 1.4142135623730951);
  EXPECT_DOUBLE_EQ(real("math.radians", {int64_t(180)}), 3.141592653589793);
  EXPECT_EQ(shown(hostFunction("math.floor", {-2.5})), "-3");
  EXPECT_EQ(shown(hostFunction("math.ceil", {-2.5})), "-2");
  EXPECT_EQ(shown(hostFunction("math.ceil", {two})), "2");
  EXPECT_EQ(shown(hostFunction("math.gcd", {int64_t(12), int64_t(-18)})), "6");
  EXPECT_EQ(shown(hostFunction("math.lcm", {int64_t(4), int64_t(6)})), "12");
  EXPECT_EQ(shown(hostFunction("math.isqrt", {int64_t(99)})), "9");
  EXPECT_EQ(shown(hostFunction("math.prod", {tupleOf({int64_t(2), int64_t(3), int64_t(4)})})),
            "24");
}

TEST(HostFacts, WhatPythonRaisesOrIsNotKnownStaysOpen) {
  EXPECT_EQ(shown(hostFunction("math.sqrt", {-1.0})), "open");
  EXPECT_EQ(shown(hostFunction("math.log", {0.0})), "open");
  EXPECT_EQ(shown(hostFunction("math.exp", {1000.0})), "open");
  EXPECT_EQ(shown(hostFunction("math.gcd", {0.5})), "open");
  EXPECT_EQ(shown(hostFunction("math.sqrt", {text})), "open");
  EXPECT_EQ(shown(hostFunction("math.sqrt", {})), "open");
  EXPECT_EQ(shown(hostFunction("math.unheard_of", {two})), "open");
  EXPECT_EQ(shown(hostFunction("torch.cuda.is_available", {})), "open");
  EXPECT_EQ(shown(hostFunction("importlib.metadata.version", {std::string("torch")})), "open");
}

TEST(HostFacts, TheEnvironmentHasItsDefaults) {
  EXPECT_EQ(shown(hostFunction("os.environ.get", {std::string("HOME"), text})), "'0'");
  EXPECT_EQ(shown(hostFunction("os.getenv", {std::string("HOME")})), "None");
  EXPECT_EQ(shown(hostFunction("platform.system", {})), "'Linux'");
}

TEST(HostFacts, VersionsOrderByTheirNumbers) {
  auto version = [](const char *of) {
    return shown(hostFunction("packaging.version.parse", {std::string(of)}));
  };
  EXPECT_EQ(version("3.10.2"), "(3, 10, 2)");
  EXPECT_EQ(version("3.0.0"), version("3"));
  EXPECT_EQ(version("v2.4+cu121"), "(2, 4)");
  EXPECT_EQ(version("2.12.0.dev0"), "open");
  EXPECT_EQ(version("3.6.0rc1"), "open");
}

TEST(HostFacts, InstalledModules) {
  EXPECT_TRUE(isInstalledModule("torch.library"));
  EXPECT_TRUE(isInstalledModule("sys"));
  EXPECT_FALSE(isInstalledModule("torch_npu"));
  EXPECT_FALSE(isInstalledModule("system"));
}

} // namespace
} // namespace nereid::language
