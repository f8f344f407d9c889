// SPDX-License-Identifier: Apache-2.0
// `tile-prepare-histograms`: what a histogram does not count gets the number behind its last bin.
// Why: a target that has one bin more counts there without comparing or branching, and in tile IR
// the clamping fuses with whatever makes the elements. Requires: tile IR. Guarantees: the same
// counts; every histogram has a source of i32 with numbers from 0 to the number of bins, and no
// mask. Example: `histogram x mask m` of 8 bins becomes `histogram (m ? minui(x, 8) : 8)`.
#include "lib/tile/transforms/Passes.h"

using namespace mlir;

namespace nereid::tile {
namespace {

void prepare(HistogramOp op) {
  OpBuilder b(op);
  Location loc = op.getLoc();
  Value source = op.getSource();
  auto type = cast<RankedTensorType>(source.getType());
  int64_t bins = shapeOf(op.getResult().getType())[0];
  if (type.getElementTypeBitWidth() < 32) {
    bool isBool = type.getElementType().isInteger(1);
    type = type.clone(b.getI32Type());
    source = isBool ? b.create<arith::ExtUIOp>(loc, type, source).getResult()
                    : b.create<arith::ExtSIOp>(loc, type, source).getResult();
  }
  Value beyond = b.create<arith::ConstantOp>(
      loc, DenseElementsAttr::get(type, b.getIntegerAttr(type.getElementType(), bins)));
  source = b.create<arith::MinUIOp>(loc, source, beyond);
  if (op.getMask()) {
    source = b.create<arith::SelectOp>(loc, op.getMask(), source, beyond);
  }
  if (type.getElementTypeBitWidth() > 32) {
    source = b.create<arith::TruncIOp>(loc, type.clone(b.getI32Type()), source);
  }
  op.getSourceMutable().assign(source);
  op.getMaskMutable().clear();
}

struct PrepareHistogramsPass : PassWrapper<PrepareHistogramsPass, OperationPass<>> {
  MLIR_DEFINE_EXPLICIT_INTERNAL_INLINE_TYPE_ID(PrepareHistogramsPass)

  StringRef getArgument() const final { return "tile-prepare-histograms"; }
  StringRef getDescription() const final {
    return "give what a histogram does not count the number behind its last bin";
  }

  void runOnOperation() final { getOperation()->walk(prepare); }
};

} // namespace

std::unique_ptr<Pass> createPrepareHistogramsPass() {
  return std::make_unique<PrepareHistogramsPass>();
}

} // namespace nereid::tile
