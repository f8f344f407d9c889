// SPDX-License-Identifier: Apache-2.0
// Numbers by their bits, the fast forms of mathematical functions, and the conversions and norms of
// libdevice, against std::bit_cast and <cmath> in long double.
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

/// A function of one number that gives the same bits under another type.
template <class From, class To>
void addCast(Cases &cases, const std::string &name, DType from, DType to) {
  add(cases,
      elementwise("libdevice." + name, "libdevice." + name + "(a)", {from}, {Fill::Normal},
                  [](DType, V v) -> Number { return std::bit_cast<To>(static_cast<From>(v[0])); },
                  0, {to}));
}

void addHalves(Cases &cases) {
  add(cases, elementwise("libdevice.hiloint2double", "libdevice.hiloint2double(a, b)", {DType::I32},
                         {Fill::Small, Fill::Normal},
                         [](DType, V v) -> Number {
                           auto high = static_cast<uint64_t>(static_cast<int64_t>(v[0])) << 32;
                           auto low = static_cast<uint32_t>(static_cast<int64_t>(v[1]));
                           return std::bit_cast<double>(high | low);
                         },
                         0, {DType::F64}));
  auto bits = [](V v) { return std::bit_cast<uint64_t>(static_cast<double>(v[0])); };
  add(cases, elementwise("libdevice.double2loint", "libdevice.double2loint(a)", {DType::F64},
                         {Fill::Normal},
                         [=](DType, V v) -> Number { return static_cast<int32_t>(bits(v)); }, 0,
                         {DType::I32}));
  add(cases, elementwise("libdevice.double2hiint", "libdevice.double2hiint(a)", {DType::F64},
                         {Fill::Normal},
                         [=](DType, V v) -> Number { return static_cast<int32_t>(bits(v) >> 32); },
                         0, {DType::I32}));
  add(cases, elementwise("libdevice.rcp64h", "libdevice.rcp64h(a)", {DType::F64}, {Fill::Positive},
                         [](DType, V v) -> Number {
                           auto word = std::bit_cast<uint64_t>(1 / static_cast<double>(v[0]));
                           return std::bit_cast<double>(word >> 32 << 32);
                         }));
}

void addFast(Cases &cases) {
  struct Row {
    const char *name;
    Number (*reference)(Number);
    Fill fill;
  };
  for (const Row &row :
       {Row{"fast_expf", std::exp, Fill::Normal}, Row{"fast_tanf", std::tan, Fill::Unit},
        Row{"fast_tanhf", std::tanh, Fill::Normal},
        Row{"fast_log10f", std::log10, Fill::Positive}}) {
    std::string name = std::string("libdevice.") + row.name;
    add(cases, elementwise(
                   name, name + "(a)", {DType::F32}, {row.fill},
                   [f = row.reference](DType, V v) { return f(v[0]); }, 4));
  }
  add(cases, elementwise(
                 "libdevice.fast_powf", "libdevice.fast_powf(a, b)", {DType::F32},
                 {Fill::Positive, Fill::Unit}, [](DType, V v) { return std::pow(v[0], v[1]); }, 4));
}

void addNorms(Cases &cases) {
  add(cases, elementwise("libdevice.fma_rn", "libdevice.fma_rn(a, b, c)", wideFloats,
                         {Fill::Normal, Fill::Normal, Fill::Normal},
                         [](DType, V v) { return std::fma(v[0], v[1], v[2]); }));
  add(cases, elementwise("libdevice.rsqrt_rn", "libdevice.rsqrt_rn(a)", {DType::F32},
                         {Fill::Positive}, [](DType, V v) { return 1 / std::sqrt(v[0]); }));
  add(cases, elementwise(
                 "libdevice.rnorm3d", "libdevice.rnorm3d(a, b, c)", wideFloats,
                 {Fill::Positive, Fill::Normal, Fill::Normal},
                 [](DType, V v) { return 1 / std::hypot(v[0], v[1], v[2]); }, 2));
  add(cases, elementwise(
                 "libdevice.norm4d", "libdevice.norm4d(a, b, c, a)", wideFloats,
                 {Fill::Positive, Fill::Normal, Fill::Normal},
                 [](DType, V v) { return std::hypot(std::hypot(v[0], v[1]), v[2], v[0]); }, 2));
}

void addConversions(Cases &cases) {
  struct Row {
    const char *name;
    DType from, to;
  };
  for (const Row &row :
       {Row{"int2double_rn", DType::I32, DType::F64}, Row{"uint2double_rn", DType::U32, DType::F64},
        Row{"ll2float_rn", DType::I64, DType::F32}, Row{"ll2double_rn", DType::I64, DType::F64},
        Row{"ull2float_rn", DType::U64, DType::F32},
        Row{"ull2double_rn", DType::U64, DType::F64}}) {
    std::string name = std::string("libdevice.") + row.name;
    add(cases, elementwise(name, name + "(a)", {row.from}, {Fill::Normal},
                           [](DType, V v) { return v[0]; }, 0.5, {row.to}));
  }
}

} // namespace

void addReinterpretation(Cases &cases) {
  addCast<int32_t, float>(cases, "int_as_float", DType::I32, DType::F32);
  addCast<float, int32_t>(cases, "float_as_int", DType::F32, DType::I32);
  addCast<uint32_t, float>(cases, "uint_as_float", DType::U32, DType::F32);
  addCast<float, uint32_t>(cases, "float_as_uint", DType::F32, DType::U32);
  addCast<int64_t, double>(cases, "longlong_as_double", DType::I64, DType::F64);
  addCast<double, int64_t>(cases, "double_as_longlong", DType::F64, DType::I64);
  addHalves(cases);
  addFast(cases);
  addNorms(cases);
  addConversions(cases);
}

} // namespace nereid::conformance
