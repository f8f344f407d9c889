// SPDX-License-Identifier: Apache-2.0
// tl.inline_asm_elementwise: the text once for each pack of elements. Elements of less than 32 bits
// come several in a register, as many as a pack has and fit.
#include "lib/targets/nvidia/codegen/AssemblyText.h"
#include "lib/targets/nvidia/threads/Errors.h"
#include "lib/targets/nvidia/threads/Lowering.h"
#include "lib/targets/nvidia/threads/Words.h"

#include "llvm/ADT/StringExtras.h"
#include "llvm/IR/InlineAsm.h"

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
  /// As it is where it comes alone. Floats of 16 bits do not: LLVM 19 has no code for one that
  /// comes of a text and is extended to a register of 32 bits, as where two are packed.
  bool isWord() const {
    return each > 1 || type.isInteger(1) || type.isInteger(8) ||
           (isa<FloatType>(type) && memoryBits(type) == 16);
  }
  unsigned wordBits() const {
    return std::max(16U, static_cast<unsigned>(each) * memoryBits(type));
  }
  Type registerType() const {
    return isWord() ? IntegerType::get(type.getContext(), wordBits()) : type;
  }
};

/// The registers that a value comes in.
SmallVector<Type> registerTypesOf(ValueRange values, size_t pack) {
  SmallVector<Type> types;
  for (Value value : values) {
    const Packing packing(value, pack);
    types.append(pack / packing.each, packing.registerType());
  }
  return types;
}

/// Whether a register of that letter takes the value: its own width, or what integers extend to it.
/// A predicate takes what fits a register of 16 bits, of which it is the lowest.
bool takes(char letter, Type type) {
  const unsigned bits = type.getIntOrFloatBitWidth();
  const unsigned own = StringRef("hcb").contains(letter)  ? 16
                       : StringRef("rf").contains(letter) ? 32
                                                          : 64;
  const bool isExtended = StringRef("rl").contains(letter) && (type.isInteger() || bits == 16);
  return bits == own || (isExtended && bits < own);
}

/// Whether the text may have the value's number in it.
bool isKnownInteger(ThreadCode &code, Value value) {
  return llvm::all_of(code.held(value), [](Value each) {
    return matchPattern(each, m_Constant()) && each.getType().isInteger();
  });
}

/// What LLVM would not survive: constraints for other numbers of registers, or of kinds that PTX
/// has not, and a text that names operands which are not there.
LogicalResult checkConstraints(ThreadCode &code, tile::InlineAsmOp op, size_t pack) {
  if (!llvm::isPowerOf2_64(pack)) {
    return unsupported(op, "a pack has " + Twine(pack) + " elements", "use a power of two");
  }
  SmallVector<Type> types = registerTypesOf(op.getResults(), pack);
  const size_t results = types.size();
  SmallVector<Value> owners(results); // the operand of each register
  for (Value operand : op.getOperands()) {
    types.append(registerTypesOf(operand, pack));
    owners.resize(types.size(), operand);
  }
  const size_t operands = types.size() - results;
  size_t outputs = 0, inputs = 0;
  for (const auto &one : llvm::InlineAsm::ParseConstraints(op.getConstraints())) {
    if (one.Type == llvm::InlineAsm::isClobber) {
      continue;
    }
    const bool isOutput = one.Type == llvm::InlineAsm::isOutput;
    if (isOutput && inputs > 0) {
      return unsupported(
          op, "its constraints '" + op.getConstraints() + "' have a result behind an operand",
          "name the registers of the results first");
    }
    (isOutput ? outputs : inputs) += 1;
    const bool isTie = one.Codes.size() == 1 && llvm::isDigit(one.Codes.front().front());
    const bool isKnown = one.Codes.size() == 1 && !one.isIndirect && !one.isMultipleAlternative &&
                         StringRef("bchrlfd").contains(one.Codes.front());
    const bool isNumber = one.Codes.size() == 1 && !isOutput && !one.isIndirect &&
                          StringRef("ni").contains(one.Codes.front());
    if (!isTie && !isKnown && !isNumber) {
      return unsupported(op, "its constraints '" + op.getConstraints() + "' ask for what is none",
                         "use h, r and l for integers of 16, 32 and 64 bits, f and d for floats, "
                         "n for integers that are constants");
    }
    const size_t number = outputs + inputs - 1;
    if (isNumber && number < types.size() && !isKnownInteger(code, owners[number])) {
      return unsupported(op,
                         "its constraints '" + op.getConstraints() + "' have '" +
                             one.Codes.front() + "' for a value that is no constant integer",
                         "use h, r and l for integers of 16, 32 and 64 bits");
    }
    if (isKnown && number < types.size() && !takes(one.Codes.front().front(), types[number])) {
      return unsupported(op,
                         "its constraints '" + op.getConstraints() + "' have '" +
                             one.Codes.front() + "' for a register of " +
                             Twine(types[number].getIntOrFloatBitWidth()) + " bits",
                         "use h, r and l for 16, 32 and 64 bits, f and d for floats of 32 and 64");
    }
  }
  if (outputs != results || inputs != operands) {
    return unsupported(op,
                       "its constraints '" + op.getConstraints() + "' have " + Twine(outputs) +
                           " outputs and " + Twine(inputs) + " inputs, but packs of " +
                           Twine(pack) + " elements take " + Twine(results) + " and " +
                           Twine(operands),
                       "name each register of the results first, '=r', then of the operands, 'r'");
  }
  const std::string problem = problemOfAssembly(op.getText(), types.size());
  return problem.empty() ? success()
                         : unsupported(op, "in its text " + problem,
                                       "number the registers of the results first, then those of "
                                       "the operands");
}

} // namespace

LogicalResult lowerAssembly(ThreadCode &code, tile::InlineAsmOp op) {
  OpBuilder &b = code.builder;
  const auto pack = static_cast<size_t>(op.getPack());
  if (failed(checkConstraints(code, op, pack))) {
    return failure();
  }
  const SmallVector<Type> types = registerTypesOf(op.getResults(), pack);
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
  return success();
}

} // namespace nereid::nvidia
