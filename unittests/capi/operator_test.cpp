// SPDX-License-Identifier: Apache-2.0
// Definitions through the C interface: what judges results in generated programs, and what they
// ask of the tensors they are given.
#include "nereid/nereid.hpp"
#include "unittests/capi/Errors.h"

#include <cmath>
#include <filesystem>
#include <fstream>
#include <gtest/gtest.h>
#include <unistd.h>

namespace {

using nereid::DType;
using nereid::Tensor;

class OperatorTest : public ::testing::Test {
protected:
  OperatorTest() { std::filesystem::create_directories(folder); }
  ~OperatorTest() override { std::filesystem::remove_all(folder); }

  /// An operator of one input x [..., D] and perhaps y [D].
  nereid::Operator load(const std::string &body, bool hasSecond = false) const {
    const std::string path = (folder / "op.toml").string();
    std::ofstream(path) << "[operator]\nname = \"op\"\nsummary = \"s\"\n"
                        << "dtypes = [\"float32\", \"float16\"]\nbody = \"\"\"\n"
                        << body << "\n\"\"\"\n[inputs.x]\nshape = [\"...\", \"D\"]\n"
                        << (hasSecond ? "[inputs.y]\nshape = [\"D\"]\n" : "")
                        << "[outputs.out]\nshape = [\"...\", \"D\"]\n"
                        << "[performance]\ncases = [{ \"...\" = [2], D = 4 }]\n";
    return nereid::Operator::load(path);
  }
  static Tensor row(const std::vector<double> &values, DType dtype = DType::F32) {
    const Tensor tensor = Tensor::empty({1, static_cast<int64_t>(values.size())}, dtype);
    for (size_t i = 0; i < values.size(); ++i) {
      tensor.set(static_cast<int64_t>(i), values[i]);
    }
    return tensor;
  }

  const std::filesystem::path folder =
      std::filesystem::temp_directory_path() / ("nereid_operator_" + std::to_string(::getpid()));
};

TEST_F(OperatorTest, InfinitiesAndNanAreExact) {
  const nereid::Operator relu = load("out = torch.relu(x)");
  const Tensor x = row({INFINITY, -INFINITY, NAN, -2, 3});
  const nereid::Verdict right = relu.verify({x}, {row({INFINITY, 0, NAN, 0, 3})});
  EXPECT_TRUE(right.agrees) << right.text;
  EXPECT_EQ(right.elements, 5);
  EXPECT_EQ(right.unverifiable, 0);
  EXPECT_EQ(right.firstElement, -1);
  EXPECT_EQ(right.text, "");
  const nereid::Verdict lost = relu.verify({x}, {row({7, 0, NAN, 0, 3})});
  EXPECT_FALSE(lost.agrees);
  EXPECT_EQ(lost.mismatches, 1);
  EXPECT_EQ(lost.firstElement, 0);
  EXPECT_EQ(lost.actual, 7);
  EXPECT_EQ(lost.expected, INFINITY);
  EXPECT_EQ(lost.text, "element 0 expects inf ± 0, but got 7 (1 of 5 differ)");
  const nereid::Verdict off = relu.verify({x}, {row({INFINITY, 0, NAN, 0, 4.5})});
  EXPECT_EQ(off.maxAbsolute, 1.5);
  EXPECT_EQ(off.meanAbsolute, 0.5); // of three that are finite
  EXPECT_NE(off.text.find("(1 of 5 differ; max error 1.5, mean 0.5)"), std::string::npos)
      << off.text;
  for (const Tensor &wrong : {row({-INFINITY, 0, NAN, 0, 3}), row({INFINITY, 0, 0, 0, 3}),
                              row({INFINITY, 0, NAN, NAN, 3}), row({INFINITY, 0, NAN, 0, INFINITY}),
                              row({INFINITY, 0, NAN, 0, 3.0001})}) {
    EXPECT_FALSE(relu.verify({x}, {wrong}).agrees);
  }
}

TEST_F(OperatorTest, ZerosHaveTheirSign) {
  const nereid::Operator sum = load("out = x + x");
  EXPECT_TRUE(sum.verify({row({-0.0, 0.0})}, {row({-0.0, 0.0})}).agrees);
  EXPECT_FALSE(sum.verify({row({-0.0, 0.0})}, {row({0.0, 0.0})}).agrees);
}

TEST_F(OperatorTest, EveryElementHasABound) {
  const nereid::Operator exp = load("out = torch.exp(x)");
  const Tensor x = row({0.5, 8});
  const double small = std::exp(0.5), large = std::exp(8.0);
  EXPECT_TRUE(exp.verify({x}, {row({small, large})}).agrees);
  EXPECT_TRUE(exp.verify({x}, {row({small, large * (1 + 1e-7)})}).agrees);
  // As small as this for the large element, but not for the small one.
  const double error = large * 1e-7;
  const nereid::Verdict beyond = exp.verify({x}, {row({small + error, large})});
  EXPECT_FALSE(beyond.agrees);
  EXPECT_GT(beyond.maxOfBound, 1);
  EXPECT_LT(beyond.bound, error);
}

TEST_F(OperatorTest, WhatCannotBeVerifiedIsLimited) {
  const nereid::Operator quotient = load("out = torch.exp(x) / torch.exp(x)");
  const nereid::Verdict lost = quotient.verify({row({1, 89})}, {row({1, 1})});
  EXPECT_EQ(lost.mismatches, 0);
  EXPECT_EQ(lost.unverifiable, 1);
  EXPECT_FALSE(lost.agrees);
  EXPECT_EQ(lost.text.find("1 of 2 elements cannot be verified"), 0u) << lost.text;
}

TEST_F(OperatorTest, EagerResultsAreJudgedByTheirOwnRounding) {
  const nereid::Operator op = load("out = torch.exp(x + y) * y", true);
  const Tensor x = Tensor::empty({40, 33}, DType::F16), y = Tensor::empty({33}, DType::F16);
  x.fillNormal(1);
  y.fillNormal(2);
  const Tensor out =
      nereid::eager("mul", {nereid::eager("exp", {nereid::eager("add", {x, y})}), y});
  EXPECT_TRUE(op.verify({x, y}, {out}, nereid::Rounding::EachOperation).agrees);
  EXPECT_FALSE(op.verify({x, y}, {out}, nereid::Rounding::OncePerResult).agrees);
}

TEST_F(OperatorTest, RefusesWhatDoesNotFit) {
  const nereid::Operator op = load("out = x * y", true);
  const Tensor x = row({1, 2}), y = Tensor::empty({2}, DType::F32), out = row({1, 2});
  y.fill(1);
  EXPECT_TRUE(op.verify({x, y}, {out}).agrees);
  const auto half = [](const Tensor &tensor) { return tensor.to(DType::F16); };
  EXPECT_EQ(errorOf([&] { op.verify({x}, {out}); }).code(), "E0604");
  EXPECT_EQ(errorOf([&] { op.verify({x, half(y)}, {out}); }).code(), "E0604");
  EXPECT_EQ(errorOf([&] { op.verify({x, y}, {half(out)}); }).code(), "E0604");
  EXPECT_EQ(errorOf([&] { op.verify({x, y}, {row({1, 2, 3})}); }).code(), "E0604");
  EXPECT_EQ(errorOf([&] { op.verify({x, row({1})}, {out}); }).code(), "E0604");
  EXPECT_EQ(errorOf([&] { op.verify({x.to(DType::F64), y.to(DType::F64)}, {out}); }).code(),
            "E0606");
  EXPECT_EQ(errorOf([&] { op.verify({x, y}, {}); }).code(), "E0031");
  EXPECT_EQ(errorOf([&] { op.verify({x, y}, {out}, static_cast<nereid::Rounding>(7)); }).code(),
            "E0031");
  nereid_verdict verdict;
  const nereid_tensor *list[] = {x.get(), nullptr}, *results[] = {out.get()};
  EXPECT_EQ(nereid_operator_verify(op.get(), list, 2, results, 1, 0, &verdict),
            NEREID_ERROR_ARGUMENT);
  EXPECT_EQ(nereid_operator_verify(op.get(), nullptr, 2, results, 1, 0, &verdict),
            NEREID_ERROR_ARGUMENT);
  EXPECT_EQ(nereid_operator_verify(nullptr, list, 1, results, 1, 0, &verdict),
            NEREID_ERROR_ARGUMENT);
  EXPECT_EQ(nereid_operator_verify(op.get(), list, 1, results, 1, 0, nullptr),
            NEREID_ERROR_ARGUMENT);
  EXPECT_STREQ(nereid_verdict_text(nullptr), "");
  nereid_operator_free(nullptr);
}

TEST_F(OperatorTest, RefusesFilesThatAreNoDefinition) {
  EXPECT_EQ(errorOf([&] { nereid::Operator::load((folder / "none.toml").string()); }).status(),
            NEREID_ERROR_FILE);
  const nereid::Error bad = errorOf([&] { load("out = torch.nothing(x)"); });
  EXPECT_EQ(bad.status(), NEREID_ERROR_ARGUMENT);
  EXPECT_EQ(bad.code(), "E0603");
  EXPECT_EQ(nereid_operator_load(nullptr, nullptr), NEREID_ERROR_ARGUMENT);
}

TEST_F(OperatorTest, ExpectationsNameTensorAndBothValues) {
  const Tensor tensor = Tensor::empty({2, 3, 4}, DType::F32);
  nereid::expectRank("x", tensor, 3);
  nereid::expectRankAtLeast("x", tensor, 2);
  nereid::expectShape("x", tensor, {2, 3, 4});
  nereid::expectType("x", tensor, {DType::F16, DType::F32});
  EXPECT_EQ(nereid::sizeFromEnd("x", tensor, 1), 4);
  EXPECT_EQ(nereid::sizeFromEnd("x", tensor, 3), 2);
  EXPECT_EQ(nereid::leadingSizes("x", tensor, 1), (nereid::Sizes{2, 3}));
  EXPECT_EQ(nereid::leadingSizes("x", tensor, 3), nereid::Sizes{});
  const auto text = [](const auto &body) { return std::string(errorOf(body).what()); };
  EXPECT_EQ(text([&] { nereid::expectRank("x", tensor, 1); }),
            "'x' expects 1 dimension, but got [2, 3, 4]");
  EXPECT_EQ(text([&] { nereid::expectRankAtLeast("x", tensor, 4); }),
            "'x' expects at least 4 dimensions, but got [2, 3, 4]");
  EXPECT_EQ(text([&] { nereid::expectShape("x", tensor, {24}); }),
            "'x' expects shape [24], but got [2, 3, 4]");
  EXPECT_EQ(text([&] { nereid::expectType("x", tensor, {DType::F16, DType::BF16}); }),
            "'x' expects type float16 or bfloat16, but got float32");
  nereid::expectThat(true, "op", "D > 0");
  EXPECT_EQ(text([&] { nereid::expectThat(false, "op", "D > 0"); }), "'op' expects D > 0");
  EXPECT_EQ(errorOf([&] { nereid::sizeFromEnd("x", tensor, 4); }).status(), NEREID_ERROR_ARGUMENT);
  EXPECT_EQ(errorOf([&] { nereid::leadingSizes("x", tensor, 4); }).status(), NEREID_ERROR_ARGUMENT);
}

} // namespace
