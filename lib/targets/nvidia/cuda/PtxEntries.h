// SPDX-License-Identifier: Apache-2.0
// The kernels of a PTX text: their names, what they take, and how many threads they are for.
//   .visible .entry _Z4geluPKfPfi(
//     .param .u64 _Z4geluPKfPfi_param_0, … )
//   .maxntid 256, 1, 1
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

namespace nereid::nvidia {

struct PtxParameter {
  enum class Kind : uint8_t { Integer, Float, Bytes }; ///< Bytes: a struct, or half precision
  Kind kind = Kind::Integer;
  int bytes = 0;
};

struct PtxEntry {
  std::string name;
  std::vector<PtxParameter> parameters = {};
  uint32_t threads = 0; ///< 0 = not said
  bool isThreadsMost = true;
};

/// In the order of the text, which a compiler has written.
std::vector<PtxEntry> readPtxEntries(std::string_view ptx);

} // namespace nereid::nvidia
