// SPDX-License-Identifier: Apache-2.0
// The variables a run-time loop carries from one iteration to the next, while the loop is emitted.
#pragma once

#include "lib/language/emit/Emitter.h"

namespace nereid::language::emit {

struct Emitter::LoopState {
  std::set<std::string> targets;  ///< the loop's own variable
  std::set<std::string> constant; ///< assigned in the body, found not to change
  std::set<std::string> changing; ///< found to change: never taken for constant again
  /// Block pointers found to change beyond their offsets: all parts are carried.
  std::set<std::string> whole;
  std::vector<std::string> carried;
  std::vector<Value> starts;      ///< values before the loop, one per carried name
  std::vector<Value> leaves;      ///< run-time scalars and tiles in them
  std::vector<mlir::Value> inits; ///< the same, as operands
  Locals bodyStart;               ///< variables as the body sees them first
};

/// Run-time leaves of a number, tile or aggregate of those, in order. Of block pointers these are
/// the offsets alone unless isWhole: base, sizes and strides seldom change, and a stride that stays
/// a constant keeps contiguous rows visible.
bool flattenValue(Emitter &emitter, const Value &value, bool isWhole, std::vector<Value> &leaves);
/// The inverse: `like` with its leaves replaced by `values` of the types of `leaves`.
Value unflattenValue(const Value &like, bool isWhole, mlir::ValueRange values,
                     llvm::ArrayRef<Value> leaves, size_t &next);
/// Numbers, tiles, block pointers, descriptors and non-empty tuples of them can change from one
/// iteration to the next.
bool isCarriable(const Value &value);
/// Every name assigned somewhere in the statements.
void collectAssigned(const std::vector<StmtPtr> &list, std::set<std::string> &names);
void collectTargets(const Expr &target, std::set<std::string> &names);

} // namespace nereid::language::emit
