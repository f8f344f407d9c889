// SPDX-License-Identifier: Apache-2.0
// Reductions over any set of dimensions, and the row-wise composites that frameworks run as one
// library call.
#pragma once

#include "lib/eager/baseline/kernels/KernelTable.h"
#include "runtime/ThreadPool.h"
#include "runtime/tensor/Tensor.h"

#include <vector>

namespace nereid::eager {

struct ReductionPlan {
  OpId op = OpId::sum;       ///< sum, mean, prod, amax, amin, var or std
  std::vector<bool> reduced; ///< per dimension of the input
  int64_t correction = 1;    ///< of var and std
};

/// `out` is contiguous and has one element per combination of the kept dimensions. Neither is
/// empty, except that sums, means, products and variances of no element are defined.
void runReduction(const ReductionPlan &plan, const runtime::Tensor &in, const runtime::Tensor &out,
                  bool inFloat, runtime::ThreadPool &pool);

/// sum, prod, amax and amin of integers or bool, exact; `out` has an integer type.
void runIntegerReduction(const ReductionPlan &plan, const runtime::Tensor &in,
                         const runtime::Tensor &out, runtime::ThreadPool &pool);

struct RowPlan {
  OpId op = OpId::softmax; ///< softmax, log_softmax, layer_norm or rms_norm
  int64_t rows = 0, columns = 0;
  const runtime::Tensor *weight = nullptr, *bias = nullptr; ///< `columns` contiguous elements
  double eps = 0;
};

/// `in` and `out` are contiguous.
void runRows(const RowPlan &plan, const runtime::Tensor &in, const runtime::Tensor &out,
             bool inFloat, runtime::ThreadPool &pool);

} // namespace nereid::eager
