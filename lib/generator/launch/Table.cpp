// SPDX-License-Identifier: Apache-2.0
// Tables of launches, see Table.h: which kernels a program has, and when each is taken.
#include "lib/generator/launch/Table.h"

#include "lib/generator/fuse/Partition.h"
#include "lib/generator/fuse/RowChains.h"
#include "lib/generator/index/NodeQueries.h"
#include "lib/generator/launch/ChosenPlaces.h"
#include "lib/generator/launch/SizeForms.h"
#include "lib/generator/launch/TableMaker.h"
#include "lib/generator/template/Blocks.h"
#include "lib/generator/template/Contract.h"
#include "lib/generator/template/Count.h"
#include "lib/generator/template/Map.h"
#include "lib/generator/template/Order.h"
#include "lib/generator/template/Reduce.h"
#include "lib/generator/template/Scan.h"
#include "lib/generator/template/SplitSchedule.h"
#include "lib/generator/template/Walk.h"
#include "lib/generator/template/chain/Chain.h"
#include "lib/generator/template/chain/ScoreRows.h"

#include <fmt/format.h>

#include <algorithm>

namespace nereid::generator {
namespace {

/// Names of stages in schedules: what their template is called, and a number from the second on.
class Roles {
public:
  std::string next(const std::string &role) {
    const int count = ++counts[role];
    return count == 1 ? role : role + std::to_string(count);
  }

private:
  std::map<std::string, int> counts;
};

/// Whether the stage reduces nothing, or as one of `split` joins parts for its rows.
bool isMap(const Program &program, const std::vector<Store> &stores, const Split *split) {
  return !reduces(stores) || (split && joinedParts(program, stores));
}

std::string roleOf(const Program &program, const std::vector<Store> &stores,
                   const Split *split = nullptr) {
  if (const Node *line = lineOf(stores)) {
    return line->kind == NodeKind::Scan ? "scan" : "sort";
  }
  return isMap(program, stores, split)              ? "map"
         : !contractionsOf(program, stores).empty() ? "contract"
                                                    : "reduce";
}

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
    if (Status made = add(emitReduce(program, name + suffix, stores, std::move(dims))); !made) {
      return made.error();
    }
    if (!isBounded && !isShort && !isLoop) {
      kernels.back().lengthOfTwo = heldLength(program, stores);
    }
  }
  return kernels;
}

/// The same, as `role` in schedules.
Result<std::vector<StageKernel>> kernelsOf(Program &program, const std::string &name,
                                           const std::vector<Store> &stores,
                                           const std::string &role, const Split *split = nullptr) {
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

/// Adds the kernels that reduce in parts, where that may be better; the others are then launched
/// where it is not.
Status addParts(Program &program, const std::string &name, const std::vector<Store> &stores,
                MadeKernels &made, std::vector<StageKernel> &kernels,
                std::map<BufferId, std::string> &conditions, const std::string &role,
                Roles &roles) {
  const std::vector<Contraction> products = contractionsOf(program, stores);
  std::optional<SplitSchedule> split = splitScheduleOf(program, stores, products);
  if (!split) {
    return Done{};
  }
  LaunchChoice choice;
  choice.kind = LaunchChoice::Kind::Form;
  choice.name = role + ".SPLIT";
  choice.rule = split->condition;
  choice.least = choice.naive = 0;
  const std::string isSplit = choiceVariable(choice.name);
  made.table.choices.push_back(std::move(choice));
  for (StageKernel &kernel : kernels) {
    kernel.condition = "(" + isSplit + " == 0)";
  }
  for (BufferId workspace : split->split.workspaces) {
    conditions[workspace] = isSplit;
  }
  for (size_t i = 0; i < split->split.stages.size(); ++i) {
    const std::vector<Store> &stage = split->split.stages[i];
    const std::string ofPart = countOf(stage) ? "count"
                               : walks(program, stage, split->split)
                                   ? "walk"
                                   : "part_" + roleOf(program, stage, &split->split);
    auto parts = kernelsOf(program, fmt::format("{}_part_{}", name, i + 1), stage,
                           roles.next(ofPart), &split->split);
    if (!parts) {
      return parts.error();
    }
    for (StageKernel &kernel : *parts) {
      kernel.condition = isSplit;
      made.kernels.push_back(std::move(kernel));
    }
  }
  return Done{};
}

} // namespace

namespace {

/// A stage that one kernel can make at some sizes and that is cut into several for the others.
struct ChainStage {
  std::vector<Store> stores;
  ProductChain chain;
};

/// By the first buffer that the stage stores.
std::map<BufferId, ChainStage> chainStages(Program &program) {
  std::map<BufferId, ChainStage> found;
  for (const Stage &stage : program.stages) {
    const std::vector<std::vector<Store>> groups = groupsOf(program, stage);
    if (groups.size() == 1) {
      if (std::optional<ProductChain> chain = chainOf(program, groups[0])) {
        found.emplace(stage.stores[0].buffer, ChainStage{groups[0], std::move(*chain)});
      }
    }
  }
  return found;
}

void addCondition(std::string &all, const std::string &one) {
  all += (all.empty() ? "" : "*") + ("(" + one + ")");
}

/// Parts of a chain's keys; how many keys it has at least, so that each program has a long way to
/// go, and how many processors there are for each tile of queries.
constexpr int64_t partsOfKeys = 16, leastOfKeys = 1024, processorsOfTile = 2;

/// Adds the kernels of parts to a chain's, under a choice of their own.
Status addChainParts(Program &program, const std::string &name, const ChainStage &stage,
                     const std::string &role, StageKernel &whole, MadeKernels &made,
                     std::map<BufferId, std::string> &conditions, Roles &roles) {
  const TileDim keys{"", "", stage.chain.outer.k};
  const bool areFew = program.space.symbols.isAtMost(extentOf(keys, program), leastOfKeys - 1);
  if (areFew || !stage.chain.beside.empty()) { // what stands beside would be in parts as well
    return Done{};
  }
  const ChainParts parts = splitChain(program, stage.stores, stage.chain, partsOfKeys);
  auto part = emitChainPart(program, name + "_part_kernel", stage.chain, parts);
  if (!part) {
    return part.error();
  }
  part->role = role + "_part";
  auto joined = kernelsOf(program, name + "_join", parts.split.stages[1], roles.next("reduce"));
  if (!joined) {
    return joined.error();
  }
  std::string tiles =
      fmt::format("cdiv({}, 64)", launchExtent({"", "", stage.chain.outer.m}, program));
  if (!stage.chain.outer.batch.empty()) {
    tiles += "*" + launchExtent({"", "", stage.chain.outer.batch}, program);
  }
  LaunchChoice choice;
  choice.kind = LaunchChoice::Kind::Form;
  choice.name = role + ".SPLIT";
  choice.rule =
      fmt::format("{}*({} >= {})*({}*{} <= {})", onDeviceName, launchExtent(keys, program),
                  leastOfKeys, tiles, processorsOfTile, processorsName);
  choice.least = choice.naive = 0;
  const std::string isSplit = whole.condition + "*" + choiceVariable(choice.name);
  whole.condition += fmt::format("*({} == 0)", choiceVariable(choice.name));
  made.table.choices.push_back(std::move(choice));
  for (BufferId workspace : parts.split.workspaces) {
    conditions[workspace] = isSplit;
  }
  part->condition = isSplit;
  made.kernels.push_back(std::move(*part));
  for (StageKernel &kernel : *joined) {
    kernel.condition = isSplit;
    made.kernels.push_back(std::move(kernel));
  }
  return Done{};
}

/// The chain's kernels beside those into which partition() has cut its stage, the last of `made`.
Status addChain(Program &program, const std::string &name, const ChainStage &stage,
                size_t firstKernel, BufferId firstSaved, MadeKernels &made,
                std::map<BufferId, std::string> &conditions, const std::string &role,
                Roles &roles) {
  auto kernel = emitChain(program, name, stage.stores, stage.chain);
  if (!kernel) {
    return kernel.error();
  }
  LaunchChoice choice;
  choice.kind = LaunchChoice::Kind::Form;
  choice.name = role + ".FUSED";
  choice.rule = "1";
  choice.least = choice.naive = 0;
  kernel->role = role;
  kernel->condition += "*" + choiceVariable(choice.name);
  made.table.choices.push_back(std::move(choice));
  const std::string otherwise = "(" + kernel->condition + ") == 0";
  std::set<BufferId> saved; // by those kernels alone
  for (size_t i = firstKernel; i < made.kernels.size(); ++i) {
    addCondition(made.kernels[i].condition, otherwise);
    for (const StageArgument &argument : made.kernels[i].arguments) {
      if (argument.kind == StageArgument::Kind::Memory && argument.buffer >= firstSaved) {
        saved.insert(argument.buffer);
      }
    }
  }
  for (BufferId buffer : saved) {
    addCondition(conditions[buffer], otherwise);
  }
  Status added = addChainParts(program, name.substr(0, name.rfind("_kernel")), stage, role, *kernel,
                               made, conditions, roles);
  made.kernels.push_back(std::move(*kernel));
  return added;
}

} // namespace

namespace {

/// A step's kernels, without a choice.
Result<std::vector<StageKernel>> kernelsOfStep(Program &program, const std::string &name,
                                               const RowChains::Step &step, Roles &roles) {
  if (!step.chain && !step.rows) {
    return kernelsOf(program, name, step.stores, roles.next(roleOf(program, step.stores)));
  }
  auto kernel = step.chain ? emitChain(program, name + "_kernel", step.stores, *step.chain)
                           : emitScoreRows(program, name + "_kernel", step.stores, *step.rows);
  if (!kernel) {
    return kernel.error();
  }
  kernel->role = roles.next(step.chain ? "chain" : "rows");
  return std::vector{std::move(*kernel)};
}

/// Where they are taken unasked: they take up to twice as long as kernels that find the scores in
/// memory, so that it is where a result's scores would be 4 GiB of float32.
std::string fusedRule(const Program &program, const RowChains &chains) {
  constexpr int64_t mostScores = int64_t{1} << 30;
  const auto last = std::find_if(chains.steps.rbegin(), chains.steps.rend(),
                                 [](const RowChains::Step &step) { return step.chain; });
  const Contraction &outer = last->chain->outer;
  std::string scores = launchExtent({"", "", outer.m}, program);
  for (const auto *each : {&outer.k, &outer.batch}) {
    scores += each->empty() ? "" : "*" + launchExtent({"", "", *each}, program);
  }
  return fmt::format("{} >= {}", scores, mostScores);
}

/// Kernels that keep no scores beside all those that partition() has made of the program.
Status addRowChains(Program &program, const std::string &name, const RowChains &chains,
                    MadeKernels &made, std::map<BufferId, std::string> &conditions, Roles &roles) {
  LaunchChoice choice;
  choice.kind = LaunchChoice::Kind::Form;
  choice.name = "chain.FUSED";
  choice.rule = fusedRule(program, chains);
  choice.least = choice.naive = 0;
  std::string condition = choiceVariable(choice.name);
  std::vector<StageKernel> kernels;
  for (size_t i = 0; i < chains.steps.size(); ++i) {
    auto own =
        kernelsOfStep(program, fmt::format("{}_chain_{}", name, i + 1), chains.steps[i], roles);
    if (!own) {
      return own.error();
    }
    for (StageKernel &kernel : *own) {
      if (chains.steps[i].chain) {
        condition += "*" + kernel.condition;
        kernel.condition.clear();
      }
      kernels.push_back(std::move(kernel));
    }
  }
  made.table.choices.push_back(std::move(choice));
  for (StageKernel &kernel : made.kernels) {
    addCondition(kernel.condition, "(" + condition + ") == 0");
  }
  for (StageKernel &kernel : kernels) {
    addCondition(kernel.condition, condition);
    made.kernels.push_back(std::move(kernel));
  }
  for (BufferId buffer = 0; buffer < program.buffers.size(); ++buffer) {
    if (program.buffers[buffer].role == BufferRole::Temporary) {
      const bool isRow =
          std::find(chains.saved.begin(), chains.saved.end(), buffer) != chains.saved.end();
      addCondition(conditions[buffer], isRow ? condition : "(" + condition + ") == 0");
    }
  }
  return Done{};
}

} // namespace

Result<MadeKernels> makeKernels(Program &program, const std::string &name) {
  const std::map<BufferId, ChainStage> chains = chainStages(program);
  const std::optional<RowChains> rowChains = chains.empty() ? rowChainsOf(program) : std::nullopt;
  const size_t ownBuffers = program.buffers.size();
  std::set<BufferId> apart;
  for (const auto &[buffer, chain] : chains) {
    apart.insert(buffer);
  }
  partition(program, apart);
  MadeKernels made;
  std::map<BufferId, std::string> conditions; ///< under which a workspace is needed at all
  Roles roles;
  size_t count = 0, number = 0;
  for (const Stage &stage : program.stages) {
    count += groupsOf(program, stage).size();
  }
  // The output of the stage from which this one has been cut off, or its own.
  auto ownerOf = [&](size_t stage) {
    while (program.stages[stage].stores[0].buffer >= ownBuffers) {
      ++stage;
    }
    return program.stages[stage].stores[0].buffer;
  };
  size_t firstKernel = 0; // of the stages that partition() has cut off the next one
  for (size_t at = 0; at < program.stages.size(); ++at) {
    const Stage &stage = program.stages[at];
    const bool isOfChain = chains.contains(ownerOf(at));
    for (const std::vector<Store> &stores : groupsOf(program, stage)) {
      const std::string suffix = count > 1 ? "_" + std::to_string(++number) : std::string();
      for (const SizeForm &form : sizeFormsOf(program, stores)) {
        const size_t firstOfForm = made.kernels.size();
        const std::string own = name + suffix + form.suffix;
        const std::string role = roles.next(roleOf(program, form.stores));
        auto kernels = kernelsOf(program, own, form.stores, role);
        if (!kernels) {
          return kernels.error();
        }
        Status added = isOfChain ? Status(Done{}) // the other form is better already
                                 : addParts(program, own, form.stores, made, *kernels, conditions,
                                            role, roles);
        if (!added) {
          return added.error();
        }
        std::move(kernels->begin(), kernels->end(), std::back_inserter(made.kernels));
        for (size_t i = firstOfForm; !form.condition.empty() && i < made.kernels.size(); ++i) {
          addCondition(made.kernels[i].condition, form.condition);
        }
      }
    }
    const BufferId first = stage.stores[0].buffer;
    if (first >= ownBuffers) {
      continue;
    }
    if (auto chain = chains.find(first); chain != chains.end()) {
      if (Status added = addChain(program, name + "_chain_kernel", chain->second, firstKernel,
                                  static_cast<BufferId>(ownBuffers), made, conditions,
                                  roles.next("chain"), roles);
          !added) {
        return added.error();
      }
    }
    firstKernel = made.kernels.size();
  }
  if (rowChains) {
    if (Status added = addRowChains(program, name, *rowChains, made, conditions, roles); !added) {
      return added.error();
    }
  }
  std::vector<LaunchChoice> choices = std::move(made.table.choices);
  made.table = tableOf(program, std::move(conditions), made.kernels);
  made.table.choices.insert(made.table.choices.end(), choices.begin(), choices.end());
  return made;
}

} // namespace nereid::generator
