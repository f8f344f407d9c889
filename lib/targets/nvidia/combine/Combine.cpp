// SPDX-License-Identifier: Apache-2.0
#include "lib/targets/nvidia/combine/Combine.h"

#include "llvm/ADT/bit.h"

using namespace mlir;

namespace nereid::nvidia {

using layout::Holder;
using layout::LinearLayout;

Group groupOf(ThreadCode &code, ValueRange sources, int64_t reg) {
  Group group;
  for (Value source : sources) {
    group.push_back(code.held(source)[static_cast<size_t>(reg)]);
  }
  return group;
}

Group combine(ThreadCode &code, Region &region, const Group &earlier, const Group &later) {
  Block &block = region.front();
  for (auto [i, argument] : llvm::enumerate(block.getArguments())) {
    code.hold(argument, i < earlier.size() ? earlier[i] : later[i - earlier.size()]);
  }
  (void)code.lowerBlock(block); // an error has been told and ends the lowering
  Group result;
  for (Value value : block.getTerminator()->getOperands()) {
    result.push_back(code.scalar(value));
  }
  return result;
}

Group choose(ThreadCode &code, Value condition, const Group &yes, const Group &no) {
  Group result;
  for (auto [left, right] : llvm::zip(yes, no)) {
    result.push_back(code.builder.create<arith::SelectOp>(code.loc, condition, left, right));
  }
  return result;
}

bool isCommutative(Region &region) {
  Block &block = region.front();
  ValueRange results = block.getTerminator()->getOperands();
  for (auto [i, result] : llvm::enumerate(results)) {
    Operation *op = result.getDefiningOp();
    const bool mayCommute =
        op && op->getNumOperands() == 2 &&
        (op->hasTrait<OpTrait::IsCommutative>() || isa<tile::MaxNumOp, tile::MinNumOp>(op));
    Value left = block.getArgument(static_cast<unsigned>(i));
    Value right = block.getArgument(static_cast<unsigned>(i + results.size()));
    if (!mayCommute || !llvm::is_contained(op->getOperands(), left) ||
        !llvm::is_contained(op->getOperands(), right)) {
      return false;
    }
  }
  return true;
}

int64_t bitsAlong(const LinearLayout &layout, Holder holder, int64_t along) {
  int64_t mask = 0;
  for (auto [bit, basis] : llvm::enumerate(layout.bases(holder))) {
    mask |= (basis & along) != 0 ? int64_t{1} << bit : 0;
  }
  return mask;
}

/// Calls `run(shift in the mask, shift side by side, mask of the run)` for each run of ones.
static void forRuns(int64_t mask, llvm::function_ref<void(int, int, int64_t)> run) {
  int place = 0;
  while (mask != 0) {
    const int shift = llvm::countr_zero(static_cast<uint64_t>(mask));
    const int length = llvm::countr_one(static_cast<uint64_t>(mask) >> shift);
    const int64_t ones = ((int64_t{1} << length) - 1) << shift;
    run(shift, place, ones);
    mask &= ~ones;
    place += length;
  }
}

Value gatherBits(ThreadCode &code, Value number, int64_t mask) {
  OpBuilder &b = code.builder;
  Value sum;
  forRuns(mask, [&](int shift, int place, int64_t ones) {
    Value part = b.create<arith::AndIOp>(code.loc, number, code.constant(ones));
    part = b.create<arith::ShRUIOp>(code.loc, part, code.constant(shift - place));
    sum = sum ? b.create<arith::OrIOp>(code.loc, sum, part).getResult() : part;
  });
  return sum ? sum : code.constant(0);
}

Value scatterBits(ThreadCode &code, Value number, int64_t mask) {
  OpBuilder &b = code.builder;
  Value sum;
  forRuns(mask, [&](int shift, int place, int64_t ones) {
    Value part = b.create<arith::ShLIOp>(code.loc, number, code.constant(shift - place));
    part = b.create<arith::AndIOp>(code.loc, part, code.constant(ones));
    sum = sum ? b.create<arith::OrIOp>(code.loc, sum, part).getResult() : part;
  });
  return sum ? sum : code.constant(0);
}

Value isEqual(ThreadCode &code, Value number, int64_t constant) {
  return code.builder.create<arith::CmpIOp>(code.loc, arith::CmpIPredicate::eq, number,
                                            code.constant(constant));
}

SharedGroups::SharedGroups(ThreadCode &code, const Group &example, int64_t lanes, int64_t parts)
    : code(code), lanes(lanes) {
  const int64_t count = parts * code.threads.warps << llvm::popcount(static_cast<uint64_t>(lanes));
  int64_t bytes = 0;
  for (Value value : example) {
    types.push_back(value.getType());
    begins.push_back(bytes);
    constexpr int64_t alignment = 8;
    bytes += llvm::alignTo(count * memoryBits(value.getType()) / 8, alignment);
  }
  const int64_t begin = code.beginStaging(bytes);
  range = {begin, begin + bytes};
  for (int64_t &one : begins) {
    one += begin;
  }
}

int64_t SharedGroups::bytesOfPart(const ThreadCode &code, const Group &example, int64_t lanes) {
  int64_t bytes = 0;
  for (Value value : example) {
    bytes += memoryBits(value.getType()) / 8;
  }
  return bytes * code.threads.warps << llvm::popcount(static_cast<uint64_t>(lanes));
}

Value SharedGroups::place(Value part, Value warp) const {
  OpBuilder &b = code.builder;
  const auto times = [&](Value number, int64_t factor) {
    return b.create<arith::MulIOp>(code.loc, number, code.constant(factor)).getResult();
  };
  const int64_t each = int64_t{1} << llvm::popcount(static_cast<uint64_t>(lanes));
  Value group = b.create<arith::AddIOp>(code.loc, times(part, code.threads.warps), warp);
  return b.create<arith::AddIOp>(code.loc, times(group, each),
                                 gatherBits(code, code.laneNumber(), lanes));
}

void SharedGroups::store(int64_t part, const Group &group) {
  Value at = place(code.constant(part), code.warpNumber());
  for (auto [value, begin] : llvm::zip(group, begins)) {
    code.storeInBlocks(value, at, begin);
  }
}

Group SharedGroups::load(Value part, Value warp) const {
  Value at = place(part, warp);
  const ThreadCode::Range before = code.usedShared();
  Group group;
  for (auto [type, begin] : llvm::zip(types, begins)) {
    group.push_back(code.loadInBlock(type, at, begin));
  }
  code.setUsedShared(ThreadCode::join(before, range));
  return group;
}

} // namespace nereid::nvidia
