// SPDX-License-Identifier: Apache-2.0
// Makes a program that fails smaller, line by line.
#pragma once

#include "test/fuzz/programs/Program.h"

#include <functional>

namespace nereid::fuzz {

/// Drops lines, with what is indented below them, and headers without it, as long as `stillFails`.
/// Gives up after `seconds`.
Program reduced(Program program, const std::function<bool(const Program &)> &stillFails,
                double seconds = 30);

} // namespace nereid::fuzz
