// SPDX-License-Identifier: Apache-2.0
// Whole files in and out. Writing never leaves half a file behind: a temporary file in the same
// folder is filled, synchronised and renamed over the target. lib/support/AtomicFile.h gives the
// same with diagnostics.
#pragma once

#include <cstdint>
#include <span>
#include <string>
#include <variant>
#include <vector>

namespace nereid::runtime {

/// A symbolic link where the file is to be written.
enum class AtLink {
  Follow, ///< what it leads to is replaced and the link stays: for a file that a user names
  Refuse, ///< for files that a program names itself, in a folder that somebody else may have filled
};

/// Replaces `path` by the concatenation of `pieces`. An existing file keeps its permissions, a
/// first one gets 0666 less the umask. Empty text = done, else what failed, on which file, and why.
std::string replaceFile(const std::string &path, std::span<const std::span<const uint8_t>> pieces,
                        AtLink atLink = AtLink::Follow);
/// The name itself is a symbolic link, whether it leads anywhere or not.
bool isLink(const std::string &path);

/// The whole content of a regular file, or why it could not be read. A file that says it has more
/// than `mostBytes` is not read at all.
std::variant<std::vector<uint8_t>, std::string> readFile(const std::string &path,
                                                         uint64_t mostBytes = UINT64_MAX);

} // namespace nereid::runtime
