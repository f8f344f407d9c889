// SPDX-License-Identifier: Apache-2.0
// nvidia-hold-loads: large tiles that are needed on both sides of a reduction wait in shared
// memory.
//
// Why: a program that holds a long row waits in each reduction for all its threads, and meanwhile
// only other programs of the multiprocessor keep memory busy. Held in registers, numbers of 16 bits
// take as much room as those of 32, and few programs fit; a copy that goes straight into shared
// memory takes none while it is under way, and half of it afterwards.
// Requires: one function with layouts.
// Guarantees: loads of floats of 16 or 32 bits in vectors of 16 bytes, of which a thread has
// `leastRegisters` or more, have the attribute `nvidia.held`, their places in shared memory, if all
// that is computed of them before a reduction and needed behind it costs little to compute once
// more. Their uses read them again, those behind each reduction by operations of their own. Each
// thread reads what it has copied itself, so that nobody waits for another one. What all programs
// read (a weight) is in caches and stays as it is, as do kernels of which loops copy ahead and
// those with atomics, by which programs wait for each other. Example:
// `%x = tile.load %p ; %w = arith.extf %x ; %s = tile.reduce %w ; use(%w, %s)` becomes
// `%x = tile.load %p {nvidia.held = 0} ; %w = arith.extf (read_again %x) ; %s = tile.reduce %w ;
// use(arith.extf (read_again %x), %s)`.
#include "lib/targets/nvidia/explain/Names.h"
#include "lib/targets/nvidia/ir/Nvidia.h"
#include "lib/targets/nvidia/layouts/Passes.h"
#include "lib/targets/nvidia/threads/Accesses.h"
#include "lib/tile/ir/Attributes.h"

#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "mlir/Dialect/Math/IR/Math.h"
#include "llvm/ADT/MapVector.h"
#include "llvm/ADT/SetVector.h"

using namespace mlir;

namespace nereid::nvidia {
namespace {

using layout::Holder;

constexpr int64_t leastRegisters = 64; ///< elements of a thread
constexpr int64_t vectorBytes = 16;
constexpr int64_t mostCost = 12; ///< instructions for an element that is computed once more

/// Instructions for an element, about; nothing where it is not worth while to do it twice.
std::optional<int64_t> costOf(Operation *op) {
  if (isa<arith::ExtFOp, arith::TruncFOp, arith::AddFOp, arith::SubFOp, arith::MulFOp,
          arith::NegFOp, math::FmaOp, arith::SelectOp>(op)) {
    return 1;
  }
  return isa<math::ExpOp, math::Exp2Op>(op) ? std::optional<int64_t>(9) : std::nullopt;
}

/// Whether programs have addresses of their own. What they share they find in caches.
bool dependsOnProgram(Value value, llvm::DenseMap<Value, bool> &known) {
  Operation *op = value.getDefiningOp();
  if (!op || isa<tile::ProgramIdOp>(op)) {
    return op;
  }
  if (const auto found = known.find(value); found != known.end()) {
    return found->second;
  }
  const bool depends = llvm::any_of(
      op->getOperands(), [&](Value operand) { return dependsOnProgram(operand, known); });
  return known[value] = depends;
}

/// Of tiles that no load is needed for: one number or few for all elements of a thread, truth
/// values.
bool isCheapToKeep(Value tile) {
  constexpr int64_t few = 4;
  Operation *op = tile.getDefiningOp();
  if (tile::elementTypeOf(tile.getType()).isInteger(1)) {
    return true;
  }
  auto broadcast = dyn_cast_or_null<tile::BroadcastOp>(op);
  return broadcast ? layoutOf(broadcast.getSource())->count(Holder::Register) <= few
                   : isa_and_nonnull<tile::SplatOp, arith::ConstantOp>(op);
}

/// What is computed of loads and of single numbers alone.
struct Derived {
  int64_t cost = 0; ///< of computing it once more
  llvm::SmallSetVector<Operation *, 2> loads;
};
using Loads = llvm::SmallSetVector<Operation *, 4>;
using AllDerived = llvm::MapVector<Value, Derived>; // operands before their users

/// The operations of one block, between whose reductions lie its phases.
class Phases {
public:
  Phases(Block &block, const tile::AxisInfos &axes, int64_t threads)
      : block(block), axes(axes), threads(threads) {
    int64_t phase = 0;
    for (Operation &op : block) {
      phases[&op] = phase;
      phase += isa<tile::ReduceOp>(op) ? 1 : 0;
    }
  }

  /// Holds what is worth it in at most so many bytes. Gives those that it takes.
  int64_t run(int64_t most) {
    Loads loads;
    for (auto load : block.getOps<tile::LoadOp>()) {
      if (bytesOf(load) != 0 && isReadBeforeWrites(load)) {
        loads.insert(load);
      }
    }
    AllDerived derived;
    int64_t bytes = 0;
    for (bool isDone = false; !isDone;) {
      derived = derivedOf(loads);
      const Loads worth = thoseWorthIt(derived);
      isDone = worth.size() == loads.size();
      loads = worth;
      bytes = 0;
      for (Operation *load : loads) {
        bytes += bytesOf(cast<tile::LoadOp>(load));
      }
      if (isDone && bytes > most) {
        loads.pop_back();
        isDone = false;
      }
    }
    int64_t place = 0;
    for (Operation *load : loads) {
      load->setAttr(heldAttribute, Builder(load->getContext()).getI64IntegerAttr(place));
      emitRemark(load->getLoc()) << tileName(load->getResult(0))
                                 << " waits for reductions in shared memory, "
                                 << bytesOf(cast<tile::LoadOp>(load))
                                 << " bytes of each block [R0405]";
      place += bytesOf(cast<tile::LoadOp>(load));
    }
    readAgain(derived);
    return bytes;
  }

private:
  /// Of shared memory; 0 for a load that cannot be held.
  int64_t bytesOf(tile::LoadOp load) const {
    Value tile = load.getResult();
    const Type element = tile::elementTypeOf(tile.getType());
    if (!isTile(tile) || !isa<FloatType>(element) || load.getIsVolatile() ||
        !dependsOnProgram(load.getPointer(), ofProgram)) {
      return 0;
    }
    const auto layout = *layoutOf(tile);
    const int64_t bytes = element.getIntOrFloatBitWidth() / 8;
    const int64_t count = layout.count(Holder::Register);
    const auto mask = load.getMask() ? std::optional(axes.of(load.getMask())) : std::nullopt;
    const Access access = accessFor(layout, element, axes.of(load.getPointer()), mask);
    const bool fits = (bytes == 2 || bytes == 4) && access.registers * bytes == vectorBytes &&
                      layout.replicaBits(Holder::Register) == 0;
    return fits && count >= leastRegisters ? count * bytes * threads : 0;
  }

  /// The copy has ended when the tile is read.
  bool isReadBeforeWrites(tile::LoadOp load) const {
    const auto isRead = [&](Operation &op) {
      return llvm::any_of(load->getUsers(), [&](Operation *user) {
        return block.findAncestorOpInBlock(*user) == &op;
      });
    };
    for (auto op = ++load->getIterator(); op != block.end(); ++op) {
      if (isRead(*op)) {
        return true;
      }
      if (mayWriteMemory(&*op)) {
        return false;
      }
    }
    return false;
  }

  int64_t phaseOf(Operation *user) const { return phases.at(block.findAncestorOpInBlock(*user)); }
  int64_t phaseOf(Value value) const { return phaseOf(value.getDefiningOp()); }

  AllDerived derivedOf(const Loads &loads) const {
    AllDerived derived;
    for (Operation &op : block) {
      if (loads.contains(&op)) {
        derived[op.getResult(0)].loads.insert(&op);
        continue;
      }
      const std::optional<int64_t> cost = costOf(&op);
      if (!cost || !isTile(op.getResult(0))) {
        continue;
      }
      Derived own{*cost, {}};
      const bool isKnown = llvm::all_of(op.getOperands(), [&](Value operand) {
        if (const auto *found = derived.find(operand); found != derived.end()) {
          own.cost += found->second.cost;
          own.loads.insert(found->second.loads.begin(), found->second.loads.end());
          return true;
        }
        return !isTile(operand) || isCheapToKeep(operand);
      });
      if (isKnown && !own.loads.empty() && own.cost <= mostCost) {
        derived[op.getResult(0)] = own;
      }
    }
    return derived;
  }

  /// Loads of which something is needed in a later phase; none if a large tile that is computed of
  /// loads has to wait in registers all the same.
  Loads thoseWorthIt(const AllDerived &derived) const {
    Loads crossing;
    for (const auto &[value, own] : derived) {
      for (Operation *user : value.getUsers()) {
        if (phaseOf(user) > phaseOf(value)) {
          crossing.insert(own.loads.begin(), own.loads.end());
        }
        if (!derived.contains(user->getNumResults() == 1 ? user->getResult(0) : Value()) &&
            isNeededLater(user)) {
          return {};
        }
      }
    }
    return crossing;
  }

  /// Whether a large tile of an operation waits for a reduction.
  bool isNeededLater(Operation *op) const {
    return llvm::any_of(op->getResults(), [&](Value result) {
      return isTile(result) && isa<FloatType>(tile::elementTypeOf(result.getType())) &&
             layoutOf(result)->count(Holder::Register) >= leastRegisters &&
             llvm::any_of(op->getUsers(),
                          [&](Operation *user) { return phaseOf(user) > phaseOf(op); });
    });
  }

  void readAgain(const AllDerived &derived) {
    llvm::MapVector<std::pair<Value, int64_t>, SmallVector<OpOperand *>> uses; // by phase
    for (const auto &[value, own] : derived) {
      const bool isLoaded = own.loads.contains(value.getDefiningOp());
      for (OpOperand &use : value.getUses()) {
        if (isLoaded || phaseOf(use.getOwner()) > phaseOf(value)) {
          uses[{value, phaseOf(use.getOwner())}].push_back(&use);
        }
      }
    }
    // The last values first: what they are computed of is still found at their operations.
    for (auto &[key, list] : llvm::reverse(uses)) {
      Operation *first = &block.back();
      for (OpOperand *use : list) {
        Operation *here = block.findAncestorOpInBlock(*use->getOwner());
        first = here->isBeforeInBlock(first) ? here : first;
      }
      OpBuilder builder(first);
      Value again = computed(builder, derived, key.first);
      for (OpOperand *use : list) {
        use->set(again);
      }
    }
    for (const auto &entry : llvm::reverse(derived)) {
      Operation *op = entry.first.getDefiningOp();
      if (isa<tile::LoadOp>(op)) {
        for (Operation *read : llvm::make_early_inc_range(op->getUsers())) {
          if (read->use_empty()) {
            read->erase();
          }
        }
      } else if (op->use_empty()) {
        op->erase();
      }
    }
  }

  /// The value of what shared memory holds, at the builder's place.
  Value computed(OpBuilder &builder, const AllDerived &derived, Value value) {
    Operation *op = value.getDefiningOp();
    if (isa<tile::LoadOp>(op)) {
      auto read = builder.create<ReadAgainOp>(op->getLoc(), value);
      setLayout(read, *layoutOf(value));
      return read;
    }
    IRMapping mapping;
    for (Value operand : op->getOperands()) {
      if (derived.find(operand) != derived.end()) {
        mapping.map(operand, computed(builder, derived, operand));
      }
    }
    return builder.clone(*op, mapping)->getResult(0);
  }

  Block &block;
  const tile::AxisInfos &axes;
  int64_t threads; ///< of a block
  llvm::DenseMap<Operation *, int64_t> phases;
  mutable llvm::DenseMap<Value, bool> ofProgram;
};

/// Programs may wait for each other by them.
bool hasAtomics(func::FuncOp kernel) {
  return kernel
      .walk([](Operation *op) {
        return isa<tile::AtomicRMWOp, tile::AtomicCASOp>(op) ? WalkResult::interrupt()
                                                             : WalkResult::advance();
      })
      .wasInterrupted();
}

class HoldLoadsPass : public PassWrapper<HoldLoadsPass, OperationPass<func::FuncOp>> {
public:
  MLIR_DEFINE_EXPLICIT_INTERNAL_INLINE_TYPE_ID(HoldLoadsPass)

  explicit HoldLoadsPass(const NvidiaMachine &machine) : machine(machine) {}

  StringRef getArgument() const override { return "nvidia-hold-loads"; }
  StringRef getDescription() const override {
    return "keep large tiles that reductions are waited for with in shared memory";
  }

  void runOnOperation() override {
    func::FuncOp kernel = getOperation();
    if (!kernel->hasAttr(tile::attribute::kernel) || kernel->hasAttr(copyBytesAttribute) ||
        hasAtomics(kernel)) {
      return;
    }
    constexpr int64_t forExchange = 16 << 10;
    const tile::AxisInfos axes(kernel, tile::Overflow::Excluded);
    Block &block = kernel.getBody().front();
    const int64_t bytes =
        Phases(block, axes, threadsOf(kernel).ofBlock()).run(machine.sharedBytes - forExchange);
    if (bytes != 0) {
      kernel->setAttr(heldAttribute, Builder(&getContext()).getI64IntegerAttr(bytes));
    }
  }

private:
  const NvidiaMachine machine;
};

} // namespace

std::unique_ptr<Pass> createHoldLoadsPass(const NvidiaMachine &machine) {
  return std::make_unique<HoldLoadsPass>(machine);
}

} // namespace nereid::nvidia
