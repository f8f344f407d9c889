// SPDX-License-Identifier: Apache-2.0
// Rows of kernels as a table for people and as a result file has them.
#pragma once

#include "lib/bench/measurement/CaseMeasurement.h"

#include "lib/report/Table.h"

#include <nlohmann/json.hpp>

#include <string>
#include <vector>

namespace nereid::bench {

/// The cells of a line of the table.
using KernelLine = std::vector<std::string>;

/// The table's lines for a row: its own, and one for each peer beyond the first.
std::vector<KernelLine> kernelLines(const KernelRow &row);
report::Table kernelTable(const std::vector<KernelLine> &lines);
nlohmann::ordered_json kernelJson(const KernelRow &row);

} // namespace nereid::bench
