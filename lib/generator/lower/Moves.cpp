// SPDX-License-Identifier: Apache-2.0
#include "lib/generator/lower/Moves.h"

#include "lib/definition/operations/Operations.h"
#include "lib/definition/operations/Promotion.h"
#include "lib/definition/operations/Shape.h"
#include "lib/language/syntax/Parser.h"

#include <algorithm>
#include <cmath>

namespace nereid::generator {
namespace {

using definition::SizePolynomial;
using GraphNode = definition::Node;
using MaybeSize = std::optional<Polynomial>;

class SizeReader {
public:
  SizeReader(Program &program, const std::map<std::string, Polynomial> &symbols)
      : program(program), symbols(symbols) {}

  MaybeSize read(const language::Expr &expr) const {
    using language::ExprKind;
    switch (expr.kind) {
    case ExprKind::Integer:
      return Polynomial(expr.integer);
    case ExprKind::Name: {
      auto found = symbols.find(expr.text);
      return found == symbols.end() ? std::nullopt : MaybeSize(found->second);
    }
    case ExprKind::Unary: {
      const MaybeSize operand = read(*expr.operands[0]);
      return operand ? MaybeSize(-*operand) : operand;
    }
    case ExprKind::Binary: {
      const MaybeSize a = read(*expr.operands[0]), b = read(*expr.operands[1]);
      return a && b ? joined(expr.text, *a, *b) : std::nullopt;
    }
    default:
      return std::nullopt;
    }
  }

private:
  MaybeSize joined(const std::string &text, const Polynomial &a, const Polynomial &b) const {
    if (text == "//") {
      return program.space.symbols.addQuotient(a, b);
    }
    return text == "+"   ? MaybeSize(a + b)
           : text == "-" ? MaybeSize(a - b)
           : text == "*" ? MaybeSize(a * b)
                         : std::nullopt;
  }

  Program &program;
  const std::map<std::string, Polynomial> &symbols;
};

class Mover {
public:
  Mover(const GraphNode &node, const std::vector<Lazy> &operands, Program &program,
        const Tensors &make, const std::map<std::string, Polynomial> &symbols)
      : node(node), operands(operands), x(operands[0]), program(program), make(make),
        symbols(symbols) {}

  std::optional<Lazy> run() const {
    if (node.op == "squeeze") {
      return squeezed();
    }
    if (definition::isTriangle(node)) {
      return triangle();
    }
    if (node.op.starts_with("_")) {
      return node.op == "_spread" ? spread() : node.op == "_resample" ? resampled() : positions();
    }
    if (node.op == "reshape" || node.op == "expand" || node.op == "unfold") {
      return shaped();
    }
    return node.op == "narrow" ? narrowed()
           : node.op == "pad"  ? padded()
           : node.op == "cat"  ? std::optional(make.cat(operands, dim()))
                               : std::nullopt;
  }

private:
  size_t dim() const {
    return static_cast<size_t>(definition::integerAttribute(node, "dim", -1) +
                               static_cast<int64_t>(x.shape.size()));
  }
  MaybeSize size(const std::string &name) const {
    return sizeIn(program, symbols, definition::sizeAttribute(node, name));
  }
  void assume(const Polynomial &value) const {
    if (!value.constant()) {
      program.space.symbols.assume(value);
    }
  }

  std::optional<Lazy> squeezed() const {
    Lazy result = x;
    for (int64_t each : definition::dimsOf(node)) { // ascending: those in front first
      result =
          make.dropDim(result, static_cast<size_t>(each + static_cast<int64_t>(x.shape.size())) -
                                   (x.shape.size() - result.shape.size()));
    }
    return result;
  }

  /// The definition's constraints say that it lies inside.
  std::optional<Lazy> narrowed() const {
    const MaybeSize start = size("start"), length = size("length");
    if (!start || !length) {
      return std::nullopt;
    }
    const int64_t step = definition::integerAttribute(node, "step", 1);
    const Polynomial last = *start + (*length - 1) * step;
    if (step > 0) {
      assume(*start);
      assume(x.shape[dim()] - 1 - last);
    }
    return make.slice(x, dim(), *start, *length, step);
  }

  std::optional<Lazy> positions() const {
    const MaybeSize length = size("length");
    if (!length) {
      return std::nullopt;
    }
    return make.make({*length}, DType::I64, [nodes = &program.nodes](const Point &point) {
      return nodes->index(point[0]);
    });
  }

  static Point with(Point point, size_t dim, Affine index) {
    point[dim] = std::move(index);
    return point;
  }
  Shape lengthened(const Polynomial &length) const {
    Shape shape = x.shape;
    shape[dim()] = length;
    return shape;
  }

  /// Where the place is not proved to lie inside it is computed: the nearest one that does. Of
  /// several places from there on the number is the last index.
  std::optional<Lazy> resampled() const {
    const MaybeSize length = size("length"), start = size("start"), step = size("step"),
                    divisor = size("divisor");
    if (!length || !start || !step || !divisor) {
      return std::nullopt;
    }
    assume(*divisor - 1);
    Shape shape = lengthened(*length);
    const bool hasPlaces = node.attributes.count("places") != 0;
    if (hasPlaces) {
      const MaybeSize places = size("places");
      if (!places) {
        return std::nullopt;
      }
      shape.push_back(*places);
    }
    return make.make(
        shape, x.dtype,
        [program = &program, from = x, dim = dim(), start = *start, step = *step,
         divisor = *divisor, hasPlaces,
         least = definition::integerAttribute(node, "least", 0)](const Point &at) {
          const Point point(at.begin(), at.end() - (hasPlaces ? 1 : 0));
          const Affine sum = point[dim] * step + Affine(start);
          const Affine first = divisor.isOne() ? sum : floorDivide(sum, divisor, program->space);
          const Affine place = hasPlaces ? first + at.back() : first;
          const Polynomial &whole = from.shape[dim];
          if (isInside(place - Affine(least), whole - least, program->space)) {
            return from.at(with(point, dim, place));
          }
          NodeTable &nodes = program->nodes;
          const Node *raised = nodes.map("maximum", DType::I64,
                                         {nodes.index(place), nodes.integer(least, DType::I64)});
          const Node *lowered =
              nodes.map("minimum", DType::I64, {raised, nodes.index(Affine(whole - 1))});
          return from.at(with(point, dim, Affine::data(lowered, whole)));
        });
  }

  std::optional<Lazy> spread() const {
    const MaybeSize length = size("length"), before = size("before");
    if (!length || !before) {
      return std::nullopt;
    }
    const int64_t step = definition::integerAttribute(node, "step", 1);
    const int64_t dilation = definition::integerAttribute(node, "dilation", 1);
    return make.make(
        lengthened(*length), x.dtype,
        [program = &program, from = x, dim = dim(), before = *before, step, dilation,
         zero = constant()](const Point &point) {
          NodeTable &nodes = program->nodes;
          const Affine sum = point[dim] + Affine(before) - point.back() * dilation;
          const Affine place = step == 1 ? sum : floorDivide(sum, step, program->space);
          auto compare = [&](const char *how, const Affine &a, const Affine &b) {
            return nodes.map(how, DType::Bool, {nodes.index(a), nodes.index(b)});
          };
          const Node *isThere =
              nodes.map("logical_and", DType::Bool,
                        {compare("ge", place, 0), compare("lt", place, Affine(from.shape[dim]))});
          if (step != 1) {
            const Affine rest = remainder(sum, step, program->space);
            isThere = nodes.map("logical_and", DType::Bool, {compare("eq", rest, 0), isThere});
          }
          return nodes.map("where", from.dtype, {isThere, from.at(with(point, dim, place)), zero});
        });
  }

  /// A constant is a condition; other edges are parts of the tensor in front of it and behind.
  std::optional<Lazy> padded() const {
    const MaybeSize before = size("before"), after = size("after");
    if (!before || !after) {
      return std::nullopt;
    }
    const std::string mode = definition::stringAttribute(node, "mode", "constant");
    const Polynomial &whole = x.shape[dim()];
    if (mode == "constant") {
      return make.pad(x, dim(), *before, *after, constant());
    }
    std::vector<Lazy> parts;
    auto add = [&](const Polynomial &start, const Polynomial &count, int64_t step) {
      if (!count.isZero()) {
        parts.push_back(make.slice(x, dim(), start, count, step));
      }
    };
    assume(whole - 1);
    if (mode == "reflect") {
      assume(whole - 1 - *before);
      assume(whole - 1 - *after);
      add(*before, *before, -1);
      add(0, whole, 1);
      add(whole - 2, *after, -1);
    } else if (mode == "replicate") {
      add(0, *before, 0);
      add(0, whole, 1);
      add(whole - 1, *after, 0);
    } else {
      assume(whole - *before);
      assume(whole - *after);
      add(whole - *before, *before, 1);
      add(0, whole, 1);
      add(0, *after, 1);
    }
    return make.cat(parts, dim());
  }
  /// Row i keeps columns up to i + diagonal, or from there on.
  std::optional<Lazy> triangle() const {
    const MaybeSize diagonal = size("diagonal");
    if (!diagonal) {
      return std::nullopt;
    }
    const bool isLower = node.op == "tril";
    return make.make(x.shape, x.dtype,
                     [isLower, diagonal = *diagonal, from = x, nodes = &program.nodes,
                      zero = constant()](const Point &point) {
                       const Affine row = point[point.size() - 2] + Affine(diagonal),
                                    column = point.back();
                       const generator::Node *isKept =
                           nodes->map(isLower ? "ge" : "le", DType::Bool,
                                      {nodes->index(row), nodes->index(column)});
                       return nodes->map("where", from.dtype, {isKept, from.at(point), zero});
                     });
  }

  /// What the definition says of the result's shape.
  std::optional<Lazy> shaped() const {
    Shape shape;
    for (const definition::Dim &dim : node.shape) {
      const MaybeSize size =
          dim.isRest() ? MaybeSize(x.shape[0]) : sizeIn(program, symbols, SizePolynomial::of(dim));
      if (!size) {
        return std::nullopt;
      }
      shape.push_back(*size);
    }
    if (node.op == "reshape") {
      return make.reshape(x, shape);
    }
    if (node.op == "expand") {
      return make.expand(x, shape);
    }
    const int64_t size = definition::integerAttribute(node, "size", 1);
    const int64_t dilation = definition::integerAttribute(node, "dilation", 1);
    assume(x.shape[dim()] - (size - 1) * dilation - 1);
    return make.windows(x, dim(), size, definition::integerAttribute(node, "step", 1), dilation,
                        shape[dim()]);
  }
  const Node *constant() const {
    auto found = node.attributes.find("value");
    const double value = found == node.attributes.end() ? 0 : std::get<double>(found->second);
    if (std::isinf(value) && !isFloat(x.dtype)) { // no integer lies below it
      return program.nodes.integer(definition::lowestInteger(x.dtype), x.dtype);
    }
    return isFloat(x.dtype) ? program.nodes.real(value, x.dtype)
                            : program.nodes.integer(static_cast<int64_t>(value), x.dtype);
  }

  const GraphNode &node;
  const std::vector<Lazy> &operands;
  const Lazy &x;
  Program &program;
  const Tensors &make;
  const std::map<std::string, Polynomial> &symbols;
};

} // namespace

MaybeSize sizeIn(Program &program, const std::map<std::string, Polynomial> &symbols,
                 const SizePolynomial &size) {
  Diagnostics diags;
  const language::ExprPtr expr = language::parseExpression("size", size.text(), diags);
  return expr ? SizeReader(program, symbols).read(*expr) : std::nullopt;
}

std::optional<Lazy> moved(const GraphNode &node, const std::vector<Lazy> &operands,
                          Program &program, const Tensors &make,
                          const std::map<std::string, Polynomial> &symbols) {
  return Mover(node, operands, program, make, symbols).run();
}

} // namespace nereid::generator
