// SPDX-License-Identifier: Apache-2.0
// Conditions, loops, returns and helpers: structure of the IR and results in the interpreter.
#include "EmitTest.h"

namespace nereid::language {
namespace {

/// Runs a kernel with parameters (out, n[, …]) on one program and returns out[0..7].
std::vector<int32_t> runWith(Emitted &kernel, std::vector<int64_t> scalars) {
  std::vector<int32_t> out(8, -1);
  runtime::Tensor to = tensorOf(out, DType::I32);
  std::vector<runtime::ArgumentValue> arguments = {&to};
  for (int64_t scalar : scalars) {
    arguments.push_back(scalar);
  }
  runKernel(kernel, arguments);
  return out;
}

TEST(ControlFlow, constantConditionsElaborateOneSide) {
  Emitted kernel = emitBody("out, MODE: tl.constexpr",
                            "if MODE == 1:\n    y = 3\nelif MODE == 2:\n    y = undefined_name\n"
                            "else:\n    raise ValueError('no')\ntl.store(out, y)",
                            "*i32, 1");
  EXPECT_FALSE(kernel.has("scf.if"));
  EXPECT_EQ(runWith(kernel, {})[0], 3);
}

TEST(ControlFlow, noneArgumentsFold) {
  Emitted kernel = emitBody("out, bias",
                            "if bias is not None:\n    tl.store(out, tl.load(bias))\n"
                            "else:\n    tl.store(out, 5)\n"
                            "if bias:\n    tl.store(out, 6)",
                            "*i32, None");
  EXPECT_EQ(runWith(kernel, {})[0], 5);
}

TEST(ControlFlow, runtimeIfMergesVariables) {
  Emitted kernel = emitBody("out, n",
                            "x = 1\nif n > 3:\n    x = n * 2\n    z = 7\nelif n > 1:\n    z = 8\n"
                            "else:\n    x = -n\n    z = 9\ntl.store(out, x)\ntl.store(out + 1, z)",
                            "*i32, i32");
  EXPECT_TRUE(kernel.has("scf.if"));
  for (auto [n, x, z] : std::vector<std::tuple<int, int, int>>{{5, 10, 7}, {2, 1, 8}, {-4, 4, 9}}) {
    std::vector<int32_t> out = runWith(kernel, {n});
    EXPECT_EQ(out[0], x);
    EXPECT_EQ(out[1], z);
  }
}

TEST(ControlFlow, variableOfOneBranchIsGoneAfterwards) {
  std::string text =
      refuseBody("out, n", "if n > 3:\n    z = 1\ntl.store(out, z)", "*i32, i32", "E0202");
  EXPECT_NE(text.find("only when the condition in line 6 holds"), std::string::npos) << text;
}

TEST(ControlFlow, branchTypesMustAgree) {
  std::string text =
      refuseBody("out, n", "x = 0\nif n > 3:\n    x = 1.5\ntl.store(out, x)", "*i32, i32", "E0211");
  EXPECT_NE(text.find("'x' is the constant 1.5 when the condition holds and the constant 0"),
            std::string::npos)
      << text;
}

TEST(ControlFlow, conditionMustBeAScalar) {
  refuseBody("out", "if tl.arange(0, 4) > 2:\n    tl.store(out, 1)", "*i32", "E0212");
}

TEST(ControlFlow, ternary) {
  Emitted kernel = emitBody("out, n, FLAG: tl.constexpr",
                            "tl.store(out, n * 3 if n > 0 else 0)\n"
                            "tl.store(out + 1, 4 if FLAG else undefined_name)",
                            "*i32, i32, True");
  EXPECT_EQ(runWith(kernel, {5})[0], 15);
  EXPECT_EQ(runWith(kernel, {-5})[0], 0);
  EXPECT_EQ(runWith(kernel, {-5})[1], 4);
}

TEST(ControlFlow, earlyReturnSkipsTheRest) {
  Emitted kernel = emitBody("out, n",
                            "tl.store(out, 1)\nif n > 3:\n    return\ntl.store(out, 2)\n"
                            "if n > 1:\n    tl.store(out + 1, 3)\n    return\n"
                            "tl.store(out + 1, 4)",
                            "*i32, i32");
  EXPECT_EQ(runWith(kernel, {5})[0], 1);
  EXPECT_EQ(runWith(kernel, {5})[1], -1);
  EXPECT_EQ(runWith(kernel, {2})[0], 2);
  EXPECT_EQ(runWith(kernel, {2})[1], 3);
  EXPECT_EQ(runWith(kernel, {0})[1], 4);
}

TEST(ControlFlow, returnInsideAConstantIfReachesTheOuterRest) {
  Emitted kernel = emitBody("out, n, FLAG: tl.constexpr",
                            "if FLAG:\n    if n > 3:\n        return\n    tl.store(out, 2)\n"
                            "tl.store(out + 1, 3)",
                            "*i32, i32, True");
  EXPECT_EQ(runWith(kernel, {5})[1], -1);
  EXPECT_EQ(runWith(kernel, {1})[0], 2);
  EXPECT_EQ(runWith(kernel, {1})[1], 3);
}

TEST(ControlFlow, forLoopCarriesWhatChanges) {
  Emitted kernel =
      emitBody("out, n, STEP: tl.constexpr",
               "total = 0\nlast = -1\nfixed = 10\nfor i in range(0, n, STEP):\n"
               "    total += i * fixed\n    last = i\n    if STEP > 100:\n"
               "        fixed = undefined_name\n"
               "tl.store(out, total)\ntl.store(out + 1, last)\ntl.store(out + 2, fixed)",
               "*i32, i32, 2");
  EXPECT_TRUE(kernel.has("iter_args"));
  std::vector<int32_t> out = runWith(kernel, {7});
  EXPECT_EQ(out[0], 10 * (0 + 2 + 4 + 6));
  EXPECT_EQ(out[1], 6);
  EXPECT_EQ(out[2], 10);
  EXPECT_EQ(runWith(kernel, {0})[1], -1);
}

TEST(ControlFlow, constantsAssignedInDeadBranchesStayConstant) {
  emitBody("out, n, FLAG: tl.constexpr",
           "K: tl.constexpr = 16\nfor i in range(n):\n    if FLAG:\n        K = n\n"
           "    x = tl.arange(0, K)\n    tl.store(out + x, x)",
           "*i32, i32, False");
}

TEST(ControlFlow, nestedAndDescendingLoops) {
  Emitted kernel = emitBody("out, n",
                            "total = 0\nfor i in range(n, -2, -2):\n    for j in range(i):\n"
                            "        total = total * 3 + j + i\ntl.store(out, total)",
                            "*i32, i32");
  int32_t expected = 0;
  for (int i = 5; i > -2; i -= 2) {
    for (int j = 0; j < i; ++j) {
      expected = expected * 3 + j + i;
    }
  }
  EXPECT_EQ(runWith(kernel, {5})[0], expected);
}

TEST(ControlFlow, wideBoundsPromoteTheIndex) {
  emitBody("out, n, m",
           "for i in range(n):\n    tl.static_assert(i.dtype == tl.int64)\n    tl.store(out, i)\n"
           "for i in range(m):\n    tl.static_assert(i.dtype == tl.uint32)\n    tl.store(out, i)",
           "*i32, i64, u32");
}

TEST(ControlFlow, staticRangeUnrolls) {
  Emitted kernel = emitBody("out",
                            "total = 0\nfor i in tl.static_range(1, 9, 2):\n"
                            "    total += i * tl.arange(0, i + i % 2 * 0 + 8 - i).numel\n"
                            "tl.store(out, total)\nfor a, b in ((1, 2), (3, 4)):\n"
                            "    tl.store(out + a, b)",
                            "*i32");
  EXPECT_FALSE(kernel.has("scf.for"));
  std::vector<int32_t> out = runWith(kernel, {});
  EXPECT_EQ(out[0], (1 + 3 + 5 + 7) * 8);
  EXPECT_EQ(out[1], 2);
  EXPECT_EQ(out[3], 4);
}

TEST(ControlFlow, whileLoop) {
  Emitted kernel = emitBody("out, n",
                            "a = 0\nsteps = 0\nwhile a * a < n and steps < 100:\n    a += 1\n"
                            "    steps = steps + 2\ntl.store(out, a)\ntl.store(out + 1, steps)",
                            "*i32, i32");
  EXPECT_TRUE(kernel.has("scf.while"));
  std::vector<int32_t> out = runWith(kernel, {30});
  EXPECT_EQ(out[0], 6);
  EXPECT_EQ(out[1], 12);
}

TEST(ControlFlow, loopTypesMustBeStable) {
  std::string text = refuseBody("out, n",
                                "acc = 0\nfor i in range(n):\n    acc += 0.5\n"
                                "tl.store(out, acc)",
                                "*fp32, i32", "E0210");
  EXPECT_NE(text.find("i32 scalar"), std::string::npos) << text;
  EXPECT_NE(text.find("f32 scalar"), std::string::npos) << text;
  refuseBody("out, n",
             "acc = tl.zeros((4,), tl.float32)\nfor i in range(n):\n"
             "    acc = acc[:, None]",
             "*fp32, i32", "E0210");
  refuseBody("out, n", "t = tl.float32\nfor i in range(n):\n    t = tl.float16", "*fp32, i32",
             "E0210");
}

TEST(ControlFlow, loopVariablesEndWithTheLoop) {
  std::string text =
      refuseBody("out, n", "for i in range(n):\n    z = i\ntl.store(out, z)", "*i32, i32", "E0202");
  EXPECT_NE(text.find("only inside the loop in line 6"), std::string::npos) << text;
}

TEST(ControlFlow, refusesWhatCannotBe) {
  refuseBody("out, n", "for i in range(n):\n    if i > 2:\n        break", "*i32, i32", "E0110");
  refuseBody("out, n", "for i in range(n):\n    continue", "*i32, i32", "E0110");
  refuseBody("out, n", "for i in range(n):\n    return", "*i32, i32", "E0225");
  refuseBody("out, n", "while True:\n    tl.store(out, n)", "*i32, i32", "E0227");
  refuseBody("out, n", "return n", "*i32, i32", "E0226");
  refuseBody("out, n", "raise ValueError('not for this type')", "*i32, i32", "E0221");
  refuseBody("out, n", "for i in tl.static_range(100000000):\n    n += i", "*i32, i32", "E0312");
  refuseBody("out, n", "for i in range(0, 10, 0):\n    n += i", "*i32, i32", "E0222");
  refuseBody("out, n", "for i in n:\n    n += i", "*i32, i32", "E0217");
  refuseBody("out, n", "for i in tl.static_range(n):\n    n += i", "*i32, i32", "E0203");
}

TEST(ControlFlow, unrollingIsBounded) {
  refuseBody("out, n",
             "for i in tl.static_range(60000):\n    for j in tl.static_range(60000):\n"
             "        n += 1",
             "*i32, i32", "E0312");
}

const char *const helpers = R"py(
import triton
import triton.language as tl
from triton import jit

SCALE = tl.constexpr(3)

@jit
def pair(a, b=10, *, KIND: tl.constexpr = "x"):
    if KIND == "x":
        return a + b, a - b
    return a, b

@triton.jit
def early(x):
    if x > 10:
        return x * 2
    y = x + SCALE
    return y

@triton.jit
def kernel(out, n):
    s, d = pair(n)
    e, f = pair(b=n, a=2, KIND="other")
    tl.store(out, s)
    tl.store(out + 1, d)
    tl.store(out + 2, e * 100 + f)
    tl.store(out + 3, early(n))
)py";

TEST(ControlFlow, helpersReturnTuplesAndEarly) {
  Emitted kernel = emitSource(helpers, "*i32, i32");
  ASSERT_TRUE(kernel.module) << kernel.diags.render();
  std::vector<int32_t> out = runWith(kernel, {4});
  EXPECT_EQ(out[0], 14);
  EXPECT_EQ(out[1], -6);
  EXPECT_EQ(out[2], 204);
  EXPECT_EQ(out[3], 7);
  EXPECT_EQ(runWith(kernel, {20})[3], 40);
}

TEST(ControlFlow, recursionIsRefused) {
  Emitted result = emitSource("import triton\n@triton.jit\ndef kernel(n):\n    kernel(n)\n", "i32");
  EXPECT_TRUE(result.hasCode("E0224")) << result.diags.render();
}

TEST(ControlFlow, deepRecursionDoesNotExhaustTheStack) {
  std::string nested = "kernel(n)";
  for (int i = 0; i < 40; ++i) {
    nested = "-(1 + " + nested + ")";
  }
  Emitted result =
      emitSource("import triton\n@triton.jit\ndef kernel(n):\n    return " + nested + "\n", "i32");
  EXPECT_TRUE(result.hasCode("E0312")) << result.diags.render();
}

} // namespace
} // namespace nereid::language
