// SPDX-License-Identifier: Apache-2.0
// Operators and functions that a definition in one line describes. Integers wrap; signed division
// and remainder truncate as C does.
#include "test/language/Case.h"

#include <cmath>

namespace nereid::conformance {
namespace {

using V = const Number *;
using Wide = __int128;

Wide whole(Number value) { return static_cast<Wide>(value); }

void add(Cases &cases, Cases more) {
  cases.insert(cases.end(), std::make_move_iterator(more.begin()),
               std::make_move_iterator(more.end()));
}

/// An operator of two operands on numbers of any kind.
void operators(Cases &cases, const std::string &builtin, const std::string &expression,
               Number (*real)(Number, Number), Wide (*integer)(Wide, Wide)) {
  add(cases,
      elementwise(builtin, expression, numbers, {Fill::Normal, Fill::Normal}, [=](DType type, V v) {
        return isFloat(type) ? real(v[0], v[1]) : wrap(type, integer(whole(v[0]), whole(v[1])));
      }));
}

void comparisons(Cases &cases) {
  struct Row {
    const char *sign;
    bool (*holds)(Number, Number);
  };
  for (const Row &row : {Row{"<", [](Number a, Number b) { return a < b; }},
                         Row{"<=", [](Number a, Number b) { return a <= b; }},
                         Row{">", [](Number a, Number b) { return a > b; }},
                         Row{">=", [](Number a, Number b) { return a >= b; }},
                         Row{"==", [](Number a, Number b) { return a == b; }},
                         Row{"!=", [](Number a, Number b) { return a != b; }}}) {
    add(cases, elementwise(std::string("operator ") + row.sign, std::string("a ") + row.sign + " b",
                           numbers, {Fill::Special, Fill::Special},
                           [row](DType, V v) -> Number { return row.holds(v[0], v[1]); }, 0,
                           {DType::Bool}));
  }
}

void bits(Cases &cases) {
  auto bitwise = [&](const char *sign, Wide (*f)(Wide, Wide)) {
    add(cases, elementwise(std::string("operator ") + sign, std::string("a ") + sign + " b",
                           integers, {Fill::Normal, Fill::Normal}, [=](DType type, V v) {
                             return wrap(type, f(whole(v[0]), whole(v[1])));
                           }));
  };
  bitwise("&", [](Wide a, Wide b) { return a & b; });
  bitwise("|", [](Wide a, Wide b) { return a | b; });
  bitwise("^", [](Wide a, Wide b) { return a ^ b; });
  add(cases, elementwise("operator <<", "a << b", integers, {Fill::Normal, Fill::Shift},
                         [](DType type, V v) {
                           return wrap(type, whole(v[0]) * (Wide(1) << static_cast<int>(v[1])));
                         }));
  add(cases, elementwise("operator >>", "a >> b", integers, {Fill::Normal, Fill::Shift},
                         [](DType type, V v) {
                           return wrap(type, whole(v[0]) >> static_cast<int>(v[1]));
                         }));
  add(cases, elementwise("operator ~", "~a", integers, {Fill::Normal},
                         [](DType type, V v) { return wrap(type, ~whole(v[0])); }));
  add(cases, elementwise(
                 "operator -", "-a", floats + signedIntegers, {Fill::Normal},
                 [](DType type, V v) { return isFloat(type) ? -v[0] : wrap(type, -whole(v[0])); },
                 0.5, {}, "unary"));
}

void divisions(Cases &cases) {
  add(cases, elementwise("operator /", "a / b", floats, {Fill::Normal, Fill::Positive},
                         [](DType, V v) { return v[0] / v[1]; }));
  // Integers divide as float32.
  add(cases, elementwise(
                 "operator /", "a / b", {DType::I8, DType::I16, DType::I32, DType::U16},
                 {Fill::Small, Fill::Positive}, [](DType, V v) { return v[0] / v[1]; }, 0.5,
                 {DType::F32}, "integers"));
  add(cases, elementwise("operator //", "a // b", integers, {Fill::Normal, Fill::Positive},
                         [](DType type, V v) { return wrap(type, whole(v[0]) / whole(v[1])); }));
  add(cases, elementwise("operator %", "a % b", integers, {Fill::Normal, Fill::Positive},
                         [](DType type, V v) { return wrap(type, whole(v[0]) % whole(v[1])); }));
  add(cases, elementwise(
                 "operator %", "a % b", wideFloats, {Fill::Normal, Fill::Positive},
                 [](DType, V v) { return std::fmod(v[0], v[1]); }, 0, {}, "floats"));
  add(cases, elementwise("tl.fdiv", "tl.fdiv(a, b)", floats, {Fill::Normal, Fill::Positive},
                         [](DType, V v) { return v[0] / v[1]; }));
  add(cases, elementwise("tl.div_rn", "tl.div_rn(a, b)", {DType::F32},
                         {Fill::Normal, Fill::Positive}, [](DType, V v) { return v[0] / v[1]; }));
  add(cases, elementwise("tl.cdiv", "tl.cdiv(a, b)",
                         {DType::I16, DType::I32, DType::I64, DType::U16, DType::U32, DType::U64},
                         {Fill::Positive, Fill::Positive},
                         [](DType, V v) { return std::ceil(v[0] / v[1]); }));
}

/// Extrema beside constants, most of which are neutral or absorbing for numbers, but not for NaN.
void besideConstants(Cases &cases) {
  struct Constant {
    const char *text;
    Number value;
  };
  for (const Constant &constant : {Constant{"float('-inf')", -HUGE_VALL},
                                   {"float('inf')", HUGE_VALL},
                                   {"float('nan')", static_cast<Number>(NAN)},
                                   {"0.5", 0.5L}}) {
    for (bool isMax : {true, false}) {
      for (bool passesNan : {true, false}) {
        const std::string k = constant.text, call = isMax ? "tl.maximum" : "tl.minimum";
        auto reference = [=, c = constant.value](DType, V v) -> Number {
          if (passesNan && (std::isnan(v[0]) || std::isnan(c))) {
            return static_cast<Number>(NAN);
          }
          return isMax ? std::fmax(v[0], c) : std::fmin(v[0], c);
        };
        // As a literal, as what a choice and a tile of constants come down to; in both orders.
        for (const std::string &operands : {"a, " + k, "tl.where(a == a, " + k + ", " + k + "), a",
                                            "tl.full(a.shape, " + k + ", tl.float32).to($T), a",
                                            "a, tl.full(a.shape, " + k + ", $T)"}) {
          Cases more = elementwise(
              call,
              call + "(" + operands + (passesNan ? ", propagate_nan=tl.PropagateNan.ALL)" : ")"),
              floats, {Fill::Special}, reference, 0, {}, operands + (passesNan ? " passing" : ""));
          more.resize(1); // tiles: a scalar has no shape to fill
          add(cases, std::move(more));
        }
      }
    }
  }
  add(cases, elementwise(
                 "tl.maximum",
                 "tl.maximum(tl.full(a.shape, float('nan'), $T), tl.full(a.shape, 2.0, $T)) + a",
                 floats, {Fill::Small}, [](DType, V v) { return v[0] + 2; }, 0, {}, "constants"));
  cases.pop_back(); // the scalar form
}

void choices(Cases &cases) {
  auto smaller = [](Number a, Number b) { return std::fmin(a, b); };
  auto larger = [](Number a, Number b) { return std::fmax(a, b); };
  add(cases, elementwise(
                 "tl.maximum", "tl.maximum(a, b)", numbers, {Fill::Special, Fill::Special},
                 [=](DType, V v) { return larger(v[0], v[1]); }, 0));
  add(cases, elementwise(
                 "tl.minimum", "tl.minimum(a, b)", numbers, {Fill::Special, Fill::Special},
                 [=](DType, V v) { return smaller(v[0], v[1]); }, 0));
  // Three at once are one instruction on some chips.
  add(cases,
      elementwise(
          "tl.maximum", "tl.maximum(tl.maximum(a, -b), c)",
          {DType::I8, DType::I16, DType::I32, DType::I64}, {Fill::Small, Fill::Small, Fill::Small},
          [=](DType, V v) { return larger(larger(v[0], -v[1]), v[2]); }, 0, {}, "of three"));
  add(cases,
      elementwise(
          "tl.minimum", "tl.minimum(a, tl.minimum(-b, c))",
          {DType::I8, DType::I16, DType::I32, DType::I64}, {Fill::Small, Fill::Small, Fill::Small},
          [=](DType, V v) { return smaller(v[0], smaller(-v[1], v[2])); }, 0, {}, "of three"));
  auto passing = [](Number a, Number b, Number chosen) {
    return std::isnan(a) || std::isnan(b) ? static_cast<Number>(NAN) : chosen;
  };
  add(cases, elementwise(
                 "tl.maximum", "tl.maximum(a, b, propagate_nan=tl.PropagateNan.ALL)", floats,
                 {Fill::Special, Fill::Special},
                 [=](DType, V v) { return passing(v[0], v[1], larger(v[0], v[1])); }, 0, {},
                 "propagating"));
  add(cases, elementwise(
                 "tl.minimum", "tl.minimum(a, b, propagate_nan=tl.PropagateNan.ALL)", floats,
                 {Fill::Special, Fill::Special},
                 [=](DType, V v) { return passing(v[0], v[1], smaller(v[0], v[1])); }, 0, {},
                 "propagating"));
  besideConstants(cases);
  add(cases, elementwise(
                 "tl.where", "tl.where(a < b, a, c)", numbers,
                 {Fill::Special, Fill::Special, Fill::Special},
                 [](DType, V v) { return v[0] < v[1] ? v[0] : v[2]; }, 0));
  add(cases, elementwise(
                 "tl.clamp", "tl.clamp(a, -1.0, 2.0)", floats, {Fill::Normal},
                 [](DType, V v) { return std::fmin(std::fmax(v[0], -1), 2); }, 0));
  add(cases, elementwise(
                 "tl.abs", "tl.abs(a)", numbers, {Fill::Special},
                 [](DType type, V v) {
                   return isFloat(type) ? std::fabs(v[0])
                                        : wrap(type, v[0] < 0 ? -whole(v[0]) : whole(v[0]));
                 },
                 0));
  for (const char *form : {"(a > 0).logical_and(b > 0)", "(a > 0) and (b > 0)"}) {
    add(cases,
        elementwise("tl.logical_and", form, numbers, {Fill::Small, Fill::Small},
                    [](DType, V v) -> Number { return v[0] > 0 && v[1] > 0; }, 0, {DType::Bool}));
  }
  for (const char *form : {"(a > 0).logical_or(b > 0)", "(a > 0) or (b > 0)"}) {
    add(cases,
        elementwise("tl.logical_or", form, numbers, {Fill::Small, Fill::Small},
                    [](DType, V v) -> Number { return v[0] > 0 || v[1] > 0; }, 0, {DType::Bool}));
  }
  add(cases, elementwise("operator not", "not (a > 0)", numbers, {Fill::Small},
                         [](DType, V v) -> Number { return !(v[0] > 0); }, 0, {DType::Bool}));
}

} // namespace

void addArithmetic(Cases &cases) {
  auto plus = [](Number a, Number b) { return a + b; };
  auto minus = [](Number a, Number b) { return a - b; };
  auto times = [](Number a, Number b) { return a * b; };
  auto wholePlus = [](Wide a, Wide b) { return a + b; };
  auto wholeMinus = [](Wide a, Wide b) { return a - b; };
  // Modulo 2^128 is enough for what is kept of it.
  auto wholeTimes = [](Wide a, Wide b) {
    return static_cast<Wide>(static_cast<unsigned __int128>(a) * static_cast<unsigned __int128>(b));
  };
  operators(cases, "operator +", "a + b", plus, wholePlus);
  operators(cases, "operator -", "a - b", minus, wholeMinus);
  operators(cases, "operator *", "a * b", times, wholeTimes);
  operators(cases, "tl.add", "tl.add(a, b)", plus, wholePlus);
  operators(cases, "tl.sub", "tl.sub(a, b)", minus, wholeMinus);
  operators(cases, "tl.mul", "tl.mul(a, b)", times, wholeTimes);
  comparisons(cases);
  bits(cases);
  divisions(cases);
  choices(cases);
  add(cases, elementwise("tl.fma", "tl.fma(a, b, c)", wideFloats,
                         {Fill::Normal, Fill::Normal, Fill::Normal}, [](DType type, V v) -> Number {
                           // float32: the product is exact in 64 bits.
                           return type == DType::F32 ? v[0] * v[1] + v[2]
                                                     : std::fma(static_cast<double>(v[0]),
                                                                static_cast<double>(v[1]),
                                                                static_cast<double>(v[2]));
                         }));
  add(cases,
      elementwise("tl.umulhi", "tl.umulhi(a, b)", {DType::I32, DType::U32, DType::I64, DType::U64},
                  {Fill::Normal, Fill::Normal}, [](DType type, V v) {
                    int bits = 8 * static_cast<int>(sizeInBytes(type));
                    auto low = [&](Number x) {
                      return static_cast<unsigned __int128>(whole(x)) &
                             ((static_cast<unsigned __int128>(1) << bits) - 1);
                    };
                    return wrap(type, static_cast<Wide>(low(v[0]) * low(v[1]) >> bits));
                  }));
}

void addCasts(Cases &cases) {
  const std::vector<DType> all = numbers;
  for (DType from : all) {
    for (DType to : all) {
      bool narrow = to == DType::F16 || to == DType::BF16;
      Fill fill = isFloat(from)           ? (isFloat(to)             ? Fill::Special
                                             : isUnsignedInteger(to) ? Fill::Positive
                                                                     : Fill::Normal)
                  : isFloat(to) && narrow ? Fill::Small
                                          : Fill::Normal;
      std::string name = to == DType::Bool ? "int1" : std::string(torchName(to));
      add(cases, elementwise(
                     "tl.cast", "a.to(tl." + name + ")", {from}, {fill},
                     [to](DType, V v) { return roundTo(to, v[0]); }, 0.5, {to},
                     std::string(kernelName(from)) + " to " + std::string(kernelName(to))));
    }
    add(cases, elementwise(
                   "tl.cast", "tl.cast(a, tl.int1)", {from}, {Fill::Small},
                   [](DType, V v) -> Number { return v[0] != 0; }, 0, {DType::Bool},
                   std::string(kernelName(from)) + " to i1"));
  }
  // Bits survive the way to an integer and back.
  struct Pair {
    DType real, integer;
    const char *name, *bits;
  };
  for (const Pair &pair : {Pair{DType::F16, DType::I16, "float16", "int16"},
                           Pair{DType::F32, DType::I32, "float32", "int32"},
                           Pair{DType::F64, DType::I64, "float64", "int64"}}) {
    add(cases, elementwise(
                   "tl.cast",
                   std::string("a.to(tl.") + pair.bits + ", bitcast=True).to(tl." + pair.name +
                       ", bitcast=True)",
                   {pair.real}, {Fill::Special}, [](DType, V v) { return v[0]; }, 0, {},
                   std::string("bitcast ") + pair.name));
  }
  add(cases, elementwise(
                 "tl.cast", "a.to(tl.int32, bitcast=True)", {DType::F32}, {Fill::Normal},
                 [](DType, V v) -> Number {
                   auto single = static_cast<float>(v[0]);
                   int32_t word;
                   __builtin_memcpy(&word, &single, 4);
                   return word;
                 },
                 0, {DType::I32}, "bits of float32"));
}

} // namespace nereid::conformance
