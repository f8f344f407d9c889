// SPDX-License-Identifier: Apache-2.0
// Lists of sizes that rules compute with; some of them may be open.
#pragma once

#include "lib/importer/onnx/Model.h"

#include <string>
#include <vector>

namespace nereid::importer {

/// Product of dimensions from `first` to before `last`; open when one of them is.
Dim productOf(const Shape &shape, size_t first, size_t last);

/// "[2, N, -1]".
std::string listed(const Shape &sizes);

Shape sized(const std::vector<int64_t> &sizes);

} // namespace nereid::importer
