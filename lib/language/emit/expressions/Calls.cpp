// SPDX-License-Identifier: Apache-2.0
#include "lib/language/emit/expressions/Calls.h"

#include "lib/language/emit/expressions/Attributes.h"
#include "lib/language/emit/expressions/Expressions.h"
#include "lib/language/emit/modules/HostLibraries.h"
#include "lib/language/emit/modules/Objects.h"
#include "lib/language/emit/statements/Assignments.h"
#include "lib/language/emit/statements/Statements.h"

#include <algorithm>
#include <set>

namespace nereid::language::emit {

/// Deeper than any real chain of helpers; a recursion ends here.
static constexpr int maxCallDepth = 64;

const Value &Bound::operator[](std::string_view name) const {
  for (const Slot &slot : slots) {
    if (slot.name == name) {
      return slot.value;
    }
  }
  static const Value none;
  return none;
}

bool Bound::isGiven(std::string_view name) const {
  return std::any_of(slots.begin(), slots.end(),
                     [&](const Slot &slot) { return slot.name == name && slot.given; });
}

const Expr *Bound::expr(std::string_view name) const {
  for (const Slot &slot : slots) {
    if (slot.name == name) {
      return slot.expr;
    }
  }
  return nullptr;
}

static bool hasPoison(const std::vector<Argument> &arguments) {
  return std::any_of(arguments.begin(), arguments.end(),
                     [](const Argument &argument) { return argument.value.isPoison(); });
}

bool Calls::collectArguments(const Expr &expr, std::vector<Argument> &positional,
                             std::vector<Argument> &keywords) {
  for (size_t i = 1; i < expr.operands.size(); ++i) {
    const Expr &operand = *expr.operands[i];
    if (operand.kind != ExprKind::Starred) {
      positional.push_back({"", expressions.evaluate(operand), &operand});
      continue;
    }
    Value inner = expressions.evaluate(*operand.operands[0]);
    if (!inner.isTuple()) {
      if (!inner.isPoison()) {
        emitter.report.error("E0217", "'*' expects a tuple, but got " + describe(inner));
      }
      return false;
    }
    for (const Value &element : inner.elements) {
      positional.push_back({"", element, &operand});
    }
  }
  for (const Keyword &keyword : expr.keywords) {
    if (keyword.name.empty()) {
      At at(emitter.position, keyword.range);
      emitter.report.error("E0311", "'**' arguments are not supported in a kernel");
      return false;
    }
    keywords.push_back({keyword.name, expressions.evaluate(*keyword.value), keyword.value.get()});
  }
  return !hasPoison(positional) && !hasPoison(keywords);
}

/// E0233 when a statement throws away a result that must be used: of tl.advance, and of functions
/// decorated with must_use_result, whose text says why.
bool Calls::checkUnused(const Expr &expr, const Value &callee) {
  std::string why;
  if (callee.kind == Value::Kind::Builtin && callee.builtin->name == "advance") {
    why = "tl.advance has no effect but its result: assign it to the variable";
  } else {
    const Expr *mark = callee.function ? callee.function->decorator("must_use_result") : nullptr;
    if (!mark) {
      return true;
    }
    if (mark->kind == ExprKind::Call && mark->operands.size() > 1) {
      Value text = expressions.evaluateAtTop(*callee.module, *mark->operands[1]);
      why = text.isString() ? text.text : "";
    }
  }
  emitter.report
      .error("E0233",
             "the result of '" + emitter.position.sourceText(*expr.operands[0]) + "' is not used")
      .withHelp(why);
  return false;
}

Value Calls::callMethod(const Expr &expr, const Value &callee, std::vector<Argument> positional,
                        std::vector<Argument> keywords) {
  if (callee.function) {
    positional.insert(positional.begin(), {"", callee.elements[0], nullptr});
    return callFunction(*callee.function, *callee.module, std::move(positional),
                        std::move(keywords));
  }
  if (!callee.builtin) {
    return positional.empty() && keywords.empty()
               ? typeMethod(emitter.report, callee.elements[0], callee.text)
               : emitter.report.fail("E0229", "'" + callee.text + "' takes no arguments");
  }
  if (!callee.builtin->function && !callee.builtin->isLibrary) {
    return emitter.report.fail("E0310", "'" + callee.text + "' is not supported yet");
  }
  positional.insert(positional.begin(),
                    {"", callee.elements[0], expr.operands[0]->operands[0].get()});
  if (callee.builtin->isLibrary) {
    Value function = builtinValue(callee.builtin);
    return callFunction(*function.function, *function.module, std::move(positional),
                        std::move(keywords));
  }
  return callBuiltin(*callee.builtin, std::move(positional), std::move(keywords));
}

void Calls::callUnused(const Expr &expr) {
  unusedCall = &expr;
  expressions.evaluate(expr);
  unusedCall = nullptr;
}

Value Calls::call(const Expr &expr) {
  Value callee = expressions.evaluate(*expr.operands[0]);
  std::vector<Argument> positional, keywords;
  if (callee.isPoison() || (&expr == unusedCall && !checkUnused(expr, callee))) {
    return Value::poison();
  }
  if (callee.kind == Value::Kind::Builtin && !callee.builtin->function) {
    return emitter.report.fail("E0310",
                               "'" + std::string(callee.builtin->name) + "' is not supported yet");
  }
  if (callee.kind == Value::Kind::Import) {
    bool isDone = collectArguments(expr, positional, keywords);
    std::optional<Value> known = isDone ? hostLibraries.call(callee, positional) : std::nullopt;
    return known ? *known : emitter.report.failNotFound(callee);
  }
  if (!collectArguments(expr, positional, keywords) || !emitter.report.takeStep()) {
    return Value::poison();
  }
  switch (callee.kind) {
  case Value::Kind::Builtin:
    return callBuiltin(*callee.builtin, std::move(positional), std::move(keywords));
  case Value::Kind::Class:
    return objects.construct(callee, std::move(positional), std::move(keywords));
  case Value::Kind::Method:
    return callMethod(expr, callee, std::move(positional), std::move(keywords));
  case Value::Kind::Function:
    return callFunction(*callee.function, *callee.module, std::move(positional),
                        std::move(keywords), callee.captured);
  default:
    return emitter.report.fail("E0224", describe(callee) + " cannot be called");
  }
}

static std::string spelled(const BuiltinEntry &entry) {
  return "'" + std::string(entry.name) + "(" + std::string(entry.params) + ")'";
}

Value Calls::callBuiltin(const BuiltinEntry &entry, std::vector<Argument> positional,
                         std::vector<Argument> keywords) {
  const std::vector<ParamSpec> &params = paramsOf(entry);
  Bound bound;
  size_t next = 0;
  for (const ParamSpec &param : params) {
    Bound::Slot slot{param.name, param.defaultValue, nullptr, false};
    if (param.isVariadic) {
      for (; next < positional.size(); ++next) {
        bound.extra.push_back(positional[next]);
      }
      continue;
    }
    if (next < positional.size()) {
      slot.value = positional[next].value;
      slot.expr = positional[next].expr;
      slot.given = true;
      ++next;
    }
    bound.slots.push_back(std::move(slot));
  }
  if (next < positional.size()) {
    return emitter.report.fail("E0229",
                               "'" + std::string(entry.name) + "' takes at most " +
                                   std::to_string(bound.slots.size()) + " arguments, but got " +
                                   std::to_string(positional.size()),
                               "call it as " + spelled(entry));
  }
  for (const Argument &keyword : keywords) {
    auto slot = std::find_if(bound.slots.begin(), bound.slots.end(),
                             [&](const Bound::Slot &s) { return s.name == keyword.name; });
    if (slot == bound.slots.end()) {
      return emitter.report.fail(
          "E0229", "'" + std::string(entry.name) + "' has no parameter '" + keyword.name + "'",
          "call it as " + spelled(entry));
    }
    if (slot->given) {
      return emitter.report.fail("E0229", "'" + std::string(entry.name) + "' got '" + keyword.name +
                                              "' twice");
    }
    slot->value = keyword.value;
    slot->expr = keyword.expr;
    slot->given = true;
  }
  for (size_t i = 0, slot = 0; i < params.size(); ++i) {
    if (params[i].isVariadic) {
      continue;
    }
    if (!bound.slots[slot].given && !params[i].hasDefault) {
      return emitter.report.fail("E0229",
                                 "'" + std::string(entry.name) + "' lacks the argument '" +
                                     std::string(params[i].name) + "'",
                                 "call it as " + spelled(entry));
    }
    ++slot;
  }
  return entry.function(emitter, bound);
}

/// Decorated to run on constants only: its results stay constants.
static bool isConstexprFunction(const FunctionDef &function) {
  return function.decorator("constexpr_function") || function.decorator("constexpr");
}

/// Whether the file asks for a call of its own, which takes scalars only: jit(noinline=True).
static bool isNoinline(const FunctionDef &function) {
  const Expr *jit = function.decorator("jit");
  return jit && std::any_of(jit->keywords.begin(), jit->keywords.end(), [](const Keyword &keyword) {
           return keyword.name == "noinline" && keyword.value->kind == ExprKind::Bool &&
                  keyword.value->integer != 0;
         });
}

/// E0229 where a function that is not inlined gets a tile, as upstream refuses it.
bool Calls::checkNoinline(const FunctionDef &function, const Frame &inside) {
  if (!isNoinline(function)) {
    return true;
  }
  for (const Param &param : function.params) {
    auto given = inside.locals.find(param.name);
    bool isTile = given != inside.locals.end() && given->second.isBlock() &&
                  given->second.tileType.elementCount() != 1;
    if (isTile) {
      emitter.report
          .error("E0229", "'" + function.name +
                              "' is marked noinline and takes scalars only, but '" + param.name +
                              "' is " + describe(given->second))
          .withHelp("leave out 'noinline=True': helpers are elaborated at their calls here");
      return false;
    }
  }
  return true;
}

bool Calls::bindParameters(const FunctionDef &function, const std::vector<Argument> &positional,
                           const std::vector<Argument> &keywords, Frame &inside) {
  std::string name = "'" + function.name + "'";
  std::set<std::string> used;
  size_t next = 0;
  for (const Param &param : function.params) {
    if (param.isVarArgs) {
      std::vector<Value> rest;
      for (; next < positional.size(); ++next) {
        rest.push_back(positional[next].value);
      }
      inside.locals[param.name] = Value::tuple(std::move(rest));
      continue;
    }
    auto keyword = std::find_if(keywords.begin(), keywords.end(),
                                [&](const Argument &a) { return a.name == param.name; });
    bool isPositional = next < positional.size();
    if (keyword != keywords.end()) {
      if (isPositional) {
        emitter.report.error("E0229", name + " got '" + param.name + "' twice");
        return false;
      }
      used.insert(param.name);
      inside.locals[param.name] = keyword->value;
    } else if (isPositional) {
      inside.locals[param.name] = positional[next++].value;
    } else if (param.defaultValue) {
      inside.locals[param.name] = expressions.evaluateAtTop(*inside.module, *param.defaultValue);
    } else {
      emitter.report.error("E0229", name + " lacks the argument '" + param.name + "'");
      return false;
    }
    Value &value = inside.locals[param.name];
    if (value.isPoison()) {
      return false;
    }
    if (param.isConstexpr()) {
      // A helper's annotation is a wish: upstream passes a run-time value on as it is.
      if (std::optional<Value> known = knownNumber(value)) {
        value = *known;
        value.bound.reset();
      } else if (value.isTile() && inside.module->isLibrary) {
        emitter.report.error("E0203", name + " expects a constant for '" + param.name +
                                          "', but got " + describe(value));
        return false;
      }
    }
  }
  if (next < positional.size()) {
    emitter.report.error("E0229", name + " takes " + std::to_string(function.params.size()) +
                                      " arguments, but got " + std::to_string(positional.size()));
    return false;
  }
  for (const Argument &keyword : keywords) {
    if (!used.count(keyword.name)) {
      std::vector<std::string> known;
      for (const Param &param : function.params) {
        known.push_back(param.name);
      }
      std::vector<std::string> near = nearestNames(keyword.name, known);
      emitter.report.error("E0229", name + " has no parameter '" + keyword.name + "'")
          .withHelp(near.empty() ? "" : "did you mean '" + near[0] + "'?");
      return false;
    }
  }
  return true;
}

Value Calls::callFunction(const FunctionDef &function, const SourceModule &module,
                          std::vector<Argument> positional, std::vector<Argument> keywords,
                          std::shared_ptr<const Captured> captured, Value *self) {
  bool isConstexpr = isConstexprFunction(function);
  // Python that runs before the kernel: the top level of a file, and functions of constants.
  bool isOutside = !emitter.frame().function || emitter.frame().isConstexpr;
  if (!function.isJit() && !isConstexpr && isOutside && !self) {
    isConstexpr = true;
  }
  if (!function.isJit() && !isConstexpr && !self) {
    return emitter.report.fail("E0224", "'" + function.name + "' is not a kernel function",
                               "decorate it with @triton.jit");
  }
  if (depth >= maxCallDepth) {
    return emitter.report.fail("E0224",
                               "calls nest deeper than " + std::to_string(maxCallDepth) + " at '" +
                                   function.name + "'",
                               "a kernel cannot call itself: write a loop");
  }
  Frame frame = calledFromHere(emitter.position, module);
  frame.function = &function;
  frame.isConstexpr = isConstexpr && !self; // an object may hold run-time values
  frame.isElementwise = emitter.frame().isElementwise;
  frame.captured = std::move(captured);
  if (!bindParameters(function, positional, keywords, frame) || !checkNoinline(function, frame)) {
    return Value::poison();
  }
  size_t before = emitter.report.errorCount();
  {
    At at(emitter.position, emitter.position.range());
    Inside inside(emitter.position, frame);
    ++depth;
    statements.runBlock(function.body, 0, nullptr);
    --depth;
  }
  if (self && !function.params.empty()) {
    *self = frame.locals[function.params[0].name];
  }
  if (emitter.report.errorCount() != before) {
    return Value::poison();
  }
  return isConstexpr ? frame.returned : boundOnAssign(emitter.frame(), frame.returned);
}

} // namespace nereid::language::emit
