// SPDX-License-Identifier: Apache-2.0
// Pointwise operations against the C library element by element, with broadcasting, strides, types
// and special values.
#include "unittests/eager/Values.h"

#include <cmath>
#include <limits>

namespace nereid::eager {
namespace {

constexpr double inf = std::numeric_limits<double>::infinity();
const double nan = std::numeric_limits<double>::quiet_NaN();

struct Unary {
  const char *name;
  double (*reference)(double);
};

const Unary unaries[] = {
    {"neg", [](double x) { return -x; }},
    {"abs", [](double x) { return std::fabs(x); }},
    {"exp", [](double x) { return std::exp(x); }},
    {"exp2", [](double x) { return std::exp2(x); }},
    {"expm1", [](double x) { return std::expm1(x); }},
    {"log", [](double x) { return std::log(x); }},
    {"log2", [](double x) { return std::log2(x); }},
    {"log1p", [](double x) { return std::log1p(x); }},
    {"sqrt", [](double x) { return std::sqrt(x); }},
    {"rsqrt", [](double x) { return 1 / std::sqrt(x); }},
    {"reciprocal", [](double x) { return 1 / x; }},
    {"square", [](double x) { return x * x; }},
    {"sin", [](double x) { return std::sin(x); }},
    {"cos", [](double x) { return std::cos(x); }},
    {"tanh", [](double x) { return std::tanh(x); }},
    {"sigmoid", [](double x) { return 1 / (1 + std::exp(-x)); }},
    {"erf", [](double x) { return std::erf(x); }},
    {"erfc", [](double x) { return std::erfc(x); }},
    {"relu", [](double x) { return x < 0 ? 0.0 : x; }},
    {"gelu", [](double x) { return 0.5 * x * (1 + std::erf(x / std::sqrt(2.0))); }},
    {"silu", [](double x) { return x / (1 + std::exp(-x)); }},
    {"mish", [](double x) { return x * std::tanh(std::log1p(std::exp(x))); }},
    {"softplus", [](double x) { return x > 20 ? x : std::log1p(std::exp(x)); }},
    {"elu", [](double x) { return x > 0 ? x : std::expm1(x); }},
    {"leaky_relu", [](double x) { return x < 0 ? 0.01 * x : x; }},
    {"hardsigmoid", [](double x) { return std::min(1.0, std::max(0.0, (x + 3) / 6)); }},
    {"hardswish", [](double x) { return x * std::min(1.0, std::max(0.0, (x + 3) / 6)); }},
    {"floor", [](double x) { return std::floor(x); }},
    {"ceil", [](double x) { return std::ceil(x); }},
    {"round", [](double x) { return std::nearbyint(x); }},
    {"trunc", [](double x) { return std::trunc(x); }},
    {"sign", [](double x) { return x > 0   ? 1.0
                                   : x < 0 ? -1.0
                                           : x; }},
};

/// Sizes that leave remainders of every vector width, values over the useful range.
std::vector<double> spread(int64_t n, bool positive) {
  std::vector<double> values;
  for (int64_t i = 0; i < n; ++i) {
    double x = -12 + 24.0 * static_cast<double>(i) / static_cast<double>(n);
    values.push_back(static_cast<float>(positive ? std::fabs(x) + 1e-3 : x));
  }
  return values;
}

class UnaryTest : public testing::TestWithParam<Unary> {};

TEST_P(UnaryTest, AgreesWithTheCLibrary) {
  std::string name = GetParam().name;
  bool positive = name == "log" || name == "log2" || name == "log1p" || name == "sqrt" ||
                  name == "rsqrt" || name == "reciprocal";
  for (DType dtype : {DType::F32, DType::F64}) {
    double unit = dtype == DType::F32 ? std::ldexp(1.0, -24) : std::ldexp(1.0, -53);
    for (int64_t n : {1, 7, 1029}) {
      std::vector<double> values = spread(n, positive);
      Tensor out = call(name, {make({n}, values, dtype)});
      for (int64_t i = 0; i < n; ++i) {
        double x = values[static_cast<size_t>(i)], expected = GetParam().reference(x);
        // gelu and silu lose to cancellation and range where the result is tiny against x.
        double scale =
            std::fabs(expected) +
            (name == "gelu" || name == "mish" || name == "silu" ? std::fabs(x) * 0.5 : 0);
        if (name == "sin" || name == "cos" || name == "log") {
          scale += 1;
        }
        double spacing = dtype == DType::F32 ? std::ldexp(1.0, -149) : 0; // of subnormal results
        EXPECT_NEAR(out.at(i), expected, 16 * unit * scale + spacing) << name << "(" << x << ")";
      }
    }
  }
}

INSTANTIATE_TEST_SUITE_P(All, UnaryTest, testing::ValuesIn(unaries),
                         [](const auto &info) { return std::string(info.param.name); });

TEST(Pointwise, SpecialValuesOfFunctions) {
  for (DType dtype : {DType::F32, DType::F64}) {
    // Enough elements that the vector path sees them, not only the remainder.
    std::vector<double> special;
    for (int i = 0; i < 16; ++i) {
      special.insert(special.end(), {nan, inf, -inf, 0.0});
    }
    Tensor in = make({64}, special, dtype);
    auto first = [&](const char *op) {
      std::vector<double> all = list(call(op, {in}));
      for (size_t i = 4; i < all.size(); ++i) {
        EXPECT_TRUE(all[i] == all[i % 4] || (std::isnan(all[i]) && std::isnan(all[i % 4]))) << op;
      }
      return std::vector<double>(all.begin(), all.begin() + 4);
    };
    auto expect = [&](const char *op, double n, double p, double m, double z) {
      std::vector<double> got = first(op), want = {n, p, m, z};
      for (size_t i = 0; i < 4; ++i) {
        EXPECT_TRUE(got[i] == want[i] || (std::isnan(got[i]) && std::isnan(want[i])))
            << op << " of element " << i << " gives " << got[i] << ", not " << want[i];
      }
    };
    expect("exp", nan, inf, 0, 1);
    expect("log", nan, inf, nan, -inf);
    expect("sqrt", nan, inf, nan, 0);
    expect("rsqrt", nan, 0, nan, inf);
    expect("tanh", nan, 1, -1, 0);
    expect("erf", nan, 1, -1, 0);
    expect("sigmoid", nan, 1, 0, 0.5);
    expect("relu", nan, inf, 0, 0);
    expect("abs", nan, inf, inf, 0);
    expect("sign", 0, 1, -1, 0);
    expect("isnan", 1, 0, 0, 0);
    expect("isinf", 0, 1, 1, 0);
    expect("isfinite", 0, 0, 0, 1);
    expect("gelu", nan, inf, nan, 0);
  }
}

TEST(Pointwise, ExpOverItsWholeRange) {
  for (float x = -110; x < 95; x += 0.37f) {
    Tensor out = call("exp", {make({17}, std::vector<double>(17, x))});
    auto expected = static_cast<float>(std::exp(static_cast<double>(x)));
    double allowed = std::fabs(expected) * 8 * std::ldexp(1.0, -24) + 1.2e-38;
    if (std::isinf(expected)) {
      EXPECT_EQ(out.at(0), inf) << x;
    } else {
      EXPECT_NEAR(out.at(0), expected, allowed) << x;
    }
  }
}

TEST(Pointwise, ExtremaPropagateNan) {
  std::vector<double> a = {nan, 1, 2, inf}, b = {1, nan, 3, -inf};
  for (const char *op : {"maximum", "minimum"}) {
    std::vector<double> got = list(call(op, {make({4}, a), make({4}, b)}));
    EXPECT_TRUE(std::isnan(got[0]) && std::isnan(got[1])) << op;
  }
  EXPECT_EQ(call("maximum", {make({4}, a), make({4}, b)}).at(2), 3);
  std::vector<double> clamped =
      list(call("clamp", {make({4}, a), numberTensor(0), numberTensor(1.5)}));
  EXPECT_TRUE(std::isnan(clamped[0]));
  EXPECT_EQ(clamped[2], 1.5);
  EXPECT_EQ(clamped[3], 1.5);
}

TEST(Pointwise, BroadcastsLikeTheDefinition) {
  for (auto [rows, columns] : {std::pair<int64_t, int64_t>{3, 5}, {1, 1}, {7, 1031}, {40, 1}}) {
    std::vector<double> x, y, z;
    for (int64_t i = 0; i < rows * columns; ++i) {
      x.push_back(static_cast<double>(i % 97));
    }
    for (int64_t i = 0; i < columns; ++i) {
      y.push_back(static_cast<double>(1000 * i));
    }
    for (int64_t i = 0; i < rows; ++i) {
      z.push_back(static_cast<double>(i) / 2);
    }
    Tensor wide = call("add", {make({rows, columns}, x), make({columns}, y)});
    Tensor tall = call("sub", {make({rows, 1}, z), make({1, columns}, y)});
    ASSERT_EQ(wide.shape(), (std::vector<int64_t>{rows, columns}));
    for (int64_t r = 0; r < rows; ++r) {
      for (int64_t c = 0; c < columns; ++c) {
        int64_t i = r * columns + c;
        ASSERT_EQ(wide.at(i), x[static_cast<size_t>(i)] + y[static_cast<size_t>(c)]);
        ASSERT_EQ(tall.at(i), z[static_cast<size_t>(r)] - y[static_cast<size_t>(c)]);
      }
    }
  }
}

TEST(Pointwise, MiddleDimensionsBroadcast) {
  Tensor scores = make({2, 3, 2, 4}, {});
  Tensor mask = make({2, 1, 1, 4}, {0, 1, 2, 3, 10, 11, 12, 13});
  for (int64_t i = 0; i < 48; ++i) {
    scores.set(i, static_cast<double>(100 * i));
  }
  Tensor out = call("add", {scores, mask});
  for (int64_t i = 0; i < 48; ++i) {
    EXPECT_EQ(out.at(i), 100.0 * static_cast<double>(i) + mask.at(i / 24 * 4 + i % 4));
  }
}

TEST(Pointwise, StridedInputs) {
  std::vector<float> storage(200);
  for (size_t i = 0; i < storage.size(); ++i) {
    storage[i] = static_cast<float>(i);
  }
  Tensor transposed = Tensor::borrow(storage.data(), {5, 4}, DType::F32, {1, 7});
  Tensor out = call("mul", {transposed, numberTensor(2)});
  Tensor negated = call("neg", {transposed});
  EXPECT_TRUE(out.isContiguous());
  for (int64_t r = 0; r < 5; ++r) {
    for (int64_t c = 0; c < 4; ++c) {
      EXPECT_EQ(out.at(r * 4 + c), 2.0 * static_cast<double>(r + 7 * c));
      EXPECT_EQ(negated.at(r * 4 + c), -static_cast<double>(r + 7 * c));
    }
  }
}

TEST(Pointwise, SixteenBitFloatsRoundOnce) {
  for (DType dtype : {DType::F16, DType::BF16}) {
    std::vector<double> a, b;
    for (int i = 0; i < 1000; ++i) {
      a.push_back(0.1 * i - 31);
      b.push_back(3.7 - 0.013 * i);
    }
    Tensor x = make({1000}, a, dtype), y = make({1000}, b, dtype);
    Tensor sum = call("add", {x, y}), product = call("mul", {x, y});
    ASSERT_EQ(sum.dtype(), dtype);
    for (int64_t i = 0; i < 1000; ++i) {
      uint16_t s = dtype == DType::F16 ? toHalf(x.at(i) + y.at(i)) : toBFloat16(x.at(i) + y.at(i));
      uint16_t p = dtype == DType::F16 ? toHalf(x.at(i) * y.at(i)) : toBFloat16(x.at(i) * y.at(i));
      EXPECT_EQ(sum.as<uint16_t>()[i], s);
      EXPECT_EQ(product.as<uint16_t>()[i], p);
    }
  }
}

TEST(Pointwise, ComparisonsAndSelection) {
  Tensor a = make({4}, {1, 2, 3, nan}), b = make({4}, {1, 3, 2, 1});
  EXPECT_EQ(call("eq", {a, b}).dtype(), DType::Bool);
  EXPECT_EQ(list(call("eq", {a, b})), (std::vector<double>{1, 0, 0, 0}));
  EXPECT_EQ(list(call("ne", {a, b})), (std::vector<double>{0, 1, 1, 1}));
  EXPECT_EQ(list(call("lt", {a, b})), (std::vector<double>{0, 1, 0, 0}));
  EXPECT_EQ(list(call("ge", {a, b})), (std::vector<double>{1, 0, 1, 0}));
  Tensor mask = call("gt", {b, numberTensor(1.5)});
  EXPECT_EQ(list(call("where", {mask, b, numberTensor(-1)})), (std::vector<double>{-1, 3, 2, -1}));
  EXPECT_EQ(list(call("masked_fill", {b, mask, numberTensor(-inf)})),
            (std::vector<double>{1, -inf, -inf, 1}));
  EXPECT_EQ(list(call("logical_not", {mask})), (std::vector<double>{1, 0, 0, 1}));
  EXPECT_EQ(list(call("logical_xor", {mask, call("eq", {b, b})})),
            (std::vector<double>{1, 0, 0, 1}));
}

TEST(Pointwise, PowersByConstantExponents) {
  Tensor x = make({3}, {-2, 3, 0.5});
  EXPECT_EQ(list(call("pow", {x, numberTensor(2)})), (std::vector<double>{4, 9, 0.25}));
  EXPECT_EQ(list(call("pow", {x, numberTensor(3)})), (std::vector<double>{-8, 27, 0.125}));
  EXPECT_EQ(list(call("pow", {x, numberTensor(-1)})),
            (std::vector<double>{-0.5, static_cast<float>(1.0 / 3), 2}));
  EXPECT_EQ(list(call("pow", {numberTensor(2), make({2}, {10, 0})})),
            (std::vector<double>{1024, 1}));
}

TEST(Pointwise, EmptyAndScalarTensors) {
  EXPECT_EQ(call("add", {make({0, 3}, {}), make({3}, {1, 2, 3})}).elementCount(), 0);
  Tensor scalar = call("add", {make({}, {2}, DType::F16), numberTensor(3)});
  EXPECT_EQ(scalar.dtype(), DType::F16);
  EXPECT_EQ(scalar.at(0), 5);
}

TEST(Pointwise, MixedTypesPromote) {
  EXPECT_EQ(call("add", {make({2}, {1, 2}, DType::F16), make({2}, {1, 2}, DType::F32)}).dtype(),
            DType::F32);
  EXPECT_EQ(call("add", {make({2}, {1, 2}, DType::I32), make({2}, {1, 2}, DType::F16)}).dtype(),
            DType::F16);
  Tensor integers =
      call("mul", {make({2}, {1 << 20, 3}, DType::I64), make({2}, {1 << 20, 5}, DType::I32)});
  EXPECT_EQ(integers.dtype(), DType::I64);
  EXPECT_EQ(integers.at(0), std::ldexp(1.0, 40));
}

TEST(Pointwise, RefusalsHaveCodes) {
  Tensor x = make({3}, {1, 2, 3});
  EXPECT_EQ(errorOf("ad", {x}), "E0603");
  EXPECT_EQ(errorOf("add", {x}), "E0608");
  EXPECT_EQ(errorOf("neg", {x, x}), "E0608");
  EXPECT_EQ(errorOf("add", {x, make({2}, {1, 2})}), "E0604");
  EXPECT_EQ(errorOf("neg", {x}, {{"dim", int64_t{0}}}), "E0608");
  EXPECT_EQ(errorOf("gelu", {x}, {{"approximate", std::string("quick")}}), "E0608");
  EXPECT_EQ(errorOf("add", {}), "E0608");
}

TEST(Pointwise, MemoryIsReusedAndGivenBack) {
  releaseCachedMemory();
  Tensor x = Tensor::empty({1 << 20}, DType::F32);
  runtime::fillNormal(x, 1);
  void *address = nullptr;
  {
    Tensor first = call("neg", {x});
    address = first.data();
  }
  EXPECT_GE(cachedMemoryBytes(), size_t{4} << 20);
  EXPECT_EQ(call("neg", {x}).data(), address);
  releaseCachedMemory();
  EXPECT_EQ(cachedMemoryBytes(), 0u);
}

TEST(Pointwise, BitsOfBoolsAreTruthValues) {
  const Tensor a = make({4}, {0, 0, 1, 1}, DType::Bool), b = make({4}, {0, 1, 0, 1}, DType::Bool);
  EXPECT_EQ(list(call("bitwise_and", {a, b})), (std::vector<double>{0, 0, 0, 1}));
  EXPECT_EQ(list(call("bitwise_or", {a, b})), (std::vector<double>{0, 1, 1, 1}));
  EXPECT_EQ(list(call("bitwise_xor", {a, b})), (std::vector<double>{0, 1, 1, 0}));
  EXPECT_EQ(list(call("bitwise_not", {a})), (std::vector<double>{1, 1, 0, 0}));
}

} // namespace
} // namespace nereid::eager
