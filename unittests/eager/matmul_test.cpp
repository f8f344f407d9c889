// SPDX-License-Identifier: Apache-2.0
// Matrix products against plain loops written here: shapes, types, strides, special values; and
// the reference's bounds for them.
#include "unittests/eager/Values.h"

#include "lib/eager/reference/Reference.h"

#include <fmt/format.h>

#include <cmath>
#include <functional>

namespace nereid::eager {
namespace {

Tensor normal(std::vector<int64_t> shape, uint64_t seed, DType dtype = DType::F32) {
  Tensor tensor = Tensor::empty(std::move(shape), dtype);
  runtime::fillNormal(tensor, seed);
  return tensor;
}

/// a [m, k] by b [k, n], element by element, from row-major numbers.
double product(const Tensor &a, const Tensor &b, int64_t row, int64_t column, int64_t matrixA = 0,
               int64_t matrixB = 0) {
  int64_t m = a.shape()[a.shape().size() - 2], k = a.shape().back(), n = b.shape().back();
  double sum = 0;
  for (int64_t i = 0; i < k; ++i) {
    sum += a.at((matrixA * m + row) * k + i) * b.at((matrixB * k + i) * n + column);
  }
  return sum;
}

Operator graphOf(const std::string &a, const std::string &b, const std::string &out,
                 const std::string &body = "c = a @ b") {
  Diagnostics diags;
  auto op = definition::parseOperator(
      "matmul.toml",
      "[operator]\nname = \"p\"\nsummary = \"s\"\ndtypes = [\"float32\", \"float16\", "
      "\"bfloat16\", \"float64\"]\nbody = '''\n" +
          body + "\n'''\n[inputs.a]\nshape = " + a + "\n[inputs.b]\nshape = " + b +
          "\n[outputs.c]\nshape = " + out +
          "\n[performance]\ntarget_speedup = 1.0\ncases = [{ M = 4, K = 4, N = 4" +
          (a.find('B') == std::string::npos ? "" : ", B = 2") + " }]\n",
      diags);
  EXPECT_TRUE(op) << diags.render();
  return *op;
}

const Operator &matrices() {
  static const Operator op = graphOf("[\"M\", \"K\"]", "[\"K\", \"N\"]", "[\"M\", \"N\"]");
  return op;
}

TEST(Matmul, EqualsPlainLoopsInEveryTypeAndSize) {
  for (DType dtype : {DType::F32, DType::F16, DType::BF16, DType::F64}) {
    for (auto [m, n, k] : std::vector<std::array<int64_t, 3>>{
             {1, 1, 1}, {3, 5, 7}, {129, 67, 101}, {200, 16, 33}, {7, 300, 64}}) {
      Tensor a = normal({m, k}, 1, dtype), b = normal({k, n}, 2, dtype);
      Tensor c = call("matmul", {a, b});
      ASSERT_EQ(c.shape(), (std::vector<int64_t>{m, n}));
      ASSERT_EQ(c.dtype(), dtype);
      double unit = dtype == DType::BF16  ? 0x1p-8
                    : dtype == DType::F16 ? 0x1p-11
                    : dtype == DType::F32 ? 0x1p-20
                                          : 0x1p-49;
      for (int64_t i = 0; i < m * n; ++i) {
        double expected = product(a, b, i / n, i % n);
        ASSERT_NEAR(c.at(i), expected, unit * (1 + std::fabs(expected)) * 4)
            << torchName(dtype) << " " << m << "x" << n << "x" << k << " at " << i;
      }
    }
  }
}

TEST(Matmul, LeadingDimensionsBroadcast) {
  Tensor a = normal({3, 1, 4, 5}, 1), b = normal({2, 5, 6}, 2);
  Tensor c = call("matmul", {a, b});
  ASSERT_EQ(c.shape(), (std::vector<int64_t>{3, 2, 4, 6}));
  for (int64_t i = 0; i < c.elementCount(); ++i) {
    int64_t matrix = i / 24, row = i / 6 % 4, column = i % 6;
    ASSERT_NEAR(c.at(i), product(a, b, row, column, matrix / 2, matrix % 2), 1e-5) << i;
  }
  Tensor same = call("bmm", {normal({3, 4, 5}, 3), normal({3, 5, 6}, 4)});
  EXPECT_EQ(same.shape(), (std::vector<int64_t>{3, 4, 6}));
}

TEST(Matmul, VectorsLendTheirOneDimension) {
  Tensor v = make({3}, {1, 2, 3}), m = make({3, 2}, {1, 2, 3, 4, 5, 6});
  EXPECT_EQ(list(call("matmul", {v, m})), (std::vector<double>{22, 28}));
  EXPECT_EQ(list(call("matmul", {make({2, 3}, {1, 2, 3, 4, 5, 6}), v})),
            (std::vector<double>{14, 32}));
  Tensor dot = call("matmul", {v, v});
  EXPECT_TRUE(dot.shape().empty());
  EXPECT_EQ(dot.at(0), 14);
  EXPECT_EQ(call("matmul", {v, normal({4, 3, 2}, 1)}).shape(), (std::vector<int64_t>{4, 2}));
}

TEST(Matmul, AnyStrides) {
  Tensor wide = normal({40, 50}, 1), b = normal({30, 20}, 2);
  auto transposed = std::get<Tensor>(wide.view(3, {35, 30}, {1, 50}));
  auto gapped = std::get<Tensor>(wide.view(50, {35, 30}, {50, 1}));
  auto repeated = std::get<Tensor>(b.view(0, {30, 20}, {0, 1}));
  for (const Tensor &a : {transposed, gapped}) {
    for (const Tensor &other : {b, repeated}) {
      Tensor c = call("matmul", {a, other});
      for (int64_t i = 0; i < c.elementCount(); ++i) {
        ASSERT_NEAR(c.at(i), product(a, other, i / 20, i % 20), 2e-5);
      }
    }
  }
}

TEST(Matmul, NothingToAddIsZeroAndEmptyStaysEmpty) {
  Tensor zero =
      call("matmul", {Tensor::empty({2, 0}, DType::F32), Tensor::empty({0, 3}, DType::F32)});
  EXPECT_EQ(list(zero), std::vector<double>(6, 0));
  Tensor none = call("matmul", {Tensor::empty({0, 4}, DType::F32), normal({4, 3}, 1)});
  EXPECT_EQ(none.shape(), (std::vector<int64_t>{0, 3}));
}

TEST(Matmul, SpecialValuesStayInTheirRowsAndColumns) {
  Tensor a = normal({70, 33}, 1), b = normal({33, 50}, 2);
  a.set(5 * 33 + 7, NAN);
  b.set(9 * 50 + 11, INFINITY);
  Tensor c = call("matmul", {a, b});
  for (int64_t i = 0; i < c.elementCount(); ++i) {
    EXPECT_EQ(std::isnan(c.at(i)), i / 50 == 5) << i;
    EXPECT_EQ(std::isfinite(c.at(i)), i / 50 != 5 && i % 50 != 11) << i;
  }
  auto agreement = checkOutputs(matrices(), std::vector{a, b}, std::vector{c}, DType::F32,
                                Rounding::OncePerResult, runtime::defaultPool());
  ASSERT_TRUE(agreement);
  EXPECT_TRUE(agreement->passed());
}

TEST(Matmul, SizesThatDoNotFitAreRefused) {
  std::string said = errorOf("matmul", {normal({2, 3}, 1), normal({4, 5}, 2)});
  EXPECT_NE(said.find("E0604"), std::string::npos) << said;
  EXPECT_NE(errorOf("matmul", {normal({2, 3}, 1), make({}, {1})}).find("E0604"), std::string::npos);
  EXPECT_NE(errorOf("matmul", {normal({2, 3, 4}, 1), normal({3, 4, 5}, 2)}).find("E0604"),
            std::string::npos);
}

/// VDPBF16PS gives 0 for sums that are no normal numbers.
TEST(Matmul, SumsBelowTheNormalNumbersMayBeLost) {
  auto mismatches = [](double magnitude) {
    const std::vector<Tensor> in = {make({1, 2}, {magnitude, magnitude}),
                                    make({2, 1}, {magnitude, magnitude})};
    auto agreement = checkOutputs(matrices(), in, std::vector{make({1, 1}, {0})}, DType::F32,
                                  Rounding::OncePerResult, runtime::defaultPool());
    EXPECT_TRUE(agreement);
    return agreement->mismatches;
  };
  EXPECT_EQ(mismatches(5e-20), 0);
  EXPECT_EQ(mismatches(5e-19), 1);
}

/// A sum of products that leave the range of double may be an infinity or no number, in some order.
TEST(Matmul, SumsBeyondTheRangeOfFloat64AreOpen) {
  const double big = 1e200, inf = std::numeric_limits<double>::infinity();
  auto check = [](const std::vector<double> &a, const std::vector<double> &b, double written) {
    const std::vector<Tensor> in = {make({1, 2}, a, DType::F64), make({2, 1}, b, DType::F64)};
    auto agreement = checkOutputs(matrices(), in, std::vector{make({1, 1}, {written}, DType::F64)},
                                  DType::F64, Rounding::OncePerResult, runtime::defaultPool());
    EXPECT_TRUE(agreement);
    return *agreement;
  };
  EXPECT_EQ(check({big, -big}, {big, 2 * big}, std::nan("")).unverifiable, 1);
  EXPECT_EQ(check({inf, 1}, {big, 1}, inf).unverifiable, 0);
  EXPECT_EQ(check({inf, 1}, {big, 1}, std::nan("")).mismatches, 1);
}

/// It takes factors of bfloat16 that are no normal numbers for 0, whatever multiplies them.
TEST(Matmul, FactorsBelowTheNormalNumbersMayBeLost) {
  auto mismatches = [](double small, DType dtype, double written) {
    const std::vector<Tensor> in = {make({1, 2}, {small, 1}, dtype),
                                    make({2, 1}, {std::ldexp(1.0, 120), 1}, dtype)};
    auto agreement = checkOutputs(matrices(), in, std::vector{make({1, 1}, {written}, dtype)},
                                  dtype, Rounding::OncePerResult, runtime::defaultPool());
    EXPECT_TRUE(agreement);
    return agreement->mismatches;
  };
  const double below = std::ldexp(1.0, -128), normal = std::ldexp(1.0, -126);
  const double sum = 1 + std::ldexp(1.0, -8);
  EXPECT_EQ(mismatches(below, DType::BF16, 1), 0);
  EXPECT_EQ(mismatches(below, DType::F32, 1), 1);
  EXPECT_EQ(mismatches(below, DType::F32, sum), 0);
  EXPECT_EQ(mismatches(below, DType::BF16, 1.25), 1);
  EXPECT_EQ(mismatches(normal, DType::BF16, 0.875), 1);
}

/// Tensor cores of a GPU count such a factor of float16 as if it were the least normal number, and
/// drop digits of the others that are that far below. Measured on an H200: the sum is 0.
TEST(Matmul, FactorsOfFloat16BelowTheNormalNumbersTakeDigitsOfTheOthers) {
  auto mismatches = [](double first, double by, double written) {
    const std::vector<Tensor> in = {
        make({1, 3}, {first, -0x1p-7, 0x1.4p-11}, DType::F16),
        make({3, 1}, {by, 1, 0x1p-14}, DType::F16),
    };
    auto agreement = checkOutputs(matrices(), in, std::vector{make({1, 1}, {written}, DType::F16)},
                                  DType::F16, Rounding::OncePerResult, runtime::defaultPool());
    EXPECT_TRUE(agreement);
    return agreement->mismatches;
  };
  EXPECT_EQ(mismatches(0x1p-20, 0x1p13, 0x1p-24), 0);
  EXPECT_EQ(mismatches(0x1p-20, 0x1p13, 0), 0);
  EXPECT_EQ(mismatches(0x1p-20, 0x1p13, 0x1p-20), 1);
  EXPECT_EQ(mismatches(0x1p-7, 1, 0), 1);
}

TEST(Matmul, ReferenceBoundsHoldAndFindOneWrongElement) {
  for (DType dtype : {DType::F32, DType::F16, DType::BF16, DType::F64}) {
    std::vector<Tensor> in = {normal({300, 257}, 1, dtype), normal({257, 130}, 2, dtype)};
    Tensor c = call("matmul", in);
    auto check = [&] {
      auto agreement = checkOutputs(matrices(), in, std::vector{c}, dtype, Rounding::EachOperation,
                                    runtime::defaultPool());
      EXPECT_TRUE(agreement) << render(agreement.error());
      return *agreement;
    };
    Comparison right = check();
    EXPECT_TRUE(right.passed()) << torchName(dtype) << " " << right.worstRatio;
    EXPECT_EQ(right.elements, 300 * 130);
    EXPECT_EQ(right.unverifiable, 0);
    // One product left out of the sum.
    int64_t at = 211 * 130 + 77;
    c.set(at, c.at(at) - in[0].at(211 * 257 + 100) * in[1].at(100 * 130 + 77));
    Comparison wrong = check();
    EXPECT_EQ(wrong.mismatches, 1) << torchName(dtype);
    EXPECT_EQ(wrong.first.index, at);
  }
}

TEST(Matmul, ReferenceKnowsBatchesAndErrorsOfOperands) {
  Operator op = graphOf("[\"B\", \"M\", \"K\"]", "[\"K\", \"N\"]", "[\"B\", \"M\"]",
                        "c = torch.sum(torch.exp(a) @ torch.tanh(b), dim=-1)");
  std::vector<Tensor> in = {normal({5, 60, 70}, 1), normal({70, 80}, 2)};
  auto c = runGraph(op, in, runtime::defaultPool());
  ASSERT_TRUE(c);
  auto agreement =
      checkOutputs(op, in, *c, DType::F32, Rounding::EachOperation, runtime::defaultPool());
  ASSERT_TRUE(agreement);
  EXPECT_TRUE(agreement->passed()) << agreement->worstRatio;
  EXPECT_EQ(agreement->elements, 300);
  (*c)[0].set(299, (*c)[0].at(299) * 1.001);
  agreement = checkOutputs(op, in, *c, DType::F32, Rounding::EachOperation, runtime::defaultPool());
  ASSERT_TRUE(agreement);
  EXPECT_EQ(agreement->first.index, 299);
}

/// linear, addmm, baddbmm, addmv, mv, dot and outer, which bodies may call, by plain sums.
TEST(Matmul, FunctionsOfProducts) {
  const std::vector<Tensor> in = {normal({3, 4}, 1),    normal({5, 4}, 2), normal({5}, 3),
                                  normal({3, 5}, 4),    normal({4, 5}, 5), normal({2, 3, 4}, 6),
                                  normal({2, 4, 5}, 7), normal({4}, 8),    normal({3}, 9)};
  auto result = [&](const std::string &body, const std::string &shape) {
    Diagnostics diags;
    std::string inputs;
    const char *shapes[] = {"3, 4", "5, 4", "5", "3, 5", "4, 5", "2, 3, 4", "2, 4, 5", "4", "3"};
    for (size_t i = 0; i < in.size(); ++i) {
      inputs += fmt::format("[inputs.{}]\nshape = [{}]\n", "xwbcmpqvu"[i], shapes[i]);
    }
    auto op = definition::parseOperator(
        "t.toml",
        "[operator]\nname='t'\nsummary='s'\ndtypes=['float32']\nbody='out = " + body + "'\n" +
            inputs + "[outputs.out]\nshape=[" + shape + "]\n[performance]\ncases=[{name='one'}]\n",
        diags);
    EXPECT_TRUE(op) << diags.render();
    auto reference =
        runReference(*op, in, DType::F32, Rounding::OncePerResult, runtime::defaultPool());
    EXPECT_TRUE(reference) << body;
    return (*reference)[0].values;
  };
  auto sum = [](int64_t n, const std::function<double(int64_t)> &term) {
    double total = 0;
    for (int64_t k = 0; k < n; ++k) {
      total += term(k);
    }
    return total;
  };
  auto expect = [&](const std::string &body, const std::string &shape, int64_t n,
                    const std::function<double(int64_t)> &wanted) {
    const Tensor found = result(body, shape);
    ASSERT_EQ(found.elementCount(), n) << body;
    for (int64_t i = 0; i < n; ++i) {
      EXPECT_NEAR(found.at(i), wanted(i), 1e-6) << body << " " << i;
    }
  };
  const Tensor &x = in[0], &w = in[1], &b = in[2], &c = in[3], &m = in[4], &p = in[5], &q = in[6],
               &v = in[7], &u = in[8];
  auto turned = [&](int64_t i) {
    return sum(4, [&](int64_t k) { return x.at(i / 5 * 4 + k) * w.at(i % 5 * 4 + k); });
  };
  auto plain = [&](int64_t i) {
    return sum(4, [&](int64_t k) { return x.at(i / 5 * 4 + k) * m.at(k * 5 + i % 5); });
  };
  auto batch = [&](int64_t i) {
    return sum(4,
               [&](int64_t k) { return p.at(i / 5 * 4 + k) * q.at(i / 15 * 20 + k * 5 + i % 5); });
  };
  auto row = [&](int64_t i) {
    return sum(4, [&](int64_t k) { return x.at(i * 4 + k) * v.at(k); });
  };
  expect("F.linear(x, w)", "3, 5", 15, turned);
  expect("F.linear(x, w, b)", "3, 5", 15, [&](int64_t i) { return turned(i) + b.at(i % 5); });
  expect("torch.addmm(c, x, m)", "3, 5", 15, [&](int64_t i) { return c.at(i) + plain(i); });
  expect("torch.addmm(c, x, m, beta=0.5, alpha=2.0)", "3, 5", 15,
         [&](int64_t i) { return 0.5 * c.at(i) + 2 * plain(i); });
  expect("torch.addmm(c / 0, x, m, beta=0)", "3, 5", 15, plain);
  expect("torch.baddbmm(c, p, q, alpha=3)", "2, 3, 5", 30,
         [&](int64_t i) { return c.at(i % 15) + 3 * batch(i); });
  expect("torch.addmv(u, x, v, beta=-1)", "3", 3, [&](int64_t i) { return row(i) - u.at(i); });
  expect("torch.mv(x, v)", "3", 3, row);
  expect("torch.dot(v, v)", "", 1,
         [&](int64_t) { return sum(4, [&](int64_t k) { return v.at(k) * v.at(k); }); });
  expect("torch.outer(u, v)", "3, 4", 12, [&](int64_t i) { return u.at(i / 4) * v.at(i % 4); });
}

} // namespace
} // namespace nereid::eager
