// SPDX-License-Identifier: Apache-2.0
// Launches without scores in memory, see ChainForms.h.
#include "lib/generator/launch/ChainForms.h"

#include "lib/generator/template/Blocks.h"
#include "lib/generator/template/chain/Chain.h"
#include "lib/generator/template/chain/ScoreRows.h"

#include <fmt/format.h>

#include <algorithm>

namespace nereid::generator {

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

namespace {

/// Parts of a chain's keys; how many keys it has at least, so that each program has a long way to
/// go, and how many processors there are for each tile of queries.
constexpr int64_t partsOfKeys = 16, leastOfKeys = 1024, processorsOfTile = 2;

/// How many tiles of 64 queries there are, as an expression of the launch table.
std::string tilesOfQueries(const Contraction &outer, const Program &program) {
  const std::string tiles = fmt::format("cdiv({}, 64)", launchExtent({"", "", outer.m}, program));
  return outer.batch.empty() ? tiles : tiles + "*" + launchExtent({"", "", outer.batch}, program);
}

/// Whether a result's scores would be 4 GiB of float32.
std::string areManyScores(const Contraction &outer, const Program &program) {
  constexpr int64_t mostScores = int64_t{1} << 30;
  std::string scores = launchExtent({"", "", outer.m}, program);
  for (const auto *each : {&outer.k, &outer.batch}) {
    scores += each->empty() ? "" : "*" + launchExtent({"", "", *each}, program);
  }
  return fmt::format("{} >= {}", scores, mostScores);
}

/// Where attention is taken as one kernel: anywhere. Which shares are dropped is better computed
/// for many scores at once on a device, up to where they do not fit: 128 x 512 x 512 of float16
/// take 431 us in three kernels, 500 in one (H200).
std::string wholeRule(const ProductChain &chain, const Program &program) {
  return chain.passed.kept ? fmt::format("({} == 0) + ({}) > 0", onDeviceName,
                                         areManyScores(chain.outer, program))
                           : "1";
}

/// Adds the kernels of parts to a chain's, under a choice of their own.
Status addChainParts(Program &program, const std::string &name, const ChainStage &stage,
                     const std::string &role, StageKernel &whole, MadeKernels &made,
                     std::map<BufferId, std::string> &conditions, Roles &roles) {
  const TileDim keys{"", "", stage.chain.outer.k};
  const bool areFew = program.space.symbols.isAtMost(extentOf(keys, program), leastOfKeys - 1);
  // What stands beside, and whether a query keeps a share, would be in parts as well.
  if (areFew || !stage.chain.beside.empty() || stage.chain.passed.kept) {
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
  const std::string tiles = tilesOfQueries(stage.chain.outer, program);
  LaunchChoice choice =
      formChoice(role + ".SPLIT", fmt::format("{}*({} >= {})*({}*{} <= {})", onDeviceName,
                                              launchExtent(keys, program), leastOfKeys, tiles,
                                              processorsOfTile, processorsName));
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

} // namespace

Status addChain(Program &program, const std::string &name, const ChainStage &stage,
                size_t firstKernel, BufferId firstSaved, MadeKernels &made,
                std::map<BufferId, std::string> &conditions, const std::string &role,
                Roles &roles) {
  auto kernel = emitChain(program, name, stage.stores, stage.chain);
  if (!kernel) {
    return kernel.error();
  }
  LaunchChoice choice = formChoice(role + ".FUSED", wholeRule(stage.chain, program));
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
/// memory, so that it is where a result's scores would be 4 GiB of float32. Weights of 16 bits are
/// multiplied by a device's matrix units: there it is where each processor has tiles of its own,
/// which takes half as long.
std::string fusedRule(const Program &program, const RowChains &chains) {
  const auto last = std::find_if(chains.steps.rbegin(), chains.steps.rend(),
                                 [](const RowChains::Step &step) { return step.chain; });
  const Contraction &outer = last->chain->outer;
  const std::string areMany = areManyScores(outer, program);
  if (!last->chain->areWeightsRounded()) {
    return areMany;
  }
  return fmt::format("({}) + {}*({} >= 64)*(2*{} >= {}) > 0", areMany, onDeviceName,
                     launchExtent({"", "", outer.m}, program), tilesOfQueries(outer, program),
                     processorsName);
}

} // namespace

Status addRowChains(Program &program, const std::string &name, const RowChains &chains,
                    MadeKernels &made, std::map<BufferId, std::string> &conditions, Roles &roles) {
  LaunchChoice choice = formChoice("chain.FUSED", fusedRule(program, chains));
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

} // namespace nereid::generator
