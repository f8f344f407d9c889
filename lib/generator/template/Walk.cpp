// SPDX-License-Identifier: Apache-2.0
// Kernels of additions in order, see Walk.h.
#include "lib/generator/template/Walk.h"

#include "lib/generator/template/Contiguity.h"

namespace nereid::generator {

/// A warp each: what lanes wait for does not grow with their number, and there are few.
constexpr const char *lanesOfProgram = "32", *warps = "1";

bool walks(const Program &program, const std::vector<Store> &stores, const Split &split) {
  return split.walk && !stores[0].monoid.empty() &&
         program.iteratorsOf(stores[0]).contains(*split.walk);
}

StageKernel emitWalk(const Program &program, const std::string &name,
                     const std::vector<Store> &stores, IteratorId turn) {
  std::vector<IteratorId> shared = orderOf(program, stores);
  std::erase(shared, turn);
  TileDim turns{"turn", "BLOCK_R", {turn}, DimForm::Looped}, lanes{"col", "BLOCK_Y", shared};
  turns.blockAtMost = 1;
  lanes.largest = lanesOfProgram;
  KernelWriting writing(program, name, stores, {turns, lanes});
  writing.values.loopOverValues([&] { writing.values.store(stores); });
  StageKernel made = writing.take();
  made.options.emplace_back("num_warps", warps);
  return made;
}

} // namespace nereid::generator
