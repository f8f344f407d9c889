// SPDX-License-Identifier: Apache-2.0
// One call of an operator: its launches in order, with the memory that one leaves to the next. Who
// runs or compiles an operator asks for this, whichever way its kernels are made.
#pragma once

#include "lib/generator/Generator.h"

namespace nereid::generator {

struct CallPlan {
  struct Scratch {
    DType dtype{};
    int64_t elements = 0;
  };
  std::vector<LaunchPlan> launches; ///< none: there is nothing to compute
  std::vector<Scratch> workspaces;
  std::vector<int> contiguousCopies; ///< inputs that are copied first
  Schedule schedule;

  bool isEmpty() const { return launches.empty(); }
  int64_t programs() const; ///< of all launches
};

/// For contiguous tensors aligned to 16 bytes: compile ahead, show, tune.
Result<CallPlan> planCall(const Generation &generation, const Schedule &schedule,
                          const definition::Binding &binding, DType dtype);
/// For these tensors, see planLaunch; `site`: another place than the generation is for.
Result<CallPlan> planCall(const Generation &generation, const Schedule &schedule,
                          std::span<const runtime::Tensor> inputs,
                          std::span<const runtime::Tensor> outputs,
                          const std::map<std::string, double> &scalars = {},
                          std::optional<LaunchSite> site = {});
/// Whether kernels write to a tensor with these strides, which has the output's shape.
bool canWriteTo(const Generation &generation, const Operand &output,
                const definition::Binding &binding, DType dtype, const runtime::Tensor &tensor);
CallPlan callOf(LaunchPlan plan);
/// How many dimensions of a tensor the last `dims` of its operand's shape are.
size_t lastDimensions(const Operand &operand, size_t dims, const definition::Binding &binding);
/// What a program's launch table calls the sizes: "rest" is the product of the leading ones.
std::map<std::string, int64_t> launchSymbols(const definition::Binding &binding);

/// The tensors and values of a call as the runtime takes them.
struct CallArguments {
  /// Of each launch. They point to the tensors of the call and to those below.
  std::vector<std::vector<runtime::ArgumentValue>> values;
  std::vector<runtime::Tensor> copies, workspaces;
};
/// Workspaces hold nothing that looks like a result. E0506 when there is no memory for them.
Result<CallArguments> argumentsOf(const CallPlan &plan, const CalledOperator &called,
                                  std::span<const runtime::Tensor> inputs,
                                  std::span<const runtime::Tensor> outputs);

} // namespace nereid::generator
