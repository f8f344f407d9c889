// SPDX-License-Identifier: Apache-2.0
// The variables a run-time loop carries from one iteration to the next: those assigned in the body
// that had a value before. The body is emitted once with all of them carried; names that turn out
// not to change (an assignment in a dead constexpr branch) become constants again and the body is
// emitted anew.
#pragma once

#include "lib/language/emit/Emitter.h"

#include <functional>
#include <set>

namespace nereid::language::emit {

class CarriedVariables {
public:
  /// `own` is the loop's variable, if it has one: it starts anew in each iteration.
  CarriedVariables(Emitter &emitter, const Stmt &loop, std::string own = {})
      : emitter(emitter), loop(loop), own(std::move(own)), before(emitter.frame().locals) {}

  /// Emits the loop with `attempt`, again until the set of carried variables is right, then gives
  /// the variables the loop's results. The attempt returns null when there is no loop.
  void settle(const std::function<mlir::Operation *()> &attempt);

  /// For the attempt: what the loop starts with.
  llvm::ArrayRef<mlir::Value> initial() const { return inits; }
  /// Inside the body: the variables are the block's arguments, and the loop's own is `value`.
  void enterBody(mlir::ValueRange arguments, const Value &value = {});

private:
  void prepare();
  bool isSettled();
  std::vector<mlir::Value> yields();
  void checkOthers();
  bool isWhole(const std::string &name) const { return whole.count(name) != 0; }
  bool flatten(const Value &value, bool isWhole, std::vector<Value> &leaves);

  Emitter &emitter;
  const Stmt &loop;
  std::string own;
  const Locals before;
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

} // namespace nereid::language::emit
