// SPDX-License-Identifier: Apache-2.0
#include "lib/language/emit/statements/CarriedVariables.h"

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

/// Numbers, tiles, block pointers, descriptors and non-empty tuples of them can change from one
/// iteration to the next.
static bool isCarriable(const Value &value) {
  if (value.isBlockAccess()) {
    return true;
  }
  if (value.isTuple()) {
    return !value.elements.empty() &&
           std::all_of(value.elements.begin(), value.elements.end(), isCarriable);
  }
  return value.isNumber() || value.isTile();
}

/// Run-time leaves of a number, tile or aggregate of those, in order. Of block pointers these are
/// the offsets alone unless isWhole: base, sizes and strides seldom change, and a stride that stays
/// a constant keeps contiguous rows visible.
bool CarriedVariables::flatten(const Value &value, bool isWhole, std::vector<Value> &leaves) {
  if (isAggregate(value)) {
    return llvm::all_of(carriedElements(value, isWhole),
                        [&](const Value &element) { return flatten(element, isWhole, leaves); });
  }
  if (!value.isNumber() && !value.isTile()) {
    return false;
  }
  leaves.push_back(emitter.tiles.toTile(value));
  return !leaves.back().isPoison();
}

/// The inverse of flatten: `like` with its leaves replaced by `values` of the types of `leaves`.
static Value unflattenValue(const Value &like, bool isWhole, mlir::ValueRange values,
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

static void collectTargets(const Expr &target, std::set<std::string> &names) {
  if (target.kind == ExprKind::Name) {
    names.insert(target.text);
  }
  if (target.kind == ExprKind::Tuple || target.kind == ExprKind::List) {
    for (const ExprPtr &operand : target.operands) {
      collectTargets(*operand, names);
    }
  }
}

/// Every name assigned somewhere in the statements.
static void collectAssigned(const std::vector<StmtPtr> &list, std::set<std::string> &names) {
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

void CarriedVariables::prepare() {
  carried.clear();
  starts.clear();
  leaves.clear();
  inits.clear();
  std::set<std::string> assigned;
  collectAssigned(loop.body, assigned);
  for (const std::string &name : assigned) {
    auto found = before.find(name);
    if (found == before.end() || !isCarriable(found->second) || name == own ||
        constant.count(name)) {
      continue;
    }
    if (flatten(found->second, isWhole(name), leaves)) {
      carried.push_back(name);
      starts.push_back(found->second);
    }
  }
  for (const Value &leaf : leaves) {
    inits.push_back(leaf.ssa);
  }
}

void CarriedVariables::enterBody(mlir::ValueRange arguments, const Value &value) {
  size_t next = 0;
  for (size_t i = 0; i < carried.size(); ++i) {
    emitter.frame().locals[carried[i]] =
        unflattenValue(starts[i], isWhole(carried[i]), arguments, leaves, next);
  }
  if (!own.empty()) {
    emitter.frame().locals[own] = value;
  }
  bodyStart = emitter.frame().locals;
}

bool CarriedVariables::isSettled() {
  bool isDone = true;
  for (const std::string &name : carried) {
    if (isSame(emitter.frame().locals[name], bodyStart[name]) && !changing.count(name)) {
      constant.insert(name);
      isDone = false;
    } else if (!keepsFixedParts(emitter.frame().locals[name], bodyStart[name]) &&
               whole.insert(name).second) {
      isDone = false;
    }
  }
  for (auto it = constant.begin(); it != constant.end();) {
    bool isCarried = std::find(carried.begin(), carried.end(), *it) != carried.end();
    if (!isCarried && !isSame(emitter.frame().locals[*it], before.at(*it))) {
      changing.insert(*it);
      it = constant.erase(it);
      isDone = false;
    } else {
      ++it;
    }
  }
  return isDone;
}

std::vector<mlir::Value> CarriedVariables::yields() {
  std::vector<mlir::Value> values;
  size_t next = 0;
  for (size_t i = 0; i < carried.size(); ++i) {
    const std::string &name = carried[i];
    const Value &end = emitter.frame().locals[name];
    std::vector<Value> startLeaves, endLeaves;
    const bool isWholeName = isWhole(name);
    flatten(bodyStart[name], isWholeName, startLeaves);
    size_t count = startLeaves.size();
    bool isFlat = !end.isPoison() && flatten(end, isWholeName, endLeaves);
    bool isMatching = isFlat && endLeaves.size() == count && hasSameForm(end, bodyStart[name]);
    for (size_t k = 0; isMatching && k < count; ++k) {
      isMatching = endLeaves[k].tileType == startLeaves[k].tileType;
    }
    if (!isMatching && !end.isPoison()) {
      std::string first = describe(bodyStart[name]), last = describe(end);
      if (count == 1 && endLeaves.size() == 1) {
        first = describe(startLeaves[0]);
        last = describe(endLeaves[0]);
      }
      Diagnostic &diagnostic =
          emitter.report.error("E0210", "'" + name + "' is " + first + " before the loop, but " +
                                            last + " after one iteration");
      if (starts[i].isNumber()) {
        diagnostic.note("before the loop it is " + describe(starts[i]) +
                        "; a Python number becomes an i32 or f32 scalar there");
      }
      diagnostic.withHelp("give '" + name +
                          "' the type it has in the loop before it starts, e.g. "
                          "with tl.full, tl.zeros or .to, or convert it back in the loop");
    }
    for (size_t k = 0; k < count; ++k, ++next) {
      values.push_back(isMatching ? endLeaves[k].ssa : startLeaves[k].ssa);
    }
  }
  return values;
}

/// E0210 for each variable that is not carried and differs after the body.
void CarriedVariables::checkOthers() {
  for (const auto &[name, value] : emitter.frame().locals) {
    auto found = before.find(name);
    if (found == before.end()) {
      emitter.frame().lost[name] = "'" + name + "' gets a value only inside the loop in line " +
                                   std::to_string(loop.range.line);
    } else if (name != own && !isCarriable(found->second) && !value.isPoison() &&
               !isSame(value, found->second)) {
      emitter.report
          .error("E0210", "'" + name + "' is " + describe(found->second) +
                              " before the loop, but " + describe(value) + " after one iteration")
          .withHelp("only numbers and tiles can change in a run-time loop; unroll it with "
                    "tl.static_range");
    }
  }
}

void CarriedVariables::settle(const std::function<mlir::Operation *()> &attempt) {
  mlir::Location place = emitter.tiles.location();
  const char *barrier = emitter.frame().returnBarrier;
  emitter.frame().returnBarrier = "a run-time loop";
  mlir::OpBuilder::InsertPoint outside = emitter.tiles.builder.saveInsertionPoint();
  size_t errors = emitter.report.mark();
  mlir::Operation *made = nullptr;
  for (;;) {
    emitter.tiles.builder.restoreInsertionPoint(outside);
    emitter.frame().locals = before;
    prepare();
    made = attempt();
    if (!made || isSettled()) {
      break;
    }
    made->erase();
    emitter.report.rollBack(errors);
  }
  emitter.frame().returnBarrier = barrier;
  if (!made) {
    emitter.tiles.builder.restoreInsertionPoint(outside);
    emitter.frame().locals = before;
    return;
  }
  checkOthers();
  emitter.tiles.builder.create<mlir::scf::YieldOp>(place, yields());
  emitter.tiles.builder.setInsertionPointAfter(made);
  emitter.frame().locals = before;
  size_t next = 0;
  for (size_t i = 0; i < carried.size(); ++i) {
    emitter.frame().locals[carried[i]] =
        unflattenValue(starts[i], isWhole(carried[i]), made->getResults(), leaves, next);
  }
}

} // namespace nereid::language::emit
