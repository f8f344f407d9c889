// SPDX-License-Identifier: Apache-2.0
// The text header of a NumPy .npy file: a Python dictionary literal with exactly three keys. Parsed
// apart from the file so that damaged headers can be tested without files.
#pragma once

#include "runtime/elements/DType.h"

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <variant>
#include <vector>

namespace nereid::runtime {

struct NpyHeader {
  DType dtype = DType::F32;
  bool isFortranOrder = false;
  std::vector<int64_t> shape;
};

/// Error text names what was expected.
std::variant<NpyHeader, std::string> parseNpyHeader(std::string_view text);

/// The descriptor NumPy writes for the type, such as "<f4"; empty for BF16. The 8-bit
/// floats share "|u1" with U8, which is what such a file is read as.
std::string_view npyDescriptor(DType type);

} // namespace nereid::runtime
