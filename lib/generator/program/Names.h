// SPDX-License-Identifier: Apache-2.0
// Names and memory for what passes add to a program.
#pragma once

#include "lib/generator/program/Program.h"

#include <string>

namespace nereid::generator {

/// `stem`, or with a number behind it: what no buffer and no symbol of the program is called.
std::string freeName(const Program &program, const std::string &stem);

/// A temporary of this name over these iterators, in their order: how its element at them is read.
NodeParts temporaryOver(Program &program, std::string name, DType dtype,
                        std::span<const IteratorId> iterators);

} // namespace nereid::generator
