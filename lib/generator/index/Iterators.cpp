// SPDX-License-Identifier: Apache-2.0
// Names of iterators, see Iterators.h.
#include "lib/generator/index/Iterators.h"

namespace nereid::generator {

IteratorId Iterators::add(Polynomial extent, const std::string &hint) {
  std::string name = hint;
  for (int number = 1; byName.contains(name); ++number) {
    name = hint + "_" + std::to_string(number);
  }
  auto id = static_cast<IteratorId>(list.size());
  byName[name] = id;
  list.push_back({std::move(extent), name});
  return id;
}

std::optional<IteratorId> Iterators::find(const std::string &name) const {
  auto found = byName.find(name);
  return found == byName.end() ? std::nullopt : std::optional(found->second);
}

} // namespace nereid::generator
