// SPDX-License-Identifier: Apache-2.0
// Reductions and row-wise composites over every choice of dimensions, against loops in long double.
#include "unittests/eager/Values.h"

#include <cmath>
#include <limits>

namespace nereid::eager {
namespace {

constexpr double inf = std::numeric_limits<double>::infinity();
const double nan = std::numeric_limits<double>::quiet_NaN();

/// Values of one reduced group, in order.
long double reduceList(const std::string &op, const std::vector<double> &values,
                       int64_t correction) {
  long double sum = 0, product = 1, largest = -inf, smallest = inf;
  for (double value : values) {
    sum += value;
    product *= value;
    largest = std::max<long double>(largest, value);
    smallest = std::min<long double>(smallest, value);
  }
  auto n = static_cast<long double>(values.size());
  if (op == "sum") {
    return sum;
  }
  if (op == "prod") {
    return product;
  }
  if (op == "amax") {
    return largest;
  }
  if (op == "amin") {
    return smallest;
  }
  if (op == "mean") {
    return sum / n;
  }
  long double squares = 0;
  for (double value : values) {
    squares += (value - sum / n) * (value - sum / n);
  }
  long double variance = squares / (n - static_cast<long double>(correction));
  return op == "std" ? std::sqrt(variance) : variance;
}

struct Shape3 {
  int64_t a, b, c;
};

class ReductionTest : public testing::TestWithParam<std::string> {};

TEST_P(ReductionTest, EveryChoiceOfDimensions) {
  std::string op = GetParam();
  for (Shape3 s : {Shape3{2, 3, 5}, {4, 1, 300}, {1, 70, 2}, {3, 40, 129}}) {
    Tensor in = Tensor::empty({s.a, s.b, s.c}, DType::F32);
    runtime::fillUniform(in, 7, 0.5, 1.5);
    for (int mask = 1; mask < 8; ++mask) {
      std::vector<int64_t> dims;
      for (int64_t d = 0; d < 3; ++d) {
        if (mask >> d & 1) {
          dims.push_back(d - (mask & 1 ? 3 : 0)); // both ways of counting
        }
      }
      int64_t sizes[3] = {s.a, s.b, s.c}, kept[3], length = 1;
      for (int d = 0; d < 3; ++d) {
        kept[d] = mask >> d & 1 ? 1 : sizes[d];
        length *= mask >> d & 1 ? sizes[d] : 1;
      }
      bool needsTwo = op == "var" || op == "std";
      if (needsTwo && length < 2) {
        continue;
      }
      Tensor out = call(op, {in}, {{"dim", dims}, {"keepdim", true}});
      ASSERT_EQ(out.shape(), (std::vector<int64_t>{kept[0], kept[1], kept[2]}));
      std::vector<std::vector<double>> groups(static_cast<size_t>(out.elementCount()));
      for (int64_t i = 0; i < s.a * s.b * s.c; ++i) {
        int64_t at[3] = {i / (s.b * s.c), i / s.c % s.b, i % s.c};
        for (int d = 0; d < 3; ++d) {
          at[d] = mask >> d & 1 ? 0 : at[d];
        }
        groups[static_cast<size_t>((at[0] * kept[1] + at[1]) * kept[2] + at[2])].push_back(
            in.at(i));
      }
      for (size_t g = 0; g < groups.size(); ++g) {
        auto expected = static_cast<double>(reduceList(op, groups[g], 1));
        double allowed = (std::fabs(expected) + (needsTwo ? 0.1 : 0)) *
                             static_cast<double>(length + 4) * std::ldexp(1.0, -24) +
                         std::ldexp(1.0, -126); // products underflow
        ASSERT_NEAR(out.at(static_cast<int64_t>(g)), expected, allowed)
            << op << " mask " << mask << " group " << g;
      }
    }
  }
}

INSTANTIATE_TEST_SUITE_P(All, ReductionTest,
                         testing::Values("sum", "mean", "prod", "amax", "amin", "var", "std"));

TEST(Reduction, LargeSingleResultUsesPieces) {
  Tensor in = Tensor::empty({1 << 20}, DType::F32);
  runtime::fillUniform(in, 3, -1, 3);
  long double sum = 0, squares = 0;
  for (int64_t i = 0; i < in.elementCount(); ++i) {
    sum += in.at(i);
  }
  long double mean = sum / (1 << 20);
  for (int64_t i = 0; i < in.elementCount(); ++i) {
    squares += (in.at(i) - mean) * (in.at(i) - mean);
  }
  EXPECT_NEAR(call("mean", {in}).at(0), static_cast<double>(mean), 1e-6);
  EXPECT_NEAR(call("var", {in}, {{"correction", int64_t{0}}}).at(0),
              static_cast<double>(squares / (1 << 20)), 1e-5);
}

TEST(Reduction, VarianceOfDistantValuesDoesNotCancel) {
  std::vector<double> values;
  for (int i = 0; i < 10000; ++i) {
    values.push_back(1e4 + (i % 2 ? 1 : -1));
  }
  EXPECT_NEAR(call("var", {make({10000}, values)}, {{"correction", int64_t{0}}}).at(0), 1, 1e-3);
}

TEST(Reduction, NanAndInfinity) {
  Tensor in = make({2, 20}, std::vector<double>(40, 1.0));
  in.set(7, nan);
  in.set(25, inf);
  for (const char *op : {"sum", "mean", "amax", "amin", "prod", "var"}) {
    for (int64_t dim : {1, 0}) {
      Tensor out = call(op, {in}, {{"dim", dim}});
      EXPECT_TRUE(std::isnan(out.at(dim == 1 ? 0 : 7))) << op << dim;
    }
  }
  EXPECT_EQ(call("amax", {in}, {{"dim", int64_t{1}}}).at(1), inf);
  EXPECT_EQ(call("amin", {in}, {{"dim", int64_t{1}}}).at(1), 1);
}

TEST(Reduction, Empty) {
  Tensor empty = make({3, 0}, {});
  EXPECT_EQ(list(call("sum", {empty}, {{"dim", int64_t{1}}})), (std::vector<double>{0, 0, 0}));
  EXPECT_EQ(list(call("prod", {empty}, {{"dim", int64_t{1}}})), (std::vector<double>{1, 1, 1}));
  EXPECT_TRUE(std::isnan(call("mean", {empty}, {{"dim", int64_t{1}}}).at(0)));
  EXPECT_EQ(errorOf("amax", {empty}, {{"dim", int64_t{1}}}), "E0604");
  EXPECT_EQ(call("amax", {empty}, {{"dim", int64_t{0}}}).elementCount(), 0);
  EXPECT_EQ(call("softmax", {empty}, {{"dim", int64_t{-1}}}).elementCount(), 0);
  EXPECT_EQ(errorOf("softmax", {empty}), "E0608");
  EXPECT_EQ(errorOf("sum", {empty}, {{"dim", int64_t{5}}}), "E0604");
}

TEST(Reduction, SixteenBitsAccumulateWider) {
  Tensor in = make({4096}, std::vector<double>(4096, 1.0), DType::F16);
  EXPECT_EQ(call("sum", {in}).at(0), 4096); // a float16 running sum would stop at 2048
  Tensor columns = make({4096, 1}, std::vector<double>(4096, 1.0), DType::BF16);
  EXPECT_EQ(call("sum", {columns}, {{"dim", int64_t{0}}}).at(0), 4096);
}

std::vector<double> softmaxOf(const std::vector<double> &row, bool logarithm) {
  long double largest = -inf, total = 0;
  for (double x : row) {
    largest = std::max<long double>(largest, x);
  }
  for (double x : row) {
    total += std::exp(x - largest);
  }
  std::vector<double> out;
  for (double x : row) {
    out.push_back(static_cast<double>(logarithm ? x - largest - std::log(total)
                                                : std::exp(x - largest) / total));
  }
  return out;
}

TEST(Composite, SoftmaxAlongAnyDimension) {
  for (DType dtype : {DType::F32, DType::F64, DType::F16}) {
    Tensor in = Tensor::empty({6, 37}, dtype);
    runtime::fillUniform(in, 5, -20, 20);
    double allowed = dtype == DType::F16 ? 2e-3 : dtype == DType::F32 ? 2e-6 : 1e-13;
    for (const char *op : {"softmax", "log_softmax"}) {
      bool logarithm = std::string(op) == "log_softmax";
      for (int64_t dim : {-1, -2}) {
        Tensor out = call(op, {in}, {{"dim", dim}});
        int64_t groups = dim == -1 ? 6 : 37, length = 222 / groups;
        for (int64_t g = 0; g < groups; ++g) {
          std::vector<double> row;
          auto index = [&](int64_t i) { return dim == -1 ? g * 37 + i : i * 37 + g; };
          for (int64_t i = 0; i < length; ++i) {
            row.push_back(in.at(index(i)));
          }
          std::vector<double> expected = softmaxOf(row, logarithm);
          for (int64_t i = 0; i < length; ++i) {
            double want = expected[static_cast<size_t>(i)];
            EXPECT_NEAR(out.at(index(i)), want, allowed * (1 + std::fabs(want))) << op << dim;
          }
        }
      }
    }
  }
}

TEST(Composite, SoftmaxOfMaskedRows) {
  std::vector<double> row(40, -inf);
  row[3] = 2;
  row[17] = 2;
  std::vector<double> out = list(call("softmax", {make({1, 40}, row)}, {{"dim", int64_t{-1}}}));
  for (size_t i = 0; i < out.size(); ++i) {
    EXPECT_EQ(out[i], i == 3 || i == 17 ? 0.5 : 0.0);
  }
  EXPECT_EQ(call("logsumexp", {make({2}, {-inf, -inf})}, {{"dim", int64_t{0}}}).at(0), -inf);
}

TEST(Composite, Norms) {
  Tensor in = Tensor::empty({5, 100}, DType::F32);
  runtime::fillNormal(in, 11);
  Tensor weight = Tensor::empty({100}, DType::F32), bias = Tensor::empty({100}, DType::F32);
  runtime::fillNormal(weight, 12);
  runtime::fillNormal(bias, 13);
  std::vector<int64_t> shape = {100};
  Tensor layer =
      call("layer_norm", {in, weight, bias, numberTensor(1e-5)}, {{"normalized_shape", shape}});
  Tensor plain = call("layer_norm", {in}, {{"normalized_shape", shape}});
  Tensor rms = call("rms_norm", {in, weight, numberTensor(1e-6)}, {{"dim", int64_t{-1}}});
  for (int64_t r = 0; r < 5; ++r) {
    double mean = 0, squares = 0, power = 0;
    for (int64_t c = 0; c < 100; ++c) {
      mean += in.at(r * 100 + c) / 100;
      power += in.at(r * 100 + c) * in.at(r * 100 + c) / 100;
    }
    for (int64_t c = 0; c < 100; ++c) {
      squares += std::pow(in.at(r * 100 + c) - mean, 2) / 100;
    }
    for (int64_t c = 0; c < 100; ++c) {
      int64_t i = r * 100 + c;
      double normal = (in.at(i) - mean) / std::sqrt(squares + 1e-5);
      EXPECT_NEAR(plain.at(i), normal, 1e-5);
      EXPECT_NEAR(layer.at(i), normal * weight.at(c) + bias.at(c), 1e-5);
      EXPECT_NEAR(rms.at(i), in.at(i) / std::sqrt(power + 1e-6) * weight.at(c), 1e-5);
    }
  }
  EXPECT_EQ(errorOf("layer_norm", {in}, {{"normalized_shape", std::vector<int64_t>{99}}}), "E0604");
}

} // namespace
} // namespace nereid::eager
