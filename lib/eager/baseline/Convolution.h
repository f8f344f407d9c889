// SPDX-License-Identifier: Apache-2.0
// conv2d as a framework without a convolution library runs it: the windows of a block of results
// are laid side by side as a matrix, which the instruction set's matrix product multiplies by the
// weights.
#pragma once

#include "lib/definition/operations/Convolution.h"
#include "runtime/ThreadPool.h"
#include "runtime/tensor/Tensor.h"

namespace nereid::eager {

/// `out` is contiguous, [batch, features, height, width]; `bias` has one element for each feature,
/// or is a number. 16-bit floats are multiplied and added in float32 and rounded once. False when
/// there is no memory for converted operands.
bool runConvolution(const definition::ConvolutionSizes &sizes, const runtime::Tensor &input,
                    const runtime::Tensor &weight, const runtime::Tensor &bias,
                    const runtime::Tensor &out, bool inFloat, runtime::ThreadPool &pool);

} // namespace nereid::eager
