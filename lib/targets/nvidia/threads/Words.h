// SPDX-License-Identifier: Apache-2.0
// Elements as the words that instructions take: several small ones side by side in a register.
#pragma once

#include "lib/targets/nvidia/threads/ThreadCode.h"

namespace nereid::nvidia {

/// The letter for a register of so many bits in the constraints of inline assembly; 8 bits stand in
/// a register of 16.
char registerLetter(unsigned bits);

/// Words of `wordBits` with as many elements as fit, the first in the lowest bits; of 16 bits for
/// single elements of 8.
llvm::SmallVector<mlir::Value> packWords(ThreadCode &code, llvm::ArrayRef<mlir::Value> elements,
                                         unsigned wordBits);

/// The `count` elements of a word.
llvm::SmallVector<mlir::Value> unpackWord(ThreadCode &code, mlir::Value word, size_t count,
                                          mlir::Type type);

} // namespace nereid::nvidia
