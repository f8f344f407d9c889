// SPDX-License-Identifier: Apache-2.0
// Writes the operations of chains of products on their even and odd lanes.
#pragma once

#include "lib/targets/cpu/codegen/SplitProducts.h"

#include "mlir/IR/Builders.h"

#include "llvm/ADT/DenseMap.h"

namespace nereid::cpu {

/// Lanes 0, 2, … and 1, 3, … in the low halves of 64-bit lanes; the high halves mean nothing. One
/// of them may be missing where only the other one is written.
struct LaneHalves {
  mlir::Value even, odd;
};

/// a ^ b ^ c of 512 bits in one instruction (AVX-512). LLVM would find it, but looks through every
/// exclusive or that it knows for bits that are known, which takes a fifth of the time of a chain.
mlir::Value exclusiveOrOfThree(mlir::OpBuilder &builder, mlir::Location loc, mlir::Value a,
                               mlir::Value b, mlir::Value c);

/// Writes one chain's operations where its builder stands.
class ChainRewriter {
public:
  ChainRewriter(mlir::Operation *place, bool hasAvx512)
      : builder(place), loc(place->getLoc()), hasAvx512(hasAvx512) {}

  void rewrite(mlir::Operation *op);

  /// For uses outside of the chain.
  mlir::Value join(mlir::Value value);

  LaneHalves halvesOf(mlir::Value value);
  void setHalves(mlir::Value value, LaneHalves both) { halves[value] = both; }

  /// The same values, written at another place; what is written there is not known here.
  ChainRewriter at(mlir::OpBuilder::InsertPoint point) const;

private:
  mlir::Value splat(LaneHalves like, uint64_t number);
  mlir::Value same(mlir::Operation *op, mlir::Value a, mlir::Value b);
  LaneHalves multiply(const HighProduct &product);
  LaneHalves lowWords(LaneHalves value);

  mlir::OpBuilder builder;
  mlir::Location loc;
  bool hasAvx512;
  llvm::DenseMap<mlir::Value, LaneHalves> halves;
  llvm::DenseMap<std::pair<mlir::Value, std::pair<mlir::Value, uint32_t>>, LaneHalves> products;
};

} // namespace nereid::cpu
