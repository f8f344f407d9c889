// SPDX-License-Identifier: Apache-2.0
// Masks of accesses, see AccessMask.h.
#include "lib/generator/emit/AccessMask.h"

#include "lib/generator/program/Guards.h"

#include <algorithm>

namespace nereid::generator {
namespace {

bool isProved(const std::vector<Affine> &claims, const Conditions &conditions,
              const IndexSpace &space) {
  Guards guards(space);
  for (const Condition &condition : conditions) {
    guards.add(condition.node, condition.holds);
  }
  return std::all_of(claims.begin(), claims.end(),
                     [&](const Affine &claim) { return guards.proveNonNegative(claim); });
}

/// The fewest of the conditions, one taken off after the other, that still prove the claims.
Conditions needed(const std::vector<Affine> &claims, Conditions conditions,
                  const IndexSpace &space) {
  for (size_t i = conditions.size(); i-- > 0;) {
    Conditions fewer = conditions;
    fewer.erase(fewer.begin() + static_cast<ptrdiff_t>(i));
    if (isProved(claims, fewer, space)) {
      conditions = std::move(fewer);
    }
  }
  return conditions;
}

} // namespace

bool readsIndex(const std::vector<Affine> &index) {
  bool reads = false;
  for (const Affine &each : index) {
    each.forEachAtom([&](const Atom &atom) { reads |= atom.kind == Atom::Kind::Data; });
  }
  return reads;
}

bool isPlace(const Node *node) {
  if (node->kind == NodeKind::Index) {
    return true;
  }
  if (node->kind != NodeKind::Map || node->dtype != DType::I64) {
    return false;
  }
  const bool isChoice = node->name == "where";
  const bool isOne =
      isChoice || node->name == "maximum" || node->name == "minimum" || node->name == "abs";
  bool isAny = false;
  for (size_t i = isChoice ? 1 : 0; isOne && i < node->inputs.size(); ++i) {
    if (isPlace(node->inputs[i])) {
      isAny = true;
    } else if (node->inputs[i]->kind != NodeKind::Const) {
      return false;
    }
  }
  return isAny;
}

void addConditions(const Node *condition, bool holds, Conditions &to) {
  if (condition->kind == NodeKind::Map) {
    if (condition->name == "logical_not") {
      addConditions(condition->inputs[0], !holds, to);
      return;
    }
    if (condition->name == (holds ? "logical_and" : "logical_or")) {
      addConditions(condition->inputs[0], holds, to);
      addConditions(condition->inputs[1], holds, to);
      return;
    }
  }
  const Condition made{condition, holds};
  if (std::find(to.begin(), to.end(), made) == to.end()) {
    to.push_back(made);
  }
}

/// Conditions outside of what binds the iterators speak of other ones, whatever their names.
Conditions apartFrom(const std::vector<IteratorId> &bound, Conditions conditions) {
  std::erase_if(conditions, [&](const Condition &condition) {
    return std::any_of(bound.begin(), bound.end(), [&](IteratorId iterator) {
      return condition.node->free.contains(iterator);
    });
  });
  return conditions;
}

AccessMask maskOf(const std::vector<Affine> &index, const Buffer &buffer,
                  const std::set<IteratorId> &iterators, const Conditions &conditions,
                  const IndexSpace &space, bool isOpen) {
  AccessMask mask;
  Conditions eligible;
  for (const Condition &condition : conditions) {
    if (std::includes(iterators.begin(), iterators.end(), condition.node->free.begin(),
                      condition.node->free.end())) {
      eligible.push_back(condition);
    }
  }
  // The promise of an index that is read holds where the access is asked for, and nowhere else.
  const bool isPromised = (isOpen || !conditions.empty()) && readsIndex(index);
  std::vector<Affine> claims;
  for (size_t dim = 0; dim < index.size(); ++dim) {
    const Affine last = Affine(buffer.sizes[dim] - 1) - index[dim];
    for (const Affine &claim : {index[dim], last}) {
      if (!isNonNegative(claim, space) || (isPromised && readsIndex({claim}))) {
        claims.push_back(claim);
      }
    }
  }
  if (isPromised) {
    mask.conditions = eligible;
    const bool areAll = !isOpen && eligible.size() == conditions.size();
    mask.nonNegative = areAll ? std::vector<Affine>{} : claims;
    return mask;
  }
  std::vector<Affine> provable;
  for (const Affine &claim : claims) {
    const bool isByConditions = isProved({claim}, eligible, space);
    (isByConditions ? provable : mask.nonNegative).push_back(claim);
  }
  mask.conditions = needed(provable, std::move(eligible), space);
  return mask;
}

} // namespace nereid::generator
