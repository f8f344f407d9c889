// SPDX-License-Identifier: Apache-2.0
// Options that one target has declared: how they are given, and who refuses them.
#include "unittests/pipeline/EchoTarget.h"

#include "lib/pipeline/Target.h"

#include <gtest/gtest.h>

namespace nereid::pipeline::test {
namespace {

const char *const kernelText = "import triton\nimport triton.language as tl\n\n@triton.jit\n"
                               "def copy(x, y):\n    tl.store(y, tl.load(x))\n";

class TargetOptions : public testing::Test {
protected:
  TargetOptions() {
    registerEchoTarget();
    echoControl() = {};
    input.path = "copy.py";
    input.source = kernelText;
    options.target = "echo";
    options.useCache = false;
  }

  /// The text of the phase `to`, or the first error.
  std::string compileTo(const std::string &to, const std::string &signature) {
    input.signature = signature;
    options.to = to;
    Diagnostics diags;
    auto output = compile(input, options, diags);
    return output ? output->text : diags.all().front().code + " " + diags.render();
  }

  CompileInput input;
  CompileOptions options;
};

TEST_F(TargetOptions, GoToTheTargetThatDeclaredThem) {
  const std::string text = compileTo("tile-opt", "*fp32, *fp32, num_warps=2, echo_times=3");
  EXPECT_NE(text.find("tile.target_options = {echo_times = 3 : i64}"), std::string::npos) << text;
  EXPECT_NE(text.find("tile.num_warps = 2"), std::string::npos) << text;
  EXPECT_NE(text.find("num_warps=2,echo_times=3"), std::string::npos) << "part of the signature";
}

TEST_F(TargetOptions, HaveAValueThatCanBe) {
  EXPECT_EQ(compileTo("tile", "*fp32, *fp32, echo_times=9").substr(0, 5), "E0235");
  EXPECT_EQ(compileTo("tile", "*fp32, *fp32, echo_times=1, echo_times=2").substr(0, 5), "E0206");
}

TEST_F(TargetOptions, AreRefusedByOthers) {
  options.target = "deaf";
  const std::string error = compileTo("", "*fp32, *fp32, echo_times=3");
  EXPECT_EQ(error.substr(0, 5), "E0306") << error;
  EXPECT_NE(error.find("target 'deaf:' has no option 'echo_times'"), std::string::npos) << error;
  EXPECT_NE(error.find("its options are num_warps, num_stages, num_ctas, maxnreg"),
            std::string::npos);
  EXPECT_NE(error.find("compile for echo"), std::string::npos) << error;
}

TEST_F(TargetOptions, WithANameThatNoTargetHasAreParametersThatAreMissing) {
  const std::string error = compileTo("", "*fp32, *fp32, echo_tymes=3");
  EXPECT_EQ(error.substr(0, 5), "E0206") << error;
  EXPECT_NE(error.find("did you mean 'echo_times'?"), std::string::npos) << error;
}

TEST_F(TargetOptions, AreCheckedInFilesToo) {
  options.from = "tile-opt";
  auto file = [](const std::string &dictionary) {
    return "func.func @hand(%x: !tile.ptr<f32>) attributes {tile.kernel, tile.target_options = " +
           dictionary + "} {\n  return\n}\n";
  };
  input.source = file("{echo_times = 8 : i64}");
  EXPECT_EQ(compileTo("calls", "").substr(0, 4), "modu");
  input.source = file("{echo_times = 9 : i64}");
  EXPECT_EQ(compileTo("calls", "").substr(0, 5), "E0235");
  input.source = file("{echo_tymes = 8 : i64}");
  EXPECT_EQ(compileTo("calls", "").substr(0, 5), "E0306");
}

} // namespace
} // namespace nereid::pipeline::test
