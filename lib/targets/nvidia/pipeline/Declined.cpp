// SPDX-License-Identifier: Apache-2.0
#include "lib/targets/nvidia/pipeline/Declined.h"

#include "lib/targets/nvidia/explain/Names.h"
#include "lib/targets/nvidia/layouts/LaneProducts.h"

#include "mlir/IR/Diagnostics.h"

#include <fmt/format.h>

using namespace mlir;

namespace nereid::nvidia {

void declineLoop(scf::ForOp loop, Operation *at, const Twine &why) {
  if (!loop.getBody()->getOps<tile::DotOp>().empty()) {
    emitRemark(at->getLoc()) << "operands of products are not copied ahead: " << why << " [R0404]";
  }
}

void declineTurns(scf::ForOp loop, Operation *found) {
  if (isa<scf::ForOp, scf::WhileOp>(found)) {
    declineLoop(loop, found, "the loop around this one would have to run it ahead");
  } else {
    declineLoop(loop, found,
                "'" + found->getName().getStringRef() + "' has to stay in its turn of the loop");
  }
}

void declineOperands(scf::ForOp loop) {
  for (auto dot : loop.getBody()->getOps<tile::DotOp>()) {
    const Type element = tile::elementTypeOf(dot.getA().getType());
    if (element.isF32() && usesMatrixUnit(dot)) {
      declineLoop(loop, dot, "a product of tensor floats takes them from registers");
    } else if (!element.isF16() && !element.isBF16() && !isLaneProduct(dot)) {
      declineLoop(loop, dot, "their elements are not of type f16, bf16 or f32");
    } else if (!usesMatrixUnit(dot) && !isLaneProduct(dot)) {
      declineLoop(loop, dot, "no matrix instruction makes a product of such blocks and types");
    } else {
      declineLoop(loop, dot,
                  "neither is a block that is loaded and used as it is, by products of "
                  "the loop alone");
    }
  }
}

LogicalResult refuseStages(scf::ForOp loop, ArrayRef<StagedLoad> loads, const StagesAsked &asked,
                           const NvidiaMachine &machine) {
  InFlightDiagnostic error =
      emitError(loop.getLoc()) << fmt::format(
          "operands of products need {} bytes of shared memory for num_stages={}, but {} has {} "
          "and {} of them are left [E0501]",
          asked.bytes, asked.count, machine.name, machine.sharedBytes, asked.room);
  std::vector<std::string> slots;
  for (StagedLoad one : loads) {
    slots.push_back(fmt::format("{} for {}", one.bytes(), tileName(one.load.getResult())));
  }
  error.attachNote() << fmt::format("bytes of each of the {} stages: {}", asked.count,
                                    fmt::join(slots, ", "));
  error.attachNote() << fmt::format("num_stages={} is the most for these blocks", asked.fitting);
  error.attachNote() << "help: use fewer stages or smaller blocks";
  return error;
}

} // namespace nereid::nvidia
