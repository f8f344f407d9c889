// SPDX-License-Identifier: Apache-2.0
// Movements of the baseline and the reference against loops written out here.
#include "unittests/eager/Values.h"

#include "lib/eager/reference/Reference.h"

#include <numeric>

namespace nereid::eager {
namespace {

/// 0, 1, 2, … in the shape.
Tensor counted(std::vector<int64_t> shape, DType dtype = DType::F32) {
  Tensor tensor = Tensor::empty(std::move(shape), dtype);
  for (int64_t i = 0; i < tensor.elementCount(); ++i) {
    tensor.set(i, static_cast<double>(i));
  }
  return tensor;
}

/// An operator whose body is one expression of x: the reference's result, which the baseline's must
/// equal.
std::vector<double> both(const std::string &expression, const std::string &shape, const Tensor &x) {
  Diagnostics diags;
  const std::string type = std::string(torchName(x.dtype()));
  auto op = definition::parseOperator(
      "t.toml",
      "[operator]\nname = \"t\"\nsummary = \"s\"\ndtypes = [\"" + type +
          "\"]\nbody = '''\nout = " + expression +
          "\n'''\n[inputs.x]\nshape = [\"M\", \"N\"]\n[outputs.out]\nshape = " + shape +
          "\n[performance]\ncases = [{ M = 5, N = 7 }]\n",
      diags);
  EXPECT_TRUE(op) << expression << "\n" << diags.render();
  if (!op) {
    return {};
  }
  std::vector<Tensor> inputs = {x};
  auto outputs = runGraph(*op, inputs, runtime::defaultPool());
  auto reference =
      runReference(*op, inputs, x.dtype(), Rounding::OncePerResult, runtime::defaultPool());
  EXPECT_TRUE(outputs) << render(outputs.error());
  EXPECT_TRUE(reference) << render(reference.error());
  if (!outputs || !reference) {
    return {};
  }
  const std::vector<double> expected = list((*reference)[0].values);
  EXPECT_EQ(list((*outputs)[0]), expected) << expression;
  return expected;
}

/// x[rows from…by…, columns from…by…] by two loops.
std::vector<double> grid(int64_t columns, std::vector<int64_t> rowList,
                         std::vector<int64_t> columnList) {
  std::vector<double> values;
  for (int64_t row : rowList) {
    for (int64_t column : columnList) {
      values.push_back(static_cast<double>(row * columns + column));
    }
  }
  return values;
}

TEST(Movements, ResultsHaveMemoryOfTheirOwn) {
  Diagnostics diags;
  auto op = definition::parseOperator(
      "t.toml",
      "[operator]\nname = \"t\"\nsummary = \"s\"\ndtypes = [\"float32\"]\nbody = 'out = x[4:]'\n"
      "[inputs.x]\nshape = [\"N\"]\n[outputs.out]\nshape = [\"N - 4\"]\n"
      "[performance]\ncases = [{ N = 5 }]\n",
      diags);
  ASSERT_TRUE(op) << diags.render();
  std::vector<float> memory = {0, 1, 2, 3, 4};
  // The last element of the second one has the lowest address.
  for (const Tensor &x : {Tensor::borrow(memory.data(), {5}, DType::F32),
                          Tensor::borrow(memory.data() + 4, {5}, DType::F32, {-1})}) {
    std::vector<Tensor> inputs = {x};
    auto outputs = runGraph(*op, inputs, runtime::defaultPool());
    ASSERT_TRUE(outputs) << render(outputs.error());
    const auto *at = (*outputs)[0].as<float>();
    EXPECT_TRUE(at < memory.data() || at >= memory.data() + memory.size());
    EXPECT_EQ((*outputs)[0].at(0), x.at(4));
  }
}

TEST(Movements, SlicesReadTheirElements) {
  for (DType dtype : {DType::F32, DType::F16, DType::F64, DType::I64, DType::I32}) {
    const Tensor x = counted({5, 7}, dtype);
    EXPECT_EQ(both("x[:, 1:]", "[\"M\", \"N - 1\"]", x),
              grid(7, {0, 1, 2, 3, 4}, {1, 2, 3, 4, 5, 6}));
    EXPECT_EQ(both("x[1::2, ::3]", "[\"M // 2\", \"(N + 2) // 3\"]", x),
              grid(7, {1, 3}, {0, 3, 6}));
    EXPECT_EQ(both("x[-2, :]", "[\"N\"]", x), grid(7, {3}, {0, 1, 2, 3, 4, 5, 6}));
    EXPECT_EQ(both("x[:, -1]", "[\"M\"]", x), grid(7, {0, 1, 2, 3, 4}, {6}));
    EXPECT_EQ(both("x.flip(0, 1)", "[\"M\", \"N\"]", x),
              grid(7, {4, 3, 2, 1, 0}, {6, 5, 4, 3, 2, 1, 0}));
    EXPECT_EQ(both("x[1:, None, :2]", "[\"M - 1\", 1, 2]", x), grid(7, {1, 2, 3, 4}, {0, 1}));
    EXPECT_EQ(both("x[2:][::2][:, 3:]", "[\"(M + 1) // 2 - 1\", \"N - 3\"]", x),
              grid(7, {2, 4}, {3, 4, 5, 6}));
  }
}

TEST(Movements, PartsLieOneBehindAnother) {
  for (DType dtype : {DType::F32, DType::BF16, DType::I64}) {
    const Tensor x = counted({2, 3}, dtype);
    EXPECT_EQ(both("torch.cat([x, x[:, :1]], 1)", "[\"M\", \"N + 1\"]", x),
              (std::vector<double>{0, 1, 2, 0, 3, 4, 5, 3}));
    EXPECT_EQ(both("torch.cat([x[1:], x])", "[\"2 * M - 1\", \"N\"]", x),
              (std::vector<double>{3, 4, 5, 0, 1, 2, 3, 4, 5}));
    EXPECT_EQ(both("torch.stack([x, x.flip(0)], -1)", "[\"M\", \"N\", 2]", x),
              (std::vector<double>{0, 3, 1, 4, 2, 5, 3, 0, 4, 1, 5, 2}));
    EXPECT_EQ(both("torch.roll(x, (1, 1), (0, 1))", "[\"M\", \"N\"]", x),
              (std::vector<double>{5, 3, 4, 2, 0, 1}));
    EXPECT_EQ(both("torch.roll(x, -1, -1)", "[\"M\", \"N\"]", x),
              (std::vector<double>{1, 2, 0, 4, 5, 3}));
    EXPECT_EQ(both("torch.rot90(x)", "[\"N\", \"M\"]", x), (std::vector<double>{2, 5, 1, 4, 0, 3}));
    EXPECT_EQ(both("torch.rot90(x, -1)", "[\"N\", \"M\"]", x),
              (std::vector<double>{3, 0, 4, 1, 5, 2}));
    EXPECT_EQ(both("torch.diff(x * x, dim=0)", "[\"M - 1\", \"N\"]", x),
              (std::vector<double>{9, 15, 21}));
  }
}

TEST(Movements, EdgesContinueATensor) {
  for (DType dtype : {DType::F32, DType::F16, DType::I32}) {
    const Tensor x = counted({1, 4}, dtype);
    EXPECT_EQ(both("F.pad(x, (2, 1), value=9)", "[\"M\", \"N + 3\"]", x),
              (std::vector<double>{9, 9, 0, 1, 2, 3, 9}));
    EXPECT_EQ(both("F.pad(x, (3, 2), mode=\"reflect\")", "[\"M\", \"N + 5\"]", x),
              (std::vector<double>{3, 2, 1, 0, 1, 2, 3, 2, 1}));
    EXPECT_EQ(both("F.pad(x, (2, 3), mode=\"replicate\")", "[\"M\", \"N + 5\"]", x),
              (std::vector<double>{0, 0, 0, 1, 2, 3, 3, 3, 3}));
    EXPECT_EQ(both("F.pad(x, (2, 3), mode=\"circular\")", "[\"M\", \"N + 5\"]", x),
              (std::vector<double>{2, 3, 0, 1, 2, 3, 0, 1, 2}));
    EXPECT_EQ(both("F.pad(x, (-1, 0, 1, 1))", "[\"M + 2\", \"N - 1\"]", x),
              (std::vector<double>{0, 0, 0, 1, 2, 3, 0, 0, 0}));
  }
  EXPECT_EQ(both("F.pad(x, (1, 1), value=7)", "[\"M\", \"N + 2\"]", counted({2, 0})),
            (std::vector<double>{7, 7, 7, 7}));
  EXPECT_EQ(both("torch.cat([x, x + 1], 1)", "[\"M\", \"2 * N\"]", counted({0, 3})),
            std::vector<double>());
}

TEST(Movements, OtherShapesKeepTheOrder) {
  for (DType dtype : {DType::F32, DType::F16, DType::I64}) {
    const Tensor x = counted({2, 3}, dtype);
    EXPECT_EQ(both("x.t().reshape(-1)", "[\"M * N\"]", x), (std::vector<double>{0, 3, 1, 4, 2, 5}));
    EXPECT_EQ(both("x.repeat(1, 2)", "[\"M\", \"2 * N\"]", x),
              (std::vector<double>{0, 1, 2, 0, 1, 2, 3, 4, 5, 3, 4, 5}));
    EXPECT_EQ(both("x.repeat_interleave(2, -1)", "[\"M\", \"2 * N\"]", x),
              (std::vector<double>{0, 0, 1, 1, 2, 2, 3, 3, 4, 4, 5, 5}));
    EXPECT_EQ(both("x.unfold(1, 2, 1)", "[\"M\", \"N - 1\", 2]", x),
              (std::vector<double>{0, 1, 1, 2, 3, 4, 4, 5}));
    EXPECT_EQ(both("torch.tril(x + 1)", "[\"M\", \"N\"]", x),
              (std::vector<double>{1, 0, 0, 4, 5, 0}));
    EXPECT_EQ(both("torch.triu(x + 1, 1)", "[\"M\", \"N\"]", x),
              (std::vector<double>{0, 2, 3, 0, 0, 6}));
    EXPECT_EQ(both("torch.tril(x + 1, -1)", "[\"M\", \"N\"]", x),
              (std::vector<double>{0, 0, 0, 4, 0, 0}));
  }
}

TEST(Movements, NothingIsLeftOfNothing) {
  EXPECT_TRUE(both("x[:, 1:]", "[\"M\", \"N - 1\"]", counted({3, 1})).empty());
  EXPECT_TRUE(both("x[:, ::2]", "[\"M\", \"(N + 1) // 2\"]", counted({3, 0})).empty());
  EXPECT_TRUE(both("x.flip(1)", "[\"M\", \"N\"]", counted({3, 0})).empty());
  EXPECT_EQ(both("x.flip(1)", "[\"M\", \"N\"]", counted({3, 1})), (std::vector<double>{0, 1, 2}));
}

TEST(Movements, OneCallChecksItsPlace) {
  const Tensor x = counted({2, 4});
  EXPECT_EQ(list(call("narrow", {x},
                      {{"dim", int64_t{-1}}, {"start", int64_t{1}}, {"length", int64_t{2}}})),
            (std::vector<double>{1, 2, 5, 6}));
  EXPECT_EQ(
      errorOf("narrow", {x}, {{"dim", int64_t{-1}}, {"start", int64_t{3}}, {"length", int64_t{2}}}),
      "E0604");
  EXPECT_EQ(
      errorOf("narrow", {x}, {{"dim", int64_t{-3}}, {"start", int64_t{0}}, {"length", int64_t{1}}}),
      "E0604");
  EXPECT_EQ(errorOf("squeeze", {x}, {{"dim", std::vector<int64_t>{-1}}}), "E0604");
  EXPECT_EQ(errorOf("squeeze", {}, {}), "E0608");
  const auto squeezed = runOperation("squeeze", std::vector<Tensor>{make({2, 1}, {1, 2})},
                                     {{"dim", int64_t{-1}}}, runtime::defaultPool());
  ASSERT_TRUE(squeezed); // a single dimension, as generated baselines write it
  EXPECT_EQ(squeezed->shape(), (std::vector<int64_t>{2}));
}

} // namespace
} // namespace nereid::eager
