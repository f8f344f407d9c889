// SPDX-License-Identifier: Apache-2.0
// tl.inline_asm_elementwise: the text once for each pack of elements. Elements of less than 32 bits
// come several in a register, as many as a pack has and fit.
#include "lib/targets/nvidia/threads/Lowering.h"
#include "lib/targets/nvidia/threads/Words.h"

using namespace mlir;

namespace nereid::nvidia {

using layout::Holder;

namespace {

/// How the elements of a tile come to the text.
struct Packing {
  Type type;       ///< of an element
  size_t each = 1; ///< elements in a register

  Packing(Value value, size_t pack) : type(threadType(tile::elementTypeOf(value.getType()))) {
    const unsigned bits = memoryBits(type);
    each = bits < 32 ? std::min<size_t>(pack, 32 / bits) : 1;
  }
  /// As it is where it comes alone.
  bool isWord() const { return each > 1 || type.isInteger(1) || type.isInteger(8); }
  unsigned wordBits() const {
    return std::max(16U, static_cast<unsigned>(each) * memoryBits(type));
  }
  Type registerType() const {
    return isWord() ? IntegerType::get(type.getContext(), wordBits()) : type;
  }
};

} // namespace

void lowerAssembly(ThreadCode &code, tile::InlineAsmOp op) {
  OpBuilder &b = code.builder;
  const auto pack = static_cast<size_t>(op.getPack());
  SmallVector<Type> types;
  for (Value result : op.getResults()) {
    const Packing packing(result, pack);
    types.append((pack + packing.each - 1) / packing.each, packing.registerType());
  }
  Value first = op.getResult(0);
  const size_t count =
      isTile(first) ? static_cast<size_t>(layoutOf(first)->count(Holder::Register)) : 1;
  SmallVector<ThreadCode::Held> held(op.getNumResults());
  for (size_t begin = 0; begin < count; begin += pack) {
    SmallVector<Value> operands;
    for (Value operand : op.getOperands()) {
      const Packing packing(operand, pack);
      const auto &all = code.held(operand);
      SmallVector<Value> own; // a pack that the thread has not enough elements for repeats the last
      for (size_t i = 0; i < pack; ++i) {
        own.push_back(all[std::min(begin + i, all.size() - 1)]);
      }
      for (size_t i = 0; i < pack; i += packing.each) {
        auto elements = ArrayRef<Value>(own).slice(i, packing.each);
        const unsigned bits = static_cast<unsigned>(packing.each) * memoryBits(packing.type);
        operands.push_back(packing.isWord() ? packWords(code, elements, bits).front()
                                            : elements.front());
      }
    }
    const bool isOne = types.size() == 1;
    Type made = isOne ? types.front() : LLVM::LLVMStructType::getLiteral(b.getContext(), types);
    Value result = b.create<LLVM::InlineAsmOp>(
                        code.loc, TypeRange(made), operands, op.getText(), op.getConstraints(),
                        /*has_side_effects=*/!op.getIsPure(),
                        /*is_align_stack=*/false, LLVM::AsmDialectAttr(), ArrayAttr())
                       .getRes();
    int64_t next = 0;
    for (auto [value, into] : llvm::zip(op.getResults(), held)) {
      const Packing packing(value, pack);
      for (size_t i = 0; i < pack; i += packing.each) {
        Value word =
            isOne ? result
                  : b.create<LLVM::ExtractValueOp>(code.loc, result, ArrayRef<int64_t>{next++});
        const SmallVector<Value> elements = packing.isWord()
                                                ? unpackWord(code, word, packing.each, packing.type)
                                                : SmallVector<Value>{word};
        for (Value element : elements) {
          if (into.size() < count) {
            into.push_back(element);
          }
        }
      }
    }
  }
  for (auto [value, own] : llvm::zip(op.getResults(), held)) {
    code.hold(value, own);
  }
}

} // namespace nereid::nvidia
