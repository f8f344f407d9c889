// SPDX-License-Identifier: Apache-2.0
// Tensors of a model: their sizes are checked, and the elements of small ones read.
#pragma once

#include "lib/importer/onnx/Model.h"

namespace nereid::importer::format {
class Tensor;
}

namespace nereid::importer {

/// The error's message alone where sizes or elements contradict each other.
Result<Tensor> readTensor(const format::Tensor &given);

/// Elements that all dimensions together have; nothing when no tensor can have as
/// many, or a size is negative.
std::optional<int64_t> elementCount(const std::vector<int64_t> &dims);

} // namespace nereid::importer
