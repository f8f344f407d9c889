// SPDX-License-Identifier: Apache-2.0
// Tensors of sizes and numbers: each becomes an arange or a full (operations/indices/Creation.h)
// and arithmetic on them.
#include "lib/definition/reader/creation/BodyCreation.h"

#include "lib/definition/operations/Promotion.h"
#include "lib/definition/operations/SizeExpression.h"
#include "lib/definition/operations/indices/Creation.h"
#include "lib/definition/reader/moves/BodyMoves.h"
#include "lib/definition/reader/sequences/BodySequences.h"
#include "lib/language/syntax/Parser.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <cmath>

namespace nereid::definition {

using language::Expr;
using language::ExprKind;

namespace {

bool isAmong(const std::vector<std::string> &names, const std::string &name) {
  return std::find(names.begin(), names.end(), name) != names.end();
}

/// What PyTorch calls a type; "" when it has none of that name.
std::string typeNamed(const std::string &name) {
  static const std::map<std::string, std::string> others = {
      {"float", "float32"}, {"half", "float16"}, {"double", "float64"},
      {"long", "int64"},    {"int", "int32"},    {"short", "int16"}};
  auto found = others.find(name);
  const std::string full = found == others.end() ? name : found->second;
  const std::optional<DType> type = parseDType(full);
  return type && sizeInBytes(*type) > 0 && torchName(*type) == full ? full : "";
}

bool isOfIntegers(const std::string &dtype) {
  const std::optional<DType> type = parseDType(dtype);
  return type && !isFloat(*type) && *type != DType::Bool;
}

} // namespace

const std::vector<std::string> &BodyCreation::functionNames() {
  static const std::vector<std::string> names = [] {
    std::vector<std::string> list = {"arange",     "full",      "zeros",    "ones",
                                     "new_full",   "new_zeros", "new_ones", "full_like",
                                     "zeros_like", "ones_like", "eye",      "scalar_tensor",
                                     "linspace",   "one_hot",   "tensor"};
    list.insert(list.end(), randomNames().begin(), randomNames().end());
    return list;
  }();
  return names;
}

bool BodyCreation::isFunction(const std::string &name) { return isAmong(functionNames(), name); }

std::optional<int> BodyCreation::call(const Call &call) {
  whole = &call;
  const std::string &name = call.function;
  if (isAmong(randomNames(), name)) {
    return random();
  }
  std::vector<std::string> known = {"dtype", "device"};
  if (name == "arange") {
    known.insert(known.end(), {"start", "end", "step"});
  } else if (name == "linspace") {
    known.insert(known.end(), {"start", "end", "steps"});
  } else if (name == "eye") {
    known.insert(known.end(), {"n", "m"});
  } else if (name == "scalar_tensor" || name == "tensor") {
    known.emplace_back(name == "tensor" ? "data" : "s");
  } else if (name == "one_hot") {
    known = {"input", "num_classes"};
  } else {
    known.emplace_back(name.ends_with("_like") ? "input" : "size");
    if (name.find("full") != std::string::npos) {
      known.emplace_back("fill_value");
    }
  }
  if (!takeApart(call, known)) {
    return std::nullopt;
  }
  return name == "arange"          ? aranged()
         : name == "linspace"      ? spaced()
         : name == "eye"           ? eye()
         : name == "scalar_tensor" ? scalar()
         : name == "tensor"        ? literal()
         : name == "one_hot"       ? oneHot()
         : name.ends_with("_like") ? filledLike()
                                   : filled();
}

bool BodyCreation::takeApart(const Call &call, const std::vector<std::string> &known) {
  given = call.positional;
  for (const language::Keyword &each : call.whole->keywords) {
    const Expr *value = each.value->kind == ExprKind::Attribute // whose rank may be open
                            ? each.value.get()
                            : BodySequences(body).opened(each.value.get());
    if (!value) {
      return false;
    }
    if (!isAmong(known, each.name) || !keywords.emplace(each.name, value).second) {
      fail("E0608", each.range,
           keywords.contains(each.name)
               ? fmt::format("argument '{}' of '{}' is given twice", each.name, call.function)
               : fmt::format("'{}' has no argument '{}'", call.function, each.name))
          .withHelp(fmt::format("its keyword arguments are {}", fmt::join(known, ", ")));
      return false;
    }
  }
  return true;
}

const Expr *BodyCreation::keyword(const std::string &name) const {
  auto found = keywords.find(name);
  return found == keywords.end() ? nullptr : body.resolved(found->second);
}

const Expr *BodyCreation::needed(size_t place, const std::string &name) {
  const Expr *value = positional(place) ? positional(place) : keyword(name);
  if (!value) {
    fail("E0608", whole->whole->range,
         fmt::format("'{}' expects the argument '{}'", whole->function, name));
  }
  return value;
}

// ---- nodes ----

std::optional<int> BodyCreation::arangeNode(const SymbolicShape &shape, const std::string &dtype) {
  return body.append(creationNode("arange", shape, dtype), whole->whole->range);
}

std::optional<int> BodyCreation::fullNode(const SymbolicShape &shape, int value,
                                          const std::string &dtype) {
  Node node = creationNode("full", shape, dtype);
  node.inputs = {value};
  return body.append(std::move(node), whole->whole->range);
}

std::optional<int> BodyCreation::typed(double value, const std::string &dtype) {
  const auto integer = static_cast<int64_t>(value);
  const int number = static_cast<double>(integer) == value
                         ? body.integerConstant(integer, fmt::format("{}", integer))
                         : body.constant(value, fmt::format("{}", value));
  return fullNode({}, number, dtype);
}

// ---- arguments ----

std::optional<int> BodyCreation::readNumber(const Expr &expr) {
  if (expr.kind == ExprKind::Bool) {
    return body.integerConstant(expr.integer, expr.integer != 0 ? "True" : "False");
  }
  const std::optional<int> number = body.read(expr);
  if (number && !isNumber(at(*number))) {
    fail("E0608", expr.range,
         fmt::format("'{}' expects a number, but got a tensor", whole->function))
        .withHelp("numbers are literals, sizes and number inputs; tensors are added and multiplied "
                  "to what is made");
    return std::nullopt;
  }
  return number;
}

std::optional<SizePolynomial> BodyCreation::readSize(const Expr &expr) {
  BodyMoves moves(body);
  const std::optional<SizePolynomial> size = moves.readSize(expr);
  if (size) {
    const int before = body.errorCount();
    moves.expectNotNegative(
        *size, fmt::format("'{}' expects a size of at least 0", whole->function), expr.range);
    return body.errorCount() > before ? std::nullopt : size;
  }
  return size;
}

std::optional<SymbolicShape> BodyCreation::readShape(std::vector<const Expr *> sizes) {
  if (sizes.size() == 1 && sizes[0]->kind == ExprKind::Attribute && sizes[0]->text == "shape") {
    const std::optional<int> tensor = body.read(*sizes[0]->operands[0]);
    return tensor ? std::optional(at(*tensor).shape) : std::nullopt;
  }
  const bool isList =
      sizes.size() == 1 && (sizes[0]->kind == ExprKind::Tuple || sizes[0]->kind == ExprKind::List);
  if (isList) {
    const Expr &list = *sizes[0];
    sizes.clear();
    for (const auto &entry : list.operands) {
      sizes.push_back(entry.get());
    }
  }
  SymbolicShape shape;
  for (const Expr *each : sizes) {
    const std::optional<SizePolynomial> size = readSize(*each);
    if (!size) {
      return std::nullopt;
    }
    shape.push_back(size->dim());
  }
  return shape;
}

std::optional<std::string> BodyCreation::dtypeOf(int tensor, SourceRange range) {
  bool isOperators = true, isOne = true;
  for (size_t i = 0; i < body.types.size(); ++i) {
    const DType type = body.types[i][static_cast<size_t>(tensor)];
    isOperators = isOperators && type == body.dtypes[i];
    isOne = isOne && type == body.types[0][static_cast<size_t>(tensor)];
  }
  if (isOperators && body.types.size() > 1) {
    return "operator";
  }
  if (isOne) {
    return std::string(torchName(body.types[0][static_cast<size_t>(tensor)]));
  }
  fail("E0608", range,
       "the type of this tensor is neither the operator's nor the same in all of them")
      .withHelp("name a type, such as dtype=torch.float32");
  return std::nullopt;
}

std::optional<std::string> BodyCreation::readDtype(const std::string &otherwise) {
  const Expr *value = keyword("dtype");
  if (!value) {
    return otherwise;
  }
  if (value->kind == ExprKind::Attribute && value->text == "dtype") {
    const std::optional<int> tensor = body.read(*value->operands[0]);
    return tensor ? dtypeOf(*tensor, value->range) : std::nullopt;
  }
  const bool isOfTorch = value->kind == ExprKind::Attribute &&
                         value->operands[0]->kind == ExprKind::Name &&
                         value->operands[0]->text == "torch";
  const std::string name = isOfTorch ? typeNamed(value->text) : "";
  if (name.empty()) {
    fail("E0608", value->range,
         fmt::format("'dtype' expects a type, but got '{}'", body.sourceText(value->range)))
        .withHelp("write dtype=x.dtype, or one of torch.float32, torch.float16, torch.bfloat16, "
                  "torch.float64, torch.int8 to torch.int64, torch.uint8 and torch.bool");
    return std::nullopt;
  }
  return name;
}

// ---- functions ----

/// start + i * step, for as long as that lies before `end`.
std::optional<int> BodyCreation::aranged() {
  const SourceRange range = whole->whole->range;
  const size_t count = given.size();
  const Expr *start = count > 1 ? given[0] : keyword("start");
  const Expr *end = count > 1 ? given[1] : count == 1 ? given[0] : keyword("end");
  const Expr *step = count > 2 ? given[2] : keyword("step");
  if (!end || count > 3) {
    fail("E0608", range, "'arange' expects an end, or start, end and step");
    return std::nullopt;
  }
  const std::optional<int> first =
      start ? readNumber(*start) : std::optional(body.integerConstant(0, "0"));
  const std::optional<int> last = readNumber(*end);
  const std::optional<int> by =
      step ? readNumber(*step) : std::optional(body.integerConstant(1, "1"));
  if (!first || !last || !by) {
    return std::nullopt;
  }
  const bool isWhole = operandKind(at(*first)) == OperandKind::Whole &&
                       operandKind(at(*last)) == OperandKind::Whole &&
                       operandKind(at(*by)) == OperandKind::Whole;
  const auto dtype = readDtype(isWhole ? "int64" : "default");
  if (!dtype) {
    return std::nullopt;
  }
  const double stepValue = at(*by).op == "constant" ? constantValue(at(*by)) : 0;
  if (stepValue == 0 || !std::isfinite(stepValue)) {
    fail("E0608", step ? step->range : range,
         "the step of 'arange' expects a literal number that is not 0")
        .withHelp("multiply: torch.arange(N) * step");
    return std::nullopt;
  }
  SizePolynomial length;
  if (isWhole) {
    auto sizeOf = [&](const Node &number) {
      const bool isKnown = number.op == "constant" || (isSize(number) && !hasNumberInputs(number));
      return isKnown ? sizePolynomial(sizeText(number)) : std::nullopt;
    };
    const auto from = sizeOf(at(*first)), to = sizeOf(at(*last));
    if (!from || !to) {
      fail("E0608", range, "'arange' expects ends made of sizes and numbers")
          .withHelp("a number input cannot decide a shape; add it: torch.arange(N) + start");
      return std::nullopt;
    }
    const auto stride = static_cast<int64_t>(stepValue);
    const SizePolynomial way = stride > 0 ? *to - *from : *from - *to;
    const int64_t width = std::abs(stride);
    length = width == 1 ? way : (way + (width - 1)).floorDivide(width);
    if (way.constant()) {
      length = std::max<int64_t>(0, *length.constant());
    }
    const int before = body.errorCount();
    BodyMoves(body).expectNotNegative(way, "'arange' expects an end that is not before its start",
                                      range);
    if (!way.constant() && body.errorCount() > before) {
      return std::nullopt;
    }
  } else {
    if (at(*first).op != "constant" || at(*last).op != "constant") {
      fail("E0608", range, "'arange' of fractions expects literal ends")
          .withHelp("multiply: torch.arange(N) * 0.5");
      return std::nullopt;
    }
    const double count =
        std::ceil((constantValue(at(*last)) - constantValue(at(*first))) / stepValue);
    length = static_cast<int64_t>(std::clamp(count, 0.0, 1e15));
  }
  const bool isOfInt = isOfIntegers(*dtype);
  std::optional<int> index = arangeNode({length.dim()}, isOfInt ? *dtype : "int64");
  if (index && !isOfInt) {
    const auto one = typed(1, *dtype);
    index = one ? body.apply("mul", {*index, *one}, range) : std::nullopt;
  }
  if (index && stepValue != 1) {
    index = body.apply("mul", {*index, *by}, range);
  }
  const bool isZero = at(*first).op == "constant" && constantValue(at(*first)) == 0;
  return index && !isZero ? body.apply("add", {*index, *first}, range) : index;
}

std::optional<int> BodyCreation::filledLike() {
  const std::string &name = whole->function;
  const bool isFull = name == "full_like";
  const Expr *tensor = whole->receiver ? whole->receiver : needed(0, "input");
  const Expr *fill = isFull && tensor ? needed(keyword("input") ? 0 : 1, "fill_value") : nullptr;
  const std::optional<int> like = tensor ? body.read(*tensor) : std::nullopt;
  if (!like || (isFull && !fill)) {
    return std::nullopt;
  }
  const size_t most = (keyword("input") ? 0 : 1) + (isFull && !keyword("fill_value") ? 1 : 0);
  if (isNumber(at(*like)) || given.size() > most) {
    fail("E0608", whole->whole->range,
         fmt::format("'{}' expects a tensor{}", name, isFull ? " and a number" : ""))
        .withHelp(fmt::format("write torch.{}(x{})", name, isFull ? ", 0.5" : ""));
    return std::nullopt;
  }
  const bool isOne = name == "ones_like";
  const std::optional<int> number =
      isFull ? readNumber(*fill)
             : std::optional(body.integerConstant(isOne ? 1 : 0, isOne ? "1" : "0"));
  const auto own = keyword("dtype") ? std::optional<std::string>("default")
                                    : dtypeOf(*like, whole->whole->range);
  const auto dtype = own ? readDtype(*own) : std::nullopt;
  if (!number || !dtype || !holds(*dtype, *number, fill)) {
    return std::nullopt;
  }
  return fullNode(at(*like).shape, *number, *dtype);
}

bool BodyCreation::holds(const std::string &dtype, int number, const Expr *value) {
  const std::optional<DType> type = parseDType(dtype);
  if (type && !isFloat(*type) && operandKind(at(number)) == OperandKind::Fraction) {
    fail("E0608", value->range,
         fmt::format("'{}' of {} expects a value without a fraction", whole->function, dtype));
    return false;
  }
  return true;
}

std::optional<int> BodyCreation::filled() {
  const std::string &name = whole->function;
  const bool isNew = name.starts_with("new_"), isFull = name.ends_with("full");
  const SourceRange range = whole->whole->range;
  std::string otherwise;
  if (isNew) {
    const bool isMethod = whole->receiver != nullptr;
    const Expr *tensor = isMethod ? whole->receiver : positional(0);
    const std::optional<int> like = tensor ? body.read(*tensor) : std::nullopt;
    const auto type = like ? dtypeOf(*like, range) : std::nullopt;
    if (!type) {
      return std::nullopt;
    }
    otherwise = *type;
    given.erase(given.begin(), given.begin() + (isMethod ? 0 : 1));
  }
  const Expr *value = keyword("fill_value");
  if (isFull && !value && given.size() + (keyword("size") ? 1 : 0) > 1) {
    value = given.back();
    given.pop_back();
  }
  if (const Expr *size = keyword("size")) {
    given = {size};
  }
  if ((isFull && (!value || given.size() != 1)) || given.empty()) {
    fail("E0608", range,
         fmt::format("'{}' expects {}", name, isFull ? "a size and a value" : "sizes"))
        .withHelp(isFull ? "write torch.full((M, N), 0.5)" : "write torch.zeros(M, N)");
    return std::nullopt;
  }
  std::optional<int> number =
      isFull ? readNumber(*value)
             : std::optional(body.integerConstant(name.ends_with("ones") ? 1 : 0,
                                                  name.ends_with("ones") ? "1" : "0"));
  if (!number) {
    return std::nullopt;
  }
  if (!isNew) {
    const bool isBool = isFull && value->kind == ExprKind::Bool;
    const bool isWhole = isFull && operandKind(at(*number)) == OperandKind::Whole;
    otherwise = isBool ? "bool" : isWhole ? "int64" : "default";
  }
  const auto shape = readShape(given);
  const auto dtype = readDtype(otherwise);
  if (!shape || !dtype) {
    return std::nullopt;
  }
  return holds(*dtype, *number, value) ? fullNode(*shape, *number, *dtype) : std::nullopt;
}

std::optional<int> BodyCreation::scalar() {
  const Expr *value = needed(0, "s");
  const std::optional<int> number = value ? readNumber(*value) : std::nullopt;
  const auto dtype = readDtype("default");
  return number && dtype ? fullNode({}, *number, *dtype) : std::nullopt;
}

/// torch.tensor(0.5), torch.tensor([0.485, 0.456, 0.406]): integers make int64.
std::optional<int> BodyCreation::literal() {
  const Expr *data = needed(0, "data");
  if (!data) {
    return std::nullopt;
  }
  const bool isList = data->kind == ExprKind::Tuple || data->kind == ExprKind::List;
  std::vector<int> numbers;
  bool areWhole = true;
  for (size_t i = 0; i < (isList ? data->operands.size() : 1); ++i) {
    const std::optional<int> number = readNumber(isList ? *data->operands[i] : *data);
    if (!number) {
      return std::nullopt;
    }
    areWhole = areWhole && operandKind(at(*number)) == OperandKind::Whole;
    numbers.push_back(*number);
  }
  if (numbers.empty()) {
    fail("E0608", data->range, "'tensor' expects numbers");
    return std::nullopt;
  }
  const auto dtype = readDtype(areWhole ? "int64" : "default");
  std::vector<int> entries;
  for (int number : dtype ? numbers : std::vector<int>()) {
    const std::optional<int> entry =
        fullNode(isList ? SymbolicShape{Dim{"", 1}} : SymbolicShape(), number, *dtype);
    if (!entry) {
      return std::nullopt;
    }
    entries.push_back(*entry);
  }
  return entries.empty() ? std::nullopt : BodyMoves(body).joined(entries, -1, whole->whole->range);
}

std::optional<int> BodyCreation::eye() {
  const Expr *n = needed(0, "n"), *m = positional(1) ? positional(1) : keyword("m");
  const std::optional<SizePolynomial> rows = n ? readSize(*n) : std::nullopt;
  const std::optional<SizePolynomial> columns = m ? readSize(*m) : rows;
  const auto dtype = readDtype("default");
  if (!rows || !columns || !dtype) {
    return std::nullopt;
  }
  const auto down = arangeNode({rows->dim()}, "int64"),
             along = arangeNode({columns->dim()}, "int64");
  const auto one = typed(1, *dtype), zero = typed(0, *dtype);
  if (!down || !along || !one || !zero) {
    return std::nullopt;
  }
  return body.writtenOut(*whole, "out = torch.where(torch.unsqueeze(down, -1) == along, one, zero)",
                         {{"down", *down}, {"along", *along}, {"one", *one}, {"zero", *zero}});
}

/// Counted from the nearer end, so that the last number is `end`, as PyTorch does.
std::optional<int> BodyCreation::spaced() {
  const Expr *start = needed(0, "start"), *end = start ? needed(1, "end") : nullptr;
  const Expr *steps = end ? needed(2, "steps") : nullptr;
  if (!steps) {
    return std::nullopt;
  }
  const std::optional<int> from = readNumber(*start), to = readNumber(*end);
  const std::optional<SizePolynomial> count = readSize(*steps);
  const auto dtype = readDtype("default");
  if (!from || !to || !count || !dtype) {
    return std::nullopt;
  }
  if (isOfIntegers(*dtype) || *dtype == "bool") {
    fail("E0608", whole->whole->range, "'linspace' expects a type of floats");
    return std::nullopt;
  }
  const auto index = arangeNode({count->dim()}, "int64");
  const auto one = typed(1, *dtype), first = fullNode({}, *from, *dtype),
             last = fullNode({}, *to, *dtype);
  if (!index || !one || !first || !last) {
    return std::nullopt;
  }
  const std::string size = count->text();
  const std::string half = count->constant() ? std::to_string((*count->constant() + 1) / 2)
                                             : fmt::format("(({}) + 1) // 2", size);
  // Of one number there is no step: it is 0 / 1, and only the start is taken.
  const std::string gaps = count->constant()
                               ? std::to_string(std::max<int64_t>(1, *count->constant() - 1))
                               : fmt::format("(({}) - 1)", size);
  return body.writtenOut(
      *whole,
      fmt::format("step = (last - first) / {0}\n"
                  "before = first + index * one * step\n"
                  "behind = last - ({0} - index) * one * step\n"
                  "out = torch.where(index < {1}, torch.where(index == 0, first, "
                  "before), behind)",
                  gaps, half),
      {{"index", *index}, {"one", *one}, {"first", *first}, {"last", *last}});
}

std::optional<int> BodyCreation::oneHot() {
  if (whole->receiver) {
    given.insert(given.begin(), whole->receiver);
  }
  const Expr *input = needed(0, "input"), *classes = input ? needed(1, "num_classes") : nullptr;
  const std::optional<int> index = input ? body.read(*input) : std::nullopt;
  const std::optional<SizePolynomial> count = classes ? readSize(*classes) : std::nullopt;
  if (!index || !count) {
    return std::nullopt;
  }
  if (!body.isAlways(*index, [](DType type) { return type == DType::I64; })) {
    fail("E0608", input->range, "'one_hot' expects class numbers of type int64");
    return std::nullopt;
  }
  const auto numbers = arangeNode({count->dim()}, "int64");
  const auto one = typed(1, "int64"), zero = typed(0, "int64");
  return numbers && one && zero
             ? body.writtenOut(
                   *whole, "out = torch.where(torch.unsqueeze(input, -1) == numbers, one, zero)",
                   {{"input", *index}, {"numbers", *numbers}, {"one", *one}, {"zero", *zero}})
             : std::nullopt;
}

} // namespace nereid::definition
