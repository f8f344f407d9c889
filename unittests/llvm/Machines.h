// SPDX-License-Identifier: Apache-2.0
// A machine that is not our CPU target's, and what LLVM's options are at the moment.
#pragma once

#include "lib/llvm/Emission.h"

#include <string>

namespace nereid::codegen::test {

/// The value of an unsigned option of LLVM's command line.
unsigned optionValue(const char *name);

/// Assembly for an x86-64 of LLVM IR text, by a target machine and an emitter of their own.
std::string x86Assembly(const std::string &text, EmissionOptions options = {});

} // namespace nereid::codegen::test
