// SPDX-License-Identifier: Apache-2.0
#include "lib/language/emit/statements/Conditionals.h"

#include "lib/language/emit/expressions/Expressions.h"

namespace nereid::language::emit {

Value Conditionals::conditionOf(const Value &value) {
  Value bit = emitter.tiles.truth(value);
  if (!bit.isPoison() && bit.isBlock() && bit.tileType.elementCount() == 1) {
    // one element decides, as upstream takes it out of its tile
    Value whole = emitter.tiles.reshapeTo(emitter.tiles.cast(bit, {DType::I32, false}), {1});
    bit = emitter.tiles.truth(emitter.evaluation.callBuiltin(*findBuiltin("max", 'T'),
                                                             {Argument{"", whole, nullptr}}, {}));
  }
  if (!bit.isPoison() && bit.isBlock()) {
    return emitter.report.fail("E0212", "a condition expects a scalar, but got " + describe(value),
                               "choose element by element with tl.where, or reduce the tile first");
  }
  return bit;
}

namespace {
/// What one side of a run-time `if` leaves behind.
struct Side {
  Locals locals;
  Value returned;
};
} // namespace

Flow Conditionals::runIf(const Stmt &stmt, const Rest &rest) {
  Value condition = expressions.evaluate(*stmt.value);
  if (std::optional<bool> known = constantTruth(condition)) {
    const std::vector<StmtPtr> &taken = *known ? stmt.body : stmt.orelse;
    return statements.runBlock(taken, 0, &rest);
  }
  At at(emitter.position, stmt.value->range);
  if (emitter.frame().isElementwise && condition.isBlock()) {
    return runElementwiseIf(stmt, rest, condition);
  }
  Value bit = condition.isPoison() ? condition : conditionOf(condition);
  bool isReturning = mayReturn(stmt.body) || mayReturn(stmt.orelse);
  if (bit.isPoison()) {
    return isReturning ? Flow::Return : Flow::Next;
  }
  auto op = emitter.tiles.create<mlir::scf::IfOp>(mlir::TypeRange(), bit.ssa, true, true);
  const Locals before = emitter.frame().locals;
  const char *barrier = emitter.frame().returnBarrier;
  if (emitter.frame().isUnrolling && !barrier) {
    emitter.frame().returnBarrier = "a run-time 'if' of an unrolled loop";
  }
  auto runSide = [&](mlir::Block *block, const std::vector<StmtPtr> &list) {
    emitter.tiles.builder.setInsertionPointToEnd(block);
    emitter.frame().locals = before;
    emitter.frame().returned = Value::none();
    bool isOpen = statements.runBlock(list, 0, &rest) == Flow::Next;
    if (isReturning && isOpen && !emitter.frame().returnBarrier) {
      statements.runRest(&rest);
    }
    return Side{emitter.frame().locals, emitter.frame().returned};
  };
  Side thenSide = runSide(op.thenBlock(), stmt.body);
  Side elseSide = runSide(op.elseBlock(), stmt.orelse);
  std::vector<std::pair<Value, Value>> pairs;
  std::vector<std::string> names, messages;
  emitter.frame().locals = before;
  bool isFinal = isReturning && !emitter.frame().returnBarrier;
  emitter.frame().returnBarrier = barrier;
  if (isFinal) {
    pairs.emplace_back(thenSide.returned, elseSide.returned);
    messages.push_back("what '" +
                       std::string(emitter.frame().function ? emitter.frame().function->name : "") +
                       "' returns");
  } else {
    for (const auto &[name, value] : thenSide.locals) {
      auto other = elseSide.locals.find(name);
      if (other == elseSide.locals.end()) {
        emitter.frame().lost[name] = "'" + name +
                                     "' gets a value only when the condition in line " +
                                     std::to_string(emitter.position.range().line) + " holds";
        continue;
      }
      pairs.emplace_back(value, other->second);
      names.push_back(name);
      messages.push_back("'" + name + "'");
    }
    for (const auto &[name, value] : elseSide.locals) {
      if (!thenSide.locals.count(name)) {
        emitter.frame().lost[name] =
            "'" + name + "' gets a value only when the condition in line " +
            std::to_string(emitter.position.range().line) + " does not hold";
      }
    }
  }
  const std::vector<Value> merged = branches.merge(op, pairs, messages);
  if (isFinal) {
    emitter.frame().returned = merged[0];
    return Flow::Return;
  }
  for (size_t i = 0; i < names.size(); ++i) {
    emitter.frame().locals[names[i]] = merged[i];
  }
  return Flow::Next;
}

Value Conditionals::conditional(const Expr &expr) {
  Value condition = expressions.evaluate(*expr.operands[0]);
  if (std::optional<bool> known = constantTruth(condition)) {
    return expressions.evaluate(*expr.operands[*known ? 1 : 2]);
  }
  if (emitter.frame().isElementwise && condition.isBlock()) {
    Value taken = expressions.evaluate(*expr.operands[1]);
    Value other = expressions.evaluate(*expr.operands[2]);
    return branches.select(condition, taken, other, "the expression");
  }
  Value bit = condition.isPoison() ? condition : conditionOf(condition);
  if (bit.isPoison()) {
    return bit;
  }
  auto op = emitter.tiles.create<mlir::scf::IfOp>(mlir::TypeRange(), bit.ssa, true, true);
  emitter.tiles.builder.setInsertionPointToEnd(op.thenBlock());
  Value thenValue = expressions.evaluate(*expr.operands[1]);
  emitter.tiles.builder.setInsertionPointToEnd(op.elseBlock());
  Value elseValue = expressions.evaluate(*expr.operands[2]);
  return branches.merge(op, {{std::move(thenValue), std::move(elseValue)}},
                        {std::string("the expression")})[0];
}

} // namespace nereid::language::emit
