// SPDX-License-Identifier: Apache-2.0
#include "lib/targets/nvidia/layouts/Conversion.h"
#include "lib/targets/nvidia/products/Products.h"
#include "lib/targets/nvidia/threads/Lowering.h"
#include "lib/targets/nvidia/threads/Staging.h"

using namespace mlir;

namespace nereid::nvidia {

using layout::Holder;
using layout::LinearLayout;

namespace {

/// Writes a tile to shared memory in row-major order, part by part, and lets `read` take what
/// threads want of each part: for the number of an element, `placeOf` says where it lies if it is
/// of the part.
void publish(ThreadCode &code, Value tile,
             llvm::function_ref<void(const TilePart &, llvm::function_ref<Value(Value)>)> read) {
  const int64_t bytes = memoryBits(threadType(tile::elementTypeOf(tile.getType()))) / 8;
  const int64_t all = layoutOf(tile)->elementCount();
  const int64_t size = std::min(all, mostStagedBytes / bytes);
  auto placeOf = [&](Value element) {
    return size == all
               ? element
               : code.builder.create<arith::AndIOp>(code.loc, element, code.constant(size - 1))
                     .getResult();
  };
  code.reserveShared(size * bytes);
  for (int64_t first = 0; first < all; first += size) {
    const TilePart part{all - size, first};
    code.barrier(); // what was published before has been read
    stage(code, tile, part, placeOf);
    code.barrier();
    read(part, placeOf);
  }
}

/// `loaded` where the condition holds, else what was there; null conditions hold.
void replaceWhere(ThreadCode &code, Value &held, Value condition, Value loaded) {
  held = condition && held
             ? code.builder.create<arith::SelectOp>(code.loc, condition, loaded, held).getResult()
             : loaded;
}

/// What this thread holds of the tile in the layout `to`.
ThreadCode::Held exchanged(ThreadCode &code, Value tile, const LinearLayout &to) {
  const Type type = threadType(tile::elementTypeOf(tile.getType()));
  const auto elements = code.elements(to);
  ThreadCode::Held held(elements.size());
  publish(code, tile, [&](const TilePart &part, auto placeOf) {
    for (const PartRegisters &group : registersOf(code, to, part)) {
      for (size_t reg : group.registers) {
        replaceWhere(code, held[reg], group.isOfPart,
                     code.loadShared(type, placeOf(elements[reg])));
      }
    }
  });
  return held;
}

} // namespace

void lowerConvertLayout(ThreadCode &code, ConvertLayoutOp op) {
  const LinearLayout to = *layoutOf(op.getResult());
  const Conversion conversion = conversionOf(tile::elementTypeOf(op.getSource().getType()),
                                             *layoutOf(op.getSource()), to, code.mostStaged());
  switch (conversion.way) {
  case Conversion::Way::Registers: {
    ThreadCode::Held held;
    for (size_t place : conversion.registers) {
      held.push_back(code.held(op.getSource())[place]);
    }
    code.hold(op, held);
    break;
  }
  case Conversion::Way::Fragment:
    code.hold(op, exchangedForMatrixUnit(code, op.getSource(), to, conversion));
    break;
  case Conversion::Way::Vectors:
    code.hold(op, exchangedInVectors(code, op.getSource(), to, conversion));
    break;
  case Conversion::Way::Elements:
    code.hold(op, exchanged(code, op.getSource(), to));
    break;
  }
}

void lowerUnsplat(ThreadCode &code, tile::UnsplatOp op) {
  code.hold(op, code.scalar(op.getSource()));
}

void lowerGather(ThreadCode &code, tile::GatherOp op) {
  const auto shape = shapeOf(op.getSource());
  const auto resultShape = shapeOf(op.getResult());
  const Type type = threadType(tile::elementTypeOf(op.getType()));
  const auto axis = static_cast<size_t>(op.getAxis());
  int64_t inner = 1;
  for (size_t dim = axis + 1; dim < shape.size(); ++dim) {
    inner *= shape[dim];
  }
  OpBuilder &b = code.builder;
  const auto elements = code.elements(*layoutOf(op));
  ThreadCode::Held sources; // the numbers of the wanted elements
  for (size_t reg = 0; reg < elements.size(); ++reg) {
    Value index = code.held(op.getIndex())[reg];
    const unsigned width = index.getType().getIntOrFloatBitWidth();
    if (width > 32) {
      index = b.create<arith::TruncIOp>(code.loc, b.getI32Type(), index);
    } else if (width < 32) {
      index = b.create<arith::ExtUIOp>(code.loc, b.getI32Type(), index);
    }
    // Outside of the source any element will do.
    index = b.create<arith::AndIOp>(code.loc, index, code.constant(shape[axis] - 1));
    Value below = b.create<arith::AndIOp>(code.loc, elements[reg], code.constant(inner - 1));
    const int64_t outerStep = inner * resultShape[axis];
    Value outer = b.create<arith::DivUIOp>(code.loc, elements[reg], code.constant(outerStep));
    Value element = b.create<arith::MulIOp>(code.loc, outer, code.constant(inner * shape[axis]));
    element = b.create<arith::AddIOp>(
        code.loc, element,
        b.create<arith::MulIOp>(code.loc, index, code.constant(inner)).getResult());
    sources.push_back(b.create<arith::AddIOp>(code.loc, element, below));
  }
  ThreadCode::Held held(sources.size());
  publish(code, op.getSource(), [&](const TilePart &part, auto placeOf) {
    for (auto [into, source] : llvm::zip(held, sources)) {
      Value isOfPart;
      if (part.mask != 0) {
        Value bits = b.create<arith::AndIOp>(code.loc, source, code.constant(part.mask));
        isOfPart = b.create<arith::CmpIOp>(code.loc, arith::CmpIPredicate::eq, bits,
                                           code.constant(part.bits));
      }
      replaceWhere(code, into, isOfPart, code.loadShared(type, placeOf(source)));
    }
  });
  code.hold(op, held);
}

/// From the same register of the thread whose warp differs in a bit: threads write side by side.
static ThreadCode::Held fromOtherWarp(ThreadCode &code, const ThreadCode::Held &own, int64_t bit) {
  OpBuilder &b = code.builder;
  const int64_t threads = Threads::lanes * code.threads.warps;
  const int64_t bytes = threads * memoryBits(own.front().getType()) / 8;
  const auto atATime = static_cast<size_t>(std::max<int64_t>(1, mostStagedBytes / bytes));
  Value mine = b.create<arith::MulIOp>(code.loc, code.warpNumber(), code.constant(Threads::lanes));
  mine = b.create<arith::AddIOp>(code.loc, mine, code.laneNumber());
  Value other = b.create<arith::XOrIOp>(code.loc, mine, code.constant(bit * Threads::lanes));
  ThreadCode::Held held;
  for (size_t first = 0; first < own.size(); first += atATime) {
    const size_t count = std::min(atATime, own.size() - first);
    code.reserveShared(static_cast<int64_t>(count) * bytes);
    code.barrier();
    for (size_t i = 0; i < count; ++i) {
      code.storeShared(own[first + i], code.add(mine, static_cast<int64_t>(i) * threads));
    }
    code.barrier();
    for (size_t i = 0; i < count; ++i) {
      held.push_back(code.loadShared(own[first + i].getType(),
                                     code.add(other, static_cast<int64_t>(i) * threads)));
    }
  }
  return held;
}

void lowerExchange(ThreadCode &code, ExchangeOp op) {
  const LinearLayout layout = *layoutOf(op.getResult());
  int64_t element = static_cast<int64_t>(op.getDistance()); // what the numbers differ by
  for (size_t dim = op.getAxis() + 1; dim < layout.shape().size(); ++dim) {
    element *= layout.shape()[dim];
  }
  const ThreadCode::Held &own = code.held(op.getSource());
  auto bitOf = [&](Holder holder) -> int64_t {
    const auto &bases = layout.bases(holder);
    const auto found = llvm::find(bases, element);
    return found == bases.end() ? 0 : int64_t{1} << (found - bases.begin());
  };
  ThreadCode::Held held;
  if (const int64_t bit = bitOf(Holder::Register)) {
    for (size_t reg = 0; reg < own.size(); ++reg) {
      held.push_back(own[reg ^ static_cast<size_t>(bit)]);
    }
  } else if (const int64_t ofLane = bitOf(Holder::Lane)) {
    for (Value value : own) {
      held.push_back(code.shuffleXor(value, ofLane));
    }
  } else {
    held = fromOtherWarp(code, own, bitOf(Holder::Warp));
  }
  code.hold(op, held);
}

void lowerHistogram(ThreadCode &code, tile::HistogramOp op) {
  OpBuilder &b = code.builder;
  const LinearLayout layout = *layoutOf(op), given = *layoutOf(op.getSource());
  const int64_t bins = layout.elementCount();
  code.reserveShared(bins * 4);
  const auto places = code.elements(layout);
  code.barrier();
  for (Value place : places) {
    code.storeShared(code.constant(0), place);
  }
  code.barrier();
  Value isFirst = code.isFirstReplica(given);
  for (size_t reg = 0; reg < code.held(op.getSource()).size(); ++reg) {
    if (ThreadCode::isRepeatedRegister(given, static_cast<int64_t>(reg))) {
      continue;
    }
    Value number = code.held(op.getSource())[reg];
    const unsigned bits = number.getType().getIntOrFloatBitWidth();
    if (bits < 64) {
      number = b.create<arith::ExtSIOp>(code.loc, b.getI64Type(), number);
    }
    Value counts = b.create<arith::CmpIOp>(code.loc, arith::CmpIPredicate::ult, number,
                                           code.constant(bins, 64));
    if (isFirst) {
      counts = b.create<arith::AndIOp>(code.loc, counts, isFirst);
    }
    if (op.getMask()) {
      counts = b.create<arith::AndIOp>(code.loc, counts, code.held(op.getMask())[reg]);
    }
    auto branch = b.create<scf::IfOp>(code.loc, counts, /*withElseRegion=*/false);
    OpBuilder::InsertionGuard guard(b);
    b.setInsertionPointToStart(&branch.getThenRegion().front());
    Value place = b.create<arith::TruncIOp>(code.loc, b.getI32Type(), number);
    code.addShared(code.constant(1), place);
  }
  code.barrier();
  ThreadCode::Held held;
  for (Value place : places) {
    held.push_back(code.loadShared(b.getI32Type(), place));
  }
  code.hold(op, held);
}

} // namespace nereid::nvidia
