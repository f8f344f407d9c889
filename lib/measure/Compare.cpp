// SPDX-License-Identifier: Apache-2.0
#include "lib/measure/Compare.h"

#include "runtime/ThreadPool.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <mutex>

namespace nereid::measure {

namespace {

/// Largest finite value of a floating type, as double.
double largestFinite(DType type) {
  switch (type) {
  case DType::F16:
    return 65504;
  case DType::BF16:
    return 3.3895313892515355e38;
  case DType::F32:
    return 3.4028234663852886e38;
  default:
    return 1.7976931348623157e308;
  }
}

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
           std::fabs(expected) + bound >= largestFinite(type);
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
  Reader readActual(actual), readReference(reference);
  bool isExact = !isFloat(actual.dtype());
  for (int64_t i = begin; i < end; ++i) {
    double got = readActual(i), want = readReference(i);
    bool ok = isExact ? got == want : agrees(got, want, actual.dtype(), relative, absolute);
    if (std::isfinite(got) && std::isfinite(want)) {
      double error = std::fabs(got - want);
      part.maxAbsoluteError = std::max(part.maxAbsoluteError, error);
      if (std::fabs(want) > absolute) {
        part.maxRelativeError = std::max(part.maxRelativeError, error / std::fabs(want));
      }
    }
    if (!ok && part.mismatches++ == 0) {
      part.firstMismatch = i;
      part.actual = got;
      part.expected = want;
    }
  }
  return part;
}

void merge(Comparison &into, const Comparison &part) {
  into.maxAbsoluteError = std::max(into.maxAbsoluteError, part.maxAbsoluteError);
  into.maxRelativeError = std::max(into.maxRelativeError, part.maxRelativeError);
  into.mismatches += part.mismatches;
  bool isEarlier = into.firstMismatch < 0 || part.firstMismatch < into.firstMismatch;
  if (part.firstMismatch >= 0 && isEarlier) {
    into.firstMismatch = part.firstMismatch;
    into.actual = part.actual;
    into.expected = part.expected;
  }
}

} // namespace

std::string Comparison::text() const {
  if (passed()) {
    return fmt::format("max error {:.3g} absolute, {:.3g} relative", maxAbsoluteError,
                       maxRelativeError);
  }
  return fmt::format("element {} expects {:.9g}, but got {:.9g} ({} of {} differ)", firstMismatch,
                     expected, actual, mismatches, elements);
}

Comparison compare(const runtime::Tensor &actual, const runtime::Tensor &reference, double relative,
                   double absolute) {
  Comparison result;
  result.elements = reference.elementCount();
  if (actual.shape() != reference.shape()) {
    result.elements = std::max<int64_t>(result.elements, 1);
    result.mismatches = result.elements;
    result.firstMismatch = 0;
    return result;
  }
  std::mutex merging;
  runtime::defaultPool().parallelFor(
      result.elements, 1 << 16, [&](int64_t begin, int64_t end, int) {
        Comparison part = compareRange(actual, reference, relative, absolute, begin, end);
        std::lock_guard lock(merging);
        merge(result, part);
      });
  return result;
}

} // namespace nereid::measure
