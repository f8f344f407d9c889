// SPDX-License-Identifier: Apache-2.0
// Mathematical functions in float32 and float64 against math.txt, which an arbitrary-precision
// library wrote (scripts/math_table.py): the interpreter within a little more than half a unit in
// the last place, the CPU within docs/math.md's bounds.
#include "test/language/Case.h"
#include "test/tables/Kernel.h"

#include "runtime/tensor/Tensor.h"

#include <gtest/gtest.h>

#include <cmath>
#include <fstream>
#include <map>
#include <sstream>

namespace nereid::tables {
namespace {

struct Point {
  double argument;
  long double value; ///< rounded to odd at 64 bits
};

std::map<std::string, std::vector<Point>> readTable() {
  std::ifstream file(NEREID_SOURCE_DIR "/test/tables/math.txt");
  std::map<std::string, std::vector<Point>> table;
  for (std::string line; std::getline(file, line);) {
    std::istringstream words(line);
    std::string name, argument, value;
    words >> name >> argument >> value;
    if (name != "#") {
      table[name].push_back(
          {std::strtod(argument.c_str(), nullptr), std::strtold(value.c_str(), nullptr)});
    }
  }
  return table;
}

struct Function {
  const char *name, *spelling;
  double single, twice; ///< units in the last place of float32 and float64, from docs/math.md
};

const Function functions[] = {
    {"exp", "tl.exp", 1.1, 1.1},
    {"exp2", "tl.exp2", 1.1, 1.1},
    {"expm1", "libdevice.expm1", 2, 2},
    {"log", "tl.log", 1, 1},
    {"log2", "tl.log2", 2, 1},
    {"log10", "libdevice.log10", 0.6, 1},
    {"log1p", "libdevice.log1p", 0.6, 1.5},
    {"sqrt", "tl.sqrt", 0.5, 0.5},
    {"rsqrt", "tl.rsqrt", 1.5, 1.5},
    {"cbrt", "libdevice.cbrt", 0.6, 1},
    {"sin", "tl.sin", 2.1, 1},
    {"cos", "tl.cos", 2.1, 1},
    {"tan", "libdevice.tan", 0.6, 2.5},
    {"asin", "libdevice.asin", 0.6, 2.5},
    {"acos", "libdevice.acos", 0.6, 2},
    {"atan", "libdevice.atan", 0.6, 2},
    {"sinh", "libdevice.sinh", 0.6, 3},
    {"cosh", "libdevice.cosh", 0.6, 3},
    {"tanh", "libdevice.tanh", 2.6, 3},
    {"asinh", "libdevice.asinh", 0.6, 3},
    {"acosh", "libdevice.acosh", 0.6, 3},
    {"atanh", "libdevice.atanh", 0.6, 3},
    {"erf", "tl.erf", 1.5, 1.5},
};

/// Allowed is `ulps` of the true value, and the sliver that the table's last digit is off.
bool isNear(DType type, long double expected, double got, double ulps) {
  using namespace conformance;
  long double rounded = roundTo(type, expected);
  if (std::isnan(expected) || std::isnan(got)) {
    return std::isnan(expected) && std::isnan(got);
  }
  if (got == rounded) {
    return rounded != 0 || std::signbit(got) == std::signbit(expected);
  }
  return std::isfinite(got) && std::isfinite(expected) &&
         std::fabs(got - expected) <= ulps * 1.001L * ulpOf(type, expected);
}

void check(const Function &function, const std::vector<Point> &table, DType type,
           conformance::Engine &engine, double ulps) {
  std::vector<Point> points;
  for (const Point &point : table) {
    bool isOwn = type == DType::F64 || std::isnan(point.argument) ||
                 static_cast<double>(static_cast<float>(point.argument)) == point.argument;
    if (isOwn) {
      points.push_back(point);
    }
  }
  auto count = static_cast<int64_t>(points.size());
  runtime::Tensor from = runtime::Tensor::empty({count}, type);
  runtime::Tensor to = runtime::Tensor::empty({count}, type);
  for (int64_t i = 0; i < count; ++i) {
    from.set(i, points[static_cast<size_t>(i)].argument);
  }
  pipeline::CompileInput input;
  input.path = "table.py";
  input.function = "kernel";
  input.signature =
      "*" + std::string(kernelName(type)) + ", *" + std::string(kernelName(type)) + ", i32";
  input.source = kernelText("x, y, n", "    i = tl.program_id(0) * 16 + tl.arange(0, 16)\n"
                                       "    a = tl.load(x + i, mask=i < n, other=1)\n"
                                       "    tl.store(y + i, " +
                                           std::string(function.spelling) + "(a), mask=i < n)\n");
  ASSERT_EQ(engine.run(input, {(count + 15) / 16, 1, 1},
                       std::vector<runtime::ArgumentValue>{&from, &to, count}),
            "");
  for (int64_t i = 0; i < count; ++i) {
    const Point &point = points[static_cast<size_t>(i)];
    EXPECT_TRUE(isNear(type, point.value, to.at(i), ulps))
        << function.spelling << "(" << point.argument << ") as " << kernelName(type) << " on "
        << engine.name() << " expects " << static_cast<double>(point.value) << ", but got "
        << to.at(i);
  }
}

TEST(Math, agreesWithTheTable) {
  const auto table = readTable();
  ASSERT_EQ(table.size(), std::size(functions));
  for (const Function &function : functions) {
    for (DType type : {DType::F32, DType::F64}) {
      for (auto &engine : engines()) {
        bool isOracle = engine->name() == "interpreter";
        double bound = type == DType::F32 ? function.single : function.twice;
        check(function, table.at(function.name), type, *engine, isOracle ? 0.51 : bound);
      }
    }
  }
}

/// Rounding to whole numbers, by APFloat.
TEST(Math, roundsToWholeNumbers) {
  using llvm::APFloat;
  const std::pair<const char *, llvm::RoundingMode> roundings[] = {
      {"tl.floor(a)", APFloat::rmTowardNegative},
      {"tl.ceil(a)", APFloat::rmTowardPositive},
      {"libdevice.trunc(a)", APFloat::rmTowardZero},
      {"libdevice.rint(a)", APFloat::rmNearestTiesToEven},
      {"libdevice.round(a)", APFloat::rmNearestTiesToAway}};
  for (DType type : {DType::F32, DType::F64}) {
    std::vector<Scalar> rows = edges(type);
    for (const char *number : {"0.5", "1.5", "2.5", "0.49999997", "8388607.5", "4503599627370495.5",
                               "1e20", "0.99999994"}) {
      for (bool isNegative : {false, true}) {
        APFloat value(real(rows[0]).getSemantics(), number);
        rows.push_back(scalar(isNegative ? neg(value) : value));
      }
    }
    std::vector<Operand> operands = {{"a", type, filled(rows)}};
    std::vector<Column> columns;
    for (const auto &[expression, rounding] : roundings) {
      Column column{expression, type, {}};
      for (Scalar row : operands[0].rows) {
        APFloat value = real(row);
        value.roundToIntegral(rounding);
        column.expected.emplace_back(scalar(value));
      }
      columns.push_back(std::move(column));
    }
    for (auto &engine : engines()) {
      EXPECT_EQ(runColumns(*engine, operands, columns), "") << engine->name();
    }
  }
}

} // namespace
} // namespace nereid::tables
