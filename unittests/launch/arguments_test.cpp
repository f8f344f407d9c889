// SPDX-License-Identifier: Apache-2.0
// Values of a kernel's parameters from text, and grids.
#include "lib/launch/Arguments.h"

#include "lib/launch/KernelReference.h"

#include <gtest/gtest.h>

#include <cmath>
#include <cstring>

namespace nereid::launch {
namespace {

using language::ParamType;

ParamType parameter(const char *name, ParamType::Kind kind, DType dtype) {
  ParamType type;
  type.name = name;
  type.kind = kind;
  type.dtype = dtype;
  return type;
}

language::Signature signature() {
  ParamType block = parameter("BLOCK", ParamType::Kind::Constexpr, DType::I32);
  block.constant = int64_t{64};
  return {{parameter("x", ParamType::Kind::Pointer, DType::F32),
           parameter("y", ParamType::Kind::Pointer, DType::F32),
           parameter("n", ParamType::Kind::Scalar, DType::I32),
           parameter("scale", ParamType::Kind::Scalar, DType::F32), block}};
}

std::string codeOf(const std::vector<std::string> &assignments) {
  auto made = makeArguments(signature(), assignments);
  return made ? "" : made.error().code;
}

TEST(Arguments, IntegersAloneMakeNoTensor) {
  auto made = makeIntegers(signature(), {"x=no maker", "n=100", "scale=0.5"});
  ASSERT_TRUE(bool(made)) << made.error().message;
  EXPECT_EQ(made->integers, (std::map<std::string, int64_t>{{"BLOCK", 64}, {"n", 100}}));
  EXPECT_TRUE(made->tensors.empty());
  EXPECT_EQ((*evaluateGrid("cdiv(n, BLOCK)", *made))[0], 2);
  EXPECT_EQ(makeIntegers(signature(), {"n=1.5"}).error().code, "E0010");
  EXPECT_EQ(makeIntegers(signature(), {"n"}).error().code, "E0010");
}

TEST(Arguments, ValuesComeInTheOrderOfTheParameters) {
  auto made = makeArguments(signature(), {"scale=0.5", "n=100", "y=zeros(3)", "x=ones(2,2)"});
  ASSERT_TRUE(bool(made)) << made.error().message;
  EXPECT_EQ(made->names, (std::vector<std::string>{"x", "y", "n", "scale"}));
  const auto values = made->values();
  ASSERT_EQ(values.size(), 4u);
  EXPECT_EQ(std::get<const runtime::Tensor *>(values[0])->elementCount(), 4);
  EXPECT_EQ(std::get<int64_t>(values[2]), 100);
  EXPECT_EQ(std::get<double>(values[3]), 0.5);
  EXPECT_EQ(made->integers.at("BLOCK"), 64) << "grids read constants";
}

TEST(Arguments, FloatsMayBeInfiniteAndSizesNot) {
  auto made = makeArguments(signature(),
                            {"x=full(2, value=-inf)", "y=full(2, value=nan)", "n=1", "scale=inf"});
  ASSERT_TRUE(bool(made)) << made.error().message;
  EXPECT_EQ(made->reals.at("scale"), INFINITY);
  EXPECT_EQ(made->tensors.at("x").at(1), -INFINITY);
  EXPECT_TRUE(std::isnan(made->tensors.at("y").at(0)));
  for (const char *x : {"x=ones(inf)", "x=ones(nan)", "x=randint(2, low=0, high=nan)",
                        "x=randint(2, low=-inf, high=3)", "x=rand(2, seed=inf)"}) {
    EXPECT_EQ(codeOf({x, "y=ones(2)", "n=1", "scale=1"}), "E0010") << x;
  }
  EXPECT_EQ(codeOf({"x=ones(1)", "y=view(x, nan)", "n=1", "scale=1"}), "E0010");
  EXPECT_EQ(codeOf({"x=ones(1)", "y=ones(2)", "n=inf", "scale=1"}), "E0010");
  EXPECT_EQ(codeOf({"x=ones(1)", "y=ones(2)", "n=nan", "scale=1"}), "E0010");
}

TEST(Arguments, SizesAndIntegersAreExpressionsOverIntegers) {
  auto made = makeArguments(signature(), {"x=randn(n, cdiv(n, BLOCK), seed=n)",
                                          "y=full(2 * n, value=n - 1)", "n=BLOCK + 6", "scale=1"});
  ASSERT_TRUE(bool(made)) << made.error().message;
  EXPECT_EQ(made->integers.at("n"), 70);
  EXPECT_EQ(made->tensors.at("x").shape(), (std::vector<int64_t>{70, 2}));
  EXPECT_EQ(made->tensors.at("y").elementCount(), 140);
  EXPECT_EQ(made->tensors.at("y").at(3), 69);
  auto view = makeArguments(
      signature(), {"x=ones(n)", "y=view(x, n // 2, offset=n - n // 2)", "n=10", "scale=1"});
  ASSERT_TRUE(bool(view)) << view.error().message;
  EXPECT_EQ(view->tensors.at("y").elementCount(), 5);
}

TEST(Arguments, AnExpressionThatHasNoValueSaysWhy) {
  auto noteOf = [](const std::string &x, const std::string &n) {
    auto made = makeArguments(signature(), {x, "y=ones(2)", n, "scale=1"});
    return made ? "" : made.error().code + ": " + made.error().notes.at(0);
  };
  EXPECT_EQ(noteOf("x=ones(m)", "n=1"), "E0010: 'm' has no value here");
  EXPECT_EQ(noteOf("x=ones(2)", "n=n + 1"), "E0010: 'n' has no value here");
  EXPECT_EQ(noteOf("x=ones(2)", "n=scale"), "E0010: 'scale' has no value here");
}

TEST(Arguments, TheLastAssignmentWins) {
  auto made = makeArguments(signature(), {"x=ones(2)", "y=ones(2)", "n=1", "scale=1", "n=2"});
  ASSERT_TRUE(bool(made));
  EXPECT_EQ(made->integers.at("n"), 2);
}

TEST(Arguments, WhatDoesNotFitIsRefused) {
  const std::string rest = "scale=1";
  EXPECT_EQ(codeOf({"x=ones(2)", "y=ones(2)", "n=1.5", rest}), "E0010");
  EXPECT_EQ(codeOf({"x=ones(2)", "y=randn(2,low=1)", "n=1", rest}), "E0010");
  EXPECT_EQ(codeOf({"x=ones(2)", "y=ones(2)", rest}), "E0011");
  EXPECT_EQ(codeOf({"x=ones(2)", "y=ones(2)", "n=1", rest, "m=1"}), "E0011");
  EXPECT_EQ(codeOf({"x=ones(2)", "y=/absent.npy", "n=1", rest}), "E0012");
  EXPECT_EQ(codeOf({"x=ones(2)", "y=ones(1000000000,1000000000)", "n=1", rest}), "E0506");
}

TEST(Arguments, ACloneHasMemoryOfItsOwnAndViewsOfIt) {
  auto made = makeArguments(signature(), {"x=arange(8)", "y=view(x,4,offset=2)", "n=1", "scale=1"});
  ASSERT_TRUE(bool(made)) << made.error().message;
  const KernelArguments copy = made->clone();
  copy.tensors.at("x").set(2, 99);
  EXPECT_EQ(copy.tensors.at("y").at(0), 99);
  EXPECT_EQ(made->tensors.at("y").at(0), 2);
  EXPECT_EQ(copy.tensors.at("y").shape(), std::vector<int64_t>{4});
}

/// What was there before a launch is made anew for each kind of data, of several clones at a time.
TEST(Arguments, AClonesContentsBeforeALaunchAreItsOwn) {
  auto made = makeArguments(signature(), {"x=arange(8)", "y=arange(8)", "n=1", "scale=1"});
  ASSERT_TRUE(bool(made)) << made.error().message;
  made->before["y"] = made->tensors.at("y").to(DType::F32);
  const KernelArguments copy = made->clone();
  copy.before.at("y").set(3, 99);
  EXPECT_EQ(copy.before.at("y").at(3), 99);
  EXPECT_EQ(made->before.at("y").at(3), 3);
  EXPECT_EQ(made->tensors.at("y").at(3), 3);
}

TEST(Arguments, GridsReadIntegersAndConstants) {
  auto made = makeArguments(signature(), {"x=ones(2)", "y=ones(2)", "n=100", "scale=1"});
  ASSERT_TRUE(bool(made));
  auto grid = evaluateGrid("cdiv(n, BLOCK), 3", *made);
  ASSERT_TRUE(bool(grid));
  EXPECT_EQ(*grid, (runtime::Grid{2, 3, 1}));
}

TEST(KernelReference, TheFunctionIsWhatFollowsTheLastColonOfTheName) {
  EXPECT_EQ(parseKernelReference("a.py").function, "");
  EXPECT_EQ(parseKernelReference("a.py:f").function, "f");
  EXPECT_EQ(parseKernelReference("a.py:f").path, "a.py");
  EXPECT_EQ(parseKernelReference("c:d/a.py").path, "c:d/a.py");
}

} // namespace
} // namespace nereid::launch
