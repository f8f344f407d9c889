// SPDX-License-Identifier: Apache-2.0
// The functions of libdevice beyond those of <cmath>'s everyday use, against long double.
#include "test/language/Case.h"

#include <bit>
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

/// The root of a growing function between two numbers.
template <class F> Number rootOf(F f, Number low, Number high) {
  for (int i = 0; i < 200; ++i) {
    Number middle = (low + high) / 2;
    (f(middle) < 0 ? low : high) = middle;
  }
  return (low + high) / 2;
}

Number inverseErrorFunction(Number x) {
  return rootOf([x](Number y) { return std::erf(y) - x; }, -8, 8);
}

Number normal(Number x) { return std::erfc(-x / std::sqrt(2.0L)) / 2; }

Number inverseComplement(Number x) { return x < 0 || x > 2 ? NAN : inverseErrorFunction(1 - x); }

Number inverseNormal(Number x) {
  return x < 0 || x > 1 ? NAN : rootOf([x](Number y) { return normal(y) - x; }, -9, 9);
}

Number halfTurns(Number (*f)(Number), Number x) {
  return f(std::acos(-1.0L) * std::remainder(x, 2.0L));
}

struct Row {
  const char *name;
  Number (*reference)(Number);
  Fill fill;
  double single, twice;   ///< ulps in float32 and float64
  double absolute = 0;    ///< besides, in float64
  double approximate = 0; ///< in float32 where that differs, see Case::approximateUlps
};

const Row rows[] = {
    {"asinh", std::asinh, Fill::Normal, 1, 3},
    {"acosh", [](Number x) { return std::acosh(x); }, Fill::Positive, 1, 3, 1e-15},
    {"atanh", std::atanh, Fill::Unit, 1, 3},
    {"cbrt", std::cbrt, Fill::Special, 1, 2},
    {"rcbrt", [](Number x) { return 1 / std::cbrt(x); }, Fill::Normal, 0.6, 3},
    {"exp10", [](Number x) { return std::pow(10.0L, x); }, Fill::Normal, 0.6, 2, 0, 4.5},
    {"fast_exp10f", [](Number x) { return std::pow(10.0L, x); }, Fill::Normal, 1, 2, 0, 4.5},
    {"fast_sinf", std::sin, Fill::Normal, 2.1, 1, 0, 2},
    {"fast_cosf", std::cos, Fill::Normal, 2.1, 1, 0, 2},
    {"fast_logf", std::log, Fill::Positive, 1, 1},
    {"fast_log2f", std::log2, Fill::Positive, 2, 1},
    {"nearbyint", std::nearbyint, Fill::Special, 0, 0},
    {"erfc", std::erfc, Fill::Normal, 1.8, 8},
    {"erfcx", [](Number x) { return std::exp(x * x) * std::erfc(x); }, Fill::Normal, 0.6, 8},
    {"erfinv", inverseErrorFunction, Fill::Unit, 1.2, 16},
    {"erfcinv", inverseComplement, Fill::Unit, 0.6, 16, 1e-15},
    {"normcdf", normal, Fill::Normal, 0.6, 16},
    {"normcdfinv", inverseNormal, Fill::Unit, 0.6, 16, 1e-15},
    {"lgamma", ::lgammal, Fill::Normal, 1, 4, 1e-14},
    {"tgamma", ::tgammal, Fill::Normal, 0.6, 32},
    {"j0", ::j0l, Fill::Normal, 0.6, 4, 2e-15},
    {"j1", ::j1l, Fill::Normal, 0.6, 4, 2e-15},
    {"y0", ::y0l, Fill::Positive, 0.6, 4, 2e-15},
    {"y1", ::y1l, Fill::Positive, 0.6, 4, 2e-15},
    {"cyl_bessel_i0", [](Number x) { return std::cyl_bessel_i(0.0L, std::fabs(x)); }, Fill::Normal,
     0.6, 16},
    {"cyl_bessel_i1",
     [](Number x) { return std::copysign(std::cyl_bessel_i(1.0L, std::fabs(x)), x); }, Fill::Normal,
     0.6, 16},
    {"sinpi", [](Number x) { return halfTurns(std::sin, x); }, Fill::Normal, 0.6, 3},
    {"cospi", [](Number x) { return halfTurns(std::cos, x); }, Fill::Normal, 0.6, 3},
    {"logb", std::logb, Fill::Special, 0, 0},
    {"rcp_rn", [](Number x) { return 1 / x; }, Fill::Special, 0.5, 0.5},
    {"saturatef", [](Number x) { return x > 0 ? std::fmin(x, 1.0L) : 0; }, Fill::Special, 0, 0},
};

struct Pair {
  const char *name;
  Number (*reference)(Number, Number);
  Fill fill;
  double single, twice;
};

const Pair pairs[] = {
    {"hypot", std::hypot, Fill::Normal, 0.6, 3},
    {"rhypot", [](Number x, Number y) { return 1 / std::hypot(x, y); }, Fill::Normal, 0.6, 3},
    {"fdim", std::fdim, Fill::Special, 0.5, 0.5},
    {"remainder", std::remainder, Fill::Normal, 0, 0},
    {"add_rn", [](Number x, Number y) { return x + y; }, Fill::Normal, 0.5, 0.5},
    {"sub_rn", [](Number x, Number y) { return x - y; }, Fill::Normal, 0.5, 0.5},
    {"mul_rn", [](Number x, Number y) { return x * y; }, Fill::Normal, 0.5, 0.5},
    {"fast_dividef", [](Number x, Number y) { return x / y; }, Fill::Normal, 0.51, 0.51},
    {"fmax", std::fmax, Fill::Special, 0, 0},
    {"fmin", std::fmin, Fill::Special, 0, 0},
};

uint64_t bitsOfWord(DType type, Number x) {
  auto word = static_cast<uint64_t>(static_cast<__int128>(x));
  return sizeInBytes(type) == 4 ? word & 0xFFFFFFFF : word;
}

void addFloats(Cases &cases) {
  for (DType type : wideFloats) {
    bool isSingle = type == DType::F32;
    std::string title = isSingle ? "float32" : "float64";
    for (const Row &row : rows) {
      std::string name = std::string("libdevice.") + row.name;
      Cases made = elementwise(
          name, name + "(a)", {type}, {row.fill},
          [f = row.reference](DType, V v) { return f(v[0]); }, isSingle ? row.single : row.twice,
          {}, title);
      for (Case &one : made) {
        one.approximateUlps = isSingle ? row.approximate : 0;
      }
      add(cases, std::move(made), isSingle ? 0 : row.absolute);
    }
    for (const Pair &pair : pairs) {
      std::string name = std::string("libdevice.") + pair.name;
      add(cases, elementwise(
                     name, name + "(a, b)", {type}, {pair.fill, pair.fill},
                     [f = pair.reference](DType, V v) { return f(v[0], v[1]); },
                     isSingle ? pair.single : pair.twice, {}, title));
    }
    add(cases, elementwise(
                   "libdevice.norm3d", "libdevice.norm3d(a, b, c)", {type},
                   {Fill::Normal, Fill::Normal, Fill::Normal},
                   [](DType, V v) { return std::hypot(v[0], v[1], v[2]); }, isSingle ? 0.6 : 3, {},
                   title));
    add(cases, elementwise(
                   "libdevice.rnorm4d", "libdevice.rnorm4d(a, b, c, 0.0)", {type},
                   {Fill::Normal, Fill::Normal, Fill::Normal},
                   [](DType, V v) { return 1 / std::hypot(v[0], v[1], v[2]); }, isSingle ? 0.6 : 3,
                   {}, title));
  }
  add(cases, elementwise(
                 "libdevice.nextafter", "libdevice.nextafter(a, b)", {DType::F32},
                 {Fill::Special, Fill::Normal},
                 [](DType, V v) -> Number {
                   return std::nextafter(static_cast<float>(v[0]), static_cast<float>(v[1]));
                 },
                 0));
  add(cases, elementwise(
                 "libdevice.nextafter", "libdevice.nextafter(a, b)", {DType::F64},
                 {Fill::Special, Fill::Normal},
                 [](DType, V v) -> Number {
                   return std::nextafter(static_cast<double>(v[0]), static_cast<double>(v[1]));
                 },
                 0, {}, "float64"));
  for (const char *name : {"libdevice.ldexp", "libdevice.scalbn"}) {
    add(cases, elementwise(name, std::string(name) + "(a, (b * 100).to(tl.int32))", wideFloats,
                           {Fill::Normal, Fill::Unit}, [](DType type, V v) -> Number {
                             Number scaled = roundTo(type, v[1] * 100);
                             return std::ldexp(v[0], static_cast<int>(scaled));
                           }));
  }
  add(cases, elementwise("libdevice.ilogb", "libdevice.ilogb(a)", wideFloats, {Fill::Normal},
                         [](DType, V v) -> Number { return std::ilogb(v[0]); }, 0, {DType::I32}));
  add(cases, elementwise("libdevice.signbit", "libdevice.signbit(a)", wideFloats, {Fill::Special},
                         [](DType, V v) -> Number { return std::signbit(v[0]); }, 0, {DType::I32}));
  for (const char *name : {"libdevice.finitef", "libdevice.isfinited"}) {
    add(cases,
        elementwise(name, std::string(name) + "(a)", wideFloats, {Fill::Special},
                    [](DType, V v) -> Number { return std::isfinite(v[0]); }, 0, {DType::Bool}));
  }
  add(cases, elementwise("libdevice.llrint", "libdevice.llrint(a)", wideFloats, {Fill::Normal},
                         [](DType, V v) -> Number { return std::rint(v[0]); }, 0, {DType::I64}));
  add(cases, elementwise("libdevice.llround", "libdevice.llround(a)", wideFloats, {Fill::Normal},
                         [](DType, V v) -> Number { return std::round(v[0]); }, 0, {DType::I64}));
}

void addBits(Cases &cases) {
  const std::vector<DType> words = {DType::I32, DType::U32, DType::I64, DType::U64};
  add(cases,
      elementwise("libdevice.popc", "libdevice.popc(a)", words, {Fill::Normal},
                  [](DType type, V v) -> Number { return std::popcount(bitsOfWord(type, v[0])); },
                  0, {DType::I32}));
  add(cases, elementwise("libdevice.clz", "libdevice.clz(a)", words, {Fill::Normal},
                         [](DType type, V v) -> Number {
                           return std::countl_zero(bitsOfWord(type, v[0])) -
                                  (sizeInBytes(type) == 4 ? 32 : 0);
                         },
                         0, {DType::I32}));
  add(cases, elementwise("libdevice.ffs", "libdevice.ffs(a)", words, {Fill::Normal},
                         [](DType type, V v) -> Number {
                           uint64_t word = bitsOfWord(type, v[0]);
                           return word == 0 ? 0 : std::countr_zero(word) + 1;
                         },
                         0, {DType::I32}));
  add(cases, elementwise(
                 "libdevice.brev", "libdevice.brev(a)", words, {Fill::Normal},
                 [](DType type, V v) -> Number {
                   uint64_t word = bitsOfWord(type, v[0]), result = 0;
                   int bits = static_cast<int>(sizeInBytes(type)) * 8;
                   for (int i = 0; i < bits; ++i) {
                     result |= ((word >> i) & 1) << (bits - 1 - i);
                   }
                   return wrap(type, result);
                 },
                 0));
  add(cases, elementwise(
                 "libdevice.byte_perm", "libdevice.byte_perm(a, b, c)", {DType::I32, DType::U32},
                 {Fill::Normal, Fill::Normal, Fill::Normal},
                 [](DType type, V v) -> Number {
                   uint64_t pool = bitsOfWord(type, v[0]) | (bitsOfWord(type, v[1]) << 32);
                   uint64_t picks = bitsOfWord(type, v[2]), result = 0;
                   for (int i = 0; i < 4; ++i) {
                     uint64_t byte = (pool >> (8 * ((picks >> (4 * i)) & 7))) & 255;
                     result |= byte << (8 * i);
                   }
                   return wrap(type, static_cast<__int128>(result));
                 },
                 0));
  auto wide = [](Number x) { return static_cast<__int128>(x); };
  for (const char *name : {"libdevice.mulhi", "libdevice.umulhi"}) {
    bool isUnsignedOnly = std::string(name).ends_with("umulhi");
    add(cases, elementwise(
                   name, std::string(name) + "(a, b)",
                   isUnsignedOnly ? std::vector<DType>{DType::U32, DType::U64} : words,
                   {Fill::Normal, Fill::Normal},
                   [wide](DType type, V v) -> Number {
                     int bits = static_cast<int>(sizeInBytes(type)) * 8;
                     if (isUnsignedInteger(type)) {
                       auto product = static_cast<unsigned __int128>(wide(v[0])) *
                                      static_cast<unsigned __int128>(wide(v[1]));
                       return wrap(type, static_cast<__int128>(product >> bits));
                     }
                     return wrap(type, (wide(v[0]) * wide(v[1])) >> bits);
                   },
                   0));
  }
  add(cases,
      elementwise(
          "libdevice.hadd", "libdevice.hadd(a, b)", words, {Fill::Normal, Fill::Normal},
          [wide](DType type, V v) { return wrap(type, (wide(v[0]) + wide(v[1])) >> 1); }, 0));
  add(cases,
      elementwise(
          "libdevice.rhadd", "libdevice.rhadd(a, b)", words, {Fill::Normal, Fill::Normal},
          [wide](DType type, V v) { return wrap(type, (wide(v[0]) + wide(v[1]) + 1) >> 1); }, 0));
  add(cases, elementwise(
                 "libdevice.sad", "libdevice.sad(a, b, c)", {DType::I32, DType::U32},
                 {Fill::Small, Fill::Small, Fill::Small},
                 [](DType, V v) { return std::fabs(v[0] - v[1]) + v[2]; }, 0));
  add(cases, elementwise(
                 "libdevice.mul24", "libdevice.mul24(a, b)", {DType::I32, DType::U32},
                 {Fill::Normal, Fill::Normal},
                 [wide](DType type, V v) {
                   auto low = [&](Number x) -> __int128 {
                     __int128 bits = wide(x) & 0xFFFFFF;
                     bool isNegative = isSignedInteger(type) && (bits >> 23) != 0;
                     return isNegative ? bits - 0x1000000 : bits;
                   };
                   return wrap(type, low(v[0]) * low(v[1]));
                 },
                 0));
}

void addConversions(Cases &cases) {
  Number (*const roundings[])(Number) = {std::rint, std::trunc, std::floor, std::ceil};
  const char *const directions[] = {"rn", "rz", "rd", "ru"};
  const std::pair<const char *, DType> wholes[] = {
      {"int", DType::I32}, {"uint", DType::U32}, {"ll", DType::I64}, {"ull", DType::U64}};
  for (int k = 0; k < 4; ++k) {
    for (auto [whole, type] : wholes) {
      for (DType real : wideFloats) {
        std::string name = std::string("libdevice.") + (real == DType::F32 ? "float" : "double") +
                           "2" + whole + "_" + directions[k];
        add(cases, elementwise(name, name + "(a)", {real}, {Fill::Special},
                               [f = roundings[k], wanted = type](DType, V v) -> Number {
                                 int bits = static_cast<int>(sizeInBytes(wanted)) * 8;
                                 bool isSigned = isSignedInteger(wanted);
                                 Number high = std::ldexp(1.0L, isSigned ? bits - 1 : bits) - 1;
                                 Number low = isSigned ? -high - 1 : 0;
                                 return std::isnan(v[0]) ? 0
                                                         : std::fmin(std::fmax(f(v[0]), low), high);
                               },
                               0, {type}));
      }
    }
    auto narrowed = [k](DType, V v) -> Number {
      auto nearest = static_cast<float>(v[0]);
      bool isUp = k == 3 || (k == 1 && v[0] < 0), isDown = k == 2 || (k == 1 && v[0] > 0);
      if (isUp && nearest < v[0]) {
        return std::nextafter(nearest, INFINITY);
      }
      return isDown && nearest > v[0] ? std::nextafter(nearest, -INFINITY) : nearest;
    };
    const std::pair<const char *, DType> sources[] = {
        {"double", DType::F64}, {"int", DType::I32}, {"uint", DType::U32}};
    for (auto [from, type] : sources) {
      std::string name = std::string("libdevice.") + from + "2float_" + directions[k];
      add(cases,
          elementwise(name, name + "(a)", {type}, {Fill::Special}, narrowed, 0, {DType::F32}));
    }
  }
}

} // namespace

void addLibdevice(Cases &cases) {
  addFloats(cases);
  addBits(cases);
  addConversions(cases);
}

} // namespace nereid::conformance
