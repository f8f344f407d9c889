// SPDX-License-Identifier: Apache-2.0
// cpu-prefetch-ahead: read a page ahead where a large launch bypasses the caches.
//
// Why: hardware prefetchers stop at the end of a page, and a loop with much arithmetic fills the
// processor's window with it before the next page's first loads are reached. The next 4096 bytes
// are what the next program reads, or this one's next pages. Rows whose numbers are read from
// memory (embeddings) have nothing behind them that is needed.
// Requires: loops as LoopNest writes them.
// Guarantees: only prefetches are added, which cannot fault, and only where stores bypass the
// caches: small launches have their data in the caches.
// Example:
//   for i: { x = load a[i] ; if large { store nt b[i] = f(x) } else { b[i] = f(x) } }
//   for i: { x = load a[i] ; if large { prefetch a[i] + 4096 ; store nt b[i] = f(x) } else { … } }
#include "lib/targets/cpu/MachineSizes.h"
#include "lib/targets/cpu/Prefetch.h"
#include "lib/targets/cpu/loops/Passes.h"

#include "lib/targets/cpu/lower/KernelState.h"

#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "mlir/Dialect/LLVMIR/LLVMDialect.h"
#include "mlir/Dialect/SCF/IR/SCF.h"
#include "mlir/IR/Matchers.h"

using namespace mlir;

namespace nereid::cpu {
namespace {

bool isNonTemporal(scf::IfOp choice) {
  return choice
      .walk([](LLVM::StoreOp store) {
        return store.getNontemporal() ? WalkResult::interrupt() : WalkResult::advance();
      })
      .wasInterrupted();
}

/// The elements between the loop's counter and the index; nothing when it is another value.
std::optional<int64_t> offsetFrom(Value counter, Value index) {
  if (index == counter) {
    return 0;
  }
  APInt offset;
  auto sum = index.getDefiningOp<arith::AddIOp>();
  if (sum && sum.getLhs() == counter && matchPattern(sum.getRhs(), m_ConstantInt(&offset))) {
    return offset.getSExtValue();
  }
  return std::nullopt;
}

/// Which element of the entry's arguments (slots, id, count) is loaded; nothing for other memory.
std::optional<std::pair<unsigned, int32_t>> entryElement(LLVM::LoadOp load) {
  Value base = load.getAddr();
  int32_t index = 0;
  if (auto address = base.getDefiningOp<LLVM::GEPOp>()) {
    base = address.getBase();
    index = address.getRawConstantIndices()[0];
  }
  auto argument = dyn_cast<BlockArgument>(base);
  if (!argument || !isa<func::FuncOp>(argument.getOwner()->getParentOp())) {
    return std::nullopt;
  }
  return std::pair(argument.getArgNumber(), index);
}

/// The next program of the first axis reads what follows, as far as can be seen: the address
/// depends on its number and on no other, and on nothing that is read from a tensor.
bool followsPrograms(Value base) {
  bool dependsOnProgram = false;
  SmallVector<Value> work = {base};
  DenseSet<Value> seen;
  while (!work.empty()) {
    Value value = work.pop_back_val();
    Operation *op = value.getDefiningOp();
    if (!seen.insert(value).second) {
      continue;
    }
    if (!op || op->getNumRegions() != 0) {
      return false;
    }
    if (auto load = dyn_cast<LLVM::LoadOp>(op)) {
      constexpr unsigned idArgument = 1;
      auto element = entryElement(load);
      if (!element || (element->first == idArgument && element->second != 0)) {
        return false;
      }
      dependsOnProgram |= element->first == idArgument;
      continue;
    }
    work.append(op->operand_begin(), op->operand_end());
  }
  return dependsOnProgram;
}

/// A load of a full vector at base[counter + constant], where a new line of the iteration begins.
bool beginsLine(LLVM::LoadOp load, scf::ForOp loop) {
  auto address = load.getAddr().getDefiningOp<LLVM::GEPOp>();
  if (!isa<VectorType>(load.getType()) || !address || address.getIndices().size() != 1 ||
      !address.getElemType().isIntOrFloat() || address.getDynamicIndices().size() != 1 ||
      !loop.isDefinedOutsideOfLoop(address.getBase())) {
    return false;
  }
  std::optional<int64_t> offset =
      offsetFrom(loop.getInductionVar(), address.getDynamicIndices()[0]);
  return offset && followsPrograms(address.getBase()) &&
         *offset * KernelState::byteSize(address.getElemType()) % sizes::lineBytes == 0;
}

void prefetchIn(scf::ForOp loop) {
  SmallVector<LLVM::LoadOp> loads;
  for (Operation &op : *loop.getBody()) {
    if (auto load = dyn_cast<LLVM::LoadOp>(op); load && beginsLine(load, loop)) {
      loads.push_back(load);
    }
    auto choice = dyn_cast<scf::IfOp>(op);
    if (!choice || loads.empty() || !isNonTemporal(choice)) {
      continue;
    }
    OpBuilder builder = OpBuilder::atBlockBegin(choice.thenBlock());
    for (LLVM::LoadOp load : loads) {
      prefetch::lines(builder, load.getLoc(), load.getAddr(), sizes::aheadBytes, sizes::lineBytes,
                      prefetch::Level::First);
    }
    return;
  }
}

class PrefetchAheadPass : public PassWrapper<PrefetchAheadPass, OperationPass<ModuleOp>> {
public:
  MLIR_DEFINE_EXPLICIT_INTERNAL_INLINE_TYPE_ID(PrefetchAheadPass)

  StringRef getArgument() const override { return "cpu-prefetch-ahead"; }
  StringRef getDescription() const override {
    return "read a page ahead where a large launch bypasses the caches";
  }

  void runOnOperation() override {
    getOperation()->walk([](scf::ForOp loop) {
      // Inside a loop over rows, what follows a row need not be the next one.
      if (!loop->getParentOfType<scf::ForOp>() && !loop->getParentOfType<scf::WhileOp>()) {
        prefetchIn(loop);
      }
    });
  }
};

} // namespace

std::unique_ptr<Pass> createPrefetchAheadPass() { return std::make_unique<PrefetchAheadPass>(); }

} // namespace nereid::cpu
