// SPDX-License-Identifier: Apache-2.0
// The iterators of a program: each runs from 0 to its extent, exclusive, and has one name. What
// binds an iterator says what it is for: a stage, a reduction, a scan, an order.
#pragma once

#include "lib/generator/index/Symbols.h"

namespace nereid::generator {

using IteratorId = uint32_t;

struct Iterator {
  Polynomial extent;
  std::string name;
};

class Iterators {
public:
  /// An iterator of its own, named after `hint` ("i", "i_1", …).
  IteratorId add(Polynomial extent, const std::string &hint);

  const Iterator &operator[](IteratorId id) const { return list[id]; }
  const std::vector<Iterator> &all() const { return list; }
  std::optional<IteratorId> find(const std::string &name) const;

private:
  std::vector<Iterator> list;
  std::map<std::string, IteratorId> byName;
};

/// Where index expressions live: all that their rules ask.
struct IndexSpace {
  Symbols symbols;
  Iterators iterators;
};

} // namespace nereid::generator
