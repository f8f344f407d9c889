// SPDX-License-Identifier: Apache-2.0
// Gradients of operators on the CPU beside differences: backward operators, and operators that
// carry their gradients with them.
#include "nereid/operator.hpp"
#include "unittests/capi/Errors.h"

#include <map>

namespace {

using nereid::DType;
using nereid::Sizes;
using nereid::Tensor;

Tensor normal(const Sizes &shape, uint64_t seed) {
  Tensor tensor = Tensor::empty(shape, DType::F32);
  tensor.fillNormal(seed);
  return tensor;
}

std::string textOf(const std::string &body, const std::string &more = "") {
  return "[operator]\nname = \"op\"\nsummary = \"s\"\ndtypes = [\"float32\"]\nbody = \"\"\"\n" +
         body + "\n\"\"\"\n[inputs.x]\nshape = [\"M\", \"N\"]\n" + more +
         "[outputs.out]\nshape = [\"M\", \"N\"]\n[performance]\ncases = [{ M = 2, N = 4 }]\n";
}

/// (sum(out(x + h) * dy) - sum(out(x - h) * dy)) / 2h for each element, in float64 on the host.
template <class Forward>
void expectGradient(const Tensor &dx, const Tensor &x, const Tensor &dy, const Forward &forward) {
  constexpr double step = 1e-2;
  for (int64_t i = 0; i < x.elementCount(); ++i) {
    double sums[2] = {};
    for (int side : {0, 1}) {
      const Tensor moved = x.to(DType::F32);
      moved.set(i, x.at(i) + (side ? step : -step));
      const Tensor out = forward(moved);
      for (int64_t j = 0; j < out.elementCount(); ++j) {
        sums[side] += out.at(j) * dy.at(j);
      }
    }
    EXPECT_NEAR(dx.at(i), (sums[1] - sums[0]) / (2 * step), 5e-3) << "element " << i;
  }
}

/// The arguments of a backward operator by name.
Tensor gradientOf(const nereid::Operator &backward, const std::map<std::string, Tensor> &known) {
  std::vector<nereid_argument> raw;
  for (const nereid::Parameter &parameter : backward.inputs()) {
    if (!parameter.isNumber) {
      raw.push_back(nereid::Argument(known.at(parameter.name)).get());
    }
  }
  nereid_tensor *result = nullptr;
  nereid::check(nereid_operator_call(backward.get(), raw.data(), raw.size(), &result, 1, nullptr));
  return Tensor(result);
}

TEST(OperatorGradients, AreThoseOfDifferences) {
  const Tensor x = normal({2, 6}, 1), dy = normal({2, 6}, 2);
  const nereid::Operator softmax("softmax");
  const Tensor y = softmax(x);
  const Tensor dx = gradientOf(softmax.backward("x"), {{"grad_out", dy}, {"x", x}, {"out", y}});
  expectGradient(dx, x, dy, [&](const Tensor &moved) -> Tensor { return softmax(moved); });

  const nereid::Operator norm("layer_norm");
  const Tensor weight = normal({6}, 3), bias = normal({6}, 4);
  const Tensor out = norm(x, weight, bias);
  const Tensor byX =
      gradientOf(norm.backward("x"),
                 {{"grad_out", dy}, {"x", x}, {"weight", weight}, {"bias", bias}, {"out", out}});
  expectGradient(byX, x, dy,
                 [&](const Tensor &moved) -> Tensor { return norm(moved, weight, bias); });
}

TEST(OperatorGradients, AreRefusedWhereThereIsNone) {
  const nereid::Operator softmax("softmax");
  EXPECT_EQ(errorOf([&] { softmax.backward("z"); }).code(), "E0620");
  const nereid::Operator rounded = nereid::Operator::loadSource(textOf("out = torch.round(x)"));
  EXPECT_EQ(errorOf([&] { rounded.backward(); }).code(), "E0620");
}

TEST(Differentiable, JoinsBothDirections) {
  const Tensor x = normal({5, 7}, 1), w = normal({3, 7}, 2), b = normal({3}, 3),
               dy = normal({5, 3}, 4);
  const nereid::Differentiable linear("linear");
  const auto y = linear(x, w, b);
  EXPECT_TRUE(nereid::Operator("linear").verify({x, w, b}, {y}).agrees);
  const auto [dx, dw, db] = y.backward(dy).as<3>();
  const nereid::Operator forward("linear");
  expectGradient(dx, x, dy, [&](const Tensor &moved) -> Tensor { return forward(moved, w, b); });
  expectGradient(dw, w, dy, [&](const Tensor &moved) -> Tensor { return forward(x, moved, b); });
  expectGradient(db, b, dy, [&](const Tensor &moved) -> Tensor { return forward(x, w, moved); });
}

TEST(Differentiable, OfAttentionBySomeInputs) {
  const Tensor q = normal({2, 3, 4}, 1), k = normal({2, 5, 4}, 2), v = normal({2, 5, 6}, 3),
               dy = normal({2, 3, 6}, 4);
  const nereid::Operator forward("attention");
  const auto made = nereid::Differentiable("attention", "k", "q")(q, k, v);
  const auto [dk, dq] = made.backward(dy).as<2>();
  expectGradient(dk, k, dy, [&](const Tensor &moved) -> Tensor { return forward(q, moved, v); });
  expectGradient(dq, q, dy, [&](const Tensor &moved) -> Tensor { return forward(moved, k, v); });
}

TEST(Differentiable, KeepsNumbersAndNames) {
  const Tensor x = normal({4, 6}, 1), weight = normal({6}, 2), bias = normal({6}, 3),
               dy = normal({4, 6}, 4);
  const nereid::Operator norm("layer_norm");
  const auto byName = [&](const Tensor &moved) -> Tensor {
    return norm(moved, nereid::named("weight", weight), nereid::named("bias", bias),
                nereid::named("eps", 0.5));
  };
  const auto made = nereid::Differentiable(norm, "x")(
      x, nereid::named("weight", weight), nereid::named("bias", bias), nereid::named("eps", 0.5));
  expectGradient(made.backward(dy), x, dy, byName);
  const auto byPlace = nereid::Differentiable(norm, "x")(x, weight, bias, 0.5);
  expectGradient(byPlace.backward(dy), x, dy, byName);
}

TEST(Differentiable, TakesTheGradientOfADefinition) {
  const nereid::Operator twice = nereid::Operator::loadSource(
      textOf("out = x * x", "[gradient]\nx = \"3 * grad_out\"\n")); // wrong, and taken
  const Tensor x = normal({2, 4}, 1), dy = normal({2, 4}, 2);
  const Tensor dx = nereid::Differentiable(twice)(x).backward(dy);
  for (int64_t i = 0; i < dx.elementCount(); ++i) {
    EXPECT_FLOAT_EQ(static_cast<float>(dx.at(i)), static_cast<float>(3 * dy.at(i)));
  }
}

TEST(Differentiable, CountsGradients) {
  const Tensor x = normal({2, 4}, 1);
  const auto y = nereid::Differentiable("softmax")(x);
  EXPECT_NE(std::string(errorOf([&] { y.backward(); }).what()).find("'grad_out'"),
            std::string::npos);
  EXPECT_NE(std::string(errorOf([&] { y.backward(x, x); }).what()).find("expects 1 gradients"),
            std::string::npos);
  EXPECT_EQ(errorOf([&] { nereid::Differentiable("softmax", "z"); }).code(), "E0620");
}

} // namespace
