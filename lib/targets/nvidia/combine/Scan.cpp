// SPDX-License-Identifier: Apache-2.0
// The order along the axis: a thread's neighbouring elements, lanes, warps, and then the same
// again for the elements beyond those that all warps hold once ("chunks"). Each thread walks along
// its own; totals of threads, then those of warps, are scanned by shuffles; what stands before a
// thread is combined with each of its elements.
#include "lib/targets/nvidia/combine/Combine.h"

#include "llvm/ADT/bit.h"

#include <map>

using namespace mlir;

namespace nereid::nvidia {

using layout::Holder;
using layout::LinearLayout;

namespace {

/// A group that some threads do not have; null: all have it.
struct Before {
  Group group;
  Value exists;
};

/// Registers with neighbouring elements of one row, in the scan's order.
struct Chunk {
  SmallVector<int64_t> registers;
  SmallVector<Group> running; ///< each with those before it in the chunk
  Group total;                ///< of the lane and all lanes before it
};

class Scan {
public:
  Scan(ThreadCode &code, tile::ScanOp op)
      : code(code), op(op), layout(*layoutOf(op.getSources().front())),
        along(layout::axisBits(layout.shape(), static_cast<size_t>(op.getAxis()))),
        isReverse(op.getReverse()), lanes(bitsAlong(layout, Holder::Lane, along)),
        warps(bitsAlong(layout, Holder::Warp, along)) {
    OpBuilder &b = code.builder;
    Value last = code.constant(lanes);
    lanePlace = b.create<arith::AndIOp>(code.loc, code.laneNumber(), last);
    warpPlace = gatherBits(code, code.warpNumber(), warps);
    if (isReverse) { // numbers from where the scan begins
      lanePlace = b.create<arith::XOrIOp>(code.loc, lanePlace, last);
      warpPlace = b.create<arith::XOrIOp>(code.loc, warpPlace, code.constant(warpCount() - 1));
    }
  }

  void run() {
    const std::vector<std::vector<Chunk>> rows = walk();
    SmallVector<SmallVector<Before>> before(rows.size());
    if (warps != 0) {
      beforeWarps(rows, before);
    }
    SmallVector<ThreadCode::Held> results(
        op.getNumResults(), ThreadCode::Held(code.held(op.getSources().front()).size()));
    for (auto [row, chunks] : llvm::enumerate(rows)) {
      std::optional<Group> carried; // all chunks before this one, where no warp has a part of them
      for (auto [number, chunk] : llvm::enumerate(chunks)) {
        std::optional<Before> outer;
        if (warps != 0) {
          outer = before[row][number];
        } else if (carried) {
          outer = Before{*carried, nullptr};
        }
        finish(chunk, outer, results);
        if (warps == 0 && number + 1 < chunks.size()) {
          Group total = fromLastLane(chunk.total);
          carried = carried ? combine(code, op.getCombine(), *carried, total) : total;
        }
      }
    }
    for (auto [result, held] : llvm::zip(op.getResults(), results)) {
      code.hold(result, held);
    }
  }

private:
  int64_t warpCount() const { return int64_t{1} << llvm::popcount(static_cast<uint64_t>(warps)); }
  int64_t firstLaneBit() const { return lanes & -lanes; }

  Value isAtLeast(Value number, int64_t bound) {
    return code.builder.create<arith::CmpIOp>(code.loc, arith::CmpIPredicate::uge, number,
                                              code.constant(bound));
  }

  /// The group of the lane so far before this one in the scan's order.
  Group fromLaneBefore(const Group &group, int64_t distance) {
    Group moved;
    for (Value value : group) {
      moved.push_back(isReverse ? code.shuffleDown(value, distance)
                                : code.shuffleUp(value, distance));
    }
    return moved;
  }

  Group fromLastLane(const Group &group) {
    if (lanes == 0) {
      return group;
    }
    OpBuilder &b = code.builder;
    Value rest = b.create<arith::AndIOp>(code.loc, code.laneNumber(),
                                         code.constant(~lanes & (Threads::lanes - 1)));
    Value last =
        isReverse ? rest : b.create<arith::OrIOp>(code.loc, rest, code.constant(lanes)).getResult();
    return fromLane(group, last);
  }

  Group fromLane(const Group &group, Value lane) {
    Group moved;
    for (Value value : group) {
      moved.push_back(code.shuffleFrom(value, lane));
    }
    return moved;
  }

  /// Totals of lanes, `step` apart in their numbers, with all before them.
  Group scanned(Group total, Value place, int64_t step, int64_t count) {
    for (int64_t distance = 1; distance < count; distance <<= 1) {
      Group earlier = fromLaneBefore(total, distance * step);
      total = choose(code, isAtLeast(place, distance * step),
                     combine(code, op.getCombine(), earlier, total), total);
    }
    return total;
  }

  /// By row, chunks in the scan's order.
  std::vector<std::vector<Chunk>> walk() {
    int64_t beyond = 0; // bits of the axis above those of the threads
    const int64_t ofThreads =
        layout.contribution(Holder::Lane, lanes) | layout.contribution(Holder::Warp, warps);
    for (int64_t basis : layout.bases(Holder::Register)) {
      beyond |=
          (ofThreads & along) != 0 && (basis & along) > (ofThreads & along) ? basis & along : 0;
    }
    std::map<int64_t, std::map<int64_t, std::map<int64_t, int64_t>>> order; // row, chunk, place
    for (int64_t reg = 0; reg < layout.count(Holder::Register); ++reg) {
      const int64_t element = layout.contribution(Holder::Register, reg);
      const int64_t place = isReverse ? ~element & along : element & along;
      order[element & ~along][place & beyond][place] = reg;
    }
    std::vector<std::vector<Chunk>> rows;
    for (const auto &[row, chunks] : order) {
      rows.emplace_back();
      for (const auto &[number, places] : chunks) {
        Chunk chunk;
        for (const auto &[place, reg] : places) {
          Group one = groupOf(code, op.getSources(), reg);
          chunk.running.push_back(chunk.running.empty()
                                      ? one
                                      : combine(code, op.getCombine(), chunk.running.back(), one));
          chunk.registers.push_back(reg);
        }
        chunk.total = scanned(chunk.running.back(), lanePlace, lanes == 0 ? 1 : firstLaneBit(),
                              int64_t{1} << llvm::popcount(static_cast<uint64_t>(lanes)));
        rows.back().push_back(std::move(chunk));
      }
    }
    return rows;
  }

  /// What stands before this warp in each chunk of each row.
  void beforeWarps(const std::vector<std::vector<Chunk>> &rows,
                   MutableArrayRef<SmallVector<Before>> before) {
    constexpr int64_t mostBytes = 16384;
    const int64_t kept = (Threads::lanes - 1) & ~lanes; // lanes with rows of their own
    const Group &example = rows.front().front().total;
    const auto chunks = static_cast<int64_t>(rows.front().size());
    const int64_t ofRow = chunks * SharedGroups::bytesOfPart(code, example, kept);
    const size_t most = static_cast<size_t>(std::max<int64_t>(1, mostBytes / ofRow));
    for (size_t begin = 0; begin < rows.size(); begin += most) {
      const size_t end = std::min(begin + most, rows.size());
      SharedGroups shared(code, example, kept, static_cast<int64_t>(end - begin) * chunks);
      {
        OpBuilder::InsertionGuard guard(code.builder);
        if (lanes != 0) {
          auto branch = code.builder.create<scf::IfOp>(code.loc, isEqual(code, lanePlace, lanes),
                                                       /*withElseRegion=*/false);
          code.builder.setInsertionPointToStart(&branch.getThenRegion().front());
        }
        int64_t part = 0;
        for (size_t row = begin; row < end; ++row) {
          for (const Chunk &chunk : rows[row]) {
            shared.store(part++, chunk.total);
          }
        }
      }
      code.barrier();
      for (size_t row = begin; row < end; ++row) {
        const int64_t first = static_cast<int64_t>(row - begin) * chunks;
        before[row] = kept == 0 ? scannedByLanes(shared, first, chunks)
                                : scannedInTurn(shared, first, chunks);
      }
    }
  }

  /// The number of the warp that comes at `place` in the scan's order.
  Value warpAt(Value place) {
    OpBuilder &b = code.builder;
    if (isReverse) {
      place = b.create<arith::XOrIOp>(code.loc, place, code.constant(warpCount() - 1));
    }
    Value others = b.create<arith::AndIOp>(code.loc, code.warpNumber(), code.constant(~warps));
    return b.create<arith::OrIOp>(code.loc, others, scatterBits(code, place, warps));
  }

  /// Each lane takes the total of one warp in one chunk; their order is that of the scan.
  SmallVector<Before> scannedByLanes(const SharedGroups &shared, int64_t first, int64_t chunks) {
    OpBuilder &b = code.builder;
    const int64_t count = warpCount(), all = chunks * count;
    // In reverse, lanes shuffle downwards: the first total belongs to the last lane.
    Value number = code.laneNumber();
    if (isReverse) {
      number = b.create<arith::XOrIOp>(code.loc, number, code.constant(Threads::lanes - 1));
    }
    SmallVector<Group> rounds; // of 32 totals each, with all before them
    for (int64_t begin = 0; begin < all; begin += Threads::lanes) {
      const int64_t size = std::min(all - begin, Threads::lanes);
      Value own = b.create<arith::AndIOp>(code.loc, number, code.constant(size - 1));
      Value index = code.add(own, begin);
      Value chunk = b.create<arith::DivUIOp>(code.loc, index, code.constant(count));
      Value warp = b.create<arith::AndIOp>(code.loc, index, code.constant(count - 1));
      Group total = shared.load(code.add(chunk, first), warpAt(warp));
      total = scanned(total, own, 1, size);
      if (!rounds.empty()) {
        Group earlier = fromLane(rounds.back(), laneOf(Threads::lanes - 1));
        total = combine(code, op.getCombine(), earlier, total);
      }
      rounds.push_back(total);
    }
    SmallVector<Before> result;
    for (int64_t chunk = 0; chunk < chunks; ++chunk) {
      // That of the warp before, or the last one of the chunk before.
      const int64_t base = chunk * count - 1;
      if (chunk > 0 && (base + 1) % Threads::lanes == 0) {
        // The place before the first warp lies in the round before.
        Group inRound = fromLane(rounds[static_cast<size_t>(chunk * count / Threads::lanes)],
                                 laneOf(code.add(warpPlace, Threads::lanes - 1)));
        Group ofFormer = fromLane(rounds[static_cast<size_t>(base / Threads::lanes)],
                                  laneOf(Threads::lanes - 1));
        result.push_back({choose(code, isEqual(code, warpPlace, 0), ofFormer, inRound), nullptr});
        continue;
      }
      const int64_t round = std::max<int64_t>(base, 0) / Threads::lanes;
      Value at = code.add(warpPlace, base - round * Threads::lanes);
      result.push_back({fromLane(rounds[static_cast<size_t>(round)], laneOf(at)),
                        chunk == 0 ? isAtLeast(warpPlace, 1) : Value()});
    }
    return result;
  }

  /// The lane that holds a total of a round, which has its number modulo 32.
  Value laneOf(Value number) {
    OpBuilder &b = code.builder;
    number = b.create<arith::AndIOp>(code.loc, number, code.constant(Threads::lanes - 1));
    return isReverse ? b.create<arith::XOrIOp>(code.loc, number, code.constant(Threads::lanes - 1))
                           .getResult()
                     : number;
  }
  Value laneOf(int64_t number) { return laneOf(code.constant(number)); }

  /// Each thread reads the totals of all warps of its row.
  SmallVector<Before> scannedInTurn(const SharedGroups &shared, int64_t first, int64_t chunks) {
    SmallVector<Before> result;
    std::optional<Group> sum;
    for (int64_t chunk = 0; chunk < chunks; ++chunk) {
      std::optional<Group> mine;
      Value exists = chunk == 0 ? isAtLeast(warpPlace, 1) : Value();
      for (int64_t warp = 0; warp < warpCount(); ++warp) {
        if (sum) {
          mine = mine ? choose(code, isEqual(code, warpPlace, warp), *sum, *mine) : *sum;
        }
        Group total = shared.load(code.constant(first + chunk), warpAt(code.constant(warp)));
        sum = sum ? combine(code, op.getCombine(), *sum, total) : total;
      }
      result.push_back({*mine, exists});
    }
    return result;
  }

  void finish(const Chunk &chunk, std::optional<Before> outer,
              MutableArrayRef<ThreadCode::Held> results) {
    OpBuilder &b = code.builder;
    Region &region = op.getCombine();
    std::optional<Before> before = outer;
    if (lanes != 0) {
      Before inner{fromLaneBefore(chunk.total, firstLaneBit()),
                   isAtLeast(lanePlace, firstLaneBit())};
      before = inner;
      if (outer) {
        Group both = combine(code, region, outer->group, inner.group);
        Group some = outer->exists ? choose(code, outer->exists, both, inner.group) : both;
        Value exists =
            outer->exists
                ? b.create<arith::OrIOp>(code.loc, outer->exists, inner.exists).getResult()
                : Value();
        before = Before{choose(code, inner.exists, some, outer->group), exists};
      }
    }
    for (auto [reg, own] : llvm::zip(chunk.registers, chunk.running)) {
      Group value = own;
      if (before) {
        value = combine(code, region, before->group, own);
        value = before->exists ? choose(code, before->exists, value, own) : value;
      }
      for (auto [held, one] : llvm::zip(results, value)) {
        held[static_cast<size_t>(reg)] = one;
      }
    }
  }

  ThreadCode &code;
  tile::ScanOp op;
  const LinearLayout layout;
  const int64_t along;
  const bool isReverse;
  const int64_t lanes, warps; ///< bits of their numbers along the axis
  Value lanePlace, warpPlace;
};

} // namespace

void lowerScan(ThreadCode &code, tile::ScanOp op) { Scan(code, op).run(); }

} // namespace nereid::nvidia
