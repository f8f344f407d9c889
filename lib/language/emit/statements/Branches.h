// SPDX-License-Identifier: Apache-2.0
// Joins what the two sides of a run-time condition leave behind: as results of scf.if, or element
// by element. E0211 when a value has another type on each side.
#pragma once

#include "lib/language/emit/Emitter.h"

namespace nereid::language::emit {

class Branches {
public:
  explicit Branches(Emitter &emitter) : emitter(emitter) {}

  /// Ends both branches of the operation, which is replaced by one with results: one value of each
  /// pair, of the side that was taken. The names are for messages.
  std::vector<Value> merge(mlir::scf::IfOp op, const std::vector<std::pair<Value, Value>> &pairs,
                           llvm::ArrayRef<std::string> names);
  /// The same where tiles stand for elements: each takes its side.
  Value select(const Value &condition, const Value &a, const Value &b, const std::string &name);

private:
  struct Yields {
    mlir::Block *block;
    std::vector<mlir::Value> values;
  };
  bool mergeLeaf(const Value &a, const Value &b, Yields &thenSide, Yields &elseSide,
                 Value &placeholder, const std::string &name);
  /// A literal meets a run-time value of the other side: it takes that value's type when it may.
  Value adapted(const Value &value, const Value &other);

  Emitter &emitter;
};

} // namespace nereid::language::emit
