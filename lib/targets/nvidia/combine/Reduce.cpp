// SPDX-License-Identifier: Apache-2.0
// A tree over the bits of registers, lanes and warps. Where the order of two groups makes no
// difference, both lanes of a shuffle get the same bits; else only the first lane has them in the
// order, and hands the result to the others at the end.
#include "lib/targets/nvidia/combine/Combine.h"

#include "llvm/ADT/bit.h"

#include <map>

using namespace mlir;

namespace nereid::nvidia {

using layout::Holder;
using layout::LinearLayout;

namespace {

/// By registers of the result: what the thread holds along the axis, in order.
using Parts = std::map<int64_t, Group>;

class Reduction {
public:
  Reduction(ThreadCode &code, tile::ReduceOp op, const LinearLayout &layout, int64_t along)
      : code(code), op(op), layout(layout), along(along),
        isSymmetric(isCommutative(op.getCombine())), lanes(bitsAlong(layout, Holder::Lane, along)),
        warps(bitsAlong(layout, Holder::Warp, along)) {}

  Parts run() {
    Parts parts = combineRegisters();
    for (auto &[rest, mine] : parts) {
      combineLanes(mine, lanes);
    }
    if (warps != 0) {
      combineWarps(parts);
    } else {
      for (auto &[rest, mine] : parts) {
        mine = fromFirstLane(mine, lanes);
      }
    }
    return parts;
  }

private:
  Parts combineRegisters() {
    std::map<int64_t, std::map<int64_t, int64_t>> order; // register by rest, by place on the axis
    for (int64_t reg = 0; reg < layout.count(Holder::Register); ++reg) {
      const int64_t element = layout.contribution(Holder::Register, reg);
      order[element & ~along].try_emplace(element & along, reg);
    }
    Parts parts;
    for (const auto &[rest, registers] : order) {
      std::optional<Group> sum;
      for (const auto &[place, reg] : registers) {
        Group one = groupOf(code, op.getSources(), reg);
        sum = sum ? combine(code, op.getCombine(), *sum, one) : one;
      }
      parts[rest] = *sum;
    }
    return parts;
  }

  /// Over the lanes that differ in the bits of `mask`; the first of them has the result in order.
  void combineLanes(Group &mine, int64_t mask) {
    for (int64_t bit = 1; bit <= mask; bit <<= 1) {
      if ((mask & bit) == 0) {
        continue;
      }
      Group other;
      for (Value value : mine) {
        other.push_back(code.shuffleXor(value, bit));
      }
      mine = combine(code, op.getCombine(), mine, other);
    }
  }

  Group fromFirstLane(const Group &group, int64_t mask) {
    if (isSymmetric || mask == 0) {
      return group;
    }
    Value first = code.builder.create<arith::AndIOp>(code.loc, code.laneNumber(),
                                                     code.constant(~mask & (Threads::lanes - 1)));
    Group result;
    for (Value value : group) {
      result.push_back(code.shuffleFrom(value, first));
    }
    return result;
  }

  /// Each warp writes its shares, and all warps read those of all: each lane some of them, which
  /// shuffles combine.
  void combineWarps(Parts &parts) {
    constexpr int64_t mostBytes = 16384;
    const int64_t kept = (Threads::lanes - 1) & ~lanes; // lanes with shares of their own
    const Group &example = parts.begin()->second;
    const int64_t most =
        std::max<int64_t>(1, mostBytes / SharedGroups::bytesOfPart(code, example, kept));
    for (auto begin = parts.begin(); begin != parts.end();) {
      auto end = begin;
      int64_t count = 0;
      for (; end != parts.end() && count < most; ++end) {
        ++count;
      }
      combineWarps(begin, end, count, kept);
      begin = end;
    }
  }

  void combineWarps(Parts::iterator begin, Parts::iterator end, int64_t count, int64_t kept) {
    SharedGroups shared(code, begin->second, kept, count);
    {
      OpBuilder::InsertionGuard guard(code.builder);
      if (lanes != 0) {
        Value own =
            code.builder.create<arith::AndIOp>(code.loc, code.laneNumber(), code.constant(lanes));
        auto branch = code.builder.create<scf::IfOp>(code.loc, isEqual(code, own, 0),
                                                     /*withElseRegion=*/false);
        code.builder.setInsertionPointToStart(&branch.getThenRegion().front());
      }
      int64_t part = 0;
      for (auto one = begin; one != end; ++one) {
        shared.store(part++, one->second);
      }
    }
    code.barrier();
    int64_t part = 0;
    for (auto one = begin; one != end; ++one) {
      one->second = sharesOfWarps(shared, part++);
    }
  }

  Group sharesOfWarps(const SharedGroups &shared, int64_t part) {
    OpBuilder &b = code.builder;
    const int warpBits = llvm::popcount(static_cast<uint64_t>(warps));
    // The lanes' numbers are the upper bits of the shares', so that each lane's are neighbours.
    int64_t reading = 0;
    int readingBits = 0;
    for (int64_t bit = 1; bit <= lanes && readingBits < warpBits; bit <<= 1) {
      if ((lanes & bit) != 0) {
        reading |= bit;
        ++readingBits;
      }
    }
    const int64_t each = int64_t{1} << (warpBits - readingBits);
    Value others = b.create<arith::AndIOp>(code.loc, code.warpNumber(), code.constant(~warps));
    Value upper = gatherBits(code, code.laneNumber(), reading);
    upper = b.create<arith::MulIOp>(code.loc, upper, code.constant(each));
    std::optional<Group> sum;
    for (int64_t number = 0; number < each; ++number) {
      Value warp = scatterBits(code, code.add(upper, number), warps);
      warp = b.create<arith::OrIOp>(code.loc, others, warp);
      Group share = shared.load(code.constant(part), warp);
      sum = sum ? combine(code, op.getCombine(), *sum, share) : share;
    }
    combineLanes(*sum, reading);
    return fromFirstLane(*sum, reading);
  }

  ThreadCode &code;
  tile::ReduceOp op;
  const LinearLayout &layout;
  int64_t along;
  bool isSymmetric;
  int64_t lanes, warps; ///< bits of their numbers along the axis
};

} // namespace

void lowerReduce(ThreadCode &code, tile::ReduceOp op) {
  const LinearLayout layout = *layoutOf(op.getSources().front());
  const auto axis = static_cast<unsigned>(op.getAxis());
  const Parts parts = Reduction(code, op, layout, layout::axisBits(layout.shape(), axis)).run();
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

} // namespace nereid::nvidia
