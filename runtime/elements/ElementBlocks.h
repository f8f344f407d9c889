// SPDX-License-Identifier: Apache-2.0
// Elements of a tensor, whatever its type and strides, in blocks of a common form: what conversion,
// filling and file formats are written with. Private to the runtime; lib/verify asks it where
// elements are.
#pragma once

#include "runtime/tensor/Tensor.h"

#include <functional>

namespace nereid::runtime {

class ThreadPool;

inline constexpr int blockElements = 512;

/// Address of row-major element `i`.
uint8_t *elementAddress(const Tensor &tensor, int64_t i);

/// Elements begin … begin+count-1 in row-major order; count <= blockElements.
void readBlock(const Tensor &tensor, int64_t begin, int count, double *values);
void writeBlock(const Tensor &tensor, int64_t begin, int count, const double *values);
/// The same without loss for the integer types and Bool.
void readIntegers(const Tensor &tensor, int64_t begin, int count, int64_t *values);
/// Into an integer type (modulo its range), Bool (not 0) or F32; isUnsigned: the values are the
/// bits of U64.
void writeIntegers(const Tensor &tensor, int64_t begin, int count, const int64_t *values,
                   bool isUnsigned);
/// Between tensors of one type.
void copyBlock(const Tensor &from, const Tensor &to, int64_t begin, int count);

/// Calls body(begin, count) for all elements, in parallel unless two of them share an address.
/// Every begin is a multiple of blockElements. Nothing happens when the tensor has no memory.
void forEachBlock(const Tensor &tensor, ThreadPool &pool,
                  const std::function<void(int64_t begin, int count)> &body);

} // namespace nereid::runtime
