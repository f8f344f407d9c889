// SPDX-License-Identifier: Apache-2.0
// Discovery of loop-carried variables: those assigned in the body that had a value before. The body
// is emitted once with all of them carried; names that turn out not to change (an assignment in a
// dead constexpr branch) become constants again and the body is emitted anew.
#include "lib/language/emit/statements/LoopState.h"

#include <algorithm>

namespace nereid::language::emit {

/// The elements of a tuple; those of a block pointer that a loop carries.
static llvm::ArrayRef<Value> carriedElements(const Value &value, bool isWhole) {
  llvm::ArrayRef<Value> all(value.elements);
  constexpr size_t fixedParts = 3; // base, sizes and strides stand before the offsets
  return value.isBlockAccess() && !isWhole ? all.drop_front(fixedParts) : all;
}

static bool isAggregate(const Value &value) { return value.isTuple() || value.isBlockAccess(); }

/// Block pointers of one block shape at the same places; nothing is said of their parts.
static bool hasSameForm(const Value &a, const Value &b) {
  if (!isAggregate(a) && !isAggregate(b)) {
    return true;
  }
  if (a.kind != b.kind || a.elements.size() != b.elements.size() || a.text != b.text ||
      (a.isBlockAccess() && !(a.tileType == b.tileType))) {
    return false;
  }
  for (size_t i = 0; i < a.elements.size(); ++i) {
    if (!hasSameForm(a.elements[i], b.elements[i])) {
      return false;
    }
  }
  return true;
}

/// Nothing but what carriedElements names differs.
static bool keepsFixedParts(const Value &a, const Value &b) {
  if (!isAggregate(a) || a.kind != b.kind || a.elements.size() != b.elements.size()) {
    return true;
  }
  size_t fixed = a.elements.size() - carriedElements(a, false).size();
  for (size_t i = 0; i < a.elements.size(); ++i) {
    if (i < fixed ? !isSame(a.elements[i], b.elements[i])
                  : !keepsFixedParts(a.elements[i], b.elements[i])) {
      return false;
    }
  }
  return true;
}

bool isCarriable(const Value &value) {
  if (value.isBlockAccess()) {
    return true;
  }
  if (value.isTuple()) {
    return !value.elements.empty() &&
           std::all_of(value.elements.begin(), value.elements.end(), isCarriable);
  }
  return value.isNumber() || value.isTile();
}

bool flattenValue(Emitter &emitter, const Value &value, bool isWhole, std::vector<Value> &leaves) {
  if (isAggregate(value)) {
    return llvm::all_of(carriedElements(value, isWhole), [&](const Value &element) {
      return flattenValue(emitter, element, isWhole, leaves);
    });
  }
  if (!value.isNumber() && !value.isTile()) {
    return false;
  }
  leaves.push_back(emitter.toTile(value));
  return !leaves.back().isPoison();
}

Value unflattenValue(const Value &like, bool isWhole, mlir::ValueRange values,
                     llvm::ArrayRef<Value> leaves, size_t &next) {
  if (!isAggregate(like)) {
    Value value = leaves[next];
    value.ssa = values[next++];
    return value;
  }
  Value result = like;
  size_t fixed = like.elements.size() - carriedElements(like, isWhole).size();
  for (size_t i = fixed; i < like.elements.size(); ++i) {
    result.elements[i] = unflattenValue(like.elements[i], isWhole, values, leaves, next);
  }
  return result;
}

void collectTargets(const Expr &target, std::set<std::string> &names) {
  if (target.kind == ExprKind::Name) {
    names.insert(target.text);
  }
  if (target.kind == ExprKind::Tuple || target.kind == ExprKind::List) {
    for (const ExprPtr &operand : target.operands) {
      collectTargets(*operand, names);
    }
  }
}

void collectAssigned(const std::vector<StmtPtr> &list, std::set<std::string> &names) {
  for (const StmtPtr &stmt : list) {
    for (const ExprPtr &target : stmt->targets) {
      if (target) {
        collectTargets(*target, names);
      }
    }
    collectAssigned(stmt->body, names);
    collectAssigned(stmt->orelse, names);
  }
}

void Emitter::prepareLoop(const Stmt &stmt, const Locals &before, LoopState &state) {
  state.carried.clear();
  state.starts.clear();
  state.leaves.clear();
  state.inits.clear();
  std::set<std::string> assigned;
  collectAssigned(stmt.body, assigned);
  for (const std::string &name : assigned) {
    auto found = before.find(name);
    if (found == before.end() || !isCarriable(found->second) || state.targets.count(name) ||
        state.constant.count(name)) {
      continue;
    }
    if (flattenValue(*this, found->second, state.whole.count(name) != 0, state.leaves)) {
      state.carried.push_back(name);
      state.starts.push_back(found->second);
    }
  }
  for (const Value &leaf : state.leaves) {
    state.inits.push_back(leaf.ssa);
  }
}

void Emitter::enterBody(LoopState &state, mlir::ValueRange arguments) {
  size_t next = 0;
  for (size_t i = 0; i < state.carried.size(); ++i) {
    frame->locals[state.carried[i]] = unflattenValue(
        state.starts[i], state.whole.count(state.carried[i]) != 0, arguments, state.leaves, next);
  }
  state.bodyStart = frame->locals;
}

bool Emitter::isLoopSettled(const Stmt &stmt, const Locals &before, LoopState &state) {
  bool isSettled = true;
  for (const std::string &name : state.carried) {
    if (isSame(frame->locals[name], state.bodyStart[name]) && !state.changing.count(name)) {
      state.constant.insert(name);
      isSettled = false;
    } else if (!keepsFixedParts(frame->locals[name], state.bodyStart[name]) &&
               state.whole.insert(name).second) {
      isSettled = false;
    }
  }
  for (auto it = state.constant.begin(); it != state.constant.end();) {
    bool isCarried =
        std::find(state.carried.begin(), state.carried.end(), *it) != state.carried.end();
    if (!isCarried && !isSame(frame->locals[*it], before.at(*it))) {
      state.changing.insert(*it);
      it = state.constant.erase(it);
      isSettled = false;
    } else {
      ++it;
    }
  }
  return isSettled;
}

std::vector<mlir::Value> Emitter::loopYields(LoopState &state) {
  std::vector<mlir::Value> yields;
  size_t next = 0;
  for (size_t i = 0; i < state.carried.size(); ++i) {
    const std::string &name = state.carried[i];
    const Value &end = frame->locals[name];
    std::vector<Value> startLeaves, endLeaves;
    bool isWhole = state.whole.count(name) != 0;
    flattenValue(*this, state.bodyStart[name], isWhole, startLeaves);
    size_t count = startLeaves.size();
    bool isFlat = !end.isPoison() && flattenValue(*this, end, isWhole, endLeaves);
    bool isMatching =
        isFlat && endLeaves.size() == count && hasSameForm(end, state.bodyStart[name]);
    for (size_t k = 0; isMatching && k < count; ++k) {
      isMatching = endLeaves[k].tileType == startLeaves[k].tileType;
    }
    if (!isMatching && !end.isPoison()) {
      std::string first = describe(state.bodyStart[name]), last = describe(end);
      if (count == 1 && endLeaves.size() == 1) {
        first = describe(startLeaves[0]);
        last = describe(endLeaves[0]);
      }
      Diagnostic &diagnostic =
          error("E0210", "'" + name + "' is " + first + " before the loop, but " + last +
                             " after one iteration");
      if (state.starts[i].isNumber()) {
        diagnostic.note("before the loop it is " + describe(state.starts[i]) +
                        "; a Python number becomes an i32 or f32 scalar there");
      }
      diagnostic.withHelp("give '" + name +
                          "' the type it has in the loop before it starts, e.g. "
                          "with tl.full, tl.zeros or .to, or convert it back in the loop");
    }
    for (size_t k = 0; k < count; ++k, ++next) {
      yields.push_back(isMatching ? endLeaves[k].ssa : startLeaves[k].ssa);
    }
  }
  return yields;
}

void Emitter::settleLoop(const Stmt &stmt, LoopState &state,
                         const std::function<mlir::Operation *()> &attempt,
                         const std::function<void(llvm::ArrayRef<mlir::Value>)> &finish) {
  const Locals before = frame->locals;
  const char *barrier = frame->returnBarrier;
  frame->returnBarrier = "a run-time loop";
  mlir::OpBuilder::InsertPoint outside = builder.saveInsertionPoint();
  size_t errors = reported.size();
  mlir::Operation *loop = nullptr;
  for (;;) {
    builder.restoreInsertionPoint(outside);
    frame->locals = before;
    prepareLoop(stmt, before, state);
    loop = attempt();
    if (!loop || isLoopSettled(stmt, before, state)) {
      break;
    }
    loop->erase();
    rollBack(errors);
  }
  frame->returnBarrier = barrier;
  if (!loop) {
    builder.restoreInsertionPoint(outside);
    frame->locals = before;
    return;
  }
  for (const auto &[name, value] : frame->locals) {
    auto found = before.find(name);
    if (found == before.end()) {
      frame->lost[name] = "'" + name + "' gets a value only inside the loop in line " +
                          std::to_string(stmt.range.line);
    } else if (!state.targets.count(name) && !isCarriable(found->second) && !value.isPoison() &&
               !isSame(value, found->second)) {
      error("E0210", "'" + name + "' is " + describe(found->second) + " before the loop, but " +
                         describe(value) + " after one iteration")
          .withHelp("only numbers and tiles can change in a run-time loop; unroll it with "
                    "tl.static_range");
    }
  }
  finish(loopYields(state));
  builder.setInsertionPointAfter(loop);
  frame->locals = before;
  size_t next = 0;
  for (size_t i = 0; i < state.carried.size(); ++i) {
    frame->locals[state.carried[i]] =
        unflattenValue(state.starts[i], state.whole.count(state.carried[i]) != 0,
                       loop->getResults(), state.leaves, next);
  }
}

} // namespace nereid::language::emit
