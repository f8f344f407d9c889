// SPDX-License-Identifier: Apache-2.0
#include "lib/targets/nvidia/explain/SharedAccesses.h"

#include "lib/targets/nvidia/explain/Names.h"
#include "lib/targets/nvidia/layouts/Conversion.h"
#include "lib/targets/nvidia/layouts/LaneProducts.h"
#include "lib/targets/nvidia/products/MatrixReader.h"
#include "lib/targets/nvidia/products/Products.h"
#include "lib/targets/nvidia/threads/Accesses.h"

#include "llvm/ADT/TypeSwitch.h"

using namespace mlir;

namespace nereid::nvidia {

using layout::Holder;
using layout::LinearLayout;
using pipeline::SharedAccess;

namespace {

using Accesses = std::vector<SharedAccess>;

layout::Places placesOf(const SharedTile &tile, const LinearLayout::Shape &shape) {
  layout::Places places;
  for (int64_t bit = 1, size = shape[0] * shape[1]; bit < size; bit <<= 1) {
    places.push_back(tile.placeOf(bit));
  }
  return places;
}

/// What all accesses to a tile have in common.
SharedAccess accessTo(Operation *op, Type element, const LinearLayout::Shape &shape,
                      layout::Places places) {
  SharedAccess access;
  access.operation = op->getName().getStringRef().str();
  access.element = elementName(element);
  access.elementBytes = memoryBits(element) / 8;
  access.shape = shape;
  access.tilePlaces = std::move(places);
  return access;
}

SharedAccess with(SharedAccess access, const char *verb, LinearLayout threadPlaces, int64_t bytes) {
  access.verb = verb;
  access.threadPlaces = std::move(threadPlaces);
  access.bytes = bytes;
  return access;
}

/// Rows of 16 bytes, whose addresses eight lanes give.
SharedAccess fragmentRead(const SharedAccess &tile, const LinearLayout &fragment,
                          const SharedTile &placed, int64_t fastest) {
  constexpr int64_t rowBytes = 16;
  return with(tile, "read", placed.placesOf(matrixRowsOf(fragment, fastest)->starts), rowBytes);
}

Accesses accessesOf(ConvertLayoutOp op) {
  const LinearLayout from = *layoutOf(op.getSource()), to = *layoutOf(op.getResult());
  const Type element = tile::elementTypeOf(op.getSource().getType());
  const Conversion conversion = conversionOf(op);
  const int64_t bytes = memoryBits(element) / 8;
  if (conversion.way == Conversion::Way::Registers) {
    return {};
  }
  if (conversion.way == Conversion::Way::Fragment) {
    const SharedTile placed(from.shape(), bytes, conversion.fastest);
    const SharedAccess tile = accessTo(op, element, from.shape(), placesOf(placed, from.shape()));
    return {with(tile, "written", placed.placesOf(from), conversion.vector * bytes),
            fragmentRead(tile, to, placed, conversion.fastest)};
  }
  if (conversion.way == Conversion::Way::Vectors) {
    const SharedTile placed(from.shape(), bytes, conversion.fastest);
    const SharedAccess tile = accessTo(op, element, from.shape(), placesOf(placed, from.shape()));
    return {with(tile, "written", placed.placesOf(from), conversion.vector * bytes),
            with(tile, "read", placed.placesOf(to), conversion.readVector * bytes)};
  }
  // Parts lie in the same room.
  layout::Places places = layout::rowMajorPlaces(from.shape(), bytes);
  for (int64_t &place : places) {
    place = place < from.elementCount() / conversion.parts * bytes ? place : 0;
  }
  const SharedAccess tile = accessTo(op, element, from.shape(), places);
  return {with(tile, "written", layout::placesOf(from, places), bytes),
          with(tile, "read", layout::placesOf(to, places), bytes)};
}

Accesses accessesOf(AsyncCopyOp op, const tile::AxisInfos &axes) {
  const LinearLayout layout = *layoutOf(op.getPointer());
  const Type element =
      cast<tile::PtrType>(tile::elementTypeOf(op.getPointer().getType())).getPointee();
  const int64_t bytes = memoryBits(element) / 8;
  const SharedTile placed(layout.shape(), bytes, static_cast<int64_t>(op.getFastest()));
  const LinearLayout places = placed.placesOf(layout);
  // Copies are as long as the addresses allow; what lies elsewhere in the slot is none's neighbour.
  const int64_t registers =
      std::min(accessFor(layout, element, axes.of(op.getPointer()), std::nullopt).registers,
               layout::neighboursIn(places, bytes));
  return {with(accessTo(op, element, layout.shape(), placesOf(placed, layout.shape())), "written",
               places, registers * bytes)};
}

Accesses accessesOf(StoreCopyOp op) {
  const LinearLayout layout = *layoutOf(op.getSource());
  const Type element = tile::elementTypeOf(op.getSource().getType());
  const int64_t bytes = memoryBits(element) / 8, fastest = static_cast<int64_t>(op.getFastest());
  const SharedTile placed(layout.shape(), bytes, fastest);
  return {with(accessTo(op, element, layout.shape(), placesOf(placed, layout.shape())), "written",
               placed.placesOf(layout), neighboursAlong(layout, fastest) * bytes)};
}

Accesses accessesOf(ReadCopyOp op) {
  auto dot = dyn_cast<tile::DotOp>(*op->getUsers().begin());
  if (dot && dot->hasAttr(warpgroupAttribute)) {
    return {}; // the matrix unit reads the slot by itself, in the swizzle that it is made for
  }
  if (dot && isLaneProduct(dot)) {
    return {}; // each number in the order of the product, not of a tile's layout
  }
  LinearLayout fragment = *layoutOf(op.getResult());
  if (op.getTransposed()) {
    fragment = fragment.transposed(ArrayRef<int32_t>{1, 0});
  }
  const Type element = tile::elementTypeOf(op.getType());
  const auto fastest = static_cast<int64_t>(op.getFastest());
  if (!matrixRowsOf(fragment, fastest)) {
    return {}; // a text that was fed in, which no later phase takes
  }
  const SharedTile placed(fragment.shape(), memoryBits(element) / 8, fastest);
  return {fragmentRead(accessTo(op, element, fragment.shape(), placesOf(placed, fragment.shape())),
                       fragment, placed, fastest)};
}

} // namespace

Accesses sharedAccessesOf(Operation *op, const tile::AxisInfos &axes) {
  if (!hasLayouts(op)) {
    return {};
  }
  return llvm::TypeSwitch<Operation *, Accesses>(op)
      .Case([&](ConvertLayoutOp one) { return accessesOf(one); })
      .Case([&](AsyncCopyOp one) { return accessesOf(one, axes); })
      .Case([&](StoreCopyOp one) { return accessesOf(one); })
      .Case([&](ReadCopyOp one) { return accessesOf(one); })
      .Default(Accesses());
}

} // namespace nereid::nvidia
