// SPDX-License-Identifier: Apache-2.0
// Objects of this process by the code that they were made of. Kernels that differ in what their
// signatures promise often come to the same LLVM IR, and three quarters of a compilation come
// behind it. Whoever compiles one signature alone pays nothing: code is written down from the
// second kernel of a name on.
#pragma once

#include "lib/llvm/LlvmModule.h"

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

namespace nereid::cpu {

/// What the object follows from, the kernel's description apart: that is no part of it. Empty for
/// the first kernel of a name.
std::string keyOfCode(codegen::LlvmModule &code, const std::string &machine);

std::optional<std::vector<uint8_t>> findObject(const std::string &key);
/// The oldest of 64 gives way.
void keepObject(const std::string &key, const std::vector<uint8_t> &object);

} // namespace nereid::cpu
