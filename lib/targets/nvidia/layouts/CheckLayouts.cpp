// SPDX-License-Identifier: Apache-2.0
#include "lib/targets/nvidia/layouts/CheckLayouts.h"

#include "lib/targets/nvidia/ir/Nvidia.h"
#include "lib/targets/nvidia/layouts/Anchors.h"
#include "lib/targets/nvidia/layouts/OperandLayouts.h"

#include "mlir/Dialect/SCF/IR/SCF.h"
#include "llvm/ADT/TypeSwitch.h"
#include "llvm/Support/MathExtras.h"

using namespace mlir;

namespace nereid::nvidia {

using layout::Holder;
using layout::LinearLayout;

namespace {

class Checker {
public:
  Checker(func::FuncOp kernel, const NvidiaMachine &machine)
      : kernel(kernel), machine(machine), threads(threadsOf(kernel)) {}

  LogicalResult run() {
    // All of them first: those of operands and of what a loop carries are looked at as well.
    return success(succeeded(walk([this](Operation *op) { return checkPresence(op); })) &&
                   succeeded(walk([this](Operation *op) { return checkOperands(op); })));
  }

private:
  template <class Check> LogicalResult walk(const Check &check) {
    const WalkResult result = kernel.walk([&](Operation *op) {
      return failed(check(op)) ? WalkResult::interrupt() : WalkResult::advance();
    });
    return success(!result.wasInterrupted());
  }

  LogicalResult checkPresence(Operation *op) {
    for (Value value : op->getResults()) {
      if (failed(checkPresence(op, value))) {
        return failure();
      }
    }
    if (auto loop = dyn_cast<scf::WhileOp>(op)) {
      for (Value value : loop.getBeforeArguments()) {
        if (failed(checkPresence(op, value))) {
          return failure();
        }
      }
    }
    return success();
  }

  LogicalResult checkPresence(Operation *op, Value value) {
    if (!isTile(value)) {
      return success();
    }
    const auto layout = layoutOf(value);
    if (!layout) {
      return emitError(op->getLoc()) << "expects a layout of each tile in '" << layoutsAttribute
                                     << "', but '" << op->getName() << "' has none";
    }
    const int64_t lanes = layout->count(Holder::Lane), warps = layout->count(Holder::Warp);
    if (lanes != Threads::lanes || warps != threads.warps) {
      return emitError(op->getLoc()) << "expects layouts over " << Threads::lanes << " lanes and "
                                     << threads.warps << " warps, but that of '" << op->getName()
                                     << "' is over " << lanes << " and " << warps;
    }
    return success();
  }

  LogicalResult checkOperands(Operation *op) {
    return llvm::TypeSwitch<Operation *, LogicalResult>(op)
        .Case<tile::LoadOp, tile::StoreOp, tile::AtomicRMWOp, tile::AtomicCASOp, AsyncCopyOp,
              tile::ScanOp, ExchangeOp, ReadAgainOp, AwaitProductOp, tile::InlineAsmOp>(
            [&](auto one) { return haveOneLayout(one); })
        .Case([&](tile::DotOp dot) { return checkProduct(dot); })
        .Case([&](tile::ReduceOp reduce) { return checkReduction(reduce); })
        .Case([&](scf::ForOp loop) {
          return success(succeeded(agree(loop, loop.getInitArgs(), loop.getRegionIterArgs())) &&
                         succeeded(agree(loop, loop.getYieldedValues(), loop.getResults())));
        })
        .Case([&](scf::WhileOp loop) {
          return success(
              succeeded(agree(loop, loop.getInits(), loop.getBeforeArguments())) &&
              succeeded(agree(loop, loop.getConditionOp().getArgs(), loop.getResults())) &&
              succeeded(agree(loop, loop.getYieldOp().getOperands(), loop.getBeforeArguments())));
        })
        .Case([&](scf::IfOp branch) {
          return branch.getNumResults() == 0
                     ? success()
                     : success(succeeded(agree(branch, branch.thenYield().getOperands(),
                                               branch.getResults())) &&
                               succeeded(agree(branch, branch.elseYield().getOperands(),
                                               branch.getResults())));
        })
        .Default([&](Operation *other) {
          return worksInAnyLayout(other) ? checkFollower(other) : success();
        });
  }

  LogicalResult expect(Operation *op, Value value, const LinearLayout &layout) {
    if (!isTile(value) || *layoutOf(value) == layout) {
      return success();
    }
    return emitError(op->getLoc())
           << "'" << op->getName() << "' expects a tile in " << layout.text() << ", but got one in "
           << layoutOf(value)->text();
  }

  LogicalResult haveOneLayout(Operation *op) {
    SmallVector<Value> tiles;
    llvm::copy_if(op->getOperands(), std::back_inserter(tiles), isTile);
    llvm::copy_if(op->getResults(), std::back_inserter(tiles), isTile);
    for (Value tile : tiles) {
      if (failed(expect(op, tile, *layoutOf(tiles.front())))) {
        return failure();
      }
    }
    return success();
  }

  LogicalResult agree(Operation *op, ValueRange given, ValueRange taken) {
    for (auto [from, to] : llvm::zip(given, taken)) {
      if (isTile(to) && failed(expect(op, from, *layoutOf(to)))) {
        return failure();
      }
    }
    return success();
  }

  LogicalResult checkFollower(Operation *op) {
    if (op->getNumResults() == 0 || !isTile(op->getResult(0))) {
      return success();
    }
    const LinearLayout result = *layoutOf(op->getResult(0));
    for (OpOperand &operand : op->getOpOperands()) {
      if (isTile(operand.get()) &&
          failed(
              expect(op, operand.get(), operandLayout(op, operand.getOperandNumber(), result)))) {
        return failure();
      }
    }
    return agree(op, op->getResults(), SmallVector<Value>(op->getNumResults(), op->getResult(0)));
  }

  LogicalResult checkReduction(tile::ReduceOp reduce) {
    const LinearLayout layout = *layoutOf(reduce.getSources().front());
    if (!layout.isPermutation()) {
      return emitError(reduce.getLoc()) << "'" << reduce->getName()
                                        << "' expects a layout in which each bit stands for one "
                                           "of the element's, but got "
                                        << layout.text();
    }
    for (Value source : reduce.getSources()) {
      if (failed(expect(reduce, source, layout))) {
        return failure();
      }
    }
    for (Value result : reduce.getResults()) {
      if (failed(expect(reduce, result,
                        layout.withoutAxis(static_cast<unsigned>(reduce.getAxis()))))) {
        return failure();
      }
    }
    return success();
  }

  LogicalResult checkProduct(tile::DotOp dot) {
    if (dot->hasAttr(warpgroupAttribute) && !machine.hasWarpgroups) {
      return emitError(dot.getLoc()) << "a product is marked by '" << warpgroupAttribute
                                     << "', but " << machine.name << " has no warpgroups";
    }
    if (failed(expect(dot, dot.getC(), *layoutOf(dot.getResult())))) {
      return failure();
    }
    return success(!usesMatrixUnit(dot) ||
                   (succeeded(expect(dot, dot.getResult(), productLayout(dot, threads))) &&
                    succeeded(expect(dot, dot.getA(), factorLayout(dot, 0, threads))) &&
                    succeeded(expect(dot, dot.getB(), factorLayout(dot, 1, threads)))));
  }

  func::FuncOp kernel;
  const NvidiaMachine &machine;
  const Threads threads;
};

} // namespace

LogicalResult checkLayouts(func::FuncOp kernel, const NvidiaMachine &machine) {
  return Checker(kernel, machine).run();
}

} // namespace nereid::nvidia
