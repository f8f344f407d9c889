// SPDX-License-Identifier: Apache-2.0
// How programs of a kernel share a processor of a device that runs several of them at a time, and
// what its code takes for that. A target says it through pipeline/Target.h.
#pragma once

#include "runtime/Module.h"

#include <cstdint>
#include <string>
#include <vector>

namespace nereid::pipeline {

struct Occupation {
  /// How many programs one resource of a processor is enough for.
  struct Limit {
    std::string resource; ///< "registers"
    int64_t programs = 0;
  };
  std::vector<Limit> limits; ///< one at least
  int64_t programs = 0;      ///< at a time in one processor: the least of the limits
  double share = 0;          ///< of the threads that a processor can have

  /// "registers", or several with "and" between them; what the first program lacks, too.
  std::string limitedBy() const;
};

/// Machine code as who made it describes it.
struct CodeAccount {
  runtime::FunctionResources resources;
  std::vector<std::string> warnings; ///< in its words, one line each
};

} // namespace nereid::pipeline
