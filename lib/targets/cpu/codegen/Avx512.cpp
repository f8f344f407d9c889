// SPDX-License-Identifier: Apache-2.0
#include "lib/targets/cpu/codegen/Avx512.h"

#include "lib/lowering/math/LaneInstructions.h"

#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/LLVMIR/LLVMDialect.h"
#include "mlir/IR/BuiltinTypes.h"

#include <string>

using namespace mlir;

namespace nereid::cpu {

using lowering::Lanes;
using lowering::LanesContext;

static Lanes call(Lanes x, const std::string &name, ValueRange operands) {
  LanesContext &where = x.where();
  OpBuilder &builder = where.builder;
  auto created = builder.create<LLVM::CallIntrinsicOp>(
      where.loc, x.type(), builder.getStringAttr("llvm.x86.avx512." + name), operands,
      LLVM::FastmathFlagsAttr::get(builder.getContext(), {}));
  return Lanes(where, created.getResult(0));
}

static Value integer(LanesContext &where, unsigned width, int64_t value) {
  Type type = where.builder.getIntegerType(width);
  return where.builder.create<LLVM::ConstantOp>(where.loc, type,
                                                where.builder.getIntegerAttr(type, value));
}

/// Operands of the masked forms: every lane takes part, the rounding mode stays what it is.
static Value allLanes(Lanes x) {
  auto count = cast<VectorType>(x.type()).getNumElements();
  return integer(x.where(), static_cast<unsigned>(count), -1);
}
static Value currentRounding(Lanes x) { return integer(x.where(), 32, 4); }

static std::string withSuffix(Lanes x, const char *name) {
  return "mask." + std::string(name) + (x.width() == 32 ? ".ps.512" : ".pd.512");
}

static Lanes scaleByFloor(Lanes x, Lanes n) {
  return call(x, withSuffix(x, "scalef"),
              {x.get(), n.get(), x.get(), allLanes(x), currentRounding(x)});
}

/// Bits 0 and 1 of the operand: smaller, larger, smaller magnitude; bits 2 and 3: the sign of the
/// first number or of the result (Intel SDM volume 2, VRANGEPS).
enum Range : int64_t { smaller = 0b0100, larger = 0b0101, smallerMagnitude = 0b0010 };

static Lanes range(Lanes a, Lanes b, Range kind) {
  return call(
      a, withSuffix(a, "range"),
      {a.get(), b.get(), integer(a.where(), 32, kind), a.get(), allLanes(a), currentRounding(a)});
}

static Lanes lookUp(std::span<const float> table, Lanes indices, Lanes like) {
  LanesContext &where = like.where();
  auto entries = DenseElementsAttr::get(cast<ShapedType>(like.type()),
                                        llvm::ArrayRef<float>(table.data(), table.size()));
  Value constant = where.builder.create<arith::ConstantOp>(where.loc, entries);
  return call(like, "permvar.sf.512", {constant, indices.get()});
}

/// The instruction takes subnormal numbers for zero: their exponent, which means the same as that
/// of the first normal numbers, is made the next one and taken back from the result.
static Lanes bf16FromSingle(Lanes number) {
  constexpr uint64_t exponent = 0x7f800000, firstNormal = 0x00800000;
  Lanes bits = bitsOf(number);
  Lanes isSmall = (bits & exponent) == bits.constantBits(0);
  Lanes moved = floatOf(select(isSmall, bits | firstNormal, bits));
  LanesContext &where = number.where();
  OpBuilder &builder = where.builder;
  Value rounded = builder
                      .create<LLVM::CallIntrinsicOp>(
                          where.loc, number.typeOf(builder.getBF16Type()),
                          builder.getStringAttr("llvm.x86.avx512bf16.cvtneps2bf16.512"),
                          moved.get(), LLVM::FastmathFlagsAttr::get(builder.getContext(), {}))
                      .getResult(0);
  Type i16 = number.typeOf(builder.getI16Type());
  Lanes result(where, builder.create<LLVM::BitcastOp>(where.loc, i16, rounded));
  return select(isSmall, result - result.constantBits(firstNormal >> 16), result);
}

namespace {
class Avx512 final : public lowering::LaneInstructions {
public:
  explicit Avx512(bool hasBf16) : hasBf16(hasBf16) {}

  Lanes scaleByFloor(Lanes x, Lanes n) const override { return cpu::scaleByFloor(x, n); }
  Lanes boundMagnitude(Lanes x, double limit) const override {
    return range(x, x.constant(limit), smallerMagnitude);
  }
  Lanes largerNumber(Lanes a, Lanes b) const override { return range(a, b, larger); }
  Lanes smallerNumber(Lanes a, Lanes b) const override { return range(a, b, smaller); }
  Lanes lookUp(std::span<const float> table, Lanes indices, Lanes like) const override {
    return cpu::lookUp(table, indices, like);
  }
  std::optional<Lanes> bf16FromSingle(Lanes number) const override {
    return hasBf16 ? std::optional(cpu::bf16FromSingle(number)) : std::nullopt;
  }

private:
  bool hasBf16;
};
} // namespace

const lowering::LaneInstructions &avx512Instructions(bool hasBf16) {
  static const Avx512 without(false), with(true);
  return hasBf16 ? with : without;
}

} // namespace nereid::cpu
