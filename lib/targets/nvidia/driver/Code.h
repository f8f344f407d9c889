// SPDX-License-Identifier: Apache-2.0
// What kind of code some bytes are, and whether the driver may be given them: it is told no length,
// and would read on behind the end of code that is cut off.
#pragma once

#include "runtime/LaunchError.h"

#include <cstdint>
#include <span>
#include <string>
#include <variant>

namespace nereid::nvidia {

enum class CodeKind : uint8_t { Ptx, Cubin, FatBinary };

/// E0390 for bytes that are none of the three, or are cut off.
std::variant<CodeKind, runtime::LaunchError> kindOf(std::span<const uint8_t> code);

/// The directives in front of a PTX text, empty where they are missing.
struct PtxHeader {
  std::string version; ///< of the language, "8.5"
  std::string target;  ///< "sm_90a"
  /// Of the target, 10 × major + minor: 90; 0 = not said.
  int capability() const;
  /// It runs on devices of exactly this capability, and on no later ones.
  bool isSpecific() const;
};

PtxHeader readPtxHeader(std::string_view text);

} // namespace nereid::nvidia
