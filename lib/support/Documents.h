// SPDX-License-Identifier: Apache-2.0
// Messages name documents as the source tree does, "docs/definitions.md". An installed program has
// them under share/nereid, one in a build folder in the sources, a copied one nowhere.
#pragma once

#include <string>
#include <string_view>

namespace nereid {

/// `text` with each "docs/….md" and "chips/….json" in it as the path it has beside the program or
/// library whose file is `module`; one that is not there stays as it is.
std::string withDocumentsOf(std::string_view module, std::string_view text);

/// Beside the program or library that this code is in.
std::string withDocuments(std::string_view text);

/// The folder that ships with the program under this name ("operators"), wherever it lies; "" when
/// there is none.
std::string shippedFolder(std::string_view name);

} // namespace nereid
