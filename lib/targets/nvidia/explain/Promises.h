// SPDX-License-Identifier: Apache-2.0
// What addresses are made of: the arguments of the kernel of which a signature could promise more,
// and whether some of it is only known when the program runs.
#pragma once

#include "lib/tile/analysis/axis/AxisInfo.h"

#include "llvm/ADT/SmallVector.h"

#include <string>

namespace nereid::nvidia {

struct AddressSources {
  /// "x=*fp32:16": pointers of which no multiple of 16 bytes is known, as a signature promises it.
  llvm::SmallVector<std::string> pointers;
  /// "n=i32:16": numbers of which no multiple of 16 is known.
  llvm::SmallVector<std::string> numbers;
  bool areLoaded = false; ///< some offsets come from memory
};

/// Of a tile of addresses, or of a mask.
AddressSources sourcesOf(mlir::Value value, const tile::AxisInfos &axes);

} // namespace nereid::nvidia
