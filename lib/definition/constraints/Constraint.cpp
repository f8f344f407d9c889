// SPDX-License-Identifier: Apache-2.0
// Constraints evaluated on concrete sizes. Numbers are long double, which holds every 64-bit
// integer.
#include "lib/definition/constraints/Constraint.h"

#include "lib/definition/cases/IndexData.h"
#include "lib/definition/constraints/Holding.h"
#include "lib/definition/operations/Shape.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <limits>

namespace nereid::definition {
namespace {

using Kind = ConstraintTerm::Kind;

/// Whole numbers are written as such where they are nearer to 0 than `beyond`.
std::string numberText(long double value, long double beyond = 9223372036854775808.0L) {
  return value == std::floor(value) && std::fabs(value) < beyond
             ? fmt::format("{:.0f}", value + 0)
             : fmt::format("{}", static_cast<double>(value));
}

/// What a term comes to, which no program reads.
std::string valueText(long double value) { return numberText(value, 1e30L); }

bool compares(const std::string &relation, long double a, long double b) {
  return relation == "=="   ? a == b
         : relation == "!=" ? a != b
         : relation == "<"  ? a < b
         : relation == "<=" ? a <= b
         : relation == ">"  ? a > b
                            : a >= b;
}

/// a / b, rounded down; of integers as such, which takes a tenth of the time.
long double rounded(long double a, long double b) {
  constexpr long double most = 1e18L;
  if (std::fabs(a) < most && std::fabs(b) < most) {
    const auto i = static_cast<int64_t>(a), j = static_cast<int64_t>(b);
    if (static_cast<long double>(i) == a && static_cast<long double>(j) == b) {
      const bool isBelow = i % j != 0 && (i < 0) != (j < 0);
      return static_cast<long double>(i / j - (isBelow ? 1 : 0));
    }
  }
  return std::floor(a / b);
}

bool mayDependOn(const ConstraintTerm &term, const std::string &symbol) {
  switch (term.kind) {
  case Kind::Symbol:
    return term.name == symbol;
  case Kind::Size:
  case Kind::Rank:
  case Kind::Count:
  case Kind::Shape:
    return true;
  default:
    return std::any_of(term.operands.begin(), term.operands.end(),
                       [&](const ConstraintTerm &operand) { return mayDependOn(operand, symbol); });
  }
}

class Evaluator {
public:
  Evaluator(const Operator &op, const Binding &binding, std::optional<DType> dtype,
            const std::vector<double> &scalars)
      : op(op), binding(binding), dtype(dtype), scalars(scalars) {}

  bool holds(const Constraint &constraint) const {
    const ConstraintTerm &left = constraint.left, &right = constraint.right;
    if (constraint.relation.empty() || constraint.isAboutValues()) {
      return true;
    }
    if (isType(left)) {
      auto a = typeOf(left), b = typeOf(right);
      return !a || !b || (*a == *b) == (constraint.relation == "==");
    }
    if (isShape(left)) {
      auto a = shapeOf(left), b = shapeOf(right);
      return a && b && (*a == *b) == (constraint.relation == "==");
    }
    std::string problem;
    const long double a = number(left, problem), b = number(right, problem);
    return problem.empty() && compares(constraint.relation, a, b);
  }

  std::string violation(const Constraint &constraint) const {
    const ConstraintTerm &left = constraint.left, &right = constraint.right;
    if (holds(constraint)) {
      return "";
    }
    if (isType(left)) {
      return said(left, std::string(torchName(*typeOf(left))), right,
                  std::string(torchName(*typeOf(right))));
    }
    if (isShape(left)) {
      auto a = shapeOf(left), b = shapeOf(right);
      return a && b ? said(left, sizesText(*a), right, sizesText(*b)) : "a size in it is not known";
    }
    std::string problem;
    const long double a = number(left, problem), b = number(right, problem);
    return problem.empty() ? said(left, valueText(a), right, valueText(b)) : problem;
  }

  long double number(const ConstraintTerm &term, std::string &problem) const {
    switch (term.kind) {
    case Kind::Number:
      return term.number;
    case Kind::Scalar: {
      auto i = static_cast<size_t>(term.parameter);
      return i < scalars.size() ? scalars[i] : op.parameters[i].value;
    }
    case Kind::Symbol: {
      auto found = binding.symbols.find(term.name);
      if (found == binding.symbols.end()) {
        problem = fmt::format("the size of '{}' is not known", term.name);
        return 0;
      }
      return static_cast<long double>(found->second);
    }
    case Kind::Size:
    case Kind::Rank:
    case Kind::Count:
      return ofShape(term, problem);
    case Kind::Negative:
      return -number(term.operands[0], problem);
    default:
      return binary(term, problem);
    }
  }

private:
  static bool isType(const ConstraintTerm &term) {
    return term.kind == Kind::Type || term.kind == Kind::TypeName;
  }
  static bool isShape(const ConstraintTerm &term) {
    return term.kind == Kind::Shape || term.kind == Kind::List;
  }

  std::string said(const ConstraintTerm &left, const std::string &a, const ConstraintTerm &right,
                   const std::string &b) const {
    auto one = [&](const ConstraintTerm &term, const std::string &value) {
      std::string name = text(term, op);
      return name == value ? name : fmt::format("{} = {}", name, value);
    };
    const std::string got = "got " + one(left, a);
    return text(right, op) == b ? got : fmt::format("{} and {}", got, one(right, b));
  }

  std::optional<DType> typeOf(const ConstraintTerm &term) const {
    if (term.kind == Kind::TypeName) {
      return term.dtype;
    }
    const auto &fixed = op.parameters[static_cast<size_t>(term.parameter)].fixedDtype;
    return fixed ? fixed : dtype;
  }

  std::optional<std::vector<int64_t>> shapeOf(const ConstraintTerm &term) const {
    if (term.kind == Kind::Shape) {
      auto sizes = bind(op.parameters[static_cast<size_t>(term.parameter)].shape, binding);
      return sizes ? std::optional(*sizes) : std::nullopt;
    }
    std::vector<int64_t> sizes;
    for (const ConstraintTerm &each : term.operands) {
      std::string problem;
      sizes.push_back(static_cast<int64_t>(number(each, problem)));
      if (!problem.empty()) {
        return std::nullopt;
      }
    }
    return sizes;
  }

  long double ofShape(const ConstraintTerm &term, std::string &problem) const {
    const Parameter &parameter = op.parameters[static_cast<size_t>(term.parameter)];
    auto sizes = bind(parameter.shape, binding);
    if (!sizes) {
      problem = sizes.error().message;
      return 0;
    }
    auto rank = static_cast<int64_t>(sizes->size());
    if (term.kind == Kind::Rank) {
      return static_cast<long double>(rank);
    }
    if (term.kind == Kind::Count) {
      return static_cast<long double>(elementCountOf(*sizes).value_or(int64_t{1} << 62));
    }
    const int64_t index = term.index < 0 ? term.index + rank : term.index;
    if (index < 0 || index >= rank) {
      problem = fmt::format("'{}' of shape {} has no dimension {}", parameter.name,
                            sizesText(*sizes), term.index);
      return 0;
    }
    return static_cast<long double>((*sizes)[static_cast<size_t>(index)]);
  }

  long double binary(const ConstraintTerm &term, std::string &problem) const {
    const long double a = number(term.operands[0], problem), b = number(term.operands[1], problem);
    if (term.name == "+" || term.name == "-") {
      return term.name == "+" ? a + b : a - b;
    }
    if (term.name == "*") {
      return a * b;
    }
    if (b == 0) {
      problem = fmt::format("'{}' divides by 0", text(term, op));
      return 0;
    }
    const long double quotient = rounded(a, b);
    return term.name == "//" ? quotient : a - quotient * b;
  }

  const Operator &op;
  const Binding &binding;
  std::optional<DType> dtype;
  const std::vector<double> &scalars;
};

} // namespace

std::string mirrored(const std::string &relation) {
  return relation == "<"    ? ">"
         : relation == "<=" ? ">="
         : relation == ">"  ? "<"
         : relation == ">=" ? "<="
                            : relation;
}

std::string text(const ConstraintTerm &term, const Operator &op) {
  auto name = [&] { return op.parameters[static_cast<size_t>(term.parameter)].name; };
  auto operand = [&](size_t i) {
    const ConstraintTerm &each = term.operands[i];
    std::string inner = text(each, op);
    return each.kind == Kind::Binary ? "(" + inner + ")" : inner;
  };
  switch (term.kind) {
  case Kind::Number:
    return numberText(term.number);
  case Kind::Symbol:
    return term.name;
  case Kind::Scalar:
  case Kind::Values:
    return name();
  case Kind::Size:
    return fmt::format("{}.shape[{}]", name(), term.index);
  case Kind::Rank:
    return name() + ".dim()";
  case Kind::Count:
    return name() + ".numel()";
  case Kind::Negative:
    return "-" + operand(0);
  case Kind::Binary:
    return operand(0) + " " + term.name + " " + operand(1);
  case Kind::Shape:
    return name() + ".shape";
  case Kind::Type:
    return name() + ".dtype";
  case Kind::TypeName:
    return fmt::format("torch.{}", torchName(term.dtype));
  case Kind::List:
    break;
  }
  std::string list;
  for (const ConstraintTerm &each : term.operands) {
    list += (list.empty() ? "" : ", ") + text(each, op);
  }
  return "[" + list + "]";
}

bool holds(const Constraint &constraint, const Operator &op, const Binding &binding) {
  return Evaluator(op, binding, std::nullopt, {}).holds(constraint);
}

bool mayDependOn(const Constraint &constraint, const std::string &symbol) {
  return mayDependOn(constraint.left, symbol) || mayDependOn(constraint.right, symbol);
}

std::string violation(const Constraint &constraint, const Operator &op, const Binding &binding,
                      std::optional<DType> dtype, const std::vector<double> &scalars) {
  return Evaluator(op, binding, dtype, scalars).violation(constraint);
}

Status checkConstraints(const Operator &op, const Binding &binding, std::optional<DType> dtype,
                        const std::vector<double> &scalars) {
  for (const Constraint &constraint : op.constraints) {
    if (std::string why = violation(constraint, op, binding, dtype, scalars); !why.empty()) {
      return makeError("E0617",
                       fmt::format("'{}' expects {}, but {}", op.name, constraint.text, why))
          .withHelp("the condition stands under 'constraints' in the definition");
    }
  }
  for (const Parameter &parameter : op.parameters) {
    const std::string why = parameter.range ? rangeProblem(parameter, binding) : "";
    if (!why.empty()) {
      return makeError("E0617", fmt::format("'{}': {}", op.name, why))
          .withHelp("the range stands with the input in the definition");
    }
  }
  return Done{};
}

ValueRange::ValueRange()
    : low(-std::numeric_limits<double>::infinity()), high(std::numeric_limits<double>::infinity()) {
}

bool ValueRange::isEverything() const {
  return std::isinf(low) && std::isinf(high) && !excludesZero;
}

bool ValueRange::contains(double value) const {
  return (isLowOpen ? value > low : value >= low) && (isHighOpen ? value < high : value <= high) &&
         !(excludesZero && value == 0);
}

double ValueRange::fitted(double value) const {
  if (std::isnan(value) || contains(value)) {
    return value;
  }
  if (contains(-value)) {
    return -value;
  }
  const double magnitude = std::fabs(value);
  std::vector<double> tried;
  if (std::isfinite(low) && std::isfinite(high)) {
    tried = {low + std::fmod(magnitude, high - low), (low + high) / 2, low, high};
  } else if (std::isfinite(low)) {
    tried = {low + magnitude, low + std::max(1.0, std::fabs(low) / 8)};
  } else if (std::isfinite(high)) {
    tried = {high - magnitude, high - std::max(1.0, std::fabs(high) / 8)};
  } else {
    tried = {1};
  }
  for (double each : tried) {
    if (contains(each)) {
      return each;
    }
  }
  return value;
}

ValueRange valueRange(const Operator &op, size_t parameter) {
  ValueRange range;
  for (const Constraint &constraint : op.constraints) {
    bool isAbout =
        constraint.isAboutValues() && constraint.left.parameter == static_cast<int>(parameter);
    if (!isAbout) {
      continue;
    }
    const std::string &relation = constraint.relation;
    const auto bound = static_cast<double>(constraint.right.number);
    if (relation == "!=") {
      range.excludesZero = true;
    } else if (relation[0] == '>' && bound >= range.low) {
      range.isLowOpen = relation == ">" || (bound == range.low && range.isLowOpen);
      range.low = bound;
    } else if (relation[0] == '<' && bound <= range.high) {
      range.isHighOpen = relation == "<" || (bound == range.high && range.isHighOpen);
      range.high = bound;
    }
  }
  return range;
}

bool mustBeContiguous(const Operator &op, size_t parameter) {
  for (const Constraint &constraint : op.constraints) {
    if (constraint.relation.empty() && constraint.left.parameter == static_cast<int>(parameter)) {
      return true;
    }
  }
  return false;
}

} // namespace nereid::definition
