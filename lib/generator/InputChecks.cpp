// SPDX-License-Identifier: Apache-2.0
#include "lib/generator/InputChecks.h"

namespace nereid::generator {

using Kind = InputCheck::Kind;

std::string leadInput(const CalledOperator &called) {
  for (const Operand &operand : called.operands) {
    if (!operand.isOutput && !operand.fixedDtype) {
      return operand.name;
    }
  }
  return "";
}

std::vector<InputCheck> inputChecks(const CalledOperator &called, const SizeNames &names) {
  std::vector<InputCheck> checks;
  const std::string lead = leadInput(called);
  for (size_t i = 0; i < called.operands.size(); ++i) {
    const Operand &operand = called.operands[i];
    if (operand.isOutput) {
      continue;
    }
    const bool hasRest = !operand.shape.empty() && operand.shape[0].isRest();
    checks.push_back({.kind = Kind::Rank,
                      .operand = &operand,
                      .count = operand.shape.size() - (hasRest ? 1 : 0),
                      .isAtLeast = hasRest});
    for (const SizeNames::Step &step : names.steps) {
      if (step.operand == static_cast<int>(i)) {
        checks.push_back({.kind = Kind::Size, .operand = &operand, .step = &step});
      }
    }
    checks.push_back({.kind = Kind::Shape, .operand = &operand});
    InputCheck type = {.kind = Kind::Type, .operand = &operand};
    if (operand.fixedDtype) {
      type.types = {*operand.fixedDtype};
    } else if (operand.name == lead) {
      type.types = called.op.dtypes;
    } else {
      type.sameAs = lead;
    }
    checks.push_back(std::move(type));
  }
  for (const CallParameter &parameter : callParameters(called)) {
    if (parameter.operand < 0 && parameter.isInteger) {
      checks.push_back({.kind = Kind::Whole, .number = parameter.name});
    }
  }
  return checks;
}

} // namespace nereid::generator
