// SPDX-License-Identifier: Apache-2.0
#include "lib/targets/nvidia/occupancy/RegisterLimit.h"

#include "lib/targets/nvidia/ir/Nvidia.h"
#include "lib/targets/nvidia/layouts/LaneProducts.h"
#include "lib/targets/nvidia/occupancy/Occupancy.h"
#include "lib/targets/nvidia/threads/ThreadCode.h"
#include "lib/tile/ir/Attributes.h"

#include <algorithm>

using namespace mlir;

namespace nereid::nvidia {

using layout::Holder;

namespace {

/// Of 32 bits, that a thread holds of a single tile of numbers.
int64_t mostWords(func::FuncOp kernel) {
  int64_t most = 0;
  kernel.walk([&](Operation *op) {
    for (Value result : op->getResults()) {
      auto layout = isTile(result) ? layoutOf(result) : std::nullopt;
      const Type element = tile::elementTypeOf(result.getType());
      if (layout && !isa<tile::PtrType>(element)) {
        const unsigned bits = memoryBits(element);
        most = std::max<int64_t>(most, layout->count(Holder::Register) * (bits > 32 ? 2 : 1));
      }
    }
  });
  return most;
}

/// Of 32 bits, that a thread needs for the elements of a load and for their addresses, one of each
/// vector.
int64_t wordsOfLoad(tile::LoadOp load, const tile::AxisInfos &axes) {
  if (!isTile(load.getResult())) {
    return 0;
  }
  const tile::AxisInfo info = axes.of(load.getPointer());
  const int64_t count = layoutOf(load.getResult())->count(Holder::Register);
  const int64_t bytes = memoryBits(tile::elementTypeOf(load.getType())) / 8;
  int64_t vector = bytes;
  for (unsigned dim = 0; dim < shapeOf(load.getResult()).size(); ++dim) {
    vector = std::max(
        vector, std::min({int64_t{16}, info.contiguity(dim) * bytes, info.divisibility(dim)}));
  }
  return count * bytes / 4 + 2 * count * bytes / vector;
}

/// Of 32 bits, that a thread holds of a product's factors while it multiplies: a lane's, where they
/// run along k, for four steps, else for two.
int64_t wordsOfFactors(tile::DotOp dot) {
  if (!isLaneProduct(dot)) {
    return 0;
  }
  const layout::LinearLayout sums = *layoutOf(dot.getResult());
  int64_t columns = 1;
  for (int64_t basis : sums.bases(Holder::Register)) {
    columns *= basis < sums.shape()[1] ? 2 : 1;
  }
  const int64_t rows = sums.count(Holder::Register) / columns;
  return rows * (fastestOfFactor(dot, 0) == 1 ? 4 : 2) +
         columns * (fastestOfFactor(dot, 1) == 0 ? 4 : 2);
}

/// Of 32 bits, that a thread needs for the addresses of a copy, one of each vector.
int64_t wordsOfCopy(AsyncCopyOp copy, const tile::AxisInfos &axes) {
  const tile::AxisInfo info = axes.of(copy.getPointer());
  const auto fastest = static_cast<unsigned>(copy.getFastest());
  const Type element =
      cast<tile::PtrType>(tile::elementTypeOf(copy.getPointer().getType())).getPointee();
  const int64_t bytes = memoryBits(element) / 8;
  const int64_t vector = std::max(
      bytes, std::min({int64_t{16}, info.contiguity(fastest) * bytes, info.divisibility(fastest)}));
  return 2 * layoutOf(copy.getPointer())->count(Holder::Register) * bytes / vector;
}

} // namespace

std::optional<int64_t> mostRegisters(func::FuncOp kernel, const NvidiaMachine &machine,
                                     const tile::AxisInfos &axes, int64_t sharedBytes) {
  if (auto given = kernel->getAttrOfType<IntegerAttr>(tile::attribute::maxRegisters)) {
    return given.getInt();
  }
  constexpr int64_t besides = 60, unit = 8, most = 255;
  if (!kernel->hasAttr(copyBytesAttribute)) {
    // Where a tile alone fills half of what a thread can have, ptxas gives up and takes 32.
    const int64_t threads = threadsOf(kernel).ofBlock();
    const int64_t ofThread = multiprocessorOf(machine.capability)->registers / threads;
    const int64_t available = std::min(most, ofThread / unit * unit);
    return 2 * mostWords(kernel) > available ? std::optional(available) : std::nullopt;
  }
  llvm::DenseMap<Block *, int64_t> heldIn;
  int64_t held = 0;
  kernel.walk([&](tile::DotOp dot) {
    auto [place, isFirst] = heldIn.try_emplace(dot->getBlock(), 0);
    if (isFirst) {
      for (auto load : dot->getBlock()->getOps<tile::LoadOp>()) {
        place->second += wordsOfLoad(load, axes);
      }
      for (auto copy : dot->getBlock()->getOps<AsyncCopyOp>()) {
        place->second += isLaneProduct(dot) ? wordsOfCopy(copy, axes) : 0;
      }
    }
    place->second += layoutOf(dot.getResult())->count(Holder::Register) + wordsOfFactors(dot);
    held = std::max(held, place->second);
  });
  const Multiprocessor processor = *multiprocessorOf(machine.capability);
  const int64_t threads = threadsOf(kernel).ofBlock();
  int64_t programs = occupancy(processor, {}, threads, sharedBytes).programs;
  const auto registersFor = [&](int64_t count) {
    return processor.registers / (threads * count) / unit * unit;
  };
  while (programs > 1 && registersFor(programs) < held + besides) {
    --programs;
  }
  return programs > 1 && registersFor(programs) < most ? std::optional(registersFor(programs))
                                                       : std::nullopt;
}

} // namespace nereid::nvidia
