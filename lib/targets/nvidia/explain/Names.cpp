// SPDX-License-Identifier: Apache-2.0
#include "lib/targets/nvidia/explain/Names.h"

#include "llvm/Support/raw_ostream.h"

#include <fmt/format.h>

using namespace mlir;

namespace nereid::nvidia {

std::string elementName(Type element) {
  if (auto pointer = dyn_cast<tile::PtrType>(element)) {
    return "ptr<" + elementName(pointer.getPointee()) + ">";
  }
  std::string name;
  llvm::raw_string_ostream(name) << element;
  return name;
}

std::string tileName(Value tile) {
  return fmt::format("{}x{}", fmt::join(shapeOf(tile), "x"),
                     elementName(tile::elementTypeOf(tile.getType())));
}

bool hasLayouts(Operation *op) {
  auto isThere = [](Value value) { return !isTile(value) || layoutOf(value).has_value(); };
  return llvm::all_of(op->getOperands(), isThere) && llvm::all_of(op->getResults(), isThere);
}

Operation *makerOf(Value value) {
  Operation *op = value.getDefiningOp();
  return op ? op : cast<BlockArgument>(value).getOwner()->getParentOp();
}

std::string operationName(Operation *op) {
  std::string name = "'" + op->getName().getStringRef().str() + "'";
  FileLineColLoc place;
  op->getLoc()->walk([&](Location inner) {
    place = dyn_cast<FileLineColLoc>(inner);
    return place ? WalkResult::interrupt() : WalkResult::advance();
  });
  return place ? fmt::format("{} at line {}", name, place.getLine()) : name;
}

} // namespace nereid::nvidia
