// SPDX-License-Identifier: Apache-2.0
// Calls operators that Nereid ships by their names, one of the program's own from its definition,
// and the gradient of one. Usage: operators
#include <nereid/operator.hpp>

#include <cmath>
#include <cstdio>

constexpr const char *definition = R"(
[operator]
name = "squared_distance"
summary = "Square of the difference from a row."
dtypes = ["float32", "float16"]
body = """
out = torch.square(x - y)
"""

[inputs.x]
shape = ["...", "D"]

[inputs.y]
shape = ["D"]

[outputs.out]
shape = ["...", "D"]

[performance]
cases = [{ "..." = [1024], D = 1024 }]
)";

int main() {
  try {
    const auto x = nereid::Tensor::empty({64, 1000}, nereid::DType::F32);
    const auto weight = nereid::Tensor::empty({1000}, nereid::DType::F32);
    const auto bias = nereid::Tensor::empty({1000}, nereid::DType::F32);
    x.fillNormal(1);
    weight.fill(1);
    bias.fill(0);

    const nereid::Operator layerNorm("layer_norm"), softmax("softmax");
    const nereid::Tensor normal = layerNorm(x, weight, bias, nereid::named("eps", 1e-6));
    const nereid::Tensor y = softmax(normal);
    double sum = 0;
    for (int64_t i = 0; i < 1000; ++i) {
      sum += y.at(i);
    }
    std::printf("softmax: a row sums to %.4f\n", sum);

    const auto distance = nereid::Operator::loadSource(definition);
    const nereid::Tensor out = distance(x, weight);
    const nereid::Verdict verdict = distance.verify({x, weight}, {out});
    std::printf("%s: %s\n", distance.name().c_str(),
                verdict.agrees ? "right" : verdict.text.c_str());

    // The gradient's own parameters tell what it reads.
    const nereid::Operator gradient = distance.backward("x");
    for (const nereid::Parameter &parameter : gradient.inputs()) {
      std::printf("%s reads %s %s\n", gradient.name().c_str(), parameter.name.c_str(),
                  parameter.shape.c_str());
    }
    const nereid::Tensor dx = gradient(normal, x, weight);
    const double expected = 2 * (x.at(5) - weight.at(5)) * normal.at(5);
    std::printf("gradient: %s\n", std::fabs(dx.at(5) - expected) < 1e-4 ? "right" : "wrong");
    return verdict.agrees && std::fabs(sum - 1) < 1e-4 && std::fabs(dx.at(5) - expected) < 1e-4 ? 0
                                                                                                : 1;
  } catch (const nereid::Error &error) {
    std::fprintf(stderr, "%s\n", error.what());
    return 2;
  }
}
