// SPDX-License-Identifier: Apache-2.0
// Scans, sorted lines and positions: the baseline's results are PyTorch's, and the reference's
// bounds hold for them and refuse what is wrong.
#include "unittests/eager/Values.h"

#include "lib/eager/reference/Reference.h"

#include <cmath>

namespace nereid::eager {
namespace {

constexpr double nan = NAN, inf = INFINITY;
const std::vector<double> special = {0.0, -0.0, 3, nan, -inf, 3, inf, nan, inf, -2};
const std::vector<double> ties = {2, 2, 1, 2, 3, 3, 0};

std::vector<double> of(const std::string &op, const std::vector<double> &values,
                       std::map<std::string, Attribute> attributes = {}, DType dtype = DType::F32) {
  attributes.emplace("dim", int64_t{-1});
  return list(call(op, {make({static_cast<int64_t>(values.size())}, values, dtype)}, attributes));
}

void expectSame(const std::vector<double> &a, const std::vector<double> &b) {
  ASSERT_EQ(a.size(), b.size());
  for (size_t i = 0; i < a.size(); ++i) {
    EXPECT_TRUE(a[i] == b[i] || (std::isnan(a[i]) && std::isnan(b[i])))
        << i << ": " << a[i] << " and " << b[i];
  }
}

TEST(Lines, SortsStableWithNaNLast) {
  expectSame(of("argsort", special), {4, 9, 0, 1, 2, 5, 6, 8, 3, 7});
  expectSame(of("argsort", special, {{"descending", true}}), {3, 7, 6, 8, 2, 5, 0, 1, 9, 4});
  const std::vector<double> sorted = of("sort", special);
  EXPECT_FALSE(std::signbit(sorted[2]));
  EXPECT_TRUE(std::signbit(sorted[3])) << "zeros stay where they were among themselves";
  expectSame(of("topk", special, {{"k", int64_t{4}}, {"largest", true}}), {nan, nan, inf, inf});
  expectSame(of("topk_indices", special, {{"k", int64_t{3}}, {"largest", false}}), {4, 9, 0});
  expectSame(of("topk", ties, {{"k", int64_t{0}}, {"largest", true}}), {});
  expectSame(of("kthvalue_indices", special, {{"k", int64_t{10}}}), {7});
  expectSame(of("kthvalue", special, {{"k", int64_t{8}}}), {inf});
  expectSame(of("median", special), {nan});
  expectSame(of("median_indices", special), {3});
  expectSame(of("median_indices", ties), {1});
}

TEST(Lines, RunningExtremaTakeTheLastAndKeepNaN) {
  expectSame(of("cummax", special), {0, 0, 3, nan, nan, nan, nan, nan, nan, nan});
  expectSame(of("cummax_indices", special), {0, 1, 2, 3, 3, 3, 3, 7, 7, 7});
  expectSame(of("cummin_indices", special), {0, 1, 1, 3, 3, 3, 3, 7, 7, 7});
  expectSame(of("cummax_indices", ties), {0, 1, 1, 3, 4, 5, 5});
  expectSame(of("cummin_indices", ties), {0, 1, 2, 2, 2, 2, 6});
}

TEST(Lines, ExtremaAreTheFirst) {
  expectSame(of("argmax", special), {3});
  expectSame(of("argmin", special), {3});
  expectSame(of("argmax", ties), {4});
  expectSame(of("argmin", ties, {}, DType::I64), {6});
  EXPECT_EQ(list(call("argmax", {make({2, 3}, {1, 5, 2, 5, 0, 3})})), (std::vector<double>{1}));
  EXPECT_NE(errorOf("argmax", {make({2, 0}, {})}, {{"dim", int64_t{1}}}).find("E0604"),
            std::string::npos);
}

TEST(Lines, Accumulate) {
  expectSame(of("cumsum", {1, inf, 2, -inf, 3}), {1, inf, inf, nan, nan});
  expectSame(of("cumprod", {2, 0, inf, 1}), {2, 0, nan, nan});
  expectSame(of("logcumsumexp", {-inf, -inf, 1, -inf, inf, 0, inf}),
             {-inf, -inf, 1, 1, inf, inf, inf});
  const Tensor bytes = make({2}, {100, 100}, DType::I8);
  const Tensor product = call("cumprod", {bytes}, {{"dim", int64_t{0}}});
  EXPECT_EQ(product.dtype(), DType::I64);
  EXPECT_EQ(list(product), (std::vector<double>{100, 10000}));
  EXPECT_EQ(call("cumsum", {make({3}, {1, 1, 0}, DType::Bool)}, {{"dim", int64_t{0}}}).dtype(),
            DType::I64);
}

TEST(Lines, OtherDimensionsAndNoElements) {
  const Tensor x = make({2, 3}, {3, 1, 2, 1, 5, 0});
  EXPECT_EQ(list(call("sort", {x}, {{"dim", int64_t{0}}})),
            (std::vector<double>{1, 1, 0, 3, 5, 2}));
  EXPECT_EQ(list(call("cumsum", {x}, {{"dim", int64_t{-2}}})),
            (std::vector<double>{3, 1, 2, 4, 6, 2}));
  EXPECT_EQ(call("sort", {make({3, 0}, {})}, {{"dim", int64_t{1}}}).shape(),
            (std::vector<int64_t>{3, 0}));
  EXPECT_EQ(call("cumsum", {make({0, 3}, {})}, {{"dim", int64_t{0}}}).elementCount(), 0);
  EXPECT_NE(errorOf("topk", {x}, {{"dim", int64_t{1}}, {"k", int64_t{4}}}).find("E0604"),
            std::string::npos);
  EXPECT_NE(errorOf("cumsum", {x}, {{"dim", int64_t{2}}}).find("E0604"), std::string::npos);
}

// ---- the reference ----

Operator operatorOf(const std::string &body, const std::string &shape, const std::string &type) {
  Diagnostics diags;
  auto op = definition::parseOperator(
      "t.toml",
      "[operator]\nname = \"t\"\nsummary = \"s\"\ndtypes = [\"float32\"]\nbody = \"\"\"\n" + body +
          "\n\"\"\"\n[inputs.x]\nshape = [\"...\", \"N\"]\n[outputs.out]\nshape = " + shape + type +
          "\n[performance]\ncases = [{ \"...\" = [2], N = 4 }]\n",
      diags);
  EXPECT_TRUE(op) << diags.render();
  return *op;
}

int64_t mismatches(const Operator &op, const Tensor &x, const Tensor &out) {
  auto found = checkOutputs(op, std::vector<Tensor>{x}, std::vector<Tensor>{out}, DType::F32,
                            Rounding::OncePerResult, runtime::defaultPool());
  EXPECT_TRUE(found) << render(found.error());
  return found ? found->mismatches : -1;
}

TEST(LineReference, RefusesOtherPositionsOfEqualElements) {
  const Operator op =
      operatorOf("out = torch.argsort(x, dim=-1)", "[\"...\", \"N\"]", "\ndtype = \"int64\"");
  const Tensor x = make({1, 4}, {2, 1, 2, 1});
  EXPECT_EQ(mismatches(op, x, make({1, 4}, {1, 3, 0, 2}, DType::I64)), 0);
  EXPECT_EQ(mismatches(op, x, make({1, 4}, {3, 1, 0, 2}, DType::I64)), 2);
}

TEST(LineReference, LeavesPositionsOpenOnlyWhereRoundingMayMoveThem) {
  // 3 and its neighbour may change places behind a division; 1 and 9 may not.
  const Operator op =
      operatorOf("out = torch.argsort(x / 3, dim=-1)", "[\"...\", \"N\"]", "\ndtype = \"int64\"");
  const Tensor x = make({1, 4}, {3, static_cast<double>(std::nextafterf(3, 4)), 1, 9});
  EXPECT_EQ(mismatches(op, x, make({1, 4}, {2, 1, 0, 3}, DType::I64)), 0);
  EXPECT_EQ(mismatches(op, x, make({1, 4}, {0, 1, 2, 3}, DType::I64)), 1);
}

TEST(LineReference, BoundsSumsByTheirOwnTerms) {
  const Operator op = operatorOf("out = torch.cumsum(x, dim=-1)", "[\"...\", \"N\"]", "");
  const Tensor x = make({1, 3}, {1, 1e8, -1e8});
  EXPECT_EQ(mismatches(op, x, make({1, 3}, {1, 1e8, 0})), 0) << "1 is lost beside 1e8";
  EXPECT_EQ(mismatches(op, x, make({1, 3}, {1.00001, 1e8, 0})), 1) << "but not before";
}

TEST(LineReference, TakesEitherOfNearMaxima) {
  const Operator op =
      operatorOf("_, out = torch.max(x / 3, dim=-1)", "[\"...\"]", "\ndtype = \"int64\"");
  const Tensor near = make({1, 3}, {3, static_cast<double>(std::nextafterf(3, 4)), 1});
  EXPECT_EQ(mismatches(op, near, make({1}, {0}, DType::I64)), 0);
  const Tensor apart = make({1, 3}, {3, 4, 1});
  EXPECT_EQ(mismatches(op, apart, make({1}, {0}, DType::I64)), 1);
}

} // namespace
} // namespace nereid::eager
