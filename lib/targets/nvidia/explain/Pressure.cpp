// SPDX-License-Identifier: Apache-2.0
#include "lib/targets/nvidia/explain/Pressure.h"

#include "lib/targets/nvidia/explain/Names.h"
#include "lib/targets/nvidia/layouts/OperandLayouts.h"
#include "lib/targets/nvidia/threads/ThreadCode.h"

#include "mlir/Analysis/Liveness.h"

#include <fmt/format.h>

#include <algorithm>

using namespace mlir;

namespace nereid::nvidia {
namespace {

struct Held {
  Value tile;
  int64_t registers = 0;
};

/// Of 32 bits, for what a thread holds of the tile; 0 for what needs none of its own.
int64_t registersOf(Value tile) {
  Operation *op = tile.getDefiningOp();
  const Type element = tile::elementTypeOf(tile.getType());
  const bool isOfScalars = op && isa<tile::SplatOp, tile::MakeRangeOp, arith::ConstantOp>(op);
  const bool isMoved =
      op && isa<tile::BroadcastOp, tile::ExpandDimsOp, tile::ReshapeOp, tile::TransOp>(op);
  if (isOfScalars || isMoved || (op && isa<ReadCopyOp>(op)) || isa<tile::PtrType>(element)) {
    return 0;
  }
  const auto layout = layoutOf(tile);
  const int64_t count = layout ? layout->count(layout::Holder::Register) : 0;
  return (count * memoryBits(element) + 31) / 32;
}

/// What is needed when `op` begins, the largest tiles first: what it makes takes the place of what
/// it is made of, register by register, or counts from the next operation on.
SmallVector<Held> heldAt(Operation *op, const Liveness &liveness) {
  SmallVector<Held> held;
  for (Value value : liveness.getLiveness(op->getBlock())->currentlyLiveValues(op)) {
    const bool isOld = isTile(value) && value.getDefiningOp() != op;
    if (const int64_t registers = isOld ? registersOf(value) : 0; registers > 0) {
      held.push_back({value, registers});
    }
  }
  std::stable_sort(held.begin(), held.end(), [](const Held &left, const Held &right) {
    return left.registers > right.registers;
  });
  return held;
}

} // namespace

std::optional<FullestPlace> fullestPlace(Operation *kernel, const pipeline::CompileState &state) {
  const Liveness liveness(kernel);
  Operation *fullest = nullptr;
  SmallVector<Held> most;
  int64_t mostRegisters = 0;
  kernel->walk<WalkOrder::PreOrder>([&](Operation *op) {
    if (op == kernel) {
      return;
    }
    SmallVector<Held> held = heldAt(op, liveness);
    int64_t registers = 0;
    for (const Held &one : held) {
      registers += one.registers;
    }
    if (registers > mostRegisters) {
      fullest = op;
      most = std::move(held);
      mostRegisters = registers;
    }
  });
  if (!fullest) {
    return std::nullopt;
  }
  Diagnostic place;
  pipeline::putAt(place, fullest->getLoc(), state.input.path, state.inputText);
  constexpr size_t mostNamed = 3;
  std::vector<std::string> names;
  for (const Held &one : ArrayRef<Held>(most).take_front(mostNamed)) {
    names.push_back(fmt::format("{} of {} by {}", one.registers, tileName(one.tile),
                                operationName(makerOf(one.tile))));
  }
  place.note(fmt::format("here a thread holds {} registers of tiles, the most of the kernel: {}{}",
                         mostRegisters, fmt::join(names, ", "),
                         most.size() > mostNamed ? ", …" : ""));
  return FullestPlace{mostRegisters, std::move(place)};
}

std::optional<Diagnostic> excessOfRegisters(Operation *kernel,
                                            const pipeline::CompileState &state) {
  constexpr int64_t ofThread = 255, times = 8;
  int64_t largest = 0; // of a single tile: looking for all that are held takes longer
  kernel->walk([&](Operation *op) {
    for (Value result : op->getResults()) {
      largest = std::max(largest, isTile(result) ? registersOf(result) : 0);
    }
  });
  if (2 * largest < ofThread) {
    return std::nullopt;
  }
  auto fullest = fullestPlace(kernel, state);
  if (!fullest || fullest->registers <= times * ofThread) {
    return std::nullopt;
  }
  Diagnostic error = std::move(fullest->place);
  error.severity = Severity::Error;
  error.code = "E0501";
  error.message =
      fmt::format("the tiles of this kernel need {} registers of a thread, but {} has {}, and code "
                  "is made for {} times as many at most",
                  fullest->registers, state.target->features(), ofThread, times);
  if (error.file.empty()) {
    error.file = state.input.path;
  }
  return error.withHelp("smaller blocks, or more warps by num_warps, give a thread less to hold");
}

} // namespace nereid::nvidia
