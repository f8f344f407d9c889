// SPDX-License-Identifier: Apache-2.0
// Atomic read-modify-write and compare-and-swap: one element after the other, in row-major order.
// Everything before an atomic is done before it and nothing behind it is begun: it ends the loop
// nest collected so far, and what its operands load is in scratch already (FusionPlan).
#include "lib/targets/cpu/lower/block/ElementLoops.h"
#include "lib/targets/cpu/lower/block/Operations.h"

using namespace mlir;

namespace nereid::cpu {
namespace {

LLVM::AtomicOrdering orderingOf(tile::MemorySemantics semantics) {
  switch (semantics) {
  case tile::MemorySemantics::Relaxed:
    return LLVM::AtomicOrdering::monotonic;
  case tile::MemorySemantics::Acquire:
    return LLVM::AtomicOrdering::acquire;
  case tile::MemorySemantics::Release:
    return LLVM::AtomicOrdering::release;
  case tile::MemorySemantics::AcquireRelease:
    return LLVM::AtomicOrdering::acq_rel;
  }
  return LLVM::AtomicOrdering::acq_rel;
}

/// A failed exchange writes nothing, so that it has nothing to release.
LLVM::AtomicOrdering orderingOfFailure(LLVM::AtomicOrdering success) {
  bool acquires =
      success == LLVM::AtomicOrdering::acquire || success == LLVM::AtomicOrdering::acq_rel;
  return acquires ? LLVM::AtomicOrdering::acquire : LLVM::AtomicOrdering::monotonic;
}

LLVM::AtomicBinOp binaryOf(tile::AtomicKind kind) {
  switch (kind) {
  case tile::AtomicKind::Add:
    return LLVM::AtomicBinOp::add;
  case tile::AtomicKind::FAdd:
    return LLVM::AtomicBinOp::fadd;
  case tile::AtomicKind::And:
    return LLVM::AtomicBinOp::_and;
  case tile::AtomicKind::Or:
    return LLVM::AtomicBinOp::_or;
  case tile::AtomicKind::Xor:
    return LLVM::AtomicBinOp::_xor;
  case tile::AtomicKind::Max:
    return LLVM::AtomicBinOp::max;
  case tile::AtomicKind::Min:
    return LLVM::AtomicBinOp::min;
  case tile::AtomicKind::UMax:
    return LLVM::AtomicBinOp::umax;
  case tile::AtomicKind::UMin:
    return LLVM::AtomicBinOp::umin;
  case tile::AtomicKind::FMax:
    return LLVM::AtomicBinOp::fmax;
  case tile::AtomicKind::FMin:
    return LLVM::AtomicBinOp::fmin;
  case tile::AtomicKind::Exchange:
    return LLVM::AtomicBinOp::xchg;
  }
  return LLVM::AtomicBinOp::xchg;
}

/// Emits one element's access. Values have the element's type; memory holds its bits.
class ElementAtomic {
public:
  ElementAtomic(OpBuilder &builder, Location loc, Type element)
      : builder(builder), loc(loc), element(element), memory(KernelState::memoryType(element)),
        word(builder.getIntegerType(memory.getIntOrFloatBitWidth())),
        align(static_cast<unsigned>(KernelState::byteSize(memory))) {}

  Value update(tile::AtomicKind kind, Value address, Value value, LLVM::AtomicOrdering ordering) {
    if (kind == tile::AtomicKind::Exchange) {
      return fromWord(builder.create<LLVM::AtomicRMWOp>(loc, LLVM::AtomicBinOp::xchg, address,
                                                        toWord(value), ordering, "", align));
    }
    if (isa<FloatType>(element) && !element.isF32() && !element.isF64()) {
      return updateNarrowFloat(kind, address, value, ordering);
    }
    Value stored = convertElements(builder, loc, value, memory);
    Value old = builder.create<LLVM::AtomicRMWOp>(loc, binaryOf(kind), address, stored, ordering,
                                                  "", align);
    return convertElements(builder, loc, old, element);
  }

  Value compareAndSwap(Value address, Value compare, Value value, LLVM::AtomicOrdering ordering) {
    return fromWord(exchangeIf(builder, address, toWord(compare), toWord(value), ordering).old);
  }

private:
  struct Exchange {
    Value old, succeeded;
  };

  Exchange exchangeIf(OpBuilder &b, Value address, Value compare, Value value,
                      LLVM::AtomicOrdering ordering) {
    Value pair = b.create<LLVM::AtomicCmpXchgOp>(loc, address, compare, value, ordering,
                                                 orderingOfFailure(ordering), "", align);
    return {b.create<LLVM::ExtractValueOp>(loc, pair, ArrayRef<int64_t>{0}),
            b.create<LLVM::ExtractValueOp>(loc, pair, ArrayRef<int64_t>{1})};
  }

  /// No instruction computes with a float of 8 or 16 bits in memory: tried again until nobody else
  /// wrote between the reading and the writing.
  Value updateNarrowFloat(tile::AtomicKind kind, Value address, Value value,
                          LLVM::AtomicOrdering ordering) {
    Value first = builder.create<LLVM::LoadOp>(loc, word, address, align, /*isVolatile=*/false,
                                               /*isNonTemporal=*/false, /*isInvariant=*/false,
                                               LLVM::AtomicOrdering::monotonic);
    auto loop = builder.create<scf::WhileOp>(
        loc, TypeRange{word}, ValueRange{first},
        [&](OpBuilder &b, Location, ValueRange seen) {
          Value number = b.create<arith::BitcastOp>(loc, element, seen[0]);
          Value combined = combine(b, kind, number, value);
          Value bits = b.create<arith::BitcastOp>(loc, word, combined);
          Exchange done = exchangeIf(b, address, seen[0], bits, ordering);
          Value yes = b.create<arith::ConstantOp>(loc, b.getBoolAttr(true));
          Value again = b.create<arith::XOrIOp>(loc, done.succeeded, yes);
          b.create<scf::ConditionOp>(loc, again, done.old);
        },
        [&](OpBuilder &b, Location, ValueRange now) { b.create<scf::YieldOp>(loc, now); });
    return builder.create<arith::BitcastOp>(loc, element, loop.getResult(0));
  }

  Value combine(OpBuilder &b, tile::AtomicKind kind, Value old, Value value) {
    if (kind == tile::AtomicKind::FAdd) {
      return b.create<arith::AddFOp>(loc, old, value);
    }
    if (kind == tile::AtomicKind::FMax) {
      return b.create<arith::MaxNumFOp>(loc, old, value);
    }
    return b.create<arith::MinNumFOp>(loc, old, value);
  }

  Value toWord(Value value) {
    Value stored = convertElements(builder, loc, value, memory);
    return memory == word ? stored : builder.create<arith::BitcastOp>(loc, word, stored);
  }

  Value fromWord(Value bits) {
    if (memory != word) {
      bits = builder.create<arith::BitcastOp>(loc, memory, bits);
    }
    return convertElements(builder, loc, bits, element);
  }

  OpBuilder &builder;
  Location loc;
  Type element, memory, word;
  unsigned align;
};

} // namespace

Value emitAtomic(KernelState &kernel, OpBuilder &outside, Operation &op,
                 llvm::function_ref<Value(Value)> valueOf) {
  Location loc = op.getLoc();
  Type element = KernelState::scalarType(elementTypeOf(op.getResult(0)));
  auto rmw = dyn_cast<tile::AtomicRMWOp>(op);
  auto cas = dyn_cast<tile::AtomicCASOp>(op);
  Value address = valueOf(op.getOperand(0));
  Value value = valueOf(rmw ? rmw.getValue() : cas.getValue());
  Value compare = cas ? valueOf(cas.getCompare()) : Value();
  LLVM::AtomicOrdering ordering = orderingOf(rmw ? rmw.getSem() : cas.getSem());
  auto access = [&](OpBuilder &b) {
    ElementAtomic atomic(b, loc, element);
    return rmw ? atomic.update(rmw.getKind(), address, value, ordering)
               : atomic.compareAndSwap(address, compare, value, ordering);
  };
  if (!rmw || !rmw.getMask()) {
    return access(outside);
  }
  Value nothing = kernel.zero(element);
  auto branch = outside.create<scf::IfOp>(loc, TypeRange{element}, valueOf(rmw.getMask()), true);
  OpBuilder then = branch.getThenBodyBuilder();
  then.create<scf::YieldOp>(loc, access(then));
  OpBuilder otherwise = branch.getElseBodyBuilder();
  otherwise.create<scf::YieldOp>(loc, nothing);
  return branch.getResult(0);
}

void lowerAtomic(BlockLowering &block, Operation &op) {
  KernelState &kernel = block.kernel;
  Value result = op.getResult(0);
  if (!isTile(result)) {
    kernel.scalars[result] =
        emitAtomic(kernel, block.builder(), op, [&](Value value) { return kernel.scalar(value); });
    return;
  }
  if (lowerPrivatisedAtomic(block, op)) {
    return;
  }
  Location loc = op.getLoc();
  ArrayRef<int64_t> shape = shapeOf(result);
  int buffer = result.use_empty() ? -1 : kernel.allocate(shape, elementTypeOf(result), loc);
  forEachElement(kernel, block.scope, loc, shape, [&](Evaluator &evaluator, Value) {
    Dims dims = identityDims(shape.size());
    Value old = emitAtomic(kernel, evaluator.scopes.back()->builder, op,
                           [&](Value value) { return evaluator.evaluate(value, dims, 0); });
    if (buffer >= 0) {
      evaluator.storeToBuffer(buffer, old, dims, 0, loc);
    }
  });
  if (buffer >= 0) {
    kernel.buffers[result] = buffer;
  }
}

} // namespace nereid::cpu
