// SPDX-License-Identifier: Apache-2.0
// Other data than a case's own: which inputs take it, which kinds there are, and outputs made
// again.
#include "lib/bench/measurement/OutputReset.h"
#include "lib/bench/verification/OtherData.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <set>

namespace nereid::bench {
namespace {

using launch::KernelArguments;
using launch::KernelCase;
using runtime::Tensor;

Tensor filled(double value, DType dtype = DType::F32) {
  Tensor tensor = Tensor::empty({4, 8}, dtype);
  for (int64_t i = 0; i < tensor.elementCount(); ++i) {
    tensor.set(i, value);
  }
  return tensor;
}

KernelArguments arguments() {
  KernelArguments made;
  made.tensors = {
      {"x", filled(1)}, {"y", filled(2)}, {"k", filled(3, DType::I32)}, {"out", filled(4)}};
  return made;
}

KernelCase adding() {
  KernelCase one;
  one.kernel = "a.py:add";
  one.arguments = {"x=randn(4,8)", "y=ones(4,8)", "k=randint(4,8)", "out=empty(4,8)"};
  one.reference = {{"out", "x + y"}};
  return one;
}

TEST(OtherData, ReplacesRandomFloatsThatAReferenceJudges) {
  using Names = std::vector<std::string>;
  EXPECT_EQ(replaceableInputs(adding(), arguments()), Names{"x"});
  KernelCase both = adding();
  both.arguments[1] = "y=randn(4,8)";
  EXPECT_EQ(replaceableInputs(both, arguments()), (Names{"x", "y"}));
  KernelCase tolerant = adding();
  tolerant.tolerance = definition::Tolerance{1e-3, 0, "stated"};
  EXPECT_TRUE(replaceableInputs(tolerant, arguments()).empty()) << "it holds for its own data";
  EXPECT_EQ(dataGroup(both, {"x", "y"}, arguments()), "a.py:add, x float32, y float32");
  EXPECT_EQ(fewestRows({"x"}, arguments()), 4);
  EXPECT_EQ(shortestRow({"x"}, arguments()), 8);
}

TEST(OtherData, HasEveryKindForEverySeed) {
  for (const uint64_t seed : {0, 1, 17}) {
    const std::vector<OtherData> all = otherData({"x", "y"}, 100, seed);
    auto count = [&](definition::DataKind kind) {
      return std::count_if(all.begin(), all.end(),
                           [&](const OtherData &one) { return one.data.kind == kind; });
    };
    EXPECT_EQ(count(definition::DataKind::Special), 4) << "one input at a time, twice";
    std::set<int> first;
    for (const OtherData &one : all) {
      if (one.data.kind == definition::DataKind::Special && one.input == "x") {
        first.insert(one.data.turn);
        EXPECT_EQ(one.isForLarge, one.data.turn == definition::nanFirst);
      }
    }
    EXPECT_EQ(first.size(), 2u) << "what stands in front of the first row differs";
    EXPECT_TRUE(first.contains(definition::nanFirst));
    for (const auto kind : {definition::DataKind::Scaled, definition::DataKind::Decades,
                            definition::DataKind::Negative, definition::DataKind::Zeros,
                            definition::DataKind::Ones, definition::DataKind::ConstantRows,
                            definition::DataKind::SortedRows, definition::DataKind::Cancelling}) {
      EXPECT_GE(count(kind), 1) << definition::name(kind);
    }
  }
  EXPECT_NE(otherData({"x"}, 100, 1).front().data.range,
            otherData({"x"}, 100, 2).front().data.range)
      << "drawn";
}

TEST(OtherData, SpecialNumbersGoToOneInput) {
  const KernelArguments made = arguments();
  replaceInputs({"x", "y"}, {{definition::DataKind::Special, 0, 0}, "y"}, 3, made);
  auto hasSpecial = [&](const char *name) {
    const Tensor &tensor = made.tensors.at(name);
    bool found = false;
    for (int64_t i = 0; i < tensor.elementCount(); ++i) {
      found = found || !std::isfinite(tensor.at(i));
    }
    return found;
  };
  EXPECT_FALSE(hasSpecial("x"));
  EXPECT_TRUE(hasSpecial("y"));
  EXPECT_NE(made.tensors.at("x").at(0), 1);
}

TEST(OutputReset, OutputsAreAgainWhatTheyWereAtFirst) {
  KernelCase one = adding();
  one.reference = {{"out", "x"}, {"y", "y_before + x"}};
  const KernelArguments made = arguments();
  const OutputReset reset(one, made);
  made.tensors.at("y").set(5, 99);
  made.tensors.at("x").set(5, 99);
  reset();
  EXPECT_EQ(made.tensors.at("y").at(5), 2);
  EXPECT_NE(made.tensors.at("out").at(5), 4) << "poisoned: the case makes it with empty";
  EXPECT_EQ(made.tensors.at("x").at(5), 99) << "an input";
  EXPECT_EQ(outputsOf(one, made).size(), 2u);
  EXPECT_EQ(inputsOf(one, made).size(), 2u);
}

TEST(OutputReset, WhatACaseMakesEmptyIsNoInput) {
  KernelCase one = adding();
  one.reference = {{"y", "y_before + x"}};
  const size_t inputs = inputsOf(one, arguments()).size();
  EXPECT_EQ(inputs, 2u) << "out has no reference, and nobody gave it anything";
  one.computed = {{"out", "2 * x"}};
  EXPECT_EQ(inputsOf(one, arguments()).size(), inputs + 1) << "out is computed, not written";
}

} // namespace
} // namespace nereid::bench
