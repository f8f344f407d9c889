// SPDX-License-Identifier: Apache-2.0
// Atomic operations as PTX text: LLVM's own drop order and scope.
#include "lib/targets/nvidia/threads/Accesses.h"
#include "lib/targets/nvidia/threads/Errors.h"
#include "lib/targets/nvidia/threads/Extrema.h"
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

/// "cta" are the threads of a program, whatever number of blocks it has.
std::string_view scopeText(const ThreadCode &code, tile::MemoryScope scope) {
  return scope == tile::MemoryScope::CTA   ? (code.threads.blocks > 1 ? ".cluster" : ".cta")
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

/// Registers that one addition of floats takes, if nobody wants what was there; 1 where there is no
/// such instruction.
int64_t additionsAtATime(tile::AtomicRMWOp op, Type type, const tile::AxisInfos &axes) {
  Value pointer = op.getPointer();
  const bool isVector = op.getKind() == tile::AtomicKind::FAdd && op.getResult().use_empty() &&
                        isTile(pointer) && (type.isF16() || type.isBF16() || type.isF32());
  if (!isVector) {
    return 1;
  }
  const auto mask = op.getMask() ? std::optional(axes.of(op.getMask())) : std::nullopt;
  return accessFor(*layoutOf(pointer), type, axes.of(pointer), mask).registers;
}

/// One addition of neighbours, each on its own atomic.
void addVector(ThreadCode &code, const std::string &instruction, Value address, Value condition,
               ArrayRef<Value> values) {
  const auto n = static_cast<unsigned>(values.size());
  const unsigned bits = memoryBits(values.front().getType());
  const char letter = registerLetter(bits);
  std::string results, list, constraints, inputs;
  SmallVector<Value> operands{address};
  for (unsigned i = 0; i < n; ++i) {
    const char *comma = i == 0 ? "" : ", ";
    results += fmt::format("{}${}", comma, i);
    list += fmt::format("{}${}", comma, n + 1 + i);
    constraints += fmt::format("=&{},", letter);
    inputs += fmt::format(",{}", letter);
    operands.push_back(code.toBits(values[i]));
  }
  std::string text = fmt::format("{} {{{}}}, [${}], {{{}}};", instruction, results, n, list);
  if (condition) {
    text = fmt::format("@${} {}", n + operands.size(), text);
    operands.push_back(condition);
    inputs += ",b";
  }
  Type word = code.builder.getIntegerType(bits);
  code.assembly(
      text, constraints + "l" + inputs + ",~{memory}",
      LLVM::LLVMStructType::getLiteral(code.builder.getContext(), SmallVector<Type>(n, word)),
      operands);
}

/// What an operation makes of the former value.
Value updated(ThreadCode &code, tile::AtomicKind kind, Value old, Value value) {
  OpBuilder &b = code.builder;
  Location loc = code.loc;
  switch (kind) {
  case tile::AtomicKind::FAdd:
    return b.create<arith::AddFOp>(loc, old, value);
  case tile::AtomicKind::FMax:
    return extremumOfNumbers(code, Extremum::Max, old, value);
  case tile::AtomicKind::FMin:
    return extremumOfNumbers(code, Extremum::Min, old, value);
  case tile::AtomicKind::Add:
    return b.create<arith::AddIOp>(loc, old, value);
  case tile::AtomicKind::And:
    return b.create<arith::AndIOp>(loc, old, value);
  case tile::AtomicKind::Or:
    return b.create<arith::OrIOp>(loc, old, value);
  case tile::AtomicKind::Xor:
    return b.create<arith::XOrIOp>(loc, old, value);
  case tile::AtomicKind::Max:
    return b.create<arith::MaxSIOp>(loc, old, value);
  case tile::AtomicKind::Min:
    return b.create<arith::MinSIOp>(loc, old, value);
  case tile::AtomicKind::UMax:
    return b.create<arith::MaxUIOp>(loc, old, value);
  case tile::AtomicKind::UMin:
    return b.create<arith::MinUIOp>(loc, old, value);
  case tile::AtomicKind::Exchange:
    break;
  }
  return value;
}

/// Where an element lies in memory that compare-and-swap reaches: itself, or a byte of a word.
class Cell {
public:
  Cell(ThreadCode &code, Value address, unsigned bits) : code(code), address(address), bits(bits) {
    if (bits != 8) {
      return;
    }
    OpBuilder &b = code.builder;
    Value number = b.create<LLVM::PtrToIntOp>(code.loc, b.getI64Type(), address);
    Value low = b.create<arith::AndIOp>(code.loc, number, code.constant(3, 64));
    Value aligned = b.create<arith::SubIOp>(code.loc, number, low);
    this->address = b.create<LLVM::IntToPtrOp>(code.loc, address.getType(), aligned);
    low = b.create<arith::TruncIOp>(code.loc, b.getI32Type(), low);
    shift = b.create<arith::ShLIOp>(code.loc, low, code.constant(3));
  }
  unsigned wordBits() const { return shift ? 32 : bits; }
  Value wordAddress() const { return address; }
  Value elementOf(Value word) const {
    if (!shift) {
      return word;
    }
    OpBuilder &b = code.builder;
    Value moved = b.create<arith::ShRUIOp>(code.loc, word, shift);
    return b.create<arith::TruncIOp>(code.loc, b.getIntegerType(bits), moved);
  }
  Value withElement(Value word, Value element) const {
    if (!shift) {
      return element;
    }
    OpBuilder &b = code.builder;
    Value ones = b.create<arith::ShLIOp>(code.loc, code.constant(0xff), shift);
    Value others = b.create<arith::XOrIOp>(code.loc, ones, code.constant(-1));
    others = b.create<arith::AndIOp>(code.loc, word, others);
    Value wide = b.create<arith::ExtUIOp>(code.loc, b.getI32Type(), element);
    wide = b.create<arith::ShLIOp>(code.loc, wide, shift);
    return b.create<arith::OrIOp>(code.loc, others, wide);
  }

private:
  ThreadCode &code;
  Value address;
  unsigned bits;
  Value shift; ///< of the byte in its word; null: the element is the word
};

/// Where there is no instruction: tries compare-and-swap until nobody was in between. `make` gives
/// the bits that follow upon those that were there.
Value emitLoop(ThreadCode &code, tile::MemorySemantics sem, tile::MemoryScope scope, Value address,
               Value condition, unsigned bits, llvm::function_ref<Value(Value)> make) {
  OpBuilder &b = code.builder;
  Location loc = code.loc;
  Type element = b.getIntegerType(bits);
  Value truth = condition ? condition : b.create<arith::ConstantIntOp>(loc, 1, 1).getResult();
  auto branch = b.create<scf::IfOp>(loc, TypeRange(element), truth, /*withElseRegion=*/true);
  OpBuilder::InsertionGuard guard(b);
  b.setInsertionPointToStart(&branch.getElseRegion().front());
  Value zero = code.constant(0, bits);
  b.create<scf::YieldOp>(loc, zero);
  b.setInsertionPointToStart(&branch.getThenRegion().front());
  const Cell cell(code, address, bits);
  Type word = b.getIntegerType(cell.wordBits());
  Value seen = code.assembly(
      fmt::format("ld.relaxed{}.global.b{} $0, [$1];", scopeText(code, scope), cell.wordBits()),
      fmt::format("=&{},l,~{{memory}}", registerLetter(cell.wordBits())), word,
      {cell.wordAddress()});
  auto loop = b.create<scf::WhileOp>(
      loc, TypeRange(word), ValueRange(seen),
      [&](OpBuilder &inner, Location where, ValueRange arguments) {
        OpBuilder::InsertionGuard nested(b);
        b.setInsertionPoint(inner.getInsertionBlock(), inner.getInsertionPoint());
        Value made = cell.withElement(arguments[0], make(cell.elementOf(arguments[0])));
        Value found = emitOne(code,
                              fmt::format("atom{}{}.global.cas.b{}", orderText(sem),
                                          scopeText(code, scope), cell.wordBits()),
                              cell.wordAddress(), nullptr, {arguments[0], made});
        Value isLate =
            b.create<arith::CmpIOp>(where, arith::CmpIPredicate::ne, found, arguments[0]);
        b.create<scf::ConditionOp>(where, isLate, ValueRange(found));
      },
      [](OpBuilder &inner, Location where, ValueRange arguments) {
        inner.create<scf::YieldOp>(where, arguments);
      });
  b.setInsertionPointAfter(loop);
  b.create<scf::YieldOp>(loc, cell.elementOf(loop.getResult(0)));
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

/// Additions of `n` neighbours at a time.
static void lowerAdditions(ThreadCode &code, tile::AtomicRMWOp op, Type type, int64_t n) {
  const std::string instruction =
      fmt::format("atom{}{}.global.add{}.v{}.{}", orderText(op.getSem()),
                  scopeText(code, op.getScope()), type.isF32() ? "" : ".noftz", n,
                  type.isF32()   ? "f32"
                  : type.isF16() ? "f16"
                                 : "bf16");
  const ThreadCode::Held values = code.held(op.getValue());
  auto emit = [&](size_t reg, Value condition) {
    if (reg % static_cast<size_t>(n) == 0) {
      addVector(code, instruction, code.held(op.getPointer())[reg], condition,
                ArrayRef<Value>(values).slice(reg, static_cast<size_t>(n)));
    }
    return values[reg]; // nobody reads it
  };
  lowerAccesses(code, op.getPointer(), op.getMask(), op.getSem(), op.getResult(), emit);
}

LogicalResult lowerAtomic(ThreadCode &code, tile::AtomicRMWOp op, const tile::AxisInfos &axes,
                          int capability) {
  const Type type = threadType(tile::elementTypeOf(op.getType()));
  if (isa<LLVM::LLVMPointerType>(type)) {
    return unsupported(op, "it has no atomic operations on addresses", "use 64-bit integers");
  }
  constexpr int withVectors = 90;
  if (capability >= withVectors) {
    if (const int64_t n = additionsAtATime(op, type, axes); n > 1) {
      lowerAdditions(code, op, type, n);
      return success();
    }
  }
  const std::string operation = operationText(op.getKind(), type);
  auto emit = [&](size_t reg, Value condition) {
    Value address = code.held(op.getPointer())[reg];
    Value value = code.held(op.getValue())[reg];
    Value bits;
    if (operation.empty()) {
      auto make = [&](Value old) {
        return code.toBits(updated(code, op.getKind(), code.fromBits(old, type), value));
      };
      bits = emitLoop(code, op.getSem(), op.getScope(), address, condition, memoryBits(type), make);
    } else {
      const std::string instruction = fmt::format("atom{}{}.global.{}", orderText(op.getSem()),
                                                  scopeText(code, op.getScope()), operation);
      bits = emitOne(code, instruction, address, condition, {code.toBits(value)});
    }
    return code.fromBits(bits, type);
  };
  lowerAccesses(code, op.getPointer(), op.getMask(), op.getSem(), op.getResult(), emit);
  return success();
}

void lowerCompareAndSwap(ThreadCode &code, tile::AtomicCASOp op) {
  OpBuilder &b = code.builder;
  const Type type = threadType(tile::elementTypeOf(op.getType()));
  const std::string instruction = fmt::format("atom{}{}.global.cas.b{}", orderText(op.getSem()),
                                              scopeText(code, op.getScope()), memoryBits(type));
  auto emit = [&](size_t reg, Value condition) {
    Value address = code.held(op.getPointer())[reg];
    Value expected = code.toBits(code.held(op.getCompare())[reg]);
    Value value = code.toBits(code.held(op.getValue())[reg]);
    if (memoryBits(type) >= 16) {
      return code.fromBits(emitOne(code, instruction, address, condition, {expected, value}), type);
    }
    auto make = [&](Value old) -> Value {
      Value is = b.create<arith::CmpIOp>(code.loc, arith::CmpIPredicate::eq, old, expected);
      return b.create<arith::SelectOp>(code.loc, is, value, old);
    };
    return code.fromBits(
        emitLoop(code, op.getSem(), op.getScope(), address, condition, memoryBits(type), make),
        type);
  };
  lowerAccesses(code, op.getPointer(), {}, op.getSem(), op.getResult(), emit);
}

} // namespace nereid::nvidia
