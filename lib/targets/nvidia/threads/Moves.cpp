// SPDX-License-Identifier: Apache-2.0
#include "lib/targets/nvidia/layouts/OperandLayouts.h"
#include "lib/targets/nvidia/threads/Lowering.h"

using namespace mlir;

namespace nereid::nvidia {

using layout::Holder;
using layout::LinearLayout;

void lowerRange(ThreadCode &code, tile::MakeRangeOp op) {
  ThreadCode::Held held = code.elements(*layoutOf(op));
  const auto start = static_cast<int64_t>(op.getStart());
  for (Value &value : held) {
    value = code.add(value, start);
  }
  code.hold(op, held);
}

void lowerSplat(ThreadCode &code, tile::SplatOp op) {
  Value source = code.scalar(op.getSource());
  const size_t count = isTile(op) ? static_cast<size_t>(layoutOf(op)->count(Holder::Register)) : 1;
  code.hold(op, ThreadCode::Held(count, source));
}

void lowerMove(ThreadCode &code, Operation *op) {
  Value source = op->getOperand(0), result = op->getResult(0);
  if (!isTile(source) || !isTile(result)) {
    // One element that all threads hold.
    const size_t count =
        isTile(result) ? static_cast<size_t>(layoutOf(result)->count(Holder::Register)) : 1;
    code.hold(result, ThreadCode::Held(count, code.scalar(source)));
    return;
  }
  const LinearLayout to = *layoutOf(result);
  const auto places = layoutOf(source)->registersByContribution();
  ThreadCode::Held held;
  if (isa<tile::BroadcastOp>(op)) {
    // Registers of what is repeated stand for one of the operand.
    for (int64_t reg = 0; reg < to.count(Holder::Register); ++reg) {
      const LinearLayout one(to.shape(), {to.contribution(Holder::Register, reg)}, {}, {});
      const auto projected = one.projectedTo(shapeOf(source)).bases(Holder::Register);
      held.push_back(code.held(source)[places.at(projected.empty() ? 0 : projected.front())]);
    }
  } else {
    const LinearLayout wanted = operandLayout(op, 0, to);
    for (int64_t reg = 0; reg < wanted.count(Holder::Register); ++reg) {
      held.push_back(code.held(source)[places.at(wanted.contribution(Holder::Register, reg))]);
    }
  }
  code.hold(result, held);
}

void lowerJoin(ThreadCode &code, tile::JoinOp op) {
  const LinearLayout layout = *layoutOf(op);
  const auto places = layoutOf(op.getLeft())->registersByContribution();
  Value thread = code.threadPart(layout);
  Value isRight = code.builder.create<arith::TruncIOp>(code.loc, code.builder.getI1Type(), thread);
  ThreadCode::Held held;
  bool isOfThread = false; // whether lanes or warps tell the halves apart
  for (Holder holder : {Holder::Lane, Holder::Warp}) {
    for (int64_t basis : layout.bases(holder)) {
      isOfThread |= (basis & 1) != 0;
    }
  }
  for (int64_t reg = 0; reg < layout.count(Holder::Register); ++reg) {
    const int64_t part = layout.contribution(Holder::Register, reg);
    const size_t at = places.at(part >> 1);
    Value left = code.held(op.getLeft())[at], right = code.held(op.getRight())[at];
    if (isOfThread) {
      const bool isSwapped = (part & 1) != 0;
      held.push_back(code.builder.create<arith::SelectOp>(
          code.loc, isRight, isSwapped ? left : right, isSwapped ? right : left));
    } else {
      held.push_back((part & 1) != 0 ? right : left);
    }
  }
  code.hold(op, held);
}

void lowerSplit(ThreadCode &code, tile::SplitOp op) {
  const auto places = layoutOf(op.getSource())->registersByContribution();
  for (int64_t half : {0, 1}) {
    Value result = op->getResult(static_cast<unsigned>(half));
    if (!isTile(result)) {
      code.hold(result, code.held(op.getSource())[places.at(half)]);
      continue;
    }
    const LinearLayout layout = *layoutOf(result);
    ThreadCode::Held held;
    for (int64_t reg = 0; reg < layout.count(Holder::Register); ++reg) {
      held.push_back(code.held(
          op.getSource())[places.at((layout.contribution(Holder::Register, reg) << 1) | half)]);
    }
    code.hold(result, held);
  }
}

} // namespace nereid::nvidia
