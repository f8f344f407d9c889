// SPDX-License-Identifier: Apache-2.0
// Kernels of additions in order, see Walk.h.
#include "lib/generator/template/Walk.h"

#include "lib/generator/template/access/Contiguity.h"

namespace nereid::generator {
namespace {

/// Rows that a program clears at a time.
constexpr const char *rowsCleared = "64";

} // namespace

bool walks(const Program &program, const std::vector<Store> &stores, const Split &split) {
  return split.walk && !stores[0].monoid.empty() &&
         program.iteratorsOf(stores[0]).contains(split.walk->turn);
}

StageKernel emitWalk(const Program &program, const std::string &name,
                     const std::vector<Store> &stores, const WalkOrder &walk) {
  std::vector<IteratorId> shared = orderOf(program, stores);
  std::erase_if(shared, [&](IteratorId each) { return each == walk.part || each == walk.turn; });
  TileDim turns{"turn", "BLOCK_R", {walk.turn}, DimForm::Looped}, lanes{"col", "BLOCK_Y", shared};
  turns.blockAtMost = 1;
  lanes.largest = std::to_string(lanesOfWalk);
  KernelWriting writing(program, name, stores,
                        {{"part", "", {walk.part}, DimForm::Point}, turns, lanes});
  std::vector<TileDim> dims = writing.tile.dimensions();
  dims[1] = {"row", writing.arguments.names.fresh("BLOCK_X"), walk.cleared, DimForm::Looped};
  dims[1].largest = rowsCleared;
  Tile tile(writing.tile, dims);
  Values cleared(program, rootsOf(walk.clearing), tile, writing.body, writing.arguments);
  cleared.loopOverValues([&] { cleared.store(walk.clearing); });
  writing.body.evaluate(kernel::call("tl.debug_barrier", {}));
  writing.values.loopOverValues([&] { writing.values.store(stores); });
  writing.takeOffsets(cleared);
  StageKernel made = writing.take({dims[1]});
  made.options.emplace_back("num_warps", "1");
  return made;
}

} // namespace nereid::generator
