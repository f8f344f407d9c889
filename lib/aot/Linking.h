// SPDX-License-Identifier: Apache-2.0
// The files that a library is kept in. Objects and static libraries are written by this program
// itself; a shared one needs a linker from the machine.
#pragma once

#include "lib/aot/Library.h"

namespace nereid::aot {

/// The runtime part for the library's architecture: the embedded one, or the file --runtime names.
/// Empty when it is for another architecture and none is named. E0001, E0024.
Result<std::vector<uint8_t>> runtimeFor(const CompiledLibrary &library, const std::string &file);

Result<std::vector<uint8_t>> staticLibrary(const CompiledLibrary &library,
                                           const std::vector<uint8_t> &runtime);

/// Writes it to `path`. E0025 when there is no linker or it fails.
Status linkShared(const CompiledLibrary &library, const std::vector<uint8_t> &runtime,
                  const std::string &path);

} // namespace nereid::aot
