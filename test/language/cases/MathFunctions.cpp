// SPDX-License-Identifier: Apache-2.0
// Functions of the C library in long double, with the error bounds that docs/math.md states.
#include "test/language/Case.h"

#include <cmath>

namespace nereid::conformance {
namespace {

using V = const Number *;

struct Row {
  const char *name; ///< as in docs/math.md
  std::vector<const char *> spellings;
  Number (*reference)(Number);
  Fill fill = Fill::Special;
  double single, twice;   ///< ulps in float32 and float64
  double approximate = 0; ///< in float32 where that differs, see Case::approximateUlps
};

void add(Cases &cases, Cases more) {
  cases.insert(cases.end(), std::make_move_iterator(more.begin()),
               std::make_move_iterator(more.end()));
}

const std::vector<Row> &rows() {
  static const std::vector<Row> table = {
      {"exp", {"tl.exp", "tl.math.exp", "libdevice.exp"}, std::exp, Fill::Special, 1.1, 1.1, 3.5},
      {"exp2",
       {"tl.exp2", "tl.math.exp2", "libdevice.exp2"},
       std::exp2,
       Fill::Special,
       1.1,
       1.1,
       2.1},
      {"expm1", {"libdevice.expm1"}, std::expm1, Fill::Special, 2, 2},
      {"log", {"tl.log", "tl.math.log", "libdevice.log"}, std::log, Fill::Special, 1, 1},
      {"log2", {"tl.log2", "tl.math.log2", "libdevice.log2"}, std::log2, Fill::Special, 2, 1},
      {"log10", {"libdevice.log10"}, std::log10, Fill::Special, 0.6, 1},
      {"log1p", {"libdevice.log1p"}, std::log1p, Fill::Special, 0.6, 1.5},
      {"tanh", {"libdevice.tanh"}, std::tanh, Fill::Special, 2.6, 3, 3},
      {"erf", {"tl.erf", "tl.math.erf", "libdevice.erf"}, std::erf, Fill::Special, 1.5, 1.5},
      {"sin", {"tl.sin", "tl.math.sin", "libdevice.sin"}, std::sin, Fill::Normal, 2.1, 1, 2},
      {"cos", {"tl.cos", "tl.math.cos", "libdevice.cos"}, std::cos, Fill::Normal, 2.1, 1, 2},
      {"tan", {"libdevice.tan"}, std::tan, Fill::Normal, 0.6, 2.5},
      {"asin", {"libdevice.asin"}, std::asin, Fill::Unit, 0.6, 2.5},
      {"acos", {"libdevice.acos"}, std::acos, Fill::Unit, 0.6, 2},
      {"atan", {"libdevice.atan"}, std::atan, Fill::Special, 0.6, 2, 2.5},
      {"sinh", {"libdevice.sinh"}, std::sinh, Fill::Special, 0.8, 3},
      {"cosh", {"libdevice.cosh"}, std::cosh, Fill::Special, 0.8, 3},
      {"sqrt", {"tl.sqrt", "tl.math.sqrt", "libdevice.sqrt"}, std::sqrt, Fill::Special, 0.5, 0.5},
      {"rsqrt",
       {"tl.rsqrt", "tl.math.rsqrt", "libdevice.rsqrt"},
       [](Number x) -> Number { return 1 / std::sqrt(x); },
       Fill::Special,
       1.5,
       1.5,
       1.6},
      {"floor", {"tl.floor", "tl.math.floor", "libdevice.floor"}, std::floor, Fill::Special, 0, 0},
      {"ceil", {"tl.ceil", "tl.math.ceil", "libdevice.ceil"}, std::ceil, Fill::Special, 0, 0},
      {"trunc", {"libdevice.trunc"}, std::trunc, Fill::Special, 0, 0},
      {"rint", {"libdevice.rint"}, std::rint, Fill::Special, 0, 0},
      {"round", {"libdevice.round"}, std::round, Fill::Special, 0, 0},
      {"fabs", {"libdevice.fabs"}, std::fabs, Fill::Special, 0, 0},
      // 1 / (1 + exp(-x)): an exponential, an addition and a division, each rounded.
      {"sigmoid",
       {"tl.sigmoid"},
       [](Number x) -> Number { return 1 / (1 + std::exp(-x)); },
       Fill::Normal,
       3,
       3,
       5},
  };
  return table;
}

struct Pair {
  const char *name, *spelling;
  Number (*reference)(Number, Number);
  Fill first, second;
  double single, twice;
  double approximate = 0; ///< in float32 where that differs, see Case::approximateUlps
};

const std::vector<Pair> &pairs() {
  static const std::vector<Pair> table = {
      {"atan2", "libdevice.atan2", std::atan2, Fill::Normal, Fill::Normal, 0.6, 2.5},
      {"pow", "libdevice.pow", std::pow, Fill::Positive, Fill::Normal, 0.6, 1.5, 4.5},
      {"copysign", "libdevice.copysign", std::copysign, Fill::Normal, Fill::Normal, 0, 0},
      {"fmod", "libdevice.fmod", std::fmod, Fill::Normal, Fill::Positive, 0, 0},
  };
  return table;
}

} // namespace

void addMath(Cases &cases) {
  for (const Row &row : rows()) {
    for (const char *spelling : row.spellings) {
      for (bool isSingle : {true, false}) {
        Cases made = elementwise(
            spelling, std::string(spelling) + "(a)", {isSingle ? DType::F32 : DType::F64},
            {row.fill}, [f = row.reference](DType, V v) { return f(v[0]); },
            isSingle ? row.single : row.twice, {}, isSingle ? "float32" : "float64");
        for (Case &one : made) {
          one.approximateUlps = isSingle ? row.approximate : 0;
        }
        add(cases, std::move(made));
      }
    }
  }
  for (const Pair &pair : pairs()) {
    for (bool isSingle : {true, false}) {
      Cases made = elementwise(
          pair.spelling, std::string(pair.spelling) + "(a, b)",
          {isSingle ? DType::F32 : DType::F64}, {pair.first, pair.second},
          [f = pair.reference](DType, V v) { return f(v[0], v[1]); },
          isSingle ? pair.single : pair.twice, {}, isSingle ? "float32" : "float64");
      for (Case &one : made) {
        one.approximateUlps = isSingle ? pair.approximate : 0;
      }
      add(cases, std::move(made));
    }
  }
  add(cases, elementwise("tl.sqrt_rn", "tl.sqrt_rn(a)", {DType::F32}, {Fill::Positive},
                         [](DType, V v) -> Number { return std::sqrt(v[0]); }));
  add(cases, elementwise("libdevice.isnan", "libdevice.isnan(a)", wideFloats, {Fill::Special},
                         [](DType, V v) -> Number { return std::isnan(v[0]); }, 0, {DType::Bool}));
  add(cases, elementwise("libdevice.isinf", "libdevice.isinf(a)", wideFloats, {Fill::Special},
                         [](DType, V v) -> Number { return std::isinf(v[0]); }, 0, {DType::Bool}));
  add(cases, elementwise(
                 "operator **", "a ** 3", wideFloats, {Fill::Unit},
                 [](DType, V v) -> Number { return v[0] * v[0] * v[0]; }, 1.5));
}

} // namespace nereid::conformance
