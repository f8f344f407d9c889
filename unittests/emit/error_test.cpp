// SPDX-License-Identifier: Apache-2.0
// What is refused, with its code, place and help; every code is declared for `nereid explain`.
#include "EmitTest.h"

namespace nereid::language {
namespace {

bool contains(const std::string &text, const std::string &part) {
  return text.find(part) != std::string::npos;
}

TEST(Errors, unknownFunctionsGiveNearestNames) {
  std::string text = refuseBody("p", "x = tl.aragne(0, 4)", "*fp32", "E0201");
  EXPECT_TRUE(contains(text, "'tl.arange'")) << text;
  EXPECT_TRUE(contains(text, "kernel.py:6:")) << text;
  refuseBody("p", "x = tl.math.nothing_like_this(1.0)", "*fp32", "E0201");
}

TEST(Errors, undefinedNamesGiveNearestNames) {
  std::string text = refuseBody("p, offset", "tl.store(p, offest)", "*fp32, i32", "E0202");
  EXPECT_TRUE(contains(text, "'offset'")) << text;
}

TEST(Errors, severalAreReportedInOneRun) {
  Emitted result = emitSource(kernelFile("p", "a = undefined_one\nb = a + 1\nc = tl.nonsense(b)\n"
                                              "d = p * 2\ntl.store(p, d)"),
                              "*fp32");
  EXPECT_EQ(result.diags.all().size(), 3u) << result.diags.render();
}

TEST(Errors, knownButUnsupportedFunctions) {
  refuseBody("p", "x = tl.zeros((4,), tl.float8e3m4)", "*i32", "E0310");
}

TEST(Errors, operatorsOnWrongTypes) {
  refuseBody("p", "x = p * 2", "*fp32", "E0204");
  refuseBody("p", "x = p + 1.5", "*fp32", "E0204");
  refuseBody("p", "x = tl.load(p) & 1", "*fp32", "E0204");
  refuseBody("p", "x = tl.load(p) // 2.0", "*fp32", "E0204");
  refuseBody("p", "x = ~tl.load(p)", "*fp32", "E0204");
  std::string text = refuseBody("p, b", "x = tl.load(p) + b", "*fp32, None", "E0204");
  EXPECT_TRUE(contains(text, "f32 scalar and None")) << text;
}

TEST(Errors, memoryAccess) {
  refuseBody("p, n", "x = tl.load(n)", "*fp32, i32", "E0216");
  refuseBody("p", "x = tl.load(p, other=0.0)", "*fp32", "E0216");
  refuseBody("p", "x = tl.load(p, mask=tl.arange(0, 4) < 2)", "*fp32", "E0216");
  refuseBody("p", "tl.store(p, tl.arange(0, 4))", "*fp32", "E0216");
  refuseBody("p", "tl.store(p + tl.arange(0, 4), tl.arange(0, 8))", "*fp32", "E0213");
}

TEST(Errors, callArguments) {
  std::string text = refuseBody("p", "x = tl.load(p, maks=None)", "*fp32", "E0229");
  EXPECT_TRUE(contains(text, "'load(pointer, mask=None")) << text;
  refuseBody("p", "x = tl.where(p)", "*fp32", "E0229");
  refuseBody("p", "x = tl.exp(1.0, 2.0)", "*fp32", "E0229");
  refuseBody("p", "x = tl.load(p, pointer=p)", "*fp32", "E0229");
}

TEST(Errors, helpersArguments) {
  const std::string head = "import triton\nimport triton.language as tl\n@triton.jit\n"
                           "def helper(a, b: tl.constexpr):\n    return a + b\n"
                           "def plain(a):\n    return a\n@triton.jit\ndef kernel(p, n):\n    ";
  for (auto [body, code] :
       std::vector<std::pair<std::string, std::string>>{{"helper(n)", "E0229"},
                                                        {"helper(n, 1, 2)", "E0229"},
                                                        {"helper(n, c=1)", "E0229"},
                                                        {"helper(n, 1, a=2)", "E0229"},
                                                        {"plain(n)", "E0224"},
                                                        {"n(1)", "E0224"}}) {
    Emitted result = emitSource(head + body + "\n", "*fp32, i32");
    EXPECT_TRUE(result.hasCode(code)) << body << "\n" << result.diags.render();
  }
}

TEST(Errors, resultsThatMustBeUsed) {
  const std::string head =
      "import triton\nimport triton.language as tl\nWHY = 'keep it'\n"
      "@triton.must_use_result(WHY)\n@triton.jit\ndef cube(x):\n    return x * x * x\n"
      "@triton.aggregate\nclass Square:\n    x: tl.tensor\n"
      "    @triton.constexpr_function\n    def __init__(self, x):\n        self.x = x\n"
      "    @triton.must_use_result\n    @triton.constexpr_function\n"
      "    def power(self):\n        return 2\n"
      "    @triton.must_use_result\n    @triton.jit\n"
      "    def compute(self):\n        return self.x * self.x\n"
      "@triton.jit\ndef kernel(p):\n    s = Square(tl.load(p))\n    ";
  const std::string block = "b = tl.make_block_ptr(p, (8,), (1,), (0,), (4,), (0,))\n    ";
  for (std::string body : {std::string("cube(tl.load(p))"), std::string("s.compute()"),
                           std::string("s.power()"), block + "tl.advance(b, (4,))"}) {
    Emitted result = emitSource(head + body + "\n", "*fp32");
    EXPECT_TRUE(result.hasCode("E0233")) << body << "\n" << result.diags.render();
  }
  Emitted refused = emitSource(head + "cube(tl.load(p))\n", "*fp32");
  EXPECT_TRUE(contains(refused.diags.render(), "'cube' is not used")) << refused.diags.render();
  EXPECT_TRUE(contains(refused.diags.render(), "keep it")) << refused.diags.render();
  for (std::string body :
       {std::string("tl.store(p, cube(s.compute()))"), std::string("y = cube(tl.load(p))"),
        std::string("x = s.power() + 1"), block + "b = tl.advance(b, (4,))"}) {
    Emitted result = emitSource(head + body + "\n", "*fp32");
    EXPECT_FALSE(result.diags.hasErrors()) << body << "\n" << result.diags.render();
  }
}

TEST(Errors, noinlineTakesScalars) {
  const std::string head = "import triton\nimport triton.language as tl\n"
                           "@triton.jit(noinline=True)\ndef f(x, i):\n    return x * i\n"
                           "@triton.jit(noinline=False)\ndef g(x, i):\n    return x * i\n"
                           "@triton.jit\ndef kernel(p):\n    o = tl.arange(0, 4)\n    ";
  Emitted tile = emitSource(head + "tl.store(p + o, f(tl.load(p + o), 2))\n", "*fp32");
  EXPECT_TRUE(tile.hasCode("E0229")) << tile.diags.render();
  EXPECT_TRUE(contains(tile.diags.render(), "'x' is 4xf32 tile")) << tile.diags.render();
  for (const char *body :
       {"tl.store(p, f(tl.load(p), 2))", "tl.store(p + o, g(tl.load(p + o), 2))"}) {
    Emitted result = emitSource(head + body + "\n", "*fp32");
    EXPECT_FALSE(result.diags.hasErrors()) << body << "\n" << result.diags.render();
  }
}

TEST(Errors, conditionsOfWhereAreTruthValues) {
  const std::string body = "o = tl.arange(0, 4)\nfor i in tl.static_range(2):\n"
                           "    tl.store(p + o, tl.where(";
  Emitted number = emitBody("p", body + "o, 1.0, 2.0))", "*fp32");
  ASSERT_EQ(number.diags.all().size(), 1u) << number.diags.render();
  EXPECT_EQ(number.diags.all()[0].code, "R0205");
  EXPECT_FALSE(explainCode("R0205").title.empty());
  EXPECT_TRUE(emitBody("p", body + "o > 1, 1.0, 2.0))", "*fp32").diags.all().empty());
}

TEST(Errors, moreSlicesThanDimensions) {
  std::string text = refuseBody("p", "v = tl.arange(0, 4)\nw = v[:, :, :]", "*fp32", "E0218");
  EXPECT_TRUE(contains(text, "kernel.py:7:")) << text;
  refuseBody("p", "v = tl.arange(0, 4)\nw = v[:, None, :]", "*fp32", "E0218");
}

TEST(Errors, insideAHelperNameTheCall) {
  Emitted result = emitSource("import triton\nimport triton.language as tl\n@triton.jit\n"
                              "def helper(a):\n    return a.nothing\n@triton.jit\n"
                              "def kernel(p):\n    tl.store(p, helper(tl.load(p)))\n",
                              "*fp32");
  std::string text = result.diags.render();
  EXPECT_TRUE(contains(text, "kernel.py:5:")) << text;
  EXPECT_TRUE(contains(text, "'helper' was called from kernel.py:8")) << text;
}

TEST(Errors, importsWithoutALoader) {
  Emitted result = emitSource("import triton\nimport triton.language as tl\n"
                              "from somewhere import thing\n@triton.jit\ndef kernel(p):\n"
                              "    tl.store(p, thing(tl.load(p)))\n",
                              "*fp32");
  EXPECT_TRUE(result.hasCode("E0230")) << result.diags.render();
  EXPECT_TRUE(contains(result.diags.render(), "copy the function into this file"));
}

TEST(Errors, unsupportedSyntaxIsNamed) {
  refuseBody("p", "x = lambda a: a", "*fp32", "E0311");
  refuseBody("p", "x = [i for i in p]", "*fp32", "E0217");
  refuseBody("p", "x = {1: 2}", "*fp32", "E0311");
  refuseBody("p", "x = tl.arange(0, 4)\nx[0] = 1", "*fp32", "E0311");
  refuseBody("p", "def inner(a):\n    return a", "*fp32", "E0311");
  refuseBody("p", "import math", "*fp32", "E0311");
  refuseBody("p, n", "for i in range(n):\n    n = n\nelse:\n    n = 1", "*fp32, i32", "E0311");
}

TEST(Modules, aliasesAndGlobals) {
  Emitted result = emitSource(R"py(
import triton
from triton import language as lang
from triton.language import exp as e, float32
from triton.language.extra import libdevice
import triton.language.math as tm
try:
    from triton.language.extra.cuda.libdevice import tanh as th
except ImportError:
    th = None
FACTOR: lang.constexpr = 4
HALF = lang.constexpr(FACTOR // 2)
power = libdevice.pow
@triton.jit
def kernel(p):
    x = lang.load(p + lang.arange(0, HALF)).to(float32)
    lang.static_assert(HALF == 2)
    y = e(x) + power(x, 2.5) + th(x) + tm.log(x)
    lang.store(p + lang.arange(0, HALF), y)
)py",
                              "*fp32");
  ASSERT_TRUE(result.module) << result.diags.render();
  for (const char *op : {"math.exp", "math.powf", "math.tanh", "math.log"}) {
    EXPECT_TRUE(result.has(op)) << op;
  }
}

TEST(Modules, globalsThatAreNoConstants) {
  Emitted result = emitSource("import triton\nimport triton.language as tl\nA = B\nB = A\n"
                              "@triton.jit\ndef kernel(p):\n    tl.store(p, A)\n",
                              "*fp32");
  EXPECT_TRUE(result.hasCode("E0219")) << result.diags.render();
}

TEST(Modules, localsShadowBuiltins) {
  emitBody("p, n", "max = n + 1\nsum = max * 2\nrange = sum\ntl.store(p, range)", "*i32, i32");
}

TEST(Modules, parametersAreRebound) {
  Emitted kernel = emitBody("p, n",
                            "p += tl.program_id(0) * 4\nn = tl.load(p + n)\n"
                            "n = n.to(tl.float32) * 0.5\ntl.store(p, n)",
                            "*i32, i32");
  EXPECT_TRUE(kernel.has("arith.fptosi"));
}

} // namespace
} // namespace nereid::language
