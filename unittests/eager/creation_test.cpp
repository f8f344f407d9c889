// SPDX-License-Identifier: Apache-2.0
// What is made of sizes and numbers, of the baseline and the reference, against loops written out
// here; random numbers against a Philox of the test's own.
#include "unittests/eager/Values.h"

#include "lib/eager/reference/Reference.h"
#include "unittests/eager/Philox.h"

#include <array>
#include <cmath>

namespace nereid::eager {
namespace {

/// `out = expression` beside x [M, N] of this type, with the sizes 5 and 7: the reference's
/// numbers, near which the baseline's must be.
std::vector<double> both(const std::string &expression, const std::string &shape, DType dtype,
                         const std::string &resultType = "") {
  Diagnostics diags;
  auto op = definition::parseOperator(
      "t.toml",
      "[operator]\nname = \"t\"\nsummary = \"s\"\ndtypes = [\"" + std::string(torchName(dtype)) +
          "\"]\nbody = '''\nout = " + expression +
          "\n'''\n[inputs.x]\nshape = [\"M\", \"N\"]\n[inputs.p]\nvalue = 0.375\n"
          "[inputs.seed]\nvalue = 77\n[outputs.out]\nshape = " +
          shape + (resultType.empty() ? "" : "\ndtype = \"" + resultType + "\"") +
          "\n[performance]\ncases = [{ M = 5, N = 7 }]\n",
      diags);
  EXPECT_TRUE(op) << expression << "\n" << diags.render();
  if (!op) {
    return {};
  }
  Tensor x = Tensor::empty({5, 7}, dtype);
  for (int64_t i = 0; i < 35; ++i) {
    x.set(i, static_cast<double>(i % 11 + 1));
  }
  std::vector<Tensor> inputs = {x};
  auto outputs = runGraph(*op, inputs, runtime::defaultPool());
  auto reference =
      runReference(*op, inputs, dtype, Rounding::EachOperation, runtime::defaultPool());
  EXPECT_TRUE(outputs) << render(outputs.error());
  EXPECT_TRUE(reference) << render(reference.error());
  if (!outputs || !reference) {
    return {};
  }
  auto agrees =
      checkOutputs(*op, inputs, *outputs, dtype, Rounding::EachOperation, runtime::defaultPool());
  EXPECT_TRUE(agrees && agrees->passed()) << expression;
  return list((*reference)[0].values);
}

std::vector<double> counted(int64_t count, double start = 0, double step = 1) {
  std::vector<double> values;
  for (int64_t i = 0; i < count; ++i) {
    values.push_back(start + step * static_cast<double>(i));
  }
  return values;
}

TEST(Creation, NumbersAreWhereTheyBelong) {
  const std::string n = "[\"N\"]", both2 = "[\"M\", \"N\"]";
  EXPECT_EQ(both("torch.arange(N)", n, DType::F32, "int64"), counted(7));
  EXPECT_EQ(both("torch.arange(2, 2 * N, 3)", "[\"(2 * N) // 3\"]", DType::F32, "int64"),
            counted(4, 2, 3));
  EXPECT_EQ(both("torch.arange(N, 0, -2)", "[\"(N + 1) // 2\"]", DType::F32, "int64"),
            counted(4, 7, -2));
  EXPECT_EQ(both("torch.arange(0.0, 1.0, 0.25)", "[4]", DType::F32), counted(4, 0, 0.25));
  EXPECT_EQ(both("torch.arange(N, dtype=torch.int8)", n, DType::F32, "int8"), counted(7));
  EXPECT_EQ(both("torch.arange(N, dtype=x.dtype)", n, DType::F16), counted(7));
  EXPECT_EQ(both("torch.full((M, N), p, dtype=x.dtype)", both2, DType::F16),
            std::vector<double>(35, 0.375));
  EXPECT_EQ(both("torch.full((N,), 0.1, dtype=x.dtype)", n, DType::F16),
            std::vector<double>(7, fromHalf(toHalf(0.1)))); // rounded where it is made
  EXPECT_EQ(both("torch.full((N,), 2 * M)", n, DType::F32, "int64"), std::vector<double>(7, 10));
  EXPECT_EQ(both("torch.full((N,), True)", n, DType::F32, "bool"), std::vector<double>(7, 1));
  EXPECT_EQ(both("x.new_ones(N)", n, DType::F64), std::vector<double>(7, 1));
  EXPECT_EQ(both("torch.linspace(-1, 2, N)", n, DType::F64), counted(7, -1, 0.5));
  EXPECT_EQ(both("torch.linspace(3, 5, 1)", "[1]", DType::F64), std::vector<double>{3});
  std::vector<double> diagonal(35, 0);
  for (size_t i = 0; i < 5; ++i) {
    diagonal[i * 8] = 1;
  }
  EXPECT_EQ(both("torch.eye(M, N)", both2, DType::F32), diagonal);
}

TEST(Creation, TensorsAreMadeLikeOthers) {
  const std::string both2 = "[\"M\", \"N\"]";
  EXPECT_EQ(both("torch.ones_like(x)", both2, DType::F16), std::vector<double>(35, 1));
  EXPECT_EQ(both("torch.zeros_like(x) + 3", both2, DType::F32), std::vector<double>(35, 3));
  EXPECT_EQ(both("torch.full_like(x, p)", both2, DType::F64), std::vector<double>(35, 0.375));
  EXPECT_EQ(both("torch.full_like(x, 4, dtype=torch.int64)", both2, DType::F32, "int64"),
            std::vector<double>(35, 4));
  EXPECT_EQ(both("torch.ones_like(x.sum(dim=0))", "[\"N\"]", DType::F32),
            std::vector<double>(7, 1));
}

/// x[i] is i % 11 + 1, p is 0.375 and N is 7.
TEST(Creation, NumberInputsMakeNumbers) {
  const std::string both2 = "[\"M\", \"N\"]";
  const auto expect = [&](const std::string &expression, double factor) {
    for (const DType dtype : {DType::F32, DType::F64, DType::F16}) {
      const std::vector<double> values = both("(" + expression + ") * x", both2, dtype);
      ASSERT_EQ(values.size(), 35U) << expression;
      const double unit = dtype == DType::F16 ? 0x1p-10 : 1e-12;
      for (size_t i = 0; i < values.size(); ++i) {
        const double expected = factor * static_cast<double>(i % 11 + 1);
        EXPECT_NEAR(values[i], expected, unit * std::fabs(expected)) << expression << " " << i;
      }
    }
  };
  expect("1 - p", 0.625);
  expect("p * p", 0.140625);
  expect("-p / (1 - p)", -0.6);
  expect("1 - p ** 2", 1 - 0.140625);
  expect("p ** N", std::pow(0.375, 7));
  expect("math.sqrt(1 - p)", std::sqrt(0.625));
  expect("p * N - M", 0.375 * 7 - 5);
  expect("seed + 1", 78);
  expect("seed // 10 % 4", 3);
}

TEST(Creation, PositionsMakeMasks) {
  std::vector<double> expected;
  for (int64_t i = 0; i < 7; ++i) {
    for (int64_t j = 0; j < 7; ++j) {
      expected.push_back(std::abs(i - j) < 3 && j <= i ? 1 : 0);
    }
  }
  EXPECT_EQ(both("((torch.arange(N)[:, None] - torch.arange(N)[None, :]).abs() < 3) & "
                 "(torch.arange(N)[None, :] <= torch.arange(N)[:, None])",
                 "[\"N\", \"N\"]", DType::F32, "bool"),
            expected);
}

double uniformOf(uint32_t word) {
  const auto bits = static_cast<int32_t>(word);
  return static_cast<double>(bits < 0 ? -static_cast<int64_t>(bits) - 1 : bits) * 4.6566127342e-10;
}

TEST(Creation, RandomNumbersFollowFromSeedAndElement) {
  EXPECT_EQ(philox(0, 0, 0), (Words{0x6627e8d5, 0xe169c58d, 0xbc57ac4c, 0x9b00dbd8}));
  const std::string shape = "[\"M\", \"N\"]";
  const auto uniform = both("torch.rand(M, N, seed=seed)", shape, DType::F32);
  const auto shifted = both("torch.rand_like(x, seed=seed, offset=3)", shape, DType::F32);
  const auto drawn =
      both("torch.randint(-3, 9, (M, N), seed=5000000000)", shape, DType::F32, "int64");
  const auto kept = both("F.dropout(x, p, seed=seed)", shape, DType::F32);
  const auto truth = both("torch.bernoulli(x / 16, seed=seed)", shape, DType::F16);
  const auto normal = both("torch.normal(2.0, p, (M, N), seed=seed)", shape, DType::F32);
  for (size_t i = 0; i < 35; ++i) {
    const Words words = philox(77, i, 0);
    const double first = uniformOf(words[0]), second = uniformOf(words[1]);
    const double x = static_cast<double>(i % 11 + 1);
    EXPECT_NEAR(uniform[i], first, 1e-6) << i;
    EXPECT_NEAR(shifted[i], uniformOf(philox(77, i, 3)[0]), 1e-6) << i;
    EXPECT_EQ(drawn[i], static_cast<double>(philox(5000000000, i, 0)[0] % 12) - 3) << i;
    EXPECT_NEAR(kept[i], first >= 0.375 ? x / 0.625 : 0, 1e-4) << i;
    EXPECT_EQ(truth[i], first < x / 16 ? 1 : 0) << i;
    EXPECT_NEAR(normal[i],
                2 + 0.375 * std::sqrt(-2 * std::log(first)) * std::cos(2 * M_PI * second), 1e-5)
        << i;
  }
}

} // namespace
} // namespace nereid::eager
