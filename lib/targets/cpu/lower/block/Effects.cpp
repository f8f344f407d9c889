// SPDX-License-Identifier: Apache-2.0
// print and assert: one call into the runtime per element, in row-major order. For finding errors,
// not for speed.
#include "lib/targets/cpu/lower/block/ElementLoops.h"
#include "lib/targets/cpu/lower/block/Operations.h"
#include "lib/targets/cpu/lower/block/RuntimeCalls.h"
#include "lib/tile/ir/PrintDescription.h"

using namespace mlir;

namespace nereid::cpu {

/// The element as the runtime takes it: a float as the bits of a double, unless its own are asked
/// for; an integer extended by its sign.
static Value printedBits(OpBuilder &b, Location loc, Value value, char form) {
  if (!isa<FloatType>(value.getType())) {
    const bool isZeroExtended = form == 'u' && value.getType().isInteger();
    return isZeroExtended && !value.getType().isInteger(64)
               ? b.create<arith::ExtUIOp>(loc, b.getI64Type(), value).getResult()
               : convertElements(b, loc, value, b.getI64Type());
  }
  if (form == 'f') {
    Value wide = convertElements(b, loc, value, b.getF64Type());
    return b.create<arith::BitcastOp>(loc, b.getI64Type(), wide);
  }
  Type bits = b.getIntegerType(value.getType().getIntOrFloatBitWidth());
  Value narrow = b.create<arith::BitcastOp>(loc, bits, value);
  return bits.isInteger(64) ? narrow : b.create<arith::ExtUIOp>(loc, b.getI64Type(), narrow);
}

void lowerPrint(BlockLowering &block, tile::PrintOp op) {
  KernelState &kernel = block.kernel;
  Location loc = op.getLoc();
  auto call = [&](OpBuilder &b, Value description, Value index, Value bits) {
    callRuntime(kernel, b, loc, "nereid_rt_print", {description, kernel.idArgument, index, bits});
  };
  if (op.getValues().empty()) {
    Value text = textAddress(kernel, block.builder(), tile::printDescription(op, 0), loc);
    call(block.builder(), text, kernel.i64(0), kernel.i64(0));
  }
  for (auto [number, value] : llvm::enumerate(op.getValues())) {
    const std::string description = tile::printDescription(op, static_cast<unsigned>(number));
    Value text = textAddress(kernel, block.builder(), description, loc);
    if (!isTile(value)) {
      Value bits = printedBits(block.builder(), loc, kernel.scalar(value), description[0]);
      call(block.builder(), text, kernel.i64(0), bits);
      continue;
    }
    forEachElement(
        kernel, block.scope, loc, shapeOf(value), [&](Evaluator &evaluator, Value index) {
          Value element = evaluator.evaluate(value, identityDims(shapeOf(value).size()), 0);
          OpBuilder &inside = evaluator.scopes.back()->builder;
          call(inside, text, index, printedBits(inside, loc, element, description[0]));
        });
  }
}

void lowerAssert(BlockLowering &block, tile::AssertOp op) {
  KernelState &kernel = block.kernel;
  Location loc = op.getLoc();
  Place place = placeOf(loc);
  std::string text = op.getMessage().str();
  if (place.line != 0) {
    text = place.file + ":" + std::to_string(place.line) + ": " + text;
  }
  Value message = textAddress(kernel, block.builder(), text, loc);
  Value condition = op.getCondition();
  auto check = [&](OpBuilder &b, Value holds) {
    Value fails = b.create<arith::XOrIOp>(loc, holds, kernel.constantInt(b.getI1Type(), 1));
    auto branch = b.create<scf::IfOp>(loc, fails, false);
    OpBuilder then = branch.getThenBodyBuilder();
    callRuntime(kernel, then, loc, "nereid_rt_assert_fail", {message, kernel.idArgument});
  };
  if (!isTile(condition)) {
    check(block.builder(), kernel.scalar(condition));
    return;
  }
  forEachElement(kernel, block.scope, loc, shapeOf(condition), [&](Evaluator &evaluator, Value) {
    Value holds = evaluator.evaluate(condition, identityDims(shapeOf(condition).size()), 0);
    check(evaluator.scopes.back()->builder, holds);
  });
}

} // namespace nereid::cpu
