// SPDX-License-Identifier: Apache-2.0
// Rounds in which each product leaves two words: its lower half as it is, and its upper half mixed
// with the lower half of the round before and a key, as in Philox. Both words of a lane stay where
// the product has them, so that a chain carries half as many registers from round to round.
#pragma once

#include "lib/targets/cpu/codegen/ProductRounds.h"

#include "mlir/IR/Builders.h"

namespace nereid::cpu {

/// mixed = upper half ^ lower half of the round before ^ key, of the product of factor and
/// constant.
struct PairedWords {
  unsigned low, mixed; ///< indices of ProductRounds::carried
  unsigned factor;     ///< the pair whose mixed word of the round before is multiplied
  uint32_t constant;
  int key; ///< index of ProductRounds::keys; -1 for none

  bool operator==(const PairedWords &) const = default;
};

/// Empty where something else is computed in a round.
llvm::SmallVector<PairedWords> findPairedWords(const ProductRounds &rounds,
                                               const ProductChain &chain);

/// Writes rounds on pairs of words in 64-bit lanes (AVX-512).
class PairWriter {
public:
  /// `builder` is where the mask of the mixed words is made.
  PairWriter(mlir::OpBuilder &builder, mlir::Location loc);

  /// The words of the low halves of two vectors in one.
  mlir::Value join(mlir::OpBuilder &builder, mlir::Value low, mlir::Value mixed) const;

  /// The mixed words in low halves, in a vector where the upper halves mean nothing.
  mlir::Value mixedOf(mlir::OpBuilder &builder, mlir::Value pair) const;

  /// One round; keys in the upper halves.
  llvm::SmallVector<mlir::Value> round(mlir::OpBuilder &builder, llvm::ArrayRef<PairedWords> pairs,
                                       mlir::ValueRange words,
                                       llvm::ArrayRef<mlir::Value> keys) const;

private:
  mlir::Location loc;
  mlir::Value mixedWords;
};

} // namespace nereid::cpu
