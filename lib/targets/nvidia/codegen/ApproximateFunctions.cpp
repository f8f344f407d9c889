// SPDX-License-Identifier: Apache-2.0
// docs/math.md has what is measured of them. Those with ".ftz" are one instruction of the machine;
// the others scale what is subnormal.
#include "lib/targets/nvidia/codegen/ApproximateFunctions.h"

#include "lib/lowering/math/ApproximateUnit.h"

#include "mlir/Dialect/LLVMIR/LLVMDialect.h"
#include "llvm/ADT/bit.h"

#include <fmt/format.h>

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

/// An instruction of two or three numbers, of which `text` may hold some.
Lanes instruction(const std::string &text, ValueRange operands, Lanes like) {
  LanesContext &where = like.where();
  std::string constraints = "=f";
  for (size_t i = 0; i < operands.size(); ++i) {
    constraints += ",f";
  }
  auto made = where.builder.create<LLVM::InlineAsmOp>(
      where.loc, like.type(), operands, text, constraints, /*has_side_effects=*/false,
      /*is_align_stack=*/false, LLVM::AsmDialectAttr(), ArrayAttr());
  return Lanes(where, made.getRes());
}

/// As PTX writes it, to the bit.
std::string literal(float number) {
  return fmt::format("0f{:08X}", llvm::bit_cast<uint32_t>(number));
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
  Lanes logarithmOfNormal(Lanes x) const override {
    return intrinsic("llvm.nvvm.lg2.approx.ftz.f", x);
  }
  Lanes mulAddInUnitInterval(Lanes x, float factor, float addend) const override {
    return instruction(
        fmt::format("fma.rn.sat.f32 $0, $1, {}, {};", literal(factor), literal(addend)), {x.get()},
        x);
  }
  Lanes mulAddDownwards(Lanes x, float factor, float addend) const override {
    return instruction(fmt::format("fma.rm.f32 $0, $1, {}, {};", literal(factor), literal(addend)),
                       {x.get()}, x);
  }
  Lanes quotient(Lanes a, Lanes b) const override {
    return instruction("div.full.f32 $0, $1, $2;", {a.get(), b.get()}, a);
  }
  Lanes reciprocalSquareRoot(Lanes x) const override {
    return intrinsic("llvm.nvvm.rsqrt.approx.f", x);
  }
  Lanes reciprocalSquareRootOfNormal(Lanes x) const override {
    return intrinsic("llvm.nvvm.rsqrt.approx.ftz.f", x);
  }
};

} // namespace

const lowering::ApproximateUnit &approximateFunctions() {
  static const Functions functions;
  return functions;
}

} // namespace nereid::nvidia
