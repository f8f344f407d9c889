// SPDX-License-Identifier: Apache-2.0
#include "lib/language/emit/statements/Loops.h"

#include "lib/language/emit/expressions/Expressions.h"
#include "lib/language/emit/statements/Assignments.h"
#include "lib/language/emit/statements/CarriedVariables.h"
#include "lib/language/emit/statements/Conditionals.h"
#include "lib/language/emit/statements/LoopHints.h"
#include "lib/tile/ir/Attributes.h"

namespace nereid::language::emit {
namespace {

/// Where the iterations of an unrolled loop end. Those of a large one are marked, for
/// `tile-roll-iterations`.
class IterationEnds {
public:
  explicit IterationEnds(mlir::OpBuilder &builder)
      : builder(builder), block(builder.getInsertionBlock()),
        before(block->empty() ? nullptr : &block->back()) {}

  void add() {
    mlir::Operation *end = block->empty() ? nullptr : &block->back();
    bool isStraight = builder.getInsertionBlock() == block &&
                      builder.getInsertionPoint() == block->end() &&
                      end != (ends.empty() ? before : ends.back());
    if (isStraight && isMarkable) {
      ends.push_back(end);
    }
    isMarkable &= isStraight;
  }

  void mark(int64_t &loops) {
    if (!isMarkable || ends.size() < 3 || !isLarge()) {
      return;
    }
    ++loops;
    for (mlir::Operation *end : ends) {
      llvm::SmallVector<int64_t> numbers;
      if (auto inner = end->getAttrOfType<mlir::DenseI64ArrayAttr>(tile::attribute::iterations)) {
        llvm::append_range(numbers, inner.asArrayRef());
      }
      numbers.push_back(loops);
      end->setAttr(tile::attribute::iterations, builder.getDenseI64ArrayAttr(numbers));
    }
  }

private:
  /// Smaller ones are faster unrolled: what their iterations do to a tile happens in registers.
  /// So are the few taps of a filter, as long as their code is not too much.
  static constexpr size_t largest = 600, largestOfFew = 2400; ///< operations
  static constexpr size_t few = 7;                            ///< iterations

  mlir::OpBuilder &builder;
  mlir::Block *block;
  mlir::Operation *before; ///< the last operation in front of the loop
  llvm::SmallVector<mlir::Operation *> ends;
  bool isMarkable = true;

  /// Operations; of an access through a descriptor those that `tile-lower-descriptors` makes of it.
  static size_t weightOf(mlir::Operation *op) {
    constexpr size_t perDimension = 14;
    auto descriptor = op->getNumOperands() == 0
                          ? tile::DescriptorType()
                          : mlir::dyn_cast<tile::DescriptorType>(op->getOperand(0).getType());
    return descriptor ? perDimension * descriptor.getShape().size() : 1;
  }

  bool isLarge() const {
    size_t count = 0;
    for (mlir::Operation *op = ends.back(); op && op != before; op = op->getPrevNode()) {
      op->walk([&](mlir::Operation *inner) { count += weightOf(inner); });
    }
    return count > (ends.size() > few ? largest : largestOfFew);
  }
};

} // namespace

Flow Loops::unroll(const Stmt &stmt, const std::vector<Value> &items) {
  Flow flow = Flow::Next;
  bool wasUnrolling = emitter.frame().isUnrolling;
  emitter.frame().isUnrolling = true;
  size_t errors = emitter.report.errorCount();
  IterationEnds ends(emitter.tiles.builder);
  for (const Value &item : items) {
    assignments.assign(*stmt.targets[0], item);
    flow = statements.runBlock(stmt.body, 0, nullptr);
    ends.add();
    // one iteration's errors are enough
    if (flow == Flow::Return || emitter.report.errorCount() != errors ||
        !emitter.report.takeStep()) {
      break;
    }
  }
  ends.mark(unrolledLoops);
  emitter.frame().isUnrolling = wasUnrolling;
  return flow;
}

Flow Loops::runFor(const Stmt &stmt) {
  Value iterable = expressions.evaluate(*stmt.value);
  if (!stmt.orelse.empty()) {
    emitter.report.error("E0311", "'else' of a loop is not supported in a kernel");
    return Flow::Next;
  }
  if (iterable.isPoison()) {
    return Flow::Next;
  }
  At at(emitter.position, stmt.value->range);
  if (iterable.isTuple()) {
    return unroll(stmt, iterable.elements);
  }
  if (iterable.kind != Value::Kind::Range) {
    emitter.report.fail(
        "E0217", "a 'for' loop expects range, tl.range, tl.static_range or a tuple, but got " +
                     describe(iterable));
    return Flow::Next;
  }
  if (iterable.text == "static_range") {
    std::vector<Value> items;
    return emitter.constants.rangeItems(iterable, items) ? unroll(stmt, items) : Flow::Next;
  }
  if (stmt.targets[0]->kind != ExprKind::Name) {
    emitter.report.fail(
        "E0217", "a loop over a range gives one integer at a time, but there are several targets");
    return Flow::Next;
  }
  runRange(stmt, iterable);
  return Flow::Next;
}

Value Loops::loopBound(const Value &value, const char *name) {
  Value bound = emitter.tiles.toTile(value);
  if (bound.isPoison()) {
    return bound;
  }
  bool isFitting =
      !bound.isBlock() && !bound.isPointer() && isInteger(bound.tileType.element.dtype);
  return isFitting
             ? bound
             : emitter.report.fail("E0204", std::string("the ") + name +
                                                " of a range expects an integer scalar, but got " +
                                                describe(value));
}

void Loops::runRange(const Stmt &stmt, const Value &range) {
  Value start = loopBound(range.elements[0], "start"), stop = loopBound(range.elements[1], "end");
  Value step = loopBound(range.elements[2], "step");
  if (start.isPoison() || stop.isPoison() || step.isPoison()) {
    return;
  }
  std::optional<Value> knownStep = knownNumber(step);
  bool isDescending = knownStep && knownStep->integer < 0;
  if (knownStep && knownStep->integer == 0) {
    emitter.report.fail("E0222", "the step of a range is zero");
    return;
  }
  DType type = *promotedType(start, stop, Arithmetic::Bitwise);
  type = *promotedType(Value::tile({}, {{type, false}, {}}), step, Arithmetic::Bitwise);
  // scf.for compares as signed
  DType counter =
      type == DType::U32 || type == DType::U64 || type == DType::I64 ? DType::I64 : DType::I32;
  start = emitter.tiles.cast(start, {counter, false});
  stop = emitter.tiles.cast(stop, {counter, false});
  step = emitter.tiles.cast(isDescending ? emitter.operators.unary("-", step) : step,
                            {counter, false});
  mlir::Value low = isDescending ? stop.ssa : start.ssa;
  mlir::Value high = isDescending ? start.ssa : stop.ssa;
  const std::string &target = stmt.targets[0]->text;
  CarriedVariables variables(emitter, stmt, target);
  mlir::Location place = emitter.tiles.location();
  auto attempt = [&]() -> mlir::Operation * {
    auto loop = emitter.tiles.builder.create<mlir::scf::ForOp>(place, low, high, step.ssa,
                                                               variables.initial());
    mlir::Block *body = loop.getBody();
    if (body->mightHaveTerminator()) {
      body->getTerminator()->erase();
    }
    setLoopHints(loop, range.elements[3]);
    emitter.tiles.builder.setInsertionPointToStart(body);
    Value index = Value::tile(loop.getInductionVar(), {{counter, false}, {}});
    if (isDescending) {
      index = emitter.operators.binary("-", start, emitter.operators.binary("-", index, stop));
    }
    variables.enterBody(loop.getRegionIterArgs(), emitter.tiles.cast(index, {type, false}));
    statements.runBlock(stmt.body, 0, nullptr);
    return loop;
  };
  variables.settle(attempt);
}

void Loops::runWhile(const Stmt &stmt) {
  if (!stmt.orelse.empty()) {
    emitter.report.error("E0311", "'else' of a loop is not supported in a kernel");
    return;
  }
  At at(emitter.position, stmt.value->range);
  CarriedVariables variables(emitter, stmt);
  mlir::Location place = emitter.tiles.location();
  auto attempt = [&]() -> mlir::Operation * {
    mlir::ValueRange inits(variables.initial());
    auto loop =
        emitter.tiles.builder.create<mlir::scf::WhileOp>(place, mlir::TypeRange(inits), inits);
    std::vector<mlir::Location> places(variables.initial().size(), place);
    mlir::Block *before =
        emitter.tiles.builder.createBlock(&loop.getBefore(), {}, mlir::TypeRange(inits), places);
    variables.enterBody(before->getArguments());
    Value condition = expressions.evaluate(*stmt.value);
    std::optional<bool> known = constantTruth(condition);
    if (known && *known) {
      emitter.report.fail(
          "E0227", "the condition of this loop is always true",
          "change a variable of the condition in the loop; 'break' is not supported in a kernel");
    }
    Value bit =
        known || condition.isPoison() ? Value::poison() : conditionals.conditionOf(condition);
    if (bit.isPoison()) {
      loop.erase(); // never entered, or wrong
      return nullptr;
    }
    emitter.tiles.builder.create<mlir::scf::ConditionOp>(place, bit.ssa, before->getArguments());
    mlir::Block *after =
        emitter.tiles.builder.createBlock(&loop.getAfter(), {}, mlir::TypeRange(inits), places);
    variables.enterBody(after->getArguments());
    statements.runBlock(stmt.body, 0, nullptr);
    return loop;
  };
  variables.settle(attempt);
}

} // namespace nereid::language::emit
