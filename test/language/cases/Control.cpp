// SPDX-License-Identifier: Apache-2.0
// The grid, loops, conditions, hints and what is decided at compile time.
#include "test/language/Case.h"

#include <algorithm>

namespace nereid::conformance {
namespace {

using Element = std::function<Number(const Run &, int64_t)>;

/// A kernel on i = 0 … 63 that writes OUT[0] … OUT[count - 1].
Case control(const std::string &builtin, const std::string &title, const std::string &body,
             int64_t count, Element element, std::vector<DType> types = {DType::I32, DType::F32}) {
  Case one;
  one.builtin = builtin;
  one.title = title;
  one.types = std::move(types);
  one.source =
      "@triton.jit\ndef kernel(A, OUT, n, BLOCK: tl.constexpr):\n    i = tl.arange(0, BLOCK)\n" +
      body;
  one.constants = "BLOCK=64";
  one.integers = {{"n", 5}};
  one.tensors = {{"A", 64, Fill::Small}, {"OUT", 64, Fill::Poison}};
  one.reference = [count, element](Run &run) {
    for (int64_t i = 0; i < count; ++i) {
      run.expect("OUT", i, element(run, i));
    }
  };
  return one;
}

Number a(const Run &run, int64_t i) { return run.in("A")[static_cast<size_t>(i)]; }

void loops(Cases &cases) {
  auto powers = [](const Run &run, int64_t i) { return a(run, i) * 5; };
  cases.push_back(
      control("range", "run-time bound",
              "    s = tl.load(A + i) * 0\n    for k in range(n):\n        s += tl.load(A + i)\n"
              "    tl.store(OUT + i, s)\n",
              64, powers));
  cases.push_back(control(
      "range", "negative step",
      "    at = 0\n    for k in range(n, 0, -2):\n        tl.store(OUT + at, k)\n        at += 1\n",
      3, [](const Run &, int64_t i) -> Number { return 5 - 2 * i; }));
  cases.push_back(control("range", "nested",
                          "    s = 0\n    for k in range(n):\n        for j in range(k):\n         "
                          "   s += j\n    tl.store(OUT, s)\n",
                          1, [](const Run &, int64_t) -> Number { return 0 + 1 + 3 + 6; }));
  cases.push_back(control("tl.range", "stages",
                          "    s = tl.load(A + i) * 0\n    for k in tl.range(0, n, "
                          "num_stages=3):\n        s += tl.load(A + i)\n"
                          "    tl.store(OUT + i, s)\n",
                          64, powers));
  cases.push_back(control(
      "tl.static_range", "",
      "    s = tl.load(A + i) * 0\n    for k in tl.static_range(5):\n        s += tl.load(A + i)\n"
      "    tl.store(OUT + i, s)\n",
      64, powers));
  // Large enough to be made a loop again; the first iteration differs, the last ones do nothing.
  cases.push_back(control("tl.static_range", "rolled",
                          "    x = tl.load(A + i)\n    s = x * 0\n    t = s\n"
                          "    for k in tl.static_range(0, 40):\n"
                          "        if k < n * 7:\n"
                          "            y = tl.where(i % 32 == k, x * k, x)\n"
                          "            s, t = s + y - tl.where(i <= k, x, 0), s\n"
                          "            tl.store(OUT + 63 - i, s, mask=i < k + 1)\n"
                          "    tl.store(OUT + i, s - t)\n",
                          64, [](const Run &run, int64_t i) -> Number {
                            return a(run, i) * (i % 32 == 34 ? 34 : 1) - (i <= 34 ? a(run, i) : 0);
                          }));
  cases.push_back(control(
      "while", "", "    k = 1\n    while k < n * 10:\n        k = k * 2\n    tl.store(OUT, k)\n", 1,
      [](const Run &, int64_t) -> Number { return 64; }));
  cases.push_back(control("tl.condition", "",
                          "    k = 1\n    while tl.condition(k < n * 10, disable_licm=True):\n"
                          "        k = k * 2\n    tl.store(OUT, k)\n",
                          1, [](const Run &, int64_t) -> Number { return 64; }));
  cases.push_back(control("if", "run-time",
                          "    x = tl.load(A + i)\n    if n > 4:\n        x = x + 1\n    else:\n   "
                          "     x = x - 1\n    tl.store(OUT + i, x)\n",
                          64, [](const Run &run, int64_t i) { return a(run, i) + 1; }));
  // Enough branches for a table of addresses, which needs relocations of its own on RISC-V.
  cases.push_back(control(
      "if", "many branches",
      "    for k in range(8):\n        m = k * n % 8\n"
      "        if m == 0:\n            tl.store(OUT + k, tl.load(A + 3) * 2)\n"
      "        elif m == 1:\n            tl.store(OUT + k, tl.load(A + 4) + 5)\n"
      "        elif m == 2:\n            tl.store(OUT + k, tl.load(A + 5) - 5)\n"
      "        elif m == 3:\n            tl.store(OUT + k, 9 - tl.load(A + 6))\n"
      "        elif m == 4:\n            tl.store(OUT + k, tl.maximum(tl.load(A + 7), 0))\n"
      "        elif m == 5:\n            tl.store(OUT + k, tl.sum(tl.load(A + i)))\n"
      "        elif m == 6:\n            tl.store(OUT + k, tl.load(A + 8) * tl.load(A + 9))\n"
      "        else:\n            tl.store(OUT + k, 100)\n",
      8, [](const Run &run, int64_t k) -> Number {
        Number sum = 0;
        for (int64_t i = 0; i < 64; ++i) {
          sum += a(run, i);
        }
        const Number branches[] = {a(run, 3) * 2,
                                   a(run, 4) + 5,
                                   a(run, 5) - 5,
                                   9 - a(run, 6),
                                   std::max<Number>(a(run, 7), 0),
                                   sum,
                                   a(run, 8) * a(run, 9),
                                   100};
        return branches[k * 5 % 8];
      }));
  cases.push_back(
      control("if", "early return",
              "    tl.store(OUT, 1)\n    if n == 5:\n        return\n    tl.store(OUT + 1, 2)\n", 1,
              [](const Run &, int64_t) -> Number { return 1; }));
  cases.push_back(control("if", "ternary", "    tl.store(OUT, 3 if n > 7 else 4)\n", 1,
                          [](const Run &, int64_t) -> Number { return 4; }));
}

void hints(Cases &cases) {
  auto same = [](const Run &run, int64_t i) { return a(run, i); };
  for (const char *hint :
       {"tl.multiple_of(i, 1)", "tl.max_contiguous(i, 64)", "tl.max_constancy(i, 1)"}) {
    std::string text = hint;
    cases.push_back(control(text.substr(0, text.find('(')), "",
                            "    j = " + text + "\n    tl.store(OUT + j, tl.load(A + j))\n", 64,
                            same));
  }
  cases.push_back(control(
      "tl.assume", "", "    tl.assume(n > 0)\n    tl.store(OUT + i, tl.load(A + i))\n", 64, same));
  cases.push_back(control("tl.debug_barrier", "",
                          "    tl.store(OUT + i, tl.load(A + i))\n    tl.debug_barrier()\n"
                          "    tl.store(OUT + i, tl.load(OUT + (i ^ 1)) + 1)\n",
                          64, [](const Run &run, int64_t i) { return a(run, i ^ 1) + 1; }));
  cases.push_back(
      control("tl.static_assert", "",
              "    tl.static_assert(BLOCK == 64, 'block')\n    tl.store(OUT + i, tl.load(A + i))\n",
              64, same));
  cases.push_back(control(
      "tl.device_assert", "",
      "    tl.device_assert(i < 64, 'index')\n    tl.store(OUT + i, tl.load(A + i))\n", 64, same));
  cases.push_back(control(
      "tl.constexpr", "",
      "    two: tl.constexpr = 2\n    tl.store(OUT + i, tl.load(A + i) * tl.constexpr(two + 1))\n",
      64, [](const Run &run, int64_t i) { return a(run, i) * 3; }));
  cases.push_back(control("tl.dtype", "",
                          "    t = A.dtype.element_ty\n    tl.store(OUT + i, (i * 2).to(t))\n", 64,
                          [](const Run &, int64_t i) -> Number { return 2 * i; }));
  cases.push_back(control(
      "tl.pointer_type", "",
      "    p = A.to(tl.int64).to(tl.pointer_type($T))\n    tl.store(OUT + i, tl.load(p + i))\n", 64,
      same));
  cases.push_back(control("triton.next_power_of_2", "",
                          "    tl.store(OUT, triton.next_power_of_2(BLOCK - 3))\n", 1,
                          [](const Run &, int64_t) -> Number { return 64; }));
  cases.push_back(control("len", "", "    tl.store(OUT, len((1, 2, 3)))\n", 1,
                          [](const Run &, int64_t) -> Number { return 3; }));
}

void grid(Cases &cases) {
  Case one;
  one.builtin = "tl.program_id";
  one.types = {DType::I32, DType::I64};
  one.source = "@triton.jit\ndef kernel(OUT):\n    x = tl.program_id(0)\n    y = "
               "tl.program_id(axis=1)\n    z = tl.program_id(2)\n"
               "    tl.store(OUT + (z * 3 + y) * 5 + x, x + 10 * y + 100 * z)\n";
  one.grid = {5, 3, 2};
  one.tensors = {{"OUT", 30, Fill::Poison}};
  one.reference = [](Run &run) {
    for (int64_t i = 0; i < 30; ++i) {
      run.expect("OUT", i, static_cast<Number>(i % 5 + 10 * (i / 5 % 3) + 100 * (i / 15)));
    }
  };
  cases.push_back(one);
  one.builtin = "tl.num_programs";
  one.source = "@triton.jit\ndef kernel(OUT):\n"
               "    if tl.program_id(0) + tl.program_id(1) + tl.program_id(2) == 0:\n"
               "        tl.store(OUT, tl.num_programs(0) + 10 * tl.num_programs(1) + 100 * "
               "tl.num_programs(axis=2))\n";
  one.reference = [](Run &run) { run.expect("OUT", 0, 235); };
  cases.push_back(one);
}

} // namespace

void addControl(Cases &cases) {
  loops(cases);
  hints(cases);
  grid(cases);
}

} // namespace nereid::conformance
