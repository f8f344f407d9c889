// SPDX-License-Identifier: Apache-2.0
// The body of a backward operator while it is written: lines, names that are free, and what it
// reads of the forward operator. Rules write into it (rules/), Backward.cpp walks over the graph.
#pragma once

#include "lib/definition/Graph.h"

#include <map>
#include <set>
#include <string>
#include <vector>

namespace nereid::definition {

/// A gradient on its way: a name or an expression, and the shape it has; it broadcasts to that of
/// the value whose gradient it is.
struct Share {
  std::string text;
  SymbolicShape shape;
};

/// A size made of others, which no input has.
bool isComputed(const Dim &dim);

/// Thrown by what writes a backward operator, and caught by backwardOf.
struct NoGradient {
  Diagnostic error;
};

class GradientBody {
public:
  explicit GradientBody(const Operator &op);

  const Operator &op; ///< the forward operator

  /// Throws NoGradient with E0620.
  [[noreturn]] void fail(const std::string &message, const std::string &help) const;

  /// A name that nothing has.
  std::string fresh(const std::string &wanted);
  /// "name = text"; returns the name.
  std::string line(const std::string &name, const std::string &text);
  /// The same under a fresh name.
  std::string named(const std::string &wanted, const std::string &text) {
    return line(fresh(wanted), text);
  }
  /// The same once for equal texts.
  std::string once(const std::string &wanted, const std::string &text);

  /// The value of a node of the forward graph: an input, a saved output, or computed again.
  std::string value(int number);
  /// A reduction's value once more, with its dimensions kept.
  std::string keptValue(const Node &node);
  /// The value of `node`, which need not be one of the graph: that of an equal one where there is.
  std::string valueOf(const Node &node, const std::string &wanted);
  /// The text reads inputs and outputs of the forward operator, by their names.
  void reads(const std::string &text);
  const SymbolicShape &shapeOf(int number) const {
    return op.nodes[static_cast<size_t>(number)].shape;
  }

  /// The share in the whole shape of node `number`, whose elements all have it.
  Share whole(const Share &share, int number);

  std::vector<std::string> forward, lines;     ///< values of the forward operator, and what follows
  std::set<size_t> used;                       ///< parameters that are read
  std::set<size_t> saved;                      ///< outputs that are read
  std::map<std::string, SymbolicShape> summed; ///< by the name of a share's sum: its shape before

private:
  bool isUnique(const Node &node) const;
  bool isSaved(size_t which) const;

  std::vector<std::string> names; ///< of forward values, by node
  std::set<std::string> taken;
  std::map<std::string, std::string> shared, keptNames; ///< text to name
};

} // namespace nereid::definition
