// SPDX-License-Identifier: Apache-2.0
#include "lib/targets/nvidia/threads/Lowering.h"

using namespace mlir;

namespace nereid::nvidia {

using layout::Holder;
using layout::LinearLayout;

namespace {

/// Writes a tile to shared memory in row-major order, for all threads to read afterwards.
void publish(ThreadCode &code, Value tile) {
  const LinearLayout layout = *layoutOf(tile);
  const auto &held = code.held(tile);
  code.reserveShared(layout.elementCount() *
                     memoryBits(threadType(tile::elementTypeOf(tile.getType()))) / 8);
  const auto elements = code.elements(layout);
  code.barrier(); // what was published before has been read
  for (size_t reg = 0; reg < held.size(); ++reg) {
    if (!ThreadCode::isRepeatedRegister(layout, static_cast<int64_t>(reg))) {
      code.storeShared(held[reg], elements[reg]);
    }
  }
  code.barrier();
}

} // namespace

void lowerConvertLayout(ThreadCode &code, ConvertLayoutOp op) {
  const LinearLayout from = *layoutOf(op.getSource()), to = *layoutOf(op.getResult());
  const Type type = threadType(tile::elementTypeOf(op.getType()));
  ThreadCode::Held held;
  if (from.bases(Holder::Lane) == to.bases(Holder::Lane) &&
      from.bases(Holder::Warp) == to.bases(Holder::Warp)) {
    // Each thread has what it needs, in other registers.
    const auto places = from.registersByContribution();
    bool isThere = true;
    for (int64_t reg = 0; reg < to.count(Holder::Register) && isThere; ++reg) {
      const auto place = places.find(to.contribution(Holder::Register, reg));
      isThere = place != places.end();
      if (isThere) {
        held.push_back(code.held(op.getSource())[place->second]);
      }
    }
    if (isThere) {
      code.hold(op, held);
      return;
    }
    held.clear();
  }
  publish(code, op.getSource());
  for (Value element : code.elements(to)) {
    held.push_back(code.loadShared(type, element));
  }
  code.hold(op, held);
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
  publish(code, op.getSource());
  OpBuilder &b = code.builder;
  const auto elements = code.elements(*layoutOf(op));
  ThreadCode::Held held;
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
    element = b.create<arith::AddIOp>(code.loc, element, below);
    held.push_back(code.loadShared(type, element));
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
    Value offset = b.create<arith::MulIOp>(code.loc, place, code.constant(4));
    b.create<LLVM::AtomicRMWOp>(code.loc, LLVM::AtomicBinOp::add, code.shared(offset),
                                code.constant(1), LLVM::AtomicOrdering::monotonic);
  }
  code.barrier();
  ThreadCode::Held held;
  for (Value place : places) {
    held.push_back(code.loadShared(b.getI32Type(), place));
  }
  code.hold(op, held);
}

} // namespace nereid::nvidia
