// SPDX-License-Identifier: Apache-2.0
// The tile's additions go to the thread's sums when the runtime gives any, else to memory: two
// loops over the elements behind one choice. Eight elements are added here when all their lines of
// 64 bytes are in the sums, else by a call, which is rare where summing up is worth it. Masked
// elements add zero to the sums, and a zero never gets to memory.
#include "lib/targets/cpu/lower/block/PrivatisedAtomics.h"

#include "lib/targets/cpu/Attributes.h"
#include "lib/targets/cpu/Prefetch.h"
#include "lib/targets/cpu/lower/block/ElementLoops.h"
#include "lib/targets/cpu/lower/block/Operations.h"
#include "lib/tile/ir/Attributes.h"
#include "lib/tile/transforms/Passes.h"

#include <cstddef>
#include <numeric>

using namespace mlir;

namespace nereid::cpu {

using runtime::AdditionKind;
using Sums = runtime::PrivatisedAtomics;

/// Places that are added to directly are far from each other, and an atomic operation waits for its
/// line before the next one begins.
static constexpr int64_t elementsAhead = 64;

std::optional<AdditionKind> additionKindOf(Type element) {
  return element.isF32()         ? std::optional(AdditionKind::F32)
         : element.isF64()       ? std::optional(AdditionKind::F64)
         : element.isInteger(32) ? std::optional(AdditionKind::I32)
         : element.isInteger(64) ? std::optional(AdditionKind::I64)
                                 : std::nullopt;
}

static LLVM::LLVMFuncOp declare(ModuleOp module, Location loc, StringRef name, Type result,
                                ArrayRef<Type> arguments) {
  if (auto known = module.lookupSymbol<LLVM::LLVMFuncOp>(name)) {
    return known;
  }
  OpBuilder top = OpBuilder::atBlockBegin(module.getBody());
  return top.create<LLVM::LLVMFuncOp>(loc, name, LLVM::LLVMFunctionType::get(result, arguments));
}

namespace {
/// Adds a few neighbouring elements of a tile to the thread's sums.
class SumsOfThread {
public:
  SumsOfThread(KernelState &kernel, Location loc, Value sums)
      : kernel(kernel), loc(loc), sums(sums) {}

  /// `firstAddress` and `firstValue` point to `count` of each.
  void add(OpBuilder &b, Value firstAddress, Value firstValue, Type element, int64_t count) {
    Type word = b.getI64Type();
    SmallVector<Value> addresses;
    Value differences;
    for (int64_t i = 0; i < count; ++i) {
      Value address = load(b, word, move(b, firstAddress, word, i));
      Value line =
          b.create<arith::ShRUIOp>(loc, address, kernel.i64(llvm::Log2_64(Sums::lineBytes)));
      Value slot = b.create<arith::AndIOp>(loc, line, kernel.i64(Sums::lines - 1));
      Value difference =
          b.create<arith::XOrIOp>(loc, line, load(b, word, move(b, sums, word, slot)));
      differences = differences ? b.create<arith::OrIOp>(loc, differences, difference) : difference;
      addresses.push_back(address);
    }
    Value areHere =
        b.create<arith::CmpIOp>(loc, arith::CmpIPredicate::eq, differences, kernel.i64(0));
    auto choice = b.create<scf::IfOp>(loc, areHere, true);
    OpBuilder here = choice.getThenBodyBuilder(), elsewhere = choice.getElseBodyBuilder();
    Value all = here.create<LLVM::GEPOp>(loc, sums.getType(), b.getI8Type(), sums,
                                         ArrayRef<LLVM::GEPArg>{offsetof(Sums, sums)});
    for (int64_t i = 0; i < count; ++i) {
      Value within = here.create<arith::AndIOp>(loc, addresses[i],
                                                kernel.i64(Sums::lines * Sums::lineBytes - 1));
      Value at = move(here, all, b.getI8Type(), within);
      Value old = load(here, element, at);
      Value value = load(here, element, move(here, firstValue, element, i));
      Value sum = isa<FloatType>(element) ? here.create<arith::AddFOp>(loc, old, value).getResult()
                                          : here.create<arith::AddIOp>(loc, old, value).getResult();
      here.create<LLVM::StoreOp>(loc, sum, at,
                                 static_cast<unsigned>(KernelState::byteSize(element)));
    }
    Type pointer = sums.getType();
    auto function =
        declare(kernel.target->getParentOfType<ModuleOp>(), loc, "nereid_rt_add_private",
                LLVM::LLVMVoidType::get(b.getContext()), {pointer, pointer, pointer, word});
    elsewhere.create<LLVM::CallOp>(loc, function,
                                   ValueRange{sums, firstAddress, firstValue, kernel.i64(count)});
  }

private:
  Value load(OpBuilder &b, Type type, Value from) {
    return b.create<LLVM::LoadOp>(loc, type, from,
                                  static_cast<unsigned>(KernelState::byteSize(type)));
  }
  Value move(OpBuilder &b, Value from, Type element, Value index) {
    return b.create<LLVM::GEPOp>(loc, from.getType(), element, from, ValueRange{index});
  }
  Value move(OpBuilder &b, Value from, Type element, int64_t index) {
    return b.create<LLVM::GEPOp>(loc, from.getType(), element, from,
                                 ArrayRef<LLVM::GEPArg>{static_cast<int32_t>(index)});
  }

  KernelState &kernel;
  Location loc;
  Value sums;
};
} // namespace

bool lowerPrivatisedAtomic(BlockLowering &block, Operation &op) {
  KernelState &kernel = block.kernel;
  Scope &scope = block.scope;
  auto atomic = dyn_cast<tile::AtomicRMWOp>(op);
  const std::optional<AdditionKind> kind =
      atomic ? additionKindOf(elementTypeOf(atomic.getResult())) : std::nullopt;
  if (!kind || !op.hasAttr(tile::attribute::privateAtomic)) {
    return false;
  }
  const int64_t elements = ShapedType::getNumElements(shapeOf(atomic.getResult()));
  Location loc = op.getLoc();
  const int64_t mark = kernel.scratchMark();
  const int addresses = block.bufferOf(atomic.getPointer(), block.builder().getI64Type());
  const int values = block.bufferOf(atomic.getValue(), elementTypeOf(atomic.getValue()));
  OpBuilder &b = block.builder();
  Type pointer = kernel.scratchArgument.getType();
  auto function = declare(kernel.target->getParentOfType<ModuleOp>(), loc, "nereid_rt_privatise",
                          pointer, {b.getI32Type(), b.getI64Type()});
  Value number = kernel.constantInt(b.getI32Type(), static_cast<int32_t>(*kind));
  Value sums =
      b.create<LLVM::CallOp>(loc, function, ValueRange{number, kernel.i64(elements)}).getResult();
  Value none = b.create<LLVM::ZeroOp>(loc, pointer);
  Value isPrivatised = b.create<LLVM::ICmpOp>(loc, LLVM::ICmpPredicate::ne, sums, none);
  auto choice = b.create<scf::IfOp>(loc, isPrivatised, true);
  scope.builder = choice.getThenBodyBuilder();
  const int64_t together = std::gcd<int64_t>(8, elements);
  forBlocks(kernel, scope.builder, loc, elements, together,
            [&](OpBuilder &inside, Value first, unsigned) {
              if (elements > together) {
                inside.getBlock()->getParentOp()->setAttr(attribute::hostsPrefetches,
                                                          inside.getUnitAttr());
              }
              SumsOfThread(kernel, loc, sums)
                  .add(inside, elementAddress(kernel, inside, loc, addresses, first),
                       elementAddress(kernel, inside, loc, values, first),
                       elementTypeOf(atomic.getValue()), together);
            });
  scope.builder = choice.getElseBodyBuilder();
  Dims dims = identityDims(shapeOf(atomic.getResult()).size());
  forEachElement(
      kernel, scope, loc, shapeOf(atomic.getResult()), [&](Evaluator &evaluator, Value index) {
        OpBuilder &inside = evaluator.scopes.back()->builder;
        Value ahead = inside.create<arith::AddIOp>(loc, index, kernel.i64(elementsAhead));
        ahead = inside.create<arith::MinUIOp>(loc, ahead, kernel.i64(elements - 1));
        Value later = inside.create<LLVM::IntToPtrOp>(
            loc, pointer, loadLanes(kernel, inside, loc, addresses, ahead, 1));
        prefetch::line(inside, loc, later, prefetch::Level::First, prefetch::For::Writing);
        emitAtomic(kernel, evaluator.scopes.back()->builder, op,
                   [&](Value value) { return evaluator.evaluate(value, dims, 0); });
      });
  scope.builder.setInsertionPointAfter(choice);
  kernel.releaseTo(mark);
  return true;
}

} // namespace nereid::cpu
