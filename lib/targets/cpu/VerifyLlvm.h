// SPDX-License-Identifier: Apache-2.0
// What holds behind the phase `llvm` beyond what LLVM verifies: emission and launch rely on it.
#pragma once

#include "lib/llvm/LlvmModule.h"

namespace nereid::cpu {

/// E0391 when the module does not define the function `kernel` with the entry of runtime/Kernel.h.
Status verifyLlvm(const codegen::LlvmModule &code, const std::string &kernel);

} // namespace nereid::cpu
