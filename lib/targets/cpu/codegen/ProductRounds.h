// SPDX-License-Identifier: Apache-2.0
// Which operations of a chain of products are the same round over and over again, so that one round
// can be written as a loop's body: an analysis that changes nothing. ChainRewriter.cpp writes it.
#pragma once

#include "lib/targets/cpu/codegen/SplitProducts.h"

#include <optional>

namespace nereid::cpu {

/// Round r computes chain[steps[s][r]] for each s in order; -1 for what a later round than the
/// first has no use for. What it reads is computed before it in the same round, carried over from
/// the round before, one of its keys, or the same in all rounds.
struct ProductRounds {
  using Positions = llvm::SmallVector<int>;
  llvm::SmallVector<Positions> steps;

  /// `step` as seen one round later; the first round reads `initial` instead.
  struct Carried {
    mlir::Value initial;
    unsigned step;
  };
  llvm::SmallVector<Carried> carried;

  /// The same scalar in every lane, another one in each round.
  llvm::SmallVector<llvm::SmallVector<mlir::Value>> keys;

  unsigned rounds() const { return static_cast<unsigned>(steps.front().size()); }

  /// What the chain computes outside of the rounds, before the first and after the last of them.
  Positions before, after;
};

/// Null where fewer than three rounds are alike. `dead` serves nothing but chains: their operations
/// and what only stands between them.
std::optional<ProductRounds> findProductRounds(const ProductChain &chain,
                                               const llvm::DenseSet<mlir::Operation *> &dead);

} // namespace nereid::cpu
