// SPDX-License-Identifier: Apache-2.0
// Movements (definition/operations/Movement.h) as lazy tensors: index expressions that leave no
// operation in a kernel, and conditions where a source ends.
#pragma once

#include "lib/definition/operations/indices/Movement.h"
#include "lib/generator/lower/Lazy.h"

namespace nereid::generator {

/// Sizes in the symbols of a program; nothing for what it has no polynomial for.
std::optional<Polynomial> sizeIn(Program &program, const std::map<std::string, Polynomial> &symbols,
                                 const definition::SizePolynomial &size);

/// Nothing when it has no form here. `symbols` are the sizes by their names in the definition.
std::optional<Lazy> moved(const definition::Node &node, const std::vector<Lazy> &operands,
                          Program &program, const Tensors &make,
                          const std::map<std::string, Polynomial> &symbols);

} // namespace nereid::generator
