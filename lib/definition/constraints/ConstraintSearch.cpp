// SPDX-License-Identifier: Apache-2.0
// fulfilled: from wanted sizes to ones that meet the constraints. Each step changes one size, or
// the number of leading ones, to what leaves the fewest constraints unmet and moves least.
#include "lib/definition/cases/IndexData.h"
#include "lib/definition/constraints/Holding.h"
#include "lib/definition/operations/Shape.h"

#include <algorithm>
#include <cmath>
#include <set>

namespace nereid::definition {
namespace {

constexpr int mostSteps = 32;
constexpr int64_t mostMove = 256, largestSize = 1 << 16;
constexpr size_t mostLeading = 6;

/// Constraints that are not met, of those that may depend on a size, or of all.
int unmet(const Operator &op, const Binding &binding, const std::string *symbol = nullptr) {
  const auto ranges =
      std::count_if(op.parameters.begin(), op.parameters.end(), [&](const Parameter &parameter) {
        return parameter.range && !rangeProblem(parameter, binding).empty();
      });
  return static_cast<int>(ranges + std::count_if(op.constraints.begin(), op.constraints.end(),
                                                 [&](const Constraint &constraint) {
                                                   return (!symbol ||
                                                           mayDependOn(constraint, *symbol)) &&
                                                          !holds(constraint, op, binding);
                                                 }));
}

/// Numbers that the constraints name: sizes are often to equal one of them or its neighbour.
void collectNumbers(const ConstraintTerm &term, std::set<int64_t> &numbers) {
  bool isSize = term.kind == ConstraintTerm::Kind::Number && term.number >= 0 &&
                term.number <= static_cast<long double>(largestSize);
  if (isSize) {
    const auto number = static_cast<int64_t>(term.number);
    numbers.insert({number - 1, number, number + 1});
  }
  for (const ConstraintTerm &operand : term.operands) {
    collectNumbers(operand, numbers);
  }
}

/// What a size may become instead of `now`, the nearest first.
std::vector<int64_t> candidates(const Operator &op, const Binding &binding, int64_t now) {
  std::set<int64_t> values;
  for (int64_t move = 1; move <= mostMove; ++move) {
    values.insert({now - move, now + move});
  }
  for (const Constraint &constraint : op.constraints) {
    collectNumbers(constraint.left, values);
    collectNumbers(constraint.right, values);
  }
  for (const auto &[symbol, size] : binding.symbols) {
    values.insert({size - 1, size, size + 1});
  }
  for (int64_t size : binding.rest) {
    values.insert(size);
  }
  std::vector<int64_t> sorted;
  // A size of 0 is wanted or not: searching never makes a case empty.
  std::copy_if(values.begin(), values.end(), std::back_inserter(sorted),
               [&](int64_t value) { return value > 0 && value <= largestSize; });
  std::sort(sorted.begin(), sorted.end(), [&](int64_t a, int64_t b) {
    return std::pair(std::abs(a - now), a) < std::pair(std::abs(b - now), b);
  });
  return sorted;
}

class Search {
public:
  Search(const Operator &op, Binding start) : op(op), best(std::move(start)) {}

  std::optional<Binding> run() {
    left = unmet(op, best);
    for (int step = 0; step < mostSteps && left > 0; ++step) {
      const Binding from = best;
      const int before = left;
      moveSymbols(from);
      moveLeading(from);
      if (left == before) {
        return std::nullopt;
      }
    }
    return left == 0 ? std::optional<Binding>(best) : std::nullopt;
  }

private:
  /// `others`: unmet constraints that do not depend on the size that was changed.
  void consider(const Binding &binding, const std::string *symbol = nullptr, int others = 0) {
    const int count = others + unmet(op, binding, symbol);
    if (count < left) {
      left = count;
      best = binding;
    }
  }

  void moveSymbols(const Binding &from) {
    const int all = unmet(op, from);
    for (const auto &[symbol, size] : from.symbols) {
      const int others = all - unmet(op, from, &symbol);
      Binding moved = from;
      for (int64_t value : candidates(op, from, size)) {
        moved.symbols[symbol] = value;
        consider(moved, &symbol, others);
      }
    }
  }

  void moveLeading(const Binding &from) {
    const std::vector<std::string> symbols = symbolsOf(op);
    if (std::find(symbols.begin(), symbols.end(), "...") == symbols.end()) {
      return;
    }
    for (size_t count = 0; count <= mostLeading; ++count) {
      Binding moved = from;
      moved.rest.resize(count, 2);
      consider(moved);
    }
    for (size_t i = 0; i < from.rest.size(); ++i) {
      for (int64_t value : candidates(op, from, from.rest[i])) {
        Binding moved = from;
        moved.rest[i] = value;
        consider(moved);
      }
    }
  }

  const Operator &op;
  Binding best;
  int left = 0;
};

} // namespace

std::optional<Binding> fulfilled(const Operator &op, const Binding &wanted) {
  return Search(op, wanted).run();
}

} // namespace nereid::definition
