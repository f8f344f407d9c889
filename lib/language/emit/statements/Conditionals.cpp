// SPDX-License-Identifier: Apache-2.0
// `if` and the ternary. A constant condition elaborates one side only. A run-time one becomes
// scf.if whose results are the variables that differ between the sides; when a side may return,
// what follows the `if` is elaborated inside both sides.
#include "lib/language/emit/Emitter.h"

#include <algorithm>

namespace nereid::language::emit {

bool mayReturn(const std::vector<StmtPtr> &list) {
  return std::any_of(list.begin(), list.end(), [](const StmtPtr &stmt) {
    return stmt->kind == StmtKind::Return || mayReturn(stmt->body) || mayReturn(stmt->orelse);
  });
}

Value Emitter::conditionOf(const Value &value) {
  Value bit = truth(value);
  if (!bit.isPoison() && bit.isBlock() && bit.tileType.elementCount() == 1) {
    // one element decides, as upstream takes it out of its tile
    Value whole = reshapeTo(cast(bit, {DType::I32, false}), {1});
    bit = truth(callBuiltin(*findBuiltin("max", 'T'), {Argument{"", whole, nullptr}}, {}));
  }
  if (!bit.isPoison() && bit.isBlock()) {
    return fail("E0212", "a condition expects a scalar, but got " + describe(value),
                "choose element by element with tl.where, or reduce the tile first");
  }
  return bit;
}

Value Emitter::adapted(const Value &value, const Value &other) {
  bool isChoosable =
      other.isTile() && !other.isPointer() && (!other.isBlock() || frame->isElementwise);
  if (value.isWeak() && isChoosable) {
    std::optional<DType> type = promotedType(value, other, Arithmetic::Plain);
    if (type && *type == other.tileType.element.dtype) {
      return cast(value, other.tileType.element);
    }
  }
  return toTile(value);
}

bool Emitter::mergeLeaf(const Value &a, const Value &b, mlir::Block *thenBlock,
                        mlir::Block *elseBlock, Value &placeholder,
                        std::vector<mlir::Value> &thenYields, std::vector<mlir::Value> &elseYields,
                        const std::string &name) {
  if (a.isPoison() || b.isPoison()) {
    placeholder = Value::poison();
    return true;
  }
  if (isSame(a, b)) {
    placeholder = a;
    return true;
  }
  bool isSameBlock =
      a.isBlockAccess() && a.kind == b.kind && a.text == b.text && a.tileType == b.tileType;
  if (isSameBlock || (a.isTuple() && b.isTuple() && a.classDef == b.classDef &&
                      a.elements.size() == b.elements.size())) {
    placeholder = a;
    placeholder.elements.clear();
    for (size_t i = 0; i < a.elements.size(); ++i) {
      placeholder.elements.emplace_back();
      if (!mergeLeaf(a.elements[i], b.elements[i], thenBlock, elseBlock,
                     placeholder.elements.back(), thenYields, elseYields, name)) {
        return false;
      }
    }
    return true;
  }
  bool isRuntime = (a.isNumber() || a.isTile()) && (b.isNumber() || b.isTile());
  if (isRuntime) {
    builder.setInsertionPointToEnd(thenBlock);
    Value left = adapted(a, b);
    builder.setInsertionPointToEnd(elseBlock);
    Value right = adapted(b, a);
    if (left.isPoison() || right.isPoison()) {
      placeholder = Value::poison();
      return true;
    }
    if (left.tileType == right.tileType) {
      thenYields.push_back(left.ssa);
      elseYields.push_back(right.ssa);
      placeholder = left;
      placeholder.ssa = nullptr; // a result of the scf.if, filled in by mergeBranches
      return true;
    }
  }
  error("E0211",
        name + " is " + describe(a) + " when the condition holds and " + describe(b) + " otherwise")
      .withHelp("convert one side so that both have one type and shape");
  placeholder = Value::poison();
  return false;
}

static void fillResults(Value &value, mlir::ResultRange results, unsigned &next) {
  if (value.isTile() && !value.ssa) {
    value.ssa = results[next++];
  }
  for (Value &element : value.elements) {
    fillResults(element, results, next);
  }
}

void Emitter::mergeBranches(mlir::scf::IfOp &op, std::vector<std::pair<Value, Value>> pairs,
                            std::vector<Value> &merged, llvm::ArrayRef<std::string> names) {
  std::vector<mlir::Value> thenYields, elseYields;
  for (size_t i = 0; i < pairs.size(); ++i) {
    merged.emplace_back();
    mergeLeaf(pairs[i].first, pairs[i].second, op.thenBlock(), op.elseBlock(), merged.back(),
              thenYields, elseYields, names[i]);
  }
  mlir::Location place = op.getLoc();
  builder.setInsertionPointToEnd(op.thenBlock());
  builder.create<mlir::scf::YieldOp>(place, thenYields);
  builder.setInsertionPointToEnd(op.elseBlock());
  builder.create<mlir::scf::YieldOp>(place, elseYields);
  std::vector<mlir::Type> types;
  for (mlir::Value value : thenYields) {
    types.push_back(value.getType());
  }
  bool hasElse = !thenYields.empty() || op.elseBlock()->getOperations().size() > 1;
  builder.setInsertionPoint(op);
  auto final = builder.create<mlir::scf::IfOp>(place, mlir::TypeRange(types), op.getCondition(),
                                               false, false);
  final.getThenRegion().takeBody(op.getThenRegion());
  if (hasElse) {
    final.getElseRegion().takeBody(op.getElseRegion());
  }
  op.erase();
  op = final;
  builder.setInsertionPointAfter(final);
  unsigned next = 0;
  for (Value &value : merged) {
    fillResults(value, final.getResults(), next);
  }
}

namespace {
/// What one side of a run-time `if` leaves behind.
struct Side {
  Locals locals;
  Value returned;
};
} // namespace

Flow Emitter::runIf(const Stmt &stmt, const Rest &rest) {
  Value condition = evaluate(*stmt.value);
  if (std::optional<bool> known = constantTruth(condition)) {
    const std::vector<StmtPtr> &taken = *known ? stmt.body : stmt.orelse;
    return runBlock(taken, 0, &rest);
  }
  At at(*this, stmt.value->range);
  if (frame->isElementwise && condition.isBlock()) {
    return runElementwiseIf(stmt, rest, condition);
  }
  Value bit = condition.isPoison() ? condition : conditionOf(condition);
  bool isReturning = mayReturn(stmt.body) || mayReturn(stmt.orelse);
  if (bit.isPoison()) {
    return isReturning ? Flow::Return : Flow::Next;
  }
  auto op = builder.create<mlir::scf::IfOp>(location(), mlir::TypeRange(), bit.ssa, true, true);
  const Locals before = frame->locals;
  const char *barrier = frame->returnBarrier;
  if (frame->isUnrolling && !barrier) {
    frame->returnBarrier = "a run-time 'if' of an unrolled loop";
  }
  auto runSide = [&](mlir::Block *block, const std::vector<StmtPtr> &list) {
    builder.setInsertionPointToEnd(block);
    frame->locals = before;
    frame->returned = Value::none();
    bool isOpen = runBlock(list, 0, &rest) == Flow::Next;
    if (isReturning && isOpen && !frame->returnBarrier) {
      runRest(&rest);
    }
    return Side{frame->locals, frame->returned};
  };
  Side thenSide = runSide(op.thenBlock(), stmt.body);
  Side elseSide = runSide(op.elseBlock(), stmt.orelse);
  std::vector<std::pair<Value, Value>> pairs;
  std::vector<std::string> names, messages;
  frame->locals = before;
  bool isFinal = isReturning && !frame->returnBarrier;
  frame->returnBarrier = barrier;
  if (isFinal) {
    pairs.emplace_back(thenSide.returned, elseSide.returned);
    messages.push_back("what '" + std::string(frame->function ? frame->function->name : "") +
                       "' returns");
  } else {
    for (const auto &[name, value] : thenSide.locals) {
      auto other = elseSide.locals.find(name);
      if (other == elseSide.locals.end()) {
        frame->lost[name] = "'" + name + "' gets a value only when the condition in line " +
                            std::to_string(here.line) + " holds";
        continue;
      }
      pairs.emplace_back(value, other->second);
      names.push_back(name);
      messages.push_back("'" + name + "'");
    }
    for (const auto &[name, value] : elseSide.locals) {
      if (!thenSide.locals.count(name)) {
        frame->lost[name] = "'" + name + "' gets a value only when the condition in line " +
                            std::to_string(here.line) + " does not hold";
      }
    }
  }
  std::vector<Value> merged;
  mergeBranches(op, std::move(pairs), merged, messages);
  if (isFinal) {
    frame->returned = merged[0];
    return Flow::Return;
  }
  for (size_t i = 0; i < names.size(); ++i) {
    frame->locals[names[i]] = merged[i];
  }
  return Flow::Next;
}

Value Emitter::conditional(const Expr &expr) {
  Value condition = evaluate(*expr.operands[0]);
  if (std::optional<bool> known = constantTruth(condition)) {
    return evaluate(*expr.operands[*known ? 1 : 2]);
  }
  if (frame->isElementwise && condition.isBlock()) {
    Value taken = evaluate(*expr.operands[1]);
    Value other = evaluate(*expr.operands[2]);
    return selectElements(condition, taken, other, "the expression");
  }
  Value bit = condition.isPoison() ? condition : conditionOf(condition);
  if (bit.isPoison()) {
    return bit;
  }
  auto op = builder.create<mlir::scf::IfOp>(location(), mlir::TypeRange(), bit.ssa, true, true);
  builder.setInsertionPointToEnd(op.thenBlock());
  Value thenValue = evaluate(*expr.operands[1]);
  builder.setInsertionPointToEnd(op.elseBlock());
  Value elseValue = evaluate(*expr.operands[2]);
  std::vector<Value> merged;
  mergeBranches(op, {{std::move(thenValue), std::move(elseValue)}}, merged,
                {std::string("the expression")});
  return merged[0];
}

} // namespace nereid::language::emit
