// SPDX-License-Identifier: Apache-2.0
// Which parts of a and b a register block of a matrix product asks for ahead of their use.
#pragma once

#include "lib/targets/cpu/lower/product/GemmOperands.h"

namespace nereid::cpu {

class GemmPrefetch {
public:
  GemmPrefetch(KernelState &kernel, mlir::Location loc, const GemmShape &shape,
               const GemmKernel &gemmKernel, const GemmOperands &operands)
      : kernel(kernel), loc(loc), shape(shape), gemmKernel(gemmKernel), operands(operands) {}

  /// In front of the loop.
  void prepare(mlir::OpBuilder &at);
  /// The panel's first blocks each bring in a part of the rows at `next`, `stride` elements apart;
  /// the others ask for `nothing`, an address that is in the cache.
  void emitNextPanel(mlir::OpBuilder &at, mlir::Value next, mlir::Value stride, mlir::Value nothing,
                     GemmBlock &block) const;
  /// The rows of a that the next register block reads; behind the last one, those of the next k.
  void emitNextRows(mlir::OpBuilder &at, const GemmBlock &block) const;

private:
  bool readsRowsInPlace() const;

  KernelState &kernel;
  mlir::Location loc;
  const GemmShape &shape;
  const GemmKernel &gemmKernel;
  const GemmOperands &operands;
  mlir::Value collide; ///< a's rows push each other out of the cache
};

} // namespace nereid::cpu
