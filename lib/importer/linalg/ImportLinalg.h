// SPDX-License-Identifier: Apache-2.0
// A function of MLIR's `linalg` on tensors as the definition of an operator, docs/definitions.md.
// Known are operations over elements and reductions (linalg.generic and the named forms of the
// same), matrix products, fill and tensor.empty, with bodies of arith and math. Sizes that the
// function leaves open stay open.
#pragma once

#include "lib/importer/body/ImportNodes.h"

#include <map>
#include <string_view>

namespace nereid::importer {

/// The function of this name, or the only one of the module when it is "". E0637 with the line of
/// what is no MLIR, or what a definition cannot say. `sizes`: of those that are open, "arg0.1", for
/// its case; E0634 for one that is missing.
Result<ImportedDefinition> importLinalg(const std::string &path, const std::string &text,
                                        const std::string &function, const std::string &name,
                                        const std::map<std::string, int64_t> &sizes,
                                        Diagnostics &diags);

} // namespace nereid::importer
