// SPDX-License-Identifier: Apache-2.0
// Atomic operations as PTX text: LLVM's own drop order and scope.
#include "lib/targets/nvidia/threads/Lowering.h"
#include "lib/targets/nvidia/threads/Words.h"

#include <fmt/format.h>

using namespace mlir;

namespace nereid::nvidia {

using layout::Holder;
using layout::LinearLayout;

namespace {

std::string_view orderText(tile::MemorySemantics sem) {
  switch (sem) {
  case tile::MemorySemantics::Relaxed:
    return ".relaxed";
  case tile::MemorySemantics::Acquire:
    return ".acquire";
  case tile::MemorySemantics::Release:
    return ".release";
  case tile::MemorySemantics::AcquireRelease:
    break;
  }
  return ".acq_rel";
}

std::string_view scopeText(tile::MemoryScope scope) {
  return scope == tile::MemoryScope::CTA   ? ".cta"
         : scope == tile::MemoryScope::GPU ? ".gpu"
                                           : ".sys";
}

/// "add.f32" of the instruction that does it; empty where there is none.
std::string operationText(tile::AtomicKind kind, Type type) {
  const unsigned bits = type.getIntOrFloatBitWidth();
  const bool isWide = bits == 32 || bits == 64;
  switch (kind) {
  case tile::AtomicKind::Add:
    return isWide ? fmt::format("add.u{}", bits) : "";
  case tile::AtomicKind::FAdd:
    return isWide ? fmt::format("add.f{}", bits) : type.isF16() ? "add.noftz.f16" : "";
  case tile::AtomicKind::And:
  case tile::AtomicKind::Or:
  case tile::AtomicKind::Xor:
    return isWide ? fmt::format("{}.b{}", std::string(tile::stringifyAtomicKind(kind)), bits) : "";
  case tile::AtomicKind::Max:
  case tile::AtomicKind::Min:
    return isWide ? fmt::format("{}.s{}", std::string(tile::stringifyAtomicKind(kind)), bits) : "";
  case tile::AtomicKind::UMax:
  case tile::AtomicKind::UMin:
    return isWide ? fmt::format("{}.u{}", kind == tile::AtomicKind::UMax ? "max" : "min", bits)
                  : "";
  case tile::AtomicKind::Exchange:
    return isWide ? fmt::format("exch.b{}", bits) : "";
  default:
    return "";
  }
}

/// Elements of one operation: who executes it for which of them.
struct Elements {
  Value pointer;
  bool isSpread = false;
  LinearLayout layout;
  Value isMine; ///< null: everybody

  Elements(ThreadCode &code, Value pointer) : pointer(pointer), isSpread(isTile(pointer)) {
    if (isSpread) {
      layout = *layoutOf(pointer);
    }
    isMine = isSpread ? code.isFirstReplica(layout) : code.isFirstThread();
  }
};

/// The operation for one element, under `condition` unless null. Gives the bits that were read.
Value emitOne(ThreadCode &code, const std::string &instruction, Value address, Value condition,
              ArrayRef<Value> operands) {
  Type type = operands.front().getType();
  const char letter = registerLetter(type.getIntOrFloatBitWidth());
  std::string constraints = fmt::format("=&{},l", letter);
  SmallVector<Value> all{address};
  std::string list;
  for (Value operand : operands) {
    list += fmt::format(", ${}", 1 + all.size());
    all.push_back(operand);
    constraints += fmt::format(",{}", letter);
  }
  std::string text = fmt::format("{} $0, [$1]{};", instruction, list);
  if (condition) {
    text =
        fmt::format("mov.b{} $0, 0; @${} {}", type.getIntOrFloatBitWidth(), 1 + all.size(), text);
    all.push_back(condition);
    constraints += ",b";
  }
  return code.assembly(text, constraints + ",~{memory}", type, all);
}

/// Where there is no instruction: tries compare-and-swap until nobody was in between.
Value emitLoop(ThreadCode &code, tile::AtomicRMWOp op, Value address, Value condition,
               Value value) {
  OpBuilder &b = code.builder;
  Location loc = code.loc;
  Type type = value.getType();
  const unsigned bits = type.getIntOrFloatBitWidth();
  Type word = b.getIntegerType(bits);
  const char letter = registerLetter(bits);
  Value zero = code.constant(0, bits);
  Value truth = condition ? condition : b.create<arith::ConstantIntOp>(loc, 1, 1).getResult();
  auto branch = b.create<scf::IfOp>(loc, TypeRange(word), truth, /*withElseRegion=*/true);
  {
    OpBuilder::InsertionGuard guard(b);
    b.setInsertionPointToStart(&branch.getElseRegion().front());
    b.create<scf::YieldOp>(loc, zero);
    b.setInsertionPointToStart(&branch.getThenRegion().front());
    Value seen = code.assembly(
        fmt::format("ld.relaxed{}.global.b{} $0, [$1];", scopeText(op.getScope()), bits),
        fmt::format("=&{},l,~{{memory}}", letter), word, {address});
    auto loop = b.create<scf::WhileOp>(
        loc, TypeRange(word), ValueRange(seen),
        [&](OpBuilder &inner, Location where, ValueRange arguments) {
          OpBuilder::InsertionGuard nested(b);
          b.setInsertionPoint(inner.getInsertionBlock(), inner.getInsertionPoint());
          Value old = code.fromBits(arguments[0], type);
          Value made;
          switch (op.getKind()) {
          case tile::AtomicKind::FAdd:
            made = b.create<arith::AddFOp>(where, old, value);
            break;
          case tile::AtomicKind::FMax:
            made = b.create<arith::MaxNumFOp>(where, old, value);
            break;
          case tile::AtomicKind::FMin:
            made = b.create<arith::MinNumFOp>(where, old, value);
            break;
          case tile::AtomicKind::Add:
            made = b.create<arith::AddIOp>(where, old, value);
            break;
          case tile::AtomicKind::And:
            made = b.create<arith::AndIOp>(where, old, value);
            break;
          case tile::AtomicKind::Or:
            made = b.create<arith::OrIOp>(where, old, value);
            break;
          case tile::AtomicKind::Xor:
            made = b.create<arith::XOrIOp>(where, old, value);
            break;
          case tile::AtomicKind::Max:
            made = b.create<arith::MaxSIOp>(where, old, value);
            break;
          case tile::AtomicKind::Min:
            made = b.create<arith::MinSIOp>(where, old, value);
            break;
          case tile::AtomicKind::UMax:
            made = b.create<arith::MaxUIOp>(where, old, value);
            break;
          case tile::AtomicKind::UMin:
            made = b.create<arith::MinUIOp>(where, old, value);
            break;
          case tile::AtomicKind::Exchange:
            made = value;
            break;
          }
          Value found = emitOne(code,
                                fmt::format("atom{}{}.global.cas.b{}", orderText(op.getSem()),
                                            scopeText(op.getScope()), bits),
                                address, nullptr, {arguments[0], code.toBits(made)});
          Value isLate =
              b.create<arith::CmpIOp>(where, arith::CmpIPredicate::ne, found, arguments[0]);
          b.create<scf::ConditionOp>(where, isLate, ValueRange(found));
        },
        [](OpBuilder &inner, Location where, ValueRange arguments) {
          inner.create<scf::YieldOp>(where, arguments);
        });
    b.setInsertionPointAfter(loop);
    b.create<scf::YieldOp>(loc, loop.getResults());
  }
  return branch.getResult(0);
}

/// What one thread read for a replica, or for all: those that did not take part get it.
void shareResult(ThreadCode &code, Value result, const Elements &elements, ThreadCode::Held held) {
  if (result.use_empty()) {
    code.hold(result, held);
    return;
  }
  const Type type = threadType(tile::elementTypeOf(result.getType()));
  if (elements.isSpread && !elements.isMine && elements.layout.replicaBits(Holder::Register) == 0) {
    code.hold(result, held);
    return;
  }
  OpBuilder &b = code.builder;
  const auto places =
      elements.isSpread ? code.elements(elements.layout) : ThreadCode::Held{code.constant(0)};
  const int64_t count = elements.isSpread ? elements.layout.elementCount() : 1;
  code.reserveShared(count * memoryBits(type) / 8);
  code.barrier();
  Value truth = elements.isMine ? elements.isMine
                                : b.create<arith::ConstantIntOp>(code.loc, 1, 1).getResult();
  auto branch = b.create<scf::IfOp>(code.loc, truth, /*withElseRegion=*/false);
  {
    OpBuilder::InsertionGuard guard(b);
    b.setInsertionPointToStart(&branch.getThenRegion().front());
    for (size_t reg = 0; reg < held.size(); ++reg) {
      if (!elements.isSpread ||
          !ThreadCode::isRepeatedRegister(elements.layout, static_cast<int64_t>(reg))) {
        code.storeShared(held[reg], places[reg]);
      }
    }
  }
  code.barrier();
  for (size_t reg = 0; reg < held.size(); ++reg) {
    held[reg] = code.loadShared(type, places[reg]);
  }
  code.hold(result, held);
}

/// Runs `emit(register, condition)` for each element that this thread is to do, between barriers
/// where other accesses of the program are ordered by it.
template <class Emit>
void lowerAccesses(ThreadCode &code, Value pointer, Value mask, tile::MemorySemantics sem,
                   Value result, const Emit &emit) {
  OpBuilder &b = code.builder;
  const Elements elements(code, pointer);
  const bool isOrdered = sem != tile::MemorySemantics::Relaxed;
  if (isOrdered) {
    code.barrier();
  }
  ThreadCode::Held held;
  for (size_t reg = 0; reg < code.held(pointer).size(); ++reg) {
    const bool isRepeated = elements.isSpread && ThreadCode::isRepeatedRegister(
                                                     elements.layout, static_cast<int64_t>(reg));
    if (isRepeated) {
      held.push_back(held.front()); // comes from shared memory
      continue;
    }
    Value condition = elements.isMine;
    if (mask) {
      Value own = code.held(mask)[reg];
      condition = condition ? b.create<arith::AndIOp>(code.loc, condition, own).getResult() : own;
    }
    held.push_back(emit(reg, condition));
  }
  if (isOrdered) {
    code.barrier();
  }
  shareResult(code, result, elements, held);
}

} // namespace

LogicalResult lowerAtomic(ThreadCode &code, tile::AtomicRMWOp op) {
  const Type type = threadType(tile::elementTypeOf(op.getType()));
  if (isa<LLVM::LLVMPointerType>(type) || type.getIntOrFloatBitWidth() < 16) {
    return op.emitError() << "atomics of elements of " << type
                          << " are not supported by nvidia yet";
  }
  const std::string operation = operationText(op.getKind(), type);
  lowerAccesses(code, op.getPointer(), op.getMask(), op.getSem(), op.getResult(),
                [&](size_t reg, Value condition) {
                  Value address = code.held(op.getPointer())[reg];
                  Value value = code.held(op.getValue())[reg];
                  Value bits =
                      operation.empty()
                          ? emitLoop(code, op, address, condition, value)
                          : emitOne(code,
                                    fmt::format("atom{}{}.global.{}", orderText(op.getSem()),
                                                scopeText(op.getScope()), operation),
                                    address, condition, {code.toBits(value)});
                  return code.fromBits(bits, type);
                });
  return success();
}

LogicalResult lowerCompareAndSwap(ThreadCode &code, tile::AtomicCASOp op) {
  const Type type = threadType(tile::elementTypeOf(op.getType()));
  if (memoryBits(type) < 16) {
    return op.emitError() << "atomics of elements of " << type
                          << " are not supported by nvidia yet";
  }
  const std::string instruction = fmt::format("atom{}{}.global.cas.b{}", orderText(op.getSem()),
                                              scopeText(op.getScope()), memoryBits(type));
  lowerAccesses(
      code, op.getPointer(), {}, op.getSem(), op.getResult(), [&](size_t reg, Value condition) {
        Value bits = emitOne(code, instruction, code.held(op.getPointer())[reg], condition,
                             {code.toBits(code.held(op.getCompare())[reg]),
                              code.toBits(code.held(op.getValue())[reg])});
        return code.fromBits(bits, type);
      });
  return success();
}

} // namespace nereid::nvidia
