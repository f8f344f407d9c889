// SPDX-License-Identifier: Apache-2.0
// What is computed while a kernel compiles: Python's own functions, queries of types, functions
// given as arguments, and orders of tiles.
#include "test/language/Case.h"

#include <cmath>

namespace nereid::conformance {
namespace {

using V = const Number *;

void add(Cases &cases, Cases more, double absolute = 0) {
  for (Case &one : more) {
    one.absolute = absolute;
    cases.push_back(std::move(one));
  }
}

/// `a` plus a constant that the expression must have.
void addConstant(Cases &cases, const std::string &name, const std::string &expression, int value) {
  add(cases, elementwise(name, "a + (" + expression + ")", {DType::I32}, {Fill::Small},
                         [value](DType, V v) { return v[0] + value; }));
}

void addPython(Cases &cases) {
  addConstant(cases, "int", "int(-3.9)", -3);
  addConstant(cases, "float", "int(float(7) / 2)", 3);
  addConstant(cases, "bool", "5 if bool(2) else 6", 5);
  addConstant(cases, "str", "5 if str(3) == '3' else 6", 5);
  addConstant(cases, "repr", "5 if repr('x') == \"'x'\" else 6", 5);
  addConstant(cases, "format", "5 if format(3) == '3' else 6", 5);
  addConstant(cases, "abs", "abs(-3)", 3);
  addConstant(cases, "min", "min(3, 7)", 3);
  addConstant(cases, "max", "max(3, 7)", 7);
  addConstant(cases, "getattr", "5 if getattr(a, 'dtype') == tl.int32 else 6", 5);
  addConstant(cases, "hasattr", "5 if hasattr(a, 'dtype') and not hasattr(a, 'colour') else 6", 5);
  addConstant(cases, "tuple", "len(tuple([1, 2]))", 2);
  addConstant(cases, "list", "len(list((1, 2, 3)))", 3);
  addConstant(cases, "isinstance", "5 if isinstance(a, tl.tensor) else 6", 5);
  addConstant(cases, "type", "5 if type(a) == tl.tensor else 6", 5);
  addConstant(cases, "tl._log2", "tl._log2(16)", 4);
  addConstant(cases, "tl.tuple", "tl.tuple((1, 2))[1]", 2);
  addConstant(cases, "tl.to_tensor", "tl.to_tensor(9)", 9);
  add(cases, elementwise("tl.get_int_dtype", "a.to(tl.get_int_dtype(8, True)).to(tl.int32)",
                         {DType::I32}, {Fill::Normal}, [](DType, V v) -> Number {
                           return static_cast<int8_t>(static_cast<int64_t>(v[0]));
                         }));
}

void addMethods(Cases &cases) {
  add(cases, elementwise(".to", "a.to(tl.float64)", numbers, {Fill::Normal},
                         [](DType, V v) { return v[0]; }, 0.5, {DType::F64}));
  add(cases,
      elementwise(".logical_and", "(a > 0).logical_and(b > 0)", numbers, {Fill::Small, Fill::Small},
                  [](DType, V v) -> Number { return v[0] > 0 && v[1] > 0; }, 0, {DType::Bool}));
  add(cases,
      elementwise(".logical_or", "(a > 0).logical_or(b > 0)", numbers, {Fill::Small, Fill::Small},
                  [](DType, V v) -> Number { return v[0] > 0 || v[1] > 0; }, 0, {DType::Bool}));
  add(cases, elementwise("tl.math.max", "tl.math.max(a, b)", numbers, {Fill::Normal, Fill::Normal},
                         [](DType, V v) { return std::max(v[0], v[1]); }));
  add(cases, elementwise("tl.math.min", "tl.math.min(a, b)", numbers, {Fill::Normal, Fill::Normal},
                         [](DType, V v) { return std::min(v[0], v[1]); }));
}

/// Element k of the walk over 9 x 9 tiles in groups of 4 rows, each group column by column.
Number walked(int64_t k, bool wantsRow) {
  int64_t count = 0;
  for (int64_t first = 0; first < 9; first += 4) {
    for (int64_t column = 0; column < 9; ++column) {
      for (int64_t row = first; row < std::min<int64_t>(first + 4, 9); ++row, ++count) {
        if (count == k) {
          return static_cast<Number>(wantsRow ? row : column);
        }
      }
    }
  }
  return -1;
}

void addOrders(Cases &cases) {
  for (bool wantsRow : {true, false}) {
    add(cases,
        elementwise(
            "tl.swizzle2d", std::string("tl.swizzle2d(a, b, 9, 9, 4)[") + (wantsRow ? "0]" : "1]"),
            {DType::I32, DType::I64}, {Fill::Shift, Fill::Shift},
            [wantsRow](DType, V v) {
              return walked(static_cast<int64_t>(v[0] * 9 + v[1]), wantsRow);
            },
            0, {}, wantsRow ? "row" : "column"));
  }
}

void addFunctions(Cases &cases) {
  Cases mapped = elementwise("tl.map_elementwise", "tl.map_elementwise(twice_and_one, a)", numbers,
                             {Fill::Small}, [](DType, V v) { return v[0] * 2 + 1; });
  for (Case &one : mapped) {
    one.source = "@triton.jit\ndef twice_and_one(x):\n    return x + x + 1\n\n" + one.source;
    cases.push_back(std::move(one));
  }
  Cases chosen = elementwise(
      "tl.map_elementwise", "tl.map_elementwise(order, a, b)", numbers, {Fill::Small, Fill::Small},
      [](DType, V v) { return Number(v[0] > v[1]) - Number(v[0] < v[1]); }, 0.5, {DType::I32},
      "with conditions");
  for (Case &one : chosen) {
    one.source = "@triton.jit\ndef order(x, y):\n    if x < y:\n        return -1\n"
                 "    elif x == y:\n        return 0\n    else:\n        sign = 1\n"
                 "    return sign\n\n" +
                 one.source;
    cases.push_back(std::move(one));
  }
  // Neighbours along the last dimension are one call's arguments: each gets the sum of four.
  Case packed;
  packed.builtin = "tl.map_elementwise";
  packed.title = "packed";
  packed.types = numbers;
  packed.source = "@triton.jit\ndef differences(a, b, c, d):\n    return a - b, b - c, c - d, d\n\n"
                  "@triton.jit\ndef kernel(A, OUT):\n"
                  "    at = tl.arange(0, 4)[:, None] * 8 + tl.arange(0, 8)[None, :]\n"
                  "    y = tl.map_elementwise(differences, tl.load(A + at), pack=4)\n"
                  "    tl.store(OUT + at, y)\n";
  packed.tensors = {{"A", 32, Fill::Small}, {"OUT", 32, Fill::Poison}};
  packed.reference = [](Run &run) {
    for (int64_t i = 0; i < 32; ++i) {
      const auto at = static_cast<size_t>(i);
      Number value = run.in("A")[at] - (i % 4 == 3 ? 0 : run.in("A")[at + 1]);
      run.expect("OUT", i,
                 isFloat(run.type) ? value : wrap(run.type, static_cast<__int128>(value)));
    }
  };
  cases.push_back(std::move(packed));
  // Numbers of (0, 1] from those of [2^-6, 8].
  for (bool wantsCosine : {true, false}) {
    add(cases,
        elementwise(
            "tl.pair_uniform_to_normal",
            std::string("tl.pair_uniform_to_normal(a * 0.125, b * 0.125)[") +
                (wantsCosine ? "0]" : "1]"),
            {DType::F32}, {Fill::Positive, Fill::Positive},
            [wantsCosine](DType, V v) {
              Number radius = std::sqrt(-2 * std::log(v[0] / 8));
              Number angle = 2 * std::acos(-1.0L) * (v[1] / 8);
              return radius * (wantsCosine ? std::cos(angle) : std::sin(angle));
            },
            2, {}, wantsCosine ? "cosine" : "sine"),
        4e-6);
  }
}

} // namespace

void addCompileTime(Cases &cases) {
  addPython(cases);
  addMethods(cases);
  addOrders(cases);
  addFunctions(cases);
}

} // namespace nereid::conformance
