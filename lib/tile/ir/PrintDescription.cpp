// SPDX-License-Identifier: Apache-2.0
#include "lib/tile/ir/PrintDescription.h"

namespace nereid::tile {

static std::string form(PrintOp op, unsigned operand, mlir::Type element) {
  if (mlir::isa<PtrType>(element)) {
    return "p";
  }
  if (op.getHex()) {
    return "x" + std::to_string(std::max(element.getIntOrFloatBitWidth() / 4, 1u));
  }
  if (mlir::isa<mlir::FloatType>(element)) {
    return "f";
  }
  auto list = op->getAttrOfType<mlir::DenseI64ArrayAttr>(unsignedOperands);
  bool isUnsigned = list && llvm::is_contained(list.asArrayRef(), static_cast<int64_t>(operand));
  return isUnsigned || element.isInteger(1) ? "u" : "i";
}

std::string printDescription(PrintOp op, unsigned operand) {
  std::string prefix = op.getPrefix().str();
  if (op.getValues().empty()) {
    return "-;;" + prefix;
  }
  mlir::Type type = op.getValues()[operand].getType();
  std::string sizes;
  if (auto tile = mlir::dyn_cast<mlir::RankedTensorType>(type)) {
    for (int64_t size : tile.getShape()) {
      sizes += (sizes.empty() ? "" : ",") + std::to_string(size);
    }
    type = tile.getElementType();
  }
  if (op.getValues().size() > 1) {
    prefix += "(operand " + std::to_string(operand) + ") ";
  }
  return form(op, operand, type) + ";" + sizes + ";" + prefix;
}

} // namespace nereid::tile
