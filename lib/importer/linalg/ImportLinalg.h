// SPDX-License-Identifier: Apache-2.0
// A function of MLIR's `linalg` on tensors as the definition of an operator, docs/definitions.md.
// Known are operations over elements and reductions (linalg.generic and the named forms of the
// same), matrix products, fill and tensor.empty, with bodies of arith and math, on shapes of fixed
// sizes.
#pragma once

#include "lib/importer/body/ImportNodes.h"

#include <string_view>

namespace nereid::importer {

/// The function of this name, or the only one of the module when it is "". E0637 with the line of
/// what is no MLIR, or what a definition cannot say.
Result<ImportedDefinition> importLinalg(const std::string &path, const std::string &text,
                                        const std::string &function, const std::string &name,
                                        Diagnostics &diags);

} // namespace nereid::importer
