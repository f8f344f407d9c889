// SPDX-License-Identifier: Apache-2.0
// Reductions and scans: within a thread, then across the lanes of a warp by shuffles, then across
// warps through shared memory.
#include "lib/targets/nvidia/threads/Lowering.h"

#include "mlir/IR/IRMapping.h"

#include <map>

using namespace mlir;

namespace nereid::nvidia {

using layout::Holder;
using layout::LinearLayout;

namespace {

/// One value of each source.
using Group = SmallVector<Value, 2>;

/// The region's result for an earlier group and a later one.
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

Value hasBit(ThreadCode &code, Value number, int64_t mask) {
  Value bit = code.builder.create<arith::AndIOp>(code.loc, number, code.constant(mask));
  return code.builder.create<arith::CmpIOp>(code.loc, arith::CmpIPredicate::ne, bit,
                                            code.constant(0));
}

/// With the lane whose number differs in one bit, in the same order on both sides, so that both
/// get the same bits.
Group combineLanes(ThreadCode &code, Region &region, const Group &mine, int64_t mask) {
  Group other;
  for (Value value : mine) {
    other.push_back(code.shuffleXor(value, mask));
  }
  Value isLater = hasBit(code, code.laneNumber(), mask);
  return combine(code, region, choose(code, isLater, other, mine),
                 choose(code, isLater, mine, other));
}

/// By registers of the result: what the thread holds along the axis, in order.
using Parts = std::map<int64_t, Group>;

Parts combineRegisters(ThreadCode &code, tile::ReduceOp op, const LinearLayout &layout,
                       int64_t along) {
  std::map<int64_t, std::map<int64_t, int64_t>> order; // register by rest and by place on the axis
  for (int64_t reg = 0; reg < layout.count(Holder::Register); ++reg) {
    const int64_t element = layout.contribution(Holder::Register, reg);
    order[element & ~along].try_emplace(element & along, reg);
  }
  Parts parts;
  for (const auto &[rest, registers] : order) {
    std::optional<Group> sum;
    for (const auto &[place, reg] : registers) {
      Group one;
      for (Value source : op.getSources()) {
        one.push_back(code.held(source)[static_cast<size_t>(reg)]);
      }
      sum = sum ? combine(code, op.getCombine(), *sum, one) : one;
    }
    parts[rest] = *sum;
  }
  return parts;
}

/// Across warps: each writes its share, all read the shares of all.
void combineWarps(ThreadCode &code, tile::ReduceOp op, const LinearLayout &layout, int64_t along,
                  Parts &parts) {
  const LinearLayout::Bases &warps = layout.bases(Holder::Warp);
  SmallVector<int64_t> masks;
  for (size_t bit = 0; bit < warps.size(); ++bit) {
    if ((warps[bit] & along) != 0) {
      masks.push_back(int64_t{1} << bit);
    }
  }
  if (masks.empty()) {
    return;
  }
  OpBuilder &b = code.builder;
  int64_t all = 0;
  for (int64_t mask : masks) {
    all |= mask;
  }
  const int64_t threads = layout.count(Holder::Lane) * layout.count(Holder::Warp);
  Value own = b.create<arith::OrIOp>(
      code.loc,
      b.create<arith::MulIOp>(code.loc, code.warpNumber(), code.constant(Threads::lanes))
          .getResult(),
      code.laneNumber());
  for (auto &[rest, mine] : parts) {
    SmallVector<Group> shares(size_t{1} << masks.size());
    for (size_t i = 0; i < mine.size(); ++i) {
      const Type type = mine[i].getType();
      code.reserveShared(threads * memoryBits(type) / 8);
      code.barrier();
      code.storeShared(mine[i], own);
      code.barrier();
      for (size_t number = 0; number < shares.size(); ++number) {
        int64_t warp = 0;
        for (size_t bit = 0; bit < masks.size(); ++bit) {
          warp |= (number >> bit & 1) != 0 ? masks[bit] : 0;
        }
        Value others = b.create<arith::AndIOp>(code.loc, code.warpNumber(), code.constant(~all));
        Value at = b.create<arith::OrIOp>(code.loc, others, code.constant(warp));
        at = b.create<arith::OrIOp>(
            code.loc,
            b.create<arith::MulIOp>(code.loc, at, code.constant(Threads::lanes)).getResult(),
            code.laneNumber());
        shares[number].push_back(code.loadShared(type, at));
      }
    }
    Group sum = shares.front();
    for (size_t number = 1; number < shares.size(); ++number) {
      sum = combine(code, op.getCombine(), sum, shares[number]);
    }
    mine = sum;
  }
}

} // namespace

void lowerReduce(ThreadCode &code, tile::ReduceOp op) {
  Value first = op.getSources().front();
  const LinearLayout layout = *layoutOf(first);
  const auto axis = static_cast<unsigned>(op.getAxis());
  const int64_t along = layout::axisBits(layout.shape(), axis);
  Parts parts = combineRegisters(code, op, layout, along);
  const LinearLayout::Bases &lanes = layout.bases(Holder::Lane);
  for (auto &[rest, mine] : parts) {
    for (size_t bit = 0; bit < lanes.size(); ++bit) {
      if ((lanes[bit] & along) != 0) {
        mine = combineLanes(code, op.getCombine(), mine, int64_t{1} << bit);
      }
    }
  }
  combineWarps(code, op, layout, along, parts);
  for (auto [i, result] : llvm::enumerate(op.getResults())) {
    if (!isTile(result)) {
      code.hold(result, parts.begin()->second[i]);
      continue;
    }
    // A register of the result by the rest of the element's number, without the axis.
    const LinearLayout reduced = *layoutOf(result);
    std::map<int64_t, Value> byElement;
    for (const auto &[rest, group] : parts) {
      const LinearLayout one(layout.shape(), {rest}, {}, {});
      const auto bases = one.withoutAxis(axis).bases(Holder::Register);
      byElement[bases.empty() ? 0 : bases.front()] = group[i];
    }
    ThreadCode::Held held;
    for (int64_t reg = 0; reg < reduced.count(Holder::Register); ++reg) {
      held.push_back(byElement.at(reduced.contribution(Holder::Register, reg)));
    }
    code.hold(result, held);
  }
}

void lowerScan(ThreadCode &code, tile::ScanOp op) {
  OpBuilder &b = code.builder;
  const LinearLayout layout = *layoutOf(op.getSources().front());
  const auto axis = static_cast<size_t>(op.getAxis());
  const int64_t along = layout::axisBits(layout.shape(), axis);
  const bool isReverse = op.getReverse();
  Region &region = op.getCombine();
  std::map<int64_t, SmallVector<size_t>> rows; // registers along the axis, in the scan's order
  for (int64_t reg = 0; reg < layout.count(Holder::Register); ++reg) {
    rows[layout.contribution(Holder::Register, reg) & ~along].push_back(static_cast<size_t>(reg));
  }
  SmallVector<ThreadCode::Held> results(op.getNumResults(),
                                        ThreadCode::Held(code.held(op.getSources()[0]).size()));
  int64_t laneBits = 0;
  for (size_t bit = 0; bit < layout.bases(Holder::Lane).size(); ++bit) {
    laneBits |= (layout.bases(Holder::Lane)[bit] & along) != 0 ? int64_t{1} << bit : 0;
  }
  Value place = b.create<arith::AndIOp>(code.loc, code.laneNumber(), code.constant(laneBits));
  for (auto &[rest, registers] : rows) {
    llvm::sort(registers, [&](size_t left, size_t right) {
      const bool isLess = layout.contribution(Holder::Register, static_cast<int64_t>(left)) <
                          layout.contribution(Holder::Register, static_cast<int64_t>(right));
      return isLess != isReverse;
    });
    SmallVector<Group> running;
    for (size_t reg : registers) {
      Group one;
      for (Value source : op.getSources()) {
        one.push_back(code.held(source)[reg]);
      }
      running.push_back(running.empty() ? one : combine(code, region, running.back(), one));
    }
    // Sums of whole lanes, each with all before it; then what stands before this lane.
    Group total = running.back();
    auto neighbour = [&](const Group &group, int64_t distance) {
      Group moved;
      for (Value value : group) {
        // Towards the scan's beginning: lower lanes, or higher ones in reverse.
        moved.push_back(isReverse ? code.shuffleDown(value, distance)
                                  : code.shuffleUp(value, distance));
      }
      return moved;
    };
    auto hasNeighbour = [&](int64_t distance) -> Value {
      return isReverse ? b.create<arith::CmpIOp>(code.loc, arith::CmpIPredicate::ule, place,
                                                 code.constant(laneBits - distance))
                             .getResult()
                       : b.create<arith::CmpIOp>(code.loc, arith::CmpIPredicate::uge, place,
                                                 code.constant(distance))
                             .getResult();
    };
    for (int64_t distance = 1; distance <= laneBits; distance <<= 1) {
      Group before = neighbour(total, distance);
      total = choose(code, hasNeighbour(distance), combine(code, region, before, total), total);
    }
    std::optional<Group> before;
    if (laneBits != 0) {
      before = neighbour(total, 1);
    }
    for (size_t i = 0; i < registers.size(); ++i) {
      Group value = running[i];
      if (before) {
        value = choose(code, hasNeighbour(1), combine(code, region, *before, value), value);
      }
      for (size_t source = 0; source < value.size(); ++source) {
        results[source][registers[i]] = value[source];
      }
    }
  }
  for (auto [result, held] : llvm::zip(op.getResults(), results)) {
    code.hold(result, held);
  }
}

} // namespace nereid::nvidia
