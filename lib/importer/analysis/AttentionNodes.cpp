// SPDX-License-Identifier: Apache-2.0
#include "lib/importer/analysis/AttentionNodes.h"

#include "lib/generator/programs/ProgramOperator.h"
#include "lib/importer/body/ImportNodes.h"

#include <algorithm>
#include <map>
#include <set>

namespace nereid::importer {
namespace {

/// Of what is computed of scores between their product and the softmax; more are looked at by
/// nobody.
constexpr size_t mostBetween = 64;

class Collector {
public:
  Collector(const Model &model, const std::vector<NodeCost> &costs)
      : model(model), costs(costs), results(model.outputs.begin(), model.outputs.end()) {
    for (size_t i = 0; i < model.nodes.size(); ++i) {
      for (const std::string &output : model.nodes[i].outputs) {
        producer[output] = i;
      }
      for (const std::string &input : model.nodes[i].inputs) {
        readers[input].insert(i);
      }
    }
  }

  std::vector<std::vector<size_t>> run() {
    std::vector<std::vector<size_t>> found;
    for (size_t i = 0; i < model.nodes.size(); ++i) {
      if (model.nodes[i].op == "Softmax") {
        if (std::vector<size_t> nodes = around(i); !nodes.empty()) {
          found.push_back(std::move(nodes));
        }
      }
    }
    return found;
  }

private:
  bool isOfElements(size_t node) const {
    return costs[node].kind == OperatorKind::Pointwise || costs[node].kind == OperatorKind::View;
  }
  double rowsOf(size_t node) const {
    const Shape &shape = *model.value(model.nodes[node].outputs[0])->shape;
    return shape.empty() || shape.back().size == 0
               ? 0
               : costs[node].elements / static_cast<double>(shape.back().size);
  }
  bool isProduct(size_t node) const { return costs[node].kind == OperatorKind::Product; }

  /// From the product of the scores to that with the values; empty where no kernel computes them.
  std::vector<size_t> around(size_t softmax) const {
    const std::optional<size_t> values = productBehind(softmax);
    for (size_t product : values ? productsBefore(softmax) : std::set<size_t>()) {
      std::set<size_t> nodes = between(product, softmax);
      for (size_t node = softmax; node != *values; node = *onlyReader(node)) {
        nodes.insert(node);
      }
      const bool isClosed = std::all_of(nodes.begin(), nodes.end(), [&](size_t node) {
        return isReadWithin(node, nodes, *values);
      });
      // Scores that something repeats behind their product would be computed for each repetition.
      const bool isOnce =
          costs[product].elements == costs[softmax].elements && rowsOf(*values) == rowsOf(softmax);
      nodes.insert(*values);
      if (!isClosed || !isOnce) {
        continue;
      }
      for (const std::set<size_t> &some : {withTranspositions(nodes), nodes}) {
        const std::vector<size_t> list(some.begin(), some.end());
        if (isOneKernel(list)) {
          return list;
        }
      }
    }
    return {};
  }

  /// The only node that reads what the node computes.
  std::optional<size_t> onlyReader(size_t node) const {
    const std::string &output = model.nodes[node].outputs[0];
    auto found = readers.find(output);
    const bool isOne =
        found != readers.end() && found->second.size() == 1 && !results.contains(output);
    return isOne ? std::optional(*found->second.begin()) : std::nullopt;
  }

  std::optional<size_t> productBehind(size_t softmax) const {
    std::optional<size_t> node = onlyReader(softmax);
    while (node && isOfElements(*node)) {
      node = onlyReader(*node);
    }
    return node && isProduct(*node) ? node : std::nullopt;
  }

  /// Calls `visit` with each node that the node reads from.
  template <class Visit> void forEachBefore(size_t node, const Visit &visit) const {
    for (const std::string &input : model.nodes[node].inputs) {
      auto from = producer.find(input);
      if (!input.empty() && from != producer.end()) {
        visit(from->second);
      }
    }
  }

  /// Nodes of which the softmax's input is computed element by element, up to products.
  std::set<size_t> before(size_t softmax) const {
    std::set<size_t> seen;
    std::vector<size_t> todo = {softmax};
    while (!todo.empty() && seen.size() <= mostBetween) {
      const size_t node = todo.back();
      todo.pop_back();
      forEachBefore(node, [&](size_t from) {
        if ((isProduct(from) || isOfElements(from)) && seen.insert(from).second &&
            !isProduct(from)) {
          todo.push_back(from);
        }
      });
    }
    return seen;
  }
  /// That of the scores among them; a mask may be computed of another one.
  std::set<size_t> productsBefore(size_t softmax) const {
    std::set<size_t> products = before(softmax);
    std::erase_if(products, [&](size_t node) { return !isProduct(node); });
    return products;
  }
  /// The product, and the nodes in front of the softmax that need it.
  std::set<size_t> between(size_t product, size_t softmax) const {
    std::set<size_t> nodes = {product};
    for (size_t node : before(softmax)) { // in order, so that what it reads is decided
      forEachBefore(node, [&](size_t from) {
        if (nodes.contains(from) && !isProduct(node)) {
          nodes.insert(node);
        }
      });
    }
    return nodes;
  }

  bool isReadWithin(size_t node, const std::set<size_t> &nodes, size_t last) const {
    const auto &outputs = model.nodes[node].outputs;
    return std::all_of(outputs.begin(), outputs.end(), [&](const std::string &output) {
      auto found = readers.find(output);
      return !results.contains(output) &&
             (found == readers.end() ||
              std::all_of(found->second.begin(), found->second.end(),
                          [&](size_t reader) { return reader == last || nodes.contains(reader); }));
    });
  }

  std::set<size_t> withTranspositions(std::set<size_t> nodes) const {
    const size_t last = *nodes.rbegin();
    const std::set<size_t> core = nodes;
    for (size_t node : core) {
      forEachBefore(node, [&](size_t from) {
        if (model.nodes[from].op == "Transpose" && isReadWithin(from, core, last)) {
          nodes.insert(from);
        }
      });
    }
    if (const auto behind = onlyReader(last); behind && model.nodes[*behind].op == "Transpose") {
      nodes.insert(*behind);
    }
    return nodes;
  }

  bool isOneKernel(const std::vector<size_t> &nodes) const {
    Diagnostics diags;
    auto definition = importNodes(model, nodes, "attention", {}, diags);
    auto op = definition ? definition::parseOperator("attention.toml", definition->text, diags)
                         : std::nullopt;
    auto program = op ? generator::makeProgramOperator(*op)
                      : Result<generator::ProgramOperator>(makeError("E0636", ""));
    if (!program) {
      return false;
    }
    return std::all_of(program->tables.begin(), program->tables.end(),
                       [](const auto &one) { return isLaunchedAsChain(one.second); });
  }

  /// All sizes are numbers, so that the launches are known.
  static bool isLaunchedAsChain(const generator::LaunchTable &table) {
    auto launches = generator::bindLaunch(table, {});
    size_t chains = 0, others = 0;
    for (size_t i = 0; launches && i < launches->size(); ++i) {
      if ((*launches)[i].programs > 0) {
        ++(table.kernels[i].role.starts_with("chain") ? chains : others);
      }
    }
    return chains == 1 && others == 0;
  }

  const Model &model;
  const std::vector<NodeCost> &costs;
  const std::set<std::string> results;
  std::map<std::string, size_t> producer;
  std::map<std::string, std::set<size_t>> readers;
};

} // namespace

std::vector<std::vector<size_t>> findAttention(const Model &model,
                                               const std::vector<NodeCost> &costs) {
  return Collector(model, costs).run();
}

} // namespace nereid::importer
