// SPDX-License-Identifier: Apache-2.0
#include "lib/language/emit/statements/Branches.h"

namespace nereid::language::emit {

Value Branches::adapted(const Value &value, const Value &other) {
  bool isChoosable =
      other.isTile() && !other.isPointer() && (!other.isBlock() || emitter.frame().isElementwise);
  if (value.isWeak() && isChoosable) {
    std::optional<DType> type = promotedType(value, other, Arithmetic::Plain);
    if (type && *type == other.tileType.element.dtype) {
      return emitter.tiles.cast(value, other.tileType.element);
    }
  }
  return emitter.tiles.toTile(value);
}

bool Branches::mergeLeaf(const Value &a, const Value &b, Yields &thenSide, Yields &elseSide,
                         Value &placeholder, const std::string &name) {
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
      if (!mergeLeaf(a.elements[i], b.elements[i], thenSide, elseSide, placeholder.elements.back(),
                     name)) {
        return false;
      }
    }
    return true;
  }
  bool isRuntime = (a.isNumber() || a.isTile()) && (b.isNumber() || b.isTile());
  if (isRuntime) {
    emitter.tiles.builder.setInsertionPointToEnd(thenSide.block);
    Value left = adapted(a, b);
    emitter.tiles.builder.setInsertionPointToEnd(elseSide.block);
    Value right = adapted(b, a);
    if (left.isPoison() || right.isPoison()) {
      placeholder = Value::poison();
      return true;
    }
    if (left.tileType == right.tileType) {
      thenSide.values.push_back(left.ssa);
      elseSide.values.push_back(right.ssa);
      placeholder = left;
      placeholder.ssa = nullptr; // a result of the scf.if, filled in by merge()
      return true;
    }
  }
  emitter.report
      .error("E0211", name + " is " + describe(a) + " when the condition holds and " + describe(b) +
                          " otherwise")
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

std::vector<Value> Branches::merge(mlir::scf::IfOp op,
                                   const std::vector<std::pair<Value, Value>> &pairs,
                                   llvm::ArrayRef<std::string> names) {
  std::vector<Value> merged;
  Yields thenSide{op.thenBlock(), {}}, elseSide{op.elseBlock(), {}};
  for (size_t i = 0; i < pairs.size(); ++i) {
    merged.emplace_back();
    mergeLeaf(pairs[i].first, pairs[i].second, thenSide, elseSide, merged.back(), names[i]);
  }
  mlir::Location place = op.getLoc();
  emitter.tiles.builder.setInsertionPointToEnd(op.thenBlock());
  emitter.tiles.builder.create<mlir::scf::YieldOp>(place, thenSide.values);
  emitter.tiles.builder.setInsertionPointToEnd(op.elseBlock());
  emitter.tiles.builder.create<mlir::scf::YieldOp>(place, elseSide.values);
  std::vector<mlir::Type> types;
  for (mlir::Value value : thenSide.values) {
    types.push_back(value.getType());
  }
  bool hasElse = !thenSide.values.empty() || op.elseBlock()->getOperations().size() > 1;
  emitter.tiles.builder.setInsertionPoint(op);
  auto final = emitter.tiles.builder.create<mlir::scf::IfOp>(place, mlir::TypeRange(types),
                                                             op.getCondition(), false, false);
  final.getThenRegion().takeBody(op.getThenRegion());
  if (hasElse) {
    final.getElseRegion().takeBody(op.getElseRegion());
  }
  op.erase();
  emitter.tiles.builder.setInsertionPointAfter(final);
  unsigned next = 0;
  for (Value &value : merged) {
    fillResults(value, final.getResults(), next);
  }
  return merged;
}

Value Branches::select(const Value &condition, const Value &a, const Value &b,
                       const std::string &name) {
  if (a.isPoison() || b.isPoison() || isSame(a, b)) {
    return a.isPoison() ? a : b;
  }
  if (a.isTuple() && b.isTuple() && a.classDef == b.classDef &&
      a.elements.size() == b.elements.size()) {
    Value chosen = a;
    for (size_t i = 0; i < a.elements.size(); ++i) {
      chosen.elements[i] = select(condition, a.elements[i], b.elements[i], name);
    }
    return chosen;
  }
  bool isRuntime = (a.isNumber() || a.isTile()) && (b.isNumber() || b.isTile());
  if (isRuntime) {
    Value left = adapted(a, b), right = adapted(b, a);
    if (left.isPoison() || right.isPoison()) {
      return Value::poison();
    }
    if (left.tileType.element == right.tileType.element) {
      return emitter.operators.select(emitter.tiles.truth(condition), left, right);
    }
  }
  return emitter.report.fail("E0211",
                             name + " is " + describe(a) + " when the condition holds and " +
                                 describe(b) + " otherwise",
                             "convert one side so that both have one type");
}

} // namespace nereid::language::emit
