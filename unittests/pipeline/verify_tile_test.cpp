// SPDX-License-Identifier: Apache-2.0
// Kernels in files of tile IR that no target could take: refused when they are read.
#include "unittests/pipeline/EchoTarget.h"

#include "lib/pipeline/Target.h"

#include <gtest/gtest.h>

namespace nereid::pipeline::test {
namespace {

/// The first error of reading the kernel `text` as the output of `phase`; empty when it is taken.
std::string errorOf(const std::string &text, const std::string &phase = "tile") {
  registerEchoTarget();
  echoControl() = {};
  CompileInput input;
  input.path = "hand.mlir";
  input.source = text;
  CompileOptions options;
  options.target = "echo";
  options.from = phase;
  options.useCache = false;
  Diagnostics diags;
  return compile(input, options, diags)
             ? std::string()
             : diags.all().front().code + " " + diags.all().front().message;
}

const char *const shape = "E0391 a kernel of tile IR is a 'func.func' with a body of one block and "
                          "without results";

TEST(VerifyTile, TakesAddressesAndNumbers) {
  for (const char *phase : {"tile", "tile-opt"}) {
    EXPECT_EQ(errorOf("func.func @k(%a: !tile.ptr<f32>, %b: !tile.ptr<f8E5M2>, %c: !tile.ptr<i1>, "
                      "%d: i1, %e: i64, %f: f16, %g: bf16, %h: f64) attributes {tile.kernel} {\n"
                      "  return\n}",
                      phase),
              "");
  }
}

TEST(VerifyTile, AKernelIsAFunctionOfOneBlockWithoutResults) {
  for (const char *phase : {"tile", "tile-opt"}) {
    EXPECT_EQ(errorOf("func.func @k(%n: i32) -> i32 attributes {tile.kernel} {\n"
                      "  return %n : i32\n}",
                      phase),
              shape);
    EXPECT_EQ(errorOf("func.func private @k(!tile.ptr<f32>) attributes {tile.kernel}", phase),
              shape);
  }
}

TEST(VerifyTile, ArgumentsAreWhatALaunchCanGive) {
  for (const char *type : {"tensor<4xf32>", "index", "i7", "f80", "!tile.ptr<i7>",
                           "!tile.ptr<!tile.ptr<f32>>", "vector<4xf32>"}) {
    const std::string error = errorOf("func.func @k(%x: !tile.ptr<f32>, %y: " + std::string(type) +
                                      ") attributes {tile.kernel} {\n  return\n}");
    EXPECT_EQ(error, "E0391 argument 1 of the kernel expects a number of 1 to 64 bits or a "
                     "!tile.ptr to numbers, but got '" +
                         std::string(type) + "'");
  }
}

TEST(VerifyTile, EveryArgumentIsDescribed) {
  for (const char *wrong : {"\"no\"", "[]", "[{}, {}]", "[3]"}) {
    const std::string error =
        errorOf("func.func @k(%x: !tile.ptr<f32>) attributes {tile.kernel, nereid.arguments = " +
                std::string(wrong) + "} {\n  return\n}");
    EXPECT_EQ(error.find("E0391 the attribute 'nereid.arguments' expects one dictionary for each "
                         "of the 1 arguments"),
              0u)
        << error;
  }
}

} // namespace
} // namespace nereid::pipeline::test
