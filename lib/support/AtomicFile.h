// SPDX-License-Identifier: Apache-2.0
// Files that are either the former or the complete content, never something between: write a
// temporary one beside it, synchronise, rename, synchronise the folder. Everything that lasts
// (results, manifests, databases) is written through this.
#pragma once

#include "lib/support/Diagnostics.h"

#include <cstdint>
#include <span>
#include <string>
#include <string_view>
#include <vector>

namespace nereid {

/// Replaces or creates the file; E0002 names the file and the reason.
Status writeFileAtomically(const std::string &path, std::string_view content);
Status writeFileAtomically(const std::string &path, std::span<const uint8_t> content);

/// The same for a file whose name is the program's own, in a folder that a user names: E0005 where
/// a symbolic link stands in its place, which is neither followed nor replaced.
Status writeOwnFile(const std::string &path, std::string_view content);
/// E0005 when the name itself is a symbolic link.
Status refuseLink(const std::string &path);

/// Whole content of a regular file; E0001 names the file and the reason. One of more than
/// `mostBytes` is refused before it is read.
Result<std::string> readTextFile(const std::string &path, uint64_t mostBytes = 1u << 30);
Result<std::vector<uint8_t>> readBinaryFile(const std::string &path);

/// Creates the folder and its parents; E0003 when that is not possible.
Status createFolders(const std::string &path);

} // namespace nereid
