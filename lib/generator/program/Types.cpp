// SPDX-License-Identifier: Apache-2.0
// Types of values, see Types.h. Promotion has been made explicit by casts before a Program exists.
#include "lib/generator/program/Types.h"

#include "lib/definition/operations/Operations.h"

#include <fmt/format.h>

#include <algorithm>

namespace nereid::generator {
namespace {

bool isLogical(const std::string &name) { return name.starts_with("logical_"); }

const definition::Operation *pointwise(const std::string &name) {
  const definition::Operation *operation = definition::findOperation(name);
  return operation && operation->kind == definition::OperationKind::Pointwise ? operation : nullptr;
}

std::string typesOf(const std::vector<const Node *> &inputs) {
  std::string text;
  for (const Node *input : inputs) {
    text += fmt::format("{}{}", text.empty() ? "" : ", ", kernelName(input->dtype));
  }
  return text;
}

} // namespace

bool isOrdinal(const std::string &name) { return name == "ordinal" || name == "of_ordinal"; }

std::string mapComplaint(const std::string &name, const std::vector<const Node *> &inputs) {
  if (isOrdinal(name)) {
    const DType type = name == "ordinal" ? DType::F32 : DType::I32;
    return inputs.size() == 1 && inputs[0]->dtype == type
               ? ""
               : fmt::format("'{}' expects one operand of {}, but got {}", name, kernelName(type),
                             typesOf(inputs));
  }
  const definition::Operation *operation = pointwise(name);
  if (!operation && name != "cast") {
    return fmt::format("'{}' is no pointwise operation", name);
  }
  size_t count = operation ? static_cast<size_t>(operation->operandCount()) : 1;
  if (inputs.size() != count) {
    return fmt::format("'{}' has {} operands, but got {}", name, count, inputs.size());
  }
  // Conditions are bool; what they choose from, and operands of anything else, have one type.
  size_t condition = name == "where" ? 0 : name == "masked_fill" ? 1 : count;
  const Node *first = inputs[condition == 0 ? 1 : 0];
  for (size_t i = 0; i < count; ++i) {
    bool isCondition = i == condition || isLogical(name);
    if (isCondition ? inputs[i]->dtype != DType::Bool : inputs[i]->dtype != first->dtype) {
      return fmt::format("'{}' expects {}, but got {}", name,
                         isCondition ? "a bool as condition" : "operands of one type",
                         typesOf(inputs));
    }
  }
  bool needsFloat = operation && (operation->result == definition::ResultType::Float ||
                                  operation->result == definition::ResultType::FloatOnly);
  bool needsInteger = operation && operation->result == definition::ResultType::IntegerOnly;
  if ((needsFloat && !isFloat(first->dtype)) || (needsInteger && isFloat(first->dtype))) {
    return fmt::format("'{}' expects {}, but got {}", name, needsFloat ? "floats" : "integers",
                       typesOf(inputs));
  }
  return "";
}

DType mapType(const std::string &name, const std::vector<const Node *> &inputs) {
  if (isOrdinal(name)) {
    return name == "ordinal" ? DType::I32 : DType::F32;
  }
  const definition::Operation *operation = pointwise(name);
  if (operation && operation->result == definition::ResultType::Bool) {
    return DType::Bool;
  }
  return inputs[name == "where" && inputs.size() > 1 ? 1 : 0]->dtype;
}

DType componentType(const Node &tuple, uint32_t component) {
  if (tuple.kind == NodeKind::Order) {
    return component == 0 ? tuple.inputs[0]->dtype : DType::I64;
  }
  return component < tuple.inputs.size() ? tuple.inputs[component]->dtype : tuple.dtype;
}

} // namespace nereid::generator
