// SPDX-License-Identifier: Apache-2.0
#include "lib/definition/constraints/Declared.h"

#include <fmt/format.h>

#include <algorithm>

namespace nereid::definition {
namespace {

using Kind = ConstraintTerm::Kind;

bool hasRest(const SymbolicShape &shape) { return !shape.empty() && shape[0].isRest(); }

int64_t leastRank(const SymbolicShape &shape) {
  return static_cast<int64_t>(shape.size()) - (hasRest(shape) ? 1 : 0);
}

bool isRank(const ConstraintTerm &rank, const std::string &relation, const ConstraintTerm &bound,
            const Operator &op) {
  if (rank.kind != Kind::Rank || bound.kind != Kind::Number) {
    return false;
  }
  const SymbolicShape &shape = op.parameters[static_cast<size_t>(rank.parameter)].shape;
  const auto least = static_cast<long double>(leastRank(shape));
  return (relation == ">=" && bound.number <= least) || (relation == ">" && bound.number < least) ||
         (relation == "==" && !hasRest(shape) && bound.number == least);
}

bool isShape(const ConstraintTerm &shape, const ConstraintTerm &list, const Operator &op) {
  if (shape.kind != Kind::Shape || list.kind != Kind::List) {
    return false;
  }
  const SymbolicShape &declared = op.parameters[static_cast<size_t>(shape.parameter)].shape;
  return std::equal(declared.begin(), declared.end(), list.operands.begin(), list.operands.end(),
                    [](const Dim &dim, const ConstraintTerm &term) {
                      return dim.symbol.empty()
                                 ? term.kind == Kind::Number &&
                                       term.number == static_cast<long double>(dim.constant)
                                 : term.kind == Kind::Symbol && term.name == dim.symbol;
                    });
}

/// The declared type; nothing for the operator's, which all tensors without one share.
std::optional<DType> typeOf(const ConstraintTerm &term, const Operator &op) {
  return term.kind == Kind::TypeName
             ? std::optional(term.dtype)
             : op.parameters[static_cast<size_t>(term.parameter)].fixedDtype;
}

} // namespace

std::vector<std::string> declaredChecks(const Operator &op) {
  std::vector<std::string> checks;
  const Parameter *lead = nullptr;
  for (const Parameter &parameter : op.parameters) {
    if (parameter.isScalar) {
      continue;
    }
    checks.push_back(
        fmt::format("{}.dim() {} {}", parameter.name,
                    hasRest(parameter.shape) ? ">=" : "==", leastRank(parameter.shape)));
    if (!parameter.shape.empty()) {
      checks.push_back(fmt::format("{}.shape == {}", parameter.name, text(parameter.shape)));
    }
    if (parameter.fixedDtype) {
      checks.push_back(
          fmt::format("{}.dtype == {}", parameter.name, torchName(*parameter.fixedDtype)));
    } else if (lead) {
      checks.push_back(fmt::format("{}.dtype == {}.dtype", parameter.name, lead->name));
    } else {
      lead = &parameter;
      std::string types;
      for (DType dtype : op.dtypes) {
        types += (types.empty() ? "" : ", ") + std::string(torchName(dtype));
      }
      checks.push_back(fmt::format("{}.dtype in ({})", parameter.name, types));
    }
  }
  return checks;
}

bool isDeclared(const Constraint &constraint, const Operator &op) {
  const ConstraintTerm &left = constraint.left, &right = constraint.right;
  if (left.kind == Kind::Rank || right.kind == Kind::Rank) {
    return isRank(left, constraint.relation, right, op) ||
           isRank(right, mirrored(constraint.relation), left, op);
  }
  if (constraint.relation != "==") {
    return false;
  }
  const bool isAboutTypes = left.kind == Kind::Type || left.kind == Kind::TypeName;
  return isAboutTypes ? typeOf(left, op) == typeOf(right, op)
                      : isShape(left, right, op) || isShape(right, left, op);
}

} // namespace nereid::definition
