// SPDX-License-Identifier: Apache-2.0
// The reference in blocks: what may be cut, that every element is checked at its own place, and
// that blocks give what the whole gives.
#include "unittests/eager/Values.h"

#include "lib/eager/reference/Reference.h"
#include "lib/eager/reference/ReferenceBlocks.h"

#include <cmath>

namespace nereid::eager {
namespace {

Operator reading(const std::string &body, const std::string &outputs) {
  Diagnostics diags;
  auto op = definition::parseOperator(
      "blocks.toml",
      "[operator]\nname = \"t\"\nsummary = \"s\"\ndtypes = [\"float32\"]\nbody = '''\n" + body +
          "\n'''\n[inputs.x]\nshape = [\"A\", \"R\", \"C\"]\n[inputs.y]\nshape = [\"C\"]\n" +
          outputs + "[performance]\ntarget_speedup = 1.0\ncases = [{ A = 2, R = 3, C = 4 }]\n",
      diags);
  EXPECT_TRUE(op) << diags.render();
  return definition::decomposed(*op);
}

std::vector<std::vector<int64_t>> sizesOf(const Operator &op, int64_t a, int64_t r, int64_t c) {
  definition::Binding binding;
  binding.symbols = {{"A", a}, {"R", r}, {"C", c}};
  std::vector<std::vector<int64_t>> sizes;
  for (const auto &node : op.nodes) {
    sizes.push_back(*definition::bind(node.shape, binding));
  }
  return sizes;
}

const std::string oneOutput = "[outputs.out]\nshape = [\"A\", \"R\"]\n";

TEST(Blocks, RowsOfAReductionWithoutKeepdimAreCut) {
  Operator op = reading("out = torch.sum(x * y, dim=-1)", oneOutput);
  BlockPlan plan = planBlocks(op, sizesOf(op, 64, 32, 512));
  EXPECT_EQ(plan.axes, (std::vector<int64_t>{64, 32}));
  EXPECT_EQ(plan.length, 8);
  EXPECT_EQ(plan.count, 64 * 4);
  EXPECT_TRUE(plan.isCut(0));
  EXPECT_FALSE(plan.isCut(1));
}

TEST(Blocks, ADimensionOfSizeOneLeavesTheCutToThoseBehindIt) {
  Operator op = reading("out = x + y", "[outputs.out]\nshape = [\"A\", \"R\", \"C\"]\n");
  BlockPlan plan = planBlocks(op, sizesOf(op, 1, 8192, 512));
  EXPECT_EQ(plan.axes, (std::vector<int64_t>{1, 8192}));
  EXPECT_EQ(plan.length, 8);
  EXPECT_EQ(plan.count, 1024);
}

TEST(Blocks, ReducedDimensionsAreNotCut) {
  Operator op = reading("out = torch.sum(x, dim=0)", "[outputs.out]\nshape = [\"R\", \"C\"]\n");
  BlockPlan plan = planBlocks(op, sizesOf(op, 10, 64, 4096));
  EXPECT_EQ(plan.axes, (std::vector<int64_t>{64, 4096}));
  EXPECT_EQ(plan.inputAxes[0], (std::vector<int>{-1, 0, 1}));
  Operator whole =
      reading("out = torch.softmax(x, dim=0)", "[outputs.out]\nshape = [\"A\", \"R\", \"C\"]\n");
  EXPECT_TRUE(planBlocks(whole, sizesOf(whole, 4, 4, 4)).axes.empty());
}

TEST(Blocks, ADimensionThatMeetsItsReducedSelfIsNotCut) {
  Operator op =
      reading("m = torch.sum(x, dim=(0, 1))\nout = torch.exp(x) @ torch.exp(m)", oneOutput);
  BlockPlan plan = planBlocks(op, sizesOf(op, 6, 6, 6));
  EXPECT_TRUE(plan.axes.empty());
}

TEST(Blocks, EveryWrongElementIsFoundAtItsPlace) {
  struct Form {
    const char *body, *outputs;
  };
  for (const Form &form :
       {Form{"out = torch.sum(x * y, dim=-1)", oneOutput.c_str()},
        Form{"out = torch.mean(x, dim=0)", "[outputs.out]\nshape = [\"R\", \"C\"]\n"},
        Form{"out = x - torch.amax(x, dim=1, keepdim=True)",
             "[outputs.out]\nshape = [\"A\", \"R\", \"C\"]\n"},
        Form{"m = torch.mean(x, dim=-1)\nout = torch.exp(x)",
             "[outputs.m]\nshape = [\"A\", \"R\"]\n[outputs.out]\nshape = [\"A\", \"R\", "
             "\"C\"]\n"}}) {
    Operator op = reading(form.body, form.outputs);
    std::vector<Tensor> in = {Tensor::empty({7, 33, 300}, DType::F32),
                              Tensor::empty({300}, DType::F32)};
    runtime::fillNormal(in[0], 1);
    runtime::fillNormal(in[1], 2);
    auto out = runGraph(op, in, runtime::defaultPool());
    ASSERT_TRUE(out) << form.body;
    auto check = [&] {
      return *checkOutputs(op, in, *out, DType::F32, Rounding::EachOperation,
                           runtime::defaultPool());
    };
    Comparison right = check();
    EXPECT_TRUE(right.passed()) << form.body;
    int64_t elements = 0;
    for (size_t o = 0; o < out->size(); ++o) {
      elements += (*out)[o].elementCount();
      int64_t last = (*out)[o].elementCount() - 1;
      for (int64_t at : {int64_t{0}, int64_t{17}, last / 2, last}) {
        double kept = (*out)[o].at(at);
        (*out)[o].set(at, kept + 1);
        Comparison wrong = check();
        EXPECT_EQ(wrong.mismatches, 1) << form.body;
        EXPECT_EQ(wrong.first.index, at) << form.body;
        EXPECT_EQ(wrong.first.output, static_cast<int>(o)) << form.body;
        (*out)[o].set(at, kept);
      }
    }
    EXPECT_EQ(right.elements, elements) << form.body;
  }
}

} // namespace
} // namespace nereid::eager
