// SPDX-License-Identifier: Apache-2.0
// Which integers a type holds. Private to the runtime and the libraries that take values over.
#pragma once

#include "runtime/elements/DType.h"

#include <cstdint>

namespace nereid::runtime {

/// Whether an integer type or bool has the value. U64 is passed as the bits of an int64_t, so that
/// it has every one.
inline bool holdsInteger(DType type, int64_t value) {
  const int bits = static_cast<int>(sizeInBytes(type)) * 8;
  if (type == DType::Bool) {
    return value == 0 || value == 1;
  }
  if (bits == 64) {
    return true;
  }
  if (isUnsignedInteger(type)) {
    return value >= 0 && value < int64_t{1} << bits;
  }
  return value >= -(int64_t{1} << (bits - 1)) && value < int64_t{1} << (bits - 1);
}

} // namespace nereid::runtime
