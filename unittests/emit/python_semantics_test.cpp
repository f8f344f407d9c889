// SPDX-License-Identifier: Apache-2.0
// Python around and inside kernels: what runs while the kernel is elaborated, and how names are
// bound. Results come from the interpreter and are compared with values worked out by hand.
#include "EmitTest.h"

#include <limits>

namespace nereid::language {
namespace {

const std::string imports = "import triton\nimport triton.language as tl\n";

/// out[0..3] of a kernel over (out[, constants]).
std::vector<int32_t> outOf(const std::string &source, const std::string &signature,
                           std::vector<int64_t> scalars = {}) {
  Emitted kernel = emitSource(source, signature);
  EXPECT_FALSE(kernel.diags.hasErrors()) << kernel.diags.render();
  std::vector<int32_t> out(4, -1);
  runtime::Tensor to = tensorOf(out, DType::I32);
  std::vector<runtime::ArgumentValue> arguments = {&to};
  for (int64_t scalar : scalars) {
    arguments.push_back(scalar);
  }
  runKernel(kernel, arguments);
  return out;
}

TEST(PythonSemantics, comprehensionsOverConstants) {
  std::vector<int32_t> out =
      outOf(kernelFile("out, S: tl.constexpr",
                       "d = [s * 2 for s in S if s != 3]\ntl.store(out, d[0] + d[1] * 100)\n"
                       "tl.store(out + 1, len([a + b for a in range(3) for b in (1, 2)]))"),
            "*i32, (1, 3, 5)");
  EXPECT_EQ(out[0], 2 + 10 * 100);
  EXPECT_EQ(out[1], 6);
}

TEST(PythonSemantics, chainedComparisonsJoinNeighbours) {
  const std::string source =
      kernelFile("out, n, B: tl.constexpr", "at = tl.arange(0, 4)\n"
                                            "tl.store(out + at, at * 10, mask=0 < at <= n != 3)\n"
                                            "if 1 < B <= 4 < 8:\n    tl.store(out, B)\n"
                                            "if 64 < B < n:\n    tl.store(out, undefined_name)\n"
                                            "if 0 <= n < B == 4:\n    tl.store(out + 3, n)\n");
  EXPECT_EQ(outOf(source, "*i32, i32, 4", {2}), (std::vector<int32_t>{4, 10, 20, 2}));
  EXPECT_EQ(outOf(source, "*i32, i32, 4", {3}), (std::vector<int32_t>{4, -1, -1, 3}));
  EXPECT_EQ(outOf(source, "*i32, i32, 4", {4}), (std::vector<int32_t>{4, 10, 20, 30}));
  // The operand in the middle is evaluated once.
  EXPECT_EQ(outOf(kernelFile("out, n", "r = 0 <= tl.atomic_add(out, 1) < n\n"
                                       "tl.store(out + 1, r.to(tl.int32))\n"),
                  "*i32, i32", {5})[0],
            0);
}

TEST(PythonSemantics, constexprFunctionsCallPython) {
  std::vector<int32_t> out =
      outOf(imports + "def plain(x):\n    return x * 3\n@triton.constexpr_function\ndef twice(x):\n"
                      "    return plain(x) + 1\nWIDTH = plain(5)\n@triton.jit\ndef k(out):\n"
                      "    tl.store(out, twice(4))\n    tl.store(out + 1, WIDTH)\n",
            "*i32");
  EXPECT_EQ(out[0], 13);
  EXPECT_EQ(out[1], 15);
}

TEST(PythonSemantics, plainFunctionsStayRefusedInKernels) {
  Emitted kernel = emitSource(imports + "def plain(x):\n    return x\n@triton.jit\ndef k(out):\n"
                                        "    tl.store(out, plain(1))\n",
                              "*i32");
  EXPECT_TRUE(kernel.hasCode("E0224")) << kernel.diags.render();
}

TEST(PythonSemantics, functionsAsConstants) {
  std::string source = imports + "@triton.jit\ndef add(a, b):\n    return a + b\n"
                                 "@triton.jit\ndef k(out, n, OP: tl.constexpr):\n"
                                 "    tl.store(out, OP(n, 40))\n";
  EXPECT_EQ(outOf(source, "*i32, i32, add", {7})[0], 47);
  EXPECT_EQ(outOf(source, "*i32, i32, tl.minimum", {7})[0], 7);
  EXPECT_TRUE(emitSource(source, "*i32, i32, nothing").hasCode("E0202"));
}

TEST(PythonSemantics, aWrappedNameKeepsItsMeaning) {
  std::vector<int32_t> out =
      outOf(imports + "def patch(x):\n    with x:\n        pass\n    return x\n"
                      "SIZE = 7\nSIZE = patch(SIZE)\n@triton.jit\ndef k(out):\n"
                      "    tl.store(out, SIZE)\n",
            "*i32");
  EXPECT_EQ(out[0], 7);
}

TEST(PythonSemantics, rebindingThroughItself) {
  std::vector<int32_t> out = outOf(imports + "SIZE = 7\nSIZE = SIZE * 2\nSIZE = SIZE + 1\n"
                                             "@triton.jit\ndef k(out):\n    tl.store(out, SIZE)\n",
                                   "*i32");
  EXPECT_EQ(out[0], 15);
}

TEST(PythonSemantics, decoratorsThatReplaceAHelper) {
  std::vector<int32_t> out = outOf(
      imports + "def use(module):\n    def decorator(func):\n        name = func.__name__\n"
                "        if hasattr(module, name):\n            return getattr(module, name)\n"
                "        return func\n    return decorator\ndef use_math(func):\n"
                "    return use(tl.math)(func)\n@use_math\n@triton.jit\ndef sqrt(x):\n"
                "    return x * 0.0\n@use_math\n@triton.jit\ndef mine(x):\n    return x * 5.0\n"
                "@triton.jit\ndef k(out):\n    x = tl.full((), 9.0, tl.float32)\n"
                "    tl.store(out, sqrt(x).to(tl.int32))\n"
                "    tl.store(out + 1, mine(x).to(tl.int32))\n",
      "*i32");
  EXPECT_EQ(out[0], 3);
  EXPECT_EQ(out[1], 45);
}

TEST(PythonSemantics, constexprAnnotationsOfHelpersAreWishes) {
  std::vector<int32_t> out = outOf(imports + "@triton.jit\ndef twice(x: tl.constexpr):\n"
                                             "    y: tl.constexpr = x * 2\n    return y\n"
                                             "@triton.jit\ndef k(out, n):\n"
                                             "    tl.store(out, twice(n))\n",
                                   "*i32, i32", {21});
  EXPECT_EQ(out[0], 42);
}

TEST(PythonSemantics, namedTuples) {
  std::string source = imports + "class Pair(NamedTuple):\n    a: tl.tensor\n    b: int = 4\n"
                                 "@triton.jit\ndef grown(p, x):\n    return Pair(p.a + x, p.b)\n"
                                 "@triton.jit\ndef k(out, n):\n    p = Pair(b=3, a=n)\n"
                                 "    for i in range(4):\n        p = grown(p, i)\n"
                                 "    if n > 100:\n        p = Pair(n)\n"
                                 "    tl.store(out, p.a)\n    tl.store(out + 1, p.b)\n";
  EXPECT_EQ(outOf(source, "*i32, i32", {10})[0], 16);
  EXPECT_EQ(outOf(source, "*i32, i32", {10})[1], 3);
  EXPECT_EQ(outOf(source, "*i32, i32", {200})[0], 200);
  EXPECT_EQ(outOf(source, "*i32, i32", {200})[1], 4);
}

TEST(PythonSemantics, aggregatesWithMethods) {
  std::vector<int32_t> out = outOf(
      imports + "@tl.core._aggregate\nclass Total:\n    value: tl.tensor\n    scale: tl.constexpr\n"
                "    def __init__(self, value, scale):\n        self.value = value + 1\n"
                "        self.scale = scale\n    @triton.jit\n    def add(self, x):\n"
                "        return Total(self.value + x, self.scale)\n"
                "@triton.jit\ndef k(out, n):\n    t = Total(n, 4)\n    t = t.add(5)\n"
                "    tl.store(out, t.value * t.scale)\n",
      "*i32, i32", {10});
  EXPECT_EQ(out[0], (10 + 1 + 5 + 1) * 4);
}

TEST(PythonSemantics, objectsAreChecked) {
  std::string head = imports + "class Pair(NamedTuple):\n    a: tl.tensor\n    b: tl.tensor\n"
                               "@triton.jit\ndef k(out, n):\n    ";
  EXPECT_TRUE(emitSource(head + "p = Pair(n)\n", "*i32, i32").hasCode("E0229"));
  EXPECT_TRUE(emitSource(head + "p = Pair(n, n, n)\n", "*i32, i32").hasCode("E0229"));
  EXPECT_TRUE(emitSource(head + "p = Pair(n, c=n)\n", "*i32, i32").hasCode("E0229"));
  EXPECT_TRUE(emitSource(head + "p = Pair(n, n).c\n", "*i32, i32").hasCode("E0223"));
}

TEST(PythonSemantics, aTileOfOneElementDecides) {
  std::string source =
      kernelFile("out, n", "x = tl.zeros((1, 1), tl.int32) + n\nif x > 3:\n    tl.store(out, 9)\n"
                           "else:\n    tl.store(out, 8)");
  EXPECT_EQ(outOf(source, "*i32, i32", {4})[0], 9);
  EXPECT_EQ(outOf(source, "*i32, i32", {3})[0], 8);
}

TEST(PythonSemantics, integersOutsideOfKernelsHaveNoWidth) {
  std::vector<int32_t> out =
      outOf(imports + "@tl.constexpr\ndef sign_bit(n):\n    n = n + 0\n    return 1 << (n - 1)\n"
                      "@triton.jit\ndef k(out, n):\n    bit: tl.constexpr = sign_bit(32)\n"
                      "    tl.store(out, tl.where(n > 0, -bit, n))\n",
            "*i32, i32", {1});
  EXPECT_EQ(out[0], std::numeric_limits<int32_t>::min());
}

TEST(PythonSemantics, askingForAttributes) {
  std::vector<int32_t> out =
      outOf(kernelFile("out", "f = getattr(tl, 'nothing_of_this_name', tl.abs)\n"
                              "tl.store(out, f(tl.full((), -3, tl.int32)))\n"
                              "tl.store(out + 1, 1 if hasattr(tl, 'arange') else 0)\n"
                              "tl.store(out + 2, 1 if hasattr(tl, 'arrange') else 0)\n"
                              "tl.store(out + 3, tl.core.get_int_dtype(16, False).int_bitwidth)"),
            "*i32");
  EXPECT_EQ(out, (std::vector<int32_t>{3, 1, 0, 16}));
}

TEST(PythonSemantics, limitsOfTorchTypes) {
  Emitted kernel = emitSource(imports + "import torch\nMOST = tl.constexpr(torch.finfo("
                                        "torch.float16).max)\nLEAST = torch.iinfo(torch.int8).min\n"
                                        "@triton.jit\ndef k(out):\n    tl.store(out, MOST)\n"
                                        "    tl.store(out + 1, LEAST)\n",
                              "*fp32");
  std::vector<float> out(2, 0);
  runtime::Tensor to = tensorOf(out, DType::F32);
  runKernel(kernel, {&to});
  EXPECT_EQ(out[0], 65504.0f);
  EXPECT_EQ(out[1], -128.0f);
}

/// What tl.static_print writes of the expression, in a kernel over (x: *f32, c: *const f32).
std::string printed(const std::string &expression) {
  Emitted kernel = emitBody(
      "x, c: tl.const", "v = tl.load(x + tl.arange(0, 16))\ntl.static_print(" + expression + ")",
      "*fp32, *fp32");
  return kernel.diags.all().empty() ? "" : kernel.diags.all()[0].message;
}

TEST(PythonSemantics, typesReadAsUpstreamWritesThem) {
  EXPECT_EQ(printed("f'{tl.int1} {tl.int32} {tl.uint8} {tl.float16} {tl.bfloat16} {tl.float64}'"),
            "int1 int32 uint8 fp16 bf16 fp64");
  EXPECT_EQ(printed("str(tl.float8e4nv), str(tl.float8e5)"), "fp8e4nv fp8e5");
  EXPECT_EQ(printed("tl.pi32_t"), "pointer<int32>");
  EXPECT_EQ(printed("x.dtype, x.dtype.element_ty"), "pointer<fp32> fp32");
  EXPECT_EQ(printed("v.type, v.type.name"), "<(16,), fp32> <(16,), fp32>");
  EXPECT_EQ(printed("v[None, :].type"), "<(1, 16), fp32>");
  EXPECT_EQ(printed("(x + tl.arange(0, 4)).type"), "<(4,), pointer<fp32>>");
  EXPECT_EQ(printed("c.dtype"), "const_pointer<fp32>");
  EXPECT_EQ(printed("'yes' if str(v.dtype) == 'fp32' else 'no'"), "yes");
  EXPECT_EQ(printed("'yes' if str(v.type) == '<(16,), fp32>' else 'no'"), "yes");
}

TEST(PythonSemantics, representationsCanBeEvaluated) {
  EXPECT_EQ(printed("repr(v.dtype)"), "triton.language.float32");
  EXPECT_EQ(printed("f'{tl.bfloat16!r} {tl.int1!r} {tl.uint16!r} {tl.float8e4nv!r}'"),
            "triton.language.bfloat16 triton.language.int1 triton.language.uint16 "
            "triton.language.float8e4nv");
  EXPECT_EQ(printed("('a', 1, (2.0,))"), "('a', 1, (2.0,))");
  EXPECT_EQ(printed("repr(x.dtype), repr(v.type)"), "pointer<fp32> <(16,), fp32>");
}

} // namespace
} // namespace nereid::language
