// SPDX-License-Identifier: Apache-2.0
// The reference of a case, in PyTorch's names and evaluated in float64: what the outputs of a
// launch should hold, and whether they do.
#pragma once

#include "lib/eager/Comparison.h"
#include "lib/launch/KernelCases.h"

#include <optional>
#include <string>
#include <vector>

namespace nereid::launch {

/// Gives the case's computed inputs their content, evaluated in float64 from the other inputs.
Status computeInputs(const KernelCase &testCase, const KernelArguments &arguments);

/// The reference of one case as an operator over the inputs' present shapes.
Result<definition::Operator> referenceOperator(const KernelCase &testCase,
                                               const KernelArguments &arguments);

/// The reference as an operator of the tensors' own types, and what it is launched on: the case's
/// inputs, and new outputs like the case's.
struct FormOperator {
  definition::Operator op;
  DType dtype = DType::F32; ///< that of all parameters which have none of their own
  std::vector<runtime::Tensor> inputs, outputs;
};
Result<FormOperator> formOperator(const KernelCase &testCase, const KernelArguments &arguments);

/// The floating-point type in which every element of the outputs has a bound of its own: theirs, if
/// it holds the numbers of all tensors. Nothing where one tolerance stands for all.
std::optional<DType> boundType(const KernelCase &testCase, const KernelArguments &arguments);

/// What an output should hold.
struct ExpectedOutput {
  std::string name;
  runtime::Tensor values, bounds; ///< float64; bounds invalid where one tolerance holds for all
};
/// For the inputs as they are, in the order of the reference's outputs.
Result<std::vector<ExpectedOutput>> expectedOutputs(const KernelCase &testCase,
                                                    const KernelArguments &arguments);

/// Compares every output with its reference; the inputs must be as they were before the launch.
Result<eager::Comparison> compareOutputs(const KernelCase &testCase,
                                         const KernelArguments &arguments);

} // namespace nereid::launch
