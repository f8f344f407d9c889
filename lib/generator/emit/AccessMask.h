// SPDX-License-Identifier: Apache-2.0
// Which conditions the mask of an access needs besides those of the tile's edges (law L3): none
// when bounds prove its index inside, else conditions around the access, else comparisons of its
// own.
#pragma once

#include "lib/generator/program/Program.h"

namespace nereid::generator {

/// What is known where a value is needed: `node` is true, or it is not.
struct Condition {
  const Node *node = nullptr;
  bool holds = true;
  auto operator<=>(const Condition &) const = default;
};
using Conditions = std::vector<Condition>;

/// Adds the parts of a condition that hold by themselves, each once.
void addConditions(const Node *condition, bool holds, Conditions &to);

/// Those that do not speak of the iterators: inside of what binds these they hold still.
Conditions apartFrom(const std::vector<IteratorId> &bound, Conditions conditions);

struct AccessMask {
  Conditions conditions;           ///< some of those around the access
  std::vector<Affine> nonNegative; ///< index expressions that have to be compared with 0
};

/// Whether an index depends on memory or on a number that is computed.
bool readsIndex(const std::vector<Affine> &index);

/// An index, or one of several such and numbers, or a magnitude: no larger than they are, so that
/// kernels compute it in the width of indices.
bool isPlace(const Node *node);

/// The mask of an access to `buffer` at `index`, whose iterators are `iterators`, under
/// `conditions`. A condition that depends on another iterator is never part of it: the mask would
/// have a dimension that the address lacks. `isOpen`: nothing is promised of an index from memory.
AccessMask maskOf(const std::vector<Affine> &index, const Buffer &buffer,
                  const std::set<IteratorId> &iterators, const Conditions &conditions,
                  const IndexSpace &space, bool isOpen = false);

} // namespace nereid::generator
