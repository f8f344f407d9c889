// SPDX-License-Identifier: Apache-2.0
// torch.einsum as bodies read it, against the sum over all letters that the equation says, written
// here over the letters' values: reference and baseline, equations of every form and drawn ones.
#include "unittests/eager/Values.h"

#include "lib/eager/reference/Reference.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <random>

namespace nereid::eager {
namespace {

using Sizes = std::map<char, int64_t>;

struct Equation {
  std::vector<std::string> operands;
  std::string result;
  std::string text() const { return fmt::format("{}->{}", fmt::join(operands, ","), result); }
};

int64_t offset(const std::string &letters, const Sizes &sizes, const Sizes &at) {
  int64_t place = 0;
  for (char letter : letters) {
    place = place * sizes.at(letter) + at.at(letter);
  }
  return place;
}

/// Adds the product of all operands at `at` to the result, for every value of the letters left.
void accumulate(const Equation &equation, const Sizes &sizes, std::string letters, Sizes at,
                const std::vector<Tensor> &inputs, std::vector<double> &out) {
  if (!letters.empty()) {
    const char letter = letters.back();
    letters.pop_back();
    for (at[letter] = 0; at[letter] < sizes.at(letter); ++at[letter]) {
      accumulate(equation, sizes, letters, at, inputs, out);
    }
    return;
  }
  double product = 1;
  for (size_t i = 0; i < inputs.size(); ++i) {
    product *= inputs[i].at(offset(equation.operands[i], sizes, at));
  }
  out[static_cast<size_t>(offset(equation.result, sizes, at))] += product;
}

std::string shapeText(const std::string &letters) {
  std::string text;
  for (char letter : letters) {
    text += fmt::format("{}\"{}\"", text.empty() ? "" : ", ", letter);
  }
  return text;
}

void check(const Equation &equation, const Sizes &sizes, const std::string &written = "") {
  SCOPED_TRACE(equation.text() + " as " + written);
  std::string inputs, names, all, bound;
  std::vector<Tensor> tensors;
  for (size_t i = 0; i < equation.operands.size(); ++i) {
    const std::string &letters = equation.operands[i];
    names += fmt::format(", x{}", i);
    inputs += fmt::format("[inputs.x{}]\nshape = [{}]\n", i, shapeText(letters));
    std::vector<int64_t> shape;
    for (char letter : letters) {
      shape.push_back(sizes.at(letter));
      all += all.find(letter) == std::string::npos ? std::string(1, letter) : "";
    }
    tensors.push_back(Tensor::empty(shape, DType::F32));
    runtime::fillNormal(tensors.back(), i + 1);
  }
  for (char letter : all) {
    bound += fmt::format("{}{} = {}", bound.empty() ? "" : ", ", letter, sizes.at(letter));
  }
  Diagnostics diags;
  auto op = definition::parseOperator(
      "e.toml",
      fmt::format(
          "[operator]\nname = \"e\"\nsummary = \"s\"\ndtypes = [\"float32\"]\n"
          "body = '''\nout = torch.einsum(\"{}\"{}) * 1.0'''\n{}[outputs.out]\nshape = [{}]\n"
          "[performance]\ncases = [{{ {} }}]\n",
          written.empty() ? equation.text() : written, names, inputs, shapeText(equation.result),
          bound),
      diags);
  ASSERT_TRUE(op) << diags.render();
  std::vector<int64_t> shape;
  int64_t count = 1;
  for (char letter : equation.result) {
    shape.push_back(sizes.at(letter));
    count *= shape.back();
  }
  std::vector<double> expected(static_cast<size_t>(count), 0.0);
  accumulate(equation, sizes, all, {}, tensors, expected);
  auto reference =
      runReference(*op, tensors, DType::F32, Rounding::OncePerResult, runtime::defaultPool());
  ASSERT_TRUE(reference) << render(reference.error());
  auto baseline = runGraph(*op, tensors, runtime::defaultPool());
  ASSERT_TRUE(baseline) << render(baseline.error());
  const ReferenceOutput &exact = (*reference)[0];
  ASSERT_EQ(exact.values.shape(), shape);
  ASSERT_EQ((*baseline)[0].shape(), shape);
  for (int64_t i = 0; i < count; ++i) {
    const double value = expected[static_cast<size_t>(i)];
    ASSERT_NEAR(exact.values.at(i), value, 1e-12 * (1 + std::fabs(value))) << "element " << i;
    ASSERT_LE(std::fabs((*baseline)[0].at(i) - value), 2 * exact.bounds.at(i) + 1e-4)
        << "element " << i;
  }
}

const Sizes usual = {{'a', 2}, {'b', 3}, {'c', 4}, {'d', 5},
                     {'i', 3}, {'j', 4}, {'k', 5}, {'l', 2}};

TEST(Einsum, EqualsTheSumOverItsLetters) {
  const std::vector<Equation> equations = {
      {{"ik", "kj"}, "ij"},
      {{"ik", "kj"}, "ji"},
      {{"bik", "bkj"}, "bij"},
      {{"kib", "jbk"}, "bij"},
      {{"ij"}, "ji"},
      {{"ijk"}, "kij"},
      {{"ijk"}, "j"},
      {{"ijk"}, ""},
      {{"i", "i"}, ""},
      {{"i", "j"}, "ij"},
      {{"i", "j"}, "ji"},
      {{"ij", "j"}, "i"},
      {{"j", "ij"}, "i"},
      {{"bij", "bj"}, "bi"},
      {{"bj", "bij"}, "ib"},
      {{"ij", "ij"}, ""},
      {{"ij", "ij"}, "i"},
      {{"ij", "ij"}, "ij"},
      {{"ij", "ji"}, "ji"},
      {{"ijkl", "klc"}, "ijc"},
      {{"lkij", "dlk"}, "jdi"},
      {{"ij", "k"}, ""},
      {{"ij", "jk", "kl"}, "il"},
      {{"i", "ij", "j"}, ""},
      {{"bi", "ij", "bj"}, "b"},
      {{"i", "j", "k"}, "kji"},
      {{"aijb", "cbjd"}, "acid"},
      {{"ab", "cd"}, "dbca"},
      {{"ijk", "k", "j", "i"}, ""},
      {{"ijkl", "ijkl"}, "li"},
      {{"abij", "abjk"}, "abik"},
      {{"aij", "bjk"}, "abik"},
      {{"aij", "bkj"}, "kbia"},
  };
  for (const Equation &equation : equations) {
    check(equation, usual);
  }
}

TEST(Einsum, WithoutAnArrowTheResultHasWhatOccursOnce) {
  check({{"ik", "kj"}, "ij"}, usual, "ik,kj");
  check({{"ki", "kj"}, "ij"}, usual, "ki,kj");
  check({{"ja"}, "aj"}, usual, "ja");
  check({{"i", "i"}, ""}, usual, "i,i");
  check({{"ik", "kj"}, "ij"}, usual, " i k , k j -> i j ");
  // Capitals first.
  check({{"aB"}, "Ba"}, {{'a', 2}, {'B', 3}}, "aB");
}

TEST(Einsum, DotsStandForTheOtherDimensions) {
  check({{"abij", "abjk"}, "abik"}, usual, "...ij,...jk->...ik");
  check({{"abij", "jk"}, "abik"}, usual, "...ij,jk->...ik");
  check({{"jk", "abij"}, "abik"}, usual, "jk,...ij->...ik");
  check({{"abij", "bjk"}, "abik"}, usual, "...ij,...jk->...ik");
  check({{"iab"}, "abi"}, usual, "i...->...i");
  check({{"iab"}, "i"}, usual, "i...->i");
  check({{"iabj"}, "iabj"}, usual, "i...j->i...j");
  check({{"abi", "abj"}, "abij"}, usual, "...i,...j->...ij");
  check({{"abi", "abi"}, "ab"}, usual, "...i,...i");
  check({{"i", "i"}, ""}, usual, "i...,i...->...");
  check({{"ab", "b"}, "ab"}, usual, "...,...->...");
}

TEST(Einsum, DimensionsMayBeEmptyOrOne) {
  for (char letter : {'i', 'j', 'k', 'b'}) {
    for (int64_t size : {0, 1}) {
      Sizes sizes = usual;
      sizes[letter] = size;
      check({{"bik", "bkj"}, "bij"}, sizes);
      check({{"bk", "bkj"}, "bj"}, sizes);
      check({{"i", "jk", "kb"}, "bi"}, sizes);
      check({{"bik", "jk"}, "b"}, sizes);
    }
  }
}

/// A dimension of size 1 meets any other of its letter: "ik,kj->ij" of [I, 1] by [K, J].
TEST(Einsum, OnesAreBroadcastInSums) {
  Diagnostics diags;
  auto op = definition::parseOperator(
      "e.toml",
      "[operator]\nname = \"e\"\nsummary = \"s\"\ndtypes = [\"float32\"]\nbody = '''\nout = "
      "torch.einsum(\"ik,kj->ij\", a, b)'''\n[inputs.a]\nshape = [\"I\", 1]\n[inputs.b]\nshape = "
      "[\"K\", \"J\"]\n[outputs.out]\nshape = [\"I\", \"J\"]\n[performance]\ncases = [{ I = 2, J = "
      "3, K = 2 }]\n",
      diags);
  ASSERT_TRUE(op) << diags.render();
  const std::vector<Tensor> inputs = {make({2, 1}, {2, 3}), make({2, 3}, {1, 2, 3, 10, 20, 30})};
  auto reference =
      runReference(*op, inputs, DType::F32, Rounding::OncePerResult, runtime::defaultPool());
  ASSERT_TRUE(reference) << render(reference.error());
  EXPECT_EQ(list((*reference)[0].values), (std::vector<double>{22, 44, 66, 33, 66, 99}));
}

/// Letters of operands and results as they come, each a case that nobody thought of.
TEST(Einsum, DrawnEquationsEqualTheirSums) {
  std::mt19937 random(7);
  auto drawn = [&](size_t n) { return std::uniform_int_distribution<size_t>(0, n - 1)(random); };
  for (int turn = 0; turn < 300; ++turn) {
    Sizes sizes;
    for (char letter : std::string("ijklm")) {
      sizes[letter] = static_cast<int64_t>(drawn(4)) + (drawn(8) != 0 ? 1 : 0);
    }
    Equation equation;
    std::string all;
    for (size_t i = drawn(3) + 1; i > 0; --i) {
      std::string letters = "ijklm";
      std::shuffle(letters.begin(), letters.end(), random);
      equation.operands.push_back(letters.substr(0, drawn(5)));
      all += equation.operands.back();
    }
    std::sort(all.begin(), all.end());
    all.erase(std::unique(all.begin(), all.end()), all.end());
    std::shuffle(all.begin(), all.end(), random);
    equation.result = all.substr(0, drawn(all.size() + 1));
    check(equation, sizes);
    if (HasFatalFailure()) {
      return;
    }
  }
}

} // namespace
} // namespace nereid::eager
