// SPDX-License-Identifier: Apache-2.0
#include "lib/eager/Compare.h"

#include "lib/definition/Tolerance.h"
#include "runtime/ThreadPool.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <mutex>

namespace nereid::eager {

namespace {

bool agrees(double actual, double expected, DType type, double relative, double absolute) {
  if (std::isnan(expected) || std::isnan(actual)) {
    return std::isnan(expected) && std::isnan(actual);
  }
  if (actual == expected) {
    return true;
  }
  if (std::isinf(expected)) {
    return false;
  }
  double bound = absolute + relative * std::fabs(expected);
  if (std::isinf(actual)) {
    return std::signbit(actual) == std::signbit(expected) &&
           std::fabs(expected) + bound >= definition::largestFinite(type);
  }
  return std::fabs(actual - expected) <= bound;
}

/// Reads element i; contiguous tensors skip the index arithmetic of Tensor::at.
class Reader {
public:
  explicit Reader(const runtime::Tensor &tensor)
      : tensor(tensor), bytes(static_cast<const uint8_t *>(tensor.data())),
        size(sizeInBytes(tensor.dtype())), isContiguous(tensor.isContiguous()) {}
  double operator()(int64_t i) const {
    return isContiguous ? loadAsDouble(bytes + static_cast<size_t>(i) * size, tensor.dtype())
                        : tensor.at(i);
  }

private:
  const runtime::Tensor &tensor;
  const uint8_t *bytes;
  size_t size;
  bool isContiguous;
};

Comparison compareRange(const runtime::Tensor &actual, const runtime::Tensor &reference,
                        double relative, double absolute, int64_t begin, int64_t end) {
  Comparison part;
  part.elements = end - begin;
  Reader readActual(actual), readReference(reference);
  bool isExact = !isFloat(actual.dtype());
  for (int64_t i = begin; i < end; ++i) {
    double got = readActual(i), want = readReference(i);
    bool ok = isExact ? got == want : agrees(got, want, actual.dtype(), relative, absolute);
    if (std::isfinite(got) && std::isfinite(want)) {
      double error = std::fabs(got - want);
      part.addError(error);
      if (std::fabs(want) > absolute) {
        part.maxRelativeError = std::max(part.maxRelativeError, error / std::fabs(want));
      }
    }
    if (!ok && part.mismatches++ == 0) {
      part.first = {0, i, got, want, isExact ? 0 : absolute + relative * std::fabs(want), "", ""};
      if (isExact) {
        part.first.actualText = fmt::format("{:.0f}", got);
        part.first.expectedText = fmt::format("{:.0f}", want);
      }
    }
  }
  return part;
}

} // namespace

Comparison compare(const runtime::Tensor &actual, const runtime::Tensor &reference, double relative,
                   double absolute) {
  Comparison result;
  if (actual.shape() != reference.shape()) {
    result.elements = result.mismatches = std::max<int64_t>(reference.elementCount(), 1);
    result.first.output = 0;
    result.first.index = 0;
    return result;
  }
  std::mutex merging;
  runtime::defaultPool().parallelFor(
      reference.elementCount(), 1 << 16, [&](int64_t begin, int64_t end, int) {
        Comparison part = compareRange(actual, reference, relative, absolute, begin, end);
        std::lock_guard lock(merging);
        result.merge(part);
      });
  return result;
}

} // namespace nereid::eager
