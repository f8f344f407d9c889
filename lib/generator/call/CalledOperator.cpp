// SPDX-License-Identifier: Apache-2.0
// An operator as its callers see it, see CalledOperator.h.
#include "lib/generator/call/CalledOperator.h"

#include "lib/generator/ReservedNames.h"

#include <fmt/format.h>

namespace nereid::generator {

const Operand *CalledOperator::find(const std::string &name) const {
  for (const Operand &operand : operands) {
    if (operand.name == name) {
      return &operand;
    }
  }
  return nullptr;
}

const Operand *CalledOperator::writtenTo(const std::string &input) const {
  for (const Operand &operand : operands) {
    if (!operand.memory.empty() && operand.memory == input) {
      return &operand;
    }
  }
  return nullptr;
}

CalledOperator calledOperator(const definition::Operator &op) {
  CalledOperator called;
  called.op = op;
  for (size_t i = 0; i < op.parameters.size(); ++i) {
    const definition::Parameter &parameter = op.parameters[i];
    if (!parameter.isScalar) {
      Operand operand;
      operand.name = parameter.name;
      operand.index = static_cast<int>(i);
      operand.shape = parameter.shape;
      operand.fixedDtype = parameter.fixedDtype;
      called.operands.push_back(std::move(operand));
    }
  }
  for (size_t i = 0; i < op.outputs.size(); ++i) {
    Operand operand;
    operand.name = i < op.outputNames.size() ? op.outputNames[i] : "out";
    operand.isOutput = true;
    operand.index = static_cast<int>(i);
    operand.shape = op.nodes[static_cast<size_t>(op.outputs[i])].shape;
    operand.fixedDtype = i < op.outputDtypes.size() ? op.outputDtypes[i] : std::nullopt;
    if (const int parameter = definition::memoryOf(op, i); parameter >= 0) {
      operand.memory = op.parameters[static_cast<size_t>(parameter)].name;
    }
    called.operands.push_back(std::move(operand));
  }
  return called;
}

Status checkNames(const definition::Operator &op) {
  std::vector<std::string> names = op.outputNames;
  names.push_back(op.name);
  for (const definition::Parameter &parameter : op.parameters) {
    names.push_back(parameter.name);
  }
  for (const std::string &name : names) {
    if (isReservedName(name)) {
      return makeError("E0607", fmt::format("the name '{}' is reserved in generated files", name))
          .withHelp("choose another name for the operator, input or output");
    }
  }
  return Done{};
}

DType operandType(const Operand &operand, DType dtype) {
  return operand.fixedDtype.value_or(dtype);
}

} // namespace nereid::generator
