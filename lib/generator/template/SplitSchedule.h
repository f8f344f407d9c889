// SPDX-License-Identifier: Apache-2.0
// When a kernel's reductions and scans are computed in parts (fuse/split/Split.h, SplitScan.h), and
// in how many: where the programs of one kernel would not keep all processors at work and each has
// a long way to go. Also when sums at places from an index are (SplitCounts.h, SplitWalk.h).
//
//   rows             64 parts of lines that are long for the number of processors, 256 of a
//                    reduction of everything
//   columns          64 parts, from 256 rows on
//   products         8 parts of k, from 1024 on
//   scans            256 parts of long lines, while less than half of the processors have one
//   counts           256 parts of values that are many for each place, where additions wait
//   walks            as many parts as the site has programs at a time, up to 64
#pragma once

#include "lib/generator/fuse/Contraction.h"
#include "lib/generator/fuse/split/Split.h"

namespace nereid::generator {

struct SplitSchedule {
  Split split;
  std::string condition; ///< expression of the launch table: this form is taken
};

/// Nothing where what the stores reduce, scan or add up is short at all sizes, or cannot be split.
/// The program gets what the split needs.
std::optional<SplitSchedule> splitScheduleOf(Program &program, const std::vector<Store> &stores,
                                             const std::vector<Contraction> &contractions);

} // namespace nereid::generator
