// SPDX-License-Identifier: Apache-2.0
// Which kernels may sum up their atomic additions per thread until the launch ends
// (runtime/DeferredAdditions.h): those whose programs access no memory behind them. Then a late
// addition cannot be told from a program that was late, as there is no order between programs.
#pragma once

#include "mlir/Dialect/Func/IR/FuncOps.h"

namespace nereid::cpu {

/// All atomics of the kernel are additions without a use of their result, of one type that the
/// runtime sums up, with no access to memory and no waiting behind any of them in program order;
/// and one of them has enough elements to pay for it.
bool mayDeferAdditions(mlir::func::FuncOp kernel);

/// Makes the values of their masked elements zero.
void prepareDeferredAdditions(mlir::func::FuncOp kernel);

} // namespace nereid::cpu
