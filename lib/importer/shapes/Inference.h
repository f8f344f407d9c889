// SPDX-License-Identifier: Apache-2.0
// Types and shapes of all values of a model, from those of its inputs. What the model declares of
// a value counts where no rule knows better. Values that hold sizes (of Shape, Concat, Gather, …)
// are computed, since others take their shapes from them.
#pragma once

#include "lib/importer/onnx/Model.h"

#include <map>

namespace nereid::importer {

/// Gives names of sizes their values; E0634 for a name that no value of the model has.
Status bindSizes(Model &model, const std::map<std::string, int64_t> &sizes);

/// Completes `model.values`. E0635 where shapes contradict each other, or a node has not the inputs
/// or attributes that its operator needs.
void inferShapes(Model &model, Diagnostics &diags);

/// The first dimension of an input that is no size, E0634 with what to give; nothing when all are.
std::optional<Diagnostic> findOpenSize(const Model &model);

} // namespace nereid::importer
