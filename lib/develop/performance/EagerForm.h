// SPDX-License-Identifier: Apache-2.0
// An operator as an eager framework runs it on a device: one kernel of our own for each operation
// of its definition, one after the other, with every intermediate in the device's memory. The
// baseline of devices, as the unfused library operations (lib/eager/baseline/) are on this
// processor.
#pragma once

#include "lib/bench/measurement/KernelLaunch.h"
#include "lib/develop/Launch.h"
#include "lib/generator/Generator.h"
#include "lib/machine/Machine.h"

#include <memory>
#include <vector>

namespace nereid::develop {

/// The operations of the graph as operators of their own, in order; numbers stay numbers.
struct SingleOperation {
  definition::Operator op;
  int node = 0;             ///< of the whole operator: what it computes
  std::vector<int> tensors; ///< nodes of the whole operator that its tensor parameters stand for
};
std::vector<SingleOperation> singleOperations(const definition::Operator &op, DType dtype);

class EagerForm {
public:
  /// Compiled, with memory for every intermediate on the device; `tensors` are in host memory and
  /// must outlive it. E0607 for an operation that has no kernel alone, E0506, what does not
  /// compile.
  static Result<std::shared_ptr<EagerForm>> make(const definition::Operator &op,
                                                 const definition::Binding &binding, DType dtype,
                                                 const CaseTensors &tensors,
                                                 const KernelSource &source, const Machine &chip,
                                                 runtime::Device &device);

  /// All launches, in order.
  runtime::LaunchError queue(runtime::Stream &stream) const;
  /// The inputs to the device, and outputs that hold nothing.
  runtime::LaunchError send() const;
  /// What it computes against the float64 reference, with a rounding for each operation: what is
  /// wrong, "" = nothing.
  std::string verify() const;
  size_t launches() const { return steps.size(); }

private:
  EagerForm(const definition::Operator &op, DType dtype, const CaseTensors &tensors,
            runtime::Device &device)
      : op(op), dtype(dtype), host(tensors), device(device) {}
  Status addStep(const SingleOperation &single, const definition::Binding &binding,
                 const KernelSource &source, const Machine &chip);
  Result<runtime::Tensor> makeValue(int node, const definition::Binding &binding, DType type);

  const definition::Operator &op;
  DType dtype;
  const CaseTensors &host;
  runtime::Device &device;
  std::vector<runtime::Tensor> values; ///< on the device, by node; invalid: a number
  struct Step {
    generator::Generation generation;
    std::vector<runtime::Tensor> inputs, outputs;
    std::unique_ptr<PreparedLaunch> launch;
  };
  std::vector<std::unique_ptr<Step>> steps;
};

} // namespace nereid::develop
