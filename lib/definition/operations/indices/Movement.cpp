// SPDX-License-Identifier: Apache-2.0
#include "lib/definition/operations/indices/Movement.h"

#include "lib/definition/operations/Infer.h"
#include "lib/definition/operations/Operations.h"
#include "lib/definition/operations/Shape.h"
#include "lib/definition/operations/SizeExpression.h"
#include "lib/definition/operations/View.h"

#include <fmt/format.h>

#include <algorithm>
#include <numeric>

namespace nereid::definition {
namespace {

constexpr const char *sizeNames[] = {"start", "length",  "before",   "after",
                                     "step",  "divisor", "diagonal", "places"};

std::vector<std::string> entriesOf(const std::string &text) {
  std::vector<std::string> entries;
  size_t begin = 0;
  while (begin < text.size()) {
    const size_t end = std::min(text.find(',', begin), text.size());
    entries.push_back(text.substr(begin, end - begin));
    begin = end + 1;
  }
  return entries;
}

bool hasRest(const SymbolicShape &shape) { return !shape.empty() && shape[0].isRest(); }

Diagnostic misfit(const Node &node, const std::string &message) {
  return makeError("E0604", fmt::format("'{}' {}", node.op, message));
}

size_t place(int64_t dim, size_t rank) {
  return static_cast<size_t>(dim + static_cast<int64_t>(rank));
}

Edge edgeOf(const Node &node) {
  const std::string mode = stringAttribute(node, "mode", "constant");
  return mode == "reflect"     ? Edge::Reflect
         : mode == "replicate" ? Edge::Replicate
         : mode == "circular"  ? Edge::Circular
                               : Edge::Constant;
}

/// Of _resample: several elements for each.
bool hasPlaces(const Node &node) { return node.attributes.count("places") != 0; }

/// How many windows lie in a dimension.
SizePolynomial windowCount(const Node &node, const SizePolynomial &size) {
  const int64_t reach =
      (integerAttribute(node, "size", 1) - 1) * integerAttribute(node, "dilation", 1);
  return (size - reach - 1).floorDivide(integerAttribute(node, "step", 1)) + 1;
}

/// The sizes of the result, polynomials, from those of the operands' dimensions that have a name.
using Sizes = std::vector<SizePolynomial>;

Sizes without(const Sizes &sizes, const std::vector<int64_t> &dims) {
  Sizes result;
  for (size_t d = 0; d < sizes.size(); ++d) {
    const auto negative = static_cast<int64_t>(d) - static_cast<int64_t>(sizes.size());
    if (std::find(dims.begin(), dims.end(), negative) == dims.end()) {
      result.push_back(sizes[d]);
    }
  }
  return result;
}

Result<Sizes> expanded(const Node &node, const Sizes &input) {
  Sizes shape = shapeAttribute(node);
  if (shape.size() < input.size()) {
    return misfit(node,
                  fmt::format("expects at least {} sizes, but got {}", input.size(), shape.size()));
  }
  for (size_t d = 0; d < input.size(); ++d) {
    SizePolynomial &wanted = shape[shape.size() - input.size() + d];
    if (wanted == SizePolynomial(-1) || wanted == input[d]) {
      wanted = input[d];
    } else if (input[d] != SizePolynomial(1)) {
      return misfit(node, fmt::format("expects the size {} or -1, but got {}", input[d].text(),
                                      wanted.text()))
          .withHelp("only dimensions of size 1 repeat");
    }
  }
  return shape;
}

Result<Sizes> reshaped(const Node &node, const Sizes &input) {
  const auto last = static_cast<size_t>(integerAttribute(node, "last", 0));
  const Sizes shape = shapeAttribute(node);
  const auto product = [](auto begin, auto end) {
    return std::accumulate(begin, end, SizePolynomial(1),
                           [](const SizePolynomial &a, const SizePolynomial &b) { return a * b; });
  };
  const auto kept = input.end() - static_cast<std::ptrdiff_t>(std::min(last, input.size()));
  const SizePolynomial before = product(kept, input.end()),
                       after = product(shape.begin(), shape.end());
  const bool isDeclared = node.attributes.contains("divides");
  if ((before != after && !isDeclared) || before.hasOverflowed()) {
    return misfit(node, fmt::format("expects as many elements as before, but {} is not {}",
                                    after.text(), before.text()));
  }
  Sizes result(input.begin(), kept);
  result.insert(result.end(), shape.begin(), shape.end());
  return result;
}

Result<Sizes> joined(const Node &node, const std::vector<Sizes> &inputs) {
  Sizes result = inputs[0];
  const int64_t dim = integerAttribute(node, "dim", -1);
  for (size_t i = 1; i < inputs.size(); ++i) {
    const Sizes &next = inputs[i];
    for (size_t d = 0; d < std::max(next.size(), result.size()); ++d) {
      const bool isJoined = d < result.size() && d == place(dim, result.size());
      if (next.size() != result.size() || (!isJoined && next[d] != result[d])) {
        return misfit(node, fmt::format("expects tensors that differ in dim={} alone", dim));
      }
    }
    SizePolynomial &total = result[place(dim, result.size())];
    total = total + next[place(dim, next.size())];
  }
  return result;
}

/// Operands of known rank, or what follows "..." in them.
Result<Sizes> sizesOf(const Node &node, const std::vector<Sizes> &inputs) {
  Sizes sizes = inputs[0];
  if (node.op == "squeeze") {
    for (int64_t dim : dimsOf(node)) {
      if (sizes[place(dim, sizes.size())] != SizePolynomial(1)) {
        return misfit(node, fmt::format("expects a dimension of size 1, but dim={} has the size {}",
                                        dim, sizes[place(dim, sizes.size())].text()))
            .withHelp("only dimensions of size 1 go, whatever the sizes of a call");
      }
    }
    return without(sizes, dimsOf(node));
  }
  if (node.op == "expand") {
    return expanded(node, sizes);
  }
  if (node.op == "reshape") {
    return reshaped(node, sizes);
  }
  if (node.op == "cat") {
    return joined(node, inputs);
  }
  if (node.op == "_positions") {
    return Sizes{sizeAttribute(node, "length")};
  }
  if (isTriangle(node)) {
    return sizes;
  }
  const int64_t dim = integerAttribute(node, "dim", -1);
  if (dim >= 0 || -dim > static_cast<int64_t>(sizes.size())) {
    return misfit(node, fmt::format("expects dim from {} to -1, but got {}",
                                    -static_cast<int64_t>(sizes.size()), dim));
  }
  SizePolynomial &own = sizes[place(dim, sizes.size())];
  if (node.op == "narrow" || node.op == "_resample" || node.op == "_spread") {
    own = sizeAttribute(node, "length");
    if (hasPlaces(node)) {
      sizes.push_back(sizeAttribute(node, "places"));
    }
  } else if (node.op == "pad") {
    own = own + sizeAttribute(node, "before") + sizeAttribute(node, "after");
  } else {
    own = windowCount(node, own);
    sizes.emplace_back(integerAttribute(node, "size", 1));
  }
  return sizes;
}

} // namespace

bool isTriangle(const Node &node) { return node.op == "tril" || node.op == "triu"; }

bool isMovement(const Node &node) {
  static const std::vector<std::string> names = {"narrow", "squeeze", "expand",    "reshape",
                                                 "pad",    "unfold",  "cat",       "tril",
                                                 "triu",   "_spread", "_resample", "_positions"};
  return std::find(names.begin(), names.end(), node.op) != names.end();
}

bool copiesElements(const Node &node) {
  return node.op == "cat" || node.op == "pad" || node.op.starts_with("_") || isTriangle(node) ||
         (node.op == "narrow" && integerAttribute(node, "step", 1) < 0);
}

SizePolynomial sizeAttribute(const Node &node, const std::string &name) {
  const std::string text = stringAttribute(node, name, "");
  return text.empty() ? SizePolynomial(integerAttribute(node, name, 0))
                      : sizePolynomial(text).value_or(SizePolynomial(0));
}

std::vector<SizePolynomial> shapeAttribute(const Node &node) {
  std::vector<SizePolynomial> shape;
  if (auto found = node.attributes.find("shape"); found != node.attributes.end()) {
    if (const auto *numbers = std::get_if<std::vector<int64_t>>(&found->second)) {
      shape.assign(numbers->begin(), numbers->end());
    } else if (const auto *number = std::get_if<int64_t>(&found->second)) {
      shape.emplace_back(*number);
    }
  }
  const std::string text = stringAttribute(node, "shape", "");
  return text.empty() ? shape : sizeList(text);
}

std::vector<SizePolynomial> sizeList(const std::string &text) {
  std::vector<SizePolynomial> sizes;
  for (const std::string &entry : entriesOf(text)) {
    sizes.push_back(sizePolynomial(entry).value_or(SizePolynomial(0)));
  }
  return sizes;
}

void setSize(Node &node, const std::string &name, const SizePolynomial &value) {
  if (const std::optional<int64_t> number = value.constant()) {
    node.attributes[name] = *number;
  } else {
    node.attributes[name] = value.text();
  }
}

void setShape(Node &node, const std::vector<SizePolynomial> &shape) {
  std::vector<int64_t> numbers;
  std::string text;
  for (const SizePolynomial &size : shape) {
    numbers.push_back(size.constant().value_or(0));
    text += (text.empty() ? "" : ", ") + size.text();
  }
  const bool areNumbers = std::all_of(shape.begin(), shape.end(), [](const SizePolynomial &size) {
    return size.constant().has_value();
  });
  node.attributes["shape"] = areNumbers ? Attribute(numbers) : Attribute(text);
}

Status bindMovement(Node &node, const Binding &binding) {
  std::string problem;
  for (const char *name : sizeNames) {
    const std::string text = stringAttribute(node, name, "");
    if (text.empty()) {
      continue;
    }
    auto number = evaluateSizes(text, binding);
    if (!number) {
      return number.error();
    }
    node.attributes[name] = number->whole;
  }
  std::vector<int64_t> shape;
  const std::string list = stringAttribute(node, "shape", "");
  for (const std::string &entry : entriesOf(list)) {
    auto number = evaluateSizes(entry, binding);
    if (!number) {
      return number.error();
    }
    shape.push_back(number->whole);
  }
  if (!list.empty()) {
    node.attributes["shape"] = std::move(shape);
  }
  return Done{};
}

Result<SymbolicShape> movementShape(const Node &node, const std::vector<Node> &nodes) {
  std::vector<Sizes> inputs;
  const SymbolicShape &first = nodes[static_cast<size_t>(node.inputs[0])].shape;
  for (int input : node.inputs) {
    const SymbolicShape &shape = nodes[static_cast<size_t>(input)].shape;
    if (hasRest(shape) != hasRest(first)) {
      return misfit(node,
                    fmt::format("expects tensors that all have '...' or none, but got {} and {}",
                                text(first), text(shape)));
    }
    Sizes sizes;
    for (size_t d = hasRest(shape) ? 1 : 0; d < shape.size(); ++d) {
      sizes.push_back(SizePolynomial::of(shape[d]));
    }
    inputs.push_back(std::move(sizes));
  }
  if (hasRest(first) && node.op == "expand") {
    return misfit(node, fmt::format("expects a known rank, but got the shape {}", text(first)))
        .withHelp("give every dimension a name or a size");
  }
  Result<Sizes> sizes = sizesOf(node, inputs);
  if (!sizes) {
    return sizes.error();
  }
  SymbolicShape shape;
  if (hasRest(first) && node.op != "_positions") {
    shape.push_back(first[0]);
  }
  for (const SizePolynomial &size : *sizes) {
    const Dim dim = size.dim();
    if (size.hasOverflowed() || (dim.symbol.empty() && dim.constant < 0)) {
      return misfit(node, fmt::format("expects sizes of at least 0, but of {} it makes {}",
                                      text(first), size.text()));
    }
    shape.push_back(dim);
  }
  return shape;
}

Result<std::vector<int64_t>> movedSizes(const Node &node,
                                        const std::vector<std::vector<int64_t>> &inputs) {
  std::vector<Sizes> lists;
  for (const std::vector<int64_t> &each : inputs) {
    lists.emplace_back(each.begin(), each.end());
  }
  Result<Sizes> sizes = sizesOf(node, lists);
  if (!sizes) {
    return sizes.error();
  }
  std::vector<int64_t> result;
  for (const SizePolynomial &size : *sizes) {
    result.push_back(size.constant().value_or(-1));
    if (result.back() < 0) {
      return misfit(node, fmt::format("expects sizes of at least 0, but of {} it makes {}",
                                      sizesText(inputs[0]), size.text()));
    }
  }
  return result;
}

std::vector<size_t> keptDimensions(const Node &node, size_t rank) {
  std::vector<size_t> kept(rank);
  std::iota(kept.begin(), kept.end(), size_t{0});
  if (node.op == "squeeze") {
    for (int64_t dim : dimsOf(node)) {
      kept[place(dim, rank)] = newDimension;
    }
    kept.erase(std::remove(kept.begin(), kept.end(), newDimension), kept.end());
    return kept;
  }
  if (node.op == "_positions") {
    return {newDimension};
  }
  if (node.op == "reshape") {
    kept.resize(rank - std::min(rank, static_cast<size_t>(integerAttribute(node, "last", 0))));
    kept.resize(kept.size() + shapeAttribute(node).size(), newDimension);
    return kept;
  }
  if (node.op == "expand") {
    const Sizes shape = shapeAttribute(node);
    kept.insert(kept.begin(), shape.size() - rank, newDimension);
    for (size_t d = 0; d < shape.size(); ++d) {
      kept[d] = shape[d] == SizePolynomial(-1) ? kept[d] : newDimension;
    }
    return kept;
  }
  if (isTriangle(node)) {
    kept[rank - 2] = kept[rank - 1] = newDimension;
    return kept;
  }
  kept[place(integerAttribute(node, "dim", -1), rank)] = newDimension;
  if (node.op == "unfold" || hasPlaces(node)) {
    kept.push_back(newDimension);
  }
  return kept;
}

int64_t SourceDim::at(std::span<const int64_t> index) const {
  int64_t value = start;
  for (const auto &[dim, step] : steps) {
    value += step * index[dim];
  }
  if (divisor != 1) {
    const int64_t rest = ((value % divisor) + divisor) % divisor;
    if (isDivisible && rest != 0) {
      return -1;
    }
    value = (value - rest) / divisor;
  }
  if (value >= least && value < size) {
    return value;
  }
  switch (edge) {
  case Edge::Reflect:
    return value < 0 ? -value : 2 * (size - 1) - value;
  case Edge::Replicate:
    return value < least ? std::min(least, size - 1) : size - 1;
  case Edge::Circular:
    return value < 0 ? value + size : value - size;
  default:
    return -1;
  }
}

int64_t Movement::source(std::span<const int64_t> index, std::span<const int64_t> strides) const {
  int64_t element = 0;
  for (size_t d = 0; d < from.size(); ++d) {
    const int64_t at = from[d].at(index);
    if (at < 0) {
      return outside;
    }
    element += at * strides[d];
  }
  return element;
}

/// The ends that an index of the dimension reaches; nothing where no element is made.
static bool staysInside(const SourceDim &dim, const std::vector<int64_t> &sizes) {
  int64_t low = dim.start, high = dim.start;
  for (const auto &[result, step] : dim.steps) {
    (step < 0 ? low : high) += step * (sizes[result] - 1);
  }
  const int64_t reach = dim.edge == Edge::Reflect    ? dim.size - 1
                        : dim.edge == Edge::Circular ? dim.size
                                                     : std::numeric_limits<int64_t>::max();
  if (dim.edge == Edge::Constant) {
    return true;
  }
  if (dim.edge == Edge::Inside) {
    return low >= 0 && high < dim.size;
  }
  return dim.size > 0 && -low <= reach && high - (dim.size - 1) <= reach;
}

Result<Movement> movementOf(const Node &node, std::span<const int64_t> input) {
  auto sizes = movedSizes(node, {{input.begin(), input.end()}});
  if (!sizes) {
    return sizes.error();
  }
  Movement movement;
  movement.sizes = std::move(*sizes);
  for (int64_t size : input) {
    movement.from.push_back({size, 0, {}, Edge::Inside});
  }
  const std::vector<size_t> kept = keptDimensions(node, input.size());
  for (size_t d = 0; d < kept.size(); ++d) {
    if (kept[d] != newDimension) {
      movement.from[kept[d]].steps = {{d, 1}};
    }
  }
  const int64_t step = integerAttribute(node, "step", 1);
  if (node.op == "narrow" || node.op == "pad" || node.op == "unfold") {
    const size_t dim = place(integerAttribute(node, "dim", -1), input.size());
    SourceDim &from = movement.from[dim];
    if (node.op == "pad") {
      from.start = -integerAttribute(node, "before", 0);
      from.steps = {{dim, 1}};
      from.edge = edgeOf(node);
    } else {
      from.start = integerAttribute(node, "start", 0);
      from.steps = {{dim, step}};
    }
    if (node.op == "unfold") {
      from.steps.push_back({input.size(), integerAttribute(node, "dilation", 1)});
    }
  }
  if (node.op == "_resample" || node.op == "_spread") {
    const bool isSpread = node.op == "_spread";
    const size_t dim = place(integerAttribute(node, "dim", -1), input.size());
    SourceDim &from = movement.from[dim];
    from.start = integerAttribute(node, isSpread ? "before" : "start", 0);
    from.steps = {{dim, isSpread ? 1 : step}};
    from.divisor = isSpread ? step : integerAttribute(node, "divisor", 1);
    from.isDivisible = isSpread;
    from.edge = isSpread ? Edge::Constant : Edge::Replicate;
    from.least = isSpread ? 0 : integerAttribute(node, "least", 0);
    if (isSpread) {
      from.steps.push_back({input.size() - 1, -integerAttribute(node, "dilation", 1)});
    } else if (hasPlaces(node)) {
      from.steps.push_back({input.size(), from.divisor});
    }
    if (from.divisor < 1) {
      return misfit(node, fmt::format("expects a divisor of at least 1, but got {}", from.divisor));
    }
  }
  const bool isEmpty =
      std::find(movement.sizes.begin(), movement.sizes.end(), 0) != movement.sizes.end();
  for (const SourceDim &from : movement.from) {
    if (!isEmpty && !staysInside(from, movement.sizes)) {
      return misfit(node, fmt::format("reads beyond a dimension of {}", sizesText(input)))
          .withHelp("the body's slices and paddings must lie inside of what they are of");
    }
  }
  return movement;
}

} // namespace nereid::definition
