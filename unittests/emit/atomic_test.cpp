// SPDX-License-Identifier: Apache-2.0
// Atomics: the operation that each type and option gives, and what is refused.
#include "EmitTest.h"

namespace nereid::language {
namespace {

std::string emitted(const std::string &pointer, const std::string &call) {
  return emitBody("p, x", "i = tl.arange(0, 8)\nv = tl.load(x + i)\nold = " + call + "\n",
                  pointer + ", " + pointer)
      .text;
}

bool emitsAll(const std::string &text, const std::vector<std::string> &parts) {
  for (const std::string &part : parts) {
    if (text.find(part) == std::string::npos) {
      ADD_FAILURE() << "lacks " << part << ":\n" << text;
      return false;
    }
  }
  return true;
}

TEST(Atomic, kindFollowsTheElementType) {
  const std::vector<std::array<std::string, 3>> rows = {
      {"*i32", "add", "add"},    {"*u64", "add", "add"},   {"*fp16", "add", "fadd"},
      {"*bf16", "add", "fadd"},  {"*fp32", "add", "fadd"}, {"*fp64", "add", "fadd"},
      {"*i32", "max", "max"},    {"*u32", "max", "umax"},  {"*fp32", "max", "fmax"},
      {"*i64", "min", "min"},    {"*u64", "min", "umin"},  {"*fp64", "min", "fmin"},
      {"*i32", "and", "and"},    {"*u32", "or", "or"},     {"*i64", "xor", "xor"},
      {"*fp32", "xchg", "xchg"}, {"*u64", "xchg", "xchg"},
  };
  for (const auto &[type, function, kind] : rows) {
    emitsAll(emitted(type, "tl.atomic_" + function + "(p + i, v)"), {"tile.atomic_rmw " + kind});
  }
}

TEST(Atomic, orderingIsWrittenUnlessItIsTheDefault) {
  std::string text = emitted("*i32", "tl.atomic_add(p + i, v)");
  EXPECT_EQ(text.find("sem ="), std::string::npos) << text;
  emitsAll(emitted("*i32", "tl.atomic_add(p + i, v, sem='relaxed', scope='sys')"),
           {"sem = 0 ", "scope = 2 "}); // relaxed, system
  emitsAll(emitted("*i32", "tl.atomic_xchg(p + i, v, None, 'release', 'cta')"),
           {"sem = 2 ", "scope = 0 "}); // release, program
  emitsAll(emitted("*i32", "(p + i).atomic_cas(v, 1, sem='acquire')"),
           {"tile.atomic_cas", "sem = 1 "});
}

TEST(Atomic, operandsTakeThePointersTypeAndShape) {
  emitsAll(emitted("*fp16", "tl.atomic_add(p + i, 1, mask=True)"),
           {"dense<1.000000e+00> : tensor<8xf16>", "tensor<8xi1>"});
  emitsAll(emitted("*i64", "tl.atomic_add(p, 1)"),
           {"tile.atomic_rmw add %", "!tile.ptr<i64>, i64"});
  Emitted kernel = emitBody("p",
                            "r = tl.arange(0, 4)[:, None]\nc = tl.arange(0, 8)[None, :]\n"
                            "tl.atomic_or(p + r * 8 + c, r, mask=c < 5)",
                            "*u32");
  emitsAll(kernel.text, {"tile.atomic_rmw or", "mask", "tensor<4x8xi1>", "tensor<4x8xi32>"});
}

TEST(Atomic, resultIsWhatMemoryHeld) {
  emitBody("p, out",
           "old = tl.atomic_add(p, 1.5)\ntl.static_assert(old.dtype == tl.float32)\n"
           "tl.store(out, old)",
           "*fp32, *fp32");
  emitBody("p",
           "old = tl.atomic_cas(p + tl.arange(0, 4), 0, 1)\n"
           "tl.static_assert(old.dtype == tl.uint64)\ntl.static_assert(old.shape[0] == 4)",
           "*u64");
}

TEST(Atomic, refusesElementTypesWithoutTheUpdate) {
  std::string text = refuseBody("p", "tl.atomic_max(p, 1.0)", "*fp16", "E0216");
  emitsAll(text, {"'atomic_max' expects a pointer to f32, f64, i32", "but got *f16 scalar"});
  refuseBody("p", "tl.atomic_add(p, 1)", "*i8", "E0216");
  refuseBody("p", "tl.atomic_add(p, 1)", "*i16", "E0216");
  refuseBody("p", "tl.atomic_and(p, 1)", "*fp32", "E0216");
  refuseBody("p", "tl.atomic_xchg(p, 1)", "*bf16", "E0216");
  emitsAll(refuseBody("p", "tl.atomic_cas(p, 1, 2)", "*u8", "E0216"),
           {"16, 32 or 64 bits", "*u8 scalar"});
}

TEST(Atomic, refusesWhatDoesNotFitThePointer) {
  emitsAll(refuseBody("p", "tl.atomic_add(p, tl.arange(0, 8))", "*i32", "E0216"),
           {"'val' of 'atomic_add' is 8xi32 tile, but the pointer is a scalar"});
  emitsAll(refuseBody("p", "tl.atomic_add(p, 1, mask=tl.arange(0, 8) < 3)", "*i32", "E0216"),
           {"the mask of 'atomic_add'"});
  refuseBody("p", "tl.atomic_add(p + tl.arange(0, 4), tl.arange(0, 8))", "*i32", "E0213");
  refuseBody("p", "tl.atomic_add(p + tl.arange(0, 8)[:, None], 1, mask=tl.arange(0, 8) < 3)",
             "*i32", "E0213");
  emitsAll(refuseBody("p, n", "tl.atomic_add(n, 1)", "*i32, i32", "E0216"),
           {"'atomic_add' expects a pointer, but got i32 scalar"});
  refuseBody("p", "tl.atomic_xchg(p, p)", "*i64", "E0216");
}

TEST(Atomic, refusesUnknownOrderings) {
  emitsAll(refuseBody("p", "tl.atomic_add(p, 1, sem='seq_cst')", "*i32", "E0229"),
           {"'acquire', 'release', 'acq_rel' or 'relaxed'", "'seq_cst'"});
  emitsAll(refuseBody("p", "tl.atomic_cas(p, 1, 2, scope='block')", "*i32", "E0229"),
           {"'gpu', 'cta' or 'sys'", "'block'"});
  refuseBody("p, s", "tl.atomic_add(p, 1, sem=s)", "*i32, i32", "E0203");
}

} // namespace
} // namespace nereid::language
