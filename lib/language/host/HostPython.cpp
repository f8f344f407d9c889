// SPDX-License-Identifier: Apache-2.0
// Expressions of host Python: values, names, operators, subscripts, comprehensions.
#include "lib/language/host/HostPython.h"

#include "lib/language/host/HostFacts.h"

#include <algorithm>
#include <cmath>

namespace nereid::language {

using Kind = HostValue::Kind;

/// Deeper than any real table of configs; bounds the recursion.
static constexpr int maxDepth = 200;

HostValue HostValue::of(ConstValue value) {
  HostValue out;
  out.kind = Kind::Constant;
  out.constant = std::move(value);
  return out;
}

HostValue HostValue::listOf(std::vector<HostValue> items) {
  HostValue out;
  out.kind = Kind::List;
  out.items = std::make_shared<std::vector<HostValue>>(std::move(items));
  return out;
}

HostValue HostValue::dictOf(std::vector<HostValue> keysAndValues) {
  HostValue out = listOf(std::move(keysAndValues));
  out.kind = Kind::Dict;
  return out;
}

bool isGiven(const HostValue &value) {
  bool isNone = value.kind == Kind::Constant && value.constant.index() == 0;
  return !value.isUnknown() && !isNone;
}

static std::optional<int64_t> integerOf(const HostValue &value) {
  if (value.kind != Kind::Constant) {
    return std::nullopt;
  }
  if (const bool *boolean = std::get_if<bool>(&value.constant)) {
    return *boolean ? 1 : 0;
  }
  const int64_t *integer = std::get_if<int64_t>(&value.constant);
  return integer ? std::optional(*integer) : std::nullopt;
}

static std::optional<double> realOf(const HostValue &value) {
  if (std::optional<int64_t> integer = integerOf(value)) {
    return static_cast<double>(*integer);
  }
  const double *real =
      value.kind == Kind::Constant ? std::get_if<double>(&value.constant) : nullptr;
  return real ? std::optional(*real) : std::nullopt;
}

int HostPython::truth(const HostValue &value) {
  switch (value.kind) {
  case Kind::List:
  case Kind::Dict:
    return !value.items->empty();
  case Kind::Constant:
    if (std::optional<double> real = realOf(value)) {
      return *real != 0;
    }
    if (const auto *text = std::get_if<std::string>(&value.constant)) {
      return !text->empty();
    }
    return value.constant.index() != 0;
  case Kind::Config:
  case Kind::Function:
    return 1;
  default:
    return -1;
  }
}

Diagnostic openConditionRemark(const SourceModule &module, const Stmt &stmt) {
  Diagnostic remark =
      makeError("R0204", "this condition cannot be evaluated when a kernel is compiled; of its "
                         "branches the first that can be used is taken");
  remark.severity = Severity::Remark;
  return remark.at(module.path, module.text, stmt.value->range);
}

void HostPython::noteOpen(const Stmt &stmt) {
  if (std::find(open.begin(), open.end(), &stmt) == open.end()) {
    open.push_back(&stmt);
  }
}

const FunctionDef *HostPython::functionNamed(const std::string &name) {
  const FunctionDef *found = functionIn(module.body, name);
  return found ? found : module.find(name); // one of a branch that is not taken, for GPUs
}

/// The last definition; of one `if` a kernel function rather than one of Python.
const FunctionDef *HostPython::functionIn(const std::vector<StmtPtr> &list,
                                          const std::string &name) {
  const FunctionDef *found = nullptr;
  for (const StmtPtr &stmt : list) {
    if (stmt->kind == StmtKind::FunctionDef && stmt->function->name == name) {
      found = stmt->function.get();
      continue;
    }
    bool isIf = stmt->kind == StmtKind::If;
    if (!isIf && (stmt->kind != StmtKind::Opaque || stmt->text == "class")) {
      continue;
    }
    const FunctionDef *first = functionIn(stmt->body, name);
    const FunctionDef *other = functionIn(stmt->orelse, name);
    if (isIf && (first || other)) {
      HostLocals none;
      int known = truth(evaluate(*stmt->value, none));
      if (known < 0 && first && other) {
        noteOpen(*stmt);
      }
      first = known == 0 ? nullptr : first;
      other = known == 1 ? nullptr : other;
    }
    bool takesOther = !first || (other && !first->isJit() && other->isJit());
    const FunctionDef *taken = takesOther ? other : first;
    found = taken ? taken : found;
  }
  return found;
}

/// Of an `if` the branch that its condition chooses; while that is open, the first that binds it.
bool HostPython::bindOfIf(const Stmt &stmt, const std::string &name, HostValue &value) {
  HostLocals none;
  int known = truth(evaluate(*stmt.value, none));
  if (known >= 0) {
    return bindGlobal(known == 1 ? stmt.body : stmt.orelse, name, value);
  }
  HostValue other = value;
  bool isFirst = bindGlobal(stmt.body, name, value);
  bool isOther = bindGlobal(stmt.orelse, name, other);
  if (isFirst && isOther) {
    noteOpen(stmt);
  }
  value = !isFirst && isOther ? other : value;
  return isFirst || isOther;
}

/// Gives the value that the statements leave the name with; false when none binds it.
bool HostPython::bindGlobal(const std::vector<StmtPtr> &list, const std::string &name,
                            HostValue &value) {
  bool isBound = false;
  HostLocals none;
  for (const StmtPtr &stmt : list) {
    bool isBinding = (stmt->kind == StmtKind::Assign || stmt->kind == StmtKind::AnnAssign) &&
                     stmt->value && stmt->targets.size() == 1 &&
                     stmt->targets[0]->kind == ExprKind::Name && stmt->targets[0]->text == name;
    if (isBinding) {
      value = evaluate(*stmt->value, none);
      isBound = true;
    }
    for (const ImportName &import : stmt->names) {
      bool isFrom = stmt->kind == StmtKind::ImportFrom;
      bool isImport = isFrom || stmt->kind == StmtKind::Import;
      if (isImport && (import.alias.empty() ? import.name : import.alias) == name) {
        value.kind = Kind::Name;
        value.text = isFrom ? stmt->text + "." + import.name : import.name;
        isBound = true;
      }
    }
    if (stmt->kind == StmtKind::If) {
      isBound = bindOfIf(*stmt, name, value) || isBound;
    } else if (stmt->kind == StmtKind::Opaque && stmt->text != "class") {
      isBound = bindGlobal(stmt->body, name, value) || isBound;
    }
  }
  return isBound;
}

HostValue HostPython::global(const std::string &name) {
  if (auto found = globals.find(name); found != globals.end()) {
    return found->second;
  }
  HostValue value;
  globals[name] = value; // a definition that needs itself is unknown
  if (const FunctionDef *function = functionNamed(name)) {
    value.kind = Kind::Function;
    value.function = function;
    globals[name] = value;
    return value;
  }
  bindGlobal(module.body, name, value);
  globals[name] = value;
  return value;
}

HostValue HostPython::name(const Expr &expr, HostLocals &locals) {
  if (auto found = locals.find(expr.text); found != locals.end()) {
    return found->second;
  }
  HostValue value = global(expr.text);
  if (value.kind == Kind::Name) {
    std::optional<ConstValue> constant = hostConstant(value.text);
    return constant ? HostValue::of(*constant) : value;
  }
  if (value.isUnknown()) {
    value.kind = Kind::Name; // a function of Python, or nothing that is known here
    value.text = expr.text;
  }
  return value;
}

static HostValue realResult(const std::string &op, double a, double b) {
  if (op == "+" || op == "-" || op == "*") {
    return HostValue::of(op == "+" ? a + b : op == "-" ? a - b : a * b);
  }
  if (op == "**") {
    return HostValue::of(std::pow(a, b));
  }
  if (op == "/" && b != 0) {
    return HostValue::of(a / b);
  }
  return op == "//" && b != 0 ? HostValue::of(std::floor(a / b)) : HostValue();
}

static HostValue integerResult(const std::string &op, int64_t a, int64_t b) {
  int64_t out = 0;
  if (op == "+" || op == "-" || op == "*") {
    bool isTooLarge = op == "+"   ? __builtin_add_overflow(a, b, &out)
                      : op == "-" ? __builtin_sub_overflow(a, b, &out)
                                  : __builtin_mul_overflow(a, b, &out);
    return isTooLarge ? HostValue() : HostValue::of(out);
  }
  bool canDivide = b != 0 && !(a == INT64_MIN && b == -1);
  if ((op == "//" || op == "%") && canDivide) { // Python rounds down
    int64_t quotient = a / b - ((a % b != 0 && (a < 0) != (b < 0)) ? 1 : 0);
    return HostValue::of(op == "//" ? quotient : a - quotient * b);
  }
  if ((op == "<<" || op == ">>") && b >= 0 && b < 62) {
    bool fits = op == ">>" || std::abs(a) < (int64_t(1) << (62 - b));
    return !fits ? HostValue() : HostValue::of(op == "<<" ? a * (int64_t(1) << b) : a >> b);
  }
  if (op == "&" || op == "|" || op == "^") {
    return HostValue::of(op == "&" ? a & b : op == "|" ? a | b : a ^ b);
  }
  if (op == "**" && b >= 0) {
    int64_t power = 1;
    for (int64_t i = 0; i < b; ++i) {
      if (i > 63 || __builtin_mul_overflow(power, a, &power)) {
        return HostValue();
      }
    }
    return HostValue::of(power);
  }
  return op == "/" ? realResult(op, static_cast<double>(a), static_cast<double>(b)) : HostValue();
}

HostValue HostPython::binary(const std::string &op, const HostValue &a, const HostValue &b) {
  if (a.kind == Kind::List && b.kind == Kind::List && op == "+") {
    std::vector<HostValue> items = *a.items;
    items.insert(items.end(), b.items->begin(), b.items->end());
    return HostValue::listOf(std::move(items));
  }
  if (a.kind == Kind::List && op == "*" && integerOf(b)) {
    std::vector<HostValue> items;
    for (int64_t i = 0; i < *integerOf(b) && takeStep(); ++i) {
      items.insert(items.end(), a.items->begin(), a.items->end());
    }
    return HostValue::listOf(std::move(items));
  }
  if (std::optional<int64_t> left = integerOf(a), right = integerOf(b); left && right) {
    return integerResult(op, *left, *right);
  }
  if (std::optional<double> left = realOf(a), right = realOf(b); left && right) {
    return realResult(op, *left, *right);
  }
  const auto *left = std::get_if<std::string>(&a.constant);
  const auto *right = std::get_if<std::string>(&b.constant);
  bool isText = a.kind == Kind::Constant && b.kind == Kind::Constant && left && right;
  return isText && op == "+" ? HostValue::of(*left + *right) : HostValue();
}

HostValue HostPython::compare(const std::string &op, const HostValue &a, const HostValue &b) {
  if (op == "in" || op == "not in") {
    if (b.kind != Kind::List && b.kind != Kind::Dict) {
      return HostValue();
    }
    size_t stride = b.kind == Kind::Dict ? 2 : 1;
    for (size_t i = 0; i < b.items->size(); i += stride) {
      int isEqual = truth(compare("==", a, (*b.items)[i]));
      if (isEqual != 0) {
        return isEqual < 0 ? HostValue() : HostValue::of(op == "in");
      }
    }
    return HostValue::of(op == "not in");
  }
  bool isIdentity = op == "is" || op == "is not", isEquality = op == "==" || op == "!=";
  bool wantsSame = op == "is" || op == "==";
  auto isNone = [](const HostValue &v) {
    return v.kind == Kind::Constant && v.constant.index() == 0;
  };
  if ((isIdentity || isEquality) && (isNone(a) || isNone(b))) {
    if (a.isUnknown() || b.isUnknown() || a.kind == Kind::Name || b.kind == Kind::Name) {
      return HostValue();
    }
    return HostValue::of((isNone(a) && isNone(b)) == wantsSame);
  }
  if (std::optional<double> left = realOf(a), right = realOf(b); left && right) {
    bool result = op == "<"    ? *left < *right
                  : op == "<=" ? *left <= *right
                  : op == ">"  ? *left > *right
                  : op == ">=" ? *left >= *right
                               : (*left == *right) == wantsSame;
    return HostValue::of(result);
  }
  if (a.kind == Kind::Constant && b.kind == Kind::Constant && (isIdentity || isEquality)) {
    return HostValue::of((constantText(a.constant) == constantText(b.constant)) == wantsSame);
  }
  return HostValue();
}

HostValue HostPython::subscript(const HostValue &base, const HostValue &index) {
  if (base.kind == Kind::Dict || base.kind == Kind::Config) {
    for (size_t i = 0; i + 1 < base.items->size(); i += 2) {
      if (truth(compare("==", (*base.items)[i], index)) == 1) {
        return (*base.items)[i + 1];
      }
    }
    return HostValue();
  }
  std::optional<int64_t> at = integerOf(index);
  if (base.kind != Kind::List || !at) {
    return HostValue();
  }
  auto count = static_cast<int64_t>(base.items->size());
  int64_t place = *at < 0 ? *at + count : *at;
  return place >= 0 && place < count ? (*base.items)[static_cast<size_t>(place)] : HostValue();
}

bool HostPython::comprehend(const Expr &expr, size_t clause, HostLocals &locals,
                            std::vector<HostValue> &items) {
  if (clause == expr.clauses.size()) {
    items.push_back(evaluate(*expr.operands[0], locals));
    return takeStep();
  }
  const ComprehensionClause &current = expr.clauses[clause];
  HostValue iterable = evaluate(*current.iterable, locals);
  if (iterable.kind != Kind::List && iterable.kind != Kind::Dict) {
    return false;
  }
  const std::vector<HostValue> entries = *iterable.items;
  for (size_t i = 0; i < entries.size(); i += iterable.kind == Kind::Dict ? 2 : 1) {
    if (!assign(*current.target, entries[i], locals)) {
      return false;
    }
    bool isKept = true;
    for (const ExprPtr &condition : current.conditions) {
      int known = truth(evaluate(*condition, locals));
      if (known < 0) {
        return false;
      }
      isKept = isKept && known == 1;
    }
    if (isKept && !comprehend(expr, clause + 1, locals, items)) {
      return false;
    }
  }
  return true;
}

HostValue HostPython::evaluate(const Expr &expr, HostLocals &locals) {
  struct Level {
    int &depth;
    explicit Level(int &d) : depth(d) { ++depth; }
    ~Level() { --depth; }
  } level(depth);
  if (depth > maxDepth || !takeStep()) {
    return HostValue();
  }
  switch (expr.kind) {
  case ExprKind::Integer:
    return HostValue::of(expr.integer);
  case ExprKind::Float:
    return HostValue::of(expr.real);
  case ExprKind::String:
    return HostValue::of(expr.text);
  case ExprKind::Bool:
    return HostValue::of(expr.integer != 0);
  case ExprKind::None:
    return HostValue::of(std::monostate());
  case ExprKind::Name:
    return name(expr, locals);
  case ExprKind::Attribute: {
    HostValue base = evaluate(*expr.operands[0], locals);
    if (base.kind != Kind::Name) {
      return HostValue();
    }
    base.text += "." + expr.text;
    if (std::optional<ConstValue> constant = hostConstant(base.text)) {
      return HostValue::of(*constant);
    }
    if (base.text.starts_with("triton.language.")) {
      if (std::optional<DType> type = readTypeValue(base.text)) {
        return HostValue::of(*type);
      }
    }
    return base;
  }
  case ExprKind::Tuple:
  case ExprKind::List: {
    std::vector<HostValue> items;
    for (const ExprPtr &operand : expr.operands) {
      bool isSpread = operand->kind == ExprKind::Starred;
      HostValue value = evaluate(isSpread ? *operand->operands[0] : *operand, locals);
      if (!isSpread) {
        items.push_back(std::move(value));
      } else if (value.kind == Kind::List) {
        items.insert(items.end(), value.items->begin(), value.items->end());
      } else {
        return HostValue();
      }
    }
    return HostValue::listOf(std::move(items));
  }
  case ExprKind::Dict: {
    std::vector<HostValue> items;
    for (const ExprPtr &operand : expr.operands) {
      items.push_back(operand ? evaluate(*operand, locals) : HostValue());
    }
    return HostValue::dictOf(std::move(items));
  }
  case ExprKind::ListComp: {
    HostLocals inside = locals;
    std::vector<HostValue> items;
    return comprehend(expr, 0, inside, items) ? HostValue::listOf(std::move(items)) : HostValue();
  }
  case ExprKind::Unary: {
    HostValue value = evaluate(*expr.operands[0], locals);
    if (expr.text == "not") {
      int known = truth(value);
      return known < 0 ? HostValue() : HostValue::of(known == 0);
    }
    return expr.text == "-"   ? binary("-", HostValue::of(int64_t(0)), value)
           : expr.text == "+" ? value
                              : binary("-", HostValue::of(int64_t(-1)), value);
  }
  case ExprKind::Binary: {
    HostValue left = evaluate(*expr.operands[0], locals);
    return binary(expr.text, left, evaluate(*expr.operands[1], locals));
  }
  case ExprKind::Compare: {
    HostValue left = evaluate(*expr.operands[0], locals);
    return compare(expr.text, left, evaluate(*expr.operands[1], locals));
  }
  case ExprKind::And:
  case ExprKind::Or: {
    HostValue value;
    for (const ExprPtr &operand : expr.operands) {
      value = evaluate(*operand, locals);
      int known = truth(value);
      if (known < 0 || known == (expr.kind == ExprKind::Or ? 1 : 0)) {
        return known < 0 ? HostValue() : value;
      }
    }
    return value;
  }
  case ExprKind::Conditional: {
    int known = truth(evaluate(*expr.operands[0], locals));
    return known < 0 ? HostValue() : evaluate(*expr.operands[known == 1 ? 1 : 2], locals);
  }
  case ExprKind::Subscript: {
    HostValue base = evaluate(*expr.operands[0], locals);
    return subscript(base, evaluate(*expr.operands[1], locals));
  }
  case ExprKind::Lambda: {
    HostValue value;
    value.kind = Kind::Function;
    value.lambda = &expr;
    return value;
  }
  case ExprKind::Call:
    return callExpression(expr, locals);
  default:
    return HostValue();
  }
}

} // namespace nereid::language
