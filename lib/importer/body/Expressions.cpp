// SPDX-License-Identifier: Apache-2.0
#include "lib/importer/body/Expressions.h"

#include "lib/definition/gradient/text/BodyText.h"
#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <cmath>
#include <numeric>

namespace nereid::importer {

std::string numberText(double value) {
  if (std::isnan(value)) {
    return "float(\"nan\")";
  }
  if (std::isinf(value)) {
    return value > 0 ? "float(\"inf\")" : "float(\"-inf\")";
  }
  std::string text = fmt::format("{}", value);
  if (text.find_first_of(".e") == std::string::npos) {
    text += ".0";
  }
  return text[0] == '-' ? "(" + text + ")" : text;
}

std::optional<double> scalarOf(const Tensor &tensor) {
  if (!tensor.hasElements || tensor.count() != 1) {
    return std::nullopt;
  }
  return tensor.floats.size() == 1     ? std::optional(tensor.floats[0])
         : tensor.integers.size() == 1 ? std::optional(static_cast<double>(tensor.integers[0]))
                                       : std::nullopt;
}

Result<std::string> Expressions::of(const Node &one) {
  node = &one;
  resultCount = 1;
  const OnnxOperator &row = *findOnnxOperator(one.op);
  try {
    std::string_view body = row.body;
    if (body.empty()) {
      auto near = nearestNames(one.op, importableNames());
      return nodeError("E0636", model, one, "definitions have nothing for this operator")
          .withHelp(near.empty()
                        ? "docs/models.md lists those that they have; choose other nodes by --nodes"
                        : fmt::format("the nearest that they have: {}; choose other nodes by "
                                      "--nodes",
                                      fmt::join(near, ", ")));
    }
    if (body.starts_with("f:")) {
      body.remove_prefix(2);
      const auto dtype = type(0).dtype();
      if (!dtype || !isFloat(*dtype)) {
        fail(fmt::format("means something else of {} in a definition", type(0).name()));
      }
    }
    if (node->integer("broadcast", 0) != 0 || (one.op == "PRelu" && model.opset < 7)) {
      fail("broadcasts along a chosen dimension, as the oldest operator sets do");
    }
    return body.starts_with("@") ? rule(body.substr(1)) : filled(body);
  } catch (const Failure &failure) {
    return nodeError("E0636", model, one, failure.message)
        .withHelp("choose other nodes by --nodes, or write this one by hand");
  }
}

/// Puts inputs, attributes and dimensions in the place of what stands in braces.
std::string Expressions::filled(std::string_view text) {
  std::string result;
  while (!text.empty()) {
    const size_t open = text.find('{');
    const size_t close = text.find('}', open);
    result += text.substr(0, open);
    if (open == std::string_view::npos) {
      break;
    }
    const std::string inner(text.substr(open + 1, close - open - 1));
    text.remove_prefix(close + 1);
    const size_t equals = inner.find('=');
    if (inner == "dims") {
      result += dims();
    } else if (equals != std::string::npos) {
      result += attributeText(inner.substr(0, equals), inner.substr(equals + 1));
    } else {
      result += operand(static_cast<size_t>(std::stoul(inner)));
    }
  }
  return result;
}

std::string Expressions::attributeText(const std::string &name,
                                       const std::string &otherwise) const {
  auto found = node->attributes.find(name);
  if (found == node->attributes.end()) {
    return otherwise;
  }
  if (const double *number = std::get_if<double>(&found->second)) {
    return numberText(*number);
  }
  if (const int64_t *number = std::get_if<int64_t>(&found->second)) {
    return std::to_string(*number);
  }
  const std::string *word = std::get_if<std::string>(&found->second);
  if (!word || identifierOf(*word) != *word) {
    fail(fmt::format("has an attribute '{}' that is no number", name));
  }
  return *word;
}

std::optional<double> Expressions::known(size_t input) const {
  const Tensor *found = node->hasInput(input) ? model.constant(node->inputs[input]) : nullptr;
  return found ? scalarOf(*found) : std::nullopt;
}

std::string Expressions::tensor(size_t input) {
  if (!node->hasInput(input)) {
    fail(fmt::format("expects an input {}", input));
  }
  const std::string &name = node->inputs[input];
  if (std::find(usedNames.begin(), usedNames.end(), name) == usedNames.end()) {
    usedNames.push_back(name);
  }
  return names.of(name);
}

void Expressions::useAll() {
  for (size_t i = 0; i < node->inputs.size(); ++i) {
    if (node->hasInput(i)) {
      tensor(i);
    }
  }
}

std::string Expressions::indices(size_t input, const Dim &extent, bool isNegativeToo,
                                 int64_t distinct) {
  const std::string name = tensor(input), size = sizeText(extent);
  indexRanges.try_emplace(node->inputs[input],
                          definition::IndexRange{isNegativeToo ? "-" + size : "0", size, distinct});
  return name;
}

std::string Expressions::step(const std::string &suffix, const std::string &text) {
  std::string wanted;
  for (const std::string &output : node->outputs) {
    wanted = wanted.empty() ? output : wanted;
  }
  const std::string name = names.another(wanted + "_" + suffix);
  leadingLines.push_back(name + " = " + text);
  return name;
}

std::string Expressions::divisor(size_t input) {
  const std::string text = operand(input);
  if (std::find(usedNames.begin(), usedNames.end(), node->inputs[input]) != usedNames.end()) {
    divisorNames.push_back(node->inputs[input]);
  }
  return text;
}

std::string Expressions::within(size_t input, const std::string &low, const std::string &high) {
  const std::string name = tensor(input);
  indexRanges.try_emplace(node->inputs[input], definition::IndexRange{low, high, 0});
  return name;
}

const Tensor *Expressions::constant(size_t input) const {
  const Tensor *found = node->hasInput(input) ? model.constant(node->inputs[input]) : nullptr;
  return found && found->hasElements ? found : nullptr;
}

std::string Expressions::operand(size_t input) {
  const auto number = known(input);
  if (!number) {
    return tensor(input);
  }
  // A tensor of one element and more dimensions than all others would give the result its rank.
  const size_t rank = model.constant(node->inputs[input])->dims.size();
  bool isFree = rank == 0;
  bool hasOther = false;
  for (size_t i = 0; i < node->inputs.size(); ++i) {
    const Value *other = i == input || known(i) ? nullptr : model.value(node->inputs[i]);
    hasOther = hasOther || other;
    isFree = isFree || (other && other->shape && other->shape->size() >= rank);
  }
  if (!isFree || !hasOther) {
    return tensor(input);
  }
  const auto dtype = type(input).dtype();
  if (dtype && isFloat(*dtype)) {
    return numberText(*number);
  }
  if (dtype == DType::Bool) {
    return tensor(input);
  }
  const std::string digits = fmt::format("{:.0f}", *number);
  return *number < 0 ? "(" + digits + ")" : digits;
}

std::optional<std::vector<int64_t>> Expressions::integers(const std::string &attribute,
                                                          size_t input) const {
  if (const auto *given = node->integers(attribute)) {
    return *given;
  }
  if (const Tensor *tensor = constant(input)) {
    return tensor->integers;
  }
  if (node->hasInput(input)) {
    fail(fmt::format("has an input '{}' whose values are not known before it runs",
                     node->inputs[input]));
  }
  return std::nullopt;
}

const Shape &Expressions::shape(size_t input) const {
  const Value *value = node->hasInput(input) ? model.value(node->inputs[input]) : nullptr;
  if (!value || !value->shape) {
    fail(fmt::format("the shape of input {} is not known", input));
  }
  return *value->shape;
}

const Shape &Expressions::resultShape(size_t output) const {
  const Value *value = model.value(node->outputs[output]);
  if (!value || !value->shape) {
    fail("the shape of its result is not known");
  }
  return *value->shape;
}

ElementType Expressions::resultType() const {
  const Value *value = model.value(node->outputs[0]);
  return value ? value->type : ElementType();
}

ElementType Expressions::type(size_t input) const {
  const Value *value = node->hasInput(input) ? model.value(node->inputs[input]) : nullptr;
  return value ? value->type : ElementType();
}

int64_t Expressions::axis(int64_t given, size_t rank) const {
  const auto size = static_cast<int64_t>(rank);
  if (given < -size || given >= size) {
    fail(fmt::format("axis {} of {} dimensions", given, rank));
  }
  return given < 0 ? given + size : given;
}

std::string Expressions::dims() {
  const size_t rank = shape(0).size();
  std::vector<int64_t> axes;
  for (int64_t one : integers("axes", 1).value_or(std::vector<int64_t>{})) {
    axes.push_back(axis(one, rank));
  }
  if (axes.empty() && node->integer("noop_with_empty_axes", 0) != 0) {
    fail("reduces nothing");
  }
  if (axes.empty()) {
    axes.resize(rank);
    std::iota(axes.begin(), axes.end(), 0);
  }
  if (axes.empty()) {
    fail("reduces a tensor without dimensions");
  }
  std::sort(axes.begin(), axes.end());
  return fmt::format(", dim=({},){}", fmt::join(axes, ", "),
                     node->integer("keepdims", 1) != 0 ? ", keepdim=True" : "");
}

std::string Expressions::sizesFrom(size_t first) {
  const Shape &given = shape(0);
  return shapeText(Shape(given.begin() + static_cast<std::ptrdiff_t>(first), given.end()));
}

std::string Expressions::sizeText(const Dim &dim) {
  if (!dim.isKnown()) {
    fail("a size that it needs is not known");
  }
  return dim.isSize() ? std::to_string(dim.size) : names.ofSize(dim.symbol);
}

std::string Expressions::productText(const Shape &shape, size_t from, size_t to) {
  std::vector<std::string> sizes;
  for (size_t i = from; i < to; ++i) {
    sizes.push_back(sizeText(shape[i]));
  }
  return sizes.empty() ? "1" : fmt::format("{}", fmt::join(sizes, " * "));
}

std::string Expressions::shapeText(const Shape &shape) {
  std::vector<std::string> sizes;
  for (const Dim &dim : shape) {
    sizes.push_back(sizeText(dim));
  }
  return tupleText(sizes);
}

std::string Expressions::places(const Dim &extent, size_t behind) {
  const std::string line = fmt::format("torch.arange({})", sizeText(extent));
  Shape shape(behind + 1, {1, ""});
  shape[0] = extent;
  return behind == 0 ? line : fmt::format("torch.reshape({}, {})", line, shapeText(shape));
}

bool Expressions::isNumber(size_t input) const {
  return shape(input).empty() || shape(input) == Shape{Dim{1, ""}};
}

std::string tupleText(const std::vector<int64_t> &numbers) {
  std::vector<std::string> texts;
  for (const int64_t one : numbers) {
    texts.push_back(std::to_string(one));
  }
  return tupleText(texts);
}

std::string tupleText(const std::vector<std::string> &texts) {
  return definition::tupleText(texts);
}

} // namespace nereid::importer
