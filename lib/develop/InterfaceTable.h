// SPDX-License-Identifier: Apache-2.0
// The comparison of an operator's files with its definition, for people.
#pragma once

#include "lib/generator/InterfaceCheck.h"

namespace nereid::develop {

/// A row per property, a column per file; "≠" marks what differs. "" when nothing was compared.
std::string interfaceTable(const generator::InterfaceReport &report);

} // namespace nereid::develop
