// SPDX-License-Identifier: Apache-2.0
// The tile dialect for C++: include this and nothing else of ir/.
#pragma once

#include "mlir/Bytecode/BytecodeOpInterface.h"
#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "mlir/Dialect/Math/IR/Math.h"
#include "mlir/Dialect/SCF/IR/SCF.h"
#include "mlir/IR/Builders.h"
#include "mlir/IR/BuiltinOps.h"
#include "mlir/IR/BuiltinTypes.h"
#include "mlir/IR/Dialect.h"
#include "mlir/IR/OpImplementation.h"
#include "mlir/IR/TypeUtilities.h"
#include "mlir/Interfaces/ControlFlowInterfaces.h"
#include "mlir/Interfaces/InferTypeOpInterface.h"
#include "mlir/Interfaces/SideEffectInterfaces.h"

#include "lib/tile/ir/TileEnums.h.inc"

#include "lib/tile/ir/TileDialect.h.inc"

#define GET_TYPEDEF_CLASSES
#include "lib/tile/ir/TileTypes.h.inc"

namespace nereid::tile {

/// Loads tile, arith, math, scf and func into the context.
void loadDialects(mlir::MLIRContext &context);

/// maxNum or minNum of IEEE 754-2008 of two constants (numbers or splats); null for anything else.
mlir::Attribute foldNumericExtremum(bool isMax, mlir::Attribute left, mlir::Attribute right);

/// Element type of a tile, or the scalar type itself.
inline mlir::Type elementTypeOf(mlir::Type type) { return mlir::getElementTypeOrSelf(type); }
/// Shape of a tile; empty for a scalar (and for a tile of rank 0).
llvm::ArrayRef<int64_t> shapeOf(mlir::Type type);
/// True when both are scalars, or both are tiles of one shape.
bool haveSameShape(mlir::Type left, mlir::Type right);
/// `type`'s shape with other elements: a scalar stays a scalar.
mlir::Type withElementType(mlir::Type type, mlir::Type element);
/// One of the four 8-bit floats the language has.
bool isFloat8(mlir::Type type);

/// A number that memory holds: an integer or float of tile_c2, no address.
bool isNumberType(mlir::Type type);
/// Whether the kind works on elements of the type: atomic_rmw_c4.
bool fitsElements(AtomicKind kind, mlir::Type element);

/// tile_c1 and tile_c2, for operands and results.
mlir::LogicalResult verifyWellFormedTiles(mlir::Operation *op);

namespace OpTrait {
template <class ConcreteOp>
struct WellFormedTiles : mlir::OpTrait::TraitBase<ConcreteOp, WellFormedTiles> {
  static mlir::LogicalResult verifyTrait(mlir::Operation *op) { return verifyWellFormedTiles(op); }
};
} // namespace OpTrait

} // namespace nereid::tile

#define GET_OP_CLASSES
#include "lib/tile/ir/TileOps.h.inc"
