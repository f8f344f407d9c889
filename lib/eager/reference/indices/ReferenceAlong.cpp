// SPDX-License-Identifier: Apache-2.0
#include "lib/eager/reference/indices/ReferenceAlong.h"

#include "lib/definition/Tolerance.h"
#include "lib/definition/operations/Shape.h"
#include "lib/definition/operations/indices/Along.h"
#include "lib/eager/reference/rules/IntegerRules.h"

#include <algorithm>
#include <cmath>
#include <limits>
#include <numeric>

namespace nereid::eager {
namespace {

using definition::Node;

constexpr double infinity = std::numeric_limits<double>::infinity();

/// One line: its elements, and of integers what they are exactly.
struct Line {
  std::vector<Bounded> elements;
  std::vector<uint64_t> integers;
  bool isUnsigned = false;

  size_t size() const { return elements.size(); }
  void add(const Line &from, size_t i) {
    elements.push_back(from.elements[i]);
    if (!from.integers.empty()) {
      integers.push_back(from.integers[i]);
    }
  }
  /// The order of sorted lines: NaN is larger than everything.
  bool less(size_t a, size_t b) const {
    if (!integers.empty()) {
      return isUnsigned ? integers[a] < integers[b]
                        : static_cast<int64_t>(integers[a]) < static_cast<int64_t>(integers[b]);
    }
    const double x = elements[a].value, y = elements[b].value;
    return std::isnan(x) || std::isnan(y) ? !std::isnan(x) : x < y;
  }
  bool isNaN(size_t i) const { return integers.empty() && std::isnan(elements[i].value); }
  /// Neither is off: their order is known, equal ones included.
  double low(size_t i) const { return elements[i].value - elements[i].error; }
  double high(size_t i) const { return elements[i].value + elements[i].error; }
  bool isExact() const {
    return std::all_of(elements.begin(), elements.end(),
                       [](const Bounded &each) { return each.error == 0; });
  }
};

Bounded position(int64_t at, bool isOpen) {
  return {static_cast<double>(at), isOpen ? infinity : 0};
}

// ---- sorted lines ----

std::vector<size_t> sortedPositions(const Line &line, bool isDescending) {
  std::vector<size_t> order(line.size());
  std::iota(order.begin(), order.end(), size_t{0});
  std::stable_sort(order.begin(), order.end(), [&](size_t a, size_t b) {
    return isDescending ? line.less(b, a) : line.less(a, b);
  });
  return order;
}

/// Those whose place is open: of two elements one could as well stand before the other.
std::vector<bool> openPlaces(const Line &line, const std::vector<size_t> &order,
                             bool isDescending) {
  std::vector<bool> isOpen(order.size(), false);
  if (line.isExact()) {
    return isOpen;
  }
  auto low = [&](size_t i) {
    const double value = isDescending ? -line.high(order[i]) : line.low(order[i]);
    return std::isnan(value) ? (isDescending ? -infinity : infinity) : value;
  };
  auto high = [&](size_t i) {
    const double value = isDescending ? -line.low(order[i]) : line.high(order[i]);
    return std::isnan(value) ? (isDescending ? -infinity : infinity) : value;
  };
  // One of each pair is off; two that are exact stand where they stand.
  auto pass = [&](auto begin, auto end, auto isPassed) {
    double all = -infinity, inexact = -infinity;
    for (auto i = begin; i != end; ++i) {
      const bool isExact = line.elements[order[*i]].error == 0;
      isOpen[*i] = isOpen[*i] || isPassed(*i, isExact ? inexact : all);
      const double reach = isPassed(*i);
      all = std::max(all, reach);
      inexact = isExact ? inexact : std::max(inexact, reach);
    }
  };
  struct Forward {
    decltype(low) &lows;
    decltype(high) &highs;
    bool operator()(size_t i, double before) const { return before >= lows(i); }
    double operator()(size_t i) const { return highs(i); }
  };
  struct Backward {
    decltype(low) &lows;
    decltype(high) &highs;
    bool operator()(size_t i, double behind) const { return -behind <= highs(i); }
    double operator()(size_t i) const { return -lows(i); }
  };
  std::vector<size_t> places(order.size());
  std::iota(places.begin(), places.end(), size_t{0});
  pass(places.begin(), places.end(), Forward{low, high});
  pass(places.rbegin(), places.rend(), Backward{low, high});
  return isOpen;
}

/// Values of a sorted line are off by no more than sorted lines of both ends are.
void boundValues(const Line &line, bool isDescending, std::vector<Bounded> &values) {
  if (line.isExact()) {
    return;
  }
  std::vector<double> lows, highs;
  bool isLost = false;
  for (size_t i = 0; i < line.size(); ++i) {
    isLost = isLost || std::isinf(line.elements[i].error);
    const bool isNaN = line.isNaN(i);
    lows.push_back(isNaN ? infinity : line.low(i));
    highs.push_back(isNaN ? infinity : line.high(i));
  }
  for (std::vector<double> *ends : {&lows, &highs}) {
    std::sort(ends->begin(), ends->end());
    if (isDescending) {
      std::reverse(ends->begin(), ends->end());
    }
  }
  for (size_t i = 0; i < values.size(); ++i) {
    Bounded &value = values[i];
    const double away = std::max(value.value - lows[i], highs[i] - value.value);
    value.error = isLost ? infinity : std::isfinite(value.value) ? away : 0;
  }
}

Line sorted(const Node &node, const Line &line, bool wantsPositions) {
  definition::SortedPart part = definition::sortedPart(node, static_cast<int64_t>(line.size()));
  const std::vector<size_t> order = sortedPositions(line, part.isDescending);
  Line all;
  for (size_t i : order) {
    all.add(line, i);
  }
  boundValues(line, part.isDescending, all.elements);
  if (part.takesNaN) { // the first of them, where there is one
    for (size_t i = order.size(); i-- > 0 && line.isNaN(order[i]);) {
      part.first = static_cast<int64_t>(i);
    }
  }
  Line result;
  const std::vector<bool> isOpen =
      wantsPositions ? openPlaces(line, order, part.isDescending) : std::vector<bool>();
  for (int64_t i = part.first; i < part.first + part.count; ++i) {
    const auto at = static_cast<size_t>(i);
    if (wantsPositions) {
      result.elements.push_back(position(static_cast<int64_t>(order[at]), isOpen[at]));
      result.integers.push_back(order[at]);
    } else {
      result.add(all, at);
    }
  }
  return result;
}

// ---- extrema ----

/// The extremum of what it has been given, and where that stands.
class Extremum {
public:
  Extremum(const Line &line, bool isLargest, bool takesLast)
      : line(line), isLargest(isLargest), takesLast(takesLast) {}

  void take(size_t i) {
    if (count++ == 0 || replaces(i)) {
      at = i;
    }
    const double low = isLargest ? line.low(i) : -line.high(i);
    const double high = isLargest ? line.high(i) : -line.low(i);
    isLost = isLost || std::isinf(line.elements[i].error);
    isExact = isExact && line.elements[i].error == 0;
    if (!line.isNaN(i)) {
      lowest = std::max(lowest, low);
      second = high > highest ? highest : std::max(second, high);
      highest = std::max(highest, high);
    }
  }

  size_t place() const { return at; }
  bool isOpen() const {
    const bool isNaN = line.isNaN(at);
    return isExact ? false : isLost || isNaN || count < 2 ? isLost : second >= lowest;
  }
  Bounded value() const {
    Bounded best = line.elements[at];
    if (isLost && !line.isNaN(at)) {
      best.error = infinity;
    } else if (std::isfinite(best.value) && !isExact) {
      const double own = isLargest ? best.value : -best.value;
      best.error = std::max({best.error, highest - own, own - lowest});
    }
    return best;
  }

private:
  bool replaces(size_t i) const {
    if (line.isNaN(i) || line.isNaN(at)) {
      return line.isNaN(i) && (takesLast || !line.isNaN(at));
    }
    const bool isBetter = isLargest ? line.less(at, i) : line.less(i, at);
    const bool isSame = !line.less(at, i) && !line.less(i, at);
    return isBetter || (takesLast && isSame);
  }

  const Line &line;
  const bool isLargest, takesLast;
  size_t at = 0, count = 0;
  bool isLost = false, isExact = true;
  double lowest = -infinity, highest = -infinity, second = -infinity;
};

Line searched(const Node &node, const Line &line) {
  Extremum found(line, node.op == "argmax", false);
  for (size_t i = 0; i < line.size(); ++i) {
    found.take(i);
  }
  Line result;
  result.elements.push_back(position(static_cast<int64_t>(found.place()), found.isOpen()));
  result.integers.push_back(found.place());
  return result;
}

Line extremaUpTo(const Node &node, const Line &line) {
  const bool wantsPositions = node.op.ends_with("_indices");
  Extremum found(line, node.op.starts_with("cummax"), true);
  Line result;
  for (size_t i = 0; i < line.size(); ++i) {
    found.take(i);
    if (wantsPositions) {
      result.elements.push_back(position(static_cast<int64_t>(found.place()), found.isOpen()));
      result.integers.push_back(found.place());
    } else {
      result.add(line, found.place());
      result.elements.back() = found.value();
    }
  }
  return result;
}

// ---- sums and products of what lies before ----

Line integersUpTo(const Node &node, const Line &line, DType type) {
  Line result;
  uint64_t total = node.op == "cumprod" ? 1 : 0;
  double errors = 0;
  for (size_t i = 0; i < line.size(); ++i) {
    const Bounded &own = line.elements[i];
    // Truth values have no list of integers.
    const uint64_t next =
        line.integers.empty() ? static_cast<uint64_t>(own.value) : line.integers[i];
    total = wrapped(node.op == "cumprod" ? total * next : total + next, type);
    errors += own.error;
    const double shown = isUnsignedInteger(type) ? static_cast<double>(total)
                                                 : static_cast<double>(static_cast<int64_t>(total));
    const bool isOpen = node.op == "cumprod" && errors > 0;
    result.elements.push_back({shown, isOpen ? infinity : std::ceil(errors)});
    result.integers.push_back(total);
  }
  return result;
}

/// Element i is a sum of i + 1 terms, added in any order.
Line sumsUpTo(const Line &line, const ErrorModel &model) {
  const double unit = definition::unitRoundoff(model.compute);
  long double sum = 0;
  double magnitudes = 0, above = 0, below = 0, errors = 0, special = 0;
  bool isLost = false;
  Line result;
  for (size_t i = 0; i < line.size(); ++i) {
    const Bounded &own = line.elements[i];
    isLost = isLost || std::isinf(own.error);
    errors += own.error;
    if (std::isfinite(own.value)) {
      sum += own.value;
      magnitudes += std::fabs(own.value);
      above += std::max(0.0, own.value + own.error);
      below += std::max(0.0, own.error - own.value);
    } else {
      special += own.value;
    }
    // A NaN stays one, and so does an infinity that no partial sum of the other sign may meet.
    const bool isSpecial = special != 0;
    const double reached = special > 0 ? below : special < 0 ? above : isSpecial ? 0 : magnitudes;
    const bool mayOverflow = reached > definition::largestFinite(model.compute);
    const double steps = definition::summationSteps(static_cast<int64_t>(i) + 1);
    const Bounded total{isSpecial ? special : static_cast<double>(sum),
                        isSpecial ? 0 : errors + steps * unit * magnitudes};
    result.elements.push_back(i == 0 ? own : roundedResult(total, 1, isLost || mayOverflow, model));
  }
  return result;
}

/// Factors may be multiplied in any order: see productOfAll of ErrorRules.cpp, of which this is the
/// running form.
Line productsUpTo(const Line &line, const ErrorModel &model) {
  const double unit = definition::unitRoundoff(model.compute);
  const double tiny = definition::smallestNormal(model.compute);
  double value = 1, upper = 1, above = 1, below = 1;
  bool isLost = false, hasInfinity = false, mayBeZero = false;
  Line result;
  for (size_t i = 0; i < line.size(); ++i) {
    const Bounded &own = line.elements[i];
    const double most = std::fabs(own.value) + own.error;
    isLost = isLost || std::isinf(own.error);
    value *= own.value;
    mayBeZero = mayBeZero || (own.error > 0 && std::fabs(own.value) <= own.error);
    hasInfinity = hasInfinity || !std::isfinite(own.value);
    if (std::isfinite(own.value)) {
      upper *= most;
      above *= std::max(1.0, most);
      below *= most > 0 ? std::min(1.0, most) : 1.0;
    }
    const bool mayUnderflow = below < 2 * tiny;
    const bool mayOverflow = above > definition::largestFinite(model.compute);
    if (i == 0) {
      result.elements.push_back(own);
    } else if (std::isnan(value) && !mayUnderflow && !mayOverflow && !mayBeZero) {
      result.elements.push_back({value, isLost ? infinity : 0});
    } else if (hasInfinity) {
      result.elements.push_back(
          roundedResult({value, 0}, 1, isLost || mayUnderflow || mayOverflow || mayBeZero, model));
    } else {
      const double relative = definition::summationSteps(static_cast<int64_t>(i) + 1) * unit;
      double error = upper * std::expm1(relative) + (upper - std::fabs(value));
      error += mayUnderflow
                   ? std::fabs(value) + static_cast<double>(i + 1) * tiny * (2 * unit) * above
                   : 0;
      result.elements.push_back(roundedResult({value, error}, 1, isLost || mayOverflow, model));
    }
  }
  return result;
}

/// log(exp(x0) + ... + exp(xi)): each term's exponential is rescaled as the maximum grows.
Line logSumsUpTo(const Line &line, const ErrorModel &model) {
  const double unit = definition::unitRoundoff(model.compute);
  double most = -infinity, errors = 0;
  long double sum = 0; // of exponentials above the maximum
  bool isLost = false, isNaN = false, isInfinite = false;
  Line result;
  for (size_t i = 0; i < line.size(); ++i) {
    const Bounded &own = line.elements[i];
    isLost = isLost || std::isinf(own.error);
    isNaN = isNaN || std::isnan(own.value);
    isInfinite = isInfinite || own.value == infinity;
    errors = std::max(errors, own.error);
    if (!std::isnan(own.value) && own.value != infinity && own.value != -infinity) {
      if (own.value > most) {
        sum = std::isinf(most) ? 0 : sum * std::exp(static_cast<long double>(most - own.value));
        most = own.value;
      }
      sum += std::exp(static_cast<long double>(own.value - most));
    }
    if (isNaN || isInfinite || sum == 0) {
      const double special = isNaN ? std::nan("") : isInfinite ? infinity : -infinity;
      result.elements.push_back({special, isLost ? infinity : 0});
      continue;
    }
    const double logarithm = static_cast<double>(std::log(sum));
    // t exp(-t) is below 1: what the distance to the maximum loses is one rounding of a term; an
    // exponential has 8, and there are as many products as the scan has levels.
    const double steps = definition::summationSteps(static_cast<int64_t>(i) + 1) + 64;
    const double relative = steps * unit;
    const double away = unit * (std::fabs(most) + 4 * std::fabs(logarithm));
    result.elements.push_back(
        roundedResult({most + logarithm, errors + 2 * relative + away}, 2, isLost, model));
  }
  return result;
}

} // namespace

BoundedTensor alongBounded(const Node &node, const BoundedTensor &input, DType inputType,
                           DType type, const ErrorModel &model) {
  const std::optional<int64_t> named = definition::dimAlong(node);
  const auto rank = static_cast<int64_t>(input.sizes.size());
  const bool takesAll = !named;
  const auto dim = static_cast<size_t>(takesAll ? 0 : rank + *named);
  int64_t inner = 1, length = static_cast<int64_t>(input.elements.size());
  if (!takesAll) {
    length = input.sizes[dim];
    for (size_t d = dim + 1; d < input.sizes.size(); ++d) {
      inner *= input.sizes[d];
    }
  }
  int64_t lines = 1;
  for (size_t d = 0; !takesAll && d < input.sizes.size(); ++d) {
    lines *= d == dim ? 1 : input.sizes[d];
  }
  const definition::Operation &operation = *definition::findOperation(node.op);
  const bool isSort = operation.kind == definition::OperationKind::Sort;
  const bool isIndex = operation.result == definition::ResultType::Position;
  const bool isSearch = operation.kind == definition::OperationKind::Reduction;
  auto result = [&](const Line &line) {
    if (isSort) {
      return sorted(node, line, isIndex);
    }
    if (isSearch) {
      return searched(node, line);
    }
    if (node.op.starts_with("cummax") || node.op.starts_with("cummin")) {
      return extremaUpTo(node, line);
    }
    if (!isFloat(type)) {
      return integersUpTo(node, line, type);
    }
    return node.op == "cumsum"    ? sumsUpTo(line, model)
           : node.op == "cumprod" ? productsUpTo(line, model)
                                  : logSumsUpTo(line, model);
  };
  BoundedTensor out;
  const definition::SortedPart part = definition::sortedPart(node, length);
  const int64_t kept = isSearch ? 1 : isSort ? part.count : length;
  for (size_t d = 0; d < input.sizes.size(); ++d) {
    const bool isLine = takesAll || d == dim;
    const bool isDropped = (isSearch || part.count == 1) && isLine &&
                           !node.op.starts_with("topk") && node.op != "sort" &&
                           node.op != "argsort" &&
                           operation.kind != definition::OperationKind::Scan;
    if (!isDropped) {
      out.sizes.push_back(isLine ? kept : input.sizes[d]);
    } else if (definition::keepsDim(node)) {
      out.sizes.push_back(1);
    }
  }
  const auto total = static_cast<size_t>(lines * kept);
  const bool hasIntegers =
      isIndex || !input.integers.empty() || (!isFloat(type) && type != DType::Bool);
  out.elements.resize(total);
  out.integers.resize(hasIntegers ? total : 0);
  for (int64_t number = 0; number < lines; ++number) {
    const int64_t outer = number / inner, column = number % inner;
    Line line;
    line.isUnsigned = isUnsignedInteger(inputType);
    for (int64_t i = 0; i < length; ++i) {
      const auto from = static_cast<size_t>((outer * length + i) * inner + column);
      line.elements.push_back(input.elements[from]);
      if (!input.integers.empty()) {
        line.integers.push_back(input.integers[from]);
      }
    }
    const Line made = length == 0 && (isSearch || part.count == 1) ? Line() : result(line);
    for (size_t i = 0; i < made.size(); ++i) {
      const auto to =
          static_cast<size_t>((outer * kept + static_cast<int64_t>(i)) * inner + column);
      out.elements[to] = made.elements[i];
      if (hasIntegers) {
        out.integers[to] = made.integers[i];
      }
    }
  }
  return out;
}

} // namespace nereid::eager
