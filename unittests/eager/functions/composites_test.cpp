// SPDX-License-Identifier: Apache-2.0
// The formulas by which composites are opened (definition/operations/Decompose.cpp), for reference
// and generated kernels alike, against this folder's kernels of whole rows, variances and sums,
// which are written without them.
#include "unittests/eager/Values.h"

#include "lib/eager/reference/Reference.h"

#include <cmath>

namespace nereid::eager {
namespace {

Operator reading(const std::string &body, const std::string &shape) {
  Diagnostics diags;
  auto op = definition::parseOperator(
      "t.toml",
      "[operator]\nname='t'\nsummary='s'\ndtypes=['float64']\nbody='" + body +
          "'\n[inputs.x]\nshape=['R','D']\n[inputs.w]\nshape=['D']\n[inputs.b]\nshape=['D']\n"
          "[outputs.out]\nshape=" +
          shape + "\n[performance]\ncases=[{R=1,D=1}]\n",
      diags);
  EXPECT_TRUE(op) << diags.render();
  return *op;
}

struct Composite {
  const char *name, *body;
  /// The same without the composite; empty: its own kernel.
  const char *plain = "";
  const char *shape = "['R','D']";
};

const Composite composites[] = {
    {"softmax", "out = F.softmax(x * w, dim=-1) + b"},
    {"log_softmax", "out = F.log_softmax(x * w, dim=-1) + b"},
    {"logsumexp", "out = torch.logsumexp(x * w + b, dim=-1)",
     "out = torch.log(torch.sum(torch.exp(x * w + b), dim=-1))", "['R']"},
    {"layer_norm", "out = F.layer_norm(x, (D,), w, b, 0.125)"},
    {"layer_norm_alone", "out = F.layer_norm(x, (D,)) + w + b"},
    {"rms_norm", "out = F.rms_norm(x, (D,), w, 0.125) + b"},
    {"var", "out = torch.var(x + w * b, dim=-1, correction=0)", "", "['R']"},
    {"std", "out = torch.std(x + w * b, dim=-1, correction=0)", "", "['R']"},
};

class CompositeTest : public testing::TestWithParam<Composite> {};
INSTANTIATE_TEST_SUITE_P(All, CompositeTest, testing::ValuesIn(composites),
                         [](const auto &info) { return std::string(info.param.name); });

TEST_P(CompositeTest, IsWhatItsOwnKernelComputes) {
  const Composite &one = GetParam();
  const Operator op = reading(one.body, one.shape);
  const Operator plain = *one.plain ? reading(one.plain, one.shape) : op;
  std::vector<Tensor> in = {Tensor::empty({5, 37}, DType::F64), Tensor::empty({37}, DType::F64),
                            Tensor::empty({37}, DType::F64)};
  for (size_t i = 0; i < in.size(); ++i) {
    runtime::fillNormal(in[i], 3 + i);
  }
  auto computed = runGraph(plain, in, runtime::defaultPool());
  ASSERT_TRUE(computed) << render(computed.error());
  auto reference =
      runReference(op, in, DType::F64, Rounding::OncePerResult, runtime::defaultPool());
  ASSERT_TRUE(reference) << render(reference.error());
  const Tensor &values = (*reference)[0].values;
  ASSERT_EQ(values.elementCount(), (*computed)[0].elementCount());
  for (int64_t i = 0; i < values.elementCount(); ++i) {
    double expected = (*computed)[0].at(i);
    EXPECT_NEAR(values.at(i), expected, 1e-12 * (1 + std::fabs(expected))) << i;
  }
}

} // namespace
} // namespace nereid::eager
