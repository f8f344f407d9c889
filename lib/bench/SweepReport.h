// SPDX-License-Identifier: Apache-2.0
// The rows of a sweep over one size (`nereid bench FILE.py --sweep n=…`) as a picture: what the
// kernel reaches at each size.
#pragma once

#include "lib/bench/measurement/CaseMeasurement.h"

#include <string>
#include <vector>

namespace nereid::bench {

/// The value of the swept argument, from a row's name; nothing of another row.
std::optional<double> sweptSize(const std::string &caseName);

/// SVG over the size, which is logarithmic: operations in time where all rows know theirs, else
/// bytes in time where all do, both from 0 on, else the time itself, logarithmic. Rows that were
/// not timed are left out; empty below two.
std::string sweepPicture(const std::string &title, const std::vector<KernelRow> &rows);

} // namespace nereid::bench
