// SPDX-License-Identifier: Apache-2.0
#include "lib/generator/call/CallChecks.h"

#include "lib/definition/operations/Shape.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <cmath>

namespace nereid::generator {
namespace {

/// Every symbol of the operands must be bound.
Status checkBinding(const CalledOperator &called, const definition::Binding &binding) {
  for (const Operand &operand : called.operands) {
    if (auto sizes = definition::bind(operand.shape, binding); !sizes) {
      return sizes.error();
    }
  }
  return Done{};
}

/// Numbers are doubles, which hold integers of 53 bits.
constexpr double mostSize = 9007199254740992.0;

/// Of the first output that has the size as a dimension; else the default.
double sizeFromOutputs(const CalledOperator &called, const definition::Parameter &size,
                       std::span<const runtime::Tensor> outputs) {
  size_t number = 0;
  for (const Operand &operand : called.operands) {
    if (!operand.isOutput || number >= outputs.size()) {
      continue;
    }
    const std::vector<int64_t> &sizes = outputs[number++].shape();
    for (size_t d = 0; d < operand.shape.size() && sizes.size() == operand.shape.size(); ++d) {
      if (operand.shape[d].symbol == size.name) {
        return static_cast<double>(sizes[d]);
      }
    }
  }
  return size.value;
}

} // namespace

Diagnostic misfit(const CalledOperator &called, const Operand &operand, const std::string &expects,
                  const std::string &got) {
  return makeError("E0612", fmt::format("'{}' of operator '{}' expects {}, but got {}",
                                        operand.name, called.op.name, expects, got))
      .withHelp(fmt::format("the definition gives '{}' the shape {}", operand.name,
                            definition::text(operand.shape)));
}

Result<std::vector<std::vector<int64_t>>> outputShapes(const CalledOperator &called,
                                                       const definition::Binding &binding) {
  std::vector<std::vector<int64_t>> shapes;
  for (const Operand &operand : called.operands) {
    if (!operand.isOutput) {
      continue;
    }
    auto shape = definition::bind(operand.shape, binding);
    if (!shape) {
      return shape.error();
    }
    shapes.push_back(std::move(*shape));
  }
  return shapes;
}

Result<definition::Binding> bindingOf(const CalledOperator &called,
                                      std::span<const runtime::Tensor> inputs,
                                      const std::map<std::string, double> &scalars,
                                      std::span<const runtime::Tensor> outputs) {
  definition::Binding binding;
  for (const definition::Parameter &parameter : called.op.parameters) {
    if (!parameter.isSize()) {
      continue;
    }
    auto given = scalars.find(parameter.name);
    const double size =
        given == scalars.end() ? sizeFromOutputs(called, parameter, outputs) : given->second;
    if (!(size >= 0) || size != std::trunc(size) || size > mostSize) {
      return makeError("E0612", fmt::format("'{}' of operator '{}' expects a size, but got {}",
                                            parameter.name, called.op.name, size));
    }
    binding.symbols[parameter.name] = static_cast<int64_t>(size);
  }
  bool isRestBound = false;
  size_t number = 0;
  for (const Operand &operand : called.operands) {
    if (operand.isOutput) {
      continue;
    }
    if (number >= inputs.size()) {
      return misfit(called, operand, "a tensor", "none");
    }
    const std::vector<int64_t> &sizes = inputs[number++].shape();
    bool hasRest = !operand.shape.empty() && operand.shape.front().isRest();
    size_t fixed = operand.shape.size() - (hasRest ? 1 : 0);
    if (sizes.size() < fixed || (!hasRest && sizes.size() != fixed)) {
      return misfit(called, operand,
                    fmt::format("{}{} dimensions", hasRest ? "at least " : "", fixed),
                    definition::sizesText(sizes));
    }
    size_t lead = sizes.size() - fixed;
    std::vector<int64_t> rest(sizes.begin(), sizes.begin() + static_cast<std::ptrdiff_t>(lead));
    if (hasRest && isRestBound && rest != binding.rest) {
      return misfit(called, operand,
                    fmt::format("leading sizes [{}]", fmt::join(binding.rest, ", ")),
                    definition::sizesText(sizes));
    }
    if (hasRest) {
      binding.rest = rest;
      isRestBound = true;
    }
    for (size_t i = 0; i < fixed; ++i) {
      const definition::Dim &dim = operand.shape[i + (hasRest ? 1 : 0)];
      int64_t size = sizes[lead + i];
      int64_t expected = dim.constant;
      if (!dim.symbol.empty()) {
        expected = binding.symbols.emplace(dim.symbol, size).first->second;
      }
      if (size != expected) {
        return misfit(called, operand,
                      fmt::format("{} = {}", dim.symbol.empty() ? "size" : dim.symbol, expected),
                      definition::sizesText(sizes));
      }
    }
  }
  return binding;
}

Status checkCall(const CalledOperator &called, const definition::Binding &binding, DType dtype) {
  if (auto bound = checkBinding(called, binding); !bound) {
    return bound;
  }
  return definition::checkConstraints(called.op, binding, dtype);
}

Result<CheckedCall> checkCall(const CalledOperator &called, std::span<const runtime::Tensor> inputs,
                              std::span<const runtime::Tensor> outputs,
                              const std::map<std::string, double> &scalars) {
  auto binding = bindingOf(called, inputs, scalars, outputs);
  if (!binding) {
    return binding.error();
  }
  std::optional<DType> dtype;
  size_t in = 0, out = 0;
  for (const Operand &operand : called.operands) {
    std::span<const runtime::Tensor> from = operand.isOutput ? outputs : inputs;
    size_t number = operand.isOutput ? out++ : in++;
    if (number >= from.size()) {
      return misfit(called, operand, "a tensor", "none");
    }
    const runtime::Tensor &tensor = from[number];
    if (!operand.fixedDtype && !dtype) {
      dtype = tensor.dtype();
    }
    const bool isBroken =
        !operand.isOutput && !tensor.isContiguous() &&
        definition::mustBeContiguous(called.op, static_cast<size_t>(operand.index));
    if (isBroken) {
      return makeError("E0617", fmt::format("'{}' expects {}.is_contiguous(), but got strides {}",
                                            called.op.name, operand.name,
                                            definition::sizesText(tensor.strides())))
          .withHelp("copy the tensor first, or drop the constraint: others are copied as needed");
    }
    DType expected = operand.fixedDtype ? *operand.fixedDtype : *dtype;
    if (tensor.dtype() != expected) {
      return misfit(called, operand, std::string(torchName(expected)),
                    std::string(torchName(tensor.dtype())));
    }
    auto sizes = definition::bind(operand.shape, *binding);
    if (!sizes) {
      return sizes.error();
    }
    if (tensor.shape() != *sizes) {
      return misfit(called, operand, definition::sizesText(*sizes),
                    definition::sizesText(tensor.shape()));
    }
  }
  std::vector<double> numbers;
  for (const definition::Parameter &parameter : called.op.parameters) {
    auto given = scalars.find(parameter.name);
    numbers.push_back(given == scalars.end() ? parameter.value : given->second);
  }
  if (auto met = definition::checkConstraints(called.op, *binding, dtype, numbers); !met) {
    return met.error();
  }
  return CheckedCall{std::move(*binding),
                     dtype.value_or(called.op.dtypes.empty() ? DType::F32 : called.op.dtypes[0])};
}

} // namespace nereid::generator
