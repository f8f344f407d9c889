// SPDX-License-Identifier: Apache-2.0
#include "lib/importer/analysis/FusionGroups.h"

#include "lib/importer/analysis/AttentionNodes.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <map>
#include <set>

namespace nereid::importer {
namespace {

/// How far a search for what lies between two nodes goes; beyond it they stay apart.
constexpr size_t longestReach = 2000;

struct Group {
  std::vector<size_t> nodes;
  double elements = 0; ///< of the tensors that its kernel walks over
  double rows = 0;     ///< 0 = nothing is reduced
  bool hasProduct = false, isAttention = false;

  FusionReason reason() const {
    return isAttention  ? FusionReason::Attention
           : hasProduct ? FusionReason::Product
           : rows > 0   ? FusionReason::Rows
                        : FusionReason::Elements;
  }
};

class Finder {
public:
  Finder(const Model &model, const std::vector<NodeCost> &costs)
      : model(model), costs(costs), groupOf(model.nodes.size(), none) {
    for (size_t i = 0; i < model.nodes.size(); ++i) {
      for (const std::string &output : model.nodes[i].outputs) {
        producer[output] = i;
      }
    }
  }

  std::vector<Group> run() {
    for (const std::vector<size_t> &nodes : findAttention(model, costs)) {
      groups.emplace_back();
      groups.back().nodes = nodes;
      groups.back().hasProduct = groups.back().isAttention = true;
      groups.back().elements = costs[nodes.back()].elements;
      for (size_t node : nodes) {
        groupOf[node] = groups.size() - 1;
      }
    }
    for (size_t i = 0; i < model.nodes.size(); ++i) {
      if (groupOf[i] == none) {
        place(i);
      }
    }
    return std::move(groups);
  }

private:
  static constexpr size_t none = static_cast<size_t>(-1);

  std::optional<size_t> producerOf(const std::string &value) const {
    auto found = producer.find(value);
    return found == producer.end() || value.empty() ? std::nullopt : std::optional(found->second);
  }

  void place(size_t node) {
    for (const std::string &input : model.nodes[node].inputs) {
      const auto from = producerOf(input);
      const size_t group = from ? groupOf[*from] : none;
      if (group != none && fits(node, groups[group]) && nothingBetween(node, group)) {
        return join(node, group);
      }
    }
    if (costs[node].kind != OperatorKind::View && canBegin(costs[node].kind)) {
      groups.emplace_back();
      groups.back().elements =
          isRows(costs[node].kind) ? inputElements(node) : costs[node].elements;
      join(node, groups.size() - 1);
    }
  }

  static bool isRows(OperatorKind kind) {
    return kind == OperatorKind::Reduction || kind == OperatorKind::Normalisation;
  }
  static bool isProduct(OperatorKind kind) {
    return kind == OperatorKind::Product || kind == OperatorKind::Convolution;
  }
  static bool canBegin(OperatorKind kind) {
    return kind == OperatorKind::Pointwise || isRows(kind) || isProduct(kind);
  }

  double inputElements(size_t node) const {
    const Node &one = model.nodes[node];
    return one.hasInput(0) ? elementsOf(model, one.inputs[0]).value_or(0) : 0;
  }

  /// How many rows a reduction or normalisation works on, each by itself.
  double rowsOf(size_t node) const {
    const Node &one = model.nodes[node];
    if (costs[node].kind == OperatorKind::Reduction) {
      return costs[node].elements;
    }
    const Value *value = model.value(one.inputs[0]);
    if (!value || !value->shape || value->shape->empty()) {
      return 1;
    }
    const Shape &shape = *value->shape;
    const auto rank = static_cast<int64_t>(shape.size());
    const bool isOfImages = one.op == "InstanceNormalization" || one.op == "GroupNormalization";
    int64_t axis = isOfImages ? 2 : one.integer("axis", -1);
    axis = std::clamp<int64_t>(axis < 0 ? axis + rank : axis, 0, rank);
    double rows = 1;
    for (int64_t i = 0; i < axis; ++i) {
      rows *= static_cast<double>(shape[static_cast<size_t>(i)].size);
    }
    return rows;
  }

  bool fits(size_t node, const Group &group) const {
    const OperatorKind kind = costs[node].kind;
    if (kind == OperatorKind::View) {
      return true;
    }
    if (kind == OperatorKind::Pointwise) {
      const double elements = costs[node].elements;
      return elements == group.elements || (group.rows > 0 && elements == group.rows);
    }
    return isRows(kind) && !group.hasProduct && inputElements(node) == group.elements &&
           (group.rows == 0 || group.rows == rowsOf(node));
  }

  /// No path from the group to the node leads through a node of another one.
  bool nothingBetween(size_t node, size_t group) const {
    const size_t first = groups[group].nodes.front();
    if (node - first > longestReach) {
      return false;
    }
    std::set<size_t> seen;
    std::vector<size_t> todo;
    auto visit = [&](size_t from) {
      for (const std::string &input : model.nodes[from].inputs) {
        const auto next = producerOf(input);
        if (next && *next > first && groupOf[*next] != group && seen.insert(*next).second) {
          todo.push_back(*next);
        }
      }
    };
    auto readsGroup = [&](size_t one) {
      return std::any_of(model.nodes[one].inputs.begin(), model.nodes[one].inputs.end(),
                         [&](const std::string &input) {
                           const auto next = producerOf(input);
                           return next && groupOf[*next] == group;
                         });
    };
    visit(node);
    while (!todo.empty()) {
      const size_t one = todo.back();
      todo.pop_back();
      if (readsGroup(one)) {
        return false;
      }
      visit(one);
    }
    return true;
  }

  void join(size_t node, size_t number) {
    Group &group = groups[number];
    group.nodes.push_back(node);
    groupOf[node] = number;
    group.hasProduct = group.hasProduct || isProduct(costs[node].kind);
    if (isRows(costs[node].kind)) {
      group.rows = rowsOf(node);
    }
  }

  const Model &model;
  const std::vector<NodeCost> &costs;
  std::vector<size_t> groupOf;
  std::vector<Group> groups;
  std::map<std::string, size_t> producer;
};

/// What one kernel for all these nodes reads and writes.
definition::Work fusedWork(const Model &model, const std::vector<NodeCost> &costs,
                           const std::vector<size_t> &nodes,
                           const std::map<std::string, std::set<size_t>> &readers,
                           const std::set<std::string> &results) {
  definition::Work work;
  const std::set<size_t> members(nodes.begin(), nodes.end());
  std::set<std::string> made, read;
  for (size_t node : nodes) {
    work.flops += costs[node].work.flops;
    for (const std::string &input : model.nodes[node].inputs) {
      if (!input.empty() && !made.contains(input) && read.insert(input).second) {
        work.bytesRead += bytesOf(model, input);
      }
    }
    for (const std::string &output : model.nodes[node].outputs) {
      made.insert(output);
      auto users = readers.find(output);
      const bool isUsedOutside =
          users != readers.end() && !std::includes(members.begin(), members.end(),
                                                   users->second.begin(), users->second.end());
      if (!output.empty() && (isUsedOutside || results.contains(output))) {
        work.bytesWritten += bytesOf(model, output);
      }
    }
  }
  return work;
}

} // namespace

std::vector<FusionGroup> findFusions(const Model &model, const std::vector<NodeCost> &costs) {
  std::map<std::string, std::set<size_t>> readers;
  for (size_t i = 0; i < model.nodes.size(); ++i) {
    for (const std::string &input : model.nodes[i].inputs) {
      readers[input].insert(i);
    }
  }
  const std::set<std::string> results(model.outputs.begin(), model.outputs.end());
  std::vector<FusionGroup> fusions;
  for (Group &group : Finder(model, costs).run()) {
    // Views at its end move nothing, and belong to whoever reads them.
    while (!group.nodes.empty() && costs[group.nodes.back()].kind == OperatorKind::View) {
      group.nodes.pop_back();
    }
    const auto counted = std::count_if(group.nodes.begin(), group.nodes.end(), [&](size_t node) {
      return costs[node].kind != OperatorKind::View;
    });
    if (counted < 2) {
      continue;
    }
    FusionGroup fusion;
    fusion.nodes = group.nodes;
    fusion.reason = group.reason();
    for (size_t node : group.nodes) {
      fusion.apart.bytesRead += costs[node].work.bytesRead;
      fusion.apart.bytesWritten += costs[node].work.bytesWritten;
      fusion.apart.flops += costs[node].work.flops;
    }
    fusion.fused = fusedWork(model, costs, group.nodes, readers, results);
    if (fusion.savedBytes() > 0) {
      fusions.push_back(std::move(fusion));
    }
  }
  std::stable_sort(fusions.begin(), fusions.end(), [](const FusionGroup &a, const FusionGroup &b) {
    return a.savedBytes() > b.savedBytes();
  });
  return fusions;
}

void addSeconds(const Machine &chip, const std::vector<NodeCost> &costs,
                std::vector<FusionGroup> &groups) {
  for (FusionGroup &group : groups) {
    // What matrix instructions compute, and the rest, take their times one after the other.
    double arithmetic = 0;
    for (size_t node : group.nodes) {
      group.secondsApart += costs[node].seconds;
      arithmetic += costs[node].arithmeticSeconds;
    }
    definition::Work moved = group.fused;
    moved.flops = 0;
    const DType type = costs[group.nodes.front()].type;
    const LaunchSeconds time = launchSeconds(chip, moved, type, false);
    group.secondsFused = time.whole + std::max(arithmetic - time.memory, 0.0);
  }
  std::stable_sort(groups.begin(), groups.end(), [](const FusionGroup &a, const FusionGroup &b) {
    return a.secondsApart - a.secondsFused > b.secondsApart - b.secondsFused;
  });
}

std::string_view text(FusionReason reason) {
  switch (reason) {
  case FusionReason::Elements:
    return "the same elements";
  case FusionReason::Rows:
    return "the same rows";
  case FusionReason::Product:
    return "behind a product";
  case FusionReason::Attention:
    return "attention: scores and weights stay in the kernel";
  }
  return "";
}

std::string describe(const Model &model, const FusionGroup &group) {
  std::vector<std::string> names;
  for (size_t node : group.nodes) {
    names.push_back(model.nodes[node].op);
  }
  if (names.size() > 8) {
    const size_t others = names.size() - 7;
    names.resize(7);
    names.push_back(fmt::format("{} more", others));
  }
  return fmt::format("{}", fmt::join(names, " + "));
}

} // namespace nereid::importer
