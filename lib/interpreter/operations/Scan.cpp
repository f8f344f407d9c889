// SPDX-License-Identifier: Apache-2.0
// Scans, element after element along the axis: the region sees what a loop written by hand would
// give it, the combination so far on the left and the next element on the right.
#include "lib/interpreter/operations/Combine.h"

namespace nereid::interpreter {
namespace {

bool scan(Instance &instance, mlir::Operation *op) {
  auto scan = mlir::cast<tile::ScanOp>(op);
  const size_t axis = scan.getAxis();
  Tiles sources, scanned;
  for (mlir::Value source : scan.getSources()) {
    sources.push_back(axisToFront(instance.get(source), axis));
    scanned.push_back(sources.back().like(sources.back().type));
  }
  const auto length = static_cast<size_t>(sources.front().shape[axis]);
  const size_t inner = sources.front().size() / length;
  Tiles sofar;
  for (size_t step = 0; step < length; ++step) {
    const size_t place = scan.getReverse() ? length - 1 - step : step;
    Tiles next;
    for (const Tile &source : sources) {
      next.push_back(slice(source, place, place + 1, inner));
    }
    if (step == 0) {
      sofar = std::move(next);
    } else if (Tiles results; combine(instance, scan.getCombine().front(), sofar, next, results)) {
      sofar = std::move(results);
    } else {
      return false;
    }
    for (auto [result, tile] : llvm::zip(scanned, sofar)) {
      std::copy(tile.words.begin(), tile.words.end(), result.words.begin() + place * inner);
    }
  }
  for (auto [value, tile] : llvm::zip(scan.getResults(), scanned)) {
    instance.set(value, axisFromFront(tile, axis));
  }
  return true;
}

} // namespace

void addScanHandlers(HandlerTable &table) { table.add<tile::ScanOp>(scan); }

} // namespace nereid::interpreter
