// SPDX-License-Identifier: Apache-2.0
#include "lib/targets/nvidia/pipeline/CarriedTiles.h"

#include "lib/targets/nvidia/ir/Nvidia.h"

#include "mlir/IR/Matchers.h"

using namespace mlir;

namespace nereid::nvidia {
namespace {

/// The scalar whose copies the tile consists of, computed at `builder`'s place; null where there is
/// none from outside of the loop.
Value repeatedScalar(OpBuilder &builder, scf::ForOp loop, Value tile) {
  DenseElementsAttr elements;
  if (matchPattern(tile, m_Constant(&elements)) && elements.isSplat() &&
      isa<IntegerType>(elements.getElementType())) {
    return builder.create<arith::ConstantOp>(tile.getLoc(),
                                             cast<TypedAttr>(elements.getSplatValue<Attribute>()));
  }
  auto splat = tile.getDefiningOp<tile::SplatOp>();
  return splat && loop.isDefinedOutsideOfLoop(splat.getSource()) &&
                 !isa<RankedTensorType>(splat.getSource().getType())
             ? splat.getSource()
             : Value();
}

struct Carried {
  unsigned index = 0;
  Operation *step = nullptr; ///< tile.addptr or arith.addi
  Value increment;           ///< scalar, of the type that is carried
};

Value moved(OpBuilder &b, Location loc, Value tile, Value scalar) {
  auto type = cast<RankedTensorType>(tile.getType());
  Value offset =
      b.create<tile::SplatOp>(loc, type.cloneWith(std::nullopt, scalar.getType()), scalar);
  return isa<tile::PtrType>(type.getElementType())
             ? b.create<tile::AddPtrOp>(loc, type, tile, offset).getResult()
             : b.create<arith::AddIOp>(loc, tile, offset).getResult();
}

SmallVector<Carried> findCarried(scf::ForOp loop) {
  OpBuilder before(loop);
  SmallVector<Carried> found;
  for (auto [i, argument] : llvm::enumerate(loop.getRegionIterArgs())) {
    Operation *step = loop.getYieldedValues()[i].getDefiningOp();
    if (!isTile(argument) || !isa_and_nonnull<tile::AddPtrOp, arith::AddIOp>(step) ||
        step->getOperand(0) != argument) {
      continue;
    }
    Value increment = repeatedScalar(before, loop, step->getOperand(1));
    if (!increment) {
      continue;
    }
    // Offsets of addresses are signed, and have no end at 32 bits.
    if (isa<tile::AddPtrOp>(step) && increment.getType().getIntOrFloatBitWidth() < 64) {
      increment = before.create<arith::ExtSIOp>(loop.getLoc(), before.getI64Type(), increment);
    }
    found.push_back({static_cast<unsigned>(i), step, increment});
  }
  return found;
}

} // namespace

scf::ForOp carryScalars(scf::ForOp loop) {
  const SmallVector<Carried> all = findCarried(loop);
  if (all.empty()) {
    return loop;
  }
  const Location loc = loop.getLoc();
  OpBuilder b(loop);
  SmallVector<Value> initials(loop.getInitArgs());
  for (const Carried &one : all) {
    initials[one.index] =
        b.create<arith::ConstantOp>(loc, b.getIntegerAttr(one.increment.getType(), 0));
  }
  auto made = b.create<scf::ForOp>(loc, loop.getLowerBound(), loop.getUpperBound(), loop.getStep(),
                                   initials);
  made->setDiscardableAttrs(loop->getDiscardableAttrDictionary());
  Block *body = made.getBody();
  if (body->mightHaveTerminator()) {
    body->getTerminator()->erase();
  }
  SmallVector<Value> arguments(body->getArguments());
  OpBuilder inside = OpBuilder::atBlockBegin(body);
  for (const Carried &one : all) {
    Value &argument = arguments[one.index + 1];
    argument = moved(inside, loc, loop.getInitArgs()[one.index], argument);
  }
  for (auto [from, to] : llvm::zip(loop.getBody()->getArguments(), arguments)) {
    from.replaceAllUsesWith(to);
  }
  body->getOperations().splice(body->end(), loop.getBody()->getOperations());
  OpBuilder end(body->getTerminator());
  for (const Carried &one : all) {
    Value next = end.create<arith::AddIOp>(loc, body->getArgument(one.index + 1), one.increment);
    body->getTerminator()->setOperand(one.index, next);
  }
  SmallVector<Value> results(made.getResults());
  for (const Carried &one : all) {
    results[one.index] =
        loop.getResult(one.index).use_empty()
            ? Value()
            : moved(b, loc, loop.getInitArgs()[one.index], made.getResult(one.index));
  }
  for (auto [from, to] : llvm::zip(loop.getResults(), results)) {
    if (to) {
      from.replaceAllUsesWith(to);
    }
  }
  loop.erase();
  return made;
}

} // namespace nereid::nvidia
