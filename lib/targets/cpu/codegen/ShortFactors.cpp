// SPDX-License-Identifier: Apache-2.0
#include "lib/targets/cpu/codegen/ShortFactors.h"

#include "llvm/Analysis/ValueTracking.h"
#include "llvm/IR/IRBuilder.h"
#include "llvm/IR/InlineAsm.h"
#include "llvm/IR/Module.h"
#include "llvm/IR/PatternMatch.h"

#include <numeric>

using namespace llvm;

namespace nereid::cpu {
namespace {

/// Fewer are done before anybody notices.
constexpr size_t fewest = 8;

constexpr uint64_t lower = 0xffffffff;

bool isShort(const Value *factor, const DataLayout &layout) {
  return computeKnownBits(factor, layout).countMinLeadingZeros() >= 32;
}

bool multipliesVectors(const Instruction &instruction) {
  auto *type = dyn_cast<FixedVectorType>(instruction.getType());
  return instruction.getOpcode() == Instruction::Mul && type &&
         type->getElementType()->isIntegerTy(64) && type->getNumElements() > 1 &&
         isPowerOf2_32(type->getNumElements());
}

/// The same in its lower 32 bits: without masks that keep them all, also where these are combined
/// bit by bit for this use alone. What was shifted down from the upper ones stays without a sign.
Value *withoutMasks(IRBuilder<> &builder, Value *factor) {
  using namespace PatternMatch;
  Value *inside = nullptr;
  if (match(factor, m_And(m_Value(inside), m_SpecificInt(lower)))) {
    Value *shifted = nullptr;
    const bool isUpper = match(inside, m_AShr(m_Value(shifted), m_SpecificInt(32)));
    return isUpper ? builder.CreateLShr(shifted, 32) : withoutMasks(builder, inside);
  }
  auto *combined = dyn_cast<BinaryOperator>(factor);
  if (combined && combined->isBitwiseLogicOp() && combined->hasOneUse()) {
    const IRBuilder<>::InsertPointGuard guard(builder);
    builder.SetInsertPoint(combined);
    for (Use &operand : combined->operands()) {
      operand.set(withoutMasks(builder, operand));
    }
  }
  return factor;
}

/// The product of some elements of two vectors.
Value *multiplied(IRBuilder<> &builder, Value *a, Value *b, ArrayRef<int> places) {
  auto *type = FixedVectorType::get(builder.getInt64Ty(), static_cast<unsigned>(places.size()));
  const auto part = [&](Value *factor) {
    return factor->getType() == type ? factor : builder.CreateShuffleVector(factor, places);
  };
  auto *instruction = InlineAsm::get(FunctionType::get(type, {type, type}, /*isVarArg=*/false),
                                     "vpmuludq $2, $1, $0", "=v,v,v", /*hasSideEffects=*/false);
  CallInst *call = builder.CreateCall(instruction, {part(a), part(b)});
  call->setDoesNotAccessMemory();
  return call;
}

void replace(Instruction &product, unsigned vectorBytes) {
  IRBuilder<> builder(&product);
  Value *a = withoutMasks(builder, product.getOperand(0));
  Value *b = withoutMasks(builder, product.getOperand(1));
  SmallVector<int> places(cast<FixedVectorType>(product.getType())->getNumElements());
  std::iota(places.begin(), places.end(), 0);
  const size_t ofRegister = std::min<size_t>(places.size(), vectorBytes / 8);
  SmallVector<Value *> parts;
  for (size_t first = 0; first < places.size(); first += ofRegister) {
    parts.push_back(multiplied(builder, a, b, ArrayRef(places).slice(first, ofRegister)));
  }
  for (size_t joined = 2 * ofRegister; parts.size() > 1; joined *= 2) { // neighbours in pairs
    for (size_t i = 0; i < parts.size() / 2; ++i) {
      parts[i] = builder.CreateShuffleVector(parts[2 * i], parts[2 * i + 1],
                                             ArrayRef(places).take_front(joined));
    }
    parts.resize(parts.size() / 2);
  }
  product.replaceAllUsesWith(parts[0]);
  product.eraseFromParent();
}

} // namespace

void multiplyShortFactors(Module &module, unsigned vectorBytes) {
  const DataLayout &layout = module.getDataLayout();
  for (Function &function : module) {
    for (BasicBlock &block : function) {
      // All are asked before the first one is replaced: nothing is known of what comes out.
      SmallVector<Instruction *> products;
      for (Instruction &instruction : block) {
        if (multipliesVectors(instruction) && isShort(instruction.getOperand(0), layout) &&
            isShort(instruction.getOperand(1), layout)) {
          products.push_back(&instruction);
        }
      }
      if (products.size() < fewest) {
        continue;
      }
      for (Instruction *product : products) {
        replace(*product, vectorBytes);
      }
    }
  }
}

} // namespace nereid::cpu
