// SPDX-License-Identifier: Apache-2.0
// Why beside the conversion patterns, which do the same: most operations of a kernel are of this
// kind, and a pattern takes ten times as long for each (docs/notes/2026-11-compile-time.md).
#include "lib/targets/cpu/codegen/DirectConversions.h"

#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/LLVMIR/LLVMDialect.h"
#include "mlir/Dialect/Math/IR/Math.h"
#include "mlir/Dialect/Vector/IR/VectorOps.h"

#include "llvm/ADT/TypeSwitch.h"

using namespace mlir;

namespace nereid::cpu {
namespace {

/// Integers and floats of LLVM, and vectors of them.
bool isPlain(Type type) {
  Type element = getElementTypeOrSelf(type);
  return isa<IntegerType>(element) || element.isF16() || element.isBF16() || element.isF32() ||
         element.isF64();
}

bool hasPlainTypes(Operation *op) {
  return llvm::all_of(op->getOperandTypes(), isPlain) &&
         llvm::all_of(op->getResultTypes(), isPlain);
}

template <class Op> bool isStrict(Op op) {
  if constexpr (requires { op.getFastmath(); }) {
    return op.getFastmath() == arith::FastMathFlags::none;
  } else if constexpr (requires { op.getOverflowFlags(); }) {
    return op.getOverflowFlags() == arith::IntegerOverflowFlags::none;
  } else {
    return true;
  }
}

LLVM::ICmpPredicate convertPredicate(arith::CmpIPredicate predicate) {
  return static_cast<LLVM::ICmpPredicate>(predicate); // the same numbers, see the assertions below
}
LLVM::FCmpPredicate convertPredicate(arith::CmpFPredicate predicate) {
  return static_cast<LLVM::FCmpPredicate>(predicate);
}
static_assert(static_cast<int>(arith::CmpIPredicate::eq) ==
              static_cast<int>(LLVM::ICmpPredicate::eq));
static_assert(static_cast<int>(arith::CmpIPredicate::slt) ==
              static_cast<int>(LLVM::ICmpPredicate::slt));
static_assert(static_cast<int>(arith::CmpIPredicate::uge) ==
              static_cast<int>(LLVM::ICmpPredicate::uge));
static_assert(static_cast<int>(arith::CmpFPredicate::OEQ) ==
              static_cast<int>(LLVM::FCmpPredicate::oeq));
static_assert(static_cast<int>(arith::CmpFPredicate::UNO) ==
              static_cast<int>(LLVM::FCmpPredicate::uno));

/// Writes the counterpart of one operation in front of it; null where the patterns must.
class Conversion {
public:
  explicit Conversion(Operation *op) : builder(op) {}

  template <class To, class From> Value same(From op) {
    if (!isStrict(op)) {
      return nullptr;
    }
    return builder.create<To>(op.getLoc(), op.getType(), op->getOperands());
  }

  /// A scalar repeated in every lane; other broadcasts do not occur on 1-D vectors.
  Value splat(vector::BroadcastOp op) {
    Location loc = op.getLoc();
    if (op.getSourceType() == op.getType()) {
      return op.getSource();
    }
    if (!hasPlainTypes(op)) {
      return builder.create<vector::SplatOp>(loc, op.getType(), op.getSource());
    }
    Value none = builder.create<LLVM::PoisonOp>(loc, op.getType());
    Value zero = builder.create<LLVM::ConstantOp>(loc, builder.getI32Type(), 0);
    Value first = builder.create<LLVM::InsertElementOp>(loc, none, op.getSource(), zero);
    SmallVector<int32_t> lanes(static_cast<size_t>(op.getType().getNumElements()), 0);
    return builder.create<LLVM::ShuffleVectorOp>(loc, first, none, lanes);
  }

  Value convert(Operation *op) {
    return llvm::TypeSwitch<Operation *, Value>(op)
        .Case([&](arith::ConstantOp o) -> Value {
          return builder.create<LLVM::ConstantOp>(o.getLoc(), o.getType(), o.getValue());
        })
        .Case([&](arith::AddIOp o) { return same<LLVM::AddOp>(o); })
        .Case([&](arith::SubIOp o) { return same<LLVM::SubOp>(o); })
        .Case([&](arith::MulIOp o) { return same<LLVM::MulOp>(o); })
        .Case([&](arith::AddFOp o) { return same<LLVM::FAddOp>(o); })
        .Case([&](arith::SubFOp o) { return same<LLVM::FSubOp>(o); })
        .Case([&](arith::MulFOp o) { return same<LLVM::FMulOp>(o); })
        .Case([&](arith::DivFOp o) { return same<LLVM::FDivOp>(o); })
        .Case([&](math::FmaOp o) { return same<LLVM::FMAOp>(o); })
        .Case([&](arith::AndIOp o) { return same<LLVM::AndOp>(o); })
        .Case([&](arith::OrIOp o) { return same<LLVM::OrOp>(o); })
        .Case([&](arith::XOrIOp o) { return same<LLVM::XOrOp>(o); })
        .Case([&](arith::ShLIOp o) { return same<LLVM::ShlOp>(o); })
        .Case([&](arith::ShRUIOp o) { return same<LLVM::LShrOp>(o); })
        .Case([&](arith::ShRSIOp o) { return same<LLVM::AShrOp>(o); })
        .Case([&](arith::MaxSIOp o) { return same<LLVM::SMaxOp>(o); })
        .Case([&](arith::MinSIOp o) { return same<LLVM::SMinOp>(o); })
        // The patterns would fold them first, and MLIR's fold gives NaN where one operand is NaN.
        .Case([&](arith::MaxNumFOp o) { return same<LLVM::MaxNumOp>(o); })
        .Case([&](arith::MinNumFOp o) { return same<LLVM::MinNumOp>(o); })
        .Case([&](arith::ExtSIOp o) { return same<LLVM::SExtOp>(o); })
        .Case([&](arith::ExtUIOp o) { return same<LLVM::ZExtOp>(o); })
        .Case([&](arith::TruncIOp o) { return same<LLVM::TruncOp>(o); })
        .Case([&](arith::BitcastOp o) { return same<LLVM::BitcastOp>(o); })
        .Case([&](arith::CmpIOp o) -> Value {
          return builder.create<LLVM::ICmpOp>(
              o.getLoc(), o.getType(), convertPredicate(o.getPredicate()), o.getLhs(), o.getRhs());
        })
        .Case([&](arith::CmpFOp o) -> Value {
          return isStrict(o) ? builder.create<LLVM::FCmpOp>(o.getLoc(), o.getType(),
                                                            convertPredicate(o.getPredicate()),
                                                            o.getLhs(), o.getRhs())
                             : Value();
        })
        .Default([](Operation *) { return Value(); });
  }

private:
  OpBuilder builder;
};

} // namespace

void convertDirectly(Operation *root) {
  root->walk([](Operation *op) {
    auto broadcast = dyn_cast<vector::BroadcastOp>(op);
    if (op->getNumResults() != 1 || !(broadcast || hasPlainTypes(op))) {
      return;
    }
    Conversion conversion(op);
    Value replacement = broadcast ? conversion.splat(broadcast) : conversion.convert(op);
    if (replacement) {
      op->getResult(0).replaceAllUsesWith(replacement);
      op->erase();
    }
  });
}

} // namespace nereid::cpu
