// SPDX-License-Identifier: Apache-2.0
#include "lib/targets/cpu/codegen/math/Avx512.h"

#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/LLVMIR/LLVMDialect.h"
#include "mlir/IR/BuiltinTypes.h"

#include <string>

using namespace mlir;

namespace nereid::cpu {

bool isFullAvx512(Lanes x) {
  auto vector = dyn_cast<VectorType>(x.type());
  const CpuMachine &machine = x.where().machine;
  return machine.hasAvx512 && vector && x.isFloat() && x.width() >= 32 &&
         8 * machine.vectorBytes == vector.getNumElements() * x.width();
}

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

Lanes scaleByFloor(Lanes x, Lanes n) {
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

Lanes boundMagnitude(Lanes x, double limit) {
  return range(x, x.constant(limit), smallerMagnitude);
}
Lanes largerNumber(Lanes a, Lanes b) { return range(a, b, larger); }
Lanes smallerNumber(Lanes a, Lanes b) { return range(a, b, smaller); }

Lanes lookUp(std::span<const float> table, Lanes indices, Lanes like) {
  LanesContext &where = like.where();
  auto entries = DenseElementsAttr::get(cast<ShapedType>(like.type()),
                                        llvm::ArrayRef<float>(table.data(), table.size()));
  Value constant = where.builder.create<arith::ConstantOp>(where.loc, entries);
  return call(like, "permvar.sf.512", {constant, indices.get()});
}

Lanes intervalPolynomial(std::span<const float[16]> rows, Lanes indices, Lanes t) {
  auto coefficient = [&](size_t row) { return lookUp(rows[row], indices, t); };
  auto pair = [&](size_t row) {
    return row + 1 < rows.size() ? mulAdd(coefficient(row + 1), t, coefficient(row))
                                 : coefficient(row);
  };
  Lanes square = t * t;
  size_t row = (rows.size() - 1) / 2 * 2;
  Lanes sum = pair(row);
  while (row > 0) {
    row -= 2;
    sum = mulAdd(sum, square, pair(row));
  }
  return sum;
}

} // namespace nereid::cpu
