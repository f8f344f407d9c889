// SPDX-License-Identifier: Apache-2.0
// `for` over ranges and tuples, and `while`. range and tl.range run as scf.for, also with constant
// bounds; tl.static_range and tuples are unrolled.
#include "lib/language/emit/statements/LoopHints.h"
#include "lib/language/emit/statements/LoopState.h"
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

void Emitter::unroll(const Stmt &stmt, const std::vector<Value> &items, Flow &flow) {
  bool wasUnrolling = frame->isUnrolling;
  frame->isUnrolling = true;
  size_t errors = errorTotal;
  IterationEnds ends(builder);
  for (const Value &item : items) {
    assign(*stmt.targets[0], item);
    flow = runBlock(stmt.body, 0, nullptr);
    ends.add();
    // one iteration's errors are enough
    if (flow == Flow::Return || errorTotal != errors || !takeStep()) {
      break;
    }
  }
  ends.mark(unrolledLoops);
  frame->isUnrolling = wasUnrolling;
}

bool Emitter::rangeItems(const Value &range, std::vector<Value> &items) {
  std::optional<int64_t> start = constantInteger(range.elements[0], "tl.static_range");
  std::optional<int64_t> stop = constantInteger(range.elements[1], "tl.static_range");
  std::optional<int64_t> step = constantInteger(range.elements[2], "tl.static_range");
  if (!start || !stop || !step) {
    return false;
  }
  if (*step == 0) {
    error("E0222", "the step of a range is zero");
    return false;
  }
  constexpr Integer limit = 65536;
  Integer distance = static_cast<Integer>(*stop) - *start;
  Integer count = (distance + *step + (*step > 0 ? -1 : 1)) / *step;
  if ((distance > 0) == (*step > 0) && count > limit) {
    error("E0312", "tl.static_range unrolls to " + integerText(count) +
                       " iterations, but at most " + integerText(limit) + " are possible")
        .withHelp("use range, which runs as a loop");
    return false;
  }
  for (Integer i = *start; *step > 0 ? i < *stop : i > *stop; i += *step) {
    items.push_back(Value::whole(i));
  }
  return true;
}

void Emitter::runFor(const Stmt &stmt, Flow &flow) {
  Value iterable = evaluate(*stmt.value);
  if (!stmt.orelse.empty()) {
    error("E0311", "'else' of a loop is not supported in a kernel");
    return;
  }
  if (iterable.isPoison()) {
    return;
  }
  At at(*this, stmt.value->range);
  if (iterable.isTuple()) {
    unroll(stmt, iterable.elements, flow);
    return;
  }
  if (iterable.kind != Value::Kind::Range) {
    fail("E0217", "a 'for' loop expects range, tl.range, tl.static_range or a tuple, but got " +
                      describe(iterable));
    return;
  }
  if (iterable.text == "static_range") {
    std::vector<Value> items;
    if (rangeItems(iterable, items)) {
      unroll(stmt, items, flow);
    }
    return;
  }
  if (stmt.targets[0]->kind != ExprKind::Name) {
    fail("E0217", "a loop over a range gives one integer at a time, but there are several targets");
    return;
  }
  runRangeLoop(stmt, iterable);
}

Value Emitter::loopBound(const Value &value, const char *name) {
  Value bound = toTile(value);
  if (bound.isPoison()) {
    return bound;
  }
  bool isFitting =
      !bound.isBlock() && !bound.isPointer() && isInteger(bound.tileType.element.dtype);
  return isFitting ? bound
                   : fail("E0204", std::string("the ") + name +
                                       " of a range expects an integer scalar, but got " +
                                       describe(value));
}

void Emitter::runRangeLoop(const Stmt &stmt, const Value &range) {
  Value start = loopBound(range.elements[0], "start"), stop = loopBound(range.elements[1], "end");
  Value step = loopBound(range.elements[2], "step");
  if (start.isPoison() || stop.isPoison() || step.isPoison()) {
    return;
  }
  std::optional<Value> knownStep = knownNumber(step);
  bool isDescending = knownStep && knownStep->integer < 0;
  if (knownStep && knownStep->integer == 0) {
    fail("E0222", "the step of a range is zero");
    return;
  }
  DType type = *promotedType(start, stop, Arithmetic::Bitwise);
  type = *promotedType(Value::tile({}, {{type, false}, {}}), step, Arithmetic::Bitwise);
  // scf.for compares as signed
  DType counter =
      type == DType::U32 || type == DType::U64 || type == DType::I64 ? DType::I64 : DType::I32;
  start = cast(start, {counter, false});
  stop = cast(stop, {counter, false});
  step = cast(isDescending ? unary("-", step) : step, {counter, false});
  mlir::Value low = isDescending ? stop.ssa : start.ssa;
  mlir::Value high = isDescending ? start.ssa : stop.ssa;
  const std::string &target = stmt.targets[0]->text;
  LoopState state;
  state.targets.insert(target);
  mlir::Location place = location();
  auto attempt = [&]() -> mlir::Operation * {
    auto loop = builder.create<mlir::scf::ForOp>(place, low, high, step.ssa, state.inits);
    mlir::Block *body = loop.getBody();
    if (body->mightHaveTerminator()) {
      body->getTerminator()->erase();
    }
    setLoopHints(loop, range.elements[3]);
    builder.setInsertionPointToStart(body);
    Value index = Value::tile(loop.getInductionVar(), {{counter, false}, {}});
    if (isDescending) {
      index = binary("-", start, binary("-", index, stop));
    }
    enterBody(state, loop.getRegionIterArgs());
    frame->locals[target] = cast(index, {type, false});
    state.bodyStart[target] = frame->locals[target];
    runBlock(stmt.body, 0, nullptr);
    return loop;
  };
  settleLoop(stmt, state, attempt, [&](llvm::ArrayRef<mlir::Value> yields) {
    builder.create<mlir::scf::YieldOp>(place, yields);
  });
}

void Emitter::runWhile(const Stmt &stmt) {
  if (!stmt.orelse.empty()) {
    error("E0311", "'else' of a loop is not supported in a kernel");
    return;
  }
  At at(*this, stmt.value->range);
  LoopState state;
  mlir::Location place = location();
  auto attempt = [&]() -> mlir::Operation * {
    mlir::ValueRange inits(state.inits);
    auto loop = builder.create<mlir::scf::WhileOp>(place, mlir::TypeRange(inits), inits);
    std::vector<mlir::Location> places(state.inits.size(), place);
    mlir::Block *before =
        builder.createBlock(&loop.getBefore(), {}, mlir::TypeRange(inits), places);
    enterBody(state, before->getArguments());
    Value condition = evaluate(*stmt.value);
    std::optional<bool> known = constantTruth(condition);
    if (known && *known) {
      fail("E0227", "the condition of this loop is always true",
           "change a variable of the condition in the loop; 'break' is not supported in a kernel");
    }
    Value bit = known || condition.isPoison() ? Value::poison() : conditionOf(condition);
    if (bit.isPoison()) {
      loop.erase(); // never entered, or wrong
      return nullptr;
    }
    builder.create<mlir::scf::ConditionOp>(place, bit.ssa, before->getArguments());
    mlir::Block *after = builder.createBlock(&loop.getAfter(), {}, mlir::TypeRange(inits), places);
    enterBody(state, after->getArguments());
    runBlock(stmt.body, 0, nullptr);
    return loop;
  };
  settleLoop(stmt, state, attempt, [&](llvm::ArrayRef<mlir::Value> yields) {
    builder.create<mlir::scf::YieldOp>(place, yields);
  });
}

} // namespace nereid::language::emit
