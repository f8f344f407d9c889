// SPDX-License-Identifier: Apache-2.0
#include "lib/targets/cpu/lower/block/ElementLoops.h"

using namespace mlir;

namespace nereid::cpu {

void forEachElement(KernelState &kernel, Scope &scope, Location loc, ArrayRef<int64_t> shape,
                    ElementBody body) {
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

void forBlocks(KernelState &kernel, OpBuilder &builder, Location loc, int64_t count, int64_t width,
               BlockBody body) {
  int64_t whole = count / width * width;
  auto emit = [&](int64_t start, int64_t end, int64_t step) {
    if (start >= end) {
      return;
    }
    if (start + step == end) {
      body(builder, kernel.i64(start), static_cast<unsigned>(step));
      return;
    }
    auto loop =
        builder.create<scf::ForOp>(loc, kernel.i64(start), kernel.i64(end), kernel.i64(step));
    OpBuilder inside(loop.getBody()->getTerminator());
    body(inside, loop.getInductionVar(), static_cast<unsigned>(step));
  };
  emit(0, whole, width);
  emit(whole, count, 1);
}

Value elementAddress(KernelState &kernel, OpBuilder &b, Location loc, int buffer, Value index) {
  Value base = kernel.bufferAddress(buffer);
  return b.create<LLVM::GEPOp>(loc, base.getType(), kernel.buffer(buffer).element, base,
                               ValueRange{index});
}

Value loadLanes(KernelState &kernel, OpBuilder &b, Location loc, int buffer, Value index,
                unsigned width) {
  Type memory = kernel.buffer(buffer).element;
  return b.create<LLVM::LoadOp>(loc, lanesOf(memory, width),
                                elementAddress(kernel, b, loc, buffer, index),
                                static_cast<unsigned>(KernelState::byteSize(memory)));
}

void storeLanes(KernelState &kernel, OpBuilder &b, Location loc, int buffer, Value index,
                Value lanes) {
  Type memory = kernel.buffer(buffer).element;
  b.create<LLVM::StoreOp>(loc, lanes, elementAddress(kernel, b, loc, buffer, index),
                          static_cast<unsigned>(KernelState::byteSize(memory)));
}

} // namespace nereid::cpu
