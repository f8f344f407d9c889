// SPDX-License-Identifier: Apache-2.0
// KernelInfo as JSON (in cache entries and beside LLVM IR) and out of the attributes of a kernel
// function, which carry it through the MLIR phases: `nereid.arguments`, `nereid.signature`,
// `nereid.scratch_bytes`, `nereid.threads`, `nereid.blocks`, `nereid.blocking`,
// `nereid.takes_ranges`, `nereid.read_only`.
#pragma once

#include "runtime/Kernel.h"

#include <optional>
#include <string>
#include <string_view>

namespace nereid::pipeline {

std::string toJson(const runtime::KernelInfo &info);
/// Nothing when the text is not what toJson writes.
std::optional<runtime::KernelInfo> kernelInfoFromJson(std::string_view text);

} // namespace nereid::pipeline
