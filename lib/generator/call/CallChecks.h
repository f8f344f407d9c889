// SPDX-License-Identifier: Apache-2.0
// Whether an operator can be called with these sizes or these tensors, and what the sizes are then.
#pragma once

#include "lib/generator/call/CalledOperator.h"
#include "runtime/tensor/Tensor.h"

#include <map>
#include <span>
#include <string>
#include <vector>

namespace nereid::generator {

struct CheckedCall {
  definition::Binding binding;
  DType dtype = DType::F32; ///< the operator's
};

/// Every symbol is bound and every constraint is met.
Status checkCall(const CalledOperator &called, const definition::Binding &binding, DType dtype);
/// Shapes, types and constraints: inputs = tensor parameters in order, outputs in order. E0612,
/// E0617. `scalars` overrides the defaults of number parameters by name.
Result<CheckedCall> checkCall(const CalledOperator &called, std::span<const runtime::Tensor> inputs,
                              std::span<const runtime::Tensor> outputs,
                              const std::map<std::string, double> &scalars);

/// Symbol values that make the tensor parameters have these shapes; E0612 on a contradiction. Size
/// inputs have what `scalars` says, or the shapes of `outputs`, or their defaults.
Result<definition::Binding> bindingOf(const CalledOperator &called,
                                      std::span<const runtime::Tensor> inputs,
                                      const std::map<std::string, double> &scalars = {},
                                      std::span<const runtime::Tensor> outputs = {});
/// Shape of each output.
Result<std::vector<std::vector<int64_t>>> outputShapes(const CalledOperator &called,
                                                       const definition::Binding &binding);

/// E0612: what a tensor has is not what the definition says.
Diagnostic misfit(const CalledOperator &called, const Operand &operand, const std::string &expects,
                  const std::string &got);

} // namespace nereid::generator
