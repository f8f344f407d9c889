// SPDX-License-Identifier: Apache-2.0
// Reductions of a 4x8 tile along each axis and over everything, of odd masked rows, by the built-in
// functions and by a function of the kernel's own. Sums are of small whole numbers, so that every
// order gives one result; results are stored in a wider type, which shows what they were.
#include "test/language/Case.h"

#include <algorithm>
#include <cmath>
#include <numeric>

namespace nereid::conformance {
namespace {

using Fold = std::function<Number(const Values &)>;

/// What a reduction leaves of each group along `axis` (-1: everything).
void expectReduced(Run &run, int axis, const Fold &fold) {
  const Values &x = run.in("A");
  int64_t groups = axis < 0 ? 1 : axis == 0 ? 8 : 4;
  for (int64_t g = 0; g < groups; ++g) {
    Values group;
    for (int64_t i = 0; i < 32; ++i) {
      bool belongs = axis < 0 || (axis == 0 ? i % 8 == g : i / 8 == g);
      if (belongs) {
        group.push_back(x[static_cast<size_t>(i)]);
      }
    }
    run.expect("OUT", g, fold(group));
  }
}

std::string storeText(int axis, const std::string &value) {
  return axis < 0 ? "    tl.store(OUT, " + value + ")\n"
                  : "    tl.store(OUT + tl.arange(0, " + std::string(axis == 0 ? "8" : "4") +
                        "), " + value + ")\n";
}

struct Reduction {
  const char *builtin;
  std::string call; ///< $X the tile, $A the axis
  std::vector<DType> types;
  Fill fill;
  Fold fold;
  bool isIndex = false;
};

void addReduction(Cases &cases, const Reduction &reduction, const std::string &helpers = "") {
  for (DType type : reduction.types) {
    for (int axis : {0, 1, -1}) {
      std::string call = reduction.call;
      auto replace = [&](const std::string &what, const std::string &by) {
        for (size_t at; (at = call.find(what)) != std::string::npos;) {
          call.replace(at, what.size(), by);
        }
      };
      replace("$X", "x");
      replace("$A", axis < 0 ? "None" : std::to_string(axis));
      Case one;
      one.builtin = reduction.builtin;
      one.title = std::string(kernelName(type)) + (axis < 0    ? " all"
                                                   : axis == 0 ? " axis 0"
                                                               : " axis 1");
      one.types = {type};
      one.source =
          helpers +
          "@triton.jit\ndef kernel(A, OUT):\n"
          "    x = tl.load(A + tl.arange(0, 4)[:, None] * 8 + tl.arange(0, 8)[None, :])\n" +
          storeText(axis, call);
      DType wide = reduction.isIndex         ? DType::I32
                   : isFloat(type)           ? DType::F64
                   : isUnsignedInteger(type) ? DType::U64
                                             : DType::I64;
      one.tensors = {{"A", 32, reduction.fill}, {"OUT", 8, Fill::Poison, {wide}}};
      one.reference = [axis, fold = reduction.fold](Run &run) { expectReduced(run, axis, fold); };
      cases.push_back(std::move(one));
    }
  }
}

Number total(const Values &group) {
  Number sum = 0;
  for (Number each : group) {
    sum += each;
  }
  return sum;
}
Number largest(const Values &group) { return *std::max_element(group.begin(), group.end()); }
Number smallest(const Values &group) { return *std::min_element(group.begin(), group.end()); }
/// Of the numbers among the values; NaN when there is none.
Number largestNumber(const Values &group) {
  return std::accumulate(group.begin(), group.end(), static_cast<Number>(NAN),
                         [](Number a, Number b) { return std::fmax(a, b); });
}
Number smallestNumber(const Values &group) {
  return std::accumulate(group.begin(), group.end(), static_cast<Number>(NAN),
                         [](Number a, Number b) { return std::fmin(a, b); });
}
Number firstLargest(const Values &group) {
  return static_cast<Number>(std::max_element(group.begin(), group.end()) - group.begin());
}
Number firstSmallest(const Values &group) {
  return static_cast<Number>(std::min_element(group.begin(), group.end()) - group.begin());
}
Number combined(const Values &group, int64_t (*f)(int64_t, int64_t)) {
  auto result = static_cast<int64_t>(static_cast<__int128>(group[0]));
  for (size_t i = 1; i < group.size(); ++i) {
    result = f(result, static_cast<int64_t>(static_cast<__int128>(group[i])));
  }
  return result;
}

} // namespace

void addReductions(Cases &cases) {
  addReduction(cases, {"tl.sum", "tl.sum($X, axis=$A)", numbers, Fill::Small, total});
  addReduction(cases, {"tl.max", "tl.max($X, axis=$A)", numbers, Fill::Normal, largest});
  addReduction(cases, {"tl.min", "tl.min($X, axis=$A)", numbers, Fill::Normal, smallest});
  // Where a NaN is, and where a NaN meets the infinity that every number wins against.
  addReduction(cases, {"tl.max", "tl.max($X, axis=$A)", floats, Fill::Special, largestNumber});
  addReduction(cases, {"tl.min", "tl.min($X, axis=$A)", floats, Fill::Special, smallestNumber});
  addReduction(cases, {"tl.max",
                       "tl.max(tl.maximum(tl.where(tl.abs($X) < 1, $X, float('nan')), "
                       "tl.full((4, 8), float('-inf'), tl.float32)), axis=$A)",
                       floats, Fill::Normal, [](const Values &group) {
                         Number largest = -HUGE_VALL;
                         for (Number each : group) {
                           largest = std::fabs(each) < 1 ? std::fmax(largest, each) : largest;
                         }
                         return largest;
                       }});
  addReduction(cases, {"tl.max",
                       "tl.max($X, axis=$A, return_indices=True)[1]",
                       {DType::F32, DType::I32, DType::F16},
                       Fill::Small,
                       firstLargest,
                       true});
  std::vector<Reduction> indices = {
      {"tl.argmax", "tl.argmax($X, axis=$A)", numbers, Fill::Small, firstLargest, true},
      {"tl.argmin", "tl.argmin($X, axis=$A)", numbers, Fill::Small, firstSmallest, true}};
  for (Reduction &reduction : indices) {
    addReduction(cases, reduction);
  }
  const std::vector<DType> whole = {DType::I32, DType::U32, DType::I64, DType::U64};
  addReduction(cases, {"tl.xor_sum",
                       "tl.xor_sum($X, axis=$A)",
                       {DType::I32, DType::I64},
                       Fill::Normal,
                       [](const Values &group) {
                         return combined(group, [](int64_t a, int64_t b) { return a ^ b; });
                       }});
  addReduction(cases, {"tl.reduce_or",
                       "tl.reduce_or($X, axis=$A)",
                       {DType::I32, DType::I64},
                       Fill::Normal,
                       [](const Values &group) {
                         return combined(group, [](int64_t a, int64_t b) { return a | b; });
                       }});
  const std::string product = "@triton.jit\ndef times(a, b):\n    return a * b\n\n";
  addReduction(cases,
               {"tl.reduce", "tl.reduce($X, $A, times)", floats + whole, Fill::Unit,
                [](const Values &group) {
                  Number result = 1;
                  for (Number each : group) {
                    result *= each;
                  }
                  return result;
                }},
               product);
  for (Case &each : cases) {
    // Factors are below 1 and each of the products is rounded once.
    if (each.builtin == "tl.reduce" && isFloat(each.types[0])) {
      each.absolute = 32 * static_cast<double>(ulpOf(each.types[0], 0.5));
    }
  }

  // Masked odd rows: what is masked off must not count.
  Case one;
  one.builtin = "tl.sum";
  one.title = "masked";
  one.types = numbers;
  one.source =
      "@triton.jit\ndef kernel(A, OUT, n, BLOCK: tl.constexpr):\n    i = tl.arange(0, BLOCK)\n"
      "    tl.store(OUT, tl.sum(tl.load(A + i, mask=i < n, other=0)))\n";
  one.constants = "BLOCK=64";
  one.integers = {{"n", 37}};
  one.tensors = {{"A", 37, Fill::Small}, {"OUT", 1, Fill::Poison, {DType::F64}}};
  one.reference = [](Run &run) { run.expect("OUT", 0, total(run.in("A"))); };
  cases.push_back(one);

  // Several sources at once.
  one.builtin = "tl.reduce";
  one.title = "two sources";
  one.types = {DType::I32, DType::I64, DType::F32, DType::F64};
  one.source =
      "@triton.jit\ndef both(s, p, t, q):\n    return s + t, tl.maximum(p, q)\n\n"
      "@triton.jit\ndef kernel(A, OUT, BLOCK: tl.constexpr):\n"
      "    x = tl.load(A + tl.arange(0, BLOCK))\n"
      "    s, m = tl.reduce((x, x), 0, both)\n    tl.store(OUT, s)\n    tl.store(OUT + 1, m)\n";
  one.integers = {};
  one.tensors = {{"A", 64, Fill::Small}, {"OUT", 2, Fill::Poison}};
  one.reference = [](Run &run) {
    run.expect("OUT", 0, total(run.in("A")));
    run.expect("OUT", 1, largest(run.in("A")));
  };
  cases.push_back(one);

  one.title = "keep_dims";
  one.builtin = "tl.sum";
  one.source =
      "@triton.jit\ndef kernel(A, OUT, BLOCK: tl.constexpr):\n"
      "    at = tl.arange(0, 8)[:, None] * 8 + tl.arange(0, 8)[None, :]\n"
      "    x = tl.load(A + at)\n    tl.store(OUT + at, x - tl.sum(x, axis=1, keep_dims=True))\n";
  one.tensors = {{"A", 64, Fill::Small}, {"OUT", 64, Fill::Poison}};
  one.reference = [](Run &run) {
    for (size_t i = 0; i < 64; ++i) {
      auto row = run.in("A").begin() + static_cast<ptrdiff_t>(i / 8 * 8);
      run.expect("OUT", static_cast<int64_t>(i), run.in("A")[i] - total(Values(row, row + 8)));
    }
  };
  cases.push_back(one);

  one.builtin = "tl.softmax";
  one.title = "";
  one.types = {DType::F32};
  one.source = "@triton.jit\ndef kernel(A, OUT, BLOCK: tl.constexpr):\n"
               "    i = tl.arange(0, BLOCK)\n    tl.store(OUT + i, tl.softmax(tl.load(A + i)))\n";
  one.tensors = {{"A", 64, Fill::Normal}, {"OUT", 64, Fill::Poison}};
  one.ulps = 8;
  one.reference = [](Run &run) {
    Number sum = 0;
    for (Number each : run.in("A")) {
      sum += std::exp(each);
    }
    for (size_t i = 0; i < 64; ++i) {
      run.expect("OUT", static_cast<int64_t>(i), std::exp(run.in("A")[i]) / sum);
    }
  };
  cases.push_back(one);
}

} // namespace nereid::conformance
