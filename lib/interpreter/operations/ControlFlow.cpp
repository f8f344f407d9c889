// SPDX-License-Identifier: Apache-2.0
// Structured control flow: loops, branches and calls of other functions of the module.
#include "lib/interpreter/Scheduler.h"

#include "mlir/IR/SymbolTable.h"

namespace scf = mlir::scf;

namespace nereid::interpreter {
namespace {

Tiles valuesOf(Instance &instance, mlir::ValueRange values) {
  Tiles tiles;
  for (mlir::Value value : values) {
    tiles.push_back(instance.get(value));
  }
  return tiles;
}

bool finishAll(Instance &instance, mlir::Operation *op, const Tiles &tiles) {
  for (auto [result, tile] : llvm::zip(op->getResults(), tiles)) {
    instance.set(result, tile);
  }
  return true;
}

bool forLoop(Instance &instance, mlir::Operation *op) {
  auto loop = mlir::cast<scf::ForOp>(op);
  const ElementType type = instance.get(loop.getLowerBound()).type;
  const int64_t low = instance.get(loop.getLowerBound()).integer(0);
  const int64_t high = instance.get(loop.getUpperBound()).integer(0);
  const int64_t step = instance.get(loop.getStep()).integer(0);
  Tiles carried = valuesOf(instance, loop.getInitArgs());
  if (low < high && step <= 0) {
    instance.report(op, "E0404", "the loop never ends: its step is " + std::to_string(step))
        .note("it runs from " + std::to_string(low) + " to " + std::to_string(high));
    return false;
  }
  // Counted in unsigned numbers: high - low may not fit into 63 bits.
  const uint64_t distance = static_cast<uint64_t>(high) - static_cast<uint64_t>(low);
  const uint64_t trips = low < high ? (distance - 1) / static_cast<uint64_t>(step) + 1 : 0;
  for (uint64_t trip = 0; trip < trips; ++trip) {
    const uint64_t index = static_cast<uint64_t>(low) + trip * static_cast<uint64_t>(step);
    Tiles arguments{Tile::scalar(type, index & type.mask())};
    arguments.append(carried.begin(), carried.end());
    if (!instance.charge(op, 1) || !instance.runBlock(*loop.getBody(), arguments, carried)) {
      return false;
    }
  }
  return finishAll(instance, op, carried);
}

bool whileLoop(Instance &instance, mlir::Operation *op) {
  auto loop = mlir::cast<scf::WhileOp>(op);
  Tiles carried = valuesOf(instance, loop.getInits());
  LoopHistory history;
  while (true) {
    if (instance.scheduler != nullptr &&
        !instance.scheduler->iterationBegins(op, carried, history)) {
      return false;
    }
    if (!instance.charge(op, 1) || !instance.runBlock(*loop.getBeforeBody(), carried, carried)) {
      return false;
    }
    const bool goesOn = carried.front()[0] != 0;
    carried.erase(carried.begin());
    if (!goesOn) {
      return finishAll(instance, op, carried);
    }
    if (!instance.runBlock(*loop.getAfterBody(), carried, carried)) {
      return false;
    }
  }
}

bool branch(Instance &instance, mlir::Operation *op) {
  auto branch = mlir::cast<scf::IfOp>(op);
  const bool isTrue = instance.get(branch.getCondition())[0] != 0;
  mlir::Region &taken = isTrue ? branch.getThenRegion() : branch.getElseRegion();
  if (taken.empty()) {
    return true;
  }
  Tiles results;
  return instance.runBlock(taken.front(), {}, results) && finishAll(instance, op, results);
}

bool callFunction(Instance &instance, mlir::Operation *op) {
  auto call = mlir::cast<mlir::func::CallOp>(op);
  auto callee =
      mlir::SymbolTable::lookupNearestSymbolFrom<mlir::func::FuncOp>(op, call.getCalleeAttr());
  if (!callee || callee.isExternal()) {
    return instance.unsupported(op, "a function without a body");
  }
  Tiles results;
  return instance.call(op, callee, valuesOf(instance, call.getOperands()), results) &&
         finishAll(instance, op, results);
}

} // namespace

void addControlFlowHandlers(HandlerTable &table) {
  table.add<scf::ForOp>(forLoop);
  table.add<scf::WhileOp>(whileLoop);
  table.add<scf::IfOp>(branch);
  table.add<mlir::func::CallOp>(callFunction);
}

} // namespace nereid::interpreter
