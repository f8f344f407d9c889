// SPDX-License-Identifier: Apache-2.0
// Rules of reductions, see ReductionRules.h.
#include "lib/eager/reference/rules/ReductionRules.h"

#include "lib/definition/Tolerance.h"

#include <algorithm>

namespace nereid::eager {
namespace {

using definition::Node;

constexpr double infinity = std::numeric_limits<double>::infinity();

/// Factors may be multiplied in any order: a partial product may leave the range that the whole one
/// stays in, above, where it is an infinity for good, or below, where it is 0 or rounded to the
/// last bit of a smallest normal number, which the factors above 1 show again.
Bounded productOfAll(std::span<const Bounded> elements, bool isLost, const ErrorModel &model) {
  const double tiny = definition::smallestNormal(model.compute);
  double value = 1, upper = 1, above = 1, below = 1;
  bool hasInfinity = false, mayBeZero = false;
  for (const Bounded &each : elements) {
    const double most = std::fabs(each.value) + each.error;
    value *= each.value;
    mayBeZero = mayBeZero || (each.error > 0 && std::fabs(each.value) <= each.error);
    hasInfinity = hasInfinity || std::isinf(each.value);
    if (std::isinf(each.value)) {
      continue;
    }
    upper *= most;
    above *= std::max(1.0, most);
    below *= most > 0 ? std::min(1.0, most) : 1.0;
  }
  const bool mayUnderflow = below < 2 * tiny;
  const bool mayOverflow = above > definition::largestFinite(model.compute);
  if (hasInfinity) {
    return roundedResult({value, 0}, 1, isLost || mayUnderflow || mayBeZero, model);
  }
  const auto n = static_cast<int64_t>(elements.size());
  const double relative = definition::summationSteps(n) * definition::unitRoundoff(model.compute);
  double error = upper * std::expm1(relative) + (upper - std::fabs(value));
  const double lastBit = tiny * (2 * definition::unitRoundoff(model.compute)); // not 0 of float64
  error += mayUnderflow ? std::fabs(value) + static_cast<double>(n) * lastBit * above : 0;
  return roundedResult({value, error}, 1, isLost || mayOverflow, model);
}

/// The largest or the smallest one.
Bounded extremumOf(bool isLargest, std::span<const Bounded> elements, bool isLost,
                   const ErrorModel &model) {
  Bounded best{isLargest ? -infinity : infinity, 0};
  for (const Bounded &each : elements) {
    const bool isBetter = isLargest ? each.value > best.value : each.value < best.value;
    const bool replaces = !std::isnan(best.value) && (std::isnan(each.value) || isBetter);
    best = replaces ? each : best;
  }
  // Whatever might be the extremum may be off; not the -1e30 that stands for what is masked.
  Bounded out = best;
  for (const Bounded &each : elements) {
    out.error = std::max(out.error, chosen(best, each).error);
  }
  return roundedResult(out, 0, isLost, model);
}

struct Sum {
  long double value = 0;
  double error = 0;
  bool isLost = false; ///< a partial sum may leave the range
};

/// How far numbers may lead from an infinity to the other one.
double reachedAgainst(double infinite, std::span<const Bounded> elements) {
  double reached = 0;
  for (const Bounded &each : elements) {
    const double against = infinite > 0 ? -each.value : each.value;
    reached += std::isfinite(each.value) ? std::max(0.0, against + each.error) : 0;
  }
  return reached;
}

Sum sumOf(std::span<const Bounded> elements, const ErrorModel &model) {
  double magnitudes = 0, errors = 0, special = 0;
  for (const Bounded &each : elements) {
    magnitudes += std::fabs(each.value);
    errors += each.error;
    special += std::isfinite(each.value) ? 0 : each.value;
  }
  Sum sum;
  // Infinities and NaN decide a sum alone, and extended precision adds them a hundred times slower.
  for (size_t i = 0; special == 0 && i < elements.size(); ++i) {
    sum.value += elements[i].value;
  }
  sum.value += special;
  // A sum may pass through partial sums as large as the magnitudes allow, also those of elements
  // that are sums themselves: their errors are that many times the unit, at least.
  const double unit = definition::unitRoundoff(model.compute);
  const double reached =
      special == 0 ? magnitudes + errors / unit : reachedAgainst(special, elements);
  sum.isLost = reached > definition::largestFinite(model.compute);
  const double steps = definition::summationSteps(static_cast<int64_t>(elements.size()));
  sum.error = special == 0 ? errors + steps * unit * magnitudes : 0;
  return sum;
}

/// The variance or its root, of elements with this mean.
Bounded varianceOf(const Node &node, std::span<const Bounded> elements, const Bounded &mean,
                   bool isLost, const ErrorModel &model) {
  const auto n = static_cast<double>(elements.size());
  const double unit = definition::unitRoundoff(model.compute);
  const double steps = definition::summationSteps(static_cast<int64_t>(elements.size()));
  const auto correction = static_cast<double>(definition::integerAttribute(node, "correction", 1));
  double squares = 0, spread = 0;
  for (const Bounded &each : elements) {
    const double deviation = std::fabs(each.value - mean.value);
    const double error = each.error + mean.error + unit * deviation;
    squares += deviation * deviation;
    spread += 2 * deviation * error + error * error;
  }
  const double degrees = std::max(0.0, n - correction);
  if (elements.size() <= 1) { // none, or the one that is its mean
    return roundedResult({squares / degrees, 0}, 5, isLost, model);
  }
  // Squares leave the range long before the numbers do, at either end.
  isLost = isLost || squares > definition::largestFinite(model.compute);
  const double flushed = squares > 0 ? n * definition::smallestNormal(model.compute) : 0;
  const Bounded variance{squares / degrees, (spread + steps * unit * squares + flushed) / degrees};
  if (node.op == "var") {
    return roundedResult(variance, 4, isLost, model);
  }
  const double root = std::sqrt(variance.value);
  double error = 0;
  if (variance.error > 0) {
    const double low = std::sqrt(std::max(0.0, variance.value - variance.error));
    error = std::max(root - low, std::sqrt(variance.value + variance.error) - root);
  }
  return roundedResult({root, error}, 5, isLost, model);
}

/// What an element's NaN, or infinities of both signs, make of all, whatever the others are. What
/// is `centered` takes an infinity from itself.
bool isSurelyNaN(std::span<const Bounded> elements, bool adds, bool centered) {
  double infinities = 0;
  bool isNaN = false;
  for (const Bounded &each : elements) {
    const bool isOpen = std::isinf(each.error);
    isNaN = isNaN || (!isOpen && std::isnan(each.value));
    infinities += !isOpen && std::isinf(each.value) ? each.value : 0;
    isNaN = isNaN || (centered && infinities != 0);
  }
  return isNaN || (adds && std::isnan(infinities));
}

} // namespace

Bounded reduceRule(const Node &node, std::span<const Bounded> elements, const ErrorModel &model) {
  const std::string &op = node.op;
  const bool isExtremum = op == "amax" || op == "amin", isProduct = op == "prod";
  if (isSurelyNaN(elements, !isExtremum && !isProduct, op == "var" || op == "std")) {
    return {std::numeric_limits<double>::quiet_NaN(), 0};
  }
  if (elements.size() == 1 && op != "var" && op != "std") {
    return elements.front(); // nothing to add, to divide or to compare
  }
  const bool isLost = std::any_of(elements.begin(), elements.end(),
                                  [](const Bounded &each) { return std::isinf(each.error); });
  if (isExtremum) {
    return extremumOf(op == "amax", elements, isLost, model);
  }
  if (isProduct) {
    return productOfAll(elements, isLost, model);
  }
  const Sum sum = sumOf(elements, model);
  if (op == "sum") {
    return roundedResult({static_cast<double>(sum.value), sum.error}, 1, isLost || sum.isLost,
                         model);
  }
  const auto n = static_cast<double>(elements.size());
  const Bounded mean{static_cast<double>(sum.value / n), sum.error == 0 ? 0 : sum.error / n};
  return op == "mean" ? roundedResult(mean, 2, isLost || sum.isLost, model)
                      : varianceOf(node, elements, mean, isLost || sum.isLost, model);
}

} // namespace nereid::eager
