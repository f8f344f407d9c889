// SPDX-License-Identifier: Apache-2.0
#include "lib/definition/reader/sequences/BodySequences.h"

#include "lib/definition/operations/Promotion.h"
#include "lib/definition/operations/Shape.h"
#include "lib/definition/operations/SizeAlgebra.h"
#include "lib/definition/operations/indices/Movement.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>

namespace nereid::definition {

using language::Expr;
using language::ExprKind;

namespace {

using Nodes = std::optional<std::vector<int>>;

/// More entries are no list of a body.
constexpr size_t mostEntries = 1024;
constexpr int64_t mostTurns = 1024;

bool isDisplay(const Expr &expr) {
  return expr.kind == ExprKind::Tuple || expr.kind == ExprKind::List;
}

/// The arguments of a call of Python's own function of the name.
bool isCallOf(const Expr &expr, std::string_view name) {
  return expr.kind == ExprKind::Call && expr.operands[0]->kind == ExprKind::Name &&
         expr.operands[0]->text == name;
}

bool isCallOfOne(const Expr &expr, std::string_view name) {
  return isCallOf(expr, name) && expr.operands.size() == 2 && expr.keywords.empty();
}

/// x.size()
bool isSizeCall(const Expr &expr) {
  return expr.kind == ExprKind::Call && expr.operands.size() == 1 && expr.keywords.empty() &&
         expr.operands[0]->kind == ExprKind::Attribute && expr.operands[0]->text == "size";
}

/// torch.meshgrid(a, b), torch.broadcast_tensors(a, b)
bool isSpreading(const Expr &expr) {
  const Expr *callee = expr.kind == ExprKind::Call ? expr.operands[0].get() : nullptr;
  return callee && (callee->kind == ExprKind::Name || callee->kind == ExprKind::Attribute) &&
         (callee->text == "meshgrid" || callee->text == "broadcast_tensors");
}

} // namespace

BodySequences::Shared *BodySequences::named(const Expr &expr) const {
  const auto found =
      expr.kind == ExprKind::Name ? body.sequences.find(expr.text) : body.sequences.end();
  return found == body.sequences.end() ? nullptr : found->second.get();
}

bool BodySequences::isSequence(const Expr &expr) const {
  switch (expr.kind) {
  case ExprKind::Tuple:
  case ExprKind::List:
  case ExprKind::ListComp:
    return true;
  case ExprKind::Name: {
    const Expr *literal = body.known.literalNamed(expr);
    return named(expr) != nullptr || (literal && isDisplay(*literal));
  }
  case ExprKind::Attribute:
    return expr.text == "shape";
  case ExprKind::Subscript:
    return expr.operands[1]->kind == ExprKind::Slice && isSequence(*expr.operands[0]);
  case ExprKind::Binary:
    return (expr.text == "+" && isSequence(*expr.operands[0]) && isSequence(*expr.operands[1])) ||
           (expr.text == "*" && isSequence(*expr.operands[0]));
  case ExprKind::Conditional: {
    const auto condition = body.known.constantOf(*expr.operands[0]);
    return condition && isSequence(*expr.operands[isTrue(*condition) ? 1 : 2]);
  }
  case ExprKind::Call:
    return isSizeCall(expr) || body.returnsPieces(expr) || isSpreading(expr) ||
           ((isCallOfOne(expr, "list") || isCallOfOne(expr, "tuple") ||
             isCallOfOne(expr, "reversed")) &&
            isIterable(*expr.operands[1]));
  default:
    return false;
  }
}

Nodes BodySequences::read(const Expr &expr) {
  if (const Shared *list = named(expr)) {
    return *list;
  }
  if (const Expr *literal = body.known.literalNamed(expr)) {
    return entriesOf(*literal);
  }
  switch (expr.kind) {
  case ExprKind::Tuple:
  case ExprKind::List:
    return entriesOf(expr);
  case ExprKind::ListComp:
    return comprehended(expr);
  case ExprKind::Attribute:
    return shapeOf(*expr.operands[0], expr.range);
  case ExprKind::Subscript:
    return sliced(expr);
  case ExprKind::Conditional:
    return read(*expr.operands[isTrue(*body.known.constantOf(*expr.operands[0])) ? 1 : 2]);
  case ExprKind::Binary: {
    if (expr.text == "*") {
      return repeated(expr);
    }
    Nodes left = read(*expr.operands[0]);
    const Nodes right = left ? read(*expr.operands[1]) : std::nullopt;
    if (!right) {
      return std::nullopt;
    }
    left->insert(left->end(), right->begin(), right->end());
    return left;
  }
  default:
    break;
  }
  if (isSizeCall(expr)) {
    return shapeOf(*expr.operands[0]->operands[0], expr.range);
  }
  if (body.returnsPieces(expr)) {
    return body.readSeveral(expr);
  }
  if (isSpreading(expr)) {
    return spread(expr);
  }
  const auto turns = turnsOf(*expr.operands[1]);
  if (!turns) {
    return std::nullopt;
  }
  std::vector<int> nodes;
  for (const std::vector<int> &turn : *turns) {
    if (turn.size() != 1) {
      body.fail("E0608", expr.range, "lists of tuples are not available in a body");
      return std::nullopt;
    }
    nodes.push_back(turn[0]);
  }
  if (isCallOf(expr, "reversed")) {
    std::reverse(nodes.begin(), nodes.end());
  }
  return nodes;
}

/// Tensors of one shape: a grid's coordinates, or what broadcasting makes of each.
Nodes BodySequences::spread(const Expr &expr) {
  const bool isGrid = expr.operands[0]->text == "meshgrid";
  std::string indexing = "ij";
  for (const language::Keyword &keyword : expr.keywords) {
    const Expr *word = body.known.literalOf(*keyword.value);
    const bool isWord = word && word->kind == ExprKind::String;
    if (!isGrid || keyword.name != "indexing" || !isWord ||
        (word->text != "ij" && word->text != "xy")) {
      body.fail("E0608", keyword.range,
                fmt::format("'{}' {}", expr.operands[0]->text,
                            isGrid && keyword.name == "indexing"
                                ? "expects \"ij\" or \"xy\" as 'indexing'"
                                : "has no argument '" + keyword.name + "'"));
      return std::nullopt;
    }
    indexing = word->text;
  }
  std::vector<const Expr *> given;
  for (size_t i = 1; i < expr.operands.size(); ++i) {
    given.push_back(expr.operands[i].get());
  }
  const bool isList = given.size() == 1 && isSequence(*given[0]);
  Nodes tensors = isList ? read(*given[0]) : std::vector<int>();
  if (!isList) {
    if (!openAll(given)) {
      return std::nullopt;
    }
    for (const Expr *each : given) {
      const std::optional<int> node = body.read(*each);
      if (!node) {
        return std::nullopt;
      }
      tensors->push_back(*node);
    }
  }
  if (!tensors) {
    return std::nullopt;
  }
  const size_t count = tensors->size();
  SymbolicShape shape;
  for (size_t i = 0; i < count; ++i) {
    const Node &node = body.op.nodes[static_cast<size_t>((*tensors)[i])];
    if (isNumber(node) || (isGrid && (node.shape.size() != 1 || node.shape[0].isRest()))) {
      body.fail("E0608", expr.range,
                fmt::format("'{}' expects {}, but got the shape {}", expr.operands[0]->text,
                            isGrid ? "vectors" : "tensors", text(node.shape)));
      return std::nullopt;
    }
    if (isGrid) {
      shape.push_back(node.shape[0]);
      continue;
    }
    const auto both = broadcast(i ? shape : node.shape, node.shape);
    if (!both) {
      body.fail("E0604", expr.range,
                fmt::format("shapes {} and {} do not broadcast", text(shape), text(node.shape)));
      return std::nullopt;
    }
    shape = *both;
  }
  const bool isTurned = isGrid && indexing == "xy" && count >= 2;
  if (isTurned) {
    std::swap(shape[0], shape[1]);
  }
  std::vector<int> results;
  for (size_t i = 0; i < count; ++i) {
    int node = (*tensors)[i];
    const size_t own = isTurned && i < 2 ? 1 - i : i;
    for (size_t behind = own + 1; isGrid && behind < count; ++behind) {
      Node apart;
      apart.op = "unsqueeze";
      apart.inputs = {node};
      apart.attributes["dim"] = int64_t{-1};
      const std::optional<int> next = body.append(std::move(apart), expr.range);
      if (!next) {
        return std::nullopt;
      }
      node = *next;
    }
    Node wide;
    wide.op = "expand";
    wide.inputs = {node};
    const SymbolicShape &from = body.op.nodes[static_cast<size_t>(node)].shape;
    std::vector<SizePolynomial> sizes;
    for (size_t d = 0; d < shape.size(); ++d) {
      const size_t added = shape.size() - from.size();
      const bool isKept = d >= added && from[d - added] == shape[d];
      sizes.push_back(isKept ? SizePolynomial(-1) : SizePolynomial::of(shape[d]));
    }
    setShape(wide, sizes);
    const bool isWide = from == shape;
    const std::optional<int> made = isWide ? node : body.append(std::move(wide), expr.range);
    if (!made) {
      return std::nullopt;
    }
    results.push_back(*made);
  }
  return results;
}

Nodes BodySequences::entriesOf(const Expr &list) {
  std::vector<int> nodes;
  for (const language::ExprPtr &each : list.operands) {
    if (each->kind == ExprKind::Starred) {
      const Expr &inner = *each->operands[0];
      const Nodes entries = isSequence(inner) ? read(inner) : std::nullopt;
      if (!entries) {
        if (!isSequence(inner)) {
          body.fail("E0608", each->range, "'*' expects a list or a tuple");
        }
        return std::nullopt;
      }
      nodes.insert(nodes.end(), entries->begin(), entries->end());
      continue;
    }
    if (isSequence(*each)) {
      body.fail("E0608", each->range, "lists of lists are not available in a body")
          .withHelp("join them: a + b, or [*a, *b]");
      return std::nullopt;
    }
    const std::optional<int> node = body.read(*each);
    if (!node) {
      return std::nullopt;
    }
    nodes.push_back(*node);
  }
  return nodes;
}

/// The sizes of a tensor of known rank.
Nodes BodySequences::shapeOf(const Expr &tensor, SourceRange range) {
  const std::optional<int> input = body.read(tensor);
  if (!input) {
    return std::nullopt;
  }
  const SymbolicShape shape = body.op.nodes[static_cast<size_t>(*input)].shape;
  if (isNumber(body.op.nodes[static_cast<size_t>(*input)])) {
    body.fail("E0608", range, "a number has no shape");
    return std::nullopt;
  }
  if (!shape.empty() && shape[0].isRest()) {
    body.fail(
            "E0604", range,
            fmt::format("a tuple of sizes expects a known rank, but got the shape {}", text(shape)))
        .withHelp("give every dimension a name or a size; single ones are x.shape[-1], and "
                  "x.unflatten(-1, (H, D)) and x.flatten(-2) keep those in front");
    return std::nullopt;
  }
  std::vector<int> sizes;
  for (const Dim &dim : shape) {
    sizes.push_back(dim.symbol.empty()
                        ? body.integerConstant(dim.constant, std::to_string(dim.constant))
                        : body.size(dim.symbol, true, range));
  }
  return sizes;
}

std::optional<int64_t> BodySequences::place(const Expr &index, int64_t count) {
  const std::optional<int64_t> at = body.known.integerOf(index);
  if (!at) {
    body.fail("E0608", index.range, "the index of a list expects an integer that is known")
        .withHelp("write torch.stack(parts) and index the tensor");
    return std::nullopt;
  }
  const int64_t found = *at < 0 ? *at + count : *at;
  if (found < 0 || found >= count) {
    body.fail(
        "E0604", index.range,
        fmt::format("the index of a list of {} expects to lie in it, but got {}", count, *at));
    return std::nullopt;
  }
  return found;
}

Nodes BodySequences::sliced(const Expr &subscript) {
  const Nodes whole = read(*subscript.operands[0]);
  const Expr &slice = *subscript.operands[1];
  if (!whole) {
    return std::nullopt;
  }
  const auto count = static_cast<int64_t>(whole->size());
  std::array<std::optional<int64_t>, 3> ends;
  for (size_t i = 0; i < 3; ++i) {
    const Expr *end = slice.operands[i].get();
    ends[i] = end ? body.known.integerOf(*end) : std::nullopt;
    if (end && (!ends[i] || (i == 2 && *ends[i] == 0))) {
      body.fail("E0608", end->range, "a slice of a list expects integers that are known");
      return std::nullopt;
    }
  }
  const int64_t step = ends[2].value_or(1);
  const auto clamped = [&](int64_t end) {
    const int64_t low = step < 0 ? -1 : 0;
    return std::clamp(end < 0 ? end + count : end, low, count + low);
  };
  const int64_t begin = ends[0] ? clamped(*ends[0]) : step < 0 ? count - 1 : 0;
  const int64_t stop = ends[1] ? clamped(*ends[1]) : step < 0 ? -1 : count;
  std::vector<int> nodes;
  for (int64_t i = begin; step < 0 ? i > stop : i < stop; i += step) {
    nodes.push_back((*whole)[static_cast<size_t>(i)]);
  }
  return nodes;
}

Nodes BodySequences::repeated(const Expr &product) {
  const Nodes once = read(*product.operands[0]);
  const std::optional<int64_t> times =
      once ? body.known.integerOf(*product.operands[1]) : std::nullopt;
  if (!times || *times > static_cast<int64_t>(mostEntries)) {
    if (once) {
      body.fail("E0608", product.operands[1]->range,
                fmt::format("a list is repeated a known number of times, {} at most", mostEntries));
    }
    return std::nullopt;
  }
  std::vector<int> nodes;
  for (int64_t i = 0; i < *times; ++i) {
    nodes.insert(nodes.end(), once->begin(), once->end());
  }
  return nodes;
}

/// [f(t) for t in parts if …], with names of its own.
Nodes BodySequences::comprehended(const Expr &list) {
  if (list.clauses.size() != 1) {
    body.fail("E0608", list.range, "a list of a body expects one 'for'");
    return std::nullopt;
  }
  const language::ComprehensionClause &clause = list.clauses[0];
  const auto turns = isIterable(*clause.iterable) ? turnsOf(*clause.iterable) : std::nullopt;
  if (!turns) {
    if (!isIterable(*clause.iterable)) {
      body.fail("E0608", clause.iterable->range,
                "a list expects range(…), a list or a tuple behind 'in', which are known when the "
                "definition is read");
    }
    return std::nullopt;
  }
  const auto names = body.names;
  const auto literals = body.literals;
  const auto assigned = body.assigned;
  const auto sequences = body.sequences;
  std::vector<int> nodes;
  const int before = body.errorCount();
  for (const std::vector<int> &turn : *turns) {
    if (!body.assignTargets(*clause.target, turn, /*isOwn=*/true)) {
      break;
    }
    bool isTaken = true;
    for (const language::ExprPtr &condition : clause.conditions) {
      const auto known = body.known.constantOf(*condition);
      if (!known) {
        body.fail("E0608", condition->range,
                  "the condition of a list is not known when the definition is read");
        break;
      }
      isTaken = isTaken && isTrue(*known);
    }
    const std::optional<int> node =
        isTaken && body.errorCount() == before ? body.read(*list.operands[0]) : std::nullopt;
    if (node) {
      nodes.push_back(*node);
    }
    if (body.errorCount() > before) {
      break;
    }
  }
  body.names = names;
  body.literals = literals;
  body.assigned = assigned;
  body.sequences = sequences;
  return body.errorCount() > before ? std::nullopt : Nodes(nodes);
}

std::optional<int64_t> BodySequences::lengthOf(const Expr &expr) const {
  if (const Shared *list = named(expr)) {
    return static_cast<int64_t>(list->size());
  }
  const Expr *literal = body.known.literalNamed(expr);
  const Expr &display = literal ? *literal : expr;
  const bool hasStar = std::any_of(
      display.operands.begin(), display.operands.end(),
      [](const language::ExprPtr &each) { return each && each->kind == ExprKind::Starred; });
  if (isDisplay(display) && !hasStar) {
    return static_cast<int64_t>(display.operands.size());
  }
  const bool isShape = expr.kind == ExprKind::Attribute && expr.text == "shape" &&
                       expr.operands[0]->kind == ExprKind::Name;
  const std::optional<int> tensor = isShape ? body.lookup(expr.operands[0]->text) : std::nullopt;
  if (!tensor) {
    return std::nullopt;
  }
  const SymbolicShape &shape = body.op.nodes[static_cast<size_t>(*tensor)].shape;
  const bool isOpen = !shape.empty() && shape[0].isRest();
  return isOpen ? std::nullopt : std::optional(static_cast<int64_t>(shape.size()));
}

bool BodySequences::isEntry(const Expr &subscript) const {
  const Expr &whole = *subscript.operands[0];
  const bool isShape = whole.kind == ExprKind::Attribute; // which may have an open rank
  return subscript.operands[1]->kind != ExprKind::Slice && !isShape && isSequence(whole) &&
         !body.returnsPieces(whole);
}

std::optional<int> BodySequences::entry(const Expr &subscript) {
  const Nodes whole = read(*subscript.operands[0]);
  const auto at =
      whole ? place(*subscript.operands[1], static_cast<int64_t>(whole->size())) : std::nullopt;
  return at ? std::optional((*whole)[static_cast<size_t>(*at)]) : std::nullopt;
}

std::optional<int> BodySequences::knownEntry(const Expr &subscript) const {
  const Shared *list = named(*subscript.operands[0]);
  const std::optional<int64_t> at =
      list ? body.known.integerOf(*subscript.operands[1]) : std::nullopt;
  const auto count = list ? static_cast<int64_t>(list->size()) : 0;
  const int64_t place = at.value_or(count) < 0 ? *at + count : at.value_or(count);
  return place >= 0 && place < count ? std::optional((*list)[static_cast<size_t>(place)])
                                     : std::nullopt;
}

bool BodySequences::isFunction(const Expr &call) const {
  return (isCallOfOne(call, "len") || isCallOfOne(call, "sum")) && isSequence(*call.operands[1]);
}

std::optional<int> BodySequences::called(const Expr &call) {
  const Nodes nodes = read(*call.operands[1]);
  if (!nodes) {
    return std::nullopt;
  }
  if (isCallOf(call, "len")) {
    return body.integerConstant(static_cast<int64_t>(nodes->size()), std::to_string(nodes->size()));
  }
  if (nodes->empty()) {
    return body.integerConstant(0, "0");
  }
  std::optional<int> sum = nodes->front(); // 0 and the first one are the first one
  for (size_t i = 1; i < nodes->size() && sum; ++i) {
    sum = body.apply("add", {*sum, (*nodes)[i]}, call.range);
  }
  return sum;
}

// ---- changing lists ----

bool BodySequences::isMethod(const Expr &call) const {
  if (call.kind != ExprKind::Call || call.operands[0]->kind != ExprKind::Attribute) {
    return false;
  }
  const Expr &callee = *call.operands[0];
  const bool isKnown =
      callee.text == "append" || callee.text == "extend" || callee.text == "insert";
  return isKnown && callee.operands[0]->kind == ExprKind::Name && isSequence(*callee.operands[0]);
}

bool BodySequences::extend(const std::string &name, const Expr &more) {
  const Nodes entries = isSequence(more) ? read(more) : std::nullopt;
  if (!entries) {
    if (!isSequence(more)) {
      body.fail("E0608", more.range, "a list is extended by a list or a tuple");
    }
    return false;
  }
  std::vector<int> &nodes = *body.sequences.at(name);
  nodes.insert(nodes.end(), entries->begin(), entries->end());
  return true;
}

void BodySequences::give(const Expr &name, const Expr &value, const std::vector<int> &nodes) {
  const auto shared =
      value.kind == ExprKind::Name ? body.sequences.find(value.text) : body.sequences.end();
  const auto list = shared == body.sequences.end() ? nullptr : shared->second;
  body.assignSequence(name.text, nodes, name.range);
  if (list && body.sequences.contains(name.text)) {
    body.sequences[name.text] = list;
  }
}

/// Of integers, which were known as a literal.
bool BodySequences::grow(const Expr &name) {
  const Nodes nodes = named(name) ? std::nullopt : read(name);
  if (nodes) {
    body.assignSequence(name.text, *nodes, name.range);
  }
  return named(name) != nullptr;
}

bool BodySequences::runMethod(const Expr &call) {
  const Expr &callee = *call.operands[0], &owner = *callee.operands[0];
  const size_t count = callee.text == "insert" ? 3 : 2;
  if (call.operands.size() != count || !call.keywords.empty()) {
    body.fail("E0608", call.range,
              fmt::format("'{}' of a list expects {} argument{}", callee.text, count - 1,
                          count == 2 ? "" : "s"));
    return false;
  }
  if (!grow(owner)) {
    return false;
  }
  if (callee.text == "extend") {
    return extend(owner.text, *call.operands[1]);
  }
  if (isSequence(*call.operands.back())) {
    body.fail("E0608", call.operands.back()->range, "lists of lists are not available in a body")
        .withHelp(fmt::format("extend it: {}.extend(…)", owner.text));
    return false;
  }
  const std::optional<int> value = body.read(*call.operands.back());
  if (!value) {
    return false;
  }
  std::vector<int> &nodes = *named(owner);
  if (nodes.size() >= mostEntries) {
    body.fail("E0608", call.range, fmt::format("a list has at most {} entries", mostEntries));
    return false;
  }
  if (callee.text == "append") {
    nodes.push_back(*value);
    return true;
  }
  const std::optional<int64_t> at = body.known.integerOf(*call.operands[1]);
  if (!at) {
    body.fail("E0608", call.operands[1]->range,
              "the place in a list expects an integer that is known");
    return false;
  }
  const auto size = static_cast<int64_t>(nodes.size());
  nodes.insert(nodes.begin() + std::clamp(*at < 0 ? *at + size : *at, int64_t{0}, size), *value);
  return true;
}

// ---- walking over lists ----

/// The numbers of range(…) with known arguments.
std::optional<std::vector<int64_t>> BodySequences::rangeOf(const Expr &iterable) {
  std::vector<int64_t> arguments;
  for (size_t i = 1; i < iterable.operands.size(); ++i) {
    const std::optional<int64_t> number = body.known.integerOf(*iterable.operands[i]);
    if (!number) {
      body.fail("E0608", iterable.operands[i]->range,
                "range expects integers that are known when the definition is read")
          .withHelp("a loop is written out, so sizes cannot count it: reduce over the dimension");
      return std::nullopt;
    }
    arguments.push_back(*number);
  }
  if (arguments.empty() || arguments.size() > 3 || !iterable.keywords.empty()) {
    body.fail("E0608", iterable.range, "range expects one to three integers");
    return std::nullopt;
  }
  const int64_t begin = arguments.size() > 1 ? arguments[0] : 0;
  const int64_t end = arguments[arguments.size() > 1 ? 1 : 0];
  const int64_t step = arguments.size() > 2 ? arguments[2] : 1;
  if (step == 0) {
    body.fail("E0608", iterable.range, "the step of range expects not to be 0");
    return std::nullopt;
  }
  const __int128 distance = step > 0 ? __int128{end} - begin : __int128{begin} - end;
  const __int128 width = step > 0 ? __int128{step} : -__int128{step};
  const __int128 count = distance <= 0 ? 0 : (distance + width - 1) / width;
  if (count > mostTurns) {
    body.fail("E0608", iterable.range,
              fmt::format("a loop expects at most {} turns, but got {}", mostTurns,
                          count > INT64_MAX ? "more than 63 bits count"
                                            : std::to_string(static_cast<int64_t>(count))))
        .withHelp("it is written out when the definition is read: reduce over a dimension instead");
    return std::nullopt;
  }
  std::vector<int64_t> numbers;
  for (int64_t i = 0; i < static_cast<int64_t>(count); ++i) {
    numbers.push_back(begin + i * step);
  }
  return numbers;
}

bool BodySequences::isIterable(const Expr &expr) const {
  if (isCallOf(expr, "zip")) {
    return std::all_of(expr.operands.begin() + 1, expr.operands.end(),
                       [&](const language::ExprPtr &each) { return isIterable(*each); });
  }
  return isSequence(expr) || isCallOf(expr, "range") ||
         (isCallOfOne(expr, "enumerate") && isIterable(*expr.operands[1]));
}

std::optional<std::vector<std::vector<int>>> BodySequences::turnsOf(const Expr &iterable) {
  std::vector<std::vector<int>> turns;
  if (isCallOf(iterable, "range")) {
    const auto numbers = rangeOf(iterable);
    for (int64_t number : numbers.value_or(std::vector<int64_t>())) {
      turns.push_back({body.integerConstant(number, std::to_string(number))});
    }
    return numbers ? std::optional(turns) : std::nullopt;
  }
  if (isCallOf(iterable, "zip") || isCallOf(iterable, "enumerate")) {
    const bool counts = isCallOf(iterable, "enumerate");
    for (size_t i = 1; i < iterable.operands.size(); ++i) {
      const auto part = turnsOf(*iterable.operands[i]);
      if (!part) {
        return std::nullopt;
      }
      turns.resize(i == 1 ? part->size() : std::min(turns.size(), part->size()));
      for (size_t turn = 0; turn < turns.size(); ++turn) {
        if (counts) {
          turns[turn].push_back(
              body.integerConstant(static_cast<int64_t>(turn), std::to_string(turn)));
        }
        const std::vector<int> &values = (*part)[turn];
        turns[turn].insert(turns[turn].end(), values.begin(), values.end());
      }
    }
    return turns;
  }
  const bool hasLists =
      isDisplay(iterable) &&
      std::any_of(iterable.operands.begin(), iterable.operands.end(),
                  [&](const language::ExprPtr &each) { return isSequence(*each); });
  if (hasLists) { // for a, b in ((x, 1), (y, 2))
    for (const language::ExprPtr &each : iterable.operands) {
      const std::optional<int> node = isSequence(*each) ? std::nullopt : body.read(*each);
      const Nodes values = node                ? std::vector{*node}
                           : isSequence(*each) ? read(*each)
                                               : std::nullopt;
      if (!values) {
        return std::nullopt;
      }
      turns.push_back(*values);
    }
    return turns;
  }
  const Nodes nodes = read(iterable);
  for (int node : nodes.value_or(std::vector<int>())) {
    turns.push_back({node});
  }
  return nodes ? std::optional(turns) : std::nullopt;
}

// ---- as arguments ----

/// Numbers as they would be written, other nodes by a name that no body has.
const Expr *BodySequences::tupleOf(const std::vector<int> &nodes, SourceRange range) {
  Expr *tuple = body.known.keep(ExprKind::Tuple, range);
  for (int node : nodes) {
    tuple->operands.push_back(body.known.entry(node, range));
  }
  return tuple;
}

const Expr *BodySequences::opened(const Expr *argument) {
  if (!argument || !isSequence(*argument)) {
    return argument;
  }
  const bool hasStar = std::any_of(
      argument->operands.begin(), argument->operands.end(),
      [](const language::ExprPtr &each) { return each && each->kind == ExprKind::Starred; });
  if ((isDisplay(*argument) && !hasStar) || body.known.literalNamed(*argument)) {
    return argument; // whoever takes it reads its entries
  }
  const Nodes nodes = read(*argument);
  return nodes ? tupleOf(*nodes, argument->range) : nullptr;
}

bool BodySequences::openAll(std::vector<const Expr *> &arguments, bool keepsShapes) {
  std::vector<const Expr *> all;
  for (const Expr *argument : arguments) {
    if (argument->kind == ExprKind::Starred) {
      const Expr &inner = *argument->operands[0];
      if (!isSequence(inner)) {
        body.fail("E0608", argument->range, "'*' expects a list or a tuple");
        return false;
      }
      const Nodes nodes = read(inner);
      if (!nodes) {
        return false;
      }
      for (const language::ExprPtr &each : tupleOf(*nodes, argument->range)->operands) {
        all.push_back(each.get());
      }
      continue;
    }
    const bool isKept = keepsShapes && argument->kind == ExprKind::Attribute;
    const Expr *one = isKept ? argument : opened(argument);
    if (!one) {
      return false;
    }
    all.push_back(one);
  }
  arguments = std::move(all);
  return true;
}

} // namespace nereid::definition
