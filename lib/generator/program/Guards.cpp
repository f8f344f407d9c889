// SPDX-License-Identifier: Apache-2.0
// Conditions as inequalities of index expressions, see Guards.h.
#include "lib/generator/program/Guards.h"

#include <algorithm>

namespace nereid::generator {
namespace {

/// A proof uses so many conditions.
constexpr int conditionsAtMost = 2;

std::optional<Affine> indexOf(const Node *node) {
  if (node->kind == NodeKind::Index) {
    return node->indices[0];
  }
  bool isInteger = node->kind == NodeKind::Const && !isFloat(node->dtype);
  return isInteger ? std::optional<Affine>(node->integer) : std::nullopt;
}

/// An expression that is not negative if and only if value is: by · result + k with 0 ≤ k < by.
/// Nothing when `by` does not divide every term.
std::optional<Affine> dividedBy(const Affine &value, const Polynomial &by, const Symbols &symbols) {
  std::optional<Polynomial> constant = symbols.floorDivide(value.constant(), by);
  if (!constant) {
    return std::nullopt;
  }
  Affine result(*constant);
  for (const auto &[atom, coefficient] : value.terms()) {
    std::optional<Polynomial> part = coefficient.dividedBy(by);
    if (!part) {
      return std::nullopt;
    }
    result = result + Affine::atom(atom, *part);
  }
  return result;
}

/// Claims that are true if and only if value ≥ 0 is, each with one quotient less.
std::vector<Affine> withoutQuotient(const Affine &value, const IndexSpace &space) {
  std::vector<Affine> result;
  for (const auto &[atom, coefficient] : value.terms()) {
    if (atom.kind != Atom::Kind::Quotient) {
      continue;
    }
    const bool isRising = space.symbols.isPositive(coefficient);
    if (!isRising && !space.symbols.isPositive(-coefficient)) {
      continue;
    }
    std::optional<Affine> claim =
        dividedBy(value, isRising ? coefficient : -coefficient, space.symbols);
    if (claim && isRising) { // e // n + r
      result.push_back(*atom.argument + (*claim - Affine::atom(atom)) * atom.size);
    } else if (claim) { // r - e // n
      Affine rest = *claim + Affine::atom(atom);
      result.push_back(rest * atom.size + Affine(atom.size - 1) - *atom.argument);
    }
  }
  return result;
}

/// Positive pairs {times, multiple} for which some term of times · value is that of multiple ·
/// condition.
std::vector<std::pair<Polynomial, Polynomial>> scales(const Affine &value, const Affine &condition,
                                                      const IndexSpace &space) {
  std::vector<std::pair<Polynomial, Polynomial>> result;
  for (const auto &[atom, coefficient] : value.terms()) {
    auto found = condition.terms().find(atom);
    if (found == condition.terms().end()) {
      continue;
    }
    Polynomial common = commonTerm(coefficient, found->second);
    std::pair scale(*found->second.dividedBy(common), *coefficient.dividedBy(common));
    if (auto multiple = coefficient.dividedBy(found->second)) {
      scale = {1, *multiple};
    } else if (auto times = found->second.dividedBy(coefficient)) {
      scale = {*times, 1};
    } else if (space.symbols.isPositive(-scale.first)) {
      scale = {-scale.first, -scale.second};
    }
    bool isNew = std::find(result.begin(), result.end(), scale) == result.end();
    if (isNew && space.symbols.isPositive(scale.first) && space.symbols.isPositive(scale.second)) {
      result.push_back(scale);
    }
  }
  return result;
}

/// What is not negative where the comparison holds, or does not; empty when nothing follows.
std::vector<Affine> factsOf(const Comparison &comparison, bool holds) {
  const Affine &e = comparison.difference;
  if (comparison.name == (holds ? "eq" : "ne")) {
    return {e, e * -1};
  }
  if (comparison.name == (holds ? "ge" : "lt")) {
    return {e};
  }
  if (comparison.name == (holds ? "lt" : "ge")) {
    return {e * -1 - 1};
  }
  return {};
}

} // namespace

void Guards::add(const Node *condition, bool holds) {
  if (condition->kind != NodeKind::Map) {
    return;
  }
  const std::string &name = condition->name;
  const std::vector<const Node *> &inputs = condition->inputs;
  if (name == "logical_not") {
    add(inputs[0], !holds);
    return;
  }
  if (name == (holds ? "logical_and" : "logical_or")) {
    add(inputs[0], holds);
    add(inputs[1], holds);
    return;
  }
  std::optional<Comparison> comparison = comparisonOf(*condition);
  if (!comparison) {
    return;
  }
  for (Affine &fact : factsOf(*comparison, holds)) {
    for (Affine &same : withoutQuotient(fact, space)) {
      nonNegative.push_back(std::move(same));
    }
    nonNegative.push_back(std::move(fact));
  }
}

Guards Guards::apartFrom(const std::vector<IteratorId> &iterators) const {
  Guards result(space);
  for (const Affine &fact : nonNegative) {
    std::set<IteratorId> seen;
    fact.collect(seen);
    const bool isApart = std::none_of(iterators.begin(), iterators.end(),
                                      [&](IteratorId each) { return seen.contains(each); });
    if (isApart) {
      result.nonNegative.push_back(fact);
    }
  }
  return result;
}

bool Guards::proveByConditions(const Affine &value, int conditionsAtMost) const {
  if (isNonNegative(value, space)) {
    return true;
  }
  if (conditionsAtMost == 0) {
    return false;
  }
  for (const Affine &condition : nonNegative) {
    for (const auto &[times, multiple] : scales(value, condition, space)) {
      // An integer is not negative if and only if `times` of it and times - 1 are not.
      Affine rest = value * times + Affine(times - 1) - condition * multiple;
      if (proveByConditions(rest, conditionsAtMost - 1)) {
        return true;
      }
    }
  }
  return false;
}

bool Guards::proveNonNegative(const Affine &value) const {
  if (proveByConditions(value, conditionsAtMost)) {
    return true;
  }
  std::vector<Affine> simpler = withoutQuotient(value, space);
  return std::any_of(simpler.begin(), simpler.end(),
                     [&](const Affine &same) { return proveNonNegative(same); });
}

std::vector<Polynomial> Guards::upperEnds(const Affine &value) const {
  std::vector<Polynomial> result;
  if (Bounds bounds = boundsOf(value, space); bounds.high) {
    result.push_back(*bounds.high);
  }
  for (const Affine &condition : nonNegative) {
    Affine end = value + condition;
    if (end.isConstant()) {
      result.push_back(end.constant());
    }
  }
  return result;
}

bool Guards::proveInside(const Affine &value, const Polynomial &size) const {
  return proveNonNegative(value) && proveNonNegative(Affine(size - 1) - value);
}

std::optional<Comparison> comparisonOf(const NodeParts &parts) {
  if (parts.kind != NodeKind::Map || parts.inputs.size() != 2) {
    return std::nullopt;
  }
  std::optional<Affine> a = indexOf(parts.inputs[0]), b = indexOf(parts.inputs[1]);
  if (!a || !b) {
    return std::nullopt;
  }
  const std::string &name = parts.name;
  if (name == "gt" || name == "le") { // a ≤ b is b - a ≥ 0
    return Comparison{name == "le" ? "ge" : "lt", *b - *a};
  }
  bool isKnown = name == "lt" || name == "ge" || name == "eq" || name == "ne";
  return isKnown ? std::optional(Comparison{name, *a - *b}) : std::nullopt;
}

std::optional<bool> truthByBounds(const Comparison &comparison, const IndexSpace &space) {
  const bool isEquation = comparison.name == "eq" || comparison.name == "ne";
  const Affine &difference = comparison.difference;
  if (isEquation && (isNonNegative(difference - Affine(1), space) ||
                     isNonNegative(difference * -1 - Affine(1), space))) {
    return comparison.name == "ne"; // one side is larger everywhere
  }
  for (bool holds : {true, false}) {
    std::vector<Affine> facts = factsOf(comparison, holds);
    bool areProved = std::all_of(facts.begin(), facts.end(),
                                 [&](const Affine &fact) { return isNonNegative(fact, space); });
    if (!facts.empty() && areProved) {
      return holds;
    }
  }
  return std::nullopt;
}

} // namespace nereid::generator
