// SPDX-License-Identifier: Apache-2.0
// `tile-print-mask-bounds`: say which intervals the masks of accesses are.
// Why: the analysis is tested by what it says at each line, not through kernels that use it.
// Requires: tile IR. Guarantees: the program stays as it is; the remarks hold where no sum of 32
// and more bits leaves its type. Example: at a load with the mask `(rows[:, None] < m) & (2 *
// columns >= 3)[None, :] & is_on` the remark `mask: dim 0 < limit, 2 * dim 1 >= limit, uniform`; a
// term that is no bound is `other`.
#include "lib/tile/analysis/MaskBounds.h"

#include "lib/tile/analysis/axis/AxisInfo.h"
#include "lib/tile/ir/Tile.h"

#include "mlir/Pass/Pass.h"

#include <numeric>

namespace nereid::tile {
namespace {

/// Numbers of fewer bits may wrap around, see Overflow.
constexpr unsigned leastWidth = 32;

std::optional<int64_t> stepOf(const AxisInfo &info, unsigned dim) {
  if (dim >= info.axes.size() || !info.axes[dim].isWhole()) {
    return std::nullopt;
  }
  const std::optional<int64_t> stride = info.axes[dim].stride;
  return stride == 0 || info.width >= leastWidth ? stride : std::nullopt;
}

mlir::Value maskOf(mlir::Operation *op) {
  if (auto load = mlir::dyn_cast<LoadOp>(op)) {
    return load.getMask();
  }
  if (auto store = mlir::dyn_cast<StoreOp>(op)) {
    return store.getMask();
  }
  auto atomic = mlir::dyn_cast<AtomicRMWOp>(op);
  return atomic ? atomic.getMask() : mlir::Value();
}

struct PrintMaskBoundsPass
    : mlir::PassWrapper<PrintMaskBoundsPass, mlir::OperationPass<mlir::ModuleOp>> {
  MLIR_DEFINE_EXPLICIT_INTERNAL_INLINE_TYPE_ID(PrintMaskBoundsPass)

  llvm::StringRef getArgument() const final { return "tile-print-mask-bounds"; }
  llvm::StringRef getDescription() const final { return "say which intervals masks are"; }

  void runOnOperation() final {
    const AxisInfos infos(getOperation(), Overflow::Excluded);
    getOperation()->walk([&](mlir::Operation *op) {
      const mlir::Value mask = maskOf(op);
      if (!mask) {
        return;
      }
      Dims dims(shapeOf(mask.getType()).size());
      std::iota(dims.begin(), dims.end(), int8_t(0));
      std::string text;
      visitMaskTerms(
          mask, dims, [](mlir::Value) { return false; },
          [&](mlir::Value term, const Dims &at) {
            text += (text.empty() ? "" : ", ") + describe(infos, term, at);
          });
      op->emitRemark() << "mask: " << text;
    });
  }

  static std::string describe(const AxisInfos &infos, mlir::Value term, const Dims &at) {
    llvm::SmallVector<unsigned> varying;
    const AxisInfo own = infos.of(term);
    for (unsigned i = 0; i < at.size(); ++i) {
      if (at[i] != zeroDim && !own.isUniform(i)) {
        varying.push_back(i);
      }
    }
    if (varying.empty()) {
      return "uniform";
    }
    const unsigned dim = varying.front();
    const auto bound =
        varying.size() > 1
            ? std::optional<MaskBound>()
            : boundOf(term, [&](mlir::Value tile) { return stepOf(infos.of(tile), dim); });
    if (!bound) {
      return "other";
    }
    const std::string factor = bound->stride == 1 ? "" : std::to_string(bound->stride) + " * ";
    const char *const sign =
        bound->isLower ? (bound->inclusive ? " > " : " >= ") : (bound->inclusive ? " <= " : " < ");
    return factor + "dim " + std::to_string(at[dim]) + sign + "limit";
  }
};

} // namespace

std::unique_ptr<mlir::Pass> createPrintMaskBoundsPass() {
  return std::make_unique<PrintMaskBoundsPass>();
}

} // namespace nereid::tile
