// SPDX-License-Identifier: Apache-2.0
// Operands become row-major matrices of the computing type, in place when they are that already;
// then threads take blocks of the result's rows or columns and multiply them with the instruction
// set's matrix product.
#include "lib/eager/baseline/Matmul.h"

#include "lib/eager/baseline/BlockPool.h"
#include "lib/eager/baseline/Staging.h"

#include <algorithm>
#include <type_traits>
#include <vector>

namespace nereid::eager {
namespace {

using runtime::Tensor;

/// A stack of matrices: batch number i starts `batchOffset(i)` elements after `tensor`'s first.
struct Stack {
  Tensor tensor;
  int64_t rows = 1, columns = 1;
  int64_t rowStride = 0, columnStride = 0;
  std::vector<int64_t> batchStrides; // aligned from the right with the result's batch dimensions

  int64_t batchOffset(int64_t index, const std::vector<int64_t> &batch) const {
    int64_t offset = 0;
    for (size_t d = batch.size(); d-- > 0;) {
      offset += index % batch[d] * batchStrides[d];
      index /= batch[d];
    }
    return offset;
  }
};

/// A vector is one row on the left and one column on the right.
Stack stackOf(const Tensor &tensor, bool isLeft, size_t batchRank) {
  Stack stack;
  stack.tensor = tensor;
  const std::vector<int64_t> &sizes = tensor.shape(), &strides = tensor.strides();
  size_t rank = sizes.size();
  stack.batchStrides.assign(batchRank, 0);
  if (rank == 1) {
    (isLeft ? stack.columns : stack.rows) = sizes[0];
    (isLeft ? stack.columnStride : stack.rowStride) = strides[0];
    return stack;
  }
  stack.rows = sizes[rank - 2];
  stack.columns = sizes[rank - 1];
  stack.rowStride = strides[rank - 2];
  stack.columnStride = strides[rank - 1];
  for (size_t d = 0; d + 2 < rank; ++d) {
    stack.batchStrides[batchRank - (rank - 2) + d] = sizes[d] == 1 ? 0 : strides[d];
  }
  return stack;
}

/// The stack with rows of neighbouring elements of T; an invalid tensor without memory.
template <class T> Stack denseStack(Stack stack, bool isLeft, runtime::ThreadPool &pool) {
  bool hasRows = stack.columns == 1 || stack.columnStride == 1;
  bool fits = stack.rows == 1 || stack.rowStride >= stack.columns;
  if (stack.tensor.dtype() == dtypeFor<T> && hasRows && fits) {
    stack.rowStride = stack.rows == 1 ? stack.columns : stack.rowStride;
    return stack;
  }
  const Tensor from = stack.tensor;
  Tensor to = allocateTensor(from.shape(), dtypeFor<T>);
  Stack dense = stackOf(to, isLeft, stack.batchStrides.size());
  dense.rowStride = dense.columns;
  if (!to.isValid()) {
    return dense;
  }
  size_t outer = from.shape().size() > 2 ? from.shape().size() - 2 : 0;
  int64_t rows = stack.columns ? from.elementCount() / stack.columns : 0;
  int64_t grain = std::max<int64_t>(1, 16384 / std::max<int64_t>(stack.columns, 1));
  pool.parallelFor(rows, grain, [&](int64_t begin, int64_t end, int) {
    for (int64_t row = begin; row < end; ++row) {
      int64_t matrix = row / stack.rows, offset = row % stack.rows * stack.rowStride;
      for (size_t d = outer; d-- > 0;) {
        offset += matrix % from.shape()[d] * from.strides()[d];
        matrix /= from.shape()[d];
      }
      gather<T>(elementAt(from.data(), from.dtype(), offset), from.dtype(), stack.columnStride,
                to.as<T>() + row * stack.columns, stack.columns);
    }
  });
  return dense;
}

/// How the result is cut: blocks of rows when it is tall, of columns when it is wide.
struct Blocks {
  bool byRows = true;
  int64_t length = 1, perMatrix = 1;
};

Blocks planBlocks(int64_t rows, int64_t columns, int64_t matrices, int threads) {
  constexpr int64_t smallest = 48; // below it packing the other operand costs more than it gives
  Blocks blocks;
  blocks.byRows = rows >= columns;
  int64_t whole = std::max(rows, columns);
  int64_t wanted = matrices >= 2 * threads ? 1 : threads == 1 ? 1 : 2 * threads;
  blocks.length = std::max(smallest, ((whole + wanted - 1) / wanted + 15) / 16 * 16);
  blocks.perMatrix = std::max<int64_t>(1, (whole + blocks.length - 1) / blocks.length);
  return blocks;
}

/// c[m, n] = a[m, k] b[k, n]; integers wrap.
template <class T>
void multiply(const T *a, int64_t aStride, const T *b, int64_t bStride, T *c, int64_t cStride,
              int64_t m, int64_t n, int64_t k) {
  if constexpr (std::is_floating_point_v<T>) {
    kernelsFor<T>().multiply(a, aStride, b, bStride, c, cStride, m, n, k);
  } else {
    using Unsigned = std::conditional_t<(sizeof(T) < 4), uint32_t, std::make_unsigned_t<T>>;
    for (int64_t row = 0; row < m; ++row) {
      T *to = c + row * cStride;
      std::fill(to, to + n, T(0));
      for (int64_t each = 0; each < k; ++each) {
        const auto factor = static_cast<Unsigned>(a[row * aStride + each]);
        const T *by = b + each * bStride;
        for (int64_t column = 0; column < n; ++column) {
          to[column] = static_cast<T>(static_cast<Unsigned>(to[column]) +
                                      factor * static_cast<Unsigned>(by[column]));
        }
      }
    }
  }
}

template <class T>
bool multiplyTyped(const Tensor &a, const Tensor &b, const Tensor &out, runtime::ThreadPool &pool) {
  size_t vectors = (a.shape().size() == 1 ? 1 : 0) + (b.shape().size() == 1 ? 1 : 0);
  std::vector<int64_t> batch = out.shape();
  batch.resize(batch.size() - (2 - vectors));
  Stack left = denseStack<T>(stackOf(a, true, batch.size()), true, pool);
  Stack right = denseStack<T>(stackOf(b, false, batch.size()), false, pool);
  if (!left.tensor.isValid() || !right.tensor.isValid()) {
    return false;
  }
  int64_t m = left.rows, n = right.columns, k = left.columns;
  int64_t matrices = out.elementCount() / (m * n);
  Blocks blocks = planBlocks(m, n, matrices, pool.threadCount());
  bool inPlace = out.dtype() == dtypeFor<T>;
  pool.parallelFor(matrices * blocks.perMatrix, 1, [&](int64_t begin, int64_t end, int) {
    std::vector<T> product;
    for (int64_t i = begin; i < end; ++i) {
      int64_t matrix = i / blocks.perMatrix, first = i % blocks.perMatrix * blocks.length;
      int64_t row = blocks.byRows ? first : 0, column = blocks.byRows ? 0 : first;
      int64_t height = blocks.byRows ? std::min(blocks.length, m - row) : m;
      int64_t width = blocks.byRows ? n : std::min(blocks.length, n - column);
      const T *from = left.tensor.as<T>() + left.batchOffset(matrix, batch);
      const T *by = right.tensor.as<T>() + right.batchOffset(matrix, batch);
      int64_t at = (matrix * m + row) * n + column;
      T *to = inPlace ? out.as<T>() + at : nullptr;
      if (!inPlace) {
        product.resize(static_cast<size_t>(height * width));
        to = product.data();
      }
      multiply<T>(from + row * left.rowStride, left.rowStride, by + column, right.rowStride, to,
                  inPlace ? n : width, height, width, k);
      for (int64_t r = 0; !inPlace && r < height; ++r) {
        char *target = const_cast<char *>(elementAt(out.data(), out.dtype(), at + r * n));
        scatter<T>(to + r * width, target, out.dtype(), width);
      }
    }
  });
  return true;
}

} // namespace

bool runMatmul(const Tensor &a, const Tensor &b, const Tensor &out, bool inFloat,
               runtime::ThreadPool &pool) {
  if (out.elementCount() == 0) {
    return true;
  }
  if (!isFloat(out.dtype())) {
    bool isDone = false;
    withInteger(out.dtype(),
                [&](auto zero) { isDone = multiplyTyped<decltype(zero)>(a, b, out, pool); });
    return isDone;
  }
  return inFloat ? multiplyTyped<float>(a, b, out, pool) : multiplyTyped<double>(a, b, out, pool);
}

} // namespace nereid::eager
