// SPDX-License-Identifier: Apache-2.0
#include "lib/language/emit/statements/Statements.h"

#include "lib/language/emit/expressions/Calls.h"
#include "lib/language/emit/expressions/Expressions.h"
#include "lib/language/emit/modules/Imports.h"
#include "lib/language/emit/statements/Assignments.h"
#include "lib/language/emit/statements/Conditionals.h"
#include "lib/language/emit/statements/Loops.h"

#include <algorithm>
#include <set>

namespace nereid::language::emit {

bool mayReturn(const std::vector<StmtPtr> &list) {
  return std::any_of(list.begin(), list.end(), [](const StmtPtr &stmt) {
    return stmt->kind == StmtKind::Return || mayReturn(stmt->body) || mayReturn(stmt->orelse);
  });
}

Flow Statements::runBlock(const std::vector<StmtPtr> &list, size_t from, const Rest *outer) {
  size_t errors = emitter.report.errorCount();
  for (size_t i = from; i < list.size(); ++i) {
    if (!emitter.report.takeStep()) {
      return Flow::Return;
    }
    At at(emitter.position, list[i]->range);
    if (runStatement(*list[i], Rest{&list, i + 1, outer}) == Flow::Return) {
      return Flow::Return;
    }
    if (emitter.frame().module->isLibrary && emitter.report.errorCount() != errors) {
      return Flow::Return; // the caller's mistake is told; its consequences are not
    }
  }
  return Flow::Next;
}

Flow Statements::runRest(const Rest *rest) {
  for (; rest; rest = rest->outer) {
    if (runBlock(*rest->list, rest->next, rest->outer) == Flow::Return) {
      return Flow::Return;
    }
  }
  emitter.frame().returned = Value::none();
  return Flow::Return;
}

void Statements::runAssert(const Stmt &stmt) {
  std::vector<Argument> arguments = {{"", expressions.evaluate(*stmt.value), stmt.value.get()}};
  bool isStatic = constantTruth(arguments[0].value).has_value();
  if (stmt.message) {
    arguments.push_back({"", expressions.evaluate(*stmt.message), stmt.message.get()});
  }
  for (const Argument &argument : arguments) {
    if (argument.value.isPoison()) {
      return;
    }
  }
  const BuiltinEntry *entry = findBuiltin(isStatic ? "static_assert" : "device_assert", 'T');
  calls.callBuiltin(*entry, std::move(arguments), {});
}

void Statements::runRaise(const Stmt &stmt) {
  std::string text;
  if (stmt.value) {
    text = emitter.position.sourceText(*stmt.value);
    if (stmt.value->kind == ExprKind::Call && stmt.value->operands.size() == 2) {
      Value message = expressions.evaluate(*stmt.value->operands[1]);
      text = message.isString() ? message.text : text;
    }
  }
  emitter.report
      .error("E0221",
             "the kernel raises for this specialisation" + (text.empty() ? "" : ": " + text))
      .withHelp("the statement is reached with the given constexprs and types; change those");
}

/// `try` in Python outside of kernels: the first handler runs when the body raises. An error that
/// only says that a value is open here is none of Python's.
Flow Statements::runTry(const Stmt &stmt, const Rest &rest) {
  static const std::set<std::string> raised = {"E0201", "E0202", "E0221",
                                               "E0223", "E0230", "E0231"};
  size_t before = emitter.report.mark(), errors = emitter.report.errorCount();
  const Rest afterTry{rest.list, rest.next, rest.outer};
  Flow flow = runBlock(stmt.body, 0, &afterTry);
  const Diagnostic *first = emitter.report.firstError(before);
  bool isRaised = emitter.report.errorCount() != errors && first && raised.count(first->code);
  if (!isRaised || stmt.orelse.empty()) {
    return flow;
  }
  emitter.report.rollBack(before);
  return runBlock(stmt.orelse[0]->body, 0, &afterTry);
}

Flow Statements::runReturn(const Stmt &stmt) {
  if (emitter.frame().returnBarrier) {
    emitter.report
        .error("E0225", std::string("'return' inside ") + emitter.frame().returnBarrier +
                            " is not supported in a kernel")
        .withHelp("keep the result in a variable, and mask or condition what follows");
    return Flow::Return;
  }
  emitter.frame().returned = stmt.value ? expressions.evaluate(*stmt.value) : Value::none();
  if (!emitter.frame().caller && !emitter.frame().returned.isNone() &&
      !emitter.frame().returned.isPoison()) {
    emitter.report
        .error("E0226",
               "a kernel returns nothing, but this returns " + describe(emitter.frame().returned))
        .withHelp("write the result with tl.store");
  }
  return Flow::Return;
}

void Statements::runAnnotated(const Stmt &stmt) {
  if (!stmt.value) {
    return;
  }
  Value value = expressions.evaluate(*stmt.value);
  if (isConstexprAnnotation(*stmt.annotation)) {
    // A value known only at run time stays what it is, as upstream has it.
    if (std::optional<Value> known = knownNumber(value)) {
      value = *known;
      value.bound.reset();
    }
  } else {
    value = boundOnAssign(emitter.frame(), std::move(value));
  }
  assignments.assign(*stmt.targets[0], std::move(value));
}

void Statements::runFunctionDef(const Stmt &stmt) {
  if (emitter.frame().isConstexpr && !stmt.function->isJit()) { // Python outside of kernels
    Value value;
    value.kind = Value::Kind::Function;
    value.function = stmt.function.get();
    value.module = emitter.frame().module;
    value.captured = std::make_shared<Captured>(Captured{emitter.frame().locals});
    emitter.frame().locals[stmt.function->name] = std::move(value);
    return;
  }
  emitter.report.error("E0311", "a nested function is not supported in a kernel")
      .withHelp("move it to the top level of the file and decorate it with @triton.jit");
}

void Statements::runImport(const Stmt &stmt) {
  if (emitter.frame().isConstexpr) { // Python outside of kernels
    for (const ImportName &import : stmt.names) {
      std::string name = import.alias.empty() ? import.name : import.alias;
      name = stmt.kind == StmtKind::Import ? name.substr(0, name.find('.')) : name;
      Value value = imports.importedValue(*emitter.frame().module, stmt, name);
      emitter.frame().locals[name] =
          isMissing(value) && !value.isPoison() ? emitter.report.failNotFound(value) : value;
    }
    return;
  }
  emitter.report.error("E0311", "an import inside a kernel is not supported")
      .withHelp("import at the top of the file");
}

Flow Statements::runStatement(const Stmt &stmt, const Rest &rest) {
  switch (stmt.kind) {
  case StmtKind::Return:
    return runReturn(stmt);
  case StmtKind::Assign: {
    Value value = boundOnAssign(emitter.frame(), expressions.evaluate(*stmt.value));
    for (const ExprPtr &target : stmt.targets) {
      assignments.assign(*target, value);
    }
    break;
  }
  case StmtKind::AugAssign: {
    Value left = expressions.evaluate(*stmt.targets[0]);
    Value right = expressions.evaluate(*stmt.value);
    assignments.assign(
        *stmt.targets[0],
        boundOnAssign(emitter.frame(), emitter.operators.binary(stmt.text, left, right)));
    break;
  }
  case StmtKind::AnnAssign:
    runAnnotated(stmt);
    break;
  case StmtKind::For:
    return loops.runFor(stmt);
  case StmtKind::While:
    loops.runWhile(stmt);
    break;
  case StmtKind::If:
    return conditionals.runIf(stmt, rest);
  case StmtKind::ExprStmt:
    if (stmt.value->kind != ExprKind::String && stmt.value->kind != ExprKind::Ellipsis) {
      calls.callUnused(*stmt.value);
    }
    break;
  case StmtKind::Pass:
    break;
  case StmtKind::Break:
  case StmtKind::Continue: {
    std::string word = stmt.kind == StmtKind::Break ? "break" : "continue";
    emitter.report.error("E0110", "'" + word + "' is not supported in a kernel")
        .withHelp("use a while loop whose condition ends it, or mask the rest of the body");
    return Flow::Return;
  }
  case StmtKind::Assert:
    runAssert(stmt);
    break;
  case StmtKind::Raise:
    runRaise(stmt);
    return Flow::Return;
  case StmtKind::FunctionDef:
    runFunctionDef(stmt);
    break;
  case StmtKind::Import:
  case StmtKind::ImportFrom:
    runImport(stmt);
    break;
  case StmtKind::Opaque:
    if (emitter.frame().isConstexpr && stmt.text == "try") {
      return runTry(stmt, rest);
    }
    emitter.report.error("E0311", stmt.text.empty()
                                      ? "this statement is not supported in a kernel"
                                      : "'" + stmt.text + "' is not supported in a kernel");
    break;
  }
  return Flow::Next;
}

} // namespace nereid::language::emit
