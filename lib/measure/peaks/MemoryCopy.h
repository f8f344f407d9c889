// SPDX-License-Identifier: Apache-2.0
// The copies that bandwidth is measured by: the library's, a vector loop, a streaming
// (non-temporal) loop. The same ones serve calibration and, run in turns with a kernel, as its
// peer: a memory-bound result is compared with a copy between its own tensors in the same run, as
// the calibrated figure moves by half between minutes on a shared machine.
#pragma once

#include "lib/machine/Machine.h"

#include <cstdint>
#include <string>
#include <vector>

namespace nereid::runtime {
class ThreadPool;
}

namespace nereid::measure {

struct Copy {
  std::string name; ///< "memcpy", "vector", "streaming"
  /// Both 64-byte aligned; a tail shorter than 256 bytes may be left out.
  void (*run)(uint8_t *to, const uint8_t *from, int64_t bytes);
};

/// Those this chip can run.
std::vector<Copy> copiesFor(const Machine &chip);

/// The chip's best copy (Machine::bestCopy) on all threads.
void copyParallel(const Machine &chip, uint8_t *to, const uint8_t *from, int64_t bytes,
                  runtime::ThreadPool &pool);

} // namespace nereid::measure
