// SPDX-License-Identifier: Apache-2.0
// Tables of launches, see Table.h: which kernels a program has, and when each is taken.
#include "lib/generator/launch/Table.h"

#include "lib/generator/fuse/InnerChains.h"
#include "lib/generator/fuse/Partition.h"
#include "lib/generator/index/NodeQueries.h"
#include "lib/generator/launch/ChainForms.h"
#include "lib/generator/launch/SizeForms.h"
#include "lib/generator/launch/TileShares.h"
#include "lib/generator/launch/ToldKernels.h"
#include "lib/generator/launch/table/TableMaker.h"
#include "lib/generator/template/Contract.h"
#include "lib/generator/template/Count.h"
#include "lib/generator/template/SplitSchedule.h"
#include "lib/generator/template/Walk.h"

#include <fmt/format.h>

#include <algorithm>

namespace nereid::generator {
namespace {

/// The number of the operation that a value is called by.
std::optional<size_t> operationOf(const Program &program, const Node *node) {
  const std::string &word = program.nodes.wordFor(node);
  const bool isNumber = word.find_first_not_of("0123456789") == std::string::npos;
  return isNumber && !word.empty() ? std::optional(std::stoul(word)) : std::nullopt;
}

std::set<size_t> operationsOf(const Program &program, const std::vector<Store> &stores) {
  std::set<size_t> result;
  for (const Node *node : reachable(rootsOf(stores))) {
    const bool isRead = node->kind == NodeKind::Load || node->kind == NodeKind::Ref;
    if (const auto number = isRead ? std::nullopt : operationOf(program, node)) {
      result.insert(*number);
    }
  }
  return result;
}

/// The same of one stage of the stores' split: a reduction in parts is called by the kernel that
/// joins them, and is the others' as well. One that is online makes several of the stores'.
std::set<size_t> operationsOfPart(const Program &program, const std::vector<Store> &stage,
                                  const std::vector<Store> &whole) {
  std::set<size_t> result = operationsOf(program, stage);
  const std::vector<const Node *> all = reductionsOf(rootsOf(whole));
  for (const Node *own : reductionsOf(rootsOf(stage))) {
    const bool isOnline = std::none_of(all.begin(), all.end(),
                                       [&](const Node *each) { return each->name == own->name; });
    for (const Node *each : all) {
      const auto number =
          isOnline || each->name == own->name ? operationOf(program, each) : std::nullopt;
      if (number && !operationOf(program, own)) {
        result.insert(*number);
      }
    }
  }
  return result;
}

/// Adds the kernels that reduce in parts, where that may be better; the others are then launched
/// where it is not.
Status addParts(Program &program, const std::string &name, const std::vector<Store> &stores,
                MadeKernels &made, std::vector<StageKernel> &kernels,
                std::map<BufferId, std::string> &conditions, const std::string &role, Roles &roles,
                std::vector<std::set<size_t>> &operations) {
  const std::vector<Contraction> products = contractionsOf(program, stores);
  std::optional<SplitSchedule> split = splitScheduleOf(program, stores, products);
  if (!split) {
    return Done{};
  }
  LaunchChoice choice = formChoice(role + ".SPLIT", split->condition);
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
    operations.resize(made.kernels.size(), operationsOfPart(program, stage, stores));
  }
  return Done{};
}

/// Adds kernels that share a product's tiles in other ways, behind its own one.
Status addShares(Program &program, const std::string &name, const std::vector<Store> &stores,
                 MadeKernels &made, std::vector<StageKernel> &kernels,
                 std::map<BufferId, std::string> &conditions, const std::string &role) {
  const bool isProduct = roleOf(program, stores) == "contract";
  auto shares = isProduct ? tileSharesOf(program, name, stores, kernels[0])
                          : Result<TileShares>(TileShares());
  if (!shares) {
    return shares.error();
  }
  std::move(shares->kernels.begin(), shares->kernels.end(), std::back_inserter(kernels));
  for (LaunchChoice &choice : shares->choices) {
    auto split = std::find_if(made.table.choices.begin(), made.table.choices.end(),
                              [&](const auto &one) { return one.name == role + ".SPLIT"; });
    if (split != made.table.choices.end() && choice.name == role + ".STREAM_K") {
      split->rule += fmt::format("*({} == 0)", choiceVariable(choice.name)); // unless it is chosen
    }
    made.table.choices.insert(split, std::move(choice));
  }
  conditions.merge(shares->conditions);
  return Done{};
}

} // namespace

LaunchChoice formChoice(std::string name, std::string rule) {
  LaunchChoice choice;
  choice.kind = LaunchChoice::Kind::Form;
  choice.name = std::move(name);
  choice.rule = std::move(rule);
  choice.least = choice.naive = 0;
  return choice;
}

Result<MadeKernels> makeKernels(Program &program, const std::string &name) {
  auto told = makeToldKernels(program, name, {});
  return told ? Result<MadeKernels>(std::move(told->made)) : Result<MadeKernels>(told.error());
}

Result<ToldKernels> makeToldKernels(Program &program, const std::string &name,
                                    std::map<BufferId, std::string> given) {
  ToldKernels told;
  told.reasons = std::move(given);
  auto tell = [&](const std::string &why) { // of temporaries that there are since the last time
    for (BufferId buffer = 0; buffer < program.buffers.size(); ++buffer) {
      if (program.buffers[buffer].role == BufferRole::Temporary) {
        told.reasons.emplace(buffer, why);
      }
    }
  };
  cutOutChains(program);
  tell("attention is a kernel of its own, which keeps its scores on chip: it takes what is "
       "multiplied from memory and leaves its result there");
  const std::map<BufferId, ChainStage> chains = chainStages(program);
  const std::optional<RowChains> rowChains = chains.empty() ? rowChainsOf(program) : std::nullopt;
  tell("a number for each row of scores, with which the scores are computed anew and never stored");
  const size_t ownBuffers = program.buffers.size();
  std::set<BufferId> apart;
  for (const auto &[buffer, chain] : chains) {
    apart.insert(buffer);
  }
  told.reasons.merge(partition(program, apart));
  MadeKernels &made = told.made;
  std::map<BufferId, std::string> conditions; ///< under which a workspace is needed at all
  Roles roles;
  size_t count = 0, number = 0, chainNumber = 0;
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
                                            role, roles, told.operations);
        added = added && !isOfChain
                    ? addShares(program, own, form.stores, made, *kernels, conditions, role)
                    : added;
        if (!added) {
          return added.error();
        }
        std::move(kernels->begin(), kernels->end(), std::back_inserter(made.kernels));
        told.operations.resize(made.kernels.size(), operationsOf(program, form.stores));
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
      const std::string own = chains.size() > 1
                                  ? fmt::format("{}_chain_{}_kernel", name, ++chainNumber)
                                  : name + "_chain_kernel";
      if (Status added =
              addChain(program, own, chain->second, firstKernel, static_cast<BufferId>(ownBuffers),
                       made, conditions, roles.next("chain"), roles);
          !added) {
        return added.error();
      }
      told.operations.resize(made.kernels.size(), operationsOf(program, chain->second.stores));
    }
    firstKernel = made.kernels.size();
  }
  if (rowChains) {
    if (Status added = addRowChains(program, name, *rowChains, made, conditions, roles); !added) {
      return added.error();
    }
    std::set<size_t> all;
    for (const RowChains::Step &step : rowChains->steps) {
      all.merge(operationsOf(program, step.stores));
    }
    told.operations.resize(made.kernels.size(), all);
  }
  std::vector<LaunchChoice> choices = std::move(made.table.choices);
  made.table = tableOf(program, std::move(conditions), made.kernels);
  made.table.choices.insert(made.table.choices.end(), choices.begin(), choices.end());
  tell("a sum is made in parts, as there are more processors than blocks of results, and the parts "
       "are added up behind them");
  return told;
}

} // namespace nereid::generator
