// SPDX-License-Identifier: Apache-2.0
#include "lib/importer/shapes/ShapeRules.h"

#include "lib/importer/onnx/TensorElements.h"
#include "lib/importer/shapes/Inference.h"

#include <fmt/format.h>

#include <algorithm>
#include <set>

namespace nereid::importer {

struct RuleTable {
  using Rule = void (ShapeRules::*)();
  static const std::map<std::string, Rule, std::less<>> &rules() {
    static const std::map<std::string, Rule, std::less<>> table = {
#define NEREID_ONNX(name, first, shape, kind, flops, body) {#name, &ShapeRules::shape},
#include "lib/importer/operators/operators.def"
    };
    return table;
  }
};

void ShapeRules::run() {
  for (const auto &[name, tensor] : model.initialisers) {
    if (tensor.hasElements && (!tensor.integers.empty() || tensor.count() == 0)) {
      known[name] = tensor.integers;
    }
  }
  for (const Node &one : model.nodes) {
    node = &one;
    auto rule = RuleTable::rules().find(one.op);
    if (rule != RuleTable::rules().end()) {
      (this->*rule->second)();
      foldPointwise();
    }
  }
  keepComputed();
}

void ShapeRules::keepComputed() {
  for (auto &[name, elements] : known) {
    const Value *value = model.value(name);
    if (model.initialiser(name) || !value || !value->shape || !value->type.isKnown()) {
      continue;
    }
    Tensor tensor{name, value->type, {}, "", true, {}, {}};
    for (const Dim &dim : *value->shape) {
      tensor.dims.push_back(dim.size);
    }
    if (elementCount(tensor.dims) == static_cast<int64_t>(elements.size())) {
      tensor.integers = elements;
      model.computed[name] = std::move(tensor);
    }
  }
}

const Value *ShapeRules::in(size_t input) const {
  return has(input) ? model.value(node->inputs[input]) : nullptr;
}

const std::optional<Shape> &ShapeRules::shapeOf(size_t input) const {
  static const std::optional<Shape> none;
  const Value *value = in(input);
  return value ? value->shape : none;
}

ElementType ShapeRules::typeOf(size_t input) const {
  const Value *value = in(input);
  return value ? value->type : ElementType();
}

const ShapeRules::Integers *ShapeRules::knownInput(size_t input) const {
  auto found = has(input) ? known.find(node->inputs[input]) : known.end();
  return found == known.end() ? nullptr : &found->second;
}

std::optional<size_t> ShapeRules::axisOf(int64_t axis, size_t rank) {
  const auto size = static_cast<int64_t>(rank);
  if (axis < -size || axis >= size) {
    fail(fmt::format("axis {} of a tensor with {} dimensions", axis, rank));
    return std::nullopt;
  }
  return static_cast<size_t>(axis < 0 ? axis + size : axis);
}

std::optional<ShapeRules::Integers> ShapeRules::list(const std::string &attribute,
                                                     size_t input) const {
  if (const Integers *given = node->integers(attribute)) {
    return *given;
  }
  const Integers *given = knownInput(input);
  return given ? std::optional(*given) : std::nullopt;
}

bool ShapeRules::isGiven(const std::string &attribute, size_t input) const {
  return node->attributes.contains(attribute) || has(input);
}

void ShapeRules::fail(const std::string &message) {
  if (diags.all().size() < 20) {
    diags.add(nodeError("E0635", model, *node, message));
  }
}

void ShapeRules::set(size_t output, ElementType type, std::optional<Shape> shape) {
  if (output >= node->outputs.size() || node->outputs[output].empty()) {
    return;
  }
  if (shape) {
    Integers sizes;
    for (const Dim &dim : *shape) {
      sizes.push_back(dim.isSize() ? dim.size : 1);
    }
    if (!elementCount(sizes)) {
      return fail(fmt::format("the result '{}' would have the shape {}, which no tensor can have",
                              node->outputs[output], text(*shape)));
    }
  }
  Value &value = model.values[node->outputs[output]];
  value.name = node->outputs[output];
  value.type = type.isKnown() ? type : value.type;
  if (!shape) {
    return;
  }
  if (value.shape && value.shape->size() == shape->size()) {
    for (size_t i = 0; i < shape->size(); ++i) {
      const Dim &declared = (*value.shape)[i];
      Dim &found = (*shape)[i];
      if (declared.isSize() && found.isSize() && declared.size != found.size) {
        return fail(fmt::format("the model declares '{}' as {}, but its inputs make it {}",
                                value.name, text(*value.shape), text(*shape)));
      }
      found = found.isSize() || (found.isKnown() && !declared.isSize()) ? found : declared;
    }
  } else if (value.shape && !value.shape->empty() && !shape->empty()) {
    return fail(fmt::format("the model declares '{}' as {}, but its inputs make it {}", value.name,
                            text(*value.shape), text(*shape)));
  }
  value.shape = std::move(shape);
}

void ShapeRules::know(Integers elements) {
  if (!node->outputs.empty() && elements.size() <= static_cast<size_t>(mostKeptElements)) {
    known[node->outputs[0]] = std::move(elements);
  }
}

void ShapeRules::knowSizes(Shape elements) {
  Integers integers;
  bool hasNames = false;
  for (const Dim &one : elements) {
    integers.push_back(one.size);
    hasNames = hasNames || !one.symbol.empty();
  }
  if (!hasNames) {
    know(std::move(integers));
  } else if (!node->outputs.empty()) {
    knownSizes[node->outputs[0]] = std::move(elements);
  }
}

std::optional<Shape> ShapeRules::sizesIn(size_t input) const {
  if (const Integers *integers = knownInput(input)) {
    Shape sizes;
    for (int64_t one : *integers) {
      sizes.push_back({one, ""});
    }
    return sizes;
  }
  auto found = has(input) ? knownSizes.find(node->inputs[input]) : knownSizes.end();
  return found == knownSizes.end() ? std::nullopt : std::optional(found->second);
}

/// Nothing when they do not fit, which is an error; a dimension that is open stays so.
std::optional<Shape> ShapeRules::together(const Shape &a, const Shape &b) {
  Shape result(std::max(a.size(), b.size()));
  for (size_t i = 0; i < result.size(); ++i) {
    const Dim one = i < a.size() ? a[a.size() - 1 - i] : Dim{1, ""};
    const Dim other = i < b.size() ? b[b.size() - 1 - i] : Dim{1, ""};
    Dim &dim = result[result.size() - 1 - i];
    if (one.size == 1 || one == other) {
      dim = other;
    } else if (other.size == 1) {
      dim = one;
    } else if (one.isSize() && other.isSize()) {
      fail(fmt::format("shapes {} and {} do not broadcast", text(a), text(b)));
      return std::nullopt;
    } else { // an open one is either 1 or the other
      dim = one.isSize() ? one : other.isSize() ? other : Dim{};
    }
  }
  return result;
}

std::optional<Shape> ShapeRules::broadcastOf(size_t first, size_t count) {
  std::optional<Shape> result = Shape{};
  for (size_t i = first; i < first + count; ++i) {
    const auto &shape = shapeOf(i);
    if (!shape) {
      return std::nullopt;
    }
    result = together(*result, *shape);
    if (!result) {
      return std::nullopt;
    }
  }
  return result;
}

void ShapeRules::same() { set(0, typeOf(0), shapeOf(0)); }
void ShapeRules::sameBool() { set(0, ElementType::of(DType::Bool), shapeOf(0)); }
void ShapeRules::castLike() { set(0, typeOf(1), shapeOf(0)); }

void ShapeRules::cast() {
  // The oldest files name the type.
  const int64_t to = node->integer("to", 0);
  set(0, to > 0 && to < 64 ? ElementType(static_cast<int>(to)) : ElementType(), shapeOf(0));
  const bool isWhole =
      to == ElementType::of(DType::I64).code || to == ElementType::of(DType::I32).code;
  if (const auto elements = sizesIn(0); elements && isWhole) {
    knowSizes(*elements);
  }
}

void ShapeRules::dropout() {
  set(0, typeOf(0), shapeOf(0));
  set(1, ElementType::of(DType::Bool), shapeOf(0));
}

void ShapeRules::broadcastTo(ElementType type) {
  if (node->inputs.empty()) {
    return fail("expects inputs, but has none");
  }
  // In the oldest files the second is spread along a dimension of the first.
  const bool isOld = node->integer("broadcast", 0) != 0 || (node->op == "PRelu" && model.opset < 7);
  set(0, type, isOld ? shapeOf(0) : broadcastOf(0, node->inputs.size()));
}

void ShapeRules::broadcast() { broadcastTo(typeOf(0)); }
void ShapeRules::broadcastBool() { broadcastTo(ElementType::of(DType::Bool)); }
void ShapeRules::where() { broadcastTo(typeOf(1)); }

void ShapeRules::likeFirst() {
  const int64_t given = node->integer("dtype", 0);
  set(0, given > 0 && given < 64 ? ElementType(static_cast<int>(given)) : typeOf(0), shapeOf(0));
}

void ShapeRules::quantize() {
  const int64_t given = node->integer("output_dtype", 0);
  set(0,
      has(2)                    ? typeOf(2)
      : given > 0 && given < 64 ? ElementType(static_cast<int>(given))
                                : ElementType::of(DType::U8),
      shapeOf(0));
}

void ShapeRules::dequantize() { set(0, typeOf(1), shapeOf(0)); }

void ShapeRules::dynamicQuantize() {
  set(0, ElementType::of(DType::U8), shapeOf(0));
  set(1, ElementType::of(DType::F32), Shape{});
  set(2, ElementType::of(DType::U8), Shape{});
}

void ShapeRules::batchNorm() {
  set(0, typeOf(0), shapeOf(0));
  for (size_t i = 1; i < node->outputs.size(); ++i) {
    set(i, typeOf(1), shapeOf(1));
  }
}

void ShapeRules::layerNorm() {
  set(0, typeOf(0), shapeOf(0));
  if (!shapeOf(0)) {
    return;
  }
  if (auto axis = axisOf(node->integer("axis", -1), shapeOf(0)->size())) {
    Shape rows = *shapeOf(0);
    std::fill(rows.begin() + static_cast<std::ptrdiff_t>(*axis), rows.end(), Dim{1, ""});
    set(1, ElementType::of(DType::F32), rows);
    set(2, ElementType::of(DType::F32), rows);
  }
}

void ShapeRules::declared() {}

namespace {

using WholeFunction = std::function<std::optional<int64_t>(int64_t, int64_t)>;

std::optional<int64_t> truth(bool isSo) { return isSo ? 1 : 0; }

/// Of two integers; nothing where the result is none of 64 bits.
const std::map<std::string, WholeFunction> &wholeFunctions() {
  static const std::map<std::string, WholeFunction> functions = {
      {"Add",
       [](int64_t a, int64_t b) {
         int64_t r = 0;
         return __builtin_add_overflow(a, b, &r) ? std::optional<int64_t>() : r;
       }},
      {"Sub",
       [](int64_t a, int64_t b) {
         int64_t r = 0;
         return __builtin_sub_overflow(a, b, &r) ? std::optional<int64_t>() : r;
       }},
      {"Mul",
       [](int64_t a, int64_t b) {
         int64_t r = 0;
         return __builtin_mul_overflow(a, b, &r) ? std::optional<int64_t>() : r;
       }},
      {"Div",
       [](int64_t a, int64_t b) { return b == 0 || b == -1 ? std::optional<int64_t>() : a / b; }},
      {"Max", [](int64_t a, int64_t b) { return std::optional(std::max(a, b)); }},
      {"Min", [](int64_t a, int64_t b) { return std::optional(std::min(a, b)); }},
      {"Mod",
       [](int64_t a, int64_t b) { // of the divisor's sign
         const bool isKnown = b != 0 && b != -1;
         const int64_t left = isKnown ? a % b : 0;
         const int64_t moved = left != 0 && (left < 0) != (b < 0) ? left + b : left;
         return isKnown ? std::optional(moved) : std::nullopt;
       }},
      {"And", [](int64_t a, int64_t b) { return truth(a != 0 && b != 0); }},
      {"Or", [](int64_t a, int64_t b) { return truth(a != 0 || b != 0); }},
      {"Equal", [](int64_t a, int64_t b) { return truth(a == b); }},
      {"Greater", [](int64_t a, int64_t b) { return truth(a > b); }},
      {"GreaterOrEqual", [](int64_t a, int64_t b) { return truth(a >= b); }},
      {"Less", [](int64_t a, int64_t b) { return truth(a < b); }},
      {"LessOrEqual", [](int64_t a, int64_t b) { return truth(a <= b); }}};
  return functions;
}

} // namespace

void ShapeRules::foldPointwise() {
  if (node->op == "Identity" && sizesIn(0)) {
    return knowSizes(*sizesIn(0));
  }
  if (node->op == "Where" && knownInput(0) && knownInput(1) && knownInput(2)) {
    const Integers &first = *knownInput(0), &a = *knownInput(1), &b = *knownInput(2);
    const size_t count = std::max({first.size(), a.size(), b.size()});
    auto fits = [&](const Integers &one) { return one.size() == count || one.size() == 1; };
    if (fits(first) && fits(a) && fits(b)) {
      Integers result;
      for (size_t i = 0; i < count; ++i) {
        const Integers &chosen = first[first.size() == 1 ? 0 : i] != 0 ? a : b;
        result.push_back(chosen[chosen.size() == 1 ? 0 : i]);
      }
      know(std::move(result));
    }
    return;
  }
  if (node->op == "Not" && knownInput(0)) {
    Integers result;
    for (int64_t one : *knownInput(0)) {
      result.push_back(one == 0 ? 1 : 0);
    }
    return know(std::move(result));
  }
  if (node->integer("fmod", 0) != 0) {
    return; // the remainder of the other sign
  }
  auto function = wholeFunctions().find(node->op);
  const Integers *a = knownInput(0), *b = knownInput(1);
  if (function == wholeFunctions().end() || !a || !b || node->inputs.size() != 2) {
    return;
  }
  const size_t count = std::max(a->size(), b->size());
  if (a->empty() || b->empty() || (a->size() != b->size() && a->size() != 1 && b->size() != 1)) {
    return;
  }
  Integers result;
  for (size_t i = 0; i < count; ++i) {
    auto element = function->second((*a)[a->size() == 1 ? 0 : i], (*b)[b->size() == 1 ? 0 : i]);
    if (!element) {
      return;
    }
    result.push_back(*element);
  }
  know(std::move(result));
}

namespace {

/// Every dimension of the model's values, with the value that has it.
template <class F> void eachDim(Model &model, F visit) {
  auto visitShape = [&](Value &value) {
    for (size_t i = 0; value.shape && i < value.shape->size(); ++i) {
      visit((*value.shape)[i]);
    }
  };
  for (auto &[name, value] : model.values) {
    visitShape(value);
  }
  for (Value &value : model.inputs) {
    visitShape(value);
  }
}

} // namespace

Status bindSizes(Model &model, const std::map<std::string, int64_t> &sizes) {
  // Dimensions of inputs that have no name get one: the input's with the dimension's number.
  for (Value &input : model.inputs) {
    for (size_t i = 0; input.shape && i < input.shape->size(); ++i) {
      Dim &dim = (*input.shape)[i];
      if (!dim.isKnown()) {
        dim.symbol = fmt::format("{}.{}", input.name, i);
        (*model.values[input.name].shape)[i] = dim;
      }
    }
  }
  std::set<std::string> symbols;
  eachDim(model, [&](Dim &dim) {
    if (!dim.symbol.empty()) {
      symbols.insert(dim.symbol);
    }
  });
  for (const auto &[name, size] : sizes) {
    if (!symbols.contains(name)) {
      auto error =
          makeError("E0634", fmt::format("no dimension of the model is called '{}'", name));
      error.file = model.path;
      const std::vector<std::string> all(symbols.begin(), symbols.end());
      auto near = nearestNames(name, all);
      return error.withHelp(near.empty() ? "all its sizes are numbers: leave --size out"
                                         : fmt::format("nearest names: {}", fmt::join(near, ", ")));
    }
  }
  eachDim(model, [&](Dim &dim) {
    if (auto found = sizes.find(dim.symbol); found != sizes.end()) {
      dim = {found->second, ""};
    }
  });
  return Done{};
}

std::optional<Diagnostic> findOpenSize(const Model &model) {
  std::set<std::string> open;
  std::string first;
  for (const Value &input : model.inputs) {
    if (!input.shape) {
      auto error =
          makeError("E0634", fmt::format("the input '{}' has no shape in the model", input.name));
      error.file = model.path;
      return error.withHelp("export the model with the shapes of its inputs");
    }
    for (const Dim &dim : *input.shape) {
      if (!dim.isSize()) {
        first = first.empty() ? fmt::format("'{}' is {}", input.name, text(*input.shape)) : first;
        open.insert(dim.symbol);
      }
    }
  }
  if (open.empty()) {
    return std::nullopt;
  }
  std::string options;
  for (const std::string &name : open) {
    options += fmt::format(" --size {}=…", name);
  }
  auto error = makeError("E0634", fmt::format("the model leaves sizes open: {}", first));
  error.file = model.path;
  return error.withHelp("give them:" + options);
}

void inferShapes(Model &model, Diagnostics &diags) { ShapeRules(model, diags).run(); }

} // namespace nereid::importer
