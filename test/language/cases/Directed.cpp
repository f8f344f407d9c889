// SPDX-License-Identifier: Apache-2.0
// Arithmetic of libdevice with a direction of rounding, against the processor's own in that
// direction, to the last bit.
#include "test/language/Case.h"

#include <algorithm>
#include <cfenv>
#include <cmath>
#include <string>

namespace nereid::conformance {
namespace {

using V = const Number *;

struct Direction {
  const char *suffix;
  int mode;
};
constexpr Direction directions[] = {{"rz", FE_TOWARDZERO}, {"rd", FE_DOWNWARD}, {"ru", FE_UPWARD}};

struct Operation {
  const char *name;
  int operands;
};
constexpr Operation operations[] = {{"add", 2}, {"sub", 2},  {"mul", 2}, {"div", 2},
                                    {"fma", 3}, {"sqrt", 1}, {"rcp", 1}};

/// Volatile, so that the compiler computes nothing in another direction.
template <class T> [[gnu::noinline]] Number rounded(int mode, const std::string &name, V v) {
  volatile T x = static_cast<T>(v[0]), y = static_cast<T>(v[1]), z = static_cast<T>(v[2]);
  volatile T one = 1, result = 0;
  std::fesetround(mode);
  if (name == "add") {
    result = x + y;
  } else if (name == "sub") {
    result = x - y;
  } else if (name == "mul") {
    result = x * y;
  } else if (name == "div") {
    result = x / y;
  } else if (name == "fma") {
    result = std::fma(x, y, z);
  } else if (name == "sqrt") {
    result = std::sqrt(x);
  } else {
    result = one / x;
  }
  std::fesetround(FE_TONEAREST);
  return result;
}

template <class Integer, class Float> [[gnu::noinline]] Number converted(int mode, Number x) {
  volatile Integer given = static_cast<Integer>(x);
  std::fesetround(mode);
  volatile Float result = static_cast<Float>(given);
  std::fesetround(FE_TONEAREST);
  return result;
}

void addArithmetic(Cases &cases, DType type, Fill fill, const std::string &title) {
  for (const Operation &operation : operations) {
    for (const Direction &direction : directions) {
      const std::string name = operation.name;
      const std::string function = "libdevice." + name + "_" + direction.suffix;
      const char *arguments[] = {"", "(a)", "(a, b)", "(a, b, c)"};
      Cases more = elementwise(
          function, function + arguments[operation.operands], {type},
          std::vector<Fill>(static_cast<size_t>(operation.operands), fill),
          [name, mode = direction.mode, count = operation.operands](DType own, V v) -> Number {
            Number values[3] = {};
            std::copy(v, v + count, values);
            return own == DType::F32 ? rounded<float>(mode, name, values)
                                     : rounded<double>(mode, name, values);
          },
          0, {}, title);
      cases.insert(cases.end(), more.begin(), more.end());
    }
  }
}

/// Results among the subnormals, and what is left of a product that is subtracted from its own
/// rounding.
void addEdges(Cases &cases, DType type, const std::string &title) {
  const int power = type == DType::F32 ? -70 : -530;
  const std::string small = "2.0**" + std::to_string(power),
                    large = "2.0**" + std::to_string(-power);
  const struct {
    const char *name, *title;
    std::string arguments;
    void (*prepare)(Number (&values)[3], Number scale);
  } edges[] = {
      {"mul", "subnormals", "(a * " + small + ", b * " + small + ")",
       [](Number(&v)[3], Number scale) {
         v[0] *= scale;
         v[1] *= scale;
       }},
      {"div", "subnormals", "(a * " + small + ", b * " + large + ")",
       [](Number(&v)[3], Number scale) {
         v[0] *= scale;
         v[1] /= scale;
       }},
      {"fma", "subnormals", "(a * " + small + ", b * " + small + ", c * " + small + ")",
       [](Number(&v)[3], Number scale) {
         v[0] *= scale;
         v[1] *= scale;
         v[2] *= scale;
       }},
      {"fma", "a small third term", "(a, b, c * " + small + ")",
       [](Number(&v)[3], Number scale) { v[2] *= scale; }},
      {"fma", "a large third term", "(a * " + small + ", b, c)",
       [](Number(&v)[3], Number scale) { v[0] *= scale; }},
      {"add", "a small term", "(a, b * " + small + ")",
       [](Number(&v)[3], Number scale) { v[1] *= scale; }},
  };
  for (const auto &edge : edges) {
    for (const Direction &direction : directions) {
      const std::string function = std::string("libdevice.") + edge.name + "_" + direction.suffix;
      const size_t count = std::string_view(edge.name) == "fma" ? 3 : 2;
      Cases more = elementwise(
          function, function + edge.arguments, {type}, std::vector<Fill>(count, Fill::Normal),
          [name = std::string(edge.name), prepare = edge.prepare, mode = direction.mode, count,
           power](DType own, V v) -> Number {
            Number values[3] = {};
            std::copy(v, v + count, values);
            prepare(values, std::ldexp(1.0L, power));
            return own == DType::F32 ? rounded<float>(mode, name, values)
                                     : rounded<double>(mode, name, values);
          },
          0, {}, title + ", " + edge.title);
      cases.insert(cases.end(), more.begin(), more.end());
    }
  }
}

template <class Integer, class Float>
void addConversion(Cases &cases, const std::string &name, DType from, DType to) {
  for (const Direction &direction : directions) {
    const std::string function = "libdevice." + name + "_" + direction.suffix;
    Cases more = elementwise(
        function, function + "(a)", {from}, {Fill::Normal},
        [mode = direction.mode](DType, V v) { return converted<Integer, Float>(mode, v[0]); }, 0,
        {to});
    cases.insert(cases.end(), more.begin(), more.end());
  }
}

} // namespace

void addDirected(Cases &cases) {
  for (DType type : {DType::F32, DType::F64}) {
    const std::string title = type == DType::F32 ? "float32" : "float64";
    addArithmetic(cases, type, Fill::Normal, title);
    addArithmetic(cases, type, Fill::Special, title + ", special numbers");
    addEdges(cases, type, title);
  }
  addConversion<int64_t, float>(cases, "ll2float", DType::I64, DType::F32);
  addConversion<int64_t, double>(cases, "ll2double", DType::I64, DType::F64);
  addConversion<uint64_t, float>(cases, "ull2float", DType::U64, DType::F32);
  addConversion<uint64_t, double>(cases, "ull2double", DType::U64, DType::F64);
}

} // namespace nereid::conformance
