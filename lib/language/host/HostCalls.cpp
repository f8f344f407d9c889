// SPDX-License-Identifier: Apache-2.0
// Calls and statements of host Python: functions of the file, triton.Config, triton.cdiv, and what
// tables of configs are made with (range, itertools.product, list.append, loops).
#include "lib/language/host/HostPython.h"

#include "lib/language/host/HostFacts.h"

#include <algorithm>
#include <bit>
#include <charconv>

namespace nereid::language {

using Kind = HostValue::Kind;

static const int64_t *wholeOf(const HostValue &value) {
  return value.kind == Kind::Constant ? std::get_if<int64_t>(&value.constant) : nullptr;
}

static HostValue makeConfig(const std::vector<HostValue> &arguments,
                            const std::map<std::string, HostValue> &keywords) {
  HostValue config;
  auto given = keywords.find("kwargs");
  HostValue values = !arguments.empty()        ? arguments[0]
                     : given != keywords.end() ? given->second
                                               : HostValue();
  if (values.kind != Kind::Dict) {
    return config;
  }
  config.kind = Kind::Config;
  config.items = values.items;
  static const char *const positional[] = {"", "num_warps", "num_stages", "num_ctas", "maxnreg"};
  for (size_t i = 1; i < arguments.size() && i < std::size(positional); ++i) {
    if (arguments[i].kind == Kind::Constant) {
      config.options[positional[i]] = arguments[i].constant;
    }
  }
  for (const auto &[name, value] : keywords) {
    if (value.kind == Kind::Constant) {
      config.options[name] = value.constant;
    } else if (name == "pre_hook") {
      config.options[name] = true;
    }
  }
  return config;
}

static HostValue product(const std::vector<HostValue> &lists) {
  std::vector<std::vector<HostValue>> rows = {{}};
  for (const HostValue &list : lists) {
    if (list.kind != Kind::List || rows.size() * std::max<size_t>(list.items->size(), 1) > 100000) {
      return HostValue();
    }
    std::vector<std::vector<HostValue>> next;
    for (const std::vector<HostValue> &row : rows) {
      for (const HostValue &item : *list.items) {
        next.push_back(row);
        next.back().push_back(item);
      }
    }
    rows = std::move(next);
  }
  std::vector<HostValue> items;
  for (std::vector<HostValue> &row : rows) {
    items.push_back(HostValue::listOf(std::move(row)));
  }
  return HostValue::listOf(std::move(items));
}

static HostValue rangeOf(const std::vector<HostValue> &arguments) {
  int64_t bounds[3] = {0, 0, 1};
  for (size_t i = 0; i < arguments.size(); ++i) {
    if (i > 2 || !wholeOf(arguments[i])) {
      return HostValue();
    }
    bounds[arguments.size() == 1 ? 1 : i] = *wholeOf(arguments[i]);
  }
  std::vector<HostValue> items;
  constexpr size_t most = 65536;
  for (int64_t i = bounds[0]; bounds[2] > 0 ? i < bounds[1] : i > bounds[1]; i += bounds[2]) {
    if (bounds[2] == 0 || items.size() == most) {
      return HostValue();
    }
    items.push_back(HostValue::of(i));
  }
  return HostValue::listOf(std::move(items));
}

HostValue HostPython::builtin(const std::string &name, const std::vector<HostValue> &arguments,
                              const std::map<std::string, HostValue> &keywords) {
  if (name == "triton.Config" || name.ends_with(".Config")) {
    return makeConfig(arguments, keywords);
  }
  if (name == "range") {
    return rangeOf(arguments);
  }
  if (name == "itertools.product") {
    return product(arguments);
  }
  std::vector<ConstValue> constants;
  for (const HostValue &argument : arguments) {
    if (argument.kind == Kind::Constant) {
      constants.push_back(argument.constant);
    }
  }
  if (constants.size() == arguments.size() && keywords.empty()) {
    if (std::optional<ConstValue> result = hostFunction(name, constants)) {
      return HostValue::of(*result);
    }
  }
  if (name == "dict") {
    std::vector<HostValue> items;
    for (const auto &[key, value] : keywords) {
      items.push_back(HostValue::of(key));
      items.push_back(value);
    }
    return HostValue::dictOf(std::move(items));
  }
  if (arguments.empty()) {
    return name == "list" ? HostValue::listOf({}) : HostValue();
  }
  const HostValue &first = arguments[0];
  if (name == "list" || name == "tuple" || name == "len") {
    if (first.kind != Kind::List) {
      return HostValue();
    }
    return name == "len" ? HostValue::of(static_cast<int64_t>(first.items->size()))
                         : HostValue::listOf(*first.items);
  }
  const auto *text =
      first.kind == Kind::Constant ? std::get_if<std::string>(&first.constant) : nullptr;
  if (text && name == "int") {
    int64_t number = 0;
    auto [end, failure] = std::from_chars(text->data(), text->data() + text->size(), number);
    bool isWhole = failure == std::errc() && end == text->data() + text->size();
    return isWhole ? HostValue::of(number) : HostValue();
  }
  if (name == "int" || name == "tl.constexpr" || name == "triton.language.constexpr") {
    return name != "int" || wholeOf(first) ? first : HostValue();
  }
  if (name == "min" || name == "max") {
    const std::vector<HostValue> &values =
        arguments.size() == 1 && first.kind == Kind::List ? *first.items : arguments;
    HostValue best = values.empty() ? HostValue() : values[0];
    for (const HostValue &value : values) {
      int isBetter = truth(compare(name == "min" ? "<" : ">", value, best));
      if (isBetter < 0) {
        return HostValue();
      }
      best = isBetter == 1 ? value : best;
    }
    return best;
  }
  const int64_t *x = wholeOf(first);
  if (x && name == "triton.next_power_of_2" && *x <= (int64_t(1) << 61)) {
    return HostValue::of(*x <= 0 ? int64_t(0)
                                 : static_cast<int64_t>(std::bit_ceil(static_cast<uint64_t>(*x))));
  }
  const int64_t *y = arguments.size() > 1 ? wholeOf(arguments[1]) : nullptr;
  if (x && y && name == "triton.cdiv" && *y > 0) {
    return binary("//", binary("+", first, HostValue::of(*y - 1)), arguments[1]);
  }
  return HostValue();
}

HostValue HostPython::method(const HostValue &self, const std::string &name,
                             const std::vector<HostValue> &arguments) {
  if (self.kind == Kind::List && arguments.size() == 1) {
    if (name == "append") {
      self.items->push_back(arguments[0]);
      return HostValue::of(std::monostate());
    }
    if (name == "extend" && arguments[0].kind == Kind::List) {
      const std::vector<HostValue> more = *arguments[0].items;
      self.items->insert(self.items->end(), more.begin(), more.end());
      return HostValue::of(std::monostate());
    }
  }
  if (self.kind == Kind::Dict && name == "get" && !arguments.empty()) {
    HostValue found = subscript(self, arguments[0]);
    return !found.isUnknown()     ? found
           : arguments.size() > 1 ? arguments[1]
                                  : HostValue::of(std::monostate());
  }
  return HostValue();
}

HostValue HostPython::callExpression(const Expr &expr, HostLocals &locals) {
  std::vector<HostValue> arguments;
  std::map<std::string, HostValue> keywords;
  for (size_t i = 1; i < expr.operands.size(); ++i) {
    const Expr &operand = *expr.operands[i];
    bool isSpread = operand.kind == ExprKind::Starred;
    HostValue value = evaluate(isSpread ? *operand.operands[0] : operand, locals);
    if (!isSpread) {
      arguments.push_back(std::move(value));
    } else if (value.kind == Kind::List) {
      arguments.insert(arguments.end(), value.items->begin(), value.items->end());
    } else {
      return HostValue();
    }
  }
  for (const Keyword &keyword : expr.keywords) {
    if (keyword.name.empty()) {
      return HostValue();
    }
    keywords[keyword.name] = evaluate(*keyword.value, locals);
  }
  const Expr &callee = *expr.operands[0];
  if (callee.kind == ExprKind::Attribute) {
    HostValue self = evaluate(*callee.operands[0], locals);
    if (self.kind != Kind::Name) {
      return method(self, callee.text, arguments);
    }
  }
  HostValue result = call(evaluate(callee, locals), arguments, keywords);
  if (result.kind == Kind::Config && !result.written) {
    result.written = &expr;
  }
  return result;
}

HostValue HostPython::call(const HostValue &callee, const std::vector<HostValue> &arguments,
                           const std::map<std::string, HostValue> &keywords) {
  if (callee.kind == Kind::Name) {
    return builtin(callee.text, arguments, keywords);
  }
  if (callee.kind != Kind::Function || depth > 100) {
    return HostValue();
  }
  HostLocals inside;
  if (callee.lambda) {
    for (size_t i = 0; i < callee.lambda->params.size(); ++i) {
      inside[callee.lambda->params[i]] = i < arguments.size() ? arguments[i] : HostValue();
    }
    return evaluate(*callee.lambda->operands[0], inside);
  }
  size_t next = 0;
  for (const Param &param : callee.function->params) {
    auto keyword = keywords.find(param.name);
    HostLocals none;
    inside[param.name] = keyword != keywords.end() ? keyword->second
                         : next < arguments.size() ? arguments[next++]
                         : param.defaultValue      ? evaluate(*param.defaultValue, none)
                                                   : HostValue();
  }
  HostValue returned = HostValue::of(std::monostate());
  return run(callee.function->body, inside, returned) == Flow::Lost ? HostValue() : returned;
}

bool HostPython::assign(const Expr &target, const HostValue &value, HostLocals &locals) {
  if (target.kind == ExprKind::Name) {
    locals[target.text] = value;
    return true;
  }
  bool isUnpacking = (target.kind == ExprKind::Tuple || target.kind == ExprKind::List) &&
                     value.kind == Kind::List && value.items->size() == target.operands.size();
  if (!isUnpacking) {
    return false;
  }
  for (size_t i = 0; i < target.operands.size(); ++i) {
    if (!assign(*target.operands[i], (*value.items)[i], locals)) {
      return false;
    }
  }
  return true;
}

HostPython::Flow HostPython::runLoop(const Stmt &stmt, HostLocals &locals, HostValue &returned) {
  HostValue iterable;
  if (stmt.kind == StmtKind::For) {
    iterable = evaluate(*stmt.value, locals);
    if (iterable.kind != Kind::List) {
      return Flow::Lost;
    }
  }
  for (size_t i = 0;; ++i) {
    if (!takeStep()) {
      return Flow::Lost;
    }
    if (stmt.kind == StmtKind::While) {
      int known = truth(evaluate(*stmt.value, locals));
      if (known <= 0) {
        return known < 0 ? Flow::Lost : Flow::Next;
      }
    } else if (i >= iterable.items->size()) {
      return Flow::Next;
    } else if (!assign(*stmt.targets[0], HostValue((*iterable.items)[i]), locals)) {
      return Flow::Lost;
    }
    Flow flow = run(stmt.body, locals, returned);
    if (flow == Flow::Return || flow == Flow::Lost) {
      return flow;
    }
    if (flow == Flow::Break) {
      return Flow::Next;
    }
  }
}

HostPython::Flow HostPython::run(const std::vector<StmtPtr> &list, HostLocals &locals,
                                 HostValue &returned) {
  for (const StmtPtr &stmt : list) {
    if (!takeStep()) {
      return Flow::Lost;
    }
    Flow flow = Flow::Next;
    switch (stmt->kind) {
    case StmtKind::Return:
      returned = stmt->value ? evaluate(*stmt->value, locals) : HostValue::of(std::monostate());
      return Flow::Return;
    case StmtKind::Assign:
    case StmtKind::AnnAssign:
    case StmtKind::AugAssign: {
      if (!stmt->value) {
        break;
      }
      HostValue value = evaluate(*stmt->value, locals);
      if (stmt->kind == StmtKind::AugAssign) {
        value = binary(stmt->text, evaluate(*stmt->targets[0], locals), value);
      }
      for (const ExprPtr &target : stmt->targets) {
        if (!assign(*target, value, locals)) {
          return Flow::Lost;
        }
      }
      break;
    }
    case StmtKind::If: {
      int known = truth(evaluate(*stmt->value, locals));
      flow = known < 0 ? Flow::Lost : run(known == 1 ? stmt->body : stmt->orelse, locals, returned);
      break;
    }
    case StmtKind::For:
    case StmtKind::While:
      flow = runLoop(*stmt, locals, returned);
      break;
    case StmtKind::ExprStmt:
      evaluate(*stmt->value, locals);
      break;
    case StmtKind::Pass:
    case StmtKind::Assert:
    case StmtKind::Import:
    case StmtKind::ImportFrom:
      break;
    case StmtKind::Break:
      return Flow::Break;
    case StmtKind::Continue:
      return Flow::Continue;
    default:
      return Flow::Lost;
    }
    if (flow != Flow::Next) {
      return flow;
    }
  }
  return Flow::Next;
}

} // namespace nereid::language
