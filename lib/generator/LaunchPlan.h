// SPDX-License-Identifier: Apache-2.0
// One launch of a generated kernel, ready for the pipeline and the runtime: function, signature,
// run-time arguments in order, grid. What the Python wrapper does for PyTorch users, this does for
// concrete tensors in C++.
#pragma once

#include "lib/generator/Schedule.h"
#include "lib/generator/call/CallChecks.h"
#include "runtime/Kernel.h"
#include "runtime/tensor/Tensor.h"

#include <span>
#include <string>
#include <variant>
#include <vector>

namespace nereid::generator {

/// What a kernel parameter stands for; the order is the same in the Python source, the C++
/// companions and here.
struct KernelParameter {
  enum class Kind {
    Pointer,      ///< operand `operand`
    Scalar,       ///< number parameter `scalar` of the operator
    Size,         ///< `size`
    RowStride,    ///< of `operand`, from row to row (all row groups together)
    GroupStride,  ///< of `operand` along row group `group`
    ColumnStride, ///< of `operand` along column group `group`, when it moves along some only
    Constexpr,
  };
  Kind kind = Kind::Constexpr;
  std::string name;
  int operand = -1, scalar = -1, group = -1;
  SizeProduct size;
};
std::vector<KernelParameter> kernelParameters(const FusedOperator &fused, KernelVariant variant);
/// "softmax_rows_kernel".
std::string kernelName(const FusedOperator &fused, KernelVariant variant);

struct LaunchPlan {
  struct Argument {
    std::string name;
    /// Number in CalledOperator::operands, those behind them the call's workspaces; an integer, or
    /// a number.
    std::variant<int, int64_t, double> value;
    bool isTensor() const { return value.index() == 0; }
  };
  std::string function;
  std::string signature;           ///< "x_ptr=*fp32:16, …, columns=i32, BLOCK_M=32"
  std::vector<Argument> arguments; ///< run-time arguments only, in order
  runtime::Grid grid = {1, 1, 1};
  Schedule schedule; ///< the one used; Flat becomes Tiles for strided tensors
  std::vector<int>
      contiguousCopies; ///< operands (inputs) whose layout needs a contiguous copy first
  bool isEmpty = false; ///< no output element: launch nothing
};

/// For contiguous tensors aligned to 16 bytes: compile ahead, show, tune.
Result<LaunchPlan> planLaunch(const FusedOperator &fused, const Schedule &schedule,
                              const definition::Binding &binding, DType dtype);

/// For these tensors: inputs = tensor parameters in order, outputs in order. Strided inputs whose
/// rows are evenly spaced are used in place; others are named in contiguousCopies and planned as
/// contiguous. E0612 when a shape or type does not fit the definition. `scalars` overrides the
/// defaults of number parameters by name.
Result<LaunchPlan> planLaunch(const FusedOperator &fused, const Schedule &schedule,
                              std::span<const runtime::Tensor> inputs,
                              std::span<const runtime::Tensor> outputs,
                              const std::map<std::string, double> &scalars = {});

} // namespace nereid::generator
