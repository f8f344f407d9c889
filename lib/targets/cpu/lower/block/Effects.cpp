// SPDX-License-Identifier: Apache-2.0
// print and assert: one call into the runtime per element, in row-major order. For finding errors,
// not for speed.
#include "lib/targets/cpu/lower/block/BlockLowering.h"
#include "lib/tile/ir/PrintDescription.h"

using namespace mlir;

namespace nereid::cpu {

void BlockLowering::callRuntime(OpBuilder &b, Location loc, StringRef name, ValueRange arguments) {
  auto module = kernel.target->getParentOfType<ModuleOp>();
  auto function = module.lookupSymbol<LLVM::LLVMFuncOp>(name);
  if (!function) {
    SmallVector<Type> types(arguments.getTypes());
    auto type = LLVM::LLVMFunctionType::get(LLVM::LLVMVoidType::get(b.getContext()), types);
    OpBuilder top = OpBuilder::atBlockBegin(module.getBody());
    function = top.create<LLVM::LLVMFuncOp>(loc, name, type);
  }
  b.create<LLVM::CallOp>(loc, function, arguments);
}

Value BlockLowering::textAddress(OpBuilder &b, StringRef text, Location loc) {
  auto module = kernel.target->getParentOfType<ModuleOp>();
  OpBuilder top = OpBuilder::atBlockBegin(module.getBody());
  std::string zeroEnded = text.str() + '\0';
  auto type = LLVM::LLVMArrayType::get(top.getI8Type(), zeroEnded.size());
  std::string name =
      "nereid_text_" + kernel.target.getName().str() + "_" + std::to_string(kernel.stringCount++);
  auto global = top.create<LLVM::GlobalOp>(loc, type, /*isConstant=*/true, LLVM::Linkage::Internal,
                                           name, top.getStringAttr(zeroEnded));
  return b.create<LLVM::AddressOfOp>(loc, global);
}

void BlockLowering::forEachElement(Location loc, ArrayRef<int64_t> shape, ElementBody body) {
  Evaluator evaluator(kernel);
  evaluator.dimLevel.assign(shape.size(), 0);
  evaluator.dimIndex.assign(shape.size(), kernel.i64(0));
  SmallVector<std::unique_ptr<Scope>> scopes;
  scopes.push_back(std::make_unique<Scope>(scope.builder));
  evaluator.scopes.push_back(scopes.back().get());
  SmallVector<scf::ForOp> loops;
  Value index = kernel.i64(0);
  for (unsigned d = 0; d < shape.size(); ++d) {
    OpBuilder &outer = evaluator.scopes.back()->builder;
    auto loop = outer.create<scf::ForOp>(loc, kernel.i64(0), kernel.i64(shape[d]), kernel.i64(1));
    outer.setInsertionPoint(loop);
    loops.push_back(loop);
    scopes.push_back(std::make_unique<Scope>(OpBuilder(loop.getBody()->getTerminator())));
    OpBuilder &inside = scopes.back()->builder;
    Value scaled = inside.create<arith::MulIOp>(loc, index, kernel.i64(shape[d]));
    index = inside.create<arith::AddIOp>(loc, scaled, loop.getInductionVar());
    evaluator.scopes.push_back(scopes.back().get());
    evaluator.dimLevel[d] = static_cast<int>(d) + 1;
    evaluator.dimIndex[d] = loop.getInductionVar();
  }
  body(evaluator, index);
  if (!loops.empty()) {
    scope.builder.setInsertionPointAfter(loops.front());
  }
}

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

void BlockLowering::lowerPrint(tile::PrintOp op) {
  Location loc = op.getLoc();
  auto call = [&](OpBuilder &b, Value description, Value index, Value bits) {
    callRuntime(b, loc, "nereid_rt_print", {description, kernel.idArgument, index, bits});
  };
  if (op.getValues().empty()) {
    Value text = textAddress(builder(), tile::printDescription(op, 0), loc);
    call(builder(), text, kernel.i64(0), kernel.i64(0));
  }
  for (auto [number, value] : llvm::enumerate(op.getValues())) {
    const std::string description = tile::printDescription(op, static_cast<unsigned>(number));
    Value text = textAddress(builder(), description, loc);
    if (!isTile(value)) {
      Value bits = printedBits(builder(), loc, kernel.scalar(value), description[0]);
      call(builder(), text, kernel.i64(0), bits);
      continue;
    }
    forEachElement(loc, shapeOf(value), [&](Evaluator &evaluator, Value index) {
      Value element = evaluator.evaluate(value, identityDims(shapeOf(value).size()), 0);
      OpBuilder &inside = evaluator.scopes.back()->builder;
      call(inside, text, index, printedBits(inside, loc, element, description[0]));
    });
  }
}

void BlockLowering::lowerAssert(tile::AssertOp op) {
  Location loc = op.getLoc();
  Place place = placeOf(loc);
  std::string text = op.getMessage().str();
  if (place.line != 0) {
    text = place.file + ":" + std::to_string(place.line) + ": " + text;
  }
  Value message = textAddress(builder(), text, loc);
  Value condition = op.getCondition();
  auto check = [&](OpBuilder &b, Value holds) {
    Value fails = b.create<arith::XOrIOp>(loc, holds, kernel.constantInt(b.getI1Type(), 1));
    auto branch = b.create<scf::IfOp>(loc, fails, false);
    OpBuilder then = branch.getThenBodyBuilder();
    callRuntime(then, loc, "nereid_rt_assert_fail", {message, kernel.idArgument});
  };
  if (!isTile(condition)) {
    check(builder(), kernel.scalar(condition));
    return;
  }
  forEachElement(loc, shapeOf(condition), [&](Evaluator &evaluator, Value) {
    Value holds = evaluator.evaluate(condition, identityDims(shapeOf(condition).size()), 0);
    check(evaluator.scopes.back()->builder, holds);
  });
}

} // namespace nereid::cpu
