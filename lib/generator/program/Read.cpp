// SPDX-License-Identifier: Apache-2.0
// Programs from text, see Program.h: what Print.cpp writes and people edit.
#include "lib/generator/program/Monoids.h"
#include "lib/generator/program/Program.h"
#include "lib/generator/program/Types.h"

#include "lib/language/syntax/Parser.h"

#include <fmt/format.h>

#include <algorithm>

namespace nereid::generator {
namespace {

using language::Expr;
using language::ExprKind;
using language::Stmt;
using language::StmtKind;

const std::map<std::string, std::string> infix = {
    {"+", "add"}, {"-", "sub"}, {"*", "mul"}, {"/", "div"}, {"<", "lt"},
    {"<=", "le"}, {">", "gt"},  {">=", "ge"}, {"==", "eq"}, {"!=", "ne"}};

/// Thrown inside of this file alone, so that expressions can be read as values.
struct Complaint {
  SourceRange range;
  std::string message;
};

[[noreturn]] void refuse(const Expr &at, std::string message) {
  throw Complaint{at.range, std::move(message)};
}

class Reader {
public:
  Program run(const std::vector<language::StmtPtr> &statements) {
    for (const language::StmtPtr &statement : statements) {
      read(*statement);
    }
    return std::move(program);
  }

private:
  // ---- statements ----

  void read(const Stmt &statement) {
    if (statement.kind == StmtKind::ExprStmt && isCall(*statement.value)) {
      call(*statement.value);
    } else if (statement.kind == StmtKind::Assign && statement.targets.size() == 1) {
      const Expr &target = *statement.targets[0], &value = *statement.value;
      if (target.kind == ExprKind::Subscript) {
        stores(target).push_back(store(target, readValue(value)));
      } else if (target.kind == ExprKind::Name) {
        define(target, value);
      } else {
        refuse(target, "expects a name or an element of a buffer");
      }
    } else {
      throw Complaint{statement.range, "expects a declaration, a stage or a store"};
    }
  }

  void call(const Expr &call) {
    const std::string &name = callee(call);
    if (name == "stage") {
      program.stages.push_back({string(argument(call, 0)), {}});
    } else if (name == "fact") {
      program.space.symbols.assume(polynomial(argument(call, 0)));
    } else if (name == "store") {
      Store made = store(argument(call, 0), readValue(argument(call, 1)));
      if (const Expr *monoid = keyword(call, "monoid")) {
        made.monoid = string(*monoid);
      }
      if (const Expr *guard = keyword(call, "guard")) {
        made.guard = readValue(*guard);
      }
      stores(call).push_back(std::move(made));
    } else if (name == "alias") {
      program.aliases.push_back({buffer(argument(call, 0)), buffer(argument(call, 1))});
    } else if (name == "host_read") {
      program.hostReads.push_back({buffer(argument(call, 0))});
    } else {
      refuse(call,
             fmt::format("expects stage, fact, store, alias or host_read, but got '{}'", name));
    }
  }

  std::vector<Store> &stores(const Expr &at) {
    if (program.stages.empty()) {
      refuse(at, "expects stage(\"…\") before the first store");
    }
    return program.stages.back().stores;
  }

  Store store(const Expr &target, const Node *value) {
    if (target.kind != ExprKind::Subscript) {
      refuse(target, "expects an element of a buffer");
    }
    Store result;
    result.buffer = buffer(*target.operands[0]);
    result.index = indices(*target.operands[1]);
    result.value = value;
    return result;
  }

  void define(const Expr &target, const Expr &value) {
    const std::string &name = target.text;
    if (program.find(name) || program.space.iterators.find(name) ||
        program.space.symbols.find(name) || values.contains(name) || quotients.contains(name)) {
      refuse(target, fmt::format("'{}' is defined twice", name));
    }
    const std::string kind = isCall(value) ? callee(value) : "";
    if (kind == "size") {
      defineSize(name, value);
    } else if (kind == "quotient") {
      Polynomial dividend = polynomial(argument(value, 0)),
                 divisor = polynomial(argument(value, 1));
      if (!program.space.symbols.isPositive(divisor)) {
        refuse(value, "expects a divisor that is positive");
      }
      quotients[name] = program.space.symbols.addQuotient(dividend, divisor, name);
    } else if (kind == "iterator") {
      program.space.iterators.add(polynomial(argument(value, 0)), name);
    } else if (kind == "view") {
      BufferId base = buffer(argument(value, 0));
      Buffer made = program.buffers[program.baseOf(base)];
      made.name = name;
      made.base = program.baseOf(base);
      readShape(value, made);
      program.add(std::move(made));
    } else if (auto role = roles().find(kind); role != roles().end()) {
      Buffer made;
      made.name = name;
      made.role = role->second;
      made.dtype = dtype(argument(value, 0));
      readShape(value, made);
      program.add(std::move(made));
    } else {
      values[name] = readValue(value);
    }
  }

  static const std::map<std::string, BufferRole> &roles() {
    static const std::map<std::string, BufferRole> table = {{"input", BufferRole::Input},
                                                            {"output", BufferRole::Output},
                                                            {"inout", BufferRole::InOut},
                                                            {"temporary", BufferRole::Temporary}};
    return table;
  }

  void defineSize(const std::string &name, const Expr &call) {
    Symbol symbol;
    symbol.name = name;
    if (const Expr *low = keyword(call, "low")) {
      symbol.low = integer(*low);
    }
    if (const Expr *high = keyword(call, "high")) {
      symbol.high = integer(*high);
    }
    if (const Expr *multiple = keyword(call, "multiple")) {
      symbol.divisor = integer(*multiple);
    }
    if (symbol.divisor < 1 || (symbol.high && *symbol.high < symbol.low)) {
      refuse(call, "expects low <= high and a positive multiple");
    }
    program.space.symbols.add(std::move(symbol));
  }

  void readShape(const Expr &call, Buffer &made) {
    made.sizes = polynomials(argument(call, 1));
    const Expr *strides = keyword(call, "strides");
    made.strides = strides ? polynomials(*strides) : contiguousStrides(made.sizes);
    if (const Expr *offset = keyword(call, "offset")) {
      made.offset = polynomial(*offset);
    }
    if (made.strides.size() != made.sizes.size()) {
      refuse(call, fmt::format("expects as many strides as sizes, but got {} and {}",
                               made.strides.size(), made.sizes.size()));
    }
  }

  // ---- parts of expressions ----

  static bool isCall(const Expr &e) {
    return e.kind == ExprKind::Call && e.operands[0]->kind == ExprKind::Name;
  }
  static const std::string &callee(const Expr &call) { return call.operands[0]->text; }
  static const Expr &argument(const Expr &call, size_t number) {
    if (call.operands.size() < number + 2) {
      refuse(call, fmt::format("expects an argument number {}", number + 1));
    }
    return *call.operands[number + 1];
  }
  static const Expr *keyword(const Expr &call, const std::string &name) {
    auto found = std::find_if(call.keywords.begin(), call.keywords.end(),
                              [&](const auto &each) { return each.name == name; });
    return found == call.keywords.end() ? nullptr : found->value.get();
  }
  static bool isSet(const Expr &call, const std::string &name, bool otherwise) {
    const Expr *value = keyword(call, name);
    return value ? value->integer != 0 : otherwise;
  }
  static std::string string(const Expr &e) {
    if (e.kind != ExprKind::String) {
      refuse(e, "expects a string");
    }
    return e.text;
  }
  static DType dtype(const Expr &e) {
    std::optional<DType> type = parseDType(e.text);
    if (e.kind != ExprKind::Name || !type) {
      refuse(e, "expects an element type, such as fp32");
    }
    return *type;
  }
  BufferId buffer(const Expr &e) const {
    std::optional<BufferId> id = program.find(e.text);
    if (e.kind != ExprKind::Name || !id) {
      refuse(e, "expects the name of a buffer");
    }
    return *id;
  }
  IteratorId iterator(const Expr &e) const {
    std::optional<IteratorId> id = program.space.iterators.find(e.text);
    if (e.kind != ExprKind::Name || !id) {
      refuse(e, "expects the name of an iterator");
    }
    return *id;
  }
  static std::vector<const Expr *> elements(const Expr &e) {
    std::vector<const Expr *> result;
    if (e.kind == ExprKind::Tuple || e.kind == ExprKind::List) {
      for (const language::ExprPtr &each : e.operands) {
        result.push_back(each.get());
      }
    } else {
      result.push_back(&e);
    }
    return result;
  }

  int64_t integer(const Expr &e) {
    std::optional<int64_t> value = polynomial(e).constant();
    if (!value) {
      refuse(e, "expects a number");
    }
    return *value;
  }
  Polynomial polynomial(const Expr &e) {
    Affine value = affine(e);
    if (!value.isConstant()) {
      refuse(e, "expects a polynomial in sizes");
    }
    return value.constant();
  }
  std::vector<Polynomial> polynomials(const Expr &e) {
    std::vector<Polynomial> result;
    for (const Expr *each : elements(e)) {
      result.push_back(polynomial(*each));
    }
    return result;
  }
  std::vector<Affine> indices(const Expr &e) {
    std::vector<Affine> result;
    for (const Expr *each : elements(e)) {
      result.push_back(affine(*each));
    }
    return result;
  }

  Affine affine(const Expr &e) {
    if (e.kind == ExprKind::Integer) {
      return e.integer;
    }
    if (e.kind == ExprKind::Name) {
      if (auto id = program.space.iterators.find(e.text)) {
        return Affine::iterator(*id);
      }
      if (auto size = program.space.symbols.find(e.text)) {
        return *size;
      }
      if (auto found = quotients.find(e.text); found != quotients.end()) {
        return found->second;
      }
      refuse(e, fmt::format("'{}' is neither an iterator nor a size", e.text));
    }
    if (e.kind == ExprKind::Unary && e.text == "-") {
      return affine(*e.operands[0]) * -1;
    }
    if (isCall(e) && callee(e) == "data") {
      return Affine::data(readValue(argument(e, 0)), polynomial(argument(e, 1)));
    }
    if (e.kind != ExprKind::Binary) {
      refuse(e, "expects an index expression");
    }
    Affine a = affine(*e.operands[0]), b = affine(*e.operands[1]);
    if (e.text == "+" || e.text == "-") {
      return e.text == "+" ? a + b : a - b;
    }
    if (e.text == "*" && (a.isConstant() || b.isConstant())) {
      return b.isConstant() ? a * b.constant() : b * a.constant();
    }
    if (e.text == "/" && a.isConstant() && b.isConstant()) {
      if (auto exact = a.constant().dividedBy(b.constant())) {
        return *exact;
      }
      refuse(e, "expects a size that is divisible");
    }
    bool isDivision = e.text == "//" || e.text == "%";
    if (isDivision && b.isConstant() && program.space.symbols.isPositive(b.constant())) {
      return e.text == "//" ? floorDivide(a, b.constant(), program.space)
                            : remainder(a, b.constant(), program.space);
    }
    refuse(e, fmt::format("'{}' of these is no index expression", e.text));
  }

  // ---- values ----

  const Node *readValue(const Expr &e) {
    NodeTable &nodes = program.nodes;
    switch (e.kind) {
    case ExprKind::Integer:
      return nodes.integer(e.integer, DType::I64);
    case ExprKind::Float:
      return nodes.real(e.real, DType::F32);
    case ExprKind::Bool:
      return nodes.integer(e.integer, DType::Bool);
    case ExprKind::Name:
      if (auto found = values.find(e.text); found != values.end()) {
        return found->second;
      }
      refuse(e, fmt::format("'{}' is no value", e.text));
    case ExprKind::Unary:
      if (e.text == "-") {
        return literal(e, e.operands[0]->kind == ExprKind::Float ? DType::F32 : DType::I64);
      }
      break;
    case ExprKind::Binary:
    case ExprKind::Compare:
      if (auto found = infix.find(e.text); found != infix.end()) {
        return map(e, found->second, {readValue(*e.operands[0]), readValue(*e.operands[1])});
      }
      break;
    case ExprKind::Subscript: {
      BufferId from = buffer(*e.operands[0]);
      return nodes.load(from, program.buffers[from].dtype, indices(*e.operands[1]));
    }
    case ExprKind::Call:
      return e.operands[0]->kind == ExprKind::Subscript ? reduction(e) : called(e);
    default:
      break;
    }
    refuse(e, "expects a value");
  }

  const Node *literal(const Expr &e, DType type) {
    bool isNegative = e.kind == ExprKind::Unary && e.text == "-";
    const Expr &number = isNegative ? *e.operands[0] : e;
    int sign = isNegative ? -1 : 1;
    if (isFloat(type)) {
      if (number.kind == ExprKind::String) {
        const std::string &text = number.text;
        double value = text.ends_with("inf") ? std::numeric_limits<double>::infinity()
                                             : std::numeric_limits<double>::quiet_NaN();
        return program.nodes.real(text.starts_with("-") ? -value : value, type);
      }
      if (number.kind == ExprKind::Float) {
        return program.nodes.real(sign * number.real, type);
      }
    } else if (number.kind == ExprKind::Integer || number.kind == ExprKind::Bool) {
      return program.nodes.integer(sign * number.integer, type);
    }
    refuse(e, "expects a number of this type");
  }

  const Node *map(const Expr &e, const std::string &name, std::vector<const Node *> inputs) {
    if (std::string complaint = mapComplaint(name, inputs); !complaint.empty()) {
      refuse(e, complaint);
    }
    DType type = mapType(name, inputs);
    return program.nodes.map(name, type, std::move(inputs));
  }

  const Node *reduction(const Expr &e) {
    const Expr &head = *e.operands[0];
    NodeParts parts{NodeKind::Reduce};
    parts.name = head.operands[0]->text;
    for (const Expr *each : elements(*head.operands[1])) {
      parts.iterators.push_back(iterator(*each));
    }
    for (size_t i = 1; i < e.operands.size(); ++i) {
      parts.inputs.push_back(readValue(*e.operands[i]));
    }
    checkMonoid(e, parts.name, parts.inputs.size());
    parts.dtype = parts.inputs[0]->dtype;
    return program.nodes.make(std::move(parts));
  }

  static void checkMonoid(const Expr &e, const std::string &name, size_t inputs) {
    const Monoid *monoid = findMonoid(name);
    if (!monoid || monoid->components != inputs) {
      refuse(e, monoid ? fmt::format("'{}' has {} components, but got {}", name, monoid->components,
                                     inputs)
                       : fmt::format("'{}' is no monoid", name));
    }
  }

  const Node *called(const Expr &e) {
    if (!isCall(e)) {
      refuse(e, "expects a value");
    }
    const std::string &name = callee(e);
    if (name == "index") {
      return program.nodes.index(affine(argument(e, 0)));
    }
    if (name == "parameter") {
      return program.nodes.parameter(string(argument(e, 0)), dtype(argument(e, 1)));
    }
    if (name == "cast") {
      return program.nodes.map("cast", dtype(argument(e, 1)), {readValue(argument(e, 0))});
    }
    static const std::map<std::string, NodeParts (Reader::*)(const Expr &)> kinds = {
        {"ref", &Reader::ref},
        {"scan", &Reader::scan},
        {"order", &Reader::order},
        {"pick", &Reader::pick},
        {"random", &Reader::random}};
    if (auto kind = kinds.find(name); kind != kinds.end()) {
      return program.nodes.make((this->*kind->second)(e));
    }
    if (auto type = parseDType(name)) {
      return literal(argument(e, 0), *type);
    }
    std::vector<const Node *> inputs;
    for (size_t i = 1; i < e.operands.size(); ++i) {
      inputs.push_back(readValue(*e.operands[i]));
    }
    return map(e, name, std::move(inputs));
  }

  NodeParts ref(const Expr &e) {
    const Node *load = readValue(argument(e, 0));
    if (load->kind != NodeKind::Load) {
      refuse(e, "expects an element of a temporary buffer");
    }
    NodeParts parts = *load;
    parts.kind = NodeKind::Ref;
    return parts;
  }

  NodeParts scan(const Expr &e) {
    NodeParts parts{NodeKind::Scan};
    parts.name = string(argument(e, 0));
    parts.iterators = {iterator(argument(e, 1))};
    for (size_t i = 2; i + 1 < e.operands.size(); ++i) {
      parts.inputs.push_back(readValue(argument(e, i)));
    }
    checkMonoid(e, parts.name, parts.inputs.size());
    const Expr *at = keyword(e, "at");
    if (!at) {
      refuse(e, "expects the position, at=…");
    }
    parts.indices = {affine(*at)};
    parts.isReverse = isSet(e, "reverse", false);
    parts.isExclusive = isSet(e, "exclusive", false);
    parts.dtype = parts.inputs[0]->dtype;
    return parts;
  }

  NodeParts order(const Expr &e) {
    NodeParts parts{NodeKind::Order};
    parts.iterators = {iterator(argument(e, 0))};
    parts.inputs = {readValue(argument(e, 1))};
    parts.isDescending = isSet(e, "descending", false);
    parts.isStable = isSet(e, "stable", true);
    parts.dtype = parts.inputs[0]->dtype;
    return parts;
  }

  NodeParts pick(const Expr &e) {
    NodeParts parts{NodeKind::Pick};
    parts.inputs = {readValue(argument(e, 0))};
    parts.component = static_cast<uint32_t>(integer(argument(e, 1)));
    if (e.operands.size() > 3) {
      parts.indices = {affine(argument(e, 2))};
    }
    const NodeKind kind = parts.inputs[0]->kind;
    if (kind != NodeKind::Reduce && kind != NodeKind::Scan && kind != NodeKind::Order) {
      refuse(e, "expects a reduction, a scan or an order to pick from");
    }
    parts.dtype = componentType(*parts.inputs[0], parts.component);
    return parts;
  }

  NodeParts random(const Expr &e) {
    NodeParts parts{NodeKind::Random, DType::U32};
    parts.inputs = {readValue(argument(e, 0))};
    parts.indices = {affine(argument(e, 1))};
    return parts;
  }

  Program program;
  std::map<std::string, const Node *> values;
  std::map<std::string, Polynomial> quotients; ///< also those that are no symbols of their own
};

} // namespace

Result<Program> readProgram(const std::string &path, const std::string &text) {
  Diagnostics diags;
  auto module = language::parseStatements(path, text, diags);
  if (!module) {
    return diags.all().front();
  }
  try {
    return Reader().run(module->body);
  } catch (const Complaint &complaint) {
    return makeError("E0618", complaint.message).at(path, text, complaint.range);
  }
}

} // namespace nereid::generator
