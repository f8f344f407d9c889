// SPDX-License-Identifier: Apache-2.0
// Methods that are known by what they do to a shape: swaps of two dimensions, read as the
// permutations that they are (transpose and its other names, t, x.T, x.mT), and sum_to_size.
#include "lib/definition/reader/BodyExpressions.h"

#include "lib/definition/operations/Shape.h"
#include "lib/definition/operations/SizeExpression.h"
#include "lib/definition/operations/View.h"

#include <fmt/format.h>

#include <algorithm>
#include <numeric>

namespace nereid::definition {

const std::vector<std::string> &BodyExpressions::swapNames() {
  static const std::vector<std::string> names = {"transpose", "swapaxes", "swapdims", "t"};
  return names;
}

std::optional<int> BodyExpressions::swapCall(const Call &call) {
  const bool isOfMatrix = call.function == "t";
  std::vector<Argument> arguments = {{"input", ArgumentType::Operand}};
  if (!isOfMatrix) {
    arguments.push_back({"dim0", ArgumentType::Integer});
    arguments.push_back({"dim1", ArgumentType::Integer});
  }
  auto given = matched(call, call.function, arguments);
  if (!given) {
    return std::nullopt;
  }
  std::vector<int64_t> dims;
  for (const Argument &argument : arguments) {
    const language::Expr *value = resolved((*given)[argument.name]);
    const auto number = value && argument.type == ArgumentType::Integer ? known.integerOf(*value)
                                                                        : std::optional<int64_t>();
    if (!value || (argument.type == ArgumentType::Integer && !number)) {
      fail("E0608", value ? value->range : call.whole->range,
           value
               ? fmt::format("'{}' of '{}' expects a literal integer", argument.name, call.function)
               : fmt::format("'{}' expects the argument '{}'", call.function, argument.name))
          .withHelp("its form is " + signatureText(call.function, arguments));
      return std::nullopt;
    }
    if (number) {
      dims.push_back(*number);
    }
  }
  const std::optional<int> input = read(*(*given)["input"]);
  if (!input) {
    return std::nullopt;
  }
  return isOfMatrix ? swappedMatrix(*input, "t", call.whole->range)
                    : swapped(*input, call.function, dims[0], dims[1], call.whole->range);
}

std::optional<int> BodyExpressions::swappedMatrix(int input, const std::string &name,
                                                  SourceRange range) {
  const SymbolicShape &shape = op.nodes[static_cast<size_t>(input)].shape;
  if (name != "mT" && (shape.size() != 2 || shape[0].isRest())) {
    fail("E0604", range,
         fmt::format("'{}' expects a matrix, but got the shape {}", name, text(shape)))
        .withHelp("swap the last two dimensions of any tensor by x.mT, others by x.transpose(dim0, "
                  "dim1)");
    return std::nullopt;
  }
  return swapped(input, name, -2, -1, range);
}

std::optional<int> BodyExpressions::swapped(int input, const std::string &name, int64_t dim0,
                                            int64_t dim1, SourceRange range) {
  const SymbolicShape &shape = op.nodes[static_cast<size_t>(input)].shape;
  const auto rank = static_cast<int64_t>(shape.size());
  if (rank > 0 && shape[0].isRest()) {
    if (dim0 >= 0 || dim1 >= 0 || dim0 <= -rank || dim1 <= -rank) {
      fail("E0604", range,
           fmt::format("'{}' expects a known rank, but got the shape {}", name, text(shape)))
          .withHelp("give every dimension a name or a size, or swap dimensions that have one by "
                    "numbers that count from the end: x.transpose(-1, -2)");
      return std::nullopt;
    }
    if (dim0 == dim1) {
      return input;
    }
    return append(trailingSwapOf(input, dim0, dim1), range);
  }
  std::vector<int64_t> order(shape.size());
  std::iota(order.begin(), order.end(), int64_t{0});
  for (int64_t *dim : {&dim0, &dim1}) {
    if (*dim < -rank || *dim >= rank) {
      fail("E0604", range,
           fmt::format("'{}' expects dimensions from {} to {}, but got {}", name, -rank, rank - 1,
                       *dim))
          .withHelp("count from the end: -1 is the last dimension");
      return std::nullopt;
    }
    *dim += *dim < 0 ? rank : 0;
  }
  if (dim0 == dim1) {
    return input;
  }
  std::swap(order[static_cast<size_t>(dim0)], order[static_cast<size_t>(dim1)]);
  Node node;
  node.op = "permute";
  node.inputs = {input};
  node.attributes["dims"] = std::move(order);
  return append(std::move(node), range);
}

/// x.sum_to_size(D): what broadcasting a tensor of that shape to x's is turned around.
std::optional<int> BodyExpressions::sumToSizeCall(const Call &call) {
  const SourceRange range = call.whole->range;
  std::vector<const language::Expr *> given = call.positional;
  const language::Expr *list = given.size() == 1 ? resolved(given[0]) : nullptr;
  if (list && (list->kind == language::ExprKind::Tuple || list->kind == language::ExprKind::List)) {
    given.clear();
    for (const language::ExprPtr &entry : list->operands) {
      given.push_back(entry.get());
    }
  }
  const auto entries = sizeTexts(given);
  if (!entries) {
    return std::nullopt;
  }
  const auto target = parseComputedShape(*entries);
  const auto *shape = std::get_if<SymbolicShape>(&target);
  if (!call.receiver || !call.whole->keywords.empty() || !shape ||
      (!shape->empty() && shape->front().isRest())) {
    fail("E0608", range, "'sum_to_size' expects names and numbers of sizes")
        .withHelp("its form is x.sum_to_size(C, D), of a tensor x");
    return std::nullopt;
  }
  const std::optional<int> input = read(*call.receiver);
  if (!input) {
    return std::nullopt;
  }
  const SymbolicShape from = op.nodes[static_cast<size_t>(*input)].shape;
  const bool isOpen = !from.empty() && from[0].isRest();
  const size_t named = from.size() - (isOpen ? 1 : 0);
  std::vector<int64_t> kept, dropped;
  bool fits = shape->size() <= named;
  for (size_t i = 0; i < from.size() && fits; ++i) {
    const size_t fromEnd = from.size() - i;
    const auto dim = -static_cast<int64_t>(fromEnd);
    if (fromEnd > shape->size()) {
      dropped.push_back(dim);
    } else if (const Dim &to = *(shape->end() + dim); to != from[i]) {
      fits = to == Dim{"", 1};
      kept.push_back(dim);
    }
  }
  if (!fits) {
    fail("E0604", range,
         fmt::format("'sum_to_size' of {} expects a shape that broadcasts to it, but got {}",
                     text(from), text(*shape)))
        .withHelp("write the last dimensions as they are, or 1");
    return std::nullopt;
  }
  if (!isAlways(*input, [](DType type) { return isFloat(type); })) {
    fail("E0608", range, "'sum_to_size' expects floating-point numbers").withHelp("use sum(dim=…)");
    return std::nullopt;
  }
  auto sum = [&](int of, std::vector<int64_t> dims, bool keepsDims) {
    Node node;
    node.op = "sum";
    node.inputs = {of};
    node.attributes["keepdim"] = keepsDims;
    if (!keepsDims && isOpen && !shape->empty()) {
      node.attributes["leading"] = static_cast<int64_t>(shape->size());
    }
    if (keepsDims || !shape->empty()) { // else all
      node.attributes["dim"] = std::move(dims);
    }
    return append(std::move(node), range);
  };
  std::optional<int> result = input;
  if (!kept.empty()) {
    result = sum(*result, kept, true);
  }
  return result && !dropped.empty() ? sum(*result, dropped, false) : result;
}

} // namespace nereid::definition
