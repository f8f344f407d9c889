// SPDX-License-Identifier: Apache-2.0
// The formulas of operations.def: each is read, leads to primitives, and uses every operand. What
// they compute is compared with the reference in unittests/generator/lower/row_test.cpp.
#include "lib/definition/operations/Lowering.h"

#include "lib/definition/operations/Operations.h"

#include <gtest/gtest.h>

#include <map>
#include <set>

namespace nereid::definition {
namespace {

/// How many operations deep a row opens; more than there are rows: it leads back to itself.
int depth(const Node &node, int limit) {
  const Operator *lowering = loweringOf(node);
  if (!lowering || limit == 0) {
    return 0;
  }
  int deepest = 0;
  for (const Node &inner : lowering->nodes) {
    deepest = std::max(deepest, depth(inner, limit - 1));
  }
  return deepest + 1;
}

TEST(Lowering, EveryTextIsRead) {
  EXPECT_GE(allLowerings().size(), 17u);
  for (const auto &[name, graph] : allLowerings()) {
    EXPECT_NE(graph, nullptr) << name;
  }
}

TEST(Lowering, EveryOperationUsesEachOperandAndLeadsToPrimitives) {
  std::map<std::string, std::set<int>> used;
  for (const auto &[name, graph] : allLowerings()) {
    for (const Node &node : graph->nodes) {
      used[graph->name].insert(node.inputs.begin(), node.inputs.end());
      EXPECT_LT(depth(node, 20), 20) << name;
    }
    EXPECT_EQ(findOperation(graph->name)->kind, OperationKind::Pointwise) << name;
  }
  for (const auto &[name, graph] : allLowerings()) {
    for (size_t i = 0; i < graph->parameters.size(); ++i) {
      // PyTorch's forward writes it on CPUs, and its kernels on GPUs read none.
      const bool isUnread = graph->parameters[i].name == "buffer";
      EXPECT_TRUE(isUnread || used[graph->name].contains(static_cast<int>(i)))
          << name << " " << graph->parameters[i].name;
    }
  }
}

TEST(Lowering, TheFormDependsOnAttributes) {
  Node gelu;
  gelu.op = "gelu";
  gelu.attributes["approximate"] = std::string("none");
  const Operator *exact = loweringOf(gelu);
  gelu.attributes["approximate"] = std::string("tanh");
  EXPECT_NE(loweringOf(gelu), exact);
  Node add;
  add.op = "add";
  EXPECT_EQ(loweringOf(add), nullptr);
}

} // namespace
} // namespace nereid::definition
