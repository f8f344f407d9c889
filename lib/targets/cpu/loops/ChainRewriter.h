// SPDX-License-Identifier: Apache-2.0
// Writes the operations of chains of products on their even and odd lanes.
#pragma once

#include "lib/targets/cpu/loops/SplitProducts.h"

#include "mlir/IR/Builders.h"

#include "llvm/ADT/DenseMap.h"

namespace nereid::cpu {

/// Lanes 0, 2, … and 1, 3, … in the low halves of 64-bit lanes; the high halves mean nothing.
struct LaneHalves {
  mlir::Value even, odd;
};

/// Writes one chain's operations where its builder stands.
class ChainRewriter {
public:
  ChainRewriter(mlir::Operation *place, bool hasAvx512)
      : builder(place), loc(place->getLoc()), hasAvx512(hasAvx512) {}

  void rewrite(mlir::Operation *op);

  /// For uses outside of the chain.
  mlir::Value join(mlir::Value value);

private:
  LaneHalves halvesOf(mlir::Value value);
  mlir::Value exclusiveOrOfThree(mlir::Value a, mlir::Value b, mlir::Value c);
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
