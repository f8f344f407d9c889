// SPDX-License-Identifier: Apache-2.0
#include "lib/targets/nvidia/ir/Nvidia.h"

#include "lib/targets/nvidia/layouts/Anchors.h"
#include "lib/targets/nvidia/layouts/MatrixLayouts.h"

#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "mlir/IR/DialectImplementation.h"
#include "mlir/IR/Matchers.h"
#include "llvm/ADT/TypeSwitch.h"

#include "lib/targets/nvidia/ir/NvidiaDialect.cpp.inc"

#define GET_ATTRDEF_CLASSES
#include "lib/targets/nvidia/ir/NvidiaAttributes.cpp.inc"

#define GET_OP_CLASSES
#include "lib/targets/nvidia/ir/NvidiaOps.cpp.inc"

using namespace mlir;

namespace nereid::nvidia {

void NvidiaDialect::initialize() {
  addAttributes<
#define GET_ATTRDEF_LIST
#include "lib/targets/nvidia/ir/NvidiaAttributes.cpp.inc"
      >();
  addOperations<
#define GET_OP_LIST
#include "lib/targets/nvidia/ir/NvidiaOps.cpp.inc"
      >();
}

/// The values whose layouts an attribute of `op` lists.
static ValueRange valuesOf(Operation *op, StringRef attribute) {
  if (attribute == layoutsAttribute) {
    return op->getResults();
  }
  auto loop = dyn_cast<scf::WhileOp>(op);
  return loop && attribute == beforeLayoutsAttribute ? ValueRange(loop.getBeforeArguments())
                                                     : ValueRange();
}

/// Whether a warpgroup can make the product that `op` is.
static bool isOfWarpgroup(Operation *op) {
  auto dot = dyn_cast<tile::DotOp>(op);
  auto kernel = op->getParentOfType<func::FuncOp>();
  if (!dot || !kernel || !usesMatrixUnit(dot) || !dot.getB().getDefiningOp<ReadCopyOp>() ||
      tile::elementTypeOf(dot.getA().getType()).getIntOrFloatBitWidth() > 16) {
    return false;
  }
  const auto shape = shapeOf(dot.getResult());
  return warpgroupGridFor(shape[0], shape[1], threadsOf(kernel).warps).has_value();
}

LogicalResult NvidiaDialect::verifyOperationAttribute(Operation *op, NamedAttribute attribute) {
  if (attribute.getName() == copyBytesAttribute || attribute.getName() == heldAttribute ||
      attribute.getName() == mostRegistersAttribute) {
    auto bytes = dyn_cast<IntegerAttr>(attribute.getValue());
    return bytes && bytes.getInt() >= 0 ? success()
                                        : op->emitError()
                                              << "expects '" << attribute.getName().getValue()
                                              << "' to be a number that is not negative";
  }
  if (attribute.getName() == warpgroupAttribute || attribute.getName() == deferredAttribute) {
    return isOfWarpgroup(op)
               ? success()
               : op->emitError()
                     << "expects '" << attribute.getName().getValue()
                     << "' on a product of 8-bit or 16-bit elements whose right operand is a "
                        "'nvidia.read_copy' and whose rows four warps share out";
  }
  auto list = dyn_cast<ArrayAttr>(attribute.getValue());
  const ValueRange values = valuesOf(op, attribute.getName());
  if (!list || list.size() != values.size()) {
    return op->emitError() << "expects '" << attribute.getName() << "' to be an array with "
                           << values.size() << " elements";
  }
  for (auto [value, entry] : llvm::zip(values, list)) {
    const bool isLayout = isa<LayoutAttr>(entry);
    if (isTile(value) != isLayout) {
      return op->emitError() << "expects layouts for tiles and 'unit' for everything else";
    }
    if (isLayout && !layoutOf(value)->isComplete()) {
      return op->emitError() << "expects a layout that holds every element of " << value.getType();
    }
  }
  return success();
}

LogicalResult ReadAgainOp::verify() {
  auto load = getSource().getDefiningOp<tile::LoadOp>();
  return load && load->hasAttr(heldAttribute)
             ? success()
             : emitOpError() << "expects the tile of a 'tile.load' with '" << heldAttribute << "'";
}

std::optional<int64_t> mostRegistersOf(Operation *kernel) {
  auto most = kernel->getAttrOfType<IntegerAttr>(mostRegistersAttribute);
  return most ? std::optional(most.getInt()) : std::nullopt;
}

bool isZeros(Value tile) {
  if (auto splat = tile.getDefiningOp<tile::SplatOp>()) {
    tile = splat.getSource();
  }
  return matchPattern(tile, m_AnyZeroFloat()) || matchPattern(tile, m_Zero());
}

bool mayWriteMemory(Operation *op) {
  const auto effects = getEffectsRecursively(op);
  return !effects || llvm::any_of(*effects, [](const MemoryEffects::EffectInstance &effect) {
    return !isa<MemoryEffects::Read>(effect.getEffect());
  });
}

bool isTile(Value value) {
  auto type = dyn_cast<RankedTensorType>(value.getType());
  return type && type.getRank() > 0;
}

layout::LinearLayout::Shape shapeOf(Value tile) { return tile::shapeOf(tile.getType()).vec(); }

namespace {

/// Where the layout of a value stands: an array in an attribute of an operation.
struct Place {
  Operation *op = nullptr;
  StringRef attribute;
  unsigned index = 0, count = 0;
};

Place placeOf(Value value) {
  if (auto result = dyn_cast<OpResult>(value)) {
    return {result.getOwner(), layoutsAttribute, result.getResultNumber(),
            result.getOwner()->getNumResults()};
  }
  auto argument = cast<BlockArgument>(value);
  Operation *parent = argument.getOwner()->getParentOp();
  if (auto loop = dyn_cast<scf::ForOp>(parent)) {
    return {loop, layoutsAttribute, argument.getArgNumber() - 1, loop.getNumResults()};
  }
  auto loop = cast<scf::WhileOp>(parent);
  const bool isBefore = argument.getOwner() == loop.getBeforeBody();
  return {loop, isBefore ? beforeLayoutsAttribute : layoutsAttribute, argument.getArgNumber(),
          argument.getOwner()->getNumArguments()};
}

} // namespace

std::optional<layout::LinearLayout> layoutOf(Value tile) {
  const Place place = placeOf(tile);
  auto list = place.op->getAttrOfType<ArrayAttr>(place.attribute);
  auto layout = list ? dyn_cast<LayoutAttr>(list[place.index]) : LayoutAttr();
  if (!layout) {
    return std::nullopt;
  }
  return layout::LinearLayout(shapeOf(tile), layout.getRegisters().vec(), layout.getLanes().vec(),
                              layout.getWarps().vec());
}

void setLayout(Value tile, const layout::LinearLayout &layout) {
  const Place place = placeOf(tile);
  MLIRContext *context = place.op->getContext();
  SmallVector<Attribute> list(place.count, UnitAttr::get(context));
  if (auto former = place.op->getAttrOfType<ArrayAttr>(place.attribute)) {
    list.assign(former.begin(), former.end());
  }
  using layout::Holder;
  list[place.index] = LayoutAttr::get(context, layout.bases(Holder::Register),
                                      layout.bases(Holder::Lane), layout.bases(Holder::Warp));
  place.op->setAttr(place.attribute, ArrayAttr::get(context, list));
}

} // namespace nereid::nvidia
