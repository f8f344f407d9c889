// SPDX-License-Identifier: Apache-2.0
// Nodes of operators' graphs as lazy tensors, see Lower.h.
#include "lib/generator/lower/Lower.h"

#include "lib/definition/operations/Convolution.h"
#include "lib/definition/operations/Lowering.h"
#include "lib/definition/operations/Promotion.h"
#include "lib/definition/operations/SizeExpression.h"
#include "lib/definition/operations/indices/Creation.h"
#include "lib/generator/KernelExpression.h"
#include "lib/generator/lower/Indexed.h"
#include "lib/generator/lower/Lazy.h"
#include "lib/generator/lower/Lines.h"
#include "lib/generator/lower/Moves.h"
#include "lib/generator/lower/Places.h"
#include "lib/language/syntax/Parser.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <numeric>

namespace nereid::generator {
namespace {

using GraphNode = definition::Node;
using definition::OperandKind;

/// Thrown inside of this file alone.
struct Unsupported {
  std::string op;
};

double roundedTo(DType type, double value) {
  uint64_t element = 0;
  storeFromDouble(&element, type, value);
  return loadAsDouble(&element, type);
}

/// The type in which values of a type are computed.
DType computed(DType type) { return isFloat(type) && type != DType::F64 ? DType::F32 : type; }

struct Value {
  Lazy tensor;         ///< of a number: none
  double real = 0;     ///< of a number in the text
  int64_t integer = 0; ///< the same, when it has no fraction
  OperandKind kind = OperandKind::Tensor;
  DType dtype = DType::F32;         ///< by the definition's rules; the tensor has the computed one
  bool isNonNegative = false;       ///< promised of an index
  std::shared_ptr<LineResult> line; ///< a stage that can store the tensor itself
  bool isNumber() const { return !tensor.at; }
};

class Lowerer {
public:
  Lowerer(const definition::Operator &written, DType dtype)
      : op(definition::decomposed(written)), dtype(dtype) {}

  Program run() {
    // What is put behind nothing, or padded, has elements all the same.
    const int64_t least =
        std::any_of(op.nodes.begin(), op.nodes.end(),
                    [](const GraphNode &node) {
                      return node.op == "cat" || node.op == "pad" || node.op.starts_with("_");
                    })
            ? 0
            : 1;
    const std::vector<std::string> all = definition::symbolsOf(op);
    const std::string leading = leadingSymbol([&](const std::string &name) {
      return std::find(all.begin(), all.end(), name) != all.end();
    });
    for (const std::string &symbol : all) {
      sizes.emplace(symbol, program.space.symbols.add({symbol == "..." ? leading : symbol, least}));
    }
    for (size_t i = 0; i < op.nodes.size(); ++i) {
      const GraphNode &node = op.nodes[i];
      std::vector<Value> operands;
      for (int input : node.inputs) {
        operands.push_back(values[static_cast<size_t>(input)]);
      }
      current = i;
      values.push_back(i < op.parameters.size()
                           ? parameter(op.parameters[i])
                           : called(node.name, apply(node, std::move(operands))));
    }
    store();
    return std::move(program);
  }

private:
  // ---- leaves and outputs ----

  Polynomial size(const definition::Dim &dim) const {
    return dim.symbol.empty() ? Polynomial(dim.constant) : sizes.at(dim.symbol);
  }

  Value parameter(const definition::Parameter &parameter) {
    Value result;
    result.dtype = parameter.fixedDtype.value_or(dtype);
    if (parameter.isScalar) {
      result.kind = parameter.isInteger ? OperandKind::Whole : OperandKind::Fraction;
      // Beside integers a fraction is a float, as it makes floats of them.
      const DType fraction = isFloat(result.dtype) ? computed(result.dtype) : DType::F32;
      const DType type = parameter.isInteger ? DType::I64 : fraction;
      result.tensor = make.constant(program.nodes.parameter(parameter.name, type));
      return result;
    }
    Buffer buffer;
    buffer.name = parameter.name;
    buffer.dtype = result.dtype;
    for (const definition::Dim &dim : parameter.shape) {
      buffer.sizes.push_back(size(dim));
    }
    buffer.strides = contiguousStrides(buffer.sizes);
    result.tensor = make.input(program.add(std::move(buffer)));
    result.isNonNegative = parameter.range && parameter.range->low.find('-') == std::string::npos;
    return result;
  }

  /// The value under the name that the body gives it.
  Value called(const std::string &name, Value value) {
    if (name.empty() || value.isNumber()) {
      return value;
    }
    value.tensor.at = [this, name, at = value.tensor.at](const Point &point) {
      const Node *node = at(point);
      program.nodes.call(node, name);
      return node;
    };
    if (value.line) {
      program.nodes.call(value.line->value, name);
    }
    return value;
  }

  /// Outputs of one shape are a stage: what they share is computed once.
  void store() {
    std::vector<std::vector<std::pair<BufferId, Lazy>>> stages;
    for (size_t i = 0; i < op.outputs.size(); ++i) {
      const Value &value = values[static_cast<size_t>(op.outputs[i])];
      if (program.find(op.outputNames[i])) { // written where it was computed
        continue;
      }
      Buffer buffer;
      buffer.name = op.outputNames[i];
      buffer.role = BufferRole::Output;
      buffer.dtype = value.dtype;
      buffer.sizes = value.tensor.shape;
      buffer.strides = contiguousStrides(buffer.sizes);
      if (value.line) {
        const LineResult &line = *value.line;
        program.stages[line.stage].stores.push_back(
            {program.add(std::move(buffer)), line.point, line.value, "", line.guard});
        continue;
      }
      auto same = std::find_if(stages.begin(), stages.end(), [&](const auto &stage) {
        return stage[0].second.shape == value.tensor.shape;
      });
      same = same == stages.end() ? stages.emplace(stages.end()) : same;
      same->emplace_back(program.add(std::move(buffer)), value.tensor);
    }
    for (const auto &stage : stages) {
      make.store(op.name, stage);
    }
  }

  // ---- operations ----

  Value apply(const GraphNode &node, std::vector<Value> in) {
    if (node.op == "constant") {
      Value number;
      number.real = definition::constantValue(node);
      number.integer = definition::integerAttribute(node, "integer", 0);
      number.kind = definition::operandKind(node);
      number.dtype = dtype;
      return number;
    }
    if (definition::isSize(node)) {
      return sizeNumber(node);
    }
    if (definition::isCreation(node)) {
      return created(node, in);
    }
    const definition::Operation &operation = *definition::findOperation(node.op);
    std::vector<definition::TypedOperand> typed;
    for (const Value &value : in) {
      typed.push_back({value.dtype, value.kind});
    }
    const DType type = definition::computedDtype(operation, typed, dtype);
    if (operation.result == definition::ResultType::Cast) {
      return converted(in[0], type);
    }
    if (const definition::Operator *lowering = definition::loweringOf(node, type)) {
      Value result = inlined(*lowering, std::move(in));
      result.dtype = definition::resultDtype(operation, typed, dtype);
      result.tensor = make.cast(result.tensor, computed(result.dtype));
      return result;
    }
    const bool isPointwise = operation.kind == definition::OperationKind::Pointwise;
    if (isPointwise && !hasExpression(node.op, isFloat(type))) {
      throw Unsupported{node.op};
    }
    Value result;
    result.dtype = definition::resultDtype(operation, typed, dtype);
    const DType inside = computed(type);
    switch (operation.kind) {
    case definition::OperationKind::Pointwise:
      result.tensor = pointwise(node.op, in, inside);
      break;
    case definition::OperationKind::Reduction:
      result.tensor = reduction(node, in[0], computed(result.dtype));
      break;
    case definition::OperationKind::Contraction:
      result.tensor = product(as(in[0], inside), as(in[1], inside));
      break;
    case definition::OperationKind::Convolution:
      result.tensor = convolved(node, in, inside);
      break;
    case definition::OperationKind::View:
      result.tensor =
          definition::isMovement(node) ? movedTensor(node, in) : viewed(node, in[0].tensor);
      break;
    case definition::OperationKind::Scan:
    case definition::OperationKind::Sort: {
      const LineTensor made = along(node, as(in[0], inside));
      result.tensor = made.tensor;
      result.line = made.result;
      break;
    }
    case definition::OperationKind::Indexing:
      result.tensor = indexed(node, in, result.dtype);
      return result;
    default:
      throw Unsupported{node.op};
    }
    if (operation.kind != definition::OperationKind::View) {
      result.tensor = make.cast(result.tensor, computed(result.dtype));
    }
    return result;
  }

  // ---- made of sizes and numbers ----

  /// The element's number, or the operand as it is stored in the result's type.
  Value created(const GraphNode &node, const std::vector<Value> &in) {
    Value result;
    result.dtype = definition::createdDtype(node, dtype);
    result.isNonNegative = node.op == "arange";
    Shape shape;
    for (const definition::Dim &dim : node.shape) {
      const std::optional<Polynomial> size =
          dim.isRest() ? std::optional(sizes.at(dim.symbol))
                       : sizeIn(program, sizes, definition::SizePolynomial::of(dim));
      if (!size) {
        throw Unsupported{node.op};
      }
      shape.push_back(*size);
    }
    const DType type = computed(result.dtype);
    if (node.op == "arange") {
      const std::vector<Polynomial> strides = contiguousStrides(shape);
      result.tensor = make.make(shape, type, [this, strides, type](const Point &point) {
        Affine number;
        for (size_t dim = 0; dim < point.size(); ++dim) {
          number = number + point[dim] * strides[dim];
        }
        const Node *index = program.nodes.index(number);
        return index->dtype == type ? index : program.nodes.map("cast", type, {index});
      });
      return result;
    }
    const Lazy value = in[0].isNumber() ? make.constant(numberOf(in[0], result.dtype))
                       : result.dtype == DType::Bool
                           ? asCondition(in[0])
                           : make.cast(make.cast(in[0].tensor, result.dtype), type);
    result.tensor = make.make(shape, type, [value](const Point &) { return value.at(Point()); });
    return result;
  }

  /// A number of the text as it is stored in a type, in the type that computes with it.
  const Node *numberOf(const Value &number, DType storage) {
    const DType type = computed(storage);
    if (storage == DType::Bool) {
      return program.nodes.integer(number.real != 0 ? 1 : 0, type);
    }
    return isFloat(storage) ? program.nodes.real(roundedTo(storage, number.real), type)
                            : program.nodes.integer(wholeOf(number, storage), type);
  }

  // ---- numbers made of sizes ----

  Value sizeNumber(const GraphNode &node) {
    Diagnostics diags;
    const language::ExprPtr expr =
        language::parseExpression("size", definition::sizeText(node), diags);
    Value result;
    result.kind = definition::operandKind(node);
    result.dtype = result.kind == OperandKind::Whole ? DType::I64 : computed(dtype);
    const std::optional<Polynomial> whole = polynomialOf(*expr);
    const bool isQuotient = !whole && result.kind == OperandKind::Whole;
    const auto quotient = isQuotient ? definition::sizePolynomial(*expr)
                                     : std::optional<definition::SizePolynomial>();
    const std::optional<Polynomial> symbol =
        quotient ? sizeIn(program, sizes, *quotient) : std::nullopt;
    if (whole || symbol) {
      result.tensor = make.cast(wholeTensor(whole ? *whole : *symbol), result.dtype);
    } else {
      result.tensor = realTensor(*expr, isFloat(dtype) ? computed(dtype) : DType::F32);
    }
    return result;
  }

  Lazy wholeTensor(const Polynomial &value) {
    return make.constant(program.nodes.index(Affine(value)));
  }

  /// Sums and products of sizes.
  std::optional<Polynomial> polynomialOf(const language::Expr &expr) const {
    using language::ExprKind;
    if (expr.kind == ExprKind::Integer) {
      return Polynomial(expr.integer);
    }
    if (expr.kind == ExprKind::Name) {
      return sizes.at(expr.text);
    }
    if (expr.kind != ExprKind::Unary && expr.kind != ExprKind::Binary) {
      return std::nullopt;
    }
    std::vector<Polynomial> in;
    for (const language::ExprPtr &operand : expr.operands) {
      std::optional<Polynomial> each = polynomialOf(*operand);
      if (!each) {
        return std::nullopt;
      }
      in.push_back(*each);
    }
    if (expr.kind == ExprKind::Unary) {
      return -in[0];
    }
    if (expr.text == "**") {
      return powerOf(in[0], in[1]);
    }
    return expr.text == "+"   ? std::optional(in[0] + in[1])
           : expr.text == "-" ? std::optional(in[0] - in[1])
           : expr.text == "*" ? std::optional(in[0] * in[1])
                              : std::nullopt;
  }
  static std::optional<Polynomial> powerOf(const Polynomial &base, const Polynomial &exponent) {
    constexpr int64_t highest = 8;
    const std::optional<int64_t> times = exponent.constant();
    if (!times || *times < 0 || *times > highest) {
      return std::nullopt;
    }
    Polynomial result = 1;
    for (int64_t i = 0; i < *times; ++i) {
      result = result * base;
    }
    return result;
  }

  /// With a fraction: computed in the kernel.
  Lazy realTensor(const language::Expr &expr, DType type) {
    using language::ExprKind;
    if (const std::optional<Polynomial> whole = polynomialOf(expr)) {
      return make.cast(wholeTensor(*whole), type);
    }
    static const std::map<std::string, std::string> names = {
        {"+", "add"}, {"-", "sub"}, {"*", "mul"}, {"/", "div"}, {"**", "pow"}};
    switch (expr.kind) {
    case ExprKind::Float:
      return make.constant(program.nodes.real(expr.real, type));
    case ExprKind::Attribute:
      return make.constant(program.nodes.real(INFINITY, type));
    case ExprKind::Unary:
      return make.map("neg", {realTensor(*expr.operands[0], type)});
    case ExprKind::Call: {
      const std::string &function = expr.operands[0]->text;
      Lazy operand = realTensor(*expr.operands[1], type);
      return function == "float" ? operand : make.map(function, {operand});
    }
    case ExprKind::Binary:
      if (auto found = names.find(expr.text); found != names.end()) {
        return make.map(found->second,
                        {realTensor(*expr.operands[0], type), realTensor(*expr.operands[1], type)});
      }
      [[fallthrough]];
    default:
      throw Unsupported{"'" + expr.text + "' of sizes"};
    }
  }

  Value inlined(const definition::Operator &lowering, std::vector<Value> in) {
    for (size_t i = in.size(); i < lowering.nodes.size(); ++i) {
      std::vector<Value> operands;
      for (int input : lowering.nodes[i].inputs) {
        operands.push_back(in[static_cast<size_t>(input)]);
      }
      in.push_back(apply(lowering.nodes[i], std::move(operands)));
    }
    return in[static_cast<size_t>(lowering.outputs[0])];
  }

  /// The value in a type; of a number, its constant.
  Lazy as(const Value &value, DType type) {
    if (!value.isNumber()) {
      return make.cast(value.tensor, type);
    }
    return make.constant(isFloat(type) ? program.nodes.real(value.real, type)
                                       : program.nodes.integer(wholeOf(value, type), type));
  }
  /// A bound that is left out is infinite: no integer of the type is beyond its ends.
  static int64_t wholeOf(const Value &number, DType type) {
    if (std::isinf(number.real)) {
      return number.real < 0 ? definition::lowestInteger(type)
                             : static_cast<int64_t>(definition::highestInteger(type));
    }
    return number.kind == OperandKind::Whole ? number.integer : static_cast<int64_t>(number.real);
  }
  /// Not 0.
  Lazy asCondition(const Value &value) {
    Lazy tensor = value.isNumber() ? as(value, DType::F64) : value.tensor;
    const DType type = tensor.dtype;
    const Node *zero = isFloat(type) ? program.nodes.real(0, type) : program.nodes.integer(0, type);
    return type == DType::Bool ? tensor : make.map("ne", {tensor, make.constant(zero)});
  }

  /// Rounded to the type, unless nothing can be lost; what is shorter than what is computed in
  /// stays as it is stored.
  Value converted(const Value &from, DType type) {
    Value result;
    result.dtype = type;
    result.isNonNegative = from.isNonNegative && isFloat(from.dtype) == isFloat(type) &&
                           sizeInBytes(type) >= sizeInBytes(from.dtype);
    if (isFloat(from.dtype) && definition::holdsAll(type, from.dtype)) {
      result.tensor = make.cast(from.tensor, computed(type));
      return result;
    }
    // Float64 goes by way of float32, which the language's conversions to 8 bits expect.
    const bool isByFloat = isFloat8(type) || (isFloat(type) && from.dtype == DType::F64);
    const Lazy given = make.cast(from.tensor, isByFloat ? DType::F32 : computed(from.dtype));
    result.tensor = make.cast(given, type);
    return result;
  }

  Lazy pointwise(const std::string &name, const std::vector<Value> &in, DType type) {
    const bool isLogical = name.starts_with("logical_");
    const bool isRounding = name == "floor" || name == "ceil" || name == "round" || name == "trunc";
    std::vector<Lazy> operands;
    for (size_t i = 0; i < in.size(); ++i) {
      bool isCondition = isLogical || (name == "where" && i == 0);
      operands.push_back(isCondition ? asCondition(in[i]) : as(in[i], type));
    }
    if (isRounding && !isFloat(type)) {
      return operands[0];
    }
    const bool isOfBools = name.starts_with("bitwise_") && type == DType::Bool;
    return make.map(isOfBools ? "logical_" + name.substr(8) : name, std::move(operands));
  }

  std::vector<size_t> dimsOf(const GraphNode &node, const Shape &shape) const {
    std::vector<size_t> dims;
    for (int64_t dim : definition::dimsOf(node)) {
      dims.push_back(static_cast<size_t>(dim + static_cast<int64_t>(shape.size())));
    }
    if (dims.empty()) {
      dims.resize(shape.size());
      std::iota(dims.begin(), dims.end(), size_t{0});
    }
    return dims;
  }

  Lazy reduction(const GraphNode &node, const Value &value, DType type) {
    if (node.op == "argmax" || node.op == "argmin") {
      const Lazy given = as(value, computed(value.dtype));
      return lines.searched(node.op == "argmax", given, dimsOf(node, given.shape),
                            definition::keepsDim(node));
    }
    const Lazy x = as(value, type);
    const std::vector<size_t> dims = dimsOf(node, x.shape);
    const bool keeps = definition::keepsDim(node);
    const bool isWritten = areWindows(node) && areFewPlaces(x.shape, dims);
    auto reduce = [&](const char *monoid, const Lazy &of, bool keepsDims) {
      return isWritten ? placeByPlace(make, monoid, of, dims, keepsDims)
                       : make.reduce(monoid, of, dims, keepsDims);
    };
    if (node.op == "sum" || node.op == "prod") {
      return reduce(node.op.c_str(), x, keeps);
    }
    if (node.op == "amax" || node.op == "amin") {
      return reduce(node.op == "amax" ? "max" : "min", x, keeps);
    }
    if (node.op == "mean") {
      return make.map("div", {reduce("sum", x, keeps), count(x, dims, 0, type)});
    }
    if (node.op == "var" || node.op == "std") { // the mean first, then squared distances from it
      Lazy mean = make.map("div", {reduce("sum", x, true), count(x, dims, 0, type)});
      Lazy away = make.map("sub", {x, mean});
      int64_t correction = definition::integerAttribute(node, "correction", 1);
      Lazy variance = make.map("div", {reduce("sum", make.map("mul", {away, away}), keeps),
                                       count(x, dims, correction, type)});
      return node.op == "var" ? variance : make.map("sqrt", {variance});
    }
    throw Unsupported{node.op};
  }

  /// Of the places of windows, which lie behind all other dimensions; those of _resample also with
  /// weights and conditions.
  bool areWindows(const GraphNode &node) const {
    const GraphNode &from = op.nodes[static_cast<size_t>(node.inputs[0])];
    return (from.op == "unfold" || from.op == "_spread" || areResampled(from)) &&
           !definition::dimsOf(node).empty();
  }

  bool areResampled(const GraphNode &node) const {
    if (node.op == "_resample") {
      return node.attributes.count("places") != 0;
    }
    const definition::Operation *operation = definition::findOperation(node.op);
    return operation && operation->kind == definition::OperationKind::Pointwise &&
           areResampled(op.nodes[static_cast<size_t>(node.inputs[0])]);
  }

  LineTensor along(const GraphNode &node, const Lazy &x) {
    const size_t dim = dimsOf(node, x.shape)[0];
    return definition::findOperation(node.op)->kind == definition::OperationKind::Sort
               ? lines.sorted(node, x, dim)
               : lines.scanned(node.op, x, node.inputs[0], dim);
  }

  /// How many elements are reduced, less `correction`.
  Lazy count(const Lazy &x, const std::vector<size_t> &dims, int64_t correction, DType type) {
    Polynomial count = 1;
    for (size_t dim : dims) {
      count = count * x.shape[dim];
    }
    return make.cast(make.constant(program.nodes.index(Affine(count - correction))), type);
  }

  /// sum(a[..., i, k] * b[..., k, j], k)
  Lazy product(Lazy a, Lazy b) {
    const bool isRow = a.shape.size() == 1, isColumn = b.shape.size() == 1;
    a = isRow ? make.insertDim(a, 0) : a;
    b = isColumn ? make.insertDim(b, 1) : b;
    a = make.insertDim(a, a.shape.size());
    b = make.insertDim(b, b.shape.size() - 2);
    Lazy pairs = make.map("mul", {a, b});
    Lazy sum = make.reduce("sum", pairs, {pairs.shape.size() - 2}, false);
    sum = isColumn ? make.dropDim(sum, sum.shape.size() - 1) : sum;
    return isRow ? make.dropDim(sum, sum.shape.size() - (isColumn ? 1 : 2)) : sum;
  }

  /// sum(pad(x)[n, g·C + c, oh·s + kh·d, ow·s + kw·d] * w[g·F + f, c, kh, kw], (c, kh, kw)) + b
  Lazy convolved(const GraphNode &node, const std::vector<Value> &in, DType type) {
    auto attributes = definition::convolutionAttributes(node);
    if (!attributes) { // shape inference has refused it
      throw Unsupported{node.op};
    }
    Lazy x = in[0].tensor, w = as(in[1], type);
    const bool hasBatch = x.shape.size() == 4;
    x = hasBatch ? x : make.insertDim(x, 0);
    const Shape kernel(w.shape.end() - 2, w.shape.end());
    for (size_t side = 0; side < 2; ++side) {
      const size_t dim = 2 + side;
      const int64_t stride = attributes->stride[side], dilation = attributes->dilation[side];
      const auto [before, after] = paddingOf(*attributes, side, kernel[side]);
      const Polynomial reach = (kernel[side] - 1) * dilation;
      const Polynomial whole = x.shape[dim] + before + after - reach - 1;
      if (!whole.constant()) {
        program.space.symbols.assume(whole); // the window fits
      }
      const std::optional<Polynomial> count =
          sizeIn(program, sizes, definition::SizePolynomial::of(*(node.shape.end() - 2 + side)));
      if (!count) {
        throw Unsupported{node.op};
      }
      if (!before.isZero() || !after.isZero()) {
        x = make.pad(x, dim, before, after, zeroOf(x.dtype));
      }
      x = make.windows(x, dim, kernel[side], stride, dilation, *count);
    }
    x = make.cast(x, type); // [batch, channels, height, width, kernel height, kernel width]
    Lazy sum = windowSums(x, w, attributes->groups);
    if (in.size() > 2 && !(in[2].isNumber() && in[2].real == 0)) {
      Lazy bias = as(in[2], type);
      for (size_t side = 0; side < 2 && !bias.shape.empty(); ++side) {
        bias = make.insertDim(bias, bias.shape.size());
      }
      sum = make.map("add", {sum, bias});
    }
    return hasBatch ? sum : make.dropDim(sum, 0);
  }

  /// "same" reads as far on both sides, one more behind.
  static std::pair<Polynomial, Polynomial>
  paddingOf(const definition::ConvolutionAttributes &attributes, size_t side,
            const Polynomial &kernel) {
    if (!attributes.isSame) {
      return {attributes.padding[side], attributes.padding[side]};
    }
    const std::optional<int64_t> taps = kernel.constant();
    if (!taps) {
      throw Unsupported{"conv2d with padding=\"same\" of a kernel whose size is a symbol"};
    }
    const int64_t reach = (*taps - 1) * attributes.dilation[side];
    return {reach / 2, reach - reach / 2};
  }

  const Node *zeroOf(DType type) {
    return isFloat(type) ? program.nodes.real(0, type) : program.nodes.integer(0, type);
  }

  /// Of windows [n, G·C, h, w, kh, kw] and weights [G·F, C, kh, kw].
  Lazy windowSums(const Lazy &x, const Lazy &w, int64_t groups) {
    const std::optional<Polynomial> features = w.shape[0].dividedBy(groups);
    if (!features || !x.shape[1].dividedBy(groups)) {
      throw Unsupported{"conv2d with groups of channels whose number is a symbol"};
    }
    const Polynomial channels = w.shape[1];
    const Shape result = {x.shape[0], w.shape[0], x.shape[2], x.shape[3]};
    Shape image = {x.shape[0], groups, channels};
    image.insert(image.end(), x.shape.begin() + 2, x.shape.end());
    Lazy windows = make.permute(make.reshape(x, image), {0, 1, 3, 4, 2, 5, 6});
    windows = make.insertDim(windows, 2); // [n, G, 1, h, w, C, kh, kw]
    Lazy weights = make.reshape(w, {groups, *features, channels, w.shape[2], w.shape[3]});
    weights = make.insertDim(make.insertDim(weights, 2), 2);
    return make.reshape(make.reduce("sum", make.map("mul", {windows, weights}), {5, 6, 7}, false),
                        result);
  }

  // ---- indices from tensors ----

  Lazy indexed(const GraphNode &node, const std::vector<Value> &in, DType storage) {
    std::vector<size_t> ranks;
    for (const Value &each : in) {
      ranks.push_back(each.isNumber() ? 0 : each.tensor.shape.size());
    }
    IndexedOperands operands;
    operands.indexing = definition::indexingOf(node, ranks);
    operands.table = in[0].tensor;
    for (size_t number : operands.indexing.indices) {
      operands.indices.push_back(in[number].tensor);
      operands.areNonNegative.push_back(in[number].isNonNegative ||
                                        !definition::takesNegative(node));
    }
    if (!operands.indexing.isWrite) {
      return readIndexed(program, make, operands);
    }
    const Value &values = in[operands.indexing.values];
    if (!canMeetInMemory(operands, op.isDeterministic)) {
      operands.table = make.cast(operands.table, computed(storage));
      operands.values = as(values, computed(storage));
      return writeByElements(program, make, operands);
    }
    const DType type = definition::Meeting::Replace == operands.indexing.meeting
                           ? storage
                           : meetingType(operands.indexing.meeting, storage);
    operands.table = make.cast(operands.table, type);
    operands.values = as(values, type);
    if (meetAsOrdinals(operands)) {
      const IndexedOperands ordinals = asOrdinals(program, make, operands);
      const BufferId met = temporary(operands.table.shape, DType::I32);
      writeInMemory(program, make, ordinals, op.name, {met});
      return make.cast(ofOrdinals(program, make, operands, stored(met)), computed(storage));
    }
    const bool isMean = operands.indexing.meeting == definition::Meeting::Mean;
    std::vector<BufferId> results = {resultBuffer(operands.table.shape, type, storage, isMean)};
    if (isMean) {
      results.push_back(temporary(operands.table.shape, type));
    }
    writeInMemory(program, make, operands, op.name, results);
    Lazy written = stored(results[0]);
    if (isMean) {
      Lazy count = stored(results[1]);
      Lazy one = make.constant(program.nodes.real(1, type));
      Lazy share = make.map("div", {written, make.map("maximum", {count, one})});
      Lazy isMet = make.map("gt", {count, make.constant(program.nodes.real(0, type))});
      written = make.map("where", {isMet, share, make.cast(in[0].tensor, type)});
    }
    return make.cast(written, computed(storage));
  }

  /// The output itself where the node is nothing else and its type fits.
  BufferId resultBuffer(const Shape &shape, DType type, DType storage, bool isPart) {
    const auto node = static_cast<int>(current);
    const bool isUsed = std::any_of(op.nodes.begin(), op.nodes.end(), [&](const GraphNode &each) {
      return std::count(each.inputs.begin(), each.inputs.end(), node) > 0;
    });
    const auto output = std::find(op.outputs.begin(), op.outputs.end(), node);
    const bool isOne = std::count(op.outputs.begin(), op.outputs.end(), node) == 1;
    if (isUsed || isPart || !isOne || type != storage) {
      return temporary(shape, type);
    }
    Buffer buffer;
    buffer.name = op.outputNames[static_cast<size_t>(output - op.outputs.begin())];
    buffer.role = BufferRole::Output;
    buffer.dtype = type;
    buffer.sizes = shape;
    buffer.strides = contiguousStrides(shape);
    return program.add(std::move(buffer));
  }

  BufferId temporary(const Shape &shape, DType type) {
    Buffer buffer;
    do {
      buffer.name = fmt::format("met_{}", ++temporaries);
    } while (program.find(buffer.name) || std::find(op.outputNames.begin(), op.outputNames.end(),
                                                    buffer.name) != op.outputNames.end());
    buffer.role = BufferRole::Temporary;
    buffer.dtype = type;
    buffer.sizes = shape;
    buffer.strides = contiguousStrides(shape);
    return program.add(std::move(buffer));
  }

  /// What stages have written to a buffer.
  Lazy stored(BufferId buffer) {
    const Buffer &from = program.buffers[buffer];
    const bool isTemporary = from.role == BufferRole::Temporary;
    return make.make(from.sizes, from.dtype, [this, buffer, isTemporary](const Point &point) {
      NodeParts parts{isTemporary ? NodeKind::Ref : NodeKind::Load, program.buffers[buffer].dtype};
      parts.buffer = buffer;
      parts.indices = point;
      return program.nodes.make(std::move(parts));
    });
  }

  Lazy movedTensor(const GraphNode &node, const std::vector<Value> &in) {
    const bool isOne = std::all_of(in.begin(), in.end(), [&](const Value &value) {
      return value.tensor.dtype == in[0].tensor.dtype;
    });
    std::vector<Lazy> operands; // some are computed, others as they are stored
    for (const Value &value : in) {
      operands.push_back(isOne ? value.tensor : as(value, computed(value.dtype)));
    }
    std::optional<Lazy> result = moved(node, operands, program, make, sizes);
    if (!result) {
      throw Unsupported{node.op};
    }
    return *result;
  }

  Lazy viewed(const GraphNode &node, const Lazy &x) {
    if (node.op == "unsqueeze") {
      const int64_t dim = definition::integerAttribute(node, "dim", 0);
      const auto count = static_cast<int64_t>(x.shape.size()) + 1;
      return make.insertDim(x, static_cast<size_t>(dim < 0 ? dim + count : dim));
    }
    std::vector<size_t> order;
    for (int64_t dim : std::get<std::vector<int64_t>>(node.attributes.at("dims"))) {
      int64_t rank = static_cast<int64_t>(x.shape.size());
      order.push_back(static_cast<size_t>(dim < 0 ? dim + rank : dim));
    }
    return make.permute(x, std::move(order));
  }

  const definition::Operator op;
  const DType dtype;
  Program program;
  Tensors make{program};
  Lines lines{program, make};
  std::map<std::string, Polynomial> sizes;
  size_t current = 0; ///< number of the node that is lowered
  int temporaries = 0;
  std::vector<Value> values;
};

} // namespace

std::string leadingSymbol(const std::function<bool(const std::string &)> &isSize) {
  std::string name = "rest";
  while (isSize(name)) {
    name += "_all";
  }
  return name;
}

Result<Program> lower(const definition::Operator &op, DType dtype) {
  try {
    return Lowerer(op, dtype).run();
  } catch (const Unsupported &found) {
    return makeError("E0607", fmt::format("operation '{}' has no lowering", found.op));
  }
}

} // namespace nereid::generator
