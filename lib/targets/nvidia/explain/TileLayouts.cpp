// SPDX-License-Identifier: Apache-2.0
#include "lib/targets/nvidia/explain/TileLayouts.h"

#include "lib/pipeline/kernel/KernelFunction.h"
#include "lib/targets/nvidia/explain/Names.h"
#include "lib/targets/nvidia/explain/SharedAccesses.h"

using namespace mlir;

namespace nereid::nvidia {

pipeline::TileLayouts tileLayoutsOf(const pipeline::CompileState &state) {
  Operation *kernel = pipeline::kernelFunctions(*state.module).front();
  const tile::AxisInfos axes(kernel);
  pipeline::TileLayouts all;
  all.kernel = pipeline::readKernelInfo(kernel).name;
  kernel->walk<WalkOrder::PreOrder>([&](Operation *op) {
    const pipeline::SourcePlace place =
        pipeline::placeOf(op->getLoc(), state.input.path, state.inputText);
    for (Value value : op->getResults()) {
      if (auto layout = isTile(value) ? layoutOf(value) : std::nullopt) {
        all.values.push_back({place, op->getName().getStringRef().str(),
                              elementName(tile::elementTypeOf(value.getType())), *layout});
      }
    }
    for (pipeline::SharedAccess &access : sharedAccessesOf(op, axes)) {
      access.place = place;
      all.accesses.push_back(std::move(access));
    }
  });
  return all;
}

} // namespace nereid::nvidia
