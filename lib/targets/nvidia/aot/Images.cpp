// SPDX-License-Identifier: Apache-2.0
#include "lib/targets/nvidia/aot/Images.h"

namespace nereid::aot {

Architecture architectureOf(const char *name) {
  Architecture result;
  while (*name && (*name < '0' || *name > '9')) {
    ++name;
  }
  for (; *name >= '0' && *name <= '9'; ++name) {
    result.capability = 10 * result.capability + (*name - '0');
  }
  result.isSpecific = *name == 'a';
  return result;
}

int64_t bestTarget(const Table &table, int64_t device) {
  int64_t best = -1;
  Architecture chosen;
  for (int64_t i = 0; i < table.targetCount; ++i) {
    const Architecture other = architectureOf(table.targets[i].name);
    const bool isNewer =
        best < 0 || other.capability > chosen.capability ||
        (other.capability == chosen.capability && other.isSpecific && !chosen.isSpecific);
    if (other.runsPortable(device) && isNewer) {
      best = i;
      chosen = other;
    }
  }
  return best;
}

} // namespace nereid::aot
