// SPDX-License-Identifier: Apache-2.0
// docs/math.md has what is measured of them. Those with ".ftz" are one instruction of the machine;
// the others scale what is subnormal.
#include "lib/targets/nvidia/codegen/ApproximateFunctions.h"

#include "lib/lowering/math/ApproximateUnit.h"

#include "mlir/Dialect/LLVMIR/LLVMDialect.h"

using namespace mlir;

namespace nereid::nvidia {
namespace {

using lowering::Lanes;
using lowering::LanesContext;

Lanes intrinsic(const char *name, Lanes x) {
  LanesContext &where = x.where();
  auto call = where.builder.create<LLVM::CallIntrinsicOp>(
      where.loc, x.type(), where.builder.getStringAttr(name), x.get(), LLVM::FastmathFlagsAttr());
  return Lanes(where, call.getResults());
}

class Functions final : public lowering::ApproximateUnit {
public:
  Lanes powerOfTwo(Lanes x) const override { return intrinsic("llvm.nvvm.ex2.approx.f", x); }
  Lanes powerOfTwoOfNormal(Lanes x) const override {
    return intrinsic("llvm.nvvm.ex2.approx.ftz.f", x);
  }
  Lanes reciprocalOfNormal(Lanes x) const override {
    return intrinsic("llvm.nvvm.rcp.approx.ftz.f", x);
  }
  Lanes quotient(Lanes a, Lanes b) const override {
    LanesContext &where = a.where();
    auto made = where.builder.create<LLVM::InlineAsmOp>(
        where.loc, a.type(), ValueRange{a.get(), b.get()}, "div.full.f32 $0, $1, $2;", "=f,f,f",
        /*has_side_effects=*/false, /*is_align_stack=*/false, LLVM::AsmDialectAttr(), ArrayAttr());
    return Lanes(where, made.getRes());
  }
  Lanes reciprocalSquareRoot(Lanes x) const override {
    return intrinsic("llvm.nvvm.rsqrt.approx.f", x);
  }
};

} // namespace

const lowering::ApproximateUnit &approximateFunctions() {
  static const Functions functions;
  return functions;
}

} // namespace nereid::nvidia
