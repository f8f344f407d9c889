// SPDX-License-Identifier: Apache-2.0
// Kernels of counts, see Count.h.
#include "lib/generator/template/Count.h"

namespace nereid::generator {
namespace {

using kernel::binary;
using kernel::call;
using kernel::name;

/// Values of a turn: each turn clears and reads all places, and a lane has sixteen of its values.
constexpr const char *valuesOfTurn = "4096", *warps = "8";

std::vector<TileDim> resultDims(const Program &program, const std::vector<Store> &stores,
                                const Count &count) {
  std::vector<IteratorId> parts;
  for (const Affine &index : stores[0].index) {
    if (index.asIterator() != count.bin) {
      index.forEachAtom([&](const Atom &atom) { parts.push_back(atom.iterator); });
    }
  }
  TileDim bins{"bin", "BLOCK_B", {count.bin}, DimForm::Whole};
  bins.wholeAtMost = mostCounted;
  return {{"part", "", parts, DimForm::Point}, bins};
}

std::vector<TileDim> valueDims(const Tile &results, const Count &count, Arguments &arguments) {
  TileDim values{"r", arguments.names.fresh("BLOCK_R"), {count.value}, DimForm::Looped};
  values.largest = valuesOfTurn;
  return {results.dimensions()[0], values};
}

std::vector<const Node *> rootsOf(const Count &count) {
  std::vector<const Node *> roots = {count.place};
  for (const Condition &each : count.conditions) {
    roots.push_back(each.node);
  }
  return roots;
}

} // namespace

StageKernel emitCount(const Program &program, const std::string &kernelName,
                      const std::vector<Store> &stores, const Count &count) {
  KernelWriting writing(program, kernelName, stores, resultDims(program, stores, count));
  Tile tile(writing.tile, valueDims(writing.tile, count, writing.arguments));
  Values values(program, rootsOf(count), tile, writing.body, writing.arguments);
  const std::string total = writing.arguments.names.fresh("counts");
  const kernel::Expr bins = name(writing.tile.dimensions().back().block);
  writing.body.assign(total, call("tl.zeros", {kernel::tuple({bins}), name("tl.int32")}));
  values.loopOverValues([&] {
    kernel::Expr counted = tile.inside({1});
    Conditions before; // of the part's end first, so that nothing is loaded behind it
    for (const Condition &each : count.conditions) {
      const kernel::Expr holds = values.valueOf(each.node, before);
      counted = binary("&", counted, each.holds ? holds : binary("==", holds, 0));
      before.push_back(each);
    }
    const kernel::Expr place = values.laneValue(count.place, before);
    writing.body.update(total, "+", call("tl.histogram", {place, bins, {"mask", counted}}));
  });
  writing.values.give(count.sum, {name(total)});
  writing.values.store(stores);
  writing.takeOffsets(values);
  StageKernel made = writing.take({tile.dimensions().back()});
  made.options.emplace_back("num_warps", warps);
  made.usesLibdevice |= values.usesLibdevice();
  return made;
}

} // namespace nereid::generator
