// SPDX-License-Identifier: Apache-2.0
// Sums run over k for a strip of neighbouring results, so that the compiler adds them side by side.
// Products of float32 are exact in double; for float64 the sums are in long double.
#include "lib/eager/reference/ReferenceProduct.h"

#include "lib/definition/Tolerance.h"
#include "lib/definition/operations/Shape.h"
#include "lib/eager/reference/rules/IntegerRules.h"
#include "lib/eager/reference/rules/SpecialSum.h"

#include <algorithm>
#include <cmath>
#include <limits>

namespace nereid::eager {
namespace {

constexpr int64_t strip = 128;
/// A tensor core adds 16 products to what it has at once, each cut off 25 digits below the largest
/// exponent that two factors have together. Measured on an H200.
constexpr double alignedTerms = 17, alignedDigit = 0x1p-25;

/// One row of the result by a strip of columns: sums of values, magnitudes and inherited errors.
template <class Sum> struct RowSums {
  Sum values[strip];
  double magnitudes[strip], errors[strip];

  void clear(int64_t n) {
    std::fill(values, values + n, Sum(0));
    std::fill(magnitudes, magnitudes + n, 0.0);
    std::fill(errors, errors + n, 0.0);
  }
  void add(double a, const double *b, int64_t n) {
    for (int64_t j = 0; j < n; ++j) {
      values[j] += static_cast<Sum>(a) * static_cast<Sum>(b[j]);
      magnitudes[j] += std::fabs(a * b[j]);
    }
  }
  void addErrors(const Bounded &a, const double *b, const double *bErrors, int64_t n) {
    for (int64_t j = 0; j < n; ++j) {
      double own = std::fabs(a.value) * bErrors[j];
      errors[j] += own + a.error * (std::fabs(b[j]) + bErrors[j]);
    }
  }
};

struct Sizes {
  int64_t m, n, k;
};

bool isFinite(const Bounded &each) {
  return std::isfinite(each.value) && std::isfinite(each.error);
}

/// Which rows and columns have elements that are not finite, or lost.
struct SpecialLines {
  std::vector<bool> rows, columns;
  bool areNone = true;

  SpecialLines(const Bounded *a, const Bounded *b, const Sizes &sizes)
      : rows(static_cast<size_t>(sizes.m)), columns(static_cast<size_t>(sizes.n)) {
    for (int64_t i = 0; i < sizes.m * sizes.k; ++i) {
      mark(a[i], rows, i / sizes.k);
    }
    for (int64_t i = 0; i < sizes.k * sizes.n; ++i) {
      mark(b[i], columns, i % sizes.n);
    }
  }
  bool meetAt(int64_t row, int64_t column) const {
    return rows[static_cast<size_t>(row)] || columns[static_cast<size_t>(column)];
  }

private:
  void mark(const Bounded &each, std::vector<bool> &lines, int64_t line) {
    if (!isFinite(each)) {
      lines[static_cast<size_t>(line)] = true;
      areNone = false;
    }
  }
};

/// Results of such rows and columns: term by term.
void multiplySpecial(const Bounded *a, const Bounded *b, Bounded *out, const Sizes &sizes,
                     const SpecialLines &special, const Rule &rule, const ErrorModel &model) {
  for (int64_t i = 0; i < sizes.m; ++i) {
    for (int64_t j = 0; j < sizes.n; ++j) {
      if (!special.meetAt(i, j)) {
        continue;
      }
      SpecialSum sum;
      for (int64_t k = 0; k < sizes.k && !sum.isNone(); ++k) {
        sum.add(a[i * sizes.k + k], b[k * sizes.n + j]);
      }
      out[i * sizes.n + j] = sum.finish(rule, sizes.k, model);
    }
  }
}

bool anyError(const BoundedTensor &tensor) {
  return std::any_of(tensor.elements.begin(), tensor.elements.end(),
                     [](const Bounded &each) { return each.error != 0; });
}

template <class Sum>
void multiplyMatrix(const Bounded *a, const Bounded *b, Bounded *out, const Sizes &sizes,
                    bool hasErrors, const Rule &rule, const ErrorModel &model) {
  const int64_t columns = std::min(strip, sizes.n); // long sums of few columns are common
  std::vector<double> panel(static_cast<size_t>(sizes.k * columns));
  std::vector<double> errors(hasErrors ? panel.size() : 0);
  std::vector<bool> isOff(hasErrors ? static_cast<size_t>(sizes.k) : 0); // a row of the panel
  RowSums<Sum> sums;
  for (int64_t first = 0; first < sizes.n; first += strip) {
    int64_t width = std::min(strip, sizes.n - first);
    isOff.assign(isOff.size(), false);
    for (int64_t k = 0; k < sizes.k; ++k) {
      for (int64_t j = 0; j < width; ++j) {
        const Bounded &from = b[k * sizes.n + first + j];
        panel[static_cast<size_t>(k * columns + j)] = from.value;
        if (hasErrors) {
          errors[static_cast<size_t>(k * columns + j)] = from.error;
        }
        if (from.error != 0) {
          isOff[static_cast<size_t>(k)] = true;
        }
      }
    }
    for (int64_t i = 0; i < sizes.m; ++i) {
      sums.clear(width);
      for (int64_t k = 0; k < sizes.k; ++k) {
        const Bounded &left = a[i * sizes.k + k];
        sums.add(left.value, panel.data() + k * columns, width);
        if (hasErrors && (left.error != 0 || isOff[static_cast<size_t>(k)])) {
          sums.addErrors(left, panel.data() + k * columns, errors.data() + k * columns, width);
        }
      }
      for (int64_t j = 0; j < width; ++j) {
        // Of float64 magnitudes may leave the range of double, where the sum's own type has them.
        bool isLost = (hasErrors && !std::isfinite(sums.errors[j])) ||
                      (std::isfinite(sums.values[j]) && !std::isfinite(sums.magnitudes[j]));
        Bounded total{static_cast<double>(sums.values[j]), sums.errors[j]};
        out[i * sizes.n + first + j] =
            finishProductSum(rule, total, sums.magnitudes[j], sizes.k, isLost, model);
      }
    }
  }
  if (const SpecialLines special(a, b, sizes); !special.areNone) {
    multiplySpecial(a, b, out, sizes, special, rule, model);
  }
}

} // namespace

namespace {

/// Which matrices are multiplied, and their sizes.
struct ProductPlan {
  Sizes sizes;
  std::vector<int64_t> leftBatch, rightBatch, batch, result;

  ProductPlan(const BoundedTensor &a, const BoundedTensor &b) {
    const bool leftIsVector = a.sizes.size() == 1, rightIsVector = b.sizes.size() == 1;
    sizes = {leftIsVector ? 1 : a.sizes[a.sizes.size() - 2], rightIsVector ? 1 : b.sizes.back(),
             a.sizes.back()};
    leftBatch = batchOf(a);
    rightBatch = batchOf(b);
    batch = definition::broadcastSizes(leftBatch, rightBatch).value_or(std::vector<int64_t>{});
    result = batch;
    if (!leftIsVector) {
      result.push_back(sizes.m);
    }
    if (!rightIsVector) {
      result.push_back(sizes.n);
    }
  }
  int64_t elements() const { return definition::elementCountOf(result).value_or(0); }
  int64_t matrices() const { return elements() == 0 ? 0 : elements() / (sizes.m * sizes.n); }

  /// Row-major number of the operand's matrix that result matrix `index` takes.
  int64_t matrixOf(const std::vector<int64_t> &own, int64_t index) const {
    int64_t number = 0, step = 1;
    for (size_t d = batch.size(); d-- > 0;) {
      size_t missing = batch.size() - own.size();
      if (d >= missing && own[d - missing] != 1) {
        number += index % batch[d] * step;
        step *= own[d - missing];
      }
      index /= batch[d];
    }
    return number;
  }

private:
  static std::vector<int64_t> batchOf(const BoundedTensor &tensor) {
    size_t rank = tensor.sizes.size() - std::min<size_t>(2, tensor.sizes.size());
    return {tensor.sizes.begin(), tensor.sizes.begin() + static_cast<ptrdiff_t>(rank)};
  }
};

} // namespace

BoundedTensor productBounded(const BoundedTensor &a, const BoundedTensor &b, const Rule &rule,
                             const ErrorModel &model) {
  const ProductPlan plan(a, b);
  const Sizes &sizes = plan.sizes;
  BoundedTensor out;
  out.sizes = plan.result;
  out.allocate(static_cast<size_t>(plan.elements()));
  bool hasErrors = anyError(a) || anyError(b);
  auto multiply =
      model.compute == DType::F64 ? multiplyMatrix<long double> : multiplyMatrix<double>;
  for (int64_t i = 0; i < plan.matrices(); ++i) {
    multiply(a.elements.data() + plan.matrixOf(plan.leftBatch, i) * sizes.m * sizes.k,
             b.elements.data() + plan.matrixOf(plan.rightBatch, i) * sizes.k * sizes.n,
             out.elements.data() + i * sizes.m * sizes.n, sizes, hasErrors, rule, model);
  }
  return out;
}

void productIntegers(DType type, const BoundedTensor &a, const BoundedTensor &b,
                     BoundedTensor &out) {
  const ProductPlan plan(a, b);
  const Sizes &sizes = plan.sizes;
  out.integers.assign(static_cast<size_t>(plan.elements()), 0);
  for (int64_t i = 0; i < plan.matrices(); ++i) {
    const uint64_t *left = a.integers.data() + plan.matrixOf(plan.leftBatch, i) * sizes.m * sizes.k;
    const uint64_t *right =
        b.integers.data() + plan.matrixOf(plan.rightBatch, i) * sizes.k * sizes.n;
    uint64_t *to = out.integers.data() + i * sizes.m * sizes.n;
    for (int64_t row = 0; row < sizes.m; ++row) {
      for (int64_t k = 0; k < sizes.k; ++k) {
        const uint64_t factor = left[row * sizes.k + k];
        for (int64_t column = 0; column < sizes.n; ++column) {
          to[row * sizes.n + column] += factor * right[k * sizes.n + column];
        }
      }
    }
  }
  for (size_t i = 0; i < out.integers.size(); ++i) {
    out.integers[i] = wrapped(out.integers[i], type);
    out.elements[i].value = type == DType::U64
                                ? static_cast<double>(out.integers[i])
                                : static_cast<double>(static_cast<int64_t>(out.integers[i]));
  }
}

/// What a factor of `storage` that is no normal number may be off as products take it; 0: nothing.
static double factorError(double value, DType storage) {
  if (storage != DType::BF16 && storage != DType::F16) {
    return 0;
  }
  const double normal = definition::smallestNormal(storage);
  if (value == 0 || std::fabs(value) >= normal) {
    return 0;
  }
  return storage == DType::BF16 ? std::fabs(value) : alignedTerms * alignedDigit * normal;
}

const BoundedTensor &asFactor(const BoundedTensor &tensor, const ErrorModel &model,
                              BoundedTensor &copy) {
  auto isOff = [&](const Bounded &each) { return factorError(each.value, model.storage) != 0; };
  if (std::none_of(tensor.elements.begin(), tensor.elements.end(), isOff)) {
    return tensor;
  }
  copy.sizes = tensor.sizes;
  copy.allocate(tensor.elements.size());
  for (size_t i = 0; i < tensor.elements.size(); ++i) {
    const Bounded &each = tensor.elements[i];
    copy.elements[i] = {each.value, each.error + factorError(each.value, model.storage)};
  }
  return copy;
}

} // namespace nereid::eager
