// SPDX-License-Identifier: Apache-2.0
// Running combinations, sorting, counting.
#include "test/language/Case.h"

#include <algorithm>
#include <cmath>
#include <functional>

namespace nereid::conformance {
namespace {

using Step = Number (*)(DType, Number, Number);

/// Scans the 4x8 tile of A along an axis into OUT.
Case scanning(const std::string &builtin, const std::string &title, const std::string &helpers,
              const std::string &call, std::vector<DType> types, Fill fill, int axis, bool reverse,
              Step step) {
  Case one;
  one.builtin = builtin;
  one.title = title;
  one.types = std::move(types);
  one.source = helpers +
               "@triton.jit\ndef kernel(A, OUT):\n"
               "    at = tl.arange(0, 4)[:, None] * 8 + tl.arange(0, 8)[None, :]\n"
               "    x = tl.load(A + at)\n    tl.store(OUT + at, " +
               call + ")\n";
  one.tensors = {{"A", 32, fill}, {"OUT", 32, Fill::Poison}};
  one.reference = [=](Run &run) {
    int64_t length = axis == 0 ? 4 : 8, stride = axis == 0 ? 8 : 1;
    for (int64_t line = 0; line < 32 / length; ++line) {
      int64_t start = axis == 0 ? line : line * 8;
      Number carried = 0;
      for (int64_t k = 0; k < length; ++k) {
        int64_t at = start + (reverse ? length - 1 - k : k) * stride;
        Number value = run.in("A")[static_cast<size_t>(at)];
        carried = k == 0 ? value : step(run.type, carried, value);
        run.expect("OUT", at, carried);
      }
    }
  };
  return one;
}

Number plus(DType, Number a, Number b) { return a + b; }
Number times(DType, Number a, Number b) { return a * b; }
Number larger(DType, Number a, Number b) { return std::max(a, b); }
/// Not commutative: keeps the later of two unless it is zero.
Number laterUnlessZero(DType, Number a, Number b) { return b != 0 ? b : a; }

Case sorting(const std::string &builtin, const std::string &title, const std::string &call,
             int64_t kept, bool descending) {
  Case one;
  one.builtin = builtin;
  one.title = title;
  one.types = numbers;
  one.source = "@triton.jit\ndef kernel(A, OUT):\n"
               "    x = tl.load(A + tl.arange(0, 4)[:, None] * 16 + tl.arange(0, 16)[None, :])\n"
               "    tl.store(OUT + tl.arange(0, 4)[:, None] * " +
               std::to_string(kept) + " + tl.arange(0, " + std::to_string(kept) + ")[None, :], " +
               call + ")\n";
  one.tensors = {{"A", 64, Fill::Normal}, {"OUT", 4 * kept, Fill::Poison}};
  one.reference = [=](Run &run) {
    for (int64_t row = 0; row < 4; ++row) {
      auto first = run.in("A").begin() + row * 16;
      Values line(first, first + 16);
      std::sort(line.begin(), line.end());
      if (descending) {
        std::reverse(line.begin(), line.end());
      }
      for (int64_t i = 0; i < kept; ++i) {
        run.expect("OUT", row * kept + i, line[static_cast<size_t>(i)]);
      }
    }
  };
  return one;
}

/// A tile of one dimension, as long as a block of a real kernel.
Case sortingOne(int64_t length) {
  Case one;
  one.builtin = "tl.sort";
  one.title = std::to_string(length) + " elements";
  one.types = {DType::F32, DType::I64};
  one.source = "@triton.jit\ndef kernel(A, OUT, BLOCK: tl.constexpr):\n"
               "    i = tl.arange(0, BLOCK)\n    tl.store(OUT + i, tl.sort(tl.load(A + i)))\n";
  one.constants = "BLOCK=" + std::to_string(length);
  one.tensors = {{"A", length, Fill::Normal}, {"OUT", length, Fill::Poison}};
  one.reference = [](Run &run) {
    Values line = run.in("A");
    std::sort(line.begin(), line.end());
    for (size_t i = 0; i < line.size(); ++i) {
      run.expect("OUT", static_cast<int64_t>(i), line[i]);
    }
  };
  return one;
}

/// Along the first dimension of a 8x4 tile.
Case sortingColumns() {
  Case one;
  one.builtin = "tl.sort";
  one.title = "columns";
  one.types = {DType::F32, DType::U64};
  one.source = "@triton.jit\ndef kernel(A, OUT):\n"
               "    at = tl.arange(0, 8)[:, None] * 4 + tl.arange(0, 4)[None, :]\n"
               "    tl.store(OUT + at, tl.sort(tl.load(A + at), 0, descending=True))\n";
  one.tensors = {{"A", 32, Fill::Normal}, {"OUT", 32, Fill::Poison}};
  one.reference = [](Run &run) {
    for (int64_t column = 0; column < 4; ++column) {
      Values line;
      for (int64_t row = 0; row < 8; ++row) {
        line.push_back(run.in("A")[static_cast<size_t>(row * 4 + column)]);
      }
      std::sort(line.rbegin(), line.rend());
      for (int64_t row = 0; row < 8; ++row) {
        run.expect("OUT", row * 4 + column, line[static_cast<size_t>(row)]);
      }
    }
  };
  return one;
}

} // namespace

void addScans(Cases &cases) {
  const std::vector<DType> types =
      floats + std::vector<DType>{DType::I32, DType::I64, DType::U32, DType::I8};
  // The maximum of two bfloat16 is a float32.
  const std::string user =
      "@triton.jit\ndef later(a, b):\n    return tl.where(b != 0, b, a)\n\n"
      "@triton.jit\ndef larger(a, b):\n    return tl.maximum(a, b).to(a.dtype)\n\n";
  for (int axis : {0, 1}) {
    for (bool reverse : {false, true}) {
      std::string title = "axis " + std::to_string(axis) + (reverse ? " reverse" : "");
      std::string arguments = "axis=" + std::to_string(axis) + (reverse ? ", reverse=True)" : ")");
      cases.push_back(scanning("tl.cumsum", title, "", "tl.cumsum(x, " + arguments, types,
                               Fill::Unit, axis, reverse, plus));
      // Floats of one or minus one and zero multiply exactly.
      cases.push_back(scanning("tl.cumprod", title, "", "tl.cumprod(x, " + arguments,
                               {DType::I32, DType::I64, DType::I8}, Fill::Unit, axis, reverse,
                               times));
      cases.push_back(scanning("tl.associative_scan", title + " user", user,
                               "tl.associative_scan(x, " + std::to_string(axis) + ", later" +
                                   (reverse ? ", reverse=True)" : ")"),
                               types, Fill::Unit, axis, reverse, laterUnlessZero));
      cases.push_back(scanning("tl.associative_scan", title + " maximum", user,
                               "tl.associative_scan(x, " + std::to_string(axis) + ", larger" +
                                   (reverse ? ", reverse=True)" : ")"),
                               numbers, Fill::Normal, axis, reverse, larger));
    }
  }
  for (Case &one : cases) {
    if (one.builtin == "tl.cumsum") {
      // Each of the additions is rounded in the type, or in float32 for bfloat16.
      one.absolute = 0;
      one.tensors[0].fill = Fill::Shift;
    }
  }
  cases.push_back(sorting("tl.sort", "", "tl.sort(x, 1)", 16, false));
  cases.push_back(sorting("tl.sort", "descending", "tl.sort(x, descending=True)", 16, true));
  cases.push_back(sorting("tl.topk", "", "tl.topk(x, 4)", 4, true));
  cases.push_back(sorting("tl.topk", "one", "tl.topk(x, 1, dim=1)", 1, true));
  cases.push_back(sorting("tl.topk", "all", "tl.topk(x, k=16)", 16, true));
  cases.push_back(sorting("tl.topk", "smallest", "tl.topk(x, 4, descending=False)", 4, false));
  cases.push_back(sorting("tl.topk", "one smallest", "tl.topk(x, 1, descending=False)", 1, false));
  cases.push_back(
      sorting("tl.topk", "all from the smallest", "tl.topk(x, 16, descending=False)", 16, false));
  cases.push_back(sorting("tl.sort", "equal keys", "tl.sort(x)", 16, false));
  cases.back().tensors[0].fill = Fill::Shift;
  for (int64_t length : {1, 2, 2048}) {
    cases.push_back(sortingOne(length));
  }
  cases.push_back(sortingColumns());

  Case one;
  one.builtin = "tl.histogram";
  one.title = "";
  one.types = {DType::I32, DType::U32, DType::I64, DType::I8};
  one.source = "@triton.jit\ndef kernel(A, OUT, BLOCK: tl.constexpr):\n"
               "    x = tl.load(A + tl.arange(0, BLOCK))\n"
               "    tl.store(OUT + tl.arange(0, 8), tl.histogram(x, 8))\n";
  one.constants = "BLOCK=64";
  one.tensors = {{"A", 64, Fill::Shift}, {"OUT", 8, Fill::Poison, {DType::I32}}};
  one.reference = [](Run &run) {
    for (int64_t bin = 0; bin < 8; ++bin) {
      run.expect("OUT", bin,
                 static_cast<Number>(
                     std::count(run.in("A").begin(), run.in("A").end(), static_cast<Number>(bin))));
    }
  };
  cases.push_back(one);

  one.title = "masked";
  one.source = "@triton.jit\ndef kernel(A, OUT, BLOCK: tl.constexpr):\n"
               "    i = tl.arange(0, BLOCK)\n    x = tl.load(A + i)\n"
               "    tl.store(OUT + tl.arange(0, 8), tl.histogram(x, 8, mask=i < 37))\n";
  one.reference = [](Run &run) {
    for (int64_t bin = 0; bin < 8; ++bin) {
      run.expect("OUT", bin,
                 static_cast<Number>(std::count(run.in("A").begin(), run.in("A").begin() + 37,
                                                static_cast<Number>(bin))));
    }
  };
  cases.push_back(one);
}

} // namespace nereid::conformance
