// SPDX-License-Identifier: Apache-2.0
// Types of values: what each operation needs of its inputs and gives. Law L6 asks it, and the
// reader of programs, whose text leaves types out.
#pragma once

#include "lib/generator/index/Node.h"

namespace nereid::generator {

/// Map operations that programs alone have, beside `cast`: "ordinal" of a float32 is its place
/// among all of them as an int32, NaN behind infinity, so that integers' atomics order floats;
/// "of_ordinal" is the number again.
bool isOrdinal(const std::string &name);
/// What inputs of Map operation `name` have to be, in words; empty when these are.
std::string mapComplaint(const std::string &name, const std::vector<const Node *> &inputs);
/// Type of Map operation `name`; of `cast` it is chosen.
DType mapType(const std::string &name, const std::vector<const Node *> &inputs);
/// Type of a component of a Reduce, Scan or Order.
DType componentType(const Node &tuple, uint32_t component);

} // namespace nereid::generator
