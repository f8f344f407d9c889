// SPDX-License-Identifier: Apache-2.0
// All definitions of a folder: what `nereid develop --all` develops and `nereid ops` lists.
#pragma once

#include "lib/definition/Graph.h"

#include <optional>
#include <string>
#include <vector>

namespace nereid::develop {

struct FoundDefinition {
  std::string path, text;
  std::string name; ///< the operator's; of one that is refused the file's, as letters and digits
  std::optional<definition::Operator> op; ///< none: `problems` say why
  Diagnostics problems;
};

/// Every *.toml below the folder, by name. Folders of operators under development (nereid.json) and
/// hidden ones are left out, links to folders are not followed. A definition with errors is found
/// like the others. Nothing when `diags` have an error: E0001 for a folder or file that cannot be
/// read, E0625 without any definition, E0626 for two of one name.
std::optional<std::vector<FoundDefinition>> findDefinitions(const std::string &folder,
                                                            Diagnostics &diags);

/// The folder of the definitions that ship with this program; "" when it has none beside it.
std::string shippedDefinitions();

} // namespace nereid::develop
