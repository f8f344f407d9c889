// SPDX-License-Identifier: Apache-2.0
// The only functions outside itself that compiled code may call. A fixed table, so that a cached
// object can never reach anything else in the process.
#pragma once

#include <string_view>

namespace nereid::runtime {

/// Address of the function, or null when the table has none of this name.
void *externalSymbol(std::string_view name);

} // namespace nereid::runtime
