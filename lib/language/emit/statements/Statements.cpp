// SPDX-License-Identifier: Apache-2.0
// Statements in order. A `return` ends the list; one under a run-time condition makes the
// statements that follow it (`Rest`) part of that condition's branches, see Conditionals.cpp.
#include "lib/language/emit/Emitter.h"

#include <algorithm>

namespace nereid::language::emit {

Flow Emitter::runBlock(const std::vector<StmtPtr> &list, size_t from, const Rest *outer) {
  size_t errors = errorTotal;
  for (size_t i = from; i < list.size(); ++i) {
    if (!takeStep()) {
      return Flow::Return;
    }
    At at(*this, list[i]->range);
    if (runStatement(*list[i], Rest{&list, i + 1, outer}) == Flow::Return) {
      return Flow::Return;
    }
    if (frame->module->isLibrary && errorTotal != errors) {
      return Flow::Return; // the caller's mistake is told; its consequences are not
    }
  }
  return Flow::Next;
}

Flow Emitter::runRest(const Rest *rest) {
  for (; rest; rest = rest->outer) {
    if (runBlock(*rest->list, rest->next, rest->outer) == Flow::Return) {
      return Flow::Return;
    }
  }
  frame->returned = Value::none();
  return Flow::Return;
}

static void runAssert(Emitter &emitter, const Stmt &stmt) {
  std::vector<Argument> arguments = {{"", emitter.evaluate(*stmt.value), stmt.value.get()}};
  bool isStatic = emitter.constantTruth(arguments[0].value).has_value();
  if (stmt.message) {
    arguments.push_back({"", emitter.evaluate(*stmt.message), stmt.message.get()});
  }
  for (const Argument &argument : arguments) {
    if (argument.value.isPoison()) {
      return;
    }
  }
  const BuiltinEntry *entry = findBuiltin(isStatic ? "static_assert" : "device_assert", 'T');
  emitter.callBuiltin(*entry, std::move(arguments), {});
}

static void runRaise(Emitter &emitter, const Stmt &stmt) {
  std::string text;
  if (stmt.value) {
    text = emitter.sourceText(*stmt.value);
    if (stmt.value->kind == ExprKind::Call && stmt.value->operands.size() == 2) {
      Value message = emitter.evaluate(*stmt.value->operands[1]);
      text = message.isString() ? message.text : text;
    }
  }
  emitter
      .error("E0221",
             "the kernel raises for this specialisation" + (text.empty() ? "" : ": " + text))
      .withHelp("the statement is reached with the given constexprs and types; change those");
}

/// `try` in Python outside of kernels: the first handler runs when the body raises. An error that
/// only says that a value is open here is none of Python's.
Flow Emitter::runTry(const Stmt &stmt, const Rest &rest) {
  static const std::set<std::string> raised = {"E0201", "E0202", "E0221",
                                               "E0223", "E0230", "E0231"};
  size_t before = reported.size(), errors = errorTotal;
  const Rest afterTry{rest.list, rest.next, rest.outer};
  Flow flow = runBlock(stmt.body, 0, &afterTry);
  auto first = std::find_if(reported.begin() + static_cast<std::ptrdiff_t>(before), reported.end(),
                            [](const Diagnostic &d) { return d.severity == Severity::Error; });
  bool isRaised = errorTotal != errors && first != reported.end() && raised.count(first->code);
  if (!isRaised || stmt.orelse.empty()) {
    return flow;
  }
  rollBack(before);
  return runBlock(stmt.orelse[0]->body, 0, &afterTry);
}

Flow Emitter::runStatement(const Stmt &stmt, const Rest &rest) {
  Flow flow = Flow::Next;
  switch (stmt.kind) {
  case StmtKind::Return:
    if (frame->returnBarrier) {
      error("E0225", std::string("'return' inside ") + frame->returnBarrier +
                         " is not supported in a kernel")
          .withHelp("keep the result in a variable, and mask or condition what follows");
      return Flow::Return;
    }
    frame->returned = stmt.value ? evaluate(*stmt.value) : Value::none();
    if (!frame->caller && !frame->returned.isNone() && !frame->returned.isPoison()) {
      error("E0226", "a kernel returns nothing, but this returns " + describe(frame->returned))
          .withHelp("write the result with tl.store");
    }
    return Flow::Return;
  case StmtKind::Assign: {
    Value value = boundOnAssign(evaluate(*stmt.value));
    for (const ExprPtr &target : stmt.targets) {
      assign(*target, value);
    }
    break;
  }
  case StmtKind::AugAssign: {
    Value left = evaluate(*stmt.targets[0]);
    Value right = evaluate(*stmt.value);
    assign(*stmt.targets[0], boundOnAssign(binary(stmt.text, left, right)));
    break;
  }
  case StmtKind::AnnAssign: {
    if (!stmt.value) {
      break;
    }
    Value value = evaluate(*stmt.value);
    if (isConstexprAnnotation(*stmt.annotation)) {
      // A value known only at run time stays what it is, as upstream has it.
      if (std::optional<Value> known = knownNumber(value)) {
        value = *known;
        value.bound.reset();
      }
    } else {
      value = boundOnAssign(std::move(value));
    }
    assign(*stmt.targets[0], std::move(value));
    break;
  }
  case StmtKind::For:
    runFor(stmt, flow);
    break;
  case StmtKind::While:
    runWhile(stmt);
    break;
  case StmtKind::If:
    return runIf(stmt, rest);
  case StmtKind::ExprStmt:
    if (stmt.value->kind != ExprKind::String && stmt.value->kind != ExprKind::Ellipsis) {
      unusedCall = stmt.value.get();
      evaluate(*stmt.value);
      unusedCall = nullptr;
    }
    break;
  case StmtKind::Pass:
    break;
  case StmtKind::Break:
  case StmtKind::Continue: {
    std::string word = stmt.kind == StmtKind::Break ? "break" : "continue";
    error("E0110", "'" + word + "' is not supported in a kernel")
        .withHelp("use a while loop whose condition ends it, or mask the rest of the body");
    return Flow::Return;
  }
  case StmtKind::Assert:
    runAssert(*this, stmt);
    break;
  case StmtKind::Raise:
    runRaise(*this, stmt);
    return Flow::Return;
  case StmtKind::FunctionDef:
    if (frame->isConstexpr && !stmt.function->isJit()) { // Python outside of kernels
      Value value;
      value.kind = Value::Kind::Function;
      value.function = stmt.function.get();
      value.module = frame->module;
      value.captured = std::make_shared<Captured>(Captured{frame->locals});
      frame->locals[stmt.function->name] = std::move(value);
      break;
    }
    error("E0311", "a nested function is not supported in a kernel")
        .withHelp("move it to the top level of the file and decorate it with @triton.jit");
    break;
  case StmtKind::Import:
  case StmtKind::ImportFrom:
    if (frame->isConstexpr) { // Python outside of kernels
      for (const ImportName &import : stmt.names) {
        std::string name = import.alias.empty() ? import.name : import.alias;
        name = stmt.kind == StmtKind::Import ? name.substr(0, name.find('.')) : name;
        Value value = importedValue(*frame->module, stmt, name);
        frame->locals[name] = isMissing(value) && !value.isPoison() ? failNotFound(value) : value;
      }
      break;
    }
    error("E0311", "an import inside a kernel is not supported")
        .withHelp("import at the top of the file");
    break;
  case StmtKind::Opaque:
    if (frame->isConstexpr && stmt.text == "try") {
      return runTry(stmt, rest);
    }
    error("E0311", stmt.text.empty() ? "this statement is not supported in a kernel"
                                     : "'" + stmt.text + "' is not supported in a kernel");
    break;
  }
  return flow;
}

} // namespace nereid::language::emit
