// SPDX-License-Identifier: Apache-2.0
// Each operation of operations.def, lowered and evaluated, against the reference, which knows the
// operation itself and not its lowering. Both are float64, each within the reference's own bound of
// the exact value.
#include "lib/generator/lower/Lower.h"

#include "lib/eager/reference/Reference.h"
#include "lib/generator/normalise/Normalise.h"
#include "lib/generator/program/Evaluate.h"
#include "lib/generator/program/Verify.h"
#include "unittests/generator/lower/Rows.h"

#include <cmath>

namespace nereid::generator {
namespace {

using runtime::Tensor;

void expectReference(const std::string &what, const definition::Operator &op, const Sample &sample,
                     DType dtype, bool isNormalised) {
  SCOPED_TRACE(what + " " + std::string(torchName(dtype)));
  std::vector<Tensor> inputs = dataFor(op, sample, dtype, 1);
  auto reference = eager::runReference(op, inputs, dtype, eager::Rounding::OncePerResult,
                                       runtime::defaultPool());
  ASSERT_TRUE(bool(reference)) << render(reference.error());
  auto program = lower(op, dtype);
  ASSERT_TRUE(bool(program)) << render(program.error());
  if (isNormalised) {
    normalise(*program);
  }
  Status status = verify(*program);
  ASSERT_TRUE(bool(status)) << render(status.error()) << print(*program);
  EvaluationInput data{sample.sizes, {}, {}};
  for (size_t i = 0; i < inputs.size(); ++i) {
    std::vector<double> &elements = data.memory[op.parameters[i].name];
    for (int64_t at = 0; at < inputs[i].elementCount(); ++at) {
      elements.push_back(inputs[i].at(at));
    }
  }
  auto memory = evaluate(*program, data);
  ASSERT_TRUE(bool(memory)) << memory.error().message << print(*program);
  const std::vector<double> &out = memory->at("out");
  ASSERT_EQ(static_cast<int64_t>(out.size()), (*reference)[0].values.elementCount());
  for (size_t at = 0; at < out.size(); ++at) {
    const double expected = (*reference)[0].values.at(static_cast<int64_t>(at));
    const double bound = (*reference)[0].bounds.at(static_cast<int64_t>(at));
    const bool isSame = out[at] == expected || (std::isnan(out[at]) && std::isnan(expected)) ||
                        std::fabs(out[at] - expected) <= 2 * bound;
    ASSERT_TRUE(isSame) << "element " << at << " is " << out[at] << ", not " << expected
                        << ", bound " << bound << "\n"
                        << print(*program);
    ASSERT_TRUE(std::isfinite(bound)) << "element " << at;
  }
}

// ---- pointwise rows ----

class PointwiseRow : public testing::TestWithParam<std::string> {};
INSTANTIATE_TEST_SUITE_P(All, PointwiseRow, testing::ValuesIn(pointwiseRows()),
                         [](const auto &info) { return info.param; });

TEST_P(PointwiseRow, LoweringIsTheReference) {
  for (bool givesAll : {false, true}) {
    for (DType dtype : {DType::F64, DType::I32}) {
      Sample sample = call(GetParam(), givesAll);
      if (auto op = rowOf(GetParam(), sample, dtype)) {
        expectReference(GetParam(), *op, sample, dtype, givesAll);
      }
    }
  }
}

// ---- the others ----

constexpr const char *matrix = "[inputs.x]\nshape = [\"N\", \"M\"]\n";
constexpr const char *cube = "[inputs.x]\nshape = [\"B\", \"N\", \"M\"]\n";

TEST(Rows, ReductionsOverAnyDimensions) {
  for (const char *name : {"sum", "mean", "prod", "amax", "amin", "var", "std"}) {
    for (const char *dims : {"dim=-1", "dim=0", "dim=(0, 2)", "dim=1, keepdim=True"}) {
      const std::string out = std::string(dims) == "dim=-1"       ? "\"B\", \"N\""
                              : std::string(dims) == "dim=0"      ? "\"N\", \"M\""
                              : std::string(dims) == "dim=(0, 2)" ? "\"N\""
                                                                  : "\"B\", 1, \"M\"";
      if (std::string(name) == "prod" && out == "\"N\"") {
        continue; // one dimension, as in PyTorch
      }
      const Sample sample{"out = torch." + std::string(name) + "(x, " + dims + ")",
                          cube,
                          out,
                          {{2, 3, 4}},
                          {2, 3, 4}};
      const definition::Operator op = made(sample.body, sample.inputs, out, "\"float64\"");
      expectReference(sample.body, op, sample, DType::F64, false);
      expectReference(sample.body, op, sample, DType::F64, true);
    }
  }
}

TEST(Rows, Composites) {
  const std::vector<std::string> bodies = {
      "out = F.softmax(x, dim=-1)",
      "out = F.softmax(x, dim=0)",
      "out = F.log_softmax(x, dim=1)",
      "out = F.layer_norm(x, (M,))",
      "out = F.rms_norm(x, (M,))",
      "out = x - torch.logsumexp(x, dim=0, keepdim=True)",
      "out = torch.where(x > 0.5, x * 2, F.gelu(x, approximate='tanh')) ** 2",
      "out = (x.permute(1, 0) * 3).permute(1, 0) + (x == x)",
      "out = x - x.sum(dim=-1).unsqueeze(-1) * x.sum(dim=0).unsqueeze(0)",
  };
  for (const std::string &body : bodies) {
    const Sample sample{body, matrix, "\"N\", \"M\"", {{3, 5}}, {3, 5}};
    const definition::Operator op = made(body, matrix, sample.outShape, "\"float64\"");
    expectReference(body, op, sample, DType::F64, false);
    expectReference(body, op, sample, DType::F64, true);
  }
}

TEST(Rows, NumbersMadeOfSizes) {
  const std::vector<std::string> bodies = {
      "out = x / math.sqrt(M)",
      "out = x * (2 * N - M) + M ** 2",
      "out = (x - x.sum(dim=-1, keepdim=True) / M) * (1.5 / (N + 1))",
      "out = x * math.log(M) + math.exp(-N / M) - N ** -0.5",
      "out = torch.where(x < N, x + M, x - float(M) / 2)",
  };
  for (const std::string &body : bodies) {
    const Sample sample{body, matrix, "\"N\", \"M\"", {{3, 5}}, {3, 5}};
    const definition::Operator op = made(body, matrix, sample.outShape, "\"float64\"");
    expectReference(body, op, sample, DType::F64, false);
    expectReference(body, op, sample, DType::F64, true);
  }
  const Sample whole{"out = x * M + (N - 7)", matrix, "\"N\", \"M\"", {{3, 5}}, {3, 5}};
  const definition::Operator op = made(whole.body, matrix, whole.outShape, "\"int32\"");
  expectReference(whole.body, op, whole, DType::I32, false);
  expectReference(whole.body, op, whole, DType::I32, true);
}

TEST(Rows, Products) {
  for (const Sample &sample : products()) {
    const definition::Operator op =
        made(sample.body, sample.inputs, sample.outShape, "\"float64\"");
    expectReference(sample.body, op, sample, DType::F64, false);
    expectReference(sample.body, op, sample, DType::F64, true);
  }
}

TEST(Rows, Convolutions) {
  for (const Sample &sample : convolutions()) {
    const definition::Operator op =
        made(sample.body, sample.inputs, sample.outShape, "\"float64\"");
    expectReference(sample.body, op, sample, DType::F64, false);
    expectReference(sample.body, op, sample, DType::F64, true);
  }
}

TEST(Rows, ConvolutionsWithoutALowering) {
  const definition::Operator op = made("out = conv2d(x, w, padding=\"same\")",
                                       "[inputs.x]\nshape = [\"N\", 4, 8, 8]\n"
                                       "[inputs.w]\nshape = [5, 4, \"K\", 3]\n",
                                       "\"N\", 5, 8, 8", "\"float32\"");
  auto program = lower(op, DType::F32);
  ASSERT_FALSE(bool(program));
  EXPECT_EQ(program.error().code + ": " + program.error().message,
            "E0607: operation 'conv2d with padding=\"same\" of a kernel whose size is a symbol' "
            "has no lowering");
}

TEST(Rows, SoftmaxIsOneIterationSpace) {
  auto program =
      lower(made("out = F.softmax(x, dim=-1)", matrix, "\"N\", \"M\"", "\"float16\""), DType::F16);
  ASSERT_TRUE(bool(program));
  normalise(*program);
  const std::string text = print(*program);
  EXPECT_EQ(text.substr(text.find("stage(")), R"(stage("t")
t_1 = cast(x[i, r], fp32)
t_2 = exp(t_1 - max[r](t_1))
out[i, r] = t_2 / sum[r](t_2)
)");
}

} // namespace
} // namespace nereid::generator
