// SPDX-License-Identifier: Apache-2.0
// Tensors made of several parts: cat and stack, pad, roll, and what is written in slices: diff and
// rot90.
#include "lib/definition/reader/moves/BodyMoves.h"

#include "lib/definition/operations/Promotion.h"
#include "lib/definition/operations/Shape.h"
#include "lib/definition/operations/indices/Movement.h"
#include "lib/definition/reader/BodyCasts.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>

namespace nereid::definition {

using language::Expr;
using language::ExprKind;

namespace {

using Form = std::vector<Argument>;

const std::map<std::string, Form> &forms() {
  const Argument input = {"input", ArgumentType::Operand, false, ""};
  const Argument tensors = {"tensors", ArgumentType::Operand, false, ""};
  const auto optional = [](const char *name, const char *text) {
    return Argument{name, ArgumentType::Order, true, text};
  };
  static const std::map<std::string, Form> known = {
      {"cat", {tensors, optional("dim", "0")}},
      {"concat", {tensors, optional("dim", "0")}},
      {"concatenate", {tensors, optional("dim", "0")}},
      {"stack", {tensors, optional("dim", "0")}},
      {"pad",
       {input,
        {"pad", ArgumentType::Order, false, ""},
        optional("mode", "constant"),
        optional("value", "0")}},
      {"roll",
       {input,
        {"shifts", ArgumentType::Order, false, ""},
        {"dims", ArgumentType::Order, false, ""}}},
      {"diff", {input, optional("n", "1"), optional("dim", "-1")}},
      {"rot90", {input, optional("k", "1"), optional("dims", "(0, 1)")}},
  };
  return known;
}

bool isList(const Expr &expr) {
  return expr.kind == ExprKind::Tuple || expr.kind == ExprKind::List;
}

/// The entries of a list; of anything else, itself.
std::vector<const Expr *> entriesOf(const Expr &expr) {
  std::vector<const Expr *> entries;
  for (size_t i = 0; i < (isList(expr) ? expr.operands.size() : 1); ++i) {
    entries.push_back(isList(expr) ? expr.operands[i].get() : &expr);
  }
  return entries;
}

} // namespace

const std::vector<std::string> &BodyMoves::joinNames() {
  static const std::vector<std::string> names = [] {
    std::vector<std::string> list;
    for (const auto &[name, form] : forms()) {
      list.push_back(name);
    }
    return list;
  }();
  return names;
}

std::optional<int> BodyMoves::joinCall(const Call &call) {
  const Form &form = forms().at(call.function);
  auto given = matched(call, call.function, form);
  if (!given) {
    return std::nullopt;
  }
  std::map<std::string, const Expr *> values;
  for (const Argument &argument : form) {
    values[argument.name] = resolved((*given)[argument.name]);
    if (!values[argument.name] && !argument.hasDefault) {
      fail("E0608", call.whole->range,
           fmt::format("'{}' expects the argument '{}'", call.function, argument.name))
          .withHelp("its form is " + signatureText(call.function, form));
      return std::nullopt;
    }
  }
  if (form[0].name == "tensors") {
    return catCall(call, *values["tensors"], values["dim"]);
  }
  const std::optional<int> input = read(*values["input"]);
  if (!input) {
    return std::nullopt;
  }
  if (call.function == "pad") {
    return padCall(call, *input, *values["pad"], values["mode"], values["value"]);
  }
  if (call.function == "roll") {
    return rollCall(call, *input, *values["shifts"], *values["dims"]);
  }
  return call.function == "diff" ? diffCall(call, *input, values["n"], values["dim"])
                                 : rotateCall(call, *input, values["k"], values["dims"]);
}

std::optional<int64_t> BodyMoves::literalOf(const Call &call, const Expr *value,
                                            int64_t otherwise) {
  const std::optional<int64_t> number = value ? body.known.integerOf(*value) : otherwise;
  if (!number) {
    fail("E0608", value->range, fmt::format("'{}' expects a literal integer here", call.function));
  }
  return number;
}

std::optional<int> BodyMoves::joined(const std::vector<int> &parts, int64_t dim,
                                     SourceRange range) {
  if (parts.size() == 1) {
    return parts[0];
  }
  for (const std::vector<DType> &list : types) {
    for (int part : parts) {
      if (list[static_cast<size_t>(part)] != list[static_cast<size_t>(parts[0])]) {
        fail("E0605", range,
             fmt::format("'cat' expects tensors of one type, but got {} and {}",
                         torchName(list[static_cast<size_t>(parts[0])]),
                         torchName(list[static_cast<size_t>(part)])))
            .withHelp("give the inputs one type");
        return std::nullopt;
      }
    }
  }
  Node node;
  node.op = "cat";
  node.inputs = parts;
  node.attributes["dim"] = dim;
  return append(std::move(node), range);
}

std::optional<int> BodyMoves::catCall(const Call &call, const Expr &tensors, const Expr *dim) {
  const SourceRange range = call.whole->range;
  if (!isList(tensors) || tensors.operands.empty()) {
    fail("E0608", tensors.range,
         fmt::format("'{}' expects a list of tensors, such as [a, b]", call.function));
    return std::nullopt;
  }
  const std::optional<int64_t> where = literalOf(call, dim, 0);
  if (!where) {
    return std::nullopt;
  }
  std::vector<int> parts;
  int64_t at = *where;
  for (const Expr *each : entriesOf(tensors)) {
    std::optional<int> part = read(*each);
    if (part && isNumber(op.nodes[static_cast<size_t>(*part)])) {
      fail("E0608", each->range,
           fmt::format("'{}' expects tensors, but got a number", call.function));
      return std::nullopt;
    }
    if (part && call.function == "stack") {
      const SymbolicShape &shape = op.nodes[static_cast<size_t>(*part)].shape;
      const bool isOpen = !shape.empty() && shape[0].isRest();
      const int64_t rank = static_cast<int64_t>(shape.size()) + 1;
      at = *where < 0 || *where >= rank || isOpen ? *where : *where - rank;
      Node node;
      node.op = "unsqueeze";
      node.inputs = {*part};
      node.attributes["dim"] = at;
      part = append(std::move(node), range);
    }
    if (!part) {
      return std::nullopt;
    }
    parts.push_back(*part);
  }
  const std::optional<int64_t> negative = readDim(parts[0], at, call.function, range);
  return negative && BodyCasts(body).convertToOne(parts, call.function, range)
             ? joined(parts, *negative, range)
             : std::nullopt;
}

std::optional<int> BodyMoves::padCall(const Call &call, int input, const Expr &pad,
                                      const Expr *mode, const Expr *value) {
  static const std::vector<std::string> modes = {"constant", "reflect", "replicate", "circular"};
  const SourceRange range = call.whole->range;
  const std::string how = mode ? mode->text : "constant";
  if ((mode && mode->kind != ExprKind::String) ||
      std::find(modes.begin(), modes.end(), how) == modes.end()) {
    fail("E0608", mode->range,
         "'mode' of 'pad' expects 'constant', 'reflect', 'replicate' or 'circular'");
    return std::nullopt;
  }
  double constant = 0;
  if (value) {
    const std::optional<int> number = read(*value);
    if (!number || op.nodes[static_cast<size_t>(*number)].op != "constant") {
      if (number) {
        fail("E0608", value->range, "'value' of 'pad' expects a literal number");
      }
      return std::nullopt;
    }
    constant = constantValue(op.nodes[static_cast<size_t>(*number)]);
    if (!body.isAlways(input, isFloat) && constant != std::floor(constant)) {
      fail("E0608", value->range,
           "'value' of 'pad' expects an integer where the tensor has integers");
      return std::nullopt;
    }
  }
  const std::vector<const Expr *> sizes = entriesOf(pad);
  const SymbolicShape &shape = op.nodes[static_cast<size_t>(input)].shape;
  const bool isOpen = !shape.empty() && shape[0].isRest();
  const size_t named = shape.size() - (isOpen ? 1 : 0), count = sizes.size() / 2;
  const bool fitsMode = how == "constant" || isOpen || named == count + 1 || named == count + 2;
  if (!isList(pad) || sizes.size() % 2 != 0 || count > named || !fitsMode) {
    fail("E0604", pad.range,
         fmt::format("'pad' expects two sizes for each of the last dimensions, but got {} for {}",
                     sizes.size(), text(shape)))
        .withHelp(fitsMode ? "the last dimension's come first: (left, right, top, bottom)"
                           : "all but one or two leading dimensions are padded in this mode");
    return std::nullopt;
  }
  std::optional<int> result = input;
  for (size_t d = 0; d < count && result; ++d) {
    const std::optional<SizePolynomial> before = readSize(*sizes[2 * d]);
    const std::optional<SizePolynomial> after = readSize(*sizes[2 * d + 1]);
    result = before && after ? padded(*result, -static_cast<int64_t>(d) - 1, *before, *after, how,
                                      constant, range)
                             : std::nullopt;
  }
  return result;
}

std::optional<int> BodyMoves::padded(int input, int64_t dim, const SizePolynomial &before,
                                     const SizePolynomial &after, const std::string &mode,
                                     double value, SourceRange range) {
  const SizePolynomial size = sizeOf(input, dim), none = 0;
  const auto isNegative = [](const SizePolynomial &each) {
    return each.constant().value_or(0) < 0;
  };
  if (isNegative(before) || isNegative(after)) { // PyTorch takes that much off
    const SizePolynomial start = isNegative(before) ? before * -1 : none;
    const SizePolynomial stop = isNegative(after) ? size + after : size;
    expectNotNegative(stop - start, "'pad' expects to leave a size of at least 0", range);
    const std::optional<int> rest =
        failed() ? std::nullopt : narrowed(input, dim, start, stop - start, 1, range);
    return rest ? padded(*rest, dim, isNegative(before) ? none : before,
                         isNegative(after) ? none : after, mode, value, range)
                : std::nullopt;
  }
  if (before == none && after == none) {
    return input;
  }
  for (const SizePolynomial &each : {before, after}) {
    expectNotNegative(each, "'pad' expects sizes of at least 0", range);
    const SizePolynomial most = mode == "reflect" ? size - 1 : size;
    if (mode == "reflect" || mode == "circular") {
      expectNotNegative(most - each,
                        fmt::format("'pad' of mode '{}' expects at most {}", mode, most.text()),
                        range);
    }
  }
  if (mode == "replicate") {
    expectNotNegative(size - 1, "'pad' of mode 'replicate' expects an element", range);
  }
  if (failed()) {
    return std::nullopt;
  }
  Node node;
  node.op = "pad";
  node.inputs = {input};
  node.attributes["dim"] = dim;
  setSize(node, "before", before);
  setSize(node, "after", after);
  node.attributes["mode"] = mode;
  if (mode == "constant") {
    node.attributes["value"] = value;
  }
  return append(std::move(node), range);
}

/// The last `shift` elements come first.
std::optional<int> BodyMoves::rollCall(const Call &call, int input, const Expr &shifts,
                                       const Expr &dims) {
  const SourceRange range = call.whole->range;
  const std::vector<const Expr *> counts = entriesOf(shifts), places = entriesOf(dims);
  if (counts.size() != places.size()) {
    fail("E0608", range,
         fmt::format("'roll' expects a shift for each dimension, but got {} for {}", counts.size(),
                     places.size()));
    return std::nullopt;
  }
  std::optional<int> result = input;
  for (size_t i = 0; i < counts.size() && result; ++i) {
    const std::optional<SizePolynomial> shift = readSize(*counts[i]);
    const std::optional<int64_t> place = literalOf(call, places[i], 0);
    const auto dim = place ? readDim(*result, *place, "roll", range) : std::nullopt;
    if (!shift || !dim) {
      return std::nullopt;
    }
    const SizePolynomial size = sizeOf(*result, *dim);
    const std::optional<int64_t> number = shift->constant(), whole = size.constant();
    SizePolynomial front = number && *number < 0 ? *shift * -1 : size - *shift;
    if (number && whole && *whole > 0) { // any number of turns
      front = ((-*number % *whole) + *whole) % *whole;
    }
    expectNotNegative(front, "'roll' expects at most one turn", range);
    expectNotNegative(size - front, "'roll' expects at most one turn", range);
    if (failed() || front == SizePolynomial(0) || front == size) {
      continue;
    }
    const auto head = narrowed(*result, *dim, 0, front, 1, range);
    const auto tail = narrowed(*result, *dim, front, size - front, 1, range);
    result = head && tail ? joined({*tail, *head}, *dim, range) : std::nullopt;
  }
  return failed() ? std::nullopt : result;
}

std::optional<int> BodyMoves::diffCall(const Call &call, int input, const Expr *n,
                                       const Expr *dim) {
  const SourceRange range = call.whole->range;
  const std::optional<int64_t> times = literalOf(call, n, 1), place = literalOf(call, dim, -1);
  constexpr int64_t most = 8;
  if (!times || !place) {
    return std::nullopt;
  }
  if (*times < 0 || *times > most) {
    fail("E0608", range, fmt::format("'n' of 'diff' expects 0 to {}, but got {}", most, *times));
    return std::nullopt;
  }
  const auto negative = readDim(input, *place, "diff", range);
  std::optional<int> result = negative ? std::optional(input) : std::nullopt;
  for (int64_t i = 0; i < *times && result; ++i) {
    const SizePolynomial length = sizeOf(*result, *negative) - 1;
    expectNotNegative(length, "'diff' expects an element for each difference", range);
    const auto next = failed() ? std::nullopt : narrowed(*result, *negative, 1, length, 1, range);
    const auto own = next ? narrowed(*result, *negative, 0, length, 1, range) : std::nullopt;
    result = own ? body.apply("sub", {*next, *own}, range) : std::nullopt;
  }
  return result;
}

std::optional<int> BodyMoves::rotateCall(const Call &call, int input, const Expr *k,
                                         const Expr *dims) {
  const SourceRange range = call.whole->range;
  const std::optional<int64_t> turns = literalOf(call, k, 1);
  std::vector<int64_t> plane;
  for (const Expr *each : dims ? entriesOf(*dims) : std::vector<const Expr *>{}) {
    const std::optional<int64_t> number = literalOf(call, each, 0);
    plane.push_back(number.value_or(0));
  }
  plane = dims ? plane : std::vector<int64_t>{0, 1};
  if (!turns || failed()) {
    return std::nullopt;
  }
  for (int64_t &each : plane) {
    const auto negative = readDim(input, each, "rot90", range);
    if (!negative) {
      return std::nullopt;
    }
    each = *negative;
  }
  if (plane.size() != 2 || plane[0] == plane[1]) {
    fail("E0604", range, "'dims' of 'rot90' expects two dimensions");
    return std::nullopt;
  }
  const int64_t quarter = (*turns % 4 + 4) % 4;
  if (quarter == 2) {
    return flipped(input, plane, range);
  }
  const std::optional<int> mirrored =
      quarter == 0 ? input : flipped(input, {plane[quarter == 1 ? 1 : 0]}, range);
  return quarter == 0 || !mirrored ? mirrored
                                   : body.swapped(*mirrored, "rot90", plane[0], plane[1], range);
}

} // namespace nereid::definition
