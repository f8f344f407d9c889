// SPDX-License-Identifier: Apache-2.0
// Registers the dialect's operations and types.
#include "lib/tile/ir/Tile.h"

#include "mlir/IR/DialectImplementation.h"
#include "llvm/ADT/TypeSwitch.h"

#include "lib/tile/ir/TileDialect.cpp.inc"
#include "lib/tile/ir/TileEnums.cpp.inc"

#define GET_TYPEDEF_CLASSES
#include "lib/tile/ir/TileTypes.cpp.inc"

namespace nereid::tile {

void TileDialect::initialize() {
  addTypes<
#define GET_TYPEDEF_LIST
#include "lib/tile/ir/TileTypes.cpp.inc"
      >();
  addOperations<
#define GET_OP_LIST
#include "lib/tile/ir/TileOps.cpp.inc"
      >();
}

mlir::Operation *TileDialect::materializeConstant(mlir::OpBuilder &builder, mlir::Attribute value,
                                                  mlir::Type type, mlir::Location loc) {
  return mlir::arith::ConstantOp::materialize(builder, value, type, loc);
}

void loadDialects(mlir::MLIRContext &context) {
  context.loadDialect<TileDialect, mlir::arith::ArithDialect, mlir::math::MathDialect,
                      mlir::scf::SCFDialect, mlir::func::FuncDialect>();
}

} // namespace nereid::tile
