// SPDX-License-Identifier: Apache-2.0
// Values at a point of an iteration space. A node is what an operator computes there; equal nodes
// are one object, so that common parts are computed once and comparing is comparing pointers. Views
// of tensors are no nodes: they are the index expressions at which others are read.
#pragma once

#include "lib/generator/index/Affine.h"
#include "runtime/elements/DType.h"

#include <deque>
#include <map>
#include <string>

namespace nereid::generator {

enum class NodeKind : uint8_t {
  Const,  ///< a number
  Param,  ///< `name`, a number that a launch brings
  Index,  ///< indices[0] as a number
  Load,   ///< element of `buffer` at `indices`
  Map,    ///< pointwise operation `name` of inputs (operations.def, or `cast` to the node's type)
  Reduce, ///< monoid `name` over `iterators`; several inputs make a tuple
  Scan,   ///< the same over one iterator, from its begin (reverse: end) to the position indices[0]
  Order,  ///< inputs[0] along its iterator, sorted: a permutation
  Pick,   ///< a component of a tuple; of an Order at indices[0]: 0 the value, 1 its position
  Random, ///< 32 bits of Philox4x32-10: key inputs[0], counter indices[0]
  Ref     ///< element of a temporary `buffer` at `indices`: the edge between two stages
};

using BufferId = uint32_t;

/// What a node is made of.
struct NodeParts {
  NodeKind kind = NodeKind::Const;
  DType dtype = DType::F32;
  std::vector<const Node *> inputs = {};
  std::vector<Affine> indices = {};
  std::vector<IteratorId> iterators = {}; ///< those it binds
  std::string name = {};
  double real = 0;     ///< of a Const of floats
  int64_t integer = 0; ///< of any other Const
  BufferId buffer = 0;
  uint32_t component = 0;
  bool isReverse = false, isExclusive = false; ///< of a Scan
  bool isDescending = false, isStable = true;  ///< of an Order
};

struct Node : NodeParts {
  uint32_t number = 0;            ///< in the order in which nodes are made: after all that it uses
  std::set<IteratorId> free = {}; ///< the iterators on which the value depends
};

class NodeTable {
public:
  NodeTable() = default;
  NodeTable(NodeTable &&) = default;
  NodeTable &operator=(NodeTable &&) = default;

  /// The node of these parts. A Pick of a Reduce over no iterators is the input it picks, and such
  /// a Reduce of one input that input.
  const Node *make(NodeParts parts);

  const Node *real(double value, DType dtype);
  const Node *integer(int64_t value, DType dtype);
  const Node *parameter(const std::string &name, DType dtype);
  /// int64.
  const Node *index(Affine value);
  const Node *load(BufferId buffer, DType dtype, std::vector<Affine> indices);
  const Node *map(const std::string &name, DType dtype, std::vector<const Node *> inputs);
  const Node *reduce(const std::string &monoid, DType dtype, std::vector<IteratorId> iterators,
                     std::vector<const Node *> inputs);
  /// A component of a reduction that has several.
  const Node *pick(const Node *reduction, size_t component);

  /// What the operator's body calls the value, for whoever reads the kernel: no part of what it is.
  /// The first word stays, also through `substitute` and `rebuild`.
  void call(const Node *node, const std::string &word);
  /// "": the body gives it no name.
  const std::string &wordFor(const Node *node) const;
  /// `to` takes the place of `from`.
  void passWord(const Node *from, const Node *to);

  /// The value where iterators are what `map` says. A bound iterator that `map` has is replaced by
  /// the iterators of its new expression, which must run through all its values exactly once; one
  /// that `map` would capture is renamed first, for which `space` gets another.
  const Node *substitute(const Node *node, const IndexMap &map, IndexSpace &space);
  /// The same for many values, while `map` and `space` live: what they share, they share
  /// afterwards.
  NodeMap substitution(const IndexMap &map, IndexSpace &space);

  /// The value rebuilt from its leaves: `made` gets the parts of each node, with the new inputs.
  using Rebuild = std::function<const Node *(NodeParts)>;
  const Node *rebuild(const Node *node, const IndexSpace &space, const Rebuild &made,
                      std::map<const Node *, const Node *> &done);

private:
  class Substitution;
  struct ByParts {
    bool operator()(const Node *a, const Node *b) const;
  };

  std::deque<Node> nodes;
  std::set<const Node *, ByParts> known;
  std::map<const Node *, std::string> words;
};

/// Everything that the value uses, each once, inputs first; through Data as well.
std::vector<const Node *> reachable(const std::vector<const Node *> &roots);

} // namespace nereid::generator
