// SPDX-License-Identifier: Apache-2.0
// What commands on models of other front ends share: sizes by name, and the model with its shapes.
#pragma once

#include "lib/importer/onnx/Model.h"

#include <map>
#include <optional>
#include <string>
#include <vector>

namespace nereid::cli {

/// "batch=8" each; E0013 for what is no name and size.
Result<std::map<std::string, int64_t>> readSizes(const std::vector<std::string> &words);

/// Reads the model, gives open dimensions the sizes, and infers shapes. Nothing, and the reasons in
/// `diags`, when that fails.
std::optional<importer::Model> loadModel(const std::string &path,
                                         const std::vector<std::string> &sizes, Diagnostics &diags);

} // namespace nereid::cli
