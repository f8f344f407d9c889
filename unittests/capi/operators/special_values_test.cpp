// SPDX-License-Identifier: Apache-2.0
// What PyTorch makes of NaN, infinities, signs of zero and numbers that float32 does not have, in
// numbers written down here: the reference computes them by itself, and could be wrong as well.
#include "nereid/operator.hpp"

#include <gtest/gtest.h>

#include <cmath>
#include <limits>

namespace {

constexpr double nan = std::numeric_limits<double>::quiet_NaN();
constexpr double infinity = std::numeric_limits<double>::infinity();

nereid::Tensor line(const std::vector<double> &values, nereid::DType dtype) {
  nereid::Tensor tensor = nereid::Tensor::empty({static_cast<int64_t>(values.size())}, dtype);
  for (size_t i = 0; i < values.size(); ++i) {
    tensor.set(static_cast<int64_t>(i), values[i]);
  }
  return tensor;
}

nereid::Operator operatorOf(const std::string &expression, bool hasBound) {
  return nereid::Operator::loadSource(
      "[operator]\nname = \"op\"\nsummary = \"s\"\ndtypes = [\"float32\", \"float64\"]\n"
      "body = \"out = " +
      expression + "\"\n[inputs.x]\nshape = [\"N\"]\n" +
      (hasBound ? "[inputs.y]\nshape = [\"N\"]\n" : "") +
      "[outputs.out]\nshape = [\"N\"]\n[performance]\ncases = [{ N = 4 }]\n");
}

void expectSame(const nereid::Tensor &actual, const std::vector<double> &expected) {
  for (size_t i = 0; i < expected.size(); ++i) {
    const double value = actual.at(static_cast<int64_t>(i));
    const bool isSame =
        std::isnan(expected[i])
            ? std::isnan(value)
            : value == expected[i] && std::signbit(value) == std::signbit(expected[i]);
    EXPECT_TRUE(isSame) << "element " << i << " expects " << expected[i] << ", but got " << value;
  }
}

/// The kernel's values, the reference's view of them, and its view of those that are expected.
void expectResult(nereid::Operator op, const std::vector<nereid::Tensor> &inputs,
                  const std::vector<double> &expected) {
  const nereid::Tensor made =
      inputs.size() == 1 ? op(inputs[0]) : nereid::Tensor(op(inputs[0], inputs[1]));
  expectSame(made, expected);
  EXPECT_EQ(op.verify(inputs, {made}).text, "");
}

TEST(SpecialValues, ABoundThatIsNanMakesNan) {
  for (nereid::DType dtype : {nereid::DType::F32, nereid::DType::F64}) {
    const nereid::Tensor x = line({-0.5, nan, 1, -infinity, -0.0, 2}, dtype);
    const nereid::Tensor y = line({nan, 0, nan, 0, 0, 1}, dtype);
    expectResult(operatorOf("torch.clamp(x, min=y)", true), {x, y}, {nan, nan, nan, 0, -0.0, 2});
    expectResult(operatorOf("torch.clamp(x, max=y)", true), {x, y},
                 {nan, nan, nan, -infinity, -0.0, 1});
    expectResult(operatorOf("torch.clamp(x, min=-1, max=1)", false), {x},
                 {-0.5, nan, 1, -1, -0.0, 1});
  }
}

TEST(SpecialValues, PowersOfAHalfAreRoots) {
  for (nereid::DType dtype : {nereid::DType::F32, nereid::DType::F64}) {
    const nereid::Tensor x = line({4, nan, -infinity, -0.0, infinity, -1}, dtype);
    expectResult(operatorOf("x ** 0.5", false), {x}, {2, nan, nan, -0.0, infinity, nan});
    expectResult(operatorOf("torch.pow(x, -0.5)", false), {x}, {0.5, nan, nan, -infinity, 0, nan});
  }
}

/// In the kernel language a literal beside a function's operand is float32.
TEST(SpecialValues, NumbersAreNotRoundedToFloat32) {
  const nereid::Tensor x = line({1, -1, 2.5, 0.1}, nereid::DType::F64);
  const double tenth = 0.1;
  std::vector<double> rests, powers;
  for (double value : {1.0, -1.0, 2.5, tenth}) {
    rests.push_back(std::fmod(value, 0.7));
    powers.push_back(std::pow(0.7, value));
  }
  expectResult(operatorOf("torch.fmod(x, 0.7)", false), {x}, rests);
  const nereid::Tensor made = operatorOf("torch.pow(0.7, x)", false)(x);
  for (int64_t i = 0; i < 4; ++i) {
    EXPECT_NEAR(made.at(i), powers[static_cast<size_t>(i)], 1e-15);
  }
}

} // namespace
