// SPDX-License-Identifier: Apache-2.0
// Of which kind the values of a standard operator's attributes are. A value of another kind, or a
// name that is misspelt, would be read as an attribute that is left out.
#pragma once

#include "lib/importer/onnx/Model.h"

namespace nereid::importer {

/// What is wrong with an attribute, nothing when it may stand in a node.
std::optional<std::string> findWrongKind(const std::string &name, const Attribute &value);

} // namespace nereid::importer
