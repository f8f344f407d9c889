// SPDX-License-Identifier: Apache-2.0
// Several relocatable ELF64 objects made one, without a linker: sections are kept as they are, side
// by side; references from one object to another are resolved; symbols that are not exported become
// local, so that the kernels' names cannot clash with anything in the user's program.
#pragma once

#include "lib/support/Diagnostics.h"

#include <cstdint>
#include <map>
#include <set>
#include <span>
#include <string>
#include <vector>

namespace nereid::aot {

struct ObjectPart {
  std::span<const uint8_t> bytes;
  std::map<std::string, std::string> renamed; ///< global symbols: old name, new name
};

/// E0390 when a part is not what this compiler's code generator writes.
Result<std::vector<uint8_t>> mergeObjects(const std::vector<ObjectPart> &parts,
                                          const std::set<std::string> &exported);

/// Names of the global symbols an object defines; nothing when it is not ELF64.
std::vector<std::string> definedGlobals(std::span<const uint8_t> object);

/// e_machine of the header; 0 when it is not ELF64.
int machineOf(std::span<const uint8_t> object);

} // namespace nereid::aot
