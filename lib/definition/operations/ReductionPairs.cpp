// SPDX-License-Identifier: Apache-2.0
#include "lib/definition/operations/ReductionPairs.h"

#include <algorithm>

namespace nereid::definition {
namespace {

const std::vector<ReductionPair> &pairs() {
  static const std::vector<ReductionPair> table = {
#define NEREID_BOTH(name, first, second) {#name, #first, #second},
#include "lib/definition/operations/operations.def"
  };
  return table;
}

} // namespace

const ReductionPair *findReductionPair(std::string_view name) {
  const auto found = std::find_if(pairs().begin(), pairs().end(),
                                  [&](const ReductionPair &pair) { return pair.name == name; });
  return found == pairs().end() ? nullptr : &*found;
}

std::vector<std::string> pairNames() {
  std::vector<std::string> names = {
#define NEREID_PAIR(name, values, indices) #name,
#include "lib/definition/operations/operations.def"
  };
  for (const ReductionPair &pair : pairs()) {
    names.push_back(pair.name);
  }
  return names;
}

} // namespace nereid::definition
