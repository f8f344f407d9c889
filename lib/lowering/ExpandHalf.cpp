// SPDX-License-Identifier: Apache-2.0
// expand-half: replace f16, bf16 and 8-bit float values by their bits, computing in f32 and
// rounding after each operation.
//
// Why: LLVM would call __truncsfbf2 and the like, or scalarise, and has no 8-bit floats; and a
// vector of 16- or 8-bit integers moves, masks and shuffles in every instruction set.
// Requires: the loops level; function arguments are pointers.
// Guarantees: no value of type f16, bf16 or an 8-bit float remains, except an f16 or bf16 inside a
// pair of bitcast and extension or truncation that is one instruction of the machine. Conversions
// round once, to nearest even or, where arith.truncf says so, towards zero; no rounding mode
// remains. Example: `arith.addf %a, %b : vector<16xbf16>` becomes two shifts into f32, `arith.addf`
// and the rounding in integer operations.
#include "lib/lowering/Float8Conversions.h"
#include "lib/lowering/HalfConversions.h"
#include "lib/lowering/Passes.h"

#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/LLVMIR/LLVMDialect.h"
#include "mlir/Dialect/Math/IR/Math.h"
#include "mlir/Dialect/Vector/IR/VectorOps.h"
#include "mlir/IR/BuiltinOps.h"
#include "mlir/IR/IRMapping.h"

using namespace mlir;

namespace nereid::lowering {
namespace {

bool isNarrow(Type type) {
  auto element = dyn_cast<FloatType>(getElementTypeOrSelf(type));
  return element && element.getWidth() <= 16;
}

Type bitsType(Type type) {
  unsigned width = getElementTypeOrSelf(type).getIntOrFloatBitWidth();
  Type bits = IntegerType::get(type.getContext(), width);
  if (auto vector = dyn_cast<VectorType>(type)) {
    return vector.clone(bits);
  }
  return bits;
}

Type singleType(Type type) {
  Type f32 = Float32Type::get(type.getContext());
  if (auto vector = dyn_cast<VectorType>(type)) {
    return vector.clone(f32);
  }
  return f32;
}

/// Operations that compute with narrow values; all others only move them.
bool computes(Operation *op) {
  if (isa<arith::SelectOp, arith::ConstantOp>(op)) {
    return false;
  }
  return isa<arith::ArithDialect, math::MathDialect>(op->getDialect()) ||
         isa<vector::ReductionOp, vector::FMAOp, LLVM::vector_reduce_fadd, LLVM::vector_reduce_fmul,
             LLVM::vector_reduce_fmax, LLVM::vector_reduce_fmin, LLVM::vector_reduce_fmaximum,
             LLVM::vector_reduce_fminimum>(op);
}

class Expander {
public:
  Expander(ModuleOp module, const FloatUnit &machine) : module(module), machine(machine) {}

  void run() {
    SmallVector<Operation *> touched;
    module.walk([&](Operation *op) {
      auto truncation = dyn_cast<arith::TruncFOp>(op);
      if (llvm::any_of(op->getOperandTypes(), isNarrow) ||
          llvm::any_of(op->getResultTypes(), isNarrow) ||
          (truncation && truncation.getRoundingmode())) {
        touched.push_back(op);
      }
      for (Region &region : op->getRegions()) {
        for (Block &block : region) {
          for (BlockArgument argument : block.getArguments()) {
            note(argument);
          }
        }
      }
      for (Value result : op->getResults()) {
        note(result);
      }
    });
    for (auto [value, type] : formats) {
      Value(value).setType(bitsType(type));
    }
    for (Operation *op : touched) {
      rewrite(op);
    }
  }

private:
  void note(Value value) {
    // Registers of an instruction that takes bfloat16.
    auto cast = value.getDefiningOp<LLVM::BitcastOp>();
    if (cast && llvm::all_of(cast->getUsers(), llvm::IsaPred<LLVM::CallIntrinsicOp>)) {
      return;
    }
    if (isNarrow(value.getType())) {
      formats[value] = value.getType();
    }
  }

  /// The element type a value had before; null when it was not narrow.
  Type formatOf(Value value) const {
    Type type = formats.lookup(value);
    return type ? getElementTypeOrSelf(type) : type;
  }

  void rewrite(Operation *op) {
    if (auto constant = dyn_cast<arith::ConstantOp>(op)) {
      constant.setValueAttr(bitsOfConstant(constant.getValue()));
    } else if (isa<arith::ExtFOp, arith::TruncFOp>(op)) {
      rewriteConversion(op);
    } else if (auto constant = dyn_cast<LLVM::ConstantOp>(op)) {
      constant.setValueAttr(bitsOfConstant(constant.getValue()));
    } else if (isa<arith::BitcastOp>(op)) {
      // With an integer on both sides it moves bits as it is.
      return;
    } else if (isa<arith::SIToFPOp, arith::UIToFPOp>(op)) {
      rewriteFromInteger(op);
    } else if (isa<arith::NegFOp, math::AbsFOp>(op)) {
      rewriteSign(op);
    } else if (isa<arith::MaxNumFOp, arith::MinNumFOp>(op)) {
      rewriteExtremum(op);
    } else if (computes(op)) {
      rewriteCompute(op);
    }
  }

  static TypedAttr bitsOfConstant(Attribute value) {
    auto toBits = [](const APFloat &number) { return number.bitcastToAPInt(); };
    if (auto scalar = dyn_cast<FloatAttr>(value)) {
      return IntegerAttr::get(bitsType(scalar.getType()), toBits(scalar.getValue()));
    }
    auto dense = cast<DenseFPElementsAttr>(value);
    return cast<TypedAttr>(
        Attribute(dense.mapValues(getElementTypeOrSelf(bitsType(dense.getType())), toBits)));
  }

  void rewriteConversion(Operation *op) {
    OpBuilder builder(op);
    LanesContext where{builder, op->getLoc(), machine};
    Lanes source(where, op->getOperand(0));
    Type from = formatOf(op->getOperand(0)), to = formatOf(op->getResult(0));
    auto truncation = dyn_cast<arith::TruncFOp>(op);
    bool isTowardZero =
        truncation && truncation.getRoundingmode() == arith::RoundingMode::toward_zero;
    if (!from && !to) { // f64 to f32
      replace(op, isTowardZero ? singleTowardZero(source) : toSingle(source));
      return;
    }
    Lanes result = source;
    if (from) {
      result = decodeNarrow(source, from);
      if (!to && getElementTypeOrSelf(op->getResult(0)).isF64()) {
        result = toDouble(result);
      }
    }
    if (to) {
      result = isTowardZero ? encodeTowardZero(result, to) : encodeNarrow(result, to);
    }
    replace(op, result);
  }

  void rewriteFromInteger(Operation *op) {
    OpBuilder builder(op);
    LanesContext where{builder, op->getLoc(), machine};
    Lanes number = integerToDouble(Lanes(where, op->getOperand(0)), isa<arith::SIToFPOp>(op));
    replace(op, encodeNarrow(number, formatOf(op->getResult(0))));
  }

  void rewriteSign(Operation *op) {
    OpBuilder builder(op);
    LanesContext where{builder, op->getLoc(), machine};
    Lanes bits(where, op->getOperand(0));
    uint64_t sign = uint64_t{1} << (bits.width() - 1);
    Lanes result = isa<arith::NegFOp>(op) ? bits ^ sign : bits & (sign - 1);
    if (hasNanForNegativeZero(formatOf(op->getOperand(0)))) {
      Lanes zero = bits.constantBits(0);
      result = select((bits & (sign - 1)) == zero, bits, result);
    }
    replace(op, result);
  }

  /// One of the operands as it is. LLVM would narrow the f32 operation to f16 again and then call
  /// fmaxf for it.
  void rewriteExtremum(Operation *op) {
    OpBuilder builder(op);
    LanesContext where{builder, op->getLoc(), machine};
    Type format = formatOf(op->getResult(0));
    Lanes left(where, op->getOperand(0)), right(where, op->getOperand(1));
    Lanes a = decodeNarrow(left, format), b = decodeNarrow(right, format);
    Lanes isLeft = isa<arith::MaxNumFOp>(op) ? a > b : a < b;
    replace(op, select(isNan(b), left, select(isLeft, left, right)));
  }

  void rewriteCompute(Operation *op) {
    OpBuilder builder(op);
    LanesContext where{builder, op->getLoc(), machine};
    IRMapping mapping;
    for (Value operand : op->getOperands()) {
      if (Type format = formatOf(operand)) {
        mapping.map(operand, decodeNarrow(Lanes(where, operand), format).get());
      }
    }
    Operation *wide = builder.clone(*op, mapping);
    for (auto [narrow, result] : llvm::zip(op->getResults(), wide->getResults())) {
      Type format = formatOf(narrow);
      if (!format) {
        narrow.replaceAllUsesWith(result);
        continue;
      }
      result.setType(singleType(formats.lookup(narrow)));
      Value encoded = encodeNarrow(Lanes(where, result), format).get();
      formats[encoded] = formats.lookup(narrow);
      narrow.replaceAllUsesWith(encoded);
    }
    formatsErased(op);
    op->erase();
  }

  void replace(Operation *op, Lanes result) {
    if (Type format = formats.lookup(op->getResult(0))) {
      formats[result.get()] = format;
    }
    op->getResult(0).replaceAllUsesWith(result.get());
    formatsErased(op);
    op->erase();
  }

  /// A later value may get the address of an erased one.
  void formatsErased(Operation *op) {
    for (Value result : op->getResults()) {
      formats.erase(result);
    }
  }

  ModuleOp module;
  const FloatUnit &machine;
  llvm::DenseMap<Value, Type> formats;
};

class ExpandHalfPass : public PassWrapper<ExpandHalfPass, OperationPass<ModuleOp>> {
public:
  MLIR_DEFINE_EXPLICIT_INTERNAL_INLINE_TYPE_ID(ExpandHalfPass)

  explicit ExpandHalfPass(const FloatUnit &machine) : machine(machine) {}

  StringRef getArgument() const override { return "expand-half"; }
  StringRef getDescription() const override {
    return "replace f16, bf16 and 8-bit float values by their bits, computing in f32 and rounding "
           "after each operation";
  }
  void getDependentDialects(DialectRegistry &registry) const override {
    registry.insert<arith::ArithDialect, LLVM::LLVMDialect, math::MathDialect>();
  }
  void runOnOperation() override { Expander(getOperation(), machine).run(); }

private:
  FloatUnit machine;
};

} // namespace

std::unique_ptr<Pass> createExpandHalfPass(const FloatUnit &machine) {
  return std::make_unique<ExpandHalfPass>(machine);
}

} // namespace nereid::lowering
