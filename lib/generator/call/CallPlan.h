// SPDX-License-Identifier: Apache-2.0
// One call of an operator: its launches in order, ready for the pipeline and the runtime, with the
// memory that one leaves to the next. What the wrappers do for their users, this does for concrete
// tensors in C++: whoever runs or compiles an operator asks for it.
#pragma once

#include "lib/generator/Generator.h"
#include "lib/generator/call/CallChecks.h"
#include "runtime/Kernel.h"
#include "runtime/tensor/Tensor.h"

#include <span>
#include <variant>

namespace nereid::generator {

struct LaunchPlan {
  struct Argument {
    std::string name;
    /// Number in CalledOperator::operands, those behind them the call's workspaces; an integer, or
    /// a number.
    std::variant<int, int64_t, double> value;
    bool isTensor() const { return value.index() == 0; }
  };
  std::string function;
  std::string signature;           ///< "x_ptr=*fp32:16, …, N=i32, BLOCK_X=32"
  std::vector<Argument> arguments; ///< run-time arguments only, in order
  runtime::Grid grid = {1, 1, 1};
  bool hasTurns = false; ///< programs compute one tile after the other
  Schedule schedule;     ///< constexprs of the kernel
};

struct CallPlan {
  struct Scratch {
    std::string name;
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
/// For these tensors: inputs = tensor parameters in order, outputs in order. Tensors whose rows are
/// evenly spaced are used in place where the kernels take that; other inputs are named in
/// contiguousCopies and planned as contiguous. E0612 when a shape or type does not fit the
/// definition, or an output's strides the kernels. `scalars` overrides the defaults of number
/// parameters by name; `site`: another place than the generation is for.
Result<CallPlan> planCall(const Generation &generation, const Schedule &schedule,
                          std::span<const runtime::Tensor> inputs,
                          std::span<const runtime::Tensor> outputs,
                          const std::map<std::string, double> &scalars = {},
                          std::optional<LaunchSite> site = {});
/// Whether kernels write to a tensor with these strides, which has the output's shape.
bool canWriteTo(const Generation &generation, const Operand &output,
                const definition::Binding &binding, DType dtype, const runtime::Tensor &tensor);
/// How many dimensions of a tensor the last `dims` of its operand's shape are.
size_t lastDimensions(const Operand &operand, size_t dims, const definition::Binding &binding);
/// What a launch table calls the sizes: leadingSymbol() is the product of the leading ones.
std::map<std::string, int64_t> launchSymbols(const definition::Binding &binding);

/// The tensors and values of a call as the runtime takes them.
struct CallArguments {
  /// Of each launch. They point to the tensors of the call and to those below.
  std::vector<std::vector<runtime::ArgumentValue>> values;
  std::vector<runtime::Tensor> copies, workspaces;
};
/// Workspaces are those that are given, as the plan lists them; without any they are made, and hold
/// nothing that looks like a result. E0506 when there is no memory for them.
Result<CallArguments> argumentsOf(const CallPlan &plan, const CalledOperator &called,
                                  std::span<const runtime::Tensor> inputs,
                                  std::span<const runtime::Tensor> outputs,
                                  std::span<const runtime::Tensor> workspaces = {});

} // namespace nereid::generator
