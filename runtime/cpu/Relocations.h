// SPDX-License-Identifier: Apache-2.0
// What linking an object needs to know of an architecture: how its relocations write an address
// into code, and a stub that jumps to any address. Every architecture is in every build, so that
// each can be tested everywhere; loading takes the host's.
#pragma once

#include <cstdint>
#include <string_view>

namespace nereid::runtime {

/// What a relocation does with its place.
struct RelocationForm {
  enum class Kind : uint8_t {
    Unsupported,
    None,     ///< nothing to do
    Absolute, ///< the symbol's address
    Relative, ///< its distance from the place
    Page,     ///< distance between 4 KiB pages
    LowPart,  ///< low part of a distance that another relocation, at the symbol, has the rest of
  };
  Kind kind = Kind::Unsupported;
  uint8_t bytes = 0; ///< that are changed at the place
};

struct RelocationArchitecture {
  uint16_t machine; ///< e_machine
  std::string_view name;
  std::string_view supported; ///< relocation types, for messages
  uint64_t stubBytes;         ///< also their alignment
  bool hasLowParts;           ///< some relocations are of the kind LowPart

  RelocationForm (*formOf)(uint32_t type);
  /// Writes `value` (what the form asks for) into the place. False when it does not fit.
  bool (*write)(uint32_t type, uint8_t *place, uint64_t value);
  /// Code of stubBytes that jumps to `target`.
  void (*writeStub)(uint8_t *place, uint64_t target);
};

/// Null for an unknown machine.
const RelocationArchitecture *relocationArchitecture(uint16_t machine);
/// Of this program; null where objects cannot be loaded.
const RelocationArchitecture *hostRelocations();

extern const RelocationArchitecture x86Relocations, aarch64Relocations, riscv64Relocations;

} // namespace nereid::runtime
