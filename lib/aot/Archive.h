// SPDX-License-Identifier: Apache-2.0
// Static libraries in the form of GNU `ar`, with an index of symbols, written and read by LLVM.
// Equal members make equal bytes: no times, no owners. The header knows no LLVM.
#pragma once

#include "lib/support/Diagnostics.h"

#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <vector>

namespace nereid::aot {

struct ArchiveMember {
  std::string name; ///< "vector_add.o"
  std::vector<uint8_t> bytes;
};

/// E0024 when a member seems to be an object and cannot be read as one.
Result<std::vector<uint8_t>> writeArchive(const std::vector<ArchiveMember> &members);

/// Nothing when the bytes are no such archive, or one whose members are in other files.
std::optional<std::vector<ArchiveMember>> readArchive(std::span<const uint8_t> bytes);

} // namespace nereid::aot
