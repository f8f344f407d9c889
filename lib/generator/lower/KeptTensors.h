// SPDX-License-Identifier: Apache-2.0
// What windows read is left in memory first where computing it for each of its places in each
// window would cost more than the memory:
//
//   conv2d(gelu(x), w)                  nine times gelu for each element, of 3 x 3 weights
//   conv2d(pad(x, mode="reflect"), w)   each edge is another place of x that each window asks for
//
// What is decided here follows from the graph and from numbers in it alone. Products that are cut
// off what needs them anyway are none of this, see fuse/saved/Epilogues.h.
#pragma once

#include "lib/definition/Graph.h"

#include <optional>
#include <set>
#include <string>
#include <vector>

namespace nereid::generator {

class KeptTensors {
public:
  explicit KeptTensors(const definition::Operator &op);

  /// Why the node's tensor is left in memory for those that read it, in words; nothing where it is
  /// not. Of what has been left, `keep` says so.
  std::optional<std::string> why(int number) const;
  void keep(size_t number) { kept.insert(number); }

private:
  struct Recomputed {
    double flops = 0; ///< of an element, as far as those that are read from memory
    bool isReduced = false, hasProduct = false, hasEdges = false;
  };
  Recomputed recomputed(int number) const;

  struct Readers {
    int64_t windows = 0; ///< that have an element at most, of those that readers make
    int64_t count = 0;   ///< results included
    bool areEdges = false;
  };
  int64_t windowsOf(const definition::Node &node) const;

  const definition::Operator &op;
  std::vector<Readers> readers; ///< of each node
  std::set<size_t> kept;
};

} // namespace nereid::generator
