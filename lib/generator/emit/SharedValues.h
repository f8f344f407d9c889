// SPDX-License-Identifier: Apache-2.0
// Values that read memory at an index from memory and are needed under different conditions. What
// is promised of such an index may rest on any condition around it, so that each use would be a
// value of its own, and a chain of selections as long as there are ways through it. Such a value is
// computed once, under the conditions that all of its uses share; where no use promises as much as
// that, its index is compared with its ends.
#pragma once

#include "lib/generator/emit/AccessMask.h"

namespace nereid::generator {

class SharedValues {
public:
  explicit SharedValues(const std::vector<const Node *> &roots);

  /// Those of the conditions around one use that hold at each one.
  Conditions kept(const Node *node, const Conditions &around) const;
  /// Whether it is computed in lanes in which nobody asks for it.
  bool isOpen(const Node *node) const;

private:
  struct Uses {
    std::set<Condition> all, common;      ///< conditions of some use, of each use
    std::vector<std::set<Condition>> own; ///< of each use in whose lanes alone it is asked for
    const Node *root = nullptr;           ///< null: of several, whose conditions nobody knows here
    bool isOpen = false;
  };
  void add(const Node *node, const std::set<Condition> &conditions, bool isOpen, const Node *root);
  void pass(const Node &node, const Uses &uses);

  std::map<const Node *, Uses> found;
};

} // namespace nereid::generator
