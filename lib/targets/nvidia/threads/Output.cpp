// SPDX-License-Identifier: Apache-2.0
// print and assert. A line is printed by one thread that holds the element, in the form of
// runtime/core/PrintLine.h; lines of different threads come in any order.
#include "lib/targets/nvidia/driver/Failure.h"
#include "lib/targets/nvidia/threads/Lowering.h"
#include "lib/tile/ir/PrintDescription.h"

#include <fmt/format.h>

#include <cstring>

using namespace mlir;

namespace nereid::nvidia {

using layout::Holder;
using layout::LinearLayout;

namespace {

/// Runs `emit` where the condition holds; null: everywhere.
void emitWhere(ThreadCode &code, Value condition, llvm::function_ref<void()> emit) {
  OpBuilder::InsertionGuard guard(code.builder);
  if (condition) {
    auto branch = code.builder.create<scf::IfOp>(code.loc, condition, /*withElseRegion=*/false);
    code.builder.setInsertionPointToStart(&branch.getThenRegion().front());
  }
  emit();
}

// ---- print ----

/// The parts of a description, see runtime/core/PrintLine.h.
struct Description {
  std::string form, prefix;
  SmallVector<int64_t> sizes;

  explicit Description(const std::string &text) {
    const size_t first = text.find(';'), second = text.find(';', first + 1);
    form = text.substr(0, first);
    SmallVector<StringRef> parts;
    StringRef(text).slice(first + 1, second).split(parts, ',', -1, /*KeepEmpty=*/false);
    for (StringRef part : parts) {
      int64_t size = 0;
      (void)part.getAsInteger(10, size);
      sizes.push_back(size);
    }
    for (char c : text.substr(second + 1)) {
      prefix += c == '%' ? "%%" : std::string(1, c);
    }
  }

  /// Of vprintf.
  std::string format() const {
    std::string line = "pid (%d, %d, %d)";
    if (form == "-") {
      return line + prefix + "\n";
    }
    line += " idx (";
    for (auto [dim, size] : llvm::enumerate(sizes)) {
      const size_t width = size == 1 ? 0 : std::to_string(size - 1).size();
      line += fmt::format("{}%{}d", dim == 0 ? "" : ", ", width == 0 ? "" : std::to_string(width));
    }
    return line + ")" + prefix + numberFormat() + "\n";
  }

private:
  std::string numberFormat() const {
    return form[0] == 'f'   ? "%f"
           : form[0] == 'u' ? "%llu"
           : form[0] == 'p' ? "0x%llx"
           : form[0] == 'x' ? fmt::format("0x%0{}llx", form.substr(1))
                            : "%lld";
  }
};

/// The element as 64 bits, or a double.
Value printed(ThreadCode &code, Value value, char form) {
  OpBuilder &b = code.builder;
  Type i64 = b.getI64Type();
  if (isa<FloatType>(value.getType()) && form == 'f') {
    return value.getType().isF64() ? value
                                   : b.create<arith::ExtFOp>(code.loc, b.getF64Type(), value);
  }
  const bool isFloat = isa<FloatType>(value.getType());
  if (isFloat || isa<LLVM::LLVMPointerType>(value.getType())) {
    value = code.toBits(value);
  }
  if (value.getType() == i64) {
    return value;
  }
  const bool isSigned = form == 'i' && !value.getType().isInteger(1);
  return isSigned ? b.create<arith::ExtSIOp>(code.loc, i64, value).getResult()
                  : b.create<arith::ExtUIOp>(code.loc, i64, value).getResult();
}

/// Prints lines of one format. vprintf takes a structure with all it prints, laid out as C does.
class Printer {
public:
  Printer(ThreadCode &code, const std::string &format, ArrayRef<Type> types)
      : code(code), text(code.text(format)),
        structure(LLVM::LLVMStructType::getLiteral(code.builder.getContext(), types)),
        place(code.local(structure)) {}

  void print(ValueRange values) {
    OpBuilder &b = code.builder;
    for (auto [i, value] : llvm::enumerate(values)) {
      Value field = b.create<LLVM::GEPOp>(code.loc, place.getType(), structure, place,
                                          ArrayRef<LLVM::GEPArg>{0, static_cast<int32_t>(i)});
      b.create<LLVM::StoreOp>(code.loc, value, field);
    }
    code.callExternal("vprintf", b.getI32Type(), {text, place});
  }

private:
  ThreadCode &code;
  Value text;
  Type structure;
  Value place;
};

// ---- assert ----

std::string failureText(tile::AssertOp op) {
  std::string text = op.getMessage().str();
  FileLineColLoc place;
  op.getLoc()->walk([&](Location inner) {
    place = place ? place : dyn_cast<FileLineColLoc>(inner);
    return place ? WalkResult::interrupt() : WalkResult::advance();
  });
  if (place) {
    text = fmt::format("{}:{}: {}", place.getFilename().str(), place.getLine(), text);
  }
  text.resize(std::min<size_t>(text.size(), failureBytes - failureTextAt - 1));
  return text;
}

void writeFailure(ThreadCode &code, tile::AssertOp op) {
  OpBuilder &b = code.builder;
  Value record = code.global(failureSymbol, failureBytes);
  Value was =
      code.assembly("atom.relaxed.gpu.global.cas.b32 $0, [$1], $2, $3;", "=r,l,r,r,~{memory}",
                    b.getI32Type(), {record, code.constant(0), code.constant(1)});
  Value isFirst =
      b.create<arith::CmpIOp>(code.loc, arith::CmpIPredicate::eq, was, code.constant(0));
  emitWhere(code, isFirst, [&] {
    auto store = [&](int32_t at, Value word) {
      Value address = b.create<LLVM::GEPOp>(code.loc, record.getType(), b.getI8Type(), record,
                                            ArrayRef<LLVM::GEPArg>{at});
      b.create<LLVM::StoreOp>(code.loc, word, address, /*alignment=*/4);
    };
    int32_t at = 4;
    for (unsigned axis : {0U, 1U, 2U}) {
      store(at, code.programId(axis));
      at += 4;
    }
    std::string text = failureText(op);
    text.resize(text.size() / 4 * 4 + 4); // with a zero behind it
    for (size_t i = 0; i < text.size(); i += 4) {
      uint32_t word = 0;
      std::memcpy(&word, text.data() + i, sizeof word); // both sides are little-endian
      store(failureTextAt + static_cast<int32_t>(i), code.constant(static_cast<int32_t>(word)));
    }
  });
}

} // namespace

void lowerPrint(ThreadCode &code, tile::PrintOp op) {
  OpBuilder &b = code.builder;
  SmallVector<Value> ids;
  for (unsigned axis : {0U, 1U, 2U}) {
    ids.push_back(code.programId(axis));
  }
  SmallVector<Type> types(ids.size(), b.getI32Type());
  if (op.getValues().empty()) {
    const Description description(tile::printDescription(op, 0));
    Printer printer(code, description.format(), types);
    emitWhere(code, code.isFirstThread(), [&] { printer.print(ids); });
  }
  for (auto [number, value] : llvm::enumerate(op.getValues())) {
    const Description description(tile::printDescription(op, static_cast<unsigned>(number)));
    const bool isDouble = description.form[0] == 'f';
    SmallVector<Type> all = types;
    all.append(description.sizes.size(), b.getI32Type());
    all.push_back(isDouble ? Type(b.getF64Type()) : Type(b.getI64Type()));
    Printer printer(code, description.format(), all);
    const bool isSpread = isTile(value);
    const LinearLayout layout = isSpread ? *layoutOf(value) : LinearLayout();
    const auto elements = isSpread ? code.elements(layout) : ThreadCode::Held();
    emitWhere(code, isSpread ? code.isFirstReplica(layout) : code.isFirstThread(), [&] {
      for (auto [reg, held] : llvm::enumerate(code.held(value))) {
        if (isSpread && ThreadCode::isRepeatedRegister(layout, static_cast<int64_t>(reg))) {
          continue;
        }
        SmallVector<Value> values = ids, indices;
        Value rest = isSpread ? elements[reg] : Value();
        for (int64_t size : llvm::reverse(description.sizes)) {
          indices.push_back(b.create<arith::AndIOp>(code.loc, rest, code.constant(size - 1)));
          rest = b.create<arith::DivUIOp>(code.loc, rest, code.constant(size));
        }
        values.append(indices.rbegin(), indices.rend());
        values.push_back(printed(code, held, description.form[0]));
        printer.print(values);
      }
    });
  }
}

void lowerAssert(ThreadCode &code, tile::AssertOp op) {
  OpBuilder &b = code.builder;
  Value holds;
  for (Value one : code.held(op.getCondition())) {
    holds = holds ? b.create<arith::AndIOp>(code.loc, holds, one).getResult() : one;
  }
  Value fails = b.create<arith::XOrIOp>(code.loc, holds, code.constant(1, 1));
  emitWhere(code, fails, [&] { writeFailure(code, op); });
  // All threads of the program end together: none waits for another one at a barrier.
  emitWhere(code, code.isTrueInAny(fails),
            [&] { code.assembly("exit;", "~{memory}", nullptr, {}); });
}

} // namespace nereid::nvidia
