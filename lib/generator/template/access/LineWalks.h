// SPDX-License-Identifier: Apache-2.0
// How often a kernel that takes lines in pieces reads what it reads: each reduction along one walks
// over the line, those that need no other's result together, and so do the stores along it.
#pragma once

#include "lib/generator/template/StageKernel.h"

namespace nereid::generator {

class LineWalks {
public:
  LineWalks(const Program &program, const std::vector<Store> &stores,
            const std::vector<TileDim> &dims);

  /// Walks that read at these indices, of a node of the stores; 1 where none is over lines.
  int64_t of(const std::vector<Affine> *indices) const;

private:
  static constexpr int noWalk = -1, lastWalk = 0; ///< reductions count from 1

  bool isLine(const Node &node) const;
  /// How many reductions of lines need one another's results.
  int depthOf(const Node *node);
  void visit(const Node *node, int walk);

  std::set<IteratorId> lines;
  std::map<const std::vector<Affine> *, std::set<int>> walks;
  std::map<const Node *, int> depths;
  std::set<std::pair<const Node *, int>> seen;
};

} // namespace nereid::generator
