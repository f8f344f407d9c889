// SPDX-License-Identifier: Apache-2.0
// Rows of kernels as a table for people and as a result file has them.
#pragma once

#include "lib/bench/measurement/CaseMeasurement.h"

#include <nlohmann/json.hpp>

#include <string>
#include <vector>

namespace nereid::bench {

std::string kernelTable(const std::vector<KernelRow> &rows);
nlohmann::ordered_json kernelJson(const KernelRow &row);

} // namespace nereid::bench
