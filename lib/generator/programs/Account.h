// SPDX-License-Identifier: Apache-2.0
// The account of fusion, for documents and logs: which operations of the body each kernel of a call
// computes, and for memory between two kernels why they are not one, as what made them has decided
// it. It is made anew from the definition, because texts of kernels know nothing of operations.
#pragma once

#include "lib/definition/Graph.h"

#include <map>
#include <set>
#include <string>
#include <vector>

namespace nereid::generator {

struct FusionAccount {
  /// Of each kernel of the type's launch table, in its order: numbers of operations of
  /// definition::decomposed(op).
  std::vector<std::set<size_t>> operations;
  /// Of each of these kernels: reductions of its own are made online (fuse/OnlineReductions.h).
  std::vector<bool> areOnline;
  std::map<std::string, std::string> reasons; ///< by the workspace's name
};

/// The errors of makeProgramOperator.
Result<FusionAccount> fusionAccount(const definition::Operator &op, DType dtype);

} // namespace nereid::generator
