// SPDX-License-Identifier: Apache-2.0
// Some nodes of a model as the definition of an operator, docs/definitions.md.
#pragma once

#include "lib/importer/onnx/Model.h"

#include <map>
#include <string>
#include <vector>

namespace nereid::importer {

/// Positions in `model.nodes`: "" = all; "3..7" and "conv1..relu2" from one to another; "3,conv1"
/// single ones. E0636 for a node that is not there.
Result<std::vector<size_t>> selectNodes(const Model &model, const std::string &text);

struct ImportedDefinition {
  std::string name, text;
};
/// Whether the reader of definitions takes what was written: it judges shapes and types by its own
/// rules. Adds what it says otherwise.
bool isReadBack(const ImportedDefinition &definition, Diagnostics &diags);
/// Values from elsewhere and tensors of several elements become inputs, numbers stand in the body,
/// what others need becomes outputs. `sizes`: of the dimensions that stay open, for its case. E0634
/// for one that is missing, E0636 where a definition cannot say it.
Result<ImportedDefinition> importNodes(const Model &model, const std::vector<size_t> &nodes,
                                       const std::string &name,
                                       const std::map<std::string, int64_t> &sizes,
                                       Diagnostics &diags);

} // namespace nereid::importer
