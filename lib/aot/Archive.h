// SPDX-License-Identifier: Apache-2.0
// Static libraries in the form of System V and GNU `ar`, with an index of symbols, written and read
// without that tool. Equal members make equal bytes: no times, no owners.
#pragma once

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

std::vector<uint8_t> writeArchive(const std::vector<ArchiveMember> &members);

/// Nothing when the bytes are no such archive.
std::optional<std::vector<ArchiveMember>> readArchive(std::span<const uint8_t> bytes);

} // namespace nereid::aot
