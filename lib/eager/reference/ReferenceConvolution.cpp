// SPDX-License-Identifier: Apache-2.0
// One row of results at a time: every tap adds its products to the whole row, so that the compiler
// adds them side by side. Products of float32 are exact in double; for float64 the sums are in long
// double. Taps in the padding add 0 times their weight: nothing, or NaN where that is not finite.
#include "lib/eager/reference/ReferenceConvolution.h"

#include "lib/definition/operations/Convolution.h"
#include "lib/definition/operations/Shape.h"
#include "lib/definition/operations/View.h"
#include "lib/eager/reference/indices/RowRuns.h"
#include "lib/eager/reference/rules/SpecialSum.h"

#include <algorithm>
#include <array>
#include <cmath>
#include <limits>

namespace nereid::eager {
namespace {

using definition::ConvolutionSizes;
using definition::Window;

template <class Sum> struct RowSums {
  std::vector<Sum> values;
  std::vector<double> magnitudes, errors;

  void clear(int64_t n) {
    values.assign(static_cast<size_t>(n), Sum(0));
    magnitudes.assign(static_cast<size_t>(n), 0);
    errors.assign(static_cast<size_t>(n), 0);
  }
};

bool isFinite(const Bounded &each) {
  return std::isfinite(each.value) && std::isfinite(each.error);
}

/// Values and errors of a tensor in arrays of their own.
struct Planes {
  std::vector<double> values, errors;
  bool hasErrors = false;

  explicit Planes(const BoundedTensor &tensor) {
    for (const Bounded &each : tensor.elements) {
      values.push_back(each.value);
      errors.push_back(each.error);
      hasErrors = hasErrors || each.error != 0;
    }
  }
};

/// Results [first, last) whose tap lies inside the input.
std::pair<int64_t, int64_t> insideOf(const Window &window, int64_t tap) {
  int64_t first = 0, last = window.result;
  while (first < last && window.position(first, tap) < 0) {
    ++first;
  }
  while (last > first && window.position(last - 1, tap) >= window.size) {
    --last;
  }
  return {first, last};
}

/// Adds the products of `count` results from `first` on with one tap, where `stride` is the
/// distance of what two neighbours read.
template <bool hasErrors, class Sum>
void addTap(RowSums<Sum> &sums, int64_t first, int64_t count, const Bounded &tap,
            const double *values, const double *errors, int64_t stride) {
  Sum *sum = sums.values.data() + first;
  double *magnitude = sums.magnitudes.data() + first, *error = sums.errors.data() + first;
  const double by = std::fabs(tap.value);
  for (int64_t at = 0; at < count; ++at) {
    const double value = values[at * stride];
    sum[at] += static_cast<Sum>(tap.value) * static_cast<Sum>(value);
    magnitude[at] += std::fabs(tap.value * value);
    if constexpr (hasErrors) {
      const double own = errors[at * stride];
      error[at] += by * own + tap.error * (std::fabs(value) + own);
    }
  }
}

template <class Sum> class Convolver {
public:
  Convolver(const ConvolutionSizes &sizes, const BoundedTensor &input, const BoundedTensor &weight)
      : sizes(sizes), input(input), weight(weight) {
    for (int64_t tap = 0; tap < sizes.width.kernel; ++tap) {
      inside.push_back(insideOf(sizes.width, tap));
    }
    const bool hasErrors = this->input.hasErrors || this->weight.hasErrors;
    const bool isDense = sizes.width.stride == 1; // known, so that vectors are loaded
    add = hasErrors ? (isDense ? &Convolver::addRow<true, 1> : &Convolver::addRow<true, 0>)
                    : (isDense ? &Convolver::addRow<false, 1> : &Convolver::addRow<false, 0>);
  }

  /// Sums of result row `row` of one feature of one image, without the bias.
  const RowSums<Sum> &row(int64_t image, int64_t feature, int64_t row) {
    const Window &height = sizes.height;
    int64_t group = feature / sizes.featuresPerGroup();
    sums.clear(sizes.width.result);
    for (int64_t c = 0; c < sizes.channelsPerGroup(); ++c) {
      int64_t channel = image * sizes.channels + group * sizes.channelsPerGroup() + c;
      for (int64_t y = 0; y < height.kernel; ++y) {
        int64_t from = height.position(row, y);
        int64_t taps =
            ((feature * sizes.channelsPerGroup() + c) * height.kernel + y) * sizes.width.kernel;
        if (from >= 0 && from < height.size) {
          (this->*add)((channel * height.size + from) * sizes.width.size, taps);
        }
      }
    }
    return sums;
  }

private:
  /// `knownStride`: 0 = any.
  template <bool hasErrors, int64_t knownStride> void addRow(int64_t inputRow, int64_t taps) {
    const Window &width = sizes.width;
    for (int64_t x = 0; x < width.kernel; ++x) {
      const auto [first, last] = inside[static_cast<size_t>(x)];
      if (first == last) {
        continue;
      }
      const auto tap = static_cast<size_t>(taps + x);
      const int64_t from = inputRow + width.position(first, x);
      addTap<hasErrors>(sums, first, last - first, {weight.values[tap], weight.errors[tap]},
                        input.values.data() + from, input.errors.data() + from,
                        knownStride == 0 ? width.stride : knownStride);
    }
  }

  ConvolutionSizes sizes;
  Planes input, weight;
  std::vector<std::pair<int64_t, int64_t>> inside;
  RowSums<Sum> sums;
  void (Convolver::*add)(int64_t, int64_t) = nullptr;
};

/// Which results have an element in their sum that is not finite, or lost.
class SpecialPlaces {
public:
  SpecialPlaces(const ConvolutionSizes &sizes, const BoundedTensor &input,
                const BoundedTensor &weight, const BoundedTensor &bias)
      : sizes(sizes), features(static_cast<size_t>(sizes.features)) {
    for (int64_t feature = 0; feature < sizes.features; ++feature) {
      const Bounded *taps = weight.elements.data() + feature * sizes.terms();
      features[static_cast<size_t>(feature)] =
          !isFinite(bias.elements[bias.sizes.empty() ? 0 : static_cast<size_t>(feature)]) ||
          std::any_of(taps, taps + sizes.terms(),
                      [](const Bounded &tap) { return !isFinite(tap); });
    }
    const int64_t ofGroup = sizes.channelsPerGroup() * plane();
    for (int64_t at = 0; at < std::ssize(input.elements); ++at) {
      if (!isFinite(input.elements[static_cast<size_t>(at)])) {
        read.resize(static_cast<size_t>(sizes.batch * sizes.groups * plane()));
        read[static_cast<size_t>(at / ofGroup * plane() + at % plane())] = true;
      }
    }
  }

  bool has(int64_t image, int64_t feature, int64_t row, int64_t column) const {
    if (features[static_cast<size_t>(feature)]) {
      return true;
    }
    const int64_t group = image * sizes.groups + feature / sizes.featuresPerGroup();
    for (int64_t y = 0; y < sizes.height.kernel && !read.empty(); ++y) {
      for (int64_t x = 0; x < sizes.width.kernel; ++x) {
        const int64_t down = sizes.height.position(row, y);
        const int64_t along = sizes.width.position(column, x);
        const bool isInside =
            down >= 0 && down < sizes.height.size && along >= 0 && along < sizes.width.size;
        if (isInside &&
            read[static_cast<size_t>(group * plane() + down * sizes.width.size + along)]) {
          return true;
        }
      }
    }
    return false;
  }

private:
  int64_t plane() const { return sizes.height.size * sizes.width.size; }

  const ConvolutionSizes &sizes;
  std::vector<bool> features;
  std::vector<bool> read; ///< places of a group's images, whatever the channel; empty: none
};

/// One result where some elements are not finite, or lost: tap by tap.
Bounded specialResult(const ConvolutionSizes &sizes, const BoundedTensor &input,
                      const BoundedTensor &weight, const Bounded &bias,
                      const std::array<int64_t, 4> &at, const Rule &rule, const ErrorModel &model) {
  const auto [image, feature, row, column] = at;
  const Window &height = sizes.height, &width = sizes.width;
  const int64_t perGroup = sizes.channelsPerGroup();
  const int64_t group = feature / sizes.featuresPerGroup();
  const Bounded *tap = weight.elements.data() + feature * sizes.terms();
  SpecialSum sum;
  sum.add({1, 0}, bias);
  for (int64_t c = 0; c < perGroup; ++c) {
    const int64_t channel = image * sizes.channels + group * perGroup + c;
    for (int64_t y = 0; y < height.kernel; ++y) {
      for (int64_t x = 0; x < width.kernel && !sum.isNone(); ++x, ++tap) {
        const int64_t down = height.position(row, y), along = width.position(column, x);
        const bool isInside = down >= 0 && down < height.size && along >= 0 && along < width.size;
        const int64_t from = (channel * height.size + down) * width.size + along;
        sum.add(isInside ? input.elements[static_cast<size_t>(from)] : Bounded{0, 0}, *tap);
      }
    }
  }
  return sum.finish(rule, sizes.terms() + 1, model);
}

template <class Sum>
void convolve(const ConvolutionSizes &sizes, const BoundedTensor &input,
              const BoundedTensor &weight, const BoundedTensor &bias, BoundedTensor &out,
              const Rule &rule, const ErrorModel &model) {
  Convolver<Sum> convolver(sizes, input, weight);
  const SpecialPlaces special(sizes, input, weight, bias);
  Bounded *to = out.elements.data();
  for (int64_t image = 0; image < sizes.batch; ++image) {
    for (int64_t feature = 0; feature < sizes.features; ++feature) {
      const Bounded &added = bias.elements[bias.sizes.empty() ? 0 : static_cast<size_t>(feature)];
      for (int64_t row = 0; row < sizes.height.result; ++row) {
        const RowSums<Sum> &sums = convolver.row(image, feature, row);
        for (int64_t i = 0; i < sizes.width.result; ++i, ++to) {
          if (special.has(image, feature, row, i)) {
            *to = specialResult(sizes, input, weight, added, {image, feature, row, i}, rule, model);
            continue;
          }
          auto at = static_cast<size_t>(i);
          Bounded total{static_cast<double>(sums.values[at] + static_cast<Sum>(added.value)),
                        sums.errors[at] + added.error};
          // Of float64 magnitudes may leave the range of double, where the sum's own type has them.
          bool isLost = !std::isfinite(total.error) ||
                        (std::isfinite(sums.values[at]) && !std::isfinite(sums.magnitudes[at]));
          *to = finishProductSum(rule, total, sums.magnitudes[at] + std::fabs(added.value),
                                 sizes.terms() + 1, isLost, model);
        }
      }
    }
  }
}

} // namespace

Result<BoundedTensor> convolutionBounded(const definition::Node &node, const BoundedTensor &input,
                                         const BoundedTensor &weight, const BoundedTensor &bias,
                                         const Rule &rule, const ErrorModel &model) {
  auto sizes = definition::convolutionSizes(node, input.sizes, weight.sizes);
  if (!sizes) {
    return sizes.error();
  }
  BoundedTensor out;
  out.sizes = {sizes->features, sizes->height.result, sizes->width.result};
  if (sizes->hasBatch) {
    out.sizes.insert(out.sizes.begin(), sizes->batch);
  }
  out.allocate(static_cast<size_t>(definition::elementCountOf(out.sizes).value_or(0)));
  auto run = model.compute == DType::F64 ? convolve<long double> : convolve<double>;
  run(*sizes, input, weight, bias, out, rule, model);
  return out;
}

Result<BoundedTensor> viewBounded(const definition::Node &node, const BoundedTensor &input) {
  auto order = definition::viewOrder(node, input.sizes.size());
  if (!order) {
    return order.error();
  }
  std::vector<int64_t> inputSteps(input.sizes.size(), 1);
  for (size_t d = input.sizes.size(); d-- > 1;) {
    inputSteps[d - 1] = inputSteps[d] * input.sizes[d];
  }
  BoundedTensor out;
  std::vector<int64_t> steps;
  for (size_t dim : *order) {
    const bool isNew = dim == definition::newDimension;
    out.sizes.push_back(isNew ? 1 : input.sizes[dim]);
    steps.push_back(isNew ? 0 : inputSteps[dim]);
  }
  out.allocate(input.elements.size());
  out.integers.resize(input.integers.size());
  const std::vector<std::vector<int64_t>> every = {steps};
  const RowRuns rows(out.sizes, every);
  const auto run = static_cast<size_t>(rows.length);
  for (size_t first = 0; first < out.elements.size(); first += run) {
    const int64_t begin = rows.offset(static_cast<int64_t>(first / run), 0);
    for (size_t j = 0; j < run; ++j) {
      const auto from = static_cast<size_t>(begin + static_cast<int64_t>(j) * rows.inner[0]);
      out.elements[first + j] = input.elements[from];
      if (!out.integers.empty()) {
        out.integers[first + j] = input.integers[from];
      }
    }
  }
  return out;
}

} // namespace nereid::eager
