// SPDX-License-Identifier: Apache-2.0
// Kernels of stages, see StageKernels.h.
#include "lib/generator/launch/StageKernels.h"

#include "lib/generator/fuse/OnlineReductions.h"
#include "lib/generator/fuse/Partition.h"
#include "lib/generator/index/NodeQueries.h"
#include "lib/generator/launch/ChosenPlaces.h"
#include "lib/generator/template/Blocks.h"
#include "lib/generator/template/Contract.h"
#include "lib/generator/template/Count.h"
#include "lib/generator/template/Map.h"
#include "lib/generator/template/Order.h"
#include "lib/generator/template/Reduce.h"
#include "lib/generator/template/Scan.h"
#include "lib/generator/template/SplitSchedule.h"
#include "lib/generator/template/Walk.h"

#include <algorithm>

namespace nereid::generator {
namespace {

/// Whether the stage reduces nothing, or as one of `split` joins parts for its rows.
bool isMap(const Program &program, const std::vector<Store> &stores, const Split *split) {
  return !reduces(stores) || (split && joinedParts(program, stores));
}

} // namespace

std::string roleOf(const Program &program, const std::vector<Store> &stores, const Split *split) {
  if (const Node *line = lineOf(stores)) {
    return line->kind == NodeKind::Scan ? "scan" : "sort";
  }
  return isMap(program, stores, split)              ? "map"
         : !contractionsOf(program, stores).empty() ? "contract"
                                                    : "reduce";
}

namespace {

/// Whether what is reduced needs another reduction, so that a tile that holds a line reads it once.
bool reducesTwice(const std::vector<Store> &stores) {
  const std::vector<const Node *> all = reductionsOf(rootsOf(stores));
  return std::any_of(all.begin(), all.end(),
                     [](const Node *node) { return !reductionsOf(node->inputs).empty(); });
}

/// The kernels of stores that one kernel can make: of reductions whose extent is not known, both
/// forms; of a stage of `split` that reads its parts once, the loop.
Result<std::vector<StageKernel>> emittedKernels(Program &program, const std::string &name,
                                                const std::vector<Store> &stores,
                                                const Split *split) {
  const bool isPart = split != nullptr;
  if (const Node *line = lineOf(stores)) {
    return line->kind == NodeKind::Scan ? emitScan(program, name, stores, *line)
                                        : emitOrder(program, name, stores, *line);
  }
  std::vector<StageKernel> kernels;
  auto add = [&](Result<StageKernel> made) -> Status {
    if (!made) {
      return made.error();
    }
    kernels.push_back(std::move(*made));
    return Done{};
  };
  if (const std::optional<Count> count = isPart ? countOf(stores) : std::nullopt) {
    kernels.push_back(emitCount(program, name + "_kernel", stores, *count));
    return kernels;
  }
  if (isPart && walks(program, stores, *split)) {
    kernels.push_back(emitWalk(program, name + "_kernel", stores, *split->walk));
    return kernels;
  }
  if (isMap(program, stores, split)) {
    std::vector<TileDim> dims = maybeEven(firstTile(program, stores));
    const std::optional<std::vector<Store>> onDevices = withChosenPlaces(program, stores);
    if (Status made = add(emitMap(program, name + "_kernel", stores, std::move(dims), onDevices));
        !made) {
      return made.error();
    }
    return kernels;
  }
  if (const std::vector<Contraction> found = contractionsOf(program, stores); !found.empty()) {
    if (Status made = add(emitContract(program, name + "_kernel", stores, found)); !made) {
      return made.error();
    }
    return kernels;
  }
  const Polynomial reduced = reducedExtent(program, stores);
  const std::optional<int64_t> extent = reduced.constant();
  const bool isLoop = isPart && !reducesTwice(stores);
  for (const DimForm form : {DimForm::Whole, DimForm::Looped}) {
    std::vector<TileDim> dims = maybeEven(firstReduceTile(program, stores, form));
    const bool isInnermost = dims.back().form != DimForm::Grid;
    const bool isShort = isSerial(program, stores);
    const int64_t longest = isInnermost ? wholeAtMost : wholeAtMostOutside;
    const bool isBounded = extent || (isPart && program.space.symbols.isAtMost(reduced, longest));
    const bool fits = !isShort && isBounded && program.space.symbols.isAtMost(reduced, longest);
    if (isBounded || isShort ? fits != (form == DimForm::Whole)
                             : isLoop && form == DimForm::Whole) {
      continue;
    }
    const char *suffix = form == DimForm::Whole ? "_kernel" : "_looped_kernel";
    const bool isRowInPieces = form == DimForm::Looped && isInnermost && !isPart && !isShort;
    if (Status made =
            add(emitReduce(program, name + suffix,
                           isRowInPieces ? withOnlineReductions(program, stores).inPieces : stores,
                           std::move(dims)));
        !made) {
      return made.error();
    }
    if (!isBounded && !isShort && !isLoop) {
      kernels.back().lengthOfTwo = heldLength(program, stores);
    }
  }
  return kernels;
}

} // namespace

Result<std::vector<StageKernel>> kernelsOf(Program &program, const std::string &name,
                                           const std::vector<Store> &stores,
                                           const std::string &role, const Split *split) {
  auto kernels = emittedKernels(program, name, stores, split);
  if (!kernels) {
    return kernels;
  }
  constexpr std::string_view end = "_kernel";
  const bool isPair = kernels->size() == 2 && !(*kernels)[0].lengthOfTwo.empty() &&
                      !(*kernels)[1].lengthOfTwo.empty();
  for (StageKernel &kernel : *kernels) { // t_looped_kernel of t
    const std::string &own = kernel.tree.name;
    kernel.role = role + own.substr(name.size(), own.size() - name.size() - end.size());
    kernel.heldChoice = isPair ? role + ".HELD" : "";
  }
  return kernels;
}

void addCondition(std::string &all, const std::string &one) {
  all += (all.empty() ? "" : "*") + ("(" + one + ")");
}

} // namespace nereid::generator
