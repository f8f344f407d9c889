// SPDX-License-Identifier: Apache-2.0
// Products by multiplications and additions on vectors of shared memory, see
// layouts/LaneProducts.h: a loop over k whose turns are written out as far as registers and the
// cache of instructions have room.
#include "lib/targets/nvidia/layouts/LaneProducts.h"
#include "lib/targets/nvidia/products/MatrixReader.h"
#include "lib/targets/nvidia/products/Products.h"

#include <algorithm>
#include <map>

using namespace mlir;

namespace nereid::nvidia {

using layout::Holder;
using layout::LinearLayout;

namespace {

constexpr int64_t bytesOfNumber = 4, bytesOfVector = 16;

/// An operand in shared memory: in a slot, or where this product puts it.
class Factor {
public:
  Factor(ThreadCode &code, tile::DotOp dot, unsigned operand)
      : code(code), tile(dot->getOperand(operand)), fastest(fastestOfFactor(dot, operand)),
        ofK(operand == 0 ? 1 : 0), shape(shapeOf(tile)), placed(shape, bytesOfNumber, fastest) {
    // Of an element of the result, what its row or its column is here.
    const LinearLayout result = *layoutOf(dot);
    const int64_t columns = result.shape()[1];
    auto own = [&](int64_t element) {
      return operand == 0 ? element / columns * shape[1] : element % columns;
    };
    auto mapped = [&](Holder holder) {
      LinearLayout::Bases bases = result.bases(holder);
      std::transform(bases.begin(), bases.end(), bases.begin(), own);
      return bases;
    };
    for (int64_t reg = 0; reg < result.count(Holder::Register); ++reg) {
      elements.push_back(own(result.contribution(Holder::Register, reg)));
    }
    const LinearLayout::Bases registers = mapped(Holder::Register);
    places = placed.placesOf({shape, {}, mapped(Holder::Lane), mapped(Holder::Warp)});
    for (Holder holder : {Holder::Lane, Holder::Warp}) {
      for (int64_t basis : places.bases(holder)) {
        threadBits |= basis;
      }
    }
    const auto &others = registers;
    while (count < bytesOfVector / bytesOfNumber &&
           (isAlongK() || llvm::is_contained(others, count * unit()))) {
      count *= 2;
    }
  }

  bool isInSlot() { return bool(read()); }
  int64_t bytes() const { return placed.bytes(); }

  /// Writes it to the byte of what threads stage. Barriers are the caller's.
  void stageAt(int64_t begin) {
    base = code.sharedAddress(code.constant(begin));
    storeSwizzled(code, tile, placed, base, std::min(neighbours(), count4));
  }

  /// In front of the loop; its turns begin at multiples of `step` of k.
  void begin(int64_t step) {
    if (ReadCopyOp slot = read()) {
      base = slotAddress(code, slot.getSlot(), slot.getPlace(), placed);
    }
    ofThread = code.threadPart(places);
    if (isAlongK()) { // bits that a turn changes by exclusive or, as the swizzle does
      threadBits |= (placed.rowBytes() - 1) & ~(step * bytesOfNumber - 1);
    }
  }

  /// In a turn at `first` of k; null: the only one.
  void turn(Value first) {
    OpBuilder &b = code.builder;
    made.clear();
    loaded.clear();
    start = base;
    changed = ofThread;
    if (!first) {
      return;
    }
    if (!isAlongK()) { // the swizzle is the same again
      start = b.create<arith::AddIOp>(
          code.loc, base,
          b.create<arith::MulIOp>(code.loc, first, code.constant(placed.rowBytes())));
      return;
    }
    const int64_t inRow = placed.rowBytes() / bytesOfNumber;
    Value within = b.create<arith::AndIOp>(code.loc, first, code.constant(inRow - 1));
    changed = b.create<arith::XOrIOp>(
        code.loc, ofThread,
        b.create<arith::MulIOp>(code.loc, within, code.constant(bytesOfNumber)));
    if (inRow < shape[static_cast<size_t>(fastest)]) { // panels one behind the other
      const int64_t rows = shape[static_cast<size_t>(1 - fastest)];
      Value panel = b.create<arith::SubIOp>(code.loc, first, within);
      start = b.create<arith::AddIOp>(
          code.loc, base,
          b.create<arith::MulIOp>(code.loc, panel, code.constant(rows * bytesOfNumber)));
    }
  }

  /// What the register's element of the result multiplies at `k` of the turn.
  Value at(size_t reg, int64_t k) {
    const int64_t element = elements[reg] + k * (ofK == 1 ? 1 : shape[1]);
    const int64_t of = element & ~((count - 1) * unit());
    auto &vector = loaded[of];
    if (vector.empty()) {
      const auto [address, offset] = place(of);
      for (Value word : code.loadWords(address, offset, count)) {
        vector.push_back(code.fromBits(word, code.builder.getF32Type()));
      }
    }
    return vector[static_cast<size_t>((element - of) / unit())];
  }

private:
  ReadCopyOp read() { return tile.getDefiningOp<ReadCopyOp>(); }
  bool isAlongK() const { return fastest == ofK; }
  /// The step of the fastest dimension in an element's number.
  int64_t unit() const { return fastest == 1 ? 1 : shape[1]; }
  int64_t neighbours() const { return neighboursAlong(*layoutOf(tile), fastest); }

  std::pair<Value, int64_t> place(int64_t element) {
    OpBuilder &b = code.builder;
    const int64_t part = placed.placeOf(element), mixed = part & threadBits;
    Value &address = made[mixed];
    if (!address) {
      address = mixed == 0
                    ? changed
                    : b.create<arith::XOrIOp>(code.loc, changed, code.constant(mixed)).getResult();
      address = b.create<arith::AddIOp>(code.loc, address, start);
    }
    return {address, part & ~threadBits};
  }

  static constexpr int64_t count4 = bytesOfVector / bytesOfNumber;
  ThreadCode &code;
  Value tile;
  int64_t fastest, ofK;
  LinearLayout::Shape shape;
  SharedTile placed;
  LinearLayout places;           ///< of the thread's part
  SmallVector<int64_t> elements; ///< by the result's register
  int64_t threadBits = 0;        ///< of a place, that differ between threads or turns
  int64_t count = 1;             ///< numbers that are loaded at a time
  Value base, ofThread, start, changed;
  std::map<int64_t, Value> made;
  std::map<int64_t, SmallVector<Value, 4>> loaded;
};

/// Steps of k that are written out: as many multiplications as are worth a turn of the loop.
int64_t stepOf(int64_t k, int64_t sums) {
  constexpr int64_t multiplications = 512, least = 8; // after which a swizzle repeats itself
  return std::min(k, std::max(least, multiplications / sums));
}

void stageFactors(ThreadCode &code, ArrayRef<Factor *> factors) {
  int64_t end = 0;
  for (Factor *factor : factors) {
    end += factor->isInSlot() ? 0 : factor->bytes();
  }
  if (end == 0) {
    return;
  }
  code.reserveShared(end);
  code.barrier(); // what was staged before has been read
  int64_t begin = 0;
  for (Factor *factor : factors) {
    if (!factor->isInSlot()) {
      factor->stageAt(begin);
      begin += factor->bytes();
    }
  }
  code.barrier();
}

} // namespace

void lowerLaneProduct(ThreadCode &code, tile::DotOp op) {
  OpBuilder &b = code.builder;
  Factor left(code, op, 0), right(code, op, 1);
  stageFactors(code, {&left, &right});
  ThreadCode::Held sums = code.held(op.getC());
  const int64_t k = shapeOf(op.getA())[1];
  const int64_t step = stepOf(k, static_cast<int64_t>(sums.size()));
  left.begin(step);
  right.begin(step);
  auto turn = [&](Value first, ThreadCode::Held &list) {
    left.turn(first);
    right.turn(first);
    for (int64_t i = 0; i < step; ++i) {
      for (auto [reg, sum] : llvm::enumerate(list)) {
        sum = b.create<math::FmaOp>(code.loc, left.at(reg, i), right.at(reg, i), sum);
      }
    }
  };
  if (step == k) {
    turn({}, sums);
  } else {
    auto loop = b.create<scf::ForOp>(code.loc, code.constant(0), code.constant(k),
                                     code.constant(step), sums);
    OpBuilder::InsertionGuard guard(b);
    b.setInsertionPointToStart(loop.getBody());
    ThreadCode::Held next(loop.getRegionIterArgs());
    turn(loop.getInductionVar(), next);
    b.create<scf::YieldOp>(code.loc, next);
    sums.assign(loop.getResults().begin(), loop.getResults().end());
  }
  code.hold(op, sums);
}

} // namespace nereid::nvidia
