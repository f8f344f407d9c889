// SPDX-License-Identifier: Apache-2.0
#include "lib/eager/reference/rules/FormulaRule.h"

#include "lib/definition/operations/Lowering.h"

#include <algorithm>
#include <vector>

namespace nereid::eager {

using definition::Node;

/// Values are numbered: first the operands, then a constant or a result for each node behind them.
struct Formula {
  struct Step {
    Rule rule; ///< without `run`: a constant
    std::vector<int> inputs;
    Bounded constant;
  };
  int operandCount = 0;
  std::vector<Step> steps;
  int result = 0;
};

namespace {

constexpr int64_t block = 256;
constexpr size_t mostOperands = 8;

void runFormula(const Rule &rule, const Bounded *const *operands, const int64_t *steps,
                Bounded *out, int64_t n) {
  const Formula &formula = *rule.formula;
  const auto given = static_cast<size_t>(formula.operandCount);
  std::vector<std::vector<Bounded>> made(formula.steps.size());
  for (size_t i = 0; i < made.size(); ++i) {
    const Formula::Step &step = formula.steps[i];
    made[i].resize(step.rule.run ? block : 1, step.constant);
  }
  for (int64_t begin = 0; begin < n; begin += block) {
    const int64_t count = std::min(block, n - begin);
    for (size_t i = 0; i < made.size(); ++i) {
      const Formula::Step &step = formula.steps[i];
      if (!step.rule.run) {
        continue;
      }
      const Bounded *in[mostOperands];
      int64_t advance[mostOperands];
      for (size_t k = 0; k < step.inputs.size(); ++k) {
        const auto value = static_cast<size_t>(step.inputs[k]);
        const bool isOperand = value < given;
        in[k] = isOperand ? operands[value] + begin * steps[value] : made[value - given].data();
        advance[k] = isOperand ? steps[value] : formula.steps[value - given].rule.run ? 1 : 0;
      }
      step.rule.run(step.rule, in, advance, made[i].data(), count);
    }
    std::copy_n(made[static_cast<size_t>(formula.result) - given].begin(), count, out + begin);
  }
}

} // namespace

Rule formulaRule(const Node &node, const ErrorModel &model) {
  Rule rule;
  const definition::Operator *graph = definition::loweringOf(node, model.compute);
  if (!graph) {
    return rule;
  }
  // Only the result is stored.
  ErrorModel inside = model;
  inside.storesEachOperation = false;
  auto formula = std::make_shared<Formula>();
  formula->operandCount = static_cast<int>(node.inputs.size());
  formula->result = graph->outputs[0];
  for (size_t i = node.inputs.size(); i < graph->nodes.size(); ++i) {
    const Node &inner = graph->nodes[i];
    Formula::Step step;
    if (inner.op == "constant") {
      const double value = definition::constantValue(inner);
      const double own =
          model.compute == DType::F32 ? static_cast<double>(static_cast<float>(value)) : value;
      step.constant = {value, std::isfinite(own) ? std::fabs(own - value) : 0};
    } else {
      const bool isLast = static_cast<int>(i) == formula->result;
      step.rule = makeRule(inner, *definition::findOperation(inner.op), isLast ? model : inside);
      step.inputs = inner.inputs;
      if (!step.rule.run) {
        return rule;
      }
    }
    formula->steps.push_back(std::move(step));
  }
  if (formula->result < formula->operandCount) {
    return rule;
  }
  rule.formula = std::move(formula);
  rule.run = runFormula;
  return rule;
}

} // namespace nereid::eager
