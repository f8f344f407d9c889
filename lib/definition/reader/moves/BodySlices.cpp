// SPDX-License-Identifier: Apache-2.0
// Parts of tensors: x[:, 1:], x[..., ::2], x[:, 0], x[:, None], narrow, select, flip. A slice lies
// inside of what it is of: where that depends on sizes, it becomes a constraint of the operator, as
// PyTorch would cut it off there.
#include "lib/definition/reader/moves/BodyMoves.h"

#include "lib/definition/constraints/ConstraintReader.h"
#include "lib/definition/operations/Promotion.h"
#include "lib/definition/operations/Shape.h"
#include "lib/definition/operations/SizeExpression.h"
#include "lib/definition/operations/indices/Movement.h"

#include <fmt/format.h>

#include <algorithm>

namespace nereid::definition {

using language::Expr;
using language::ExprKind;

const std::vector<std::string> &BodyMoves::sliceNames() {
  static const std::vector<std::string> names = {"narrow", "select", "flip", "fliplr", "flipud"};
  return names;
}

std::optional<SizePolynomial> BodyMoves::readSize(const Expr &expr) {
  const std::optional<int> read = this->read(expr);
  if (!read) {
    return std::nullopt;
  }
  const Node &node = op.nodes[static_cast<size_t>(*read)];
  const bool isWhole = (node.op == "constant" || isSize(node)) && !hasNumberInputs(node) &&
                       operandKind(node) == OperandKind::Whole;
  std::optional<SizePolynomial> size = isWhole ? sizePolynomial(sizeText(node)) : std::nullopt;
  if (!size) {
    fail("E0608", expr.range,
         fmt::format("an index expects an integer made of sizes, but got '{}'",
                     body.sourceText(expr.range)))
        .withHelp("available: integers, sizes, and + - * // % of them; where a tensor has the "
                  "indices, use torch.gather or torch.where");
  }
  for (const std::string &each : size ? size->quotients() : std::vector<std::string>{}) {
    body.expectDivisor(each, expr.range);
  }
  return size;
}

void BodyMoves::expectNotNegative(const SizePolynomial &value, const std::string &what,
                                  SourceRange range) {
  if (value.isNeverNegative()) {
    return;
  }
  if (const std::optional<int64_t> number = value.constant(); number || value.hasOverflowed()) {
    fail("E0604", range, fmt::format("{}, but it is {} too large", what, number ? -*number : 0))
        .withHelp("a slice lies inside of its tensor");
    return;
  }
  body.expectConstraint(value.comparison(), range);
}

std::optional<int64_t> BodyMoves::readDim(int input, int64_t dim, const std::string &name,
                                          SourceRange range) {
  const SymbolicShape &shape = op.nodes[static_cast<size_t>(input)].shape;
  auto dims = normaliseDims(shape, {dim});
  if (auto *problem = std::get_if<std::string>(&dims)) {
    fail("E0604", range, fmt::format("'{}': {}", name, *problem))
        .withHelp("count from the end: dim=-1 is the last one");
    return std::nullopt;
  }
  return std::get<std::vector<int64_t>>(dims)[0];
}

SizePolynomial BodyMoves::sizeOf(int input, int64_t dim) const {
  const SymbolicShape &shape = op.nodes[static_cast<size_t>(input)].shape;
  return SizePolynomial::of(*(shape.end() + dim));
}

std::optional<int> BodyMoves::narrowed(int input, int64_t dim, const SizePolynomial &start,
                                       const SizePolynomial &length, int64_t step,
                                       SourceRange range) {
  if (step == 1 && start == SizePolynomial(0) && length == sizeOf(input, dim)) {
    return input;
  }
  Node node;
  node.op = "narrow";
  node.inputs = {input};
  node.attributes["dim"] = dim;
  setSize(node, "start", start);
  setSize(node, "length", length);
  if (step != 1) {
    node.attributes["step"] = step;
  }
  return append(std::move(node), range);
}

std::optional<int> BodyMoves::squeezed(int input, std::vector<int64_t> dims, SourceRange range) {
  if (dims.empty()) {
    return input;
  }
  Node node;
  node.op = "squeeze";
  node.inputs = {input};
  node.attributes["dim"] = std::move(dims);
  return append(std::move(node), range);
}

std::optional<BodyMoves::Part> BodyMoves::partOf(int input, int64_t dim, const Expr &index) {
  const SizePolynomial size = sizeOf(input, dim);
  /// Literal ends that are negative count from the end, as Python's do.
  auto end = [&](const Expr *expr, const SizePolynomial &otherwise) {
    std::optional<SizePolynomial> value = expr ? readSize(*expr) : otherwise;
    const bool isFromEnd = expr && value && value->constant().value_or(0) < 0;
    return isFromEnd ? std::optional(*value + size) : value;
  };
  if (index.kind != ExprKind::Slice) {
    const auto at = end(&index, 0);
    if (!at) {
      return std::nullopt;
    }
    expectNotNegative(*at, "an index expects to lie in its dimension", index.range);
    expectNotNegative(size - *at - 1, "an index expects to lie in its dimension", index.range);
    return failed() ? std::nullopt : std::optional(Part{dim, *at, *at + 1, 1, 1, true});
  }
  const Expr *given = index.operands[2].get();
  const std::optional<SizePolynomial> by = given ? readSize(*given) : SizePolynomial(1);
  const std::optional<int64_t> step = by ? by->constant() : std::nullopt;
  if (!by || !step || *step <= 0) {
    if (by) {
      fail("E0608", given->range,
           fmt::format("the step of a slice expects a positive integer, but got {}", by->text()))
          .withHelp("torch.flip(x, dims=(-1,)) turns a dimension round");
    }
    return std::nullopt;
  }
  std::optional<SizePolynomial> from = end(index.operands[0].get(), 0);
  std::optional<SizePolynomial> to = end(index.operands[1].get(), size);
  if (!from || !to) {
    return std::nullopt;
  }
  if (size.constant() && from->constant() && to->constant()) { // cut off, as Python does
    const int64_t most = *size.constant();
    from = std::clamp(*from->constant(), int64_t{0}, most);
    to = std::clamp(*to->constant(), *from->constant(), most);
  }
  expectNotNegative(*from, "a slice expects to begin in its dimension", index.range);
  expectNotNegative(*to - *from, "a slice expects to end behind its beginning", index.range);
  expectNotNegative(size - *to, "a slice expects to end in its dimension", index.range);
  const SizePolynomial length = (*to - *from + (*step - 1)).floorDivide(*step);
  return failed() ? std::nullopt : std::optional(Part{dim, *from, *to, length, *step, false});
}

/// One index: a slice, or the place of a select, which leaves a dimension of size 1.
std::optional<int> BodyMoves::indexed(int input, int64_t dim, const Expr &index) {
  const std::optional<Part> part = partOf(input, dim, index);
  return part ? narrowed(input, dim, part->start, part->length, part->step, index.range)
              : std::nullopt;
}

std::optional<BodyMoves::Brackets> BodyMoves::bracketsOf(int input, const Expr &given) {
  const SymbolicShape &shape = op.nodes[static_cast<size_t>(input)].shape;
  Brackets made;
  bool hasEllipsis = false;
  const size_t count = given.kind == ExprKind::Tuple ? given.operands.size() : 1;
  for (size_t i = 0; i < count; ++i) {
    const Expr *index = given.kind == ExprKind::Tuple ? given.operands[i].get() : &given;
    if (index->kind == ExprKind::Ellipsis && hasEllipsis) {
      fail("E0608", index->range, "an index has '...' at most once");
      return std::nullopt;
    }
    if (index->kind == ExprKind::Ellipsis) {
      hasEllipsis = true;
    } else {
      (hasEllipsis ? made.behind : made.before).push_back(index);
    }
  }
  const auto isOfTensor = [](const Expr *index) { return index->kind != ExprKind::None; };
  made.first = std::count_if(made.before.begin(), made.before.end(), isOfTensor);
  made.last = std::count_if(made.behind.begin(), made.behind.end(), isOfTensor);
  const bool isOpen = !shape.empty() && shape[0].isRest();
  made.named = static_cast<int64_t>(shape.size()) - (isOpen ? 1 : 0);
  if (isOpen && !made.before.empty()) {
    fail("E0604", given.range,
         fmt::format("an index from the front expects a known rank, but got the shape {}",
                     text(shape)))
        .withHelp("begin it with '...', as in x[..., 1:]");
    return std::nullopt;
  }
  if (made.first + made.last > made.named) {
    fail("E0604", given.range,
         fmt::format("an index of {} expects at most {} dimensions, but got {}", text(shape),
                     made.named, made.first + made.last));
    return std::nullopt;
  }
  return made;
}

std::optional<int> BodyMoves::readSubscript(const Expr &expr) {
  std::optional<int> value = read(*expr.operands[0]);
  const std::optional<Brackets> brackets =
      value ? bracketsOf(*value, *expr.operands[1]) : std::nullopt;
  if (!brackets) {
    return std::nullopt;
  }
  const auto &[before, behind, first, last, named] = *brackets;
  std::vector<int64_t> dropped;
  int64_t kept = named; // dimensions of the result, new ones aside, from here to the end
  std::vector<int64_t> added;
  auto walk = [&](const std::vector<const Expr *> &indices, int64_t dim) {
    for (const Expr *index : indices) {
      if (index->kind == ExprKind::None) {
        added.push_back(-kept - 1);
        continue;
      }
      value = value ? indexed(*value, dim, *index) : value;
      if (index->kind != ExprKind::Slice) {
        dropped.push_back(dim);
      }
      --kept;
      ++dim;
    }
  };
  walk(before, -named);
  kept = last;
  walk(behind, -last);
  if (!value) {
    return std::nullopt;
  }
  for (int64_t &dim : added) { // those behind it that go
    dim += std::count_if(dropped.begin(), dropped.end(), [&](int64_t each) { return each > dim; });
  }
  value = squeezed(*value, dropped, expr.range);
  for (int64_t dim : added) {
    if (!value) {
      break;
    }
    Node node;
    node.op = "unsqueeze";
    node.inputs = {*value};
    node.attributes["dim"] = dim;
    value = append(std::move(node), expr.range);
  }
  return value;
}

std::optional<int> BodyMoves::flipped(int input, const std::vector<int64_t> &dims,
                                      SourceRange range) {
  std::optional<int> value = input;
  for (int64_t dim : dims) {
    const SizePolynomial size = sizeOf(*value, dim);
    value = size == SizePolynomial(1) ? value : narrowed(*value, dim, size - 1, size, -1, range);
    if (!value) {
      break;
    }
  }
  return value;
}

std::optional<int> BodyMoves::sliceCall(const Call &call) {
  const bool isFlip = call.function == "flip";
  const bool isSide = call.function == "fliplr" || call.function == "flipud";
  std::vector<Argument> arguments = {{"input", ArgumentType::Operand, false, ""}};
  if (isFlip) {
    arguments.push_back({"dims", ArgumentType::Order, false, ""});
  } else if (!isSide) {
    arguments.push_back({"dim", ArgumentType::Integer, false, ""});
    arguments.push_back(
        {call.function == "select" ? "index" : "start", ArgumentType::Integer, false, ""});
  }
  if (call.function == "narrow") {
    arguments.push_back({"length", ArgumentType::Integer, false, ""});
  }
  // x.flip(0, 1) lists the dimensions one by one.
  Call direct = call;
  std::vector<const Expr *> order;
  const size_t operands = call.receiver ? 0 : 1;
  if (isFlip && call.positional.size() > operands + 1) {
    order.assign(call.positional.begin() + static_cast<std::ptrdiff_t>(operands),
                 call.positional.end());
    direct.positional.resize(operands);
  }
  auto given = matched(direct, call.function, arguments);
  if (!given) {
    return std::nullopt;
  }
  for (const Argument &argument : arguments) {
    if (!resolved((*given)[argument.name]) && (argument.name != "dims" || order.empty())) {
      fail("E0608", call.whole->range,
           fmt::format("'{}' expects the argument '{}'", call.function, argument.name))
          .withHelp("its form is " + signatureText(call.function, arguments));
      return std::nullopt;
    }
  }
  const std::optional<int> input = read(*(*given)["input"]);
  if (!input) {
    return std::nullopt;
  }
  const SourceRange range = call.whole->range;
  if (isFlip || isSide) {
    return flipCall(call.function, *input, order, isFlip ? resolved((*given)["dims"]) : nullptr,
                    range);
  }
  const Expr &where = *resolved((*given)["dim"]);
  const std::optional<int64_t> number = body.known.integerOf(where);
  if (!number) {
    fail("E0608", where.range,
         fmt::format("'dim' of '{}' expects a literal integer", call.function))
        .withHelp("its form is " + signatureText(call.function, arguments));
    return std::nullopt;
  }
  const std::optional<int64_t> dim = readDim(*input, *number, call.function, where.range);
  if (!dim) {
    return std::nullopt;
  }
  if (call.function == "select") {
    const std::optional<int> place = indexed(*input, *dim, *resolved((*given)["index"]));
    return place ? squeezed(*place, {*dim}, range) : std::nullopt;
  }
  std::optional<SizePolynomial> start = readSize(*resolved((*given)["start"]));
  const std::optional<SizePolynomial> length = readSize(*resolved((*given)["length"]));
  if (!start || !length) {
    return std::nullopt;
  }
  const SizePolynomial size = sizeOf(*input, *dim);
  start = start->constant().value_or(0) < 0 ? *start + size : *start;
  expectNotNegative(*start, "'narrow' expects to begin in its dimension", range);
  expectNotNegative(*length, "'narrow' expects a length of at least 0", range);
  expectNotNegative(size - *start - *length, "'narrow' expects to end in its dimension", range);
  return failed() ? std::nullopt : narrowed(*input, *dim, *start, *length, 1, range);
}

std::optional<int> BodyMoves::flipCall(const std::string &name, int input,
                                       std::vector<const Expr *> order, const Expr *list,
                                       SourceRange range) {
  std::vector<int64_t> dims;
  if (name != "flip") {
    dims = {name == "flipud" ? int64_t{0} : int64_t{1}};
  }
  const bool isList = list && (list->kind == ExprKind::Tuple || list->kind == ExprKind::List);
  if (isList) {
    for (const language::ExprPtr &each : list->operands) {
      order.push_back(each.get());
    }
  } else if (list) {
    order.push_back(list);
  }
  for (const Expr *each : order) {
    const std::optional<int64_t> number = literalInteger(*each);
    if (!number) {
      fail("E0608", each->range, "'dims' of 'flip' expects a literal integer or a tuple of them");
      return std::nullopt;
    }
    dims.push_back(*number);
  }
  for (int64_t &dim : dims) {
    const std::optional<int64_t> negative = readDim(input, dim, name, range);
    if (!negative) {
      return std::nullopt;
    }
    dim = *negative;
  }
  std::sort(dims.begin(), dims.end());
  if (std::adjacent_find(dims.begin(), dims.end()) != dims.end()) {
    fail("E0604", range, "'flip' expects each dimension at most once");
    return std::nullopt;
  }
  return flipped(input, dims, range);
}

} // namespace nereid::definition
