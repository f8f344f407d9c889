// SPDX-License-Identifier: Apache-2.0
// Unary operators and casts: every type, every ordered pair of types with the 8-bit floats, both
// roundings of narrower floats, and reinterpreted bits.
#include "test/tables/Kernel.h"
#include "test/tables/TypeRules.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <random>

namespace nereid::tables {
namespace {

std::vector<DType> allTypes() {
  std::vector<DType> types = tableTypes();
  for (DType type :
       {DType::F8E4M3FN, DType::F8E5M2, DType::F8E4M3FNUZ, DType::F8E5M2FNUZ, DType::F8E4B15}) {
    types.push_back(type);
  }
  return types;
}

/// Just above and just below the middle between two numbers of each narrower float: what is rounded
/// on the way, to float32 or float64, falls on the middle and then to the wrong side.
void addNearMiddles(std::vector<Scalar> &values, DType type) {
  for (int digits : {3, 4, 8, 11, 24, 53}) { // of a significand, the hidden one included
    if (isFloat(type)) {
      double least = std::ldexp(1.0, type == DType::F64 ? -52 : -23);
      double half = std::ldexp(1.0, -digits);
      if (widthOf(type) >= 32 && half > least) {
        values.push_back(convert(llvm::APFloat(1 + half + least), type));
        values.push_back(convert(llvm::APFloat(-(1 + 3 * half - least)), type));
      }
    } else if (widthOf(type) >= 32 && static_cast<int>(widthOf(type)) - 2 > digits) {
      unsigned top = widthOf(type) - 2;
      uint64_t one = uint64_t(1) << top, half = one >> digits;
      values.push_back({type, one + half + 1});
      values.push_back({type, one + 3 * half - 1});
    }
  }
}

/// Edges, bits at random, and whole numbers and fractions halfway between neighbours of the
/// narrower floats.
std::vector<Scalar> samples(DType type) {
  std::vector<Scalar> values = edges(type);
  std::mt19937_64 random(static_cast<uint64_t>(type));
  unsigned width = widthOf(type);
  for (int i = 0; i < 32; ++i) {
    values.push_back({type, width == 64 ? random() : random() & ((uint64_t(1) << width) - 1)});
  }
  for (int bits : {2, 3, 7, 8, 10, 11, 23, 24, 52, 53}) {
    for (int64_t tail : {1, 2, 3, 5}) { // of a unit of 2 in a number of so many bits
      Scalar whole{DType::I64, static_cast<uint64_t>((int64_t(2) << bits) + tail)};
      values.push_back(*convert(whole, type));
      if (isFloat(type)) {
        double small = std::ldexp(static_cast<double>(whole.bits), -20 - bits);
        values.push_back(convert(llvm::APFloat(-small), type));
      }
    }
  }
  addNearMiddles(values, type);
  return filled(values);
}

/// "float8e5"; the name after "tl."
std::string languageName(DType type) {
  return isFloat8(type)        ? "float" + std::string(kernelName(type)).substr(2)
         : type == DType::Bool ? "int1"
                               : std::string(torchName(type));
}

class Casts : public testing::TestWithParam<DType> {};

TEST_P(Casts, toEveryType) {
  DType from = GetParam();
  std::vector<Operand> operands = {{"a", from, samples(from)}};
  const std::vector<Scalar> &rows = operands[0].rows;
  std::vector<Column> columns;
  auto add = [&](const std::string &expression, DType to, auto &&expected) {
    Column column{expression, to, {}};
    for (Scalar row : rows) {
      column.expected.push_back(expected(row));
    }
    columns.push_back(std::move(column));
  };
  for (DType to : allTypes()) {
    std::string name = "tl." + languageName(to);
    add("a.to(" + name + ")", to, [&](Scalar row) { return convert(row, to); });
    if (isFloat(from) && isFloat(to) && widthOf(to) < widthOf(from)) {
      add("a.to(" + name + ", fp_downcast_rounding='rtz')", to,
          [&](Scalar row) { return convert(row, to, llvm::APFloat::rmTowardZero); });
      add("tl.cast(a, " + name + ", fp_downcast_rounding='rtne')", to,
          [&](Scalar row) { return convert(row, to); });
    }
    if (widthOf(from) == widthOf(to)) {
      add("a.to(" + name + ", bitcast=True)", to,
          [&](Scalar row) -> std::optional<Scalar> { return Scalar{to, row.bits}; });
    }
  }
  for (auto &engine : engines()) {
    EXPECT_EQ(runColumns(*engine, operands, columns), "") << engine->name();
  }
}

TEST_P(Casts, andUnaryOperators) {
  DType type = GetParam();
  if (isFloat8(type)) {
    return; // computed in float32 and rounded: the casts say it all
  }
  std::vector<Operand> operands = {{"a", type, samples(type)}};
  Column minus{"-a", type, {}}, plus{"+a", type, {}}, magnitude{"tl.abs(a)", type, {}},
      inverse{"~a", type, {}}, negation{"not a", DType::Bool, {}}, same{"a == a", DType::Bool, {}};
  for (Scalar row : operands[0].rows) {
    bool isNegative = isFloat(type) ? real(row).isNegative() : whole(row).isNegative();
    Scalar negative = isFloat(type) ? scalar(neg(real(row))) : *apply("-", {type, 0}, row);
    minus.expected.emplace_back(negative);
    plus.expected.emplace_back(row);
    magnitude.expected.emplace_back(isNegative ? negative : row);
    if (!isFloat(type)) {
      inverse.expected.emplace_back(scalar(~whole(row), type));
    }
    negation.expected.emplace_back(Scalar{DType::Bool, 1 - convert(row, DType::Bool)->bits});
    same.expected.emplace_back(Scalar{DType::Bool, isNan(row) ? 0U : 1U});
  }
  std::vector<Column> columns = {minus, plus, magnitude, negation, same};
  if (!isFloat(type)) {
    columns.push_back(inverse);
  }
  for (auto &engine : engines()) {
    EXPECT_EQ(runColumns(*engine, operands, columns), "") << engine->name();
  }
  EXPECT_EQ(runRefused(operands,
                       isFloat(type) ? std::vector<std::string>{"~a"} : std::vector<std::string>{}),
            "");
}

INSTANTIATE_TEST_SUITE_P(Types, Casts, testing::ValuesIn(allTypes()),
                         [](const auto &each) { return std::string(kernelName(each.param)); });

} // namespace
} // namespace nereid::tables
