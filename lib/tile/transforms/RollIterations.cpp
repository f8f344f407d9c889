// SPDX-License-Identifier: Apache-2.0
// `tile-roll-iterations`: make a loop of the iterations of a large unrolled loop that do the same.
// Why: the front end unrolls tl.static_range, and what follows takes time in proportion to the
// operations; 32 copies of 40 operations take a second of code generation.
// Requires: the last operation of each iteration says so (`tile.iterations`, by the front end).
// Guarantees: every operation runs as often, in the same order and on the same numbers. Iterations
// may differ in constants, integers that change by a fixed step; what one takes from another it
// takes from the one just before it, and behind the loop only the last one's values are used.
#include "lib/tile/ir/Attributes.h"
#include "lib/tile/transforms/Iterations.h"
#include "lib/tile/transforms/Passes.h"

#include "mlir/Dialect/SCF/IR/SCF.h"
#include "llvm/ADT/MapVector.h"
#include "llvm/ADT/STLExtras.h"

#include <algorithm>
#include <limits>
#include <map>

using namespace mlir;

namespace nereid::tile {
namespace {

constexpr size_t smallestRun = 3; ///< iterations that a loop is worth

/// The operations between two marks, up to and with the second.
Iteration iterationUpTo(Operation *last, Operation *previousLast, const Iteration *previous) {
  SmallVector<Operation *> ops;
  for (Operation *op = last; op && op != previousLast; op = op->getPrevNode()) {
    ops.push_back(op);
  }
  std::reverse(ops.begin(), ops.end());
  return Iteration(std::move(ops), previous);
}

/// The iterations of one unrolled loop, in order. The first has no mark in front of it: it is taken
/// to have as many operations as the second.
std::vector<Iteration> iterationsBetween(ArrayRef<Operation *> marks) {
  std::vector<Iteration> iterations;
  iterations.reserve(marks.size());
  size_t count = 0;
  for (Operation *op = marks[1]; op && op != marks[0]; op = op->getPrevNode()) {
    ++count;
  }
  Operation *before = marks[0];
  for (size_t i = 0; i < count && before; ++i) {
    before = before->getPrevNode();
  }
  for (size_t i = 0; i < marks.size(); ++i) {
    iterations.push_back(iterationUpTo(marks[i], i == 0 ? before : marks[i - 1],
                                       i == 0 ? nullptr : &iterations.back()));
  }
  return iterations;
}

/// The first and the number of iterations that can be one loop.
struct Run {
  size_t first = 0, count = 1;
};

Run runFrom(ArrayRef<Iteration> iterations, size_t first) {
  Run run{first, 1};
  for (size_t i = first + 1; i < iterations.size(); ++i, ++run.count) {
    const Iteration &start = iterations[first], &second = iterations[first + 1];
    if (!iterations[i].doesTheSameAs(start) || !iterations[i].takesTheSameAs(second) ||
        !iterations[i].continuesConstants(start, second, static_cast<int64_t>(i - first))) {
      break;
    }
    if (i == first + 1 && !second.isFedAs(start)) {
      break;
    }
  }
  return run;
}

/// The first iterations often lack what adding or multiplying by 0 or 1 would have been.
Run longestRun(ArrayRef<Iteration> iterations) {
  Run best;
  for (size_t first = 0; first < std::min<size_t>(3, iterations.size()); ++first) {
    Run run = runFrom(iterations, first);
    if (run.count > best.count) {
      best = run;
    }
  }
  return best;
}

class Roller {
public:
  Roller(MutableArrayRef<Iteration> all, Run run)
      : iterations(all.slice(run.first, run.count)), counter(0) {}

  /// Leaves out the last iteration when what it computes on its own is used later. False when the
  /// loop cannot be made.
  bool fit() {
    if (iterations.size() < smallestRun) {
      return false;
    }
    for (Iteration &iteration : iterations) {
      if (iteration.polls()) {
        return false; // in a loop, it would count as waiting for another program
      }
    }
    Fit found = usesOutside();
    if (found == Fit::LastIsUsed) {
      iterations = iterations.drop_back();
      found = usesOutside();
    }
    return found == Fit::Fits && iterations.size() >= smallestRun;
  }

  /// `last` is the last operation of the last iteration in the loop, which is erased.
  Operation *roll(Operation *&last) {
    last = iterations.back().ops.back();
    Iteration &body = iterations.front();
    Operation *front = body.ops.front();
    OpBuilder builder(front);
    Location loc = front->getLoc();
    chooseCounter();
    auto bound = [&](int64_t value) -> Value {
      return builder.create<arith::ConstantIntOp>(loc, value, 32);
    };
    SmallVector<Value> inits;
    for (const Carried &value : collectCarried()) {
      inits.push_back(value.init);
    }
    int64_t end = counter + static_cast<int64_t>(iterations.size());
    auto loop = builder.create<scf::ForOp>(loc, bound(counter), bound(end), bound(1), inits);
    Block *block = loop.getBody();
    if (block->mightHaveTerminator()) {
      block->getTerminator()->erase();
    }
    for (auto [value, argument] : llvm::zip(carried, loop.getRegionIterArgs())) {
      for (OpOperand *use : value.uses) {
        use->set(argument);
      }
    }
    for (Operation *op : body.ops) {
      op->moveBefore(block, block->end());
    }
    SmallVector<Value> yields;
    for (const Carried &value : carried) {
      yields.push_back(body.values[value.source]);
    }
    builder.setInsertionPointToEnd(block);
    builder.create<scf::YieldOp>(loc, yields);
    replaceConstants(loop);
    for (auto [value, result] : llvm::zip(carried, loop.getResults())) {
      iterations.back().values[value.source].replaceAllUsesWith(result);
    }
    for (Iteration &iteration : llvm::reverse(iterations.drop_front())) {
      for (Operation *op : llvm::reverse(iteration.ops)) {
        op->erase();
      }
    }
    return loop;
  }

private:
  /// A value of the loop: what the first iteration takes, and which of its values the next one
  /// does.
  struct Carried {
    Value init;
    size_t source;
    SmallVector<OpOperand *> uses; ///< in the first iteration
  };
  enum class Fit { Fits, LastIsUsed, Never };

  MutableArrayRef<Iteration> iterations;
  std::vector<Carried> carried;
  int64_t counter; ///< the loop's counter in its first iteration

  ArrayRef<Carried> collectCarried() {
    llvm::MapVector<std::pair<size_t, Value>, SmallVector<OpOperand *>> found;
    for (auto [first, second] : llvm::zip(iterations[0].uses, iterations[1].uses)) {
      if (second.kind == Use::Previous) {
        found[{second.number, first.operand->get()}].push_back(first.operand);
      }
    }
    for (auto &[key, uses] : found) {
      carried.push_back({key.second, key.first, std::move(uses)});
    }
    return carried;
  }

  Fit usesOutside() const {
    llvm::DenseMap<Operation *, size_t> owner;
    for (size_t i = 0; i < iterations.size(); ++i) {
      for (Operation *op : iterations[i].ops) {
        owner[op] = i;
      }
    }
    llvm::DenseSet<size_t> sources;
    for (const Use &use : iterations[1].uses) {
      if (use.kind == Use::Previous) {
        sources.insert(use.number);
      }
    }
    Block *block = iterations.front().ops.front()->getBlock();
    Fit fit = Fit::Fits;
    for (size_t i = 0; i < iterations.size(); ++i) {
      for (auto [number, value] : llvm::enumerate(iterations[i].values)) {
        if (value.getParentBlock() != block) {
          continue;
        }
        for (Operation *user : value.getUsers()) {
          auto found = owner.find(block->findAncestorOpInBlock(*user));
          if (found != owner.end()) {
            continue; // its own or the next: takesTheSameAs has seen to it
          }
          if (i + 1 != iterations.size()) {
            return Fit::Never;
          }
          if (!sources.contains(number)) {
            fit = Fit::LastIsUsed;
          }
        }
      }
    }
    return fit;
  }

  /// A constant that counts up by one becomes the counter itself, as in a loop over range.
  void chooseCounter() {
    for (auto [first, second] : llvm::zip(iterations[0].constants, iterations[1].constants)) {
      bool counts = first.op->getResult(0).getType().isInteger(32) &&
                    second.value - first.value == 1 && first.value >= 0 &&
                    first.value <= std::numeric_limits<int32_t>::max() -
                                       static_cast<int64_t>(iterations.size());
      if (counts) {
        counter = first.value;
        return;
      }
    }
  }

  void replaceConstants(scf::ForOp loop) {
    OpBuilder builder(loop.getBody(), loop.getBody()->begin());
    llvm::DenseMap<std::tuple<Type, int64_t, int64_t>, Value> made;
    for (auto [first, second] : llvm::zip(iterations[0].constants, iterations[1].constants)) {
      int64_t step = second.value - first.value;
      if (step == 0) {
        continue;
      }
      Type type = first.op->getResult(0).getType();
      auto offset =
          static_cast<int64_t>(static_cast<uint64_t>(first.value) -
                               static_cast<uint64_t>(counter) * static_cast<uint64_t>(step));
      Value &value = made[{type, step, offset}];
      if (!value) {
        value = scaled(builder, first.op->getLoc(), type, loop.getInductionVar(), step, offset);
      }
      first.op->getResult(0).replaceAllUsesWith(value);
    } // the constants themselves are dead now; the builder may stand at one
  }

  static Value scaled(OpBuilder &builder, Location loc, Type type, Value index, int64_t step,
                      int64_t offset) {
    Type wanted = getElementTypeOrSelf(type);
    auto element = isa<FloatType>(wanted) ? builder.getI32Type() : cast<IntegerType>(wanted);
    auto constant = [&](int64_t number) -> Value {
      return builder.create<arith::ConstantOp>(loc, builder.getIntegerAttr(element, number));
    };
    Value value = index;
    if (element.getWidth() > 32) {
      value = builder.create<arith::ExtSIOp>(loc, element, value);
    } else if (element.getWidth() < 32) {
      value = builder.create<arith::TruncIOp>(loc, element, value);
    }
    if (step != 1) {
      value = builder.create<arith::MulIOp>(loc, value, constant(step));
    }
    if (offset != 0) {
      value = builder.create<arith::AddIOp>(loc, value, constant(offset));
    }
    if (isa<FloatType>(wanted)) {
      value = builder.create<arith::SIToFPOp>(loc, wanted, value); // exact, see Iterations.cpp
    }
    return isa<RankedTensorType>(type) ? builder.create<SplatOp>(loc, type, value) : value;
  }
};

/// The last operations of iterations in `block`, by loop; those inside of others come first.
std::map<int64_t, SmallVector<Operation *>> takeMarks(Block &block) {
  std::map<int64_t, SmallVector<Operation *>> marks;
  for (Operation &op : block) {
    if (auto mark = op.getAttrOfType<DenseI64ArrayAttr>(attribute::iterations)) {
      for (int64_t loop : mark.asArrayRef()) {
        marks[loop].push_back(&op);
      }
      op.removeAttr(attribute::iterations);
    }
  }
  return marks;
}

/// The loop made of the iterations that end with `marks`, or null. When the loop has taken the last
/// one's place, `last` is the operation that is gone.
Operation *rollLoop(ArrayRef<Operation *> marks, Operation *&last) {
  if (marks.size() < smallestRun) {
    return nullptr;
  }
  std::vector<Iteration> iterations = iterationsBetween(marks);
  Roller roller(iterations, longestRun(iterations));
  return roller.fit() ? roller.roll(last) : nullptr;
}

void rollLoops(Block &block) {
  std::map<int64_t, SmallVector<Operation *>> marks = takeMarks(block);
  for (auto it = marks.begin(); it != marks.end(); ++it) {
    Operation *last = nullptr;
    Operation *loop = rollLoop(it->second, last);
    for (auto outer = std::next(it); loop && outer != marks.end(); ++outer) {
      std::replace(outer->second.begin(), outer->second.end(), last, loop);
    }
  }
}

struct RollIterationsPass : PassWrapper<RollIterationsPass, OperationPass<>> {
  MLIR_DEFINE_EXPLICIT_INTERNAL_INLINE_TYPE_ID(RollIterationsPass)

  llvm::StringRef getArgument() const final { return "tile-roll-iterations"; }
  llvm::StringRef getDescription() const final {
    return "make a loop of the iterations of a large unrolled loop that do the same";
  }

  void runOnOperation() final {
    // From the inside out: a loop in every iteration of another one is the same in each of them.
    SmallVector<Block *> marked;
    getOperation()->walk([&](Block *block) {
      if (llvm::any_of(*block, [](Operation &op) { return op.hasAttr(attribute::iterations); })) {
        marked.push_back(block);
      }
    });
    llvm::for_each(marked, [](Block *block) { rollLoops(*block); });
  }
};

} // namespace

std::unique_ptr<Pass> createRollIterationsPass() { return std::make_unique<RollIterationsPass>(); }

} // namespace nereid::tile
