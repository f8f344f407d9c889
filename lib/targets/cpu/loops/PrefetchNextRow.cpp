// SPDX-License-Identifier: Apache-2.0
// cpu-prefetch-next-row: read the next row while this one is computed and written.
//
// Why: a program that walks several rows reads one in a first loop, computes in a second and writes
// in a third; while it computes or writes, no reads run ahead. Hardware prefetchers see only the
// first loop.
// Requires: loops as LoopNest writes them, with their attributes (Attributes.h).
// Guarantees: only prefetches are added, which cannot fault.
// Example, softmax:
//   for row: { for i < n: max(load x[row][i]) ; for i: exp(…) ; for i: store(…) }
//   for row: { for i < n: max(load x[row][i]) ; for i: { prefetch x[row+1][i/4] ; exp(…) }
//              for i: { prefetch x[row+1][(n+3i)/4] ; store(…) } }
// Where rows are short, the pass prefetches a later row than the next one, so far ahead that memory
// has the time to bring it. Where rows are longer and only read, the prefetches have a lead over
// the loop that reads the row right after them.
#include "lib/targets/cpu/loops/Passes.h"

#include "lib/targets/cpu/Attributes.h"
#include "lib/targets/cpu/MachineSizes.h"
#include "lib/targets/cpu/Prefetch.h"

#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "mlir/Dialect/LLVMIR/LLVMDialect.h"
#include "mlir/Dialect/SCF/IR/SCF.h"
#include "mlir/IR/IRMapping.h"
#include "llvm/ADT/SetVector.h"
#include "llvm/Support/MathExtras.h"

using namespace mlir;

namespace nereid::cpu {

namespace {

constexpr size_t mostHosts = 2;

/// A row's base address inside the row loop and which of the lane loops reads it first.
struct Stream {
  Value base;
  size_t reader = 0;
  Type element;
  int64_t elementBytes = 0;
  int64_t rowBytes = 0; ///< of short rows; else 0
};

std::optional<int64_t> constantStep(scf::ForOp loop) {
  IntegerAttr step;
  return matchPattern(loop.getStep(), m_Constant(&step)) ? std::optional(step.getInt())
                                                         : std::nullopt;
}

/// The operations of the row loop's body, and of the loop over blocks in it, that `value` is
/// computed by, in order; false when one of them is not a plain scalar computation or the value
/// does not depend on the row.
bool sliceOf(Value value, scf::ForOp rows, scf::ForOp blocks, SetVector<Operation *> &slice,
             bool &dependsOnRow) {
  if (blocks && value == blocks.getInductionVar()) {
    return true;
  }
  if (value == rows.getInductionVar()) {
    dependsOnRow = true;
    return true;
  }
  Operation *op = value.getDefiningOp();
  bool isOutside = op == nullptr ? !rows.getRegion().isAncestor(value.getParentRegion())
                                 : !rows->isProperAncestor(op);
  if (isOutside) {
    return true;
  }
  bool isHere =
      op && (op->getBlock() == rows.getBody() || (blocks && op->getBlock() == blocks.getBody()));
  if (!isHere || !isPure(op) || op->getNumRegions() != 0) {
    return false;
  }
  for (Value operand : op->getOperands()) {
    if (!sliceOf(operand, rows, blocks, slice, dependsOnRow)) {
      return false;
    }
  }
  slice.insert(op);
  return true;
}

/// Tiles that the kernel itself has materialised are in the caches.
bool isScratch(Value address) {
  while (auto element = address.getDefiningOp<LLVM::GEPOp>()) {
    address = element.getBase();
  }
  constexpr unsigned scratchArgument = 3;
  auto argument = dyn_cast<BlockArgument>(address);
  return argument && argument.getArgNumber() == scratchArgument &&
         isa<func::FuncOp>(argument.getOwner()->getParentOp());
}

/// The address in the row loop's body that an address in a block of the row starts from.
Value rowAddress(Value base, scf::ForOp blocks) {
  while (blocks) {
    auto step = base.getDefiningOp<LLVM::GEPOp>();
    if (!step || step->getBlock() != blocks.getBody()) {
      break;
    }
    base = step.getBase();
  }
  return base;
}

/// One place in the row's sequence of lane loops: a loop, or its versions in the branches of an if.
struct Place {
  SmallVector<scf::ForOp, 2> versions;
  scf::ForOp blocks; ///< around them when the row is walked in blocks; else null
};

/// Addresses that the lane loop reads whole vectors from with its induction variable as the index.
/// What several places read of a row is one stream.
void findStreams(scf::ForOp lanes, size_t reader, ArrayRef<Place> places,
                 SmallVectorImpl<Stream> &streams) {
  for (auto load : lanes.getBody()->getOps<LLVM::LoadOp>()) {
    auto type = dyn_cast<VectorType>(load.getType());
    auto address = load.getAddr().getDefiningOp<LLVM::GEPOp>();
    bool isDirect = type && type.getElementTypeBitWidth() >= 8 && address &&
                    address.getDynamicIndices().size() == 1 &&
                    address.getDynamicIndices()[0] == lanes.getInductionVar();
    if (!isDirect || isScratch(address.getBase())) {
      continue;
    }
    Value start = rowAddress(address.getBase(), places[reader].blocks);
    if (llvm::any_of(streams, [&](const Stream &known) {
          return rowAddress(known.base, places[known.reader].blocks) == start;
        })) {
      continue;
    }
    Stream stream{address.getBase(), reader, address.getElemType(),
                  type.getElementTypeBitWidth() / 8};
    auto size = lanes->getAttrOfType<IntegerAttr>(attribute::shortRow);
    if (size && !places[reader].blocks) {
      stream.rowBytes = size.getInt() * stream.elementBytes;
    }
    streams.push_back(stream);
  }
}

bool isLaneLoop(scf::ForOp loop) {
  return constantStep(loop).value_or(1) > 1 && loop.getBody()->getOps<scf::ForOp>().empty();
}

void findPlace(Operation &op, scf::ForOp blocks, SmallVectorImpl<Place> &found) {
  Place place{{}, blocks};
  if (auto loop = dyn_cast<scf::ForOp>(op)) {
    place.versions.push_back(loop);
  } else if (auto choice = dyn_cast<scf::IfOp>(op)) {
    for (Region &branch : choice->getRegions()) {
      auto loops = branch.getOps<scf::ForOp>();
      place.versions.append(loops.begin(), loops.end());
    }
  }
  llvm::erase_if(place.versions, [](scf::ForOp loop) { return !isLaneLoop(loop); });
  if (!place.versions.empty()) {
    found.push_back(std::move(place));
  }
}

SmallVector<Place> laneLoops(scf::ForOp rows) {
  SmallVector<Place> found;
  for (Operation &op : *rows.getBody()) {
    findPlace(op, {}, found);
    if (auto blocks = dyn_cast<scf::ForOp>(op)) {
      for (Operation &inner : *blocks.getBody()) {
        findPlace(inner, blocks, found);
      }
    }
  }
  return found;
}

/// Both walk the whole row at once, or in the same blocks.
bool walkAlike(const Place &a, const Place &b) {
  scf::ForOp x = a.blocks, y = b.blocks;
  if (!x || !y) {
    return x == y;
  }
  return x != y && x.getLowerBound() == y.getLowerBound() &&
         x.getUpperBound() == y.getUpperBound() && x.getStep() == y.getStep();
}

/// The first loop behind the reader that asks for it, else those that walk whole vectors as it
/// does; of more than mostHosts the largest, in order. Four short rows at a time, 131072x128: in
/// the loop of the exponentials 0.87 of a copy, all at once in the reader itself 0.65.
SmallVector<Place> chooseHosts(size_t reader, ArrayRef<Place> places) {
  SmallVector<Place> hosts;
  for (const Place &place : places.drop_front(reader + 1)) {
    if (!walkAlike(place, places[reader])) {
      continue;
    }
    scf::ForOp first = place.versions.front(), readerLoop = places[reader].versions.front();
    if (first->hasAttr(attribute::hostsPrefetches)) {
      return {place};
    }
    if (llvm::all_of(place.versions, [&](scf::ForOp loop) {
          return constantStep(loop) == constantStep(readerLoop) ||
                 (loop->hasAttr(attribute::wholeVectors) &&
                  readerLoop->hasAttr(attribute::wholeVectors));
        })) {
      hosts.push_back(place);
    }
  }
  auto size = [](Place &place) { return place.versions.front().getBody()->getOperations().size(); };
  while (hosts.size() > mostHosts) {
    hosts.erase(std::min_element(hosts.begin(), hosts.end(),
                                 [&](auto &a, auto &b) { return size(a) < size(b); }));
  }
  return hosts;
}

/// Steps of the row loop between a prefetch and its use.
int64_t stepsAhead(const Stream &stream, scf::ForOp rows) {
  int64_t bytes = stream.rowBytes * constantStep(rows).value_or(1);
  return bytes > 0 ? llvm::divideCeil(sizes::leastDistanceBytes, bytes) : 1;
}

bool stores(const Place &place) {
  return llvm::any_of(place.versions, [](scf::ForOp loop) {
    return loop.getBody()
        ->walk([](LLVM::StoreOp) { return WalkResult::interrupt(); })
        .wasInterrupted();
  });
}

/// Prefetches may have a lead over rows that are only read and fit into the near caches. A lead
/// also helps stored rows of narrow numbers that are walked in blocks; other stored rows overflow
/// the first level. What both cost is measured in docs/notes/2026-11-cpu-limit-rows.md.
bool hasLead(const Stream &stream, ArrayRef<Place> hosts, const Machine &machine) {
  bool isNear = stream.rowBytes > 0 && stream.rowBytes <= sizes::mostNearBytes(machine);
  return llvm::all_of(hosts, [&](const Place &host) {
    return host.blocks ? stream.elementBytes < 4 : isNear && !stores(host);
  });
}

/// What a prefetch of one row's stream needs to know of where it is read and where prefetched.
struct Rows {
  scf::ForOp loop;
  scf::ForOp readBlocks, hostBlocks; ///< null when rows are walked at once
  const Machine &machine;
};

/// `ahead` where rows are short enough to be prefetched, else zero: this row is there already.
Value aheadOfBlocks(OpBuilder &builder, Value ahead, const Stream &stream, scf::ForOp blocks,
                    const Machine &machine) {
  Location loc = stream.base.getLoc();
  Value length = builder.create<arith::SubIOp>(loc, blocks.getUpperBound(), blocks.getLowerBound());
  Value most = builder.create<arith::ConstantOp>(
      loc, builder.getIntegerAttr(length.getType(),
                                  sizes::longestRowBytes(machine) / stream.elementBytes));
  Value isShort = builder.create<arith::CmpIOp>(loc, arith::CmpIPredicate::ule, length, most);
  Value none = builder.create<arith::ConstantOp>(loc, builder.getIntegerAttr(ahead.getType(), 0));
  return builder.create<arith::SelectOp>(loc, isShort, ahead, none);
}

/// Where the row `steps` steps further, or the same block of it, starts, computed in front of
/// `host`.
Value laterBase(const Stream &stream, const Rows &where, Operation *host,
                ArrayRef<Operation *> slice, int64_t steps) {
  OpBuilder outside(host);
  Location loc = stream.base.getLoc();
  scf::ForOp rows = where.loop, readBlocks = where.readBlocks, hostBlocks = where.hostBlocks;
  Value ahead = rows.getStep();
  if (steps > 1) {
    Value count =
        outside.create<arith::ConstantOp>(loc, outside.getIntegerAttr(ahead.getType(), steps));
    ahead = outside.create<arith::MulIOp>(loc, ahead, count);
  }
  IRMapping mapping;
  if (hostBlocks) {
    ahead = aheadOfBlocks(outside, ahead, stream, hostBlocks, where.machine);
    mapping.map(readBlocks.getInductionVar(), hostBlocks.getInductionVar());
  }
  mapping.map(rows.getInductionVar(),
              outside.create<arith::AddIOp>(loc, rows.getInductionVar(), ahead));
  for (Operation *op : slice) {
    outside.clone(*op, mapping);
  }
  return mapping.lookup(stream.base);
}

/// Bytes between the end of the next row, which begins at `next`, and the row behind it.
Value gapBehind(const Stream &stream, const Rows &where, scf::ForOp host,
                ArrayRef<Operation *> slice, Value next) {
  Value behind = laterBase(stream, where, host, slice, 2);
  OpBuilder outside(host);
  Location loc = stream.base.getLoc();
  Type position = host.getInductionVar().getType();
  Value rows =
      outside.create<arith::SubIOp>(loc, outside.create<LLVM::PtrToIntOp>(loc, position, behind),
                                    outside.create<LLVM::PtrToIntOp>(loc, position, next));
  Value elementBytes =
      outside.create<arith::ConstantOp>(loc, outside.getIntegerAttr(position, stream.elementBytes));
  Value length = outside.create<arith::MulIOp>(loc, host.getUpperBound(), elementBytes);
  return outside.create<arith::SubIOp>(loc, rows, length);
}

/// Some of the row's quarters. With n elements, host step i covers those from
/// (first * n + count * i) / 4.
struct Quarters {
  int64_t first = 0;
  int64_t count = 4;
};

void insertPrefetches(const Stream &stream, const Rows &rows, scf::ForOp host,
                      ArrayRef<Operation *> slice, Quarters quarters, bool isLeading) {
  Location loc = stream.base.getLoc();
  int64_t steps = stepsAhead(stream, rows.loop);
  Value base = laterBase(stream, rows, host, slice, steps);
  int64_t lead = isLeading && steps == 1 ? sizes::leadBytes / stream.elementBytes : 0;
  Value gap = lead > 0 && !rows.hostBlocks ? gapBehind(stream, rows, host, slice, base) : Value();
  auto inside = OpBuilder::atBlockBegin(host.getBody());
  Type position = host.getInductionVar().getType();
  auto constant = [&](int64_t value) {
    return inside.create<arith::ConstantOp>(loc, inside.getIntegerAttr(position, value));
  };
  Value skipped = inside.create<arith::MulIOp>(loc, host.getUpperBound(), constant(quarters.first));
  Value walked =
      inside.create<arith::MulIOp>(loc, host.getInductionVar(), constant(quarters.count));
  Value first = inside.create<arith::DivUIOp>(
      loc, inside.create<arith::AddIOp>(loc, skipped, walked), constant(4));
  if (lead > 0) {
    first = inside.create<arith::AddIOp>(loc, first, constant(lead));
  }
  Type pointer = LLVM::LLVMPointerType::get(host.getContext());
  Value start =
      inside.create<LLVM::GEPOp>(loc, pointer, stream.element, base, ArrayRef<LLVM::GEPArg>{first});
  if (gap) {
    Value isBehind =
        inside.create<arith::CmpIOp>(loc, arith::CmpIPredicate::sge, first, host.getUpperBound());
    Value skip = inside.create<arith::SelectOp>(loc, isBehind, gap, constant(0));
    start = inside.create<LLVM::GEPOp>(loc, pointer, inside.getI8Type(), start,
                                       ArrayRef<LLVM::GEPArg>{skip});
  }
  int64_t bytes = *constantStep(host) * stream.elementBytes * quarters.count / 4;
  // Beside the second level, on layer_norm 16384x4096, 0.90 against 0.83 of a copy's rate.
  prefetch::lines(inside, loc, start, 0, bytes, prefetch::Level::First);
}

/// Of two hosts the last one stores, and reads beside writes are what a copy does well.
constexpr Quarters besideArithmetic{0, 1}, besideStores{1, 3};
static_assert(mostHosts == 2);

void prefetchInto(scf::ForOp rows, const Machine &machine) {
  if (rows->hasAttr(attribute::readsNeighbours)) {
    return;
  }
  SmallVector<Place> places = laneLoops(rows);
  SmallVector<Stream> streams;
  for (size_t at = 0; at < places.size(); ++at) {
    for (scf::ForOp loop : places[at].versions) {
      findStreams(loop, at, places, streams);
    }
  }
  for (const Stream &stream : streams) {
    SetVector<Operation *> slice;
    bool dependsOnRow = false;
    scf::ForOp blocks = places[stream.reader].blocks;
    if (!sliceOf(stream.base, rows, blocks, slice, dependsOnRow) || !dependsOnRow) {
      continue;
    }
    SmallVector<Place> hosts = chooseHosts(stream.reader, places);
    bool isLeading = hasLead(stream, hosts, machine);
    for (size_t index = 0; index < hosts.size(); ++index) {
      Quarters quarters = hosts.size() == 1 ? Quarters{}
                          : index == 0      ? besideArithmetic
                                            : besideStores;
      for (scf::ForOp host : hosts[index].versions) {
        insertPrefetches(stream, {rows, blocks, hosts[index].blocks, machine}, host,
                         slice.getArrayRef(), quarters, isLeading);
      }
    }
  }
}

class PrefetchNextRowPass : public PassWrapper<PrefetchNextRowPass, OperationPass<ModuleOp>> {
public:
  MLIR_DEFINE_EXPLICIT_INTERNAL_INLINE_TYPE_ID(PrefetchNextRowPass)

  explicit PrefetchNextRowPass(const Machine &machine) : machine(machine) {}

  StringRef getArgument() const override { return "cpu-prefetch-next-row"; }
  StringRef getDescription() const override {
    return "read the next row while this one is computed and written";
  }

  void runOnOperation() override {
    SmallVector<scf::ForOp> loops;
    getOperation()->walk([&](scf::ForOp loop) { loops.push_back(loop); });
    for (scf::ForOp loop : loops) {
      prefetchInto(loop, machine);
    }
  }

private:
  Machine machine;
};

} // namespace

std::unique_ptr<Pass> createPrefetchNextRowPass(const Machine &machine) {
  return std::make_unique<PrefetchNextRowPass>(machine);
}

} // namespace nereid::cpu
