// SPDX-License-Identifier: Apache-2.0
// Union-find over dimensions, see AxisAnalysis.h.
#include "lib/generator/AxisAnalysis.h"

#include <fmt/format.h>

#include <algorithm>
#include <numeric>
#include <set>

namespace nereid::generator {
namespace {

constexpr const char *supportedShapes =
    "one kernel covers pointwise operations with broadcasting and reductions that all combine the "
    "same last dimensions; split other computations into several operators";

class Analysis {
public:
  Analysis(const PrimitiveGraph &graph, const definition::Operator &op) : graph(graph), op(op) {}

  Result<AxisSpace> run() {
    for (const FusedNode &node : graph.nodes) {
      first.push_back(static_cast<int>(parent.size()));
      for (const definition::Dim &dim : node.shape) {
        parent.push_back(static_cast<int>(parent.size()));
        dims.push_back(dim);
      }
    }
    for (size_t i = 0; i < graph.nodes.size(); ++i) {
      unifyWithInputs(static_cast<int>(i));
    }
    return order();
  }

private:
  int find(int element) {
    while (parent[static_cast<size_t>(element)] != element) {
      int &up = parent[static_cast<size_t>(element)];
      up = parent[static_cast<size_t>(up)];
      element = up;
    }
    return element;
  }
  void unify(int a, int b) {
    a = find(a);
    b = find(b);
    parent[static_cast<size_t>(std::max(a, b))] = std::min(a, b);
  }
  const FusedNode &node(int number) const { return graph.nodes[static_cast<size_t>(number)]; }
  int rank(int number) const { return static_cast<int>(node(number).shape.size()); }
  int element(int number, int dim) const { return first[static_cast<size_t>(number)] + dim; }
  bool isOne(int element) const {
    const definition::Dim &dim = dims[static_cast<size_t>(element)];
    return dim.symbol.empty() && dim.constant == 1;
  }

  void unifyWithInputs(int number) {
    const FusedNode &value = node(number);
    bool dropsDims = value.op == "squeeze" || (value.isReduction && !value.keepsDims);
    for (int input : value.inputs) {
      int inputRank = rank(input);
      std::set<int> reduced;
      if (value.isReduction || value.op == "squeeze") {
        for (int64_t dim : value.dims) {
          reduced.insert(inputRank + static_cast<int>(dim));
        }
      }
      int out = rank(number);
      for (int dim = inputRank - 1; dim >= 0; --dim) {
        if (reduced.contains(dim)) {
          out -= dropsDims ? 0 : 1;
          continue;
        }
        --out;
        if (out >= 0 && !isOne(element(input, dim))) {
          unify(element(input, dim), element(number, out));
        }
      }
    }
  }

  Diagnostic refuse(const FusedNode &value, const std::string &what) const {
    Diagnostic error = makeError("E0607", what);
    error.file = op.path;
    if (!value.source.empty()) {
      error.note(fmt::format("in '{}'", value.source));
    }
    return std::move(error.withHelp(supportedShapes));
  }

  std::vector<int> classesOf(int number) {
    std::vector<int> classes;
    for (int dim = 0; dim < rank(number); ++dim) {
      int e = element(number, dim);
      classes.push_back(isOne(e) ? -1 : find(e));
    }
    return classes;
  }

  Result<AxisSpace> order() {
    int widest = -1;
    size_t most = 0;
    for (size_t i = 0; i < graph.nodes.size(); ++i) {
      std::vector<int> classes = classesOf(static_cast<int>(i));
      size_t count = static_cast<size_t>(
          std::count_if(classes.begin(), classes.end(), [](int c) { return c >= 0; }));
      if (widest < 0 || count > most) {
        widest = static_cast<int>(i);
        most = count;
      }
    }
    AxisSpace space;
    std::map<int, int> position;
    if (widest >= 0) {
      for (int c : classesOf(widest)) {
        if (c >= 0 && !position.contains(c)) {
          position[c] = static_cast<int>(space.axes.size());
          space.axes.push_back(dims[static_cast<size_t>(c)]);
        }
      }
    }
    for (size_t i = 0; i < graph.nodes.size(); ++i) {
      std::vector<int> axes;
      int before = -1;
      for (int c : classesOf(static_cast<int>(i))) {
        auto found = position.find(c);
        if (c >= 0 && (found == position.end() || found->second <= before)) {
          return refuse(
              graph.nodes[i],
              fmt::format("'{}' {} does not line up with the other values",
                          graph.nodes[i].name.empty() ? graph.nodes[i].op : graph.nodes[i].name,
                          definition::text(graph.nodes[i].shape)));
        }
        axes.push_back(c < 0 ? -1 : found->second);
        before = c < 0 ? before : found->second;
      }
      space.axesOf.push_back(std::move(axes));
    }
    return withReductions(std::move(space));
  }

  Result<AxisSpace> withReductions(AxisSpace space) {
    space.isReduced.assign(space.axes.size(), false);
    const FusedNode *earlier = nullptr;
    for (const FusedNode &value : graph.nodes) {
      if (!value.isReduction) {
        continue;
      }
      const std::vector<int> &axes = space.axesOf[static_cast<size_t>(value.inputs[0])];
      std::vector<bool> mine(space.axes.size(), false);
      for (int64_t dim : value.dims) {
        int axis = axes[static_cast<size_t>(static_cast<int64_t>(axes.size()) + dim)];
        if (axis >= 0) {
          mine[static_cast<size_t>(axis)] = true;
        }
      }
      if (std::find(mine.begin(), mine.end(), true) == mine.end()) {
        return refuse(value, fmt::format("'{}' reduces dimensions of size 1 only", value.op));
      }
      if (!std::is_sorted(mine.begin(), mine.end())) {
        return refuse(value,
                      fmt::format("'{}' reduces a dimension before the last ones", value.op));
      }
      if (earlier && mine != space.isReduced) {
        return refuse(
            value, fmt::format("'{}' and '{}' reduce different dimensions", earlier->op, value.op));
      }
      space.isReduced = mine;
      earlier = &value;
    }
    return space;
  }

  const PrimitiveGraph &graph;
  const definition::Operator &op;
  std::vector<int> first, parent;
  std::vector<definition::Dim> dims;
};

} // namespace

Result<AxisSpace> analyseAxes(const PrimitiveGraph &graph, const definition::Operator &op) {
  return Analysis(graph, op).run();
}

} // namespace nereid::generator
