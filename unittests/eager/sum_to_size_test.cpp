// SPDX-License-Identifier: Apache-2.0
// x.sum_to_size(…): sums over leading dimensions whose number is open, none included, against sums
// written here; reference and baseline.
#include "unittests/eager/Values.h"

#include "lib/eager/reference/Reference.h"

#include <fmt/format.h>

#include <cmath>

namespace nereid::eager {
namespace {

struct Target {
  const char *call, *shape;
  size_t kept;        ///< dimensions at the end that stay
  bool isWide = true; ///< the last but one of x stays what it is; else it becomes 1
};

/// x: [..., C, D]
std::optional<Operator> operatorOf(const std::string &call, const std::string &shape,
                                   Diagnostics &diags, const std::string &dtype = "float32") {
  return definition::parseOperator(
      "s.toml",
      fmt::format("[operator]\nname = \"t\"\nsummary = \"s\"\ndtypes = [\"{}\"]\nbody = "
                  "\"out = {} * 1\"\n[inputs.x]\nshape = [\"...\", \"C\", \"D\"]\n[outputs.out]\n"
                  "shape = [{}]\n[performance]\ncases = [{{ \"...\" = [2], C = 3, D = 4 }}]\n",
                  dtype, call, shape),
      diags);
}

void check(const Target &target, std::vector<int64_t> leading) {
  SCOPED_TRACE(fmt::format("{} of {} leading dimensions", target.call, leading.size()));
  Diagnostics diags;
  auto op = operatorOf(target.call, target.shape, diags);
  ASSERT_TRUE(op) << diags.render();
  std::vector<int64_t> shape = leading;
  shape.insert(shape.end(), {3, 4});
  Tensor x = Tensor::empty(shape, DType::F32);
  runtime::fillNormal(x, 5);
  const int64_t rows = target.kept == 2 && target.isWide ? 3 : 1;
  const int64_t columns = target.kept == 0 ? 1 : 4;
  std::vector<double> expected(static_cast<size_t>(rows * columns), 0.0);
  for (int64_t i = 0; i < x.elementCount(); ++i) {
    expected[static_cast<size_t>(i / 4 % rows * columns + i % columns)] += x.at(i);
  }
  std::vector<int64_t> result;
  if (target.kept == 2) {
    result.push_back(rows);
  }
  if (target.kept > 0) {
    result.push_back(columns);
  }
  std::vector<Tensor> inputs = {x};
  auto reference =
      runReference(*op, inputs, DType::F32, Rounding::OncePerResult, runtime::defaultPool());
  ASSERT_TRUE(reference) << render(reference.error());
  auto baseline = runGraph(*op, inputs, runtime::defaultPool());
  ASSERT_TRUE(baseline) << render(baseline.error());
  ASSERT_EQ((*reference)[0].values.shape(), result);
  ASSERT_EQ((*baseline)[0].shape(), result);
  for (size_t i = 0; i < expected.size(); ++i) {
    const auto at = static_cast<int64_t>(i);
    EXPECT_NEAR((*reference)[0].values.at(at), expected[i], 1e-12) << i;
    EXPECT_NEAR((*baseline)[0].at(at), expected[i],
                2 * (*reference)[0].bounds.at(at) + 1e-5 * std::fabs(expected[i]))
        << i;
  }
}

TEST(SumToSize, SumsOverLeadingDimensionsHoweverMany) {
  const Target targets[] = {{"x.sum_to_size(D)", "\"D\"", 1},
                            {"x.sum_to_size((D,))", "\"D\"", 1},
                            {"x.sum_to_size(C, D)", "\"C\", \"D\"", 2},
                            {"x.sum_to_size([1, D])", "1, \"D\"", 2, false},
                            {"x.sum_to_size(C + 1 - 1, D)", "\"C\", \"D\"", 2},
                            {"x.sum_to_size(x.shape[-1])", "\"D\"", 1},
                            {"x.sum_to_size()", "", 0}};
  for (const Target &target : targets) {
    for (const std::vector<int64_t> &leading :
         {std::vector<int64_t>{}, {1}, {5}, {0}, {2, 3}, {2, 0, 3}, {2, 1, 3, 2}}) {
      check(target, leading);
    }
  }
}

TEST(SumToSize, WhatDoesNotBroadcastIsRefused) {
  const std::tuple<const char *, const char *, const char *> wrong[] = {
      {"x.sum_to_size(C)", "float32", "E0604"},       {"x.sum_to_size(D, C)", "float32", "E0604"},
      {"x.sum_to_size(2, C, D)", "float32", "E0604"}, {"x.sum_to_size(2, D)", "float32", "E0604"},
      {"x.sum_to_size(...)", "float32", "E0608"},     {"x.sum_to_size(x)", "float32", "E0604"},
      {"x.sum_to_size(-1)", "float32", "E0604"},      {"sum_to_size(x, D)", "float32", "E0608"},
      {"x.sum_to_size(size=D)", "float32", "E0608"},  {"x.sum_to_size(D)", "int32", "E0608"},
      {"x.sum_to_size(D + 1)", "float32", "E0604"},
  };
  for (const auto &[call, dtype, code] : wrong) {
    Diagnostics diags;
    EXPECT_FALSE(operatorOf(call, "\"D\"", diags, dtype)) << call;
    ASSERT_FALSE(diags.all().empty());
    EXPECT_EQ(diags.all()[0].code, code) << call << diags.render();
  }
}

} // namespace
} // namespace nereid::eager
