// SPDX-License-Identifier: Apache-2.0
#include "lib/definition/reader/windows/WrittenCall.h"

#include "lib/definition/constraints/ConstraintReader.h"
#include "lib/definition/operations/Promotion.h"
#include "lib/definition/operations/Shape.h"
#include "lib/definition/operations/indices/Creation.h"
#include "lib/definition/operations/indices/Movement.h"
#include "lib/definition/reader/BodyCasts.h"

#include <fmt/format.h>

#include <algorithm>
#include <cstdlib>

namespace nereid::definition {

using language::Expr;
using language::ExprKind;

WrittenCall::WrittenCall(BodyExpressions &body, const Call &call, const Function &function)
    : name(function.name), body(body), moves(body), call(call), function(function),
      errorsBefore(body.errorCount()) {}

size_t WrittenCall::sides() const {
  for (const char *ending : {"1d", "2d", "3d"}) {
    if (name.find(ending) != std::string::npos) {
      return static_cast<size_t>(ending[0] - '0');
    }
  }
  return 2;
}

// ---- arguments ----

bool WrittenCall::match() {
  auto matched = body.matched(call, name, function.arguments);
  if (!matched) {
    return false;
  }
  arguments = std::move(*matched);
  for (const Argument &argument : function.arguments) {
    if (!argument.hasDefault && !given(argument.name)) {
      fail("E0608", fmt::format("'{}' expects the argument '{}'", name, argument.name),
           "its form is " + signatureText(name, function.arguments));
      return false;
    }
  }
  return true;
}

const Expr *WrittenCall::given(const std::string &argument) {
  auto found = arguments.find(argument);
  return found == arguments.end() ? nullptr : body.resolved(found->second);
}

const Argument &WrittenCall::form(const std::string &argument) const {
  return *std::find_if(function.arguments.begin(), function.arguments.end(),
                       [&](const Argument &each) { return each.name == argument; });
}

Value WrittenCall::operand(const std::string &argument) {
  if (const Expr *value = given(argument)) {
    return body.read(*value);
  }
  const std::string &text = form(argument).defaultText;
  return number(std::strtod(text.c_str(), nullptr));
}

std::optional<WrittenCall::Sizes> WrittenCall::list(const std::string &argument) {
  const Expr *value = given(argument);
  if (!value) {
    const std::string &text = form(argument).defaultText;
    return Sizes{SizePolynomial(std::strtoll(text.c_str(), nullptr, 10))};
  }
  const bool isList = value->kind == ExprKind::Tuple || value->kind == ExprKind::List;
  Sizes sizes;
  for (size_t i = 0; i < (isList ? value->operands.size() : 1); ++i) {
    const auto size = moves.readSize(isList ? *value->operands[i] : *value);
    if (!size) {
      return std::nullopt;
    }
    sizes.push_back(*size);
  }
  return sizes;
}

std::optional<WrittenCall::Sizes> WrittenCall::sizes(const std::string &argument, size_t count,
                                                     std::optional<int64_t> least) {
  std::optional<Sizes> sizes = list(argument);
  if (!sizes) {
    return std::nullopt;
  }
  if (sizes->size() == 1) {
    sizes->assign(count, sizes->front());
  }
  if (sizes->size() != count) {
    return fail("E0608",
                fmt::format("'{}' of '{}' expects one integer or {}, but got {}", argument, name,
                            count, sizes->size()),
                "its form is " + signatureText(name, function.arguments));
  }
  for (const SizePolynomial &size : *sizes) {
    if (least && size.constant() && *size.constant() < *least) {
      return fail("E0608",
                  fmt::format("'{}' of '{}' expects integers of at least {}, but got {}", argument,
                              name, *least, *size.constant()),
                  "its form is " + signatureText(name, function.arguments));
    }
  }
  return sizes;
}

std::optional<std::vector<int64_t>> WrittenCall::integers(const std::string &argument, size_t count,
                                                          int64_t least) {
  const std::optional<Sizes> sizes = this->sizes(argument, count, least);
  std::vector<int64_t> numbers;
  for (const SizePolynomial &size : sizes ? *sizes : Sizes()) {
    if (!size.constant()) {
      return fail("E0608",
                  fmt::format("'{}' of '{}' expects literal integers, but got {}", argument, name,
                              size.text()),
                  "what it becomes is decided when the definition is read");
    }
    numbers.push_back(*size.constant());
  }
  return sizes ? std::optional(numbers) : std::nullopt;
}

std::optional<int64_t> WrittenCall::integer(const std::string &argument, int64_t least) {
  const auto one = integers(argument, 1, least);
  return one ? std::optional(one->front()) : std::nullopt;
}

std::optional<bool> WrittenCall::flag(const std::string &argument) {
  const Expr *value = given(argument);
  if (!value) {
    return form(argument).defaultText == "True";
  }
  const Expr *literal = body.knownValues().literalOf(*value);
  if (!literal || literal->kind != ExprKind::Bool) {
    return fail("E0608",
                fmt::format("'{}' of '{}' expects a literal True or False", argument, name),
                "its form is " + signatureText(name, function.arguments));
  }
  return literal->integer != 0;
}

std::optional<std::string> WrittenCall::word(const std::string &argument) {
  const Expr *value = given(argument);
  if (!value) {
    return form(argument).defaultText;
  }
  const Expr *literal = body.knownValues().literalOf(*value);
  if (!literal || literal->kind != ExprKind::String) {
    return fail("E0608", fmt::format("'{}' of '{}' expects a literal string", argument, name),
                "its form is " + signatureText(name, function.arguments));
  }
  return literal->text;
}

std::optional<std::vector<double>> WrittenCall::numbers(const std::string &argument, size_t count) {
  const Expr *value = given(argument);
  const bool isList = value && (value->kind == ExprKind::Tuple || value->kind == ExprKind::List);
  std::vector<double> numbers;
  for (size_t i = 0; value && i < (isList ? value->operands.size() : 1); ++i) {
    const auto known = body.knownValues().constantOf(isList ? *value->operands[i] : *value);
    const auto *whole = known ? std::get_if<int64_t>(&*known) : nullptr;
    const auto *real = known ? std::get_if<double>(&*known) : nullptr;
    if (!whole && !real) {
      return fail("E0608", fmt::format("'{}' of '{}' expects literal numbers", argument, name),
                  "its form is " + signatureText(name, function.arguments));
    }
    numbers.push_back(whole ? static_cast<double>(*whole) : *real);
  }
  if (numbers.size() == 1) {
    numbers.assign(count, numbers[0]);
  }
  if (numbers.size() != count) {
    return fail("E0608",
                fmt::format("'{}' of '{}' expects one number or {}, but got {}", argument, name,
                            count, numbers.size()),
                "its form is " + signatureText(name, function.arguments));
  }
  return numbers;
}

bool WrittenCall::isNone(const std::string &argument) { return !given(argument); }

bool WrittenCall::isWord(const std::string &argument) {
  const Expr *value = given(argument);
  const Expr *literal = value ? body.knownValues().literalOf(*value) : nullptr;
  return literal && literal->kind == ExprKind::String;
}

bool WrittenCall::isList(const std::string &argument) {
  const Expr *value = given(argument);
  return value && (value->kind == ExprKind::Tuple || value->kind == ExprKind::List);
}

std::optional<int64_t> WrittenCall::dimension(const std::string &argument, int tensor) {
  const auto dim = integer(argument, INT64_MIN);
  return dim ? moves.readDim(tensor, *dim, name, range()) : std::nullopt;
}

// ---- what is known of tensors ----

const SymbolicShape &WrittenCall::shape(int tensor) const {
  return body.op.nodes[static_cast<size_t>(tensor)].shape;
}

size_t WrittenCall::rank(int tensor) const { return shape(tensor).size(); }

SizePolynomial WrittenCall::size(int tensor, int64_t dim) const {
  return moves.sizeOf(tensor, dim < 0 ? dim : dim - static_cast<int64_t>(rank(tensor)));
}

bool WrittenCall::isAlwaysFloat(int tensor) const { return body.isAlways(tensor, isFloat); }

bool WrittenCall::expectFloats(int tensor) {
  if (!isAlwaysFloat(tensor)) {
    fail("E0608", fmt::format("'{}' expects floats", name), "write x * 1.0 for floats");
    return false;
  }
  return true;
}

bool WrittenCall::isAlwaysInteger(int tensor) const {
  return body.isAlways(tensor, [](DType type) { return !isFloat(type) && type != DType::Bool; });
}

bool WrittenCall::isNumber(int node) const {
  return definition::isNumber(body.op.nodes[static_cast<size_t>(node)]);
}

bool WrittenCall::isOpen(int tensor) const {
  return !shape(tensor).empty() && shape(tensor)[0].isRest();
}

Value WrittenCall::image(const std::string &argument) {
  const Value x = operand(argument);
  if (!x) {
    return std::nullopt;
  }
  const SymbolicShape &shape = body.op.nodes[static_cast<size_t>(*x)].shape;
  if (isOpen(*x) || (shape.size() != sides() + 1 && shape.size() != sides() + 2)) {
    return fail("E0604",
                fmt::format("'{}' expects a tensor of {} or {} dimensions, but got the shape {}",
                            name, sides() + 1, sides() + 2, text(shape)),
                "channels first: batch, channels, then the sizes of an image");
  }
  return x;
}

void WrittenCall::expectDivisible(const SizePolynomial &numerator,
                                  const SizePolynomial &denominator) {
  body.expectDivisible(numerator, denominator, range());
}

void WrittenCall::expectNotNegative(const SizePolynomial &value, const std::string &what) {
  moves.expectNotNegative(value, what, range());
}

void WrittenCall::expectContiguous(int tensor) {
  const Node &node = body.op.nodes[static_cast<size_t>(tensor)];
  const std::string text = node.name + ".is_contiguous()";
  const auto &known = body.op.constraints;
  const bool isKnown = std::any_of(known.begin(), known.end(),
                                   [&](const Constraint &each) { return each.text == text; });
  if (node.op == "input" && !isKnown) {
    const SourceRange there = body.moved(range());
    readConstraint(body.op, text, {body.place.path, body.place.fileText, there.line, there.column},
                   body.diags);
  }
}

std::nullopt_t WrittenCall::fail(const std::string &code, const std::string &message,
                                 const std::string &help) {
  body.fail(code, range(), message).withHelp(help);
  return std::nullopt;
}

// ---- operations ----

Value WrittenCall::append(Node node) { return body.append(std::move(node), range()); }

Value WrittenCall::apply(const std::string &op, std::vector<Value> operands) {
  std::vector<int> inputs;
  for (const Value &operand : operands) {
    if (!operand) {
      return std::nullopt;
    }
    inputs.push_back(*operand);
  }
  return body.apply(op, std::move(inputs), range());
}

Value WrittenCall::writtenOut(const std::string &statements,
                              const std::map<std::string, Value> &operands) {
  std::map<std::string, int> names;
  for (const auto &[name, value] : operands) {
    if (!value) {
      return std::nullopt;
    }
    names.emplace(name, *value);
  }
  return body.writtenOut(call, statements, std::move(names));
}

Value WrittenCall::writtenOutOfPerhapsNothing(const std::string &statements,
                                              const std::map<std::string, Value> &operands) {
  const size_t first = body.nodeCount();
  const Value value = writtenOut(statements, operands);
  for (size_t i = first; i < body.nodeCount(); ++i) {
    const Operation *operation = findOperation(body.op.nodes[i].op);
    if (operation && operation->kind == OperationKind::Indexing) {
      body.op.nodes[i].attributes["empty_is_zero"] = true;
    }
  }
  return value;
}

Value WrittenCall::copied(Value x) {
  const auto type = x ? BodyCasts(body).typeOf(*x, range()) : std::nullopt;
  return type ? apply("to_" + *type, {x}) : std::nullopt;
}

Value WrittenCall::converted(Value x, const std::string &argument) {
  const Expr *type = given(argument);
  const auto target = x && type ? BodyCasts(body).target(*type) : std::nullopt;
  return target ? apply("to_" + *target, {x}) : std::nullopt;
}

Value WrittenCall::filled(SymbolicShape shape, int64_t value, const std::string &dtype) {
  const Value number = integerNumber(value);
  Node node = creationNode("full", shape, dtype);
  node.inputs = {*number};
  return append(std::move(node));
}

Value WrittenCall::number(double value) { return body.constant(value, fmt::format("{}", value)); }

Value WrittenCall::integerNumber(int64_t value) {
  return body.integerConstant(value, std::to_string(value));
}

Value WrittenCall::sizeNumber(const SizePolynomial &value) {
  const auto number = value.constant();
  return number ? integerNumber(*number) : Value(body.size(value.text(), true, range()));
}

Value WrittenCall::reduced(const std::string &op, Value x, std::vector<int64_t> dims,
                           bool keepsDims) {
  if (!x) {
    return std::nullopt;
  }
  Node node;
  node.op = op;
  node.inputs = {*x};
  node.attributes["dim"] = std::move(dims);
  node.attributes["keepdim"] = keepsDims;
  return append(std::move(node));
}

Value WrittenCall::variance(Value x, std::vector<int64_t> dims) {
  if (!x) {
    return x;
  }
  Node node;
  node.op = "var";
  node.inputs = {*x};
  node.attributes["dim"] = std::move(dims);
  node.attributes["keepdim"] = true;
  node.attributes["correction"] = int64_t{0};
  return append(std::move(node));
}

Value WrittenCall::position(const std::string &op, Value x, int64_t dim) {
  return reduced(op, x, {dim});
}

Value WrittenCall::padded(Value x, int64_t dim, const SizePolynomial &before,
                          const SizePolynomial &after, double value, const std::string &mode) {
  return x ? moves.padded(*x, dim, before, after, mode, value, range()) : x;
}

Value WrittenCall::windows(Value x, int64_t dim, int64_t size, int64_t step, int64_t dilation) {
  return x ? moves.windowed(*x, dim, size, step, dilation, range()) : x;
}

Value WrittenCall::narrowed(Value x, int64_t dim, const SizePolynomial &start,
                            const SizePolynomial &length, int64_t step) {
  if (!x) {
    return std::nullopt;
  }
  expectNotNegative(start, fmt::format("'{}' expects to begin in its tensor", name));
  expectNotNegative(length, fmt::format("'{}' expects a size of at least 0", name));
  expectNotNegative(size(*x, dim) - start - (length - 1) * step - 1,
                    fmt::format("'{}' expects to end in its tensor", name));
  return failed() ? std::nullopt : moves.narrowed(*x, dim, start, length, step, range());
}

Value WrittenCall::sized(Value x, int64_t dim, const SizePolynomial &wanted) {
  const SizePolynomial own = x ? size(*x, dim) : wanted;
  if (own == wanted) {
    return x;
  }
  if ((own - wanted).constant()) {
    return fail("E0604",
                fmt::format("'{}' expects a size of {} in dim={}, but got {}", name, wanted.text(),
                            dim, own.text()),
                "it follows from the other arguments");
  }
  expectNotNegative(wanted - own, fmt::format("'{}' expects another size", name));
  return narrowed(x, dim, 0, wanted);
}

Value WrittenCall::flipped(Value x, int64_t dim) {
  return x ? moves.flipped(*x, {dim}, range()) : x;
}

Value WrittenCall::permuted(Value x, std::vector<int64_t> order) {
  bool isSame = true;
  for (size_t i = 0; i < order.size(); ++i) {
    isSame = isSame && order[i] == static_cast<int64_t>(i);
  }
  if (!x || isSame) {
    return x;
  }
  Node node;
  node.op = "permute";
  node.inputs = {*x};
  node.attributes["dims"] = std::move(order);
  return append(std::move(node));
}

Value WrittenCall::unsqueezed(Value x, int64_t dim) {
  if (!x) {
    return x;
  }
  Node node;
  node.op = "unsqueeze";
  node.inputs = {*x};
  node.attributes["dim"] = dim;
  return append(std::move(node));
}

Value WrittenCall::squeezed(Value x, int64_t dim) {
  return x ? moves.squeezed(*x, {dim}, range()) : x;
}

Value WrittenCall::reshaped(Value x, size_t last, Sizes sizes) {
  return x ? moves.inferredReshape(*x, last, std::move(sizes), range()) : x;
}

Value WrittenCall::flattened(Value x, int64_t first, int64_t last) {
  return !x || first == last ? x : moves.flattened(*x, first, last, range());
}

Value WrittenCall::unflattened(Value x, int64_t dim, Sizes sizes) {
  return x ? moves.unflattened(*x, dim, std::move(sizes), range()) : x;
}

Value WrittenCall::repeatedEach(Value x, int64_t dim, const SizePolynomial &count) {
  return x ? moves.repeatedAlong(*x, dim, count, true, range()) : x;
}

Value WrittenCall::expanded(Value x, Sizes sizes) {
  return x ? moves.expanded(*x, std::move(sizes), range()) : x;
}

Value WrittenCall::resampled(Value x, int64_t dim, const SizePolynomial &length,
                             const SizePolynomial &start, const SizePolynomial &step,
                             const SizePolynomial &divisor,
                             const std::optional<SizePolynomial> &places, int64_t least) {
  if (!x) {
    return x;
  }
  expectNotNegative(size(*x, dim) - 1, fmt::format("'{}' expects an element", name));
  expectNotNegative(divisor - 1, fmt::format("'{}' expects an element", name));
  if (failed()) {
    return std::nullopt;
  }
  Node node;
  node.op = "_resample";
  node.inputs = {*x};
  node.attributes["dim"] = dim;
  setSize(node, "length", length);
  setSize(node, "start", start);
  setSize(node, "step", step);
  setSize(node, "divisor", divisor);
  if (places) {
    setSize(node, "places", *places);
  }
  if (least != 0) {
    node.attributes["least"] = least;
  }
  return append(std::move(node));
}

Value WrittenCall::spread(Value x, int64_t dim, const SizePolynomial &length, int64_t step,
                          int64_t dilation, const SizePolynomial &before) {
  if (!x) {
    return x;
  }
  Node node;
  node.op = "_spread";
  node.inputs = {*x};
  node.attributes["dim"] = dim;
  setSize(node, "length", length);
  node.attributes["step"] = step;
  node.attributes["dilation"] = dilation;
  setSize(node, "before", before);
  return append(std::move(node));
}

/// Any tensor: a node has an operand.
Value WrittenCall::positions(const SizePolynomial &length) {
  const auto tensor = std::find_if(body.op.nodes.begin(), body.op.nodes.end(),
                                   [](const Node &node) { return node.op == "input"; });
  Node node;
  node.op = "_positions";
  node.inputs = {static_cast<int>(tensor - body.op.nodes.begin())};
  setSize(node, "length", length);
  return append(std::move(node));
}

Value WrittenCall::joined(const std::vector<Value> &parts, int64_t dim) {
  std::vector<int> list;
  for (const Value &part : parts) {
    if (!part) {
      return std::nullopt;
    }
    list.push_back(*part);
  }
  return moves.joined(list, dim, range());
}

Value WrittenCall::convolution(Value x, Value weight, Value bias,
                               const std::vector<int64_t> &stride,
                               const std::vector<int64_t> &padding, const std::string &word,
                               const std::vector<int64_t> &dilation, int64_t groups) {
  if (!x || !weight) {
    return std::nullopt;
  }
  Node node;
  node.op = "conv2d";
  node.inputs = {*x, *weight};
  if (bias) {
    node.inputs.push_back(*bias);
  } else {
    node.inputs.push_back(body.constant(0, "0"));
    body.op.nodes.back().attributes["default"] = true;
  }
  node.attributes["stride"] = stride;
  node.attributes["padding"] = word.empty() ? Attribute(padding) : Attribute(word);
  node.attributes["dilation"] = dilation;
  node.attributes["groups"] = groups;
  const Value result = append(std::move(node));
  return result && moves.expectRoom(*result, range()) ? result : std::nullopt;
}

/// The condition holds everywhere: masked_fill is what takes the first operand's type.
Value WrittenCall::inTypeOf(Value x, Value numbers) {
  return apply("masked_fill", {x, apply("eq", {numbers, numbers}), numbers});
}

/// A number would not widen: a tensor of the default type does.
Value WrittenCall::widened(Value x) {
  Node node = creationNode("full", {{"", 1}}, "default");
  node.inputs = {body.constant(1, "1")};
  return apply("mul", {x, append(std::move(node))});
}

Value WrittenCall::castTo(Value x, int like) {
  return x ? BodyCasts(body).like(*x, like, false, range()) : x;
}

Value WrittenCall::addedAt(Value x, Value index, Value values) {
  return written("scatter_add", x, index, values);
}

Value WrittenCall::putAt(Value x, Value index, Value values) {
  return written("scatter", x, index, values);
}

Value WrittenCall::readAt(Value x, const std::vector<Value> &indices) {
  Node node;
  node.op = "index";
  std::vector<Value> operands = indices;
  operands.insert(operands.begin(), x);
  for (const Value &operand : operands) {
    if (!operand) {
      return std::nullopt;
    }
    node.inputs.push_back(*operand);
  }
  node.attributes["dim"] = -static_cast<int64_t>(rank(*x));
  return append(std::move(node));
}

Value WrittenCall::written(const std::string &op, Value x, Value index, Value values) {
  if (!x || !index || !values) {
    return std::nullopt;
  }
  Node node;
  node.op = op;
  node.inputs = {*x, *index, *values};
  node.attributes["dim"] = int64_t{-1};
  return append(std::move(node));
}

Value WrittenCall::along(Value vector, int64_t dim) {
  for (int64_t behind = dim + 1; behind < 0; ++behind) {
    vector = unsqueezed(vector, -1);
  }
  return vector;
}

} // namespace nereid::definition
