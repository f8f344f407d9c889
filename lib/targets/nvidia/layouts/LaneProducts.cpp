// SPDX-License-Identifier: Apache-2.0
#include "lib/targets/nvidia/layouts/LaneProducts.h"

#include "lib/targets/nvidia/ir/Nvidia.h"
#include "lib/targets/nvidia/threads/Staging.h"

#include "llvm/Support/MathExtras.h"

using namespace mlir;

namespace nereid::nvidia {

using layout::LinearLayout;

namespace {

constexpr size_t bitsOfVector = 2; // four numbers of 32 bits

/// Bits of one dimension of the result that no holder has yet, lowest first.
class Bits {
public:
  Bits(int64_t size, int64_t unit) {
    for (int64_t step = 1; step < size; step *= 2) {
      left.push_back(step * unit);
    }
  }
  bool isEmpty() const { return left.empty(); }
  int64_t lowest() {
    const int64_t bit = left.front();
    left.erase(left.begin());
    return bit;
  }
  int64_t highest() {
    const int64_t bit = left.back();
    left.pop_back();
    return bit;
  }

private:
  LinearLayout::Bases left;
};

/// A bit of the first list, else of the second; 0, which makes replicas, where both are empty.
int64_t lowestOf(Bits &first, Bits &second) {
  return !first.isEmpty() ? first.lowest() : !second.isEmpty() ? second.lowest() : 0;
}

} // namespace

bool isLaneProduct(Operation *op) {
  auto dot = cast<tile::DotOp>(op);
  constexpr int64_t leastSide = 4, bytes = 4;
  const auto left = shapeOf(dot.getA()), result = shapeOf(dot.getResult());
  if (usesMatrixUnit(op) || result.size() != 2 ||
      !tile::elementTypeOf(dot.getA().getType()).isF32() ||
      !tile::elementTypeOf(dot.getResult().getType()).isF32()) {
    return false;
  }
  return std::min({result[0], result[1], left[1]}) >= leastSide &&
         (result[0] + result[1]) * left[1] * bytes <= mostStagedBytes;
}

int64_t fastestOfFactor(tile::DotOp dot, unsigned operand) {
  if (auto read = dot->getOperand(operand).getDefiningOp<ReadCopyOp>()) {
    const auto fastest = static_cast<int64_t>(read.getFastest());
    return read.getTransposed() ? 1 - fastest : fastest;
  }
  return 1;
}

LinearLayout laneProductLayout(tile::DotOp dot, const Threads &threads) {
  const LinearLayout::Shape shape = shapeOf(dot.getResult());
  Bits rows(shape[0], shape[1]), columns(shape[1], 1);
  const auto all = static_cast<uint64_t>(shape[0] * shape[1]);
  const auto lanes = static_cast<size_t>(llvm::Log2_64(static_cast<uint64_t>(threads.lanes)));
  const auto warps = static_cast<size_t>(llvm::Log2_64(static_cast<uint64_t>(threads.warps)));
  const size_t bits = llvm::Log2_64(all), ofThread = bits - std::min(bits, lanes + warps);
  LinearLayout::Bases registers, ofLanes, ofWarps;
  size_t ofRows = 0, ofColumns = 0; // bits that registers have
  auto takeVector = [&](Bits &dim, size_t &count) {
    while (count < bitsOfVector && registers.size() < ofThread && !dim.isEmpty()) {
      registers.push_back(dim.lowest());
      ++count;
    }
  };
  if (fastestOfFactor(dot, 1) == 1) {
    takeVector(columns, ofColumns);
  }
  if (fastestOfFactor(dot, 0) == 0) {
    takeVector(rows, ofRows);
  }
  // Eight lanes read at a time: all banks of a row of the right operand.
  constexpr size_t alongColumns = 3;
  for (size_t bit = 0; bit < lanes; ++bit) {
    ofLanes.push_back(bit < alongColumns ? lowestOf(columns, rows) : lowestOf(rows, columns));
  }
  while (registers.size() < ofThread) {
    const bool takesRow = columns.isEmpty() || (!rows.isEmpty() && ofRows < ofColumns);
    registers.push_back(takesRow ? rows.highest() : columns.highest());
    ++(takesRow ? ofRows : ofColumns);
  }
  for (size_t bit = 0; bit < warps; ++bit) {
    ofWarps.push_back(lowestOf(rows, columns));
  }
  return {
      {shape.begin(), shape.end()}, std::move(registers), std::move(ofLanes), std::move(ofWarps)};
}

} // namespace nereid::nvidia
