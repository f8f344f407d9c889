// SPDX-License-Identifier: Apache-2.0
// The statements of random programs; each file has those of one concept.
#pragma once

#include "test/fuzz/programs/Writer.h"

namespace nereid::fuzz {

#define FUZZ_STATEMENT(NAME, GENERAL, SPECIAL) void NAME(Writer &w);
#include "test/fuzz/programs/statements/Statements.def"
#undef FUZZ_STATEMENT

/// The program of a seed, always the same.
Program writeProgram(uint64_t seed);

} // namespace nereid::fuzz
