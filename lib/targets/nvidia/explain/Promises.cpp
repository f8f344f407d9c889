// SPDX-License-Identifier: Apache-2.0
#include "lib/targets/nvidia/explain/Promises.h"

#include "lib/pipeline/kernel/KernelFunction.h"
#include "lib/targets/nvidia/ir/Nvidia.h"

#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "llvm/ADT/SetVector.h"

using namespace mlir;

namespace nereid::nvidia {
namespace {

/// All values that `value` is made of, through loops and branches, as far as memory.
llvm::SetVector<Value> madeOf(Value value) {
  llvm::SetVector<Value> seen;
  seen.insert(value);
  for (size_t i = 0; i < seen.size(); ++i) {
    Value one = seen[i];
    if (auto argument = dyn_cast<BlockArgument>(one)) {
      auto loop = dyn_cast<scf::ForOp>(argument.getOwner()->getParentOp());
      if (loop && argument != loop.getInductionVar()) {
        const unsigned index = argument.getArgNumber() - 1;
        seen.insert(loop.getInitArgs()[index]);
        seen.insert(loop.getYieldedValues()[index]);
      } else if (loop) {
        seen.insert(loop.getLowerBound());
        seen.insert(loop.getStep());
      }
      continue;
    }
    Operation *op = one.getDefiningOp();
    if (isa<tile::LoadOp>(op)) {
      continue;
    }
    if (auto loop = dyn_cast<scf::ForOp>(op)) {
      seen.insert(loop.getYieldedValues()[cast<OpResult>(one).getResultNumber()]);
    }
    for (Value operand : op->getOperands()) {
      seen.insert(operand);
    }
  }
  return seen;
}

} // namespace

AddressSources sourcesOf(Value value, const tile::AxisInfos &axes) {
  constexpr int64_t promised = 16;
  AddressSources sources;
  for (Value one : madeOf(value)) {
    if (auto load = one.getDefiningOp<tile::LoadOp>()) {
      sources.areLoaded |= isTile(load.getResult());
      continue;
    }
    auto argument = dyn_cast<BlockArgument>(one);
    auto kernel =
        argument ? dyn_cast<func::FuncOp>(argument.getOwner()->getParentOp()) : func::FuncOp();
    const bool isPointer = isa<tile::PtrType>(one.getType());
    if (!kernel || axes.of(one).multiple() >= promised ||
        !(isPointer || one.getType().isInteger())) {
      continue;
    }
    const runtime::KernelInfo info = pipeline::readKernelInfo(kernel);
    if (info.arguments.size() != kernel.getNumArguments()) {
      continue; // descriptors have several
    }
    const runtime::ArgumentInfo &known = info.arguments[argument.getArgNumber()];
    const std::string type(kernelName(known.dtype));
    (isPointer ? sources.pointers : sources.numbers)
        .push_back(known.name + "=" + (isPointer ? "*" : "") + type + ":16");
  }
  llvm::sort(sources.pointers);
  llvm::sort(sources.numbers);
  return sources;
}

} // namespace nereid::nvidia
