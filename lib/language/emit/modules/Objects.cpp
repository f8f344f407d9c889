// SPDX-License-Identifier: Apache-2.0
#include "lib/language/emit/modules/Objects.h"

#include "lib/language/emit/expressions/Calls.h"
#include "lib/language/emit/expressions/Expressions.h"

namespace nereid::language::emit {

/// The annotated names of a class, in order.
static std::vector<const Stmt *> fieldsOf(const Stmt &classDef) {
  std::vector<const Stmt *> fields;
  for (const StmtPtr &stmt : classDef.body) {
    if (stmt->kind == StmtKind::AnnAssign && stmt->targets[0]->kind == ExprKind::Name) {
      fields.push_back(stmt.get());
    }
  }
  return fields;
}

static const FunctionDef *methodOf(const Stmt &classDef, const std::string &name) {
  const FunctionDef *found = nullptr;
  for (const StmtPtr &stmt : classDef.body) {
    if (stmt->kind == StmtKind::FunctionDef && stmt->function->name == name) {
      found = stmt->function.get();
    }
  }
  return found;
}

static std::optional<size_t> fieldIndex(const Stmt &classDef, const std::string &name) {
  std::vector<const Stmt *> fields = fieldsOf(classDef);
  for (size_t i = 0; i < fields.size(); ++i) {
    if (fields[i]->targets[0]->text == name) {
      return i;
    }
  }
  return std::nullopt;
}

Value Objects::construct(const Value &type, std::vector<Argument> positional,
                         std::vector<Argument> keywords) {
  const Stmt &classDef = *type.classDef;
  std::vector<const Stmt *> fields = fieldsOf(classDef);
  Value object = Value::tuple(std::vector<Value>(fields.size()));
  object.classDef = &classDef;
  object.module = type.module;
  if (const FunctionDef *init = methodOf(classDef, "__init__")) {
    positional.insert(positional.begin(), {"", object, nullptr});
    size_t before = emitter.report.errorCount();
    calls.callFunction(*init, *type.module, std::move(positional), std::move(keywords), nullptr,
                       &object);
    return emitter.report.errorCount() == before ? object : Value::poison();
  }
  const std::string &name = classDef.names[0].name;
  if (positional.size() > fields.size()) {
    return emitter.report.fail("E0229", "'" + name + "' takes " + std::to_string(fields.size()) +
                                            " arguments, but got " +
                                            std::to_string(positional.size()));
  }
  std::vector<bool> isSet(fields.size());
  for (size_t i = 0; i < positional.size(); ++i) {
    object.elements[i] = positional[i].value;
    isSet[i] = true;
  }
  for (const Argument &keyword : keywords) {
    std::optional<size_t> index = fieldIndex(classDef, keyword.name);
    if (!index || isSet[*index]) {
      return emitter.report.fail("E0229", "'" + name + "' " +
                                              (index ? "got '" + keyword.name + "' twice"
                                                     : "has no parameter '" + keyword.name + "'"));
    }
    object.elements[*index] = keyword.value;
    isSet[*index] = true;
  }
  for (size_t i = 0; i < fields.size(); ++i) {
    if (!isSet[i] && !fields[i]->value) {
      return emitter.report.fail("E0229", "'" + name + "' lacks the argument '" +
                                              fields[i]->targets[0]->text + "'");
    }
    if (!isSet[i]) {
      object.elements[i] = expressions.evaluateAtTop(*type.module, *fields[i]->value);
    }
  }
  return object;
}

std::optional<Value> objectAttribute(const Value &object, const std::string &name) {
  if (std::optional<size_t> index = fieldIndex(*object.classDef, name)) {
    return object.elements[*index];
  }
  const FunctionDef *function = methodOf(*object.classDef, name);
  if (!function) {
    return std::nullopt;
  }
  Value method;
  method.kind = Value::Kind::Method;
  method.function = function;
  method.module = object.module;
  method.elements = {object};
  return method;
}

bool assignField(Locals &variables, const Expr &target, const Value &value) {
  const Expr &base = *target.operands[0];
  auto variable = base.kind == ExprKind::Name ? variables.find(base.text) : variables.end();
  if (variable == variables.end() || !variable->second.classDef) {
    return false;
  }
  std::optional<size_t> index = fieldIndex(*variable->second.classDef, target.text);
  if (index) {
    variable->second.elements[*index] = value;
  }
  return index.has_value();
}

} // namespace nereid::language::emit
