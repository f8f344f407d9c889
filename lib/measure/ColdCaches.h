// SPDX-License-Identifier: Apache-2.0
// Empties the processor's caches of what a call has left there, so that the next one finds its data
// in memory, as it would in a program that works on much else in between.
#pragma once

#include "lib/machine/Machine.h"

#include <cstdint>
#include <vector>

namespace nereid::runtime {
class ThreadPool;
}

namespace nereid::measure {

class ColdCaches {
public:
  /// Takes memory of twice the caches of all levels and cores together.
  ColdCaches(const Machine &machine, runtime::ThreadPool &pool);

  /// Writes to every line of it; all threads take part, so that their own caches are emptied too.
  void empty();
  int64_t bytes() const { return static_cast<int64_t>(memory.size()); }

private:
  runtime::ThreadPool &pool;
  std::vector<uint8_t> memory;
};

} // namespace nereid::measure
