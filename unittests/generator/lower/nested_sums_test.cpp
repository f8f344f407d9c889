// SPDX-License-Identifier: Apache-2.0
// Sums of sums of products: one product where that has the outer sum's dimensions in both factors,
// else a sum of a product's results.
#include "lib/generator/fuse/Contraction.h"
#include "lib/generator/index/NodeQueries.h"
#include "lib/generator/lower/Lower.h"
#include "unittests/generator/Making.h"

namespace nereid::generator {
namespace {

/// "3 1", how many iterators each reduction has, inner ones first; "p3" for a product's.
std::string reductionsOfBody(const std::string &body, const std::string &shape) {
  const std::string inputs = "[inputs.x]\nshape = [\"B\", \"M\", \"K\"]\n"
                             "[inputs.w]\nshape = [\"B\", \"K\", \"N\"]\n";
  auto program = lower(made("out = " + body, inputs, shape, "\"float32\""), DType::F32);
  EXPECT_TRUE(bool(program));
  std::string text;
  for (const Node *node : reductionsOf(rootsOf(program->stages.at(0).stores))) {
    text += (text.empty() ? "" : " ") + std::string(contractionOf(*node) ? "p" : "") +
            std::to_string(node->iterators.size());
  }
  return text;
}

TEST(NestedSums, AreOneProductAlongWhatBothFactorsHave) {
  EXPECT_EQ(reductionsOfBody("(x @ w).sum(dim=0)", "\"M\", \"N\""), "p2");
  EXPECT_EQ(reductionsOfBody("(x[0] * x[1]).sum(dim=-1).sum(dim=-1)", ""), "2") << "no product";
}

TEST(NestedSums, LeaveAProductWhatItIs) {
  EXPECT_EQ(reductionsOfBody("(x @ w).sum(dim=-1)", "\"B\", \"M\""), "p1 1");
  EXPECT_EQ(reductionsOfBody("(x @ w).mean(dim=(1, 2))", "\"B\""), "p1 2");
  EXPECT_EQ(reductionsOfBody("(x @ w).sum(dim=(0, 1))", "\"N\""), "p2 1");
}

/// Else each place would be multiplied anew for every window that has it.
TEST(NestedSums, AreReducedOnceForWindowsThatOverlap) {
  EXPECT_EQ(reductionsOfBody("(x @ w).unfold(1, 3, 1).amax(dim=-1)", "\"B\", \"M - 2\", \"N\""),
            "p1 1");
  EXPECT_EQ(reductionsOfBody("(x @ w).unfold(1, 2, 2).amax(dim=-1)", "\"B\", \"M // 2\", \"N\""),
            "p1 p1");
  EXPECT_EQ(reductionsOfBody("x.unfold(1, 3, 1).amax(dim=-1)", "\"B\", \"M - 2\", \"K\""), "");
}

} // namespace
} // namespace nereid::generator
