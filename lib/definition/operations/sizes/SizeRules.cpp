// SPDX-License-Identifier: Apache-2.0
#include "lib/definition/operations/sizes/SizeRules.h"

#include "lib/definition/gradient/text/BodyText.h"
#include "lib/language/syntax/Parser.h"

#include <fmt/format.h>

#include <algorithm>

namespace nereid::definition {
namespace {

using Kind = ConstraintTerm::Kind;

/// The term in names of sizes; nothing where it has other things.
std::optional<SizePolynomial> sizeOf(const ConstraintTerm &term, const Operator &op) {
  switch (term.kind) {
  case Kind::Number:
    return static_cast<int64_t>(term.number);
  case Kind::Symbol:
    return SizePolynomial::symbol(term.name);
  case Kind::Size: {
    const SymbolicShape &shape = op.parameters[static_cast<size_t>(term.parameter)].shape;
    const int64_t at = term.index + (term.index < 0 ? static_cast<int64_t>(shape.size()) : 0);
    const bool isKnown = at >= 0 && at < static_cast<int64_t>(shape.size()) && !shape[0].isRest() &&
                         !shape[static_cast<size_t>(at)].isRest();
    const bool isFromEnd = term.index < 0 && at >= 0 && !shape[static_cast<size_t>(at)].isRest();
    return isKnown || isFromEnd ? std::optional(SizePolynomial::of(shape[static_cast<size_t>(at)]))
                                : std::nullopt;
  }
  case Kind::Binary: {
    const auto a = sizeOf(term.operands[0], op), b = sizeOf(term.operands[1], op);
    return a && b ? sizePolynomial(fmt::format("({}) {} ({})", a->text(), term.name, b->text()))
                  : std::nullopt;
  }
  default:
    return std::nullopt;
  }
}

/// Of an input, as bodies see it.
bool isDimension(const std::string &name, const Operator &op) {
  return std::any_of(op.nodes.begin(), op.nodes.end(), [&](const Node &node) {
    return node.op == "input" && std::any_of(node.shape.begin(), node.shape.end(),
                                             [&](const Dim &dim) { return dim.symbol == name; });
  });
}

/// "G * H"; other sizes keep the spelling in which they are computed.
bool isProductOfNames(const SizePolynomial &size) {
  const std::string text = size.text();
  return size.summands().size() == 1 && size.quotients().empty() && isSizeName(text.substr(0, 1));
}

} // namespace

std::string divisibility(const SizePolynomial &numerator, const SizePolynomial &denominator) {
  const std::string by = denominator.text();
  const bool isAtom = isSizeName(by) || denominator.constant();
  return fmt::format("{} % {} == 0", numerator.text(), isAtom ? by : "(" + by + ")");
}

SizeRules::SizeRules(const Operator &op) {
  for (const Constraint &one : op.constraints) {
    if (one.relation != "==") {
      continue;
    }
    const bool isZero = one.right.kind == Kind::Number && one.right.number == 0;
    if (isZero && one.left.kind == Kind::Binary && one.left.name == "%") {
      const auto numerator = sizeOf(one.left.operands[0], op),
                 denominator = sizeOf(one.left.operands[1], op);
      if (numerator && denominator) {
        assume(*numerator, *denominator);
      }
      continue;
    }
    const auto left = sizeOf(one.left, op), right = sizeOf(one.right, op);
    if (!left || !right) {
      continue;
    }
    const bool isNamed = isSizeName(left->text());
    const SizePolynomial &name = isNamed ? *left : *right, &value = isNamed ? *right : *left;
    const bool isComputed = !value.constant() && !isSizeName(value.text());
    if (isSizeName(name.text()) && isComputed && !namesIn(value.text()).contains(name.text())) {
      add(name.text(), value, 0);
      rules.back().isInShapes = isDimension(name.text(), op) && isProductOfNames(value);
    }
  }
}

void SizeRules::add(std::string name, SizePolynomial value, SizePolynomial divisor) {
  const bool isKnown = std::any_of(rules.begin(), rules.end(), [&](const SizeRule &rule) {
    return rule.name == name && rule.value == value;
  });
  if (!isKnown) {
    rules.push_back({std::move(name), std::move(value), std::move(divisor)});
  }
}

bool SizeRules::assume(const SizePolynomial &numerator, const SizePolynomial &denominator) {
  const std::optional<int64_t> number = denominator.constant();
  if (!isSizeName(numerator.text()) || number.value_or(2) < 2 || numerator == denominator) {
    return false;
  }
  add(numerator.text(), denominator * numerator.floorDivide(denominator), denominator);
  return true;
}

bool SizeRules::assume(const std::string &quotient) {
  Diagnostics unused;
  const language::ExprPtr expr = language::parseExpression("size", quotient, unused);
  if (!expr || expr->kind != language::ExprKind::Binary || expr->text != "//") {
    return false;
  }
  const auto numerator = sizePolynomial(*expr->operands[0]),
             denominator = sizePolynomial(*expr->operands[1]);
  if (!numerator || !denominator) {
    return false;
  }
  for (const SizePolynomial &term : numerator->summands()) { // (N + 1) // 2: halves of N
    const bool isName = isSizeName(term.text()) && (*numerator - term).constant();
    if (isName) {
      return assume(term, *denominator);
    }
  }
  return false;
}

SizePolynomial SizeRules::inFactors(const SizePolynomial &size) const {
  SizePolynomial result = size;
  for (const SizeRule &rule : rules) {
    const std::string text = withNames(result.text(), {{rule.name, "(" + rule.value.text() + ")"}});
    result = sizePolynomial(text).value_or(result);
  }
  return result;
}

SizePolynomial SizeRules::named(const SizePolynomial &size) const {
  SizePolynomial result = inFactors(size);
  for (const SizeRule &rule : rules) {
    if (!rule.isInShapes) {
      continue;
    }
    const SizePolynomial name = SizePolynomial::symbol(rule.name);
    const auto inNames = [&](const SizePolynomial &whole) {
      SizePolynomial rest = whole, names = 1;
      for (auto next = rest.dividedBy(rule.value); next; next = rest.dividedBy(rule.value)) {
        rest = *next;
        names = names * name;
        if (rest == SizePolynomial(0)) {
          return whole;
        }
      }
      return rest * names;
    };
    SizePolynomial sum = 0;
    for (const SizePolynomial &each : result.summands()) {
      sum = sum + inNames(each);
    }
    const SizePolynomial whole = inNames(result);
    result = whole == result ? sum : whole;
  }
  return result;
}

SymbolicShape SizeRules::named(SymbolicShape shape) const {
  for (Dim &dim : shape) {
    const bool isComputed = !dim.symbol.empty() && !dim.isRest() && !isSizeName(dim.symbol);
    dim = isComputed ? named(SizePolynomial::of(dim)).dim() : dim;
  }
  return shape;
}

} // namespace nereid::definition
