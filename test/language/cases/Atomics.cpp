// SPDX-License-Identifier: Apache-2.0
// Atomics on addresses of their own (old values and new ones), and on one address by all programs.
#include "test/language/Case.h"

#include <algorithm>
#include <cmath>

namespace nereid::conformance {
namespace {

using Update = Number (*)(DType, Number, Number);

void addAtomic(Cases &cases, const std::string &name, const std::vector<DType> &types, Fill fill,
               Update update, bool isCommutative) {
  Case one;
  one.builtin = "tl." + name;
  one.title = "tile";
  one.types = types;
  one.source = "@triton.jit\ndef kernel(A, P, OLD, n, BLOCK: tl.constexpr):\n"
               "    i = tl.arange(0, BLOCK)\n    a = tl.load(A + i)\n"
               "    old = tl." +
               name + "(P + i, a, mask=i < n)\n    tl.store(OLD + i, old, mask=i < n)\n";
  one.constants = "BLOCK=64";
  one.integers = {{"n", 37}};
  one.tensors = {{"A", 64, fill}, {"P", 64, fill}, {"OLD", 64, Fill::Poison}};
  one.reference = [update](Run &run) {
    for (int64_t i = 0; i < 37; ++i) {
      auto at = static_cast<size_t>(i);
      run.expect("P", i, update(run.type, run.in("P")[at], run.in("A")[at]));
      run.expect("OLD", i, run.in("P")[at]);
    }
  };
  cases.push_back(one);
  if (!isCommutative) {
    return;
  }
  one.title = "one address";
  one.source = "@triton.jit\ndef kernel(A, P):\n"
               "    tl." +
               name + "(P, tl.load(A + tl.program_id(0)), sem='relaxed', scope='gpu')\n";
  one.constants = "";
  one.integers = {};
  one.grid = {64, 1, 1};
  one.tensors = {{"A", 64, fill}, {"P", 1, fill}};
  one.reference = [update](Run &run) {
    Number value = run.in("P")[0];
    for (Number each : run.in("A")) {
      value = update(run.type, value, each);
    }
    run.expect("P", 0, value);
  };
  cases.push_back(one);
}

Number bitwise(DType type, Number a, Number b,
               unsigned __int128 (*f)(unsigned __int128, unsigned __int128)) {
  auto word = [](Number x) { return static_cast<unsigned __int128>(static_cast<__int128>(x)); };
  return wrap(type, static_cast<__int128>(f(word(a), word(b))));
}

} // namespace

void addAtomics(Cases &cases) {
  const std::vector<DType> words = {DType::I32, DType::U32, DType::I64, DType::U64};
  // Small whole numbers add exactly in any order.
  addAtomic(
      cases, "atomic_add", words + std::vector<DType>{DType::F16, DType::F32, DType::F64},
      Fill::Small,
      [](DType type, Number a, Number b) {
        return isFloat(type) ? a + b : wrap(type, static_cast<__int128>(a + b));
      },
      true);
  addAtomic(
      cases, "atomic_max", words + wideFloats, Fill::Normal,
      [](DType, Number a, Number b) { return std::max(a, b); }, true);
  addAtomic(
      cases, "atomic_min", words + wideFloats, Fill::Normal,
      [](DType, Number a, Number b) { return std::min(a, b); }, true);
  addAtomic(
      cases, "atomic_and", words, Fill::Normal,
      [](DType type, Number a, Number b) {
        return bitwise(type, a, b, [](auto x, auto y) { return x & y; });
      },
      true);
  addAtomic(
      cases, "atomic_or", words, Fill::Normal,
      [](DType type, Number a, Number b) {
        return bitwise(type, a, b, [](auto x, auto y) { return x | y; });
      },
      true);
  addAtomic(
      cases, "atomic_xor", words, Fill::Normal,
      [](DType type, Number a, Number b) {
        return bitwise(type, a, b, [](auto x, auto y) { return x ^ y; });
      },
      true);
  addAtomic(
      cases, "atomic_xchg", words + wideFloats, Fill::Normal,
      [](DType, Number, Number b) { return b; }, false);

  Case one;
  one.builtin = "tl.atomic_cas";
  one.title = "even ones";
  one.types = words;
  one.source =
      "@triton.jit\ndef kernel(A, P, OLD, BLOCK: tl.constexpr):\n"
      "    i = tl.arange(0, BLOCK)\n    expected = tl.where(i % 2 == 0, tl.load(P + i), 100)\n"
      "    tl.store(OLD + i, tl.atomic_cas(P + i, expected.to($T), tl.load(A + i)))\n";
  one.constants = "BLOCK=32";
  one.tensors = {{"A", 32, Fill::Small}, {"P", 32, Fill::Small}, {"OLD", 32, Fill::Poison}};
  one.reference = [](Run &run) {
    for (int64_t i = 0; i < 32; ++i) {
      auto at = static_cast<size_t>(i);
      if (i % 2 == 0) {
        run.expect("P", i, run.in("A")[at]);
      }
      run.expect("OLD", i, run.in("P")[at]);
    }
  };
  cases.push_back(one);

  // A spin lock around a plain read, change and write.
  one.title = "spin lock";
  one.types = {DType::I32};
  one.source = "@triton.jit\ndef kernel(LOCK, SUM):\n"
               "    while tl.atomic_cas(LOCK, 0, 1) == 1:\n        pass\n"
               "    tl.store(SUM, tl.load(SUM) + tl.program_id(0))\n    tl.debug_barrier()\n"
               "    tl.atomic_xchg(LOCK, 0)\n";
  one.constants = "";
  one.grid = {50, 1, 1};
  one.tensors = {{"LOCK", 1, Fill::Zero}, {"SUM", 1, Fill::Zero}};
  one.reference = [](Run &run) { run.expect("SUM", 0, 49 * 50 / 2); };
  cases.push_back(one);

  // Program i waits for program i + 1, so the last one must be able to run first.
  one.title = "waits for a higher program";
  one.source =
      "@triton.jit\ndef kernel(FLAG, OUT):\n    i = tl.program_id(0)\n"
      "    n = tl.num_programs(0)\n    if i + 1 < n:\n"
      "        while tl.atomic_add(FLAG + i + 1, 0) == 0:\n            pass\n"
      "    tl.store(OUT + i, n - i)\n    tl.debug_barrier()\n    tl.atomic_xchg(FLAG + i, 1)\n";
  one.grid = {40, 1, 1};
  one.tensors = {{"FLAG", 40, Fill::Zero}, {"OUT", 40, Fill::Poison}};
  one.reference = [](Run &run) {
    for (int64_t i = 0; i < 40; ++i) {
      run.expect("FLAG", i, 1);
      run.expect("OUT", i, 40 - i);
    }
  };
  cases.push_back(one);
}

} // namespace nereid::conformance
