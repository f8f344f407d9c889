// SPDX-License-Identifier: Apache-2.0
// Names for what passes add to a program.
#pragma once

#include "lib/generator/program/Program.h"

#include <string>

namespace nereid::generator {

/// `stem`, or with a number behind it: what no buffer and no symbol of the program is called.
std::string freeName(const Program &program, const std::string &stem);

} // namespace nereid::generator
