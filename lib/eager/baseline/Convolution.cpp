// SPDX-License-Identifier: Apache-2.0
// Operands become contiguous tensors of the computing type, in place when they are that already;
// threads take blocks of result rows of one image and group.
#include "lib/eager/baseline/Convolution.h"

#include "lib/eager/baseline/BlockPool.h"
#include "lib/eager/baseline/Staging.h"

#include <algorithm>
#include <vector>

namespace nereid::eager {
namespace {

using definition::ConvolutionSizes;
using definition::Window;
using runtime::Tensor;

/// Elements of one thread's matrix of windows: it stays in the second-level cache.
constexpr int64_t matrixElements = 65536;

/// The tensor, or a contiguous copy in type T; invalid without memory.
template <class T> Tensor denseOf(const Tensor &from, runtime::ThreadPool &pool) {
  if (from.dtype() == dtypeFor<T> && from.isContiguous()) {
    return from;
  }
  Tensor to = allocateTensor(from.shape(), dtypeFor<T>);
  int64_t columns = from.shape().back(), rows = columns ? from.elementCount() / columns : 0;
  size_t outer = from.shape().size() - 1;
  if (!to.isValid()) {
    return to;
  }
  int64_t grain = std::max<int64_t>(1, 16384 / std::max<int64_t>(columns, 1));
  pool.parallelFor(rows, grain, [&](int64_t begin, int64_t end, int) {
    for (int64_t row = begin; row < end; ++row) {
      int64_t rest = row, offset = 0;
      for (size_t d = outer; d-- > 0;) {
        offset += rest % from.shape()[d] * from.strides()[d];
        rest /= from.shape()[d];
      }
      gather<T>(elementAt(from.data(), from.dtype(), offset), from.dtype(), from.strides().back(),
                to.as<T>() + row * columns, columns);
    }
  });
  return to;
}

/// Results [0, width.result) of one tap in a row of the input; padding reads as 0.
template <class T> void windowRow(const T *row, const Window &width, int64_t tap, T *out) {
  for (int64_t at = 0; at < width.result; ++at) {
    int64_t from = width.position(at, tap);
    out[at] = from >= 0 && from < width.size ? row[from] : T(0);
  }
}

/// Row k of the matrix is tap k (channel, kernel row, kernel column) of result rows [first, last).
template <class T>
void windowMatrix(const ConvolutionSizes &sizes, const T *channels, int64_t first, int64_t last,
                  T *matrix) {
  const Window &height = sizes.height, &width = sizes.width;
  for (int64_t c = 0; c < sizes.channelsPerGroup(); ++c) {
    const T *plane = channels + c * height.size * width.size;
    for (int64_t y = 0; y < height.kernel; ++y) {
      for (int64_t x = 0; x < width.kernel; ++x) {
        for (int64_t row = first; row < last; ++row, matrix += width.result) {
          int64_t from = height.position(row, y);
          if (from < 0 || from >= height.size) {
            std::fill(matrix, matrix + width.result, T(0));
          } else {
            windowRow(plane + from * width.size, width, x, matrix);
          }
        }
      }
    }
  }
}

template <class T> struct Problem {
  ConvolutionSizes sizes;
  const T *input, *weight;
  std::vector<T> bias; // of each feature
  Tensor out;
};

/// Result rows [first, last) of one group's features of one image.
template <class T>
void multiplyBlock(const Problem<T> &problem, int64_t image, int64_t group, int64_t first,
                   int64_t last, std::vector<T> &matrix, std::vector<T> &product) {
  const ConvolutionSizes &sizes = problem.sizes;
  int64_t plane = sizes.height.size * sizes.width.size;
  int64_t outPlane = sizes.height.result * sizes.width.result;
  int64_t terms = sizes.terms(), count = (last - first) * sizes.width.result;
  int64_t features = sizes.featuresPerGroup(), feature = group * features;
  matrix.resize(static_cast<size_t>(terms * count));
  windowMatrix(sizes,
               problem.input + (image * sizes.channels + group * sizes.channelsPerGroup()) * plane,
               first, last, matrix.data());
  int64_t at = (image * sizes.features + feature) * outPlane + first * sizes.width.result;
  bool inPlace = problem.out.dtype() == dtypeFor<T>;
  T *to = inPlace ? problem.out.template as<T>() + at : nullptr;
  if (!inPlace) {
    product.resize(static_cast<size_t>(features * count));
    to = product.data();
  }
  int64_t toStride = inPlace ? outPlane : count;
  kernelsFor<T>().multiply(problem.weight + feature * terms, terms, matrix.data(), count, to,
                           toStride, features, count, terms);
  for (int64_t f = 0; f < features; ++f) {
    T *row = to + f * toStride, added = problem.bias[static_cast<size_t>(feature + f)];
    for (int64_t i = 0; added != T(0) && i < count; ++i) {
      row[i] += added;
    }
    if (!inPlace) {
      const Tensor &out = problem.out;
      char *target = const_cast<char *>(elementAt(out.data(), out.dtype(), at + f * outPlane));
      scatter<T>(row, target, out.dtype(), count);
    }
  }
}

template <class T>
bool convolveTyped(const ConvolutionSizes &sizes, const Tensor &input, const Tensor &weight,
                   const Tensor &bias, const Tensor &out, runtime::ThreadPool &pool) {
  Tensor image = denseOf<T>(input, pool), filter = denseOf<T>(weight, pool);
  if (!image.isValid() || !filter.isValid()) {
    return false;
  }
  Problem<T> problem{sizes, image.as<T>(), filter.as<T>(), {}, out};
  for (int64_t f = 0; f < sizes.features; ++f) {
    problem.bias.push_back(static_cast<T>(bias.at(bias.shape().empty() ? 0 : f)));
  }
  int64_t rowElements = std::max<int64_t>(1, sizes.terms() * sizes.width.result);
  int64_t rows = std::clamp<int64_t>(matrixElements / rowElements, 1, sizes.height.result);
  int64_t blocks = (sizes.height.result + rows - 1) / rows;
  pool.parallelFor(sizes.batch * sizes.groups * blocks, 1, [&](int64_t begin, int64_t end, int) {
    std::vector<T> matrix, product;
    for (int64_t i = begin; i < end; ++i) {
      int64_t first = i % blocks * rows, which = i / blocks;
      multiplyBlock(problem, which / sizes.groups, which % sizes.groups, first,
                    std::min(first + rows, sizes.height.result), matrix, product);
    }
  });
  return true;
}

} // namespace

bool runConvolution(const ConvolutionSizes &sizes, const Tensor &input, const Tensor &weight,
                    const Tensor &bias, const Tensor &out, bool inFloat,
                    runtime::ThreadPool &pool) {
  if (out.elementCount() == 0) {
    return true;
  }
  return inFloat ? convolveTyped<float>(sizes, input, weight, bias, out, pool)
                 : convolveTyped<double>(sizes, input, weight, bias, out, pool);
}

} // namespace nereid::eager
