// SPDX-License-Identifier: Apache-2.0
// Values that a stage of their own computes where nobody asks for them, too: what is promised of an
// index from memory may rest on a condition that stayed with who asks.
#pragma once

#include "lib/generator/program/Program.h"

namespace nereid::generator {

/// Whether `values`, computed without the conditions that stand around them among `roots`, read at
/// an index of which nothing is promised then.
bool readsAtConditionalIndex(const std::vector<const Node *> &roots,
                             const std::vector<const Node *> &values);

/// The value with 0 in place of what it reads at an index from memory that lies outside.
const Node *withoutPromises(Program &program, const Node *value);

} // namespace nereid::generator
