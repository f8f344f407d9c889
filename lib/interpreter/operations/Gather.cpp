// SPDX-License-Identifier: Apache-2.0
// Elements picked by an index tile, and counted by value.
#include "lib/interpreter/Instance.h"

namespace nereid::interpreter {
namespace {

/// Places of the source's elements when the index tile is walked in row-major order: all
/// coordinates are the index's own but the one along the axis.
bool gather(Instance &instance, mlir::Operation *op) {
  auto gather = mlir::cast<tile::GatherOp>(op);
  const Tile &source = instance.get(gather.getSource()), &index = instance.get(gather.getIndex());
  const size_t axis = gather.getAxis();
  const int64_t length = source.shape[axis];
  int64_t inner = 1;
  for (size_t i = axis + 1; i < index.shape.size(); ++i) {
    inner *= index.shape[i];
  }
  Tile result = index.like(source.type);
  for (size_t i = 0, n = index.size(); i < n; ++i) {
    const int64_t at = index.integer(i);
    if (at < 0 || at >= length) {
      instance
          .report(op, "E0412",
                  "gather expects indices from 0 to " + std::to_string(length - 1) +
                      " along axis " + std::to_string(axis) + ", but got " + std::to_string(at))
          .note("at element " + tuple(coordinates(index.shape, static_cast<int64_t>(i)), '[', ']') +
                " of the index")
          .withHelp("clamp the index, or set it to 0 with tl.where where the result is not used");
      return false;
    }
    const int64_t outer = static_cast<int64_t>(i) / (inner * index.shape[axis]);
    const int64_t rest = static_cast<int64_t>(i) % inner;
    result.at(i) = source[static_cast<size_t>((outer * length + at) * inner + rest)];
  }
  return instance.finish(op, std::move(result));
}

bool histogram(Instance &instance, mlir::Operation *op) {
  auto histogram = mlir::cast<tile::HistogramOp>(op);
  const Tile &source = instance.get(histogram.getSource());
  const Tile *mask = histogram.getMask() ? &instance.get(histogram.getMask()) : nullptr;
  const int64_t bins = tile::shapeOf(op->getResult(0).getType()).front();
  Tile result = Tile::filled({}, {bins}, 0);
  for (size_t i = 0, n = source.size(); i < n; ++i) {
    const int64_t number = source.integer(i);
    if ((mask == nullptr || (*mask)[i] != 0) && number >= 0 && number < bins) {
      ++result.at(static_cast<size_t>(number));
    }
  }
  return instance.finish(op, std::move(result));
}

} // namespace

void addGatherHandlers(HandlerTable &table) {
  table.add<tile::GatherOp>(gather);
  table.add<tile::HistogramOp>(histogram);
}

} // namespace nereid::interpreter
