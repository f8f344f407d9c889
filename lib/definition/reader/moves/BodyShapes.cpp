// SPDX-License-Identifier: Apache-2.0
// The same elements under another shape, and repeated ones: reshape, flatten, unflatten, expand,
// repeat, windows (unfold), pixel_shuffle, interpolate to nearest neighbours, and the triangles.
#include "lib/definition/reader/moves/BodyMoves.h"

#include "lib/definition/operations/Convolution.h"
#include "lib/definition/operations/Shape.h"
#include "lib/definition/operations/indices/Movement.h"
#include "lib/definition/operations/sizes/SizeRules.h"

#include <fmt/format.h>

#include <algorithm>
#include <numeric>

namespace nereid::definition {

using language::Expr;
using language::ExprKind;

namespace {

using Sizes = std::vector<SizePolynomial>;

bool isOpen(const SymbolicShape &shape) { return !shape.empty() && shape[0].isRest(); }

SizePolynomial product(const Sizes &sizes) {
  return std::accumulate(sizes.begin(), sizes.end(), SizePolynomial(1),
                         [](const SizePolynomial &a, const SizePolynomial &b) { return a * b; });
}

/// Names whose arguments but the tensor are sizes, one by one or in a list.
const std::vector<std::string> &listed() {
  static const std::vector<std::string> names = {"reshape",      "view",   "expand",
                                                 "broadcast_to", "repeat", "tile"};
  return names;
}

} // namespace

const std::vector<std::string> &BodyMoves::shapeNames() {
  static const std::vector<std::string> names = [] {
    std::vector<std::string> list = listed();
    for (const char *name :
         {"flatten", "unflatten", "repeat_interleave", "unfold", "tril", "triu"}) {
      list.push_back(name);
    }
    return list;
  }();
  return names;
}

std::optional<int> BodyMoves::shapeCall(const Call &call) {
  const std::string &name = call.function;
  const bool isListed = std::find(listed().begin(), listed().end(), name) != listed().end();
  const Argument input = {"input", ArgumentType::Operand, false, ""};
  auto other = [](const char *argument, const char *text) {
    return Argument{argument, ArgumentType::Order, *text != '\0', text};
  };
  static const std::map<std::string, std::vector<std::pair<const char *, const char *>>> forms = {
      {"flatten", {{"start_dim", "0"}, {"end_dim", "-1"}}},
      {"unflatten", {{"dim", ""}, {"sizes", ""}}},
      {"repeat_interleave", {{"repeats", ""}, {"dim", ""}}},
      {"unfold", {{"dimension", ""}, {"size", ""}, {"step", ""}}},
      {"tril", {{"diagonal", "0"}}},
      {"triu", {{"diagonal", "0"}}}};
  std::vector<Argument> arguments = {input};
  if (isListed) {
    arguments.push_back(other(name == "repeat" ? "repeats"
                              : name == "tile" ? "dims"
                                               : "shape",
                              ""));
  } else {
    for (const auto &[argument, text] : forms.at(name)) {
      arguments.push_back(other(argument, text));
    }
  }
  Call direct = call;
  std::vector<const Expr *> entries;
  const size_t operands = call.receiver ? 0 : 1;
  if (isListed && call.positional.size() > operands + 1) { // x.reshape(M, N)
    entries.assign(call.positional.begin() + static_cast<std::ptrdiff_t>(operands),
                   call.positional.end());
    direct.positional.resize(operands);
  }
  auto given = matched(direct, name, arguments);
  if (!given) {
    return std::nullopt;
  }
  std::vector<const Expr *> values;
  for (size_t i = 0; i < arguments.size(); ++i) {
    values.push_back(resolved((*given)[arguments[i].name]));
    if (!values.back() && !arguments[i].hasDefault && (i != 1 || entries.empty())) {
      fail("E0608", call.whole->range,
           fmt::format("'{}' expects the argument '{}'", name, arguments[i].name))
          .withHelp("its form is " + signatureText(name, arguments));
      return std::nullopt;
    }
  }
  const std::optional<int> value = read(*values[0]);
  if (!value) {
    return std::nullopt;
  }
  const SourceRange range = call.whole->range;
  auto sizesOf = [&](const Expr *list) {
    std::vector<const Expr *> each = list ? std::vector<const Expr *>{} : entries;
    const bool isList = list && (list->kind == ExprKind::Tuple || list->kind == ExprKind::List);
    for (size_t i = 0; list && i < (isList ? list->operands.size() : 1); ++i) {
      each.push_back(isList ? list->operands[i].get() : list);
    }
    std::optional<Sizes> sizes = Sizes();
    for (const Expr *entry : each) {
      const std::optional<SizePolynomial> size = sizes ? readSize(*entry) : std::nullopt;
      sizes = size ? sizes : std::nullopt;
      if (size) {
        sizes->push_back(*size);
      }
    }
    return sizes;
  };
  if (isListed) {
    const std::optional<Sizes> sizes = sizesOf(values[1]);
    return !sizes                                ? std::nullopt
           : name == "reshape" || name == "view" ? reshaped(*value, *sizes, range)
           : name == "repeat" || name == "tile"  ? repeated(*value, *sizes, name, range)
                                                 : expanded(*value, *sizes, range);
  }
  if (name == "tril" || name == "triu") {
    return triangle(*value, name, values[1], range);
  }
  const size_t dimAt = name == "repeat_interleave" ? 2 : 1;
  const std::optional<int64_t> first = literalOf(call, values[dimAt], 0);
  const auto dim = first ? readDim(*value, *first, name, range) : std::nullopt;
  if (!dim) {
    return std::nullopt;
  }
  if (name == "flatten") {
    const std::optional<int64_t> last = literalOf(call, values[2], -1);
    const auto end = last ? readDim(*value, *last, name, range) : std::nullopt;
    return end ? flattened(*value, *dim, *end, range) : std::nullopt;
  }
  if (name == "unflatten") {
    const std::optional<Sizes> sizes = sizesOf(values[2]);
    return sizes ? unflattened(*value, *dim, *sizes, range) : std::nullopt;
  }
  if (name == "repeat_interleave") {
    const std::optional<SizePolynomial> count = readSize(*values[1]);
    return count ? repeatedAlong(*value, *dim, *count, true, range) : std::nullopt;
  }
  const std::optional<int64_t> size = literalOf(call, values[2], 1);
  const std::optional<int64_t> step = literalOf(call, values[3], 1);
  return size && step ? windowed(*value, *dim, *size, *step, 1, range) : std::nullopt;
}

/// What one size is of another that divides it where the sizes of a call are right, which becomes a
/// constraint; nothing where both have other factors as well.
std::optional<SizePolynomial>
BodyMoves::exactQuotient(const SizePolynomial &whole, const SizePolynomial &by, SourceRange range) {
  SizeRules rules(op);
  const size_t known = rules.all().size();
  for (const SizePolynomial &each : {whole, by}) {
    for (const std::string &quotient : each.quotients()) {
      rules.assume(quotient);
    }
  }
  if (const auto exact = rules.inFactors(whole).dividedBy(rules.inFactors(by))) {
    for (size_t i = known; i < rules.all().size(); ++i) {
      const SizeRule &rule = rules.all()[i];
      body.expectDivisible(SizePolynomial::symbol(rule.name), rule.divisor, range);
    }
    return failed() ? std::nullopt : exact;
  }
  const auto parts = SizePolynomial::cancelled(whole, by);
  if (!parts || !SizeRules(op).assume(parts->first, parts->second)) {
    return std::nullopt;
  }
  body.expectDivisible(parts->first, parts->second, range);
  return failed() ? std::nullopt : std::optional(parts->first.floorDivide(parts->second));
}

/// Where both are equal if quotients of sizes leave no rest, that becomes a constraint.
void BodyMoves::expectWhole(const SizePolynomial &before, const SizePolynomial &after,
                            SourceRange range) {
  SizeRules rules(op);
  const size_t known = rules.all().size();
  std::vector<std::string> quotients = after.quotients();
  for (const std::string &each : before.quotients()) {
    quotients.push_back(each);
  }
  for (const std::string &each : quotients) {
    rules.assume(each);
  }
  if (!rules.areEqual(before, after)) {
    return; // shape inference says what is wrong
  }
  for (size_t i = known; i < rules.all().size(); ++i) {
    const SizeRule &rule = rules.all()[i];
    body.expectDivisible(SizePolynomial::symbol(rule.name), rule.divisor, range);
  }
}

/// -1 is what is left of the elements.
std::optional<int> BodyMoves::inferredReshape(int input, size_t last, Sizes sizes,
                                              SourceRange range) {
  const SymbolicShape &shape = op.nodes[static_cast<size_t>(input)].shape;
  Sizes source;
  for (auto dim = shape.end() - static_cast<std::ptrdiff_t>(last); dim != shape.end(); ++dim) {
    source.push_back(SizePolynomial::of(*dim));
  }
  const auto open = std::find(sizes.begin(), sizes.end(), SizePolynomial(-1));
  const SizeRules rules(op);
  if (open != sizes.end()) {
    *open = 1;
    const SizePolynomial whole = product(source), given = product(sizes);
    std::optional<SizePolynomial> rest = whole.dividedBy(given);
    if (!rest) {
      rest = rules.inFactors(whole).dividedBy(rules.inFactors(given));
    }
    if (!rest) {
      rest = exactQuotient(whole, given, range);
    }
    if (!rest) {
      fail("E0604", range,
           fmt::format("'reshape' expects sizes that divide {}, but got {}", whole.text(),
                       given.text()))
          .withHelp("give every size, a dimension of the input as two that are multiplied, or a "
                    "constraint such as \"D % 16 == 0\"");
      return std::nullopt;
    }
    *open = rules.named(*rest);
  } else if (!rules.areEqual(product(source), product(sizes))) {
    expectWhole(product(source), product(sizes), range);
  }
  while (last > 0 && !sizes.empty() && sizes.front() == source.front()) { // stays as it is
    sizes.erase(sizes.begin());
    source.erase(source.begin());
    --last;
  }
  if (last == 0 && sizes.empty()) {
    return input;
  }
  Node node;
  node.op = "reshape";
  node.inputs = {input};
  node.attributes["last"] = static_cast<int64_t>(last);
  setShape(node, sizes);
  const SizePolynomial before = product(source), after = product(sizes);
  if (before != after && SizeRules(op).areEqual(before, after)) {
    node.attributes["divides"] = true; // by a constraint
  }
  return append(std::move(node), range);
}

std::optional<int> BodyMoves::reshaped(int input, const Sizes &sizes, SourceRange range) {
  const SymbolicShape &shape = op.nodes[static_cast<size_t>(input)].shape;
  if (isOpen(shape)) {
    fail("E0604", range,
         fmt::format("'reshape' expects a known rank, but got the shape {}", text(shape)))
        .withHelp("use flatten and unflatten with dimensions counted from the end");
    return std::nullopt;
  }
  return inferredReshape(input, shape.size(), sizes, range);
}

std::optional<int> BodyMoves::flattened(int input, int64_t first, int64_t last, SourceRange range) {
  if (first > last) {
    fail("E0604", range, "'flatten' expects start_dim in front of end_dim");
    return std::nullopt;
  }
  Sizes together, sizes;
  for (int64_t dim = first; dim < 0; ++dim) {
    (dim <= last ? together : sizes).push_back(sizeOf(input, dim));
  }
  sizes.insert(sizes.begin(), product(together));
  return inferredReshape(input, static_cast<size_t>(-first), sizes, range);
}

std::optional<int> BodyMoves::unflattened(int input, int64_t dim, Sizes sizes, SourceRange range) {
  for (int64_t behind = dim + 1; behind < 0; ++behind) {
    sizes.push_back(sizeOf(input, behind));
  }
  return inferredReshape(input, static_cast<size_t>(-dim), std::move(sizes), range);
}

std::optional<int> BodyMoves::expanded(int input, Sizes sizes, SourceRange range) {
  const SymbolicShape &shape = op.nodes[static_cast<size_t>(input)].shape;
  const size_t added = sizes.size() - std::min(sizes.size(), shape.size());
  for (size_t d = 0; d < sizes.size(); ++d) {
    const bool isNew = d < added;
    if (isNew || isOpen(shape) || sizes[d] != SizePolynomial::of(shape[d - added])) {
      if (sizes[d] != SizePolynomial(-1) || isNew) {
        expectNotNegative(sizes[d], "'expand' expects sizes of at least 0", range);
      }
    } else {
      sizes[d] = -1;
    }
  }
  const bool keeps = added == 0 && sizes.size() == shape.size() &&
                     std::all_of(sizes.begin(), sizes.end(), [](const SizePolynomial &size) {
                       return size == SizePolynomial(-1);
                     });
  if (failed() || keeps) {
    return failed() ? std::nullopt : std::optional(input);
  }
  Node node;
  node.op = "expand";
  node.inputs = {input};
  setShape(node, sizes);
  return append(std::move(node), range);
}

/// A new dimension beside `dim` is repeated, and both become one.
std::optional<int> BodyMoves::repeatedAlong(int input, int64_t dim, const SizePolynomial &count,
                                            bool isEach, SourceRange range) {
  if (count == SizePolynomial(1)) {
    return input;
  }
  expectNotNegative(count, "a number of repetitions expects to be at least 0", range);
  const SymbolicShape shape = op.nodes[static_cast<size_t>(input)].shape;
  if (failed() || isOpen(shape)) {
    if (!failed()) {
      fail("E0604", range, fmt::format("repeating expects a known rank, but got {}", text(shape)));
    }
    return std::nullopt;
  }
  const SizePolynomial size = sizeOf(input, dim);
  Node node;
  node.op = "unsqueeze";
  node.inputs = {input};
  node.attributes["dim"] = isEach ? dim : dim - 1;
  const std::optional<int> apart = append(std::move(node), range);
  if (!apart) {
    return std::nullopt;
  }
  Sizes wide(shape.size() + 1, SizePolynomial(-1));
  *(wide.end() + (isEach ? dim : dim - 1)) = count;
  const std::optional<int> repeats = expanded(*apart, wide, range);
  return repeats ? flattened(*repeats, dim - 1, dim, range) : std::nullopt;
}

std::optional<int> BodyMoves::repeated(int input, const Sizes &counts, const std::string &name,
                                       SourceRange range) {
  std::optional<int> result = input;
  const SymbolicShape shape = op.nodes[static_cast<size_t>(input)].shape;
  if (isOpen(shape) || counts.size() < shape.size()) {
    fail("E0604", range,
         fmt::format("'{}' expects a known rank and a number for each dimension, but got {} for {}",
                     name, counts.size(), text(shape)));
    return std::nullopt;
  }
  for (size_t added = counts.size() - shape.size(); added > 0 && result; --added) {
    Node node;
    node.op = "unsqueeze";
    node.inputs = {*result};
    node.attributes["dim"] = int64_t{0};
    result = append(std::move(node), range);
  }
  for (size_t d = 0; d < counts.size() && result; ++d) {
    const int64_t dim = static_cast<int64_t>(d) - static_cast<int64_t>(counts.size());
    result = repeatedAlong(*result, dim, counts[d], false, range);
  }
  return result;
}

std::optional<int> BodyMoves::windowed(int input, int64_t dim, int64_t size, int64_t step,
                                       int64_t dilation, SourceRange range) {
  if (size < 1 || step < 1 || dilation < 1) {
    fail("E0608", range,
         fmt::format("a window expects a size and a step of at least 1, but got {} "
                     "and {}",
                     size, step));
    return std::nullopt;
  }
  expectNotNegative(sizeOf(input, dim) - (size - 1) * dilation - 1,
                    "a window expects to fit in its dimension", range);
  if (failed()) {
    return std::nullopt;
  }
  Node node;
  node.op = "unfold";
  node.inputs = {input};
  node.attributes["dim"] = dim;
  node.attributes["size"] = size;
  node.attributes["step"] = step;
  if (dilation != 1) {
    node.attributes["dilation"] = dilation;
  }
  return append(std::move(node), range);
}

bool BodyMoves::expectRoom(int convolution, SourceRange range) {
  const Node node = op.nodes[static_cast<size_t>(convolution)];
  const auto attributes = convolutionAttributes(node);
  for (size_t side = 0; attributes && !attributes->isSame && side < 2; ++side) {
    const auto dim = static_cast<int64_t>(side) - 2;
    const SizePolynomial reach = (sizeOf(node.inputs[1], dim) - 1) * attributes->dilation[side];
    expectNotNegative(sizeOf(node.inputs[0], dim) + 2 * attributes->padding[side] - reach - 1,
                      "'conv2d' expects an image as large as its kernel", range);
  }
  return !failed();
}

std::optional<int> BodyMoves::triangle(int input, const std::string &name, const Expr *diagonal,
                                       SourceRange range) {
  const SymbolicShape &shape = op.nodes[static_cast<size_t>(input)].shape;
  if (shape.size() - (isOpen(shape) ? 1 : 0) < 2) {
    fail("E0604", range,
         fmt::format("'{}' expects two dimensions with a name or a size, but got {}", name,
                     text(shape)));
    return std::nullopt;
  }
  const std::optional<SizePolynomial> offset = diagonal ? readSize(*diagonal) : SizePolynomial(0);
  if (!offset) {
    return std::nullopt;
  }
  Node node;
  node.op = name;
  node.inputs = {input};
  setSize(node, "diagonal", *offset);
  return append(std::move(node), range);
}

} // namespace nereid::definition
