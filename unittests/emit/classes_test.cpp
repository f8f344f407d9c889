// SPDX-License-Identifier: Apache-2.0
// isinstance, types of constants, and pointers that are only read. Every answer below was printed
// by upstream's own front end for the same line.
#include "unittests/emit/EmitTest.h"

namespace nereid::language {
namespace {

Emitted emitted(const std::string &body) {
  return emitBody("X, n, N: tl.constexpr, S: tl.constexpr, T: tl.constexpr",
                  "x = tl.load(X + tl.arange(0, 16))\np = X + tl.arange(0, 16)\nb = 3\n" + body,
                  "*fp32, i32, 16, 's', (1, 2)");
}

TEST(IsInstance, AnswersAsUpstream) {
  for (const char *holds : {"isinstance(x, tl.tensor)",
                            "isinstance(n, tl.tensor)",
                            "isinstance(b, tl.tensor)",
                            "isinstance(X, tl.tensor)",
                            "isinstance(N, int)",
                            "isinstance(3, int)",
                            "isinstance(True, int)",
                            "isinstance(3.0, float)",
                            "isinstance(X.dtype, tl.pointer_type)",
                            "isinstance(p.dtype, tl.pointer_type)",
                            "isinstance(X.type, tl.pointer_type)",
                            "isinstance(x.type, tl.block_type)",
                            "isinstance(p.type, tl.block_type)",
                            "isinstance(x.dtype, tl.dtype)",
                            "isinstance(X.dtype, tl.dtype)",
                            "isinstance(x.type, tl.dtype)",
                            "isinstance(tl.int32, tl.dtype)",
                            "isinstance((1, 2), tl.tuple)",
                            "isinstance(T, tl.tuple)",
                            "isinstance(x.shape, tl.tuple)",
                            "isinstance([1], tl.tuple)",
                            "isinstance(N.type, tl.constexpr_type)",
                            "isinstance(x.dtype, (tl.pointer_type, tl.dtype))",
                            "N.type == tl.constexpr_type(16)",
                            "T.type == tl.constexpr_type((1, 2))",
                            "N.type != tl.constexpr_type(17)"}) {
    Emitted kernel = emitted("tl.static_assert(" + std::string(holds) + ")");
    EXPECT_FALSE(kernel.diags.hasErrors()) << kernel.diags.render();
  }
  for (const char *fails :
       {"isinstance(N, tl.tensor)", "isinstance(3, tl.tensor)", "isinstance(x, tl.constexpr)",
        "isinstance(N, tl.constexpr)", "isinstance(None, tl.constexpr)", "isinstance(n, int)",
        "isinstance(b, int)", "isinstance(3, float)", "isinstance(x.dtype, tl.pointer_type)",
        "isinstance(p.type, tl.pointer_type)", "isinstance(x.dtype, tl.block_type)",
        "isinstance(n.type, tl.block_type)", "isinstance(N, tl.dtype)",
        "isinstance(n.type, tl.constexpr_type)", "isinstance(b.type, tl.constexpr_type)"}) {
    Emitted kernel = emitted("tl.static_assert(not " + std::string(fails) + ")");
    EXPECT_FALSE(kernel.diags.hasErrors()) << fails << kernel.diags.render();
  }
}

TEST(IsInstance, RefusesWhatItCannotDecide) {
  refuseBody("x", "tl.static_assert(isinstance(x, tl.load))", "*fp32", "E0311");
}

TEST(IsInstance, KnowsTheClassesOfAFile) {
  Emitted kernel = emitSource("class Pair(NamedTuple):\n    a: tl.tensor\n\n"
                              "class Other(NamedTuple):\n    a: tl.tensor\n\n"
                              "@triton.jit\ndef kernel(n):\n    p = Pair(n)\n"
                              "    tl.static_assert(isinstance(p, Pair))\n"
                              "    tl.static_assert(not isinstance(p, Other))\n"
                              "    tl.static_assert(not isinstance(n, Pair))\n",
                              "i32");
  EXPECT_FALSE(kernel.diags.hasErrors()) << kernel.diags.render();
}

TEST(ConstPointers, AreNotWritten) {
  const std::string parameters = "x: tl.const, y";
  for (const char *body : {"tl.store(x, 1)", "tl.store(x + tl.arange(0, 4), 1)",
                           "q = x\ntl.store(q, 1)", "tl.atomic_add(x, 1)", "tl.atomic_cas(x, 1, 2)",
                           "b = tl.make_block_ptr(x, (4,), (1,), (0,), (4,), (0,))\n"
                           "tl.store(b, tl.zeros((4,), tl.int32))",
                           "d = tl.make_tensor_descriptor(x, (4,), (1,), (4,))\n"
                           "d.store([0], tl.zeros((4,), tl.int32))"}) {
    refuseBody(parameters, body, "*i32, *i32", "E0216");
  }
  // Sides of a run-time condition that differ in it do not meet.
  refuseBody("x: tl.const, y, n", "if n > 0:\n    q = x\nelse:\n    q = y\ntl.store(q, 1)",
             "*i32, *i32, i32", "E0211");
  Emitted kernel = emitBody(parameters, "tl.store(y, tl.load(x + 1))", "*i32, *i32");
  EXPECT_FALSE(kernel.diags.hasErrors()) << kernel.diags.render();
}

TEST(Seeds, AreIntegers) {
  refuseBody("x, s", "tl.store(x, tl.rand(s, tl.arange(0, 1)))", "*fp32, fp32", "E0229");
  refuseBody("x", "tl.store(x, tl.randint(1.5, tl.arange(0, 1)))", "*fp32", "E0229");
}

TEST(Conditions, OfLoopsMayCarryAHint) {
  Emitted kernel = emitBody("x, n",
                            "i = 0\nwhile tl.condition(i < n, disable_licm=True):\n    i += 1\n"
                            "tl.store(x, i)",
                            "*i32, i32");
  EXPECT_TRUE(kernel.has("scf.while")) << kernel.diags.render();
}

TEST(Dot, LimitsTheImpreciseSumsOfFloat8) {
  const std::string load =
      "a = tl.load(x + tl.arange(0, 16)[:, None] * 16 + tl.arange(0, 16)[None, :])\n";
  refuseBody("x", load + "c = tl.dot(a, a, max_num_imprecise_acc=32)", "*fp8e5", "E0214");
  Emitted kernel = emitBody("x", load + "c = tl.dot(a, a, max_num_imprecise_acc=16)", "*fp8e5");
  EXPECT_FALSE(kernel.diags.hasErrors()) << kernel.diags.render();
}

TEST(Item, TakesOneElementOnly) {
  refuseBody("x", "tl.store(x, tl.load(x + tl.arange(0, 2)).item())", "*i32", "E0215");
}

} // namespace
} // namespace nereid::language
