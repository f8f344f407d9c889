// SPDX-License-Identifier: Apache-2.0
// Names that inputs, outputs, sizes and operators cannot have: they become parameters in Python and
// C++, where keywords, modules and what the generated functions call their own variables are taken.
#pragma once

#include <string_view>

namespace nereid::generator {

bool isReservedName(std::string_view name);

} // namespace nereid::generator
