// SPDX-License-Identifier: Apache-2.0
// A definition that is called with tensors: it is generated once, each launch is planned once for
// sizes, layout and numbers, each kernel is compiled once. All functions may be called from several
// threads at once.
#pragma once

#include "lib/capi/Handles.h"
#include "lib/definition/Graph.h"
#include "lib/generator/call/CallPlan.h"

#include <map>
#include <memory>
#include <mutex>
#include <shared_mutex>
#include <vector>

namespace nereid::capi {

/// What a call passes, in the operator's order. A null output is to be made.
struct OperatorCall {
  std::vector<const runtime::Tensor *> inputs, outputs;
  std::vector<double> numbers;
  runtime::Stream *stream = nullptr; ///< null: the call waits
};

/// Type and sizes of an output.
struct OutputLayout {
  std::vector<int64_t> shape;
  DType dtype = DType::F32;
};

class Callable {
public:
  explicit Callable(definition::Operator op);

  const definition::Operator &definition() const { return op; }
  /// Parameters in the order of a call: tensors, then numbers.
  const std::vector<const definition::Parameter *> &parameters() const { return ordered; }
  size_t tensorCount() const { return tensors; }

  /// What the outputs of this call are, which `call.outputs` need not have. E0607 where no kernel
  /// computes the operator, E0416 for tensors of several devices, E0606, E0612 and E0617 for what
  /// does not fit the definition.
  nereid_status infer(const OperatorCall &call, std::vector<OutputLayout> &layouts) const;
  /// Checks the same, makes the outputs that are not given, and launches. `made`: one tensor for
  /// each output, of which those that were given stay empty.
  nereid_status run(const OperatorCall &call, std::vector<runtime::Tensor> &made) const;

private:
  /// All that does not depend on where in memory the tensors lie.
  struct Prepared {
    generator::CallPlan plan;
    std::vector<runtime::Kernel> kernels; ///< one for each launch of the plan
    std::vector<OutputLayout> outputs;
    /// Outputs whose strides kernels do not write: computed apart, and copied to the tensor.
    std::vector<size_t> apart;
  };
  using Key = std::vector<int64_t>;

  /// Makes the kernels and writes the source, at the first call.
  nereid_status generate() const;
  /// Whether kernels of operators of this type take the number as an integer.
  bool isPassedWhole(const definition::Parameter &number, DType type) const;
  Result<runtime::Device *> deviceOf(const OperatorCall &call) const;
  /// Puts contiguous tensors in the place of outputs whose strides kernels do not write.
  Status planApart(const definition::Binding &binding, DType type,
                   std::vector<runtime::Tensor> &inputs, std::vector<runtime::Tensor> &outputs,
                   std::vector<size_t> &apart) const;
  Result<Prepared> plan(const OperatorCall &call, const runtime::Device &device) const;
  nereid_status prepare(const OperatorCall &call, const runtime::Device &device,
                        std::shared_ptr<const Prepared> &prepared) const;
  nereid_status compile(const generator::LaunchPlan &plan, const runtime::Device &device,
                        runtime::Kernel &kernel) const;
  nereid_status launch(const OperatorCall &call, runtime::Device &device,
                       const Prepared &prepared) const;
  /// The inputs as the launches take them: some are copied, which `copies` holds.
  nereid_status copyInputs(const OperatorCall &call, const Prepared &prepared,
                           std::vector<runtime::Tensor> &copies,
                           std::vector<const runtime::Tensor *> &memory) const;
  nereid_status allocateWorkspaces(const Prepared &prepared, runtime::Device &device,
                                   runtime::ScratchMemory &scratch,
                                   std::vector<runtime::Tensor> &workspaces) const;
  nereid_status allocate(const OperatorCall &call, runtime::Device &device,
                         const Prepared &prepared, std::vector<runtime::Tensor> &made) const;
  Result<runtime::Tensor> newOutput(const Prepared &prepared, size_t number,
                                    runtime::Device &device) const;
  /// Contiguous tensors for the outputs that are computed apart, which the call takes then; those
  /// that are written into an input have its elements.
  nereid_status takeApart(const Prepared &prepared, runtime::Device &device, OperatorCall &call,
                          std::vector<runtime::Tensor> &apart) const;
  /// The tensor that the call has for the output, also as an input; null: it is to be made.
  const runtime::Tensor *given(const OperatorCall &call, size_t output) const;

  definition::Operator op;
  std::vector<const definition::Parameter *> ordered;
  size_t tensors = 0;

  mutable std::once_flag isGenerated;
  mutable std::optional<Result<generator::Generation>> generated;
  mutable std::string source;

  mutable std::shared_mutex preparedLock;
  mutable std::map<Key, std::shared_ptr<const Prepared>> prepared;
  mutable std::mutex compiling; ///< of `kernels`, while one of them is compiled
  mutable std::map<std::pair<std::string, std::string>, runtime::Kernel> kernels;
  mutable std::mutex capturing;                  ///< of `captured`
  mutable std::vector<runtime::Tensor> captured; ///< workspaces of launches that graphs replay
};

} // namespace nereid::capi

struct nereid_operator {
  explicit nereid_operator(nereid::definition::Operator op) : callable(std::move(op)) {}
  nereid::capi::Callable callable;
};
