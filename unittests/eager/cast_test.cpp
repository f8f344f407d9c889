// SPDX-License-Identifier: Apache-2.0
// Conversions of the baseline and of the reference, against numbers that PyTorch gives and against
// each other; products of integers against plain loops.
#include "unittests/eager/Values.h"

#include "lib/eager/reference/Reference.h"
#include "lib/eager/reference/ReferenceCast.h"
#include "runtime/elements/Float8.h"
#include "runtime/elements/IntegerElements.h"

#include <cmath>
#include <cstring>
#include <limits>

namespace nereid::eager {
namespace {

constexpr double infinity = std::numeric_limits<double>::infinity();
const double nan = std::nan("");

/// A row of values, what becomes of each.
struct Row {
  double given, e4m3, e5m2;
};

/// By PyTorch 2.11, on the CPU.
const Row rows[] = {{0.0, 0.0, 0.0},
                    {1.0, 1.0, 1.0},
                    {1.0625, 1.0, 1.0}, // of two equally near the even one
                    {1.1875, 1.25, 1.25},
                    {1.125, 1.125, 1.0},
                    {1.375, 1.375, 1.5},
                    {-3.3, -3.25, -3.5},
                    {448.0, 448.0, 448.0},
                    {464.0, 448.0, 448.0},
                    {464.5, nan, 448.0},
                    {480.0, nan, 512.0},
                    {-1000.0, nan, -1024.0},
                    {57344.0, nan, 57344.0},
                    {61439.0, nan, 57344.0},
                    {61440.0, nan, infinity},
                    {-1e30, nan, -infinity},
                    {infinity, nan, infinity},
                    {0x1p-9, 0x1p-9, 0x1p-9},
                    {0x1p-10, 0.0, 0x1p-10},
                    {0x1.8p-10, 0x1p-9, 0x1.8p-10},
                    {0x1p-16, 0.0, 0x1p-16},
                    {0x1p-17, 0.0, 0.0},
                    {0x1.8p-17, 0.0, 0x1p-16},
                    {-0x1.cp-7, -0x1.cp-7, -0x1.cp-7},
                    {0x1.ep-7, 0x1p-6, 0x1p-6},
                    {1e-30, 0.0, 0.0}};

void expectSame(double actual, double expected, double given) {
  EXPECT_TRUE(actual == expected || (std::isnan(actual) && std::isnan(expected)))
      << given << " became " << actual << ", not " << expected;
}

TEST(Casts, EightBitFloatsRoundAsPyTorchDoes) {
  for (const Row &row : rows) {
    for (DType from : {DType::F32, DType::F64}) {
      const Tensor given = make({1}, {row.given}, from);
      expectSame(call("to_float8_e4m3fn", {given}).at(0), row.e4m3, row.given);
      expectSame(call("to_float8_e5m2", {given}).at(0), row.e5m2, row.given);
    }
    expectSame(nearestOf(DType::F8E4M3FN, row.given), row.e4m3, row.given);
    expectSame(nearestOf(DType::F8E5M2, row.given), row.e5m2, row.given);
  }
  EXPECT_TRUE(std::isnan(call("to_float8_e4m3fn", {make({1}, {nan})}).at(0)));
  EXPECT_TRUE(std::isnan(call("to_float8_e5m2", {make({1}, {nan})}).at(0)));
  EXPECT_TRUE(std::signbit(call("to_float8_e5m2", {make({1}, {-1e-30})}).at(0)));
}

TEST(Casts, BaselineAndReferenceRoundAlike) {
  Tensor given = Tensor::empty({20000}, DType::F32);
  runtime::fillNormal(given, 7);
  for (int64_t i = 0; i < given.elementCount(); ++i) {
    given.set(i, std::ldexp(given.at(i), static_cast<int>(i % 60) - 30));
  }
  for (DType type : {DType::F16, DType::BF16, DType::F8E4M3FN, DType::F8E5M2}) {
    const Tensor made = call("to_" + std::string(torchName(type)), {given});
    ASSERT_EQ(made.dtype(), type);
    for (int64_t i = 0; i < given.elementCount(); ++i) {
      expectSame(made.at(i), nearestOf(type, given.at(i)), given.at(i));
    }
  }
}

TEST(Casts, EveryCodeOfEightBitsComesBack) {
  for (DType type : {DType::F8E4M3FN, DType::F8E5M2}) {
    Tensor codes = Tensor::empty({256}, type);
    for (int i = 0; i < 256; ++i) {
      static_cast<uint8_t *>(codes.data())[i] = static_cast<uint8_t>(i);
    }
    const Tensor wide = call("to_float32", {codes});
    const Tensor back = call("to_" + std::string(torchName(type)), {wide});
    for (int i = 0; i < 256; ++i) {
      EXPECT_TRUE(std::isnan(wide.at(i)) ||
                  static_cast<uint8_t *>(back.data())[i] == static_cast<uint8_t>(i))
          << torchName(type) << " " << i;
      EXPECT_TRUE(std::isnan(wide.at(i)) || nearestOf(type, wide.at(i)) == wide.at(i)) << i;
    }
  }
}

TEST(Casts, IntegersLoseFractionsAndUpperBits) {
  const Tensor reals = make({6}, {1.9, -1.9, 0.5, -0.5, 127.99, -128.99});
  EXPECT_EQ(list(call("to_int8", {reals})), (std::vector<double>{1, -1, 0, 0, 127, -128}));
  EXPECT_EQ(list(call("to_int64", {reals})), (std::vector<double>{1, -1, 0, 0, 127, -128}));
  EXPECT_EQ(list(call("to_bool", {make({4}, {0.0, -0.0, 0.1, nan})})),
            (std::vector<double>{0, 0, 1, 1}));
  const Tensor whole = make({5}, {300, -300, 128, -129, 255}, DType::I32);
  EXPECT_EQ(list(call("to_int8", {whole})), (std::vector<double>{44, -44, -128, 127, -1}));
  EXPECT_EQ(list(call("to_uint8", {whole})), (std::vector<double>{44, 212, 128, 127, 255}));
  EXPECT_EQ(list(call("to_bool", {make({2}, {256, 0}, DType::I32)})), (std::vector<double>{1, 0}));
  Tensor large = Tensor::empty({1}, DType::U64);
  runtime::storeInteger(large, 0, ~uint64_t{0});
  EXPECT_EQ(call("to_float32", {large}).at(0), 0x1p64);
  EXPECT_EQ(runtime::loadInteger(call("to_uint64", {make({1}, {0x1.8p63})}), 0), uint64_t{3} << 62);
}

Operator graph(const std::string &body, const std::string &type, const std::string &out,
               const std::string &in = "") {
  Diagnostics diags;
  auto op = definition::parseOperator("cast.toml",
                                      "[operator]\nname = \"t\"\nsummary = \"s\"\ndtypes = [\"" +
                                          type + "\"]\nbody = '''\n" + body +
                                          "\n'''\n[inputs.x]\nshape = [\"N\"]\n" + in +
                                          "\n[outputs.out]\nshape = [\"N\"]\ndtype = \"" + out +
                                          "\"\n[performance]\ncases = [{ N = 4 }]\n",
                                      diags);
  EXPECT_TRUE(op) << diags.render();
  return *op;
}

ReferenceOutput reference(const Operator &op, const Tensor &x) {
  const Tensor inputs[] = {x};
  auto made =
      runReference(op, inputs, op.dtypes[0], Rounding::OncePerResult, runtime::defaultPool());
  EXPECT_TRUE(made) << render(made.error());
  return (*made)[0];
}

TEST(Casts, TheReferenceKnowsExactlyWhatIsRoundedOnce) {
  const Tensor x = make({4}, {0.3, 464, 500, -2.6});
  const ReferenceOutput eight =
      reference(graph("out = x.to(torch.float8_e4m3fn)", "float32", "float8_e4m3fn"), x);
  EXPECT_EQ(eight.values.at(0), 0.3125);
  EXPECT_EQ(eight.bounds.at(0), 0);
  EXPECT_EQ(eight.values.at(1), 448);
  EXPECT_TRUE(std::isnan(eight.values.at(2)));
  EXPECT_EQ(eight.bounds.at(2), 0);
  const ReferenceOutput back =
      reference(graph("out = x.to(torch.float16).to(torch.float32)", "float32", "float32"), x);
  EXPECT_EQ(back.values.at(0), fromHalf(toHalf(x.at(0))));
  EXPECT_EQ(back.bounds.at(0), 0);
}

TEST(Casts, TheReferenceIsOpenWhereARoundingDecides) {
  // 2.5 / 1 is not known exactly, so that either neighbour will do; 2.6 is clearly 3.
  const Operator steps = graph("out = torch.round(x / 3.0).to(torch.int8)", "float32", "int8");
  const ReferenceOutput out = reference(steps, make({4}, {7.5, 7.8, 1e9, nan}));
  EXPECT_EQ(out.bounds.at(0), 1);
  EXPECT_EQ(out.bounds.at(1), 0);
  EXPECT_EQ(out.values.at(1), 3);
  EXPECT_EQ(out.bounds.at(2), infinity); // no int8
  EXPECT_EQ(out.bounds.at(3), infinity);
}

TEST(Casts, AWrongRoundingIsFound) {
  const Operator op = graph("out = x.to(torch.float8_e5m2)", "float32", "float8_e5m2");
  const Tensor x = make({4}, {0.3, -7, 1.125, 3e-5});
  const Tensor inputs[] = {x};
  Tensor right = call("to_float8_e5m2", {x});
  for (int64_t i = 0; i < 4; ++i) {
    for (int step : {-1, 0, 1}) {
      Tensor other = right.to(right.dtype());
      static_cast<uint8_t *>(other.data())[i] =
          static_cast<uint8_t>(static_cast<uint8_t *>(right.data())[i] + step);
      const Tensor outputs[] = {other};
      auto verdict = checkOutputs(op, inputs, outputs, DType::F32, Rounding::OncePerResult,
                                  runtime::defaultPool());
      ASSERT_TRUE(verdict);
      EXPECT_EQ(verdict->passed(), step == 0) << i << " " << step;
    }
  }
}

TEST(Casts, GraphsConvertToTheOperatorsType) {
  const Operator op = graph("out = (x.float() * 3).to(x.dtype)", "float16", "float16");
  const Tensor inputs[] = {make({4}, {1, 2, 3, 70000}, DType::F16)};
  auto made = runGraph(op, inputs, runtime::defaultPool());
  ASSERT_TRUE(made);
  EXPECT_EQ((*made)[0].dtype(), DType::F16);
  EXPECT_EQ((*made)[0].at(2), 9);
}

TEST(Casts, ProductsOfIntegersWrapExactly) {
  for (DType type : {DType::I8, DType::U8, DType::I16, DType::I32, DType::I64, DType::U64}) {
    const int64_t m = 5, k = 70, n = 33;
    Tensor a = Tensor::empty({m, k}, type), b = Tensor::empty({k, n}, type);
    for (int64_t i = 0; i < a.elementCount(); ++i) {
      runtime::storeInteger(a, i, 0x9E3779B97F4A7C15U * static_cast<uint64_t>(i + 1));
    }
    for (int64_t i = 0; i < b.elementCount(); ++i) {
      runtime::storeInteger(b, i, 0xBF58476D1CE4E5B9U * static_cast<uint64_t>(i + 3));
    }
    const Tensor c = call("matmul", {a, b});
    ASSERT_EQ(c.dtype(), type);
    Diagnostics diags;
    auto op = definition::parseOperator(
        "p.toml",
        "[operator]\nname = \"p\"\nsummary = \"s\"\ndtypes = [\"" + std::string(torchName(type)) +
            "\"]\nbody = 'c = a @ b'\n[inputs.a]\nshape = [\"M\", \"K\"]\n[inputs.b]\nshape = "
            "[\"K\", \"N\"]\n[outputs.c]\nshape = [\"M\", \"N\"]\n[performance]\ncases = [{ M = 4, "
            "K = 4, N = 4 }]\n",
        diags);
    ASSERT_TRUE(op) << diags.render();
    const Tensor inputs[] = {a, b}, outputs[] = {c};
    for (int64_t i = 0; i < c.elementCount(); ++i) {
      uint64_t sum = 0;
      for (int64_t at = 0; at < k; ++at) {
        sum += runtime::loadInteger(a, i / n * k + at) * runtime::loadInteger(b, at * n + i % n);
      }
      Tensor expected = Tensor::empty({1}, type);
      runtime::storeInteger(expected, 0, sum);
      ASSERT_EQ(runtime::loadInteger(c, i), runtime::loadInteger(expected, 0)) << torchName(type);
    }
    auto verdict =
        checkOutputs(*op, inputs, outputs, type, Rounding::OncePerResult, runtime::defaultPool());
    ASSERT_TRUE(verdict);
    EXPECT_TRUE(verdict->passed()) << verdict->text();
    runtime::storeInteger(c, 17, runtime::loadInteger(c, 17) + 1);
    EXPECT_FALSE(
        checkOutputs(*op, inputs, outputs, type, Rounding::OncePerResult, runtime::defaultPool())
            ->passed());
  }
}

} // namespace
} // namespace nereid::eager
