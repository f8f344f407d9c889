// SPDX-License-Identifier: Apache-2.0
#include "lib/definition/reader/BodyStatements.h"

#include "lib/definition/reader/BodyInPlace.h"
#include "lib/definition/reader/sequences/BodySequences.h"

#include <fmt/format.h>

namespace nereid::definition {

using language::Expr;
using language::ExprKind;
using language::Stmt;
using language::StmtKind;

namespace {

/// What loops and functions may become: a kernel of more operations helps nobody, and neither the
/// generator nor the compiler behind it is made for it.
constexpr int mostSteps = 16384;
constexpr size_t mostNodes = 2048;

bool isDocumentation(const Stmt &statement) {
  return statement.kind == StmtKind::Pass ||
         (statement.kind == StmtKind::ExprStmt && statement.value &&
          statement.value->kind == ExprKind::String);
}

/// x.add_(y), which changes what x stands for.
bool isWritingCall(const Expr &expr) {
  return expr.kind == ExprKind::Call &&
         (expr.operands[0]->kind == ExprKind::Attribute ||
          expr.operands[0]->kind == ExprKind::Name) &&
         BodyInPlace::isFunction(expr.operands[0]->text);
}

bool isSequence(const Expr &expr) {
  const auto isStar = [](const language::ExprPtr &each) { return each->kind == ExprKind::Starred; };
  return (expr.kind == ExprKind::Tuple || expr.kind == ExprKind::List) &&
         std::none_of(expr.operands.begin(), expr.operands.end(), isStar);
}

/// "i", or "i, part".
std::string targetText(const Expr &target) {
  std::string text = target.text;
  const bool isList = target.kind == ExprKind::Tuple || target.kind == ExprKind::List;
  for (size_t i = 0; isList && i < target.operands.size(); ++i) {
    text += (i ? ", " : "") + target.operands[i]->text;
  }
  return text;
}

} // namespace

BodyStatements::BodyStatements(BodyExpressions &reader) : reader(reader) {
  reader.definedFunctions().runBy(
      [this](const language::FunctionDef &function) { return call(function); });
  reader.readTextsBy(
      [this](const std::vector<language::StmtPtr> &statements) { return text(statements); });
}

void BodyStatements::read(const std::vector<language::StmtPtr> &statements) { block(statements); }

/// Goes on behind an error at the body's first level, so that several are reported.
BodyStatements::Flow BodyStatements::block(const std::vector<language::StmtPtr> &statements) {
  for (const language::StmtPtr &each : statements) {
    const int before = reader.errorCount();
    Flow flow = statement(*each);
    const bool isFirstLevel = loops + functions == 0 && !reader.isInText();
    if (!isFirstLevel && reader.errorCount() > before) {
      return Flow::Failed;
    }
    if (flow != Flow::Next && !(flow == Flow::Failed && isFirstLevel)) {
      return flow;
    }
  }
  return Flow::Next;
}

bool BodyStatements::hasRoom(const Stmt &statement) {
  if (loops + functions == 0 || (++steps <= mostSteps && reader.nodeCount() <= mostNodes)) {
    return true;
  }
  reader
      .fail("E0608", statement.range,
            fmt::format("loops and functions of the body become more than {} statements or {} "
                        "operations",
                        mostSteps, mostNodes))
      .withHelp("they are written out when the definition is read: take fewer turns");
  return false;
}

BodyStatements::Flow BodyStatements::statement(const Stmt &statement) {
  if (!hasRoom(statement)) {
    return Flow::Failed;
  }
  if (isDocumentation(statement)) {
    return Flow::Next;
  }
  switch (statement.kind) {
  case StmtKind::Assign:
  case StmtKind::AugAssign:
    if (statement.value) {
      return assignment(statement);
    }
    break;
  case StmtKind::ExprStmt:
    if (isWritingCall(*statement.value)) {
      return reader.read(*statement.value) ? Flow::Next : Flow::Failed;
    }
    if (BodySequences lists(reader); lists.isMethod(*statement.value)) {
      return lists.runMethod(*statement.value) ? Flow::Next : Flow::Failed;
    }
    break;
  case StmtKind::If:
    return condition(statement);
  case StmtKind::For:
    return loop(statement);
  case StmtKind::Break:
  case StmtKind::Continue:
    if (loops > 0) {
      return statement.kind == StmtKind::Break ? Flow::Break : Flow::Continue;
    }
    break;
  case StmtKind::Return:
    if (functions > 0) {
      return returned(statement);
    }
    break;
  case StmtKind::FunctionDef:
    if (loops + functions > 0 || !statement.function) {
      reader.fail("E0608", statement.range,
                  "a function of a body is defined at its first level, not inside of a loop or of "
                  "another function");
      return Flow::Failed;
    }
    reader.definedFunctions().define(*statement.function, statement.range);
    return Flow::Next;
  default:
    break;
  }
  reader.fail("E0608", statement.range, "a body expects assignments, but got another statement")
      .withHelp(
          "write one 'name = expression' per line; 'for' over a constant range, 'if' by known "
          "values and 'def' with 'return' are available as well");
  return Flow::Failed;
}

BodyStatements::Flow BodyStatements::assignment(const Stmt &statement) {
  const bool isPlain = statement.kind == StmtKind::Assign;
  const bool isList =
      statement.targets[0]->kind == ExprKind::Tuple || statement.targets[0]->kind == ExprKind::List;
  if (isPlain && statement.targets.size() == 1 && isList) {
    return unpacking(statement);
  }
  if (statement.targets.size() == 1 && statement.targets[0]->kind == ExprKind::Subscript) {
    return BodyInPlace(reader).assigned(isPlain ? "" : statement.text, *statement.targets[0],
                                        *statement.value, statement.range)
               ? Flow::Next
               : Flow::Failed;
  }
  for (const language::ExprPtr &target : statement.targets) {
    if (target->kind != ExprKind::Name) {
      reader.fail("E0608", target->range, "an assignment in a body expects one name on its left");
      return Flow::Failed;
    }
  }
  std::optional<int> value;
  if (!isPlain) {
    const std::string &name = statement.targets[0]->text;
    if (BodySequences lists(reader);
        statement.text == "+" && lists.isSequence(*statement.targets[0])) {
      return lists.isSequence(*statement.value) && lists.grow(*statement.targets[0]) &&
                     lists.extend(name, *statement.value)
                 ? Flow::Next
                 : Flow::Failed;
    }
    BodyInPlace inPlace(reader);
    if (reader.isInput(name)) {
      value = inPlace.augmented(statement.text, *statement.targets[0], *statement.value,
                                statement.range);
      return value ? Flow::Next : Flow::Failed;
    }
    const std::string written = fmt::format("{} {}=", name, statement.text);
    const std::string help = fmt::format("write '{0} = {0} {1} …'", name, statement.text);
    if (inPlace.isElsewhere(name, written, help, statement.targets[0]->range)) {
      return Flow::Failed;
    }
    const std::optional<int> before = reader.lookup(name);
    value = reader.binary(statement.text, *statement.targets[0], *statement.value, statement.range);
    if (before && value) {
      inPlace.replace(*before, *value); // b = a; b += 1
    }
  } else {
    bool areLiterals = true;
    for (const language::ExprPtr &target : statement.targets) {
      areLiterals &= reader.assignLiteral(target->text, *statement.value, target->range);
    }
    if (areLiterals) {
      return Flow::Next;
    }
    const Expr &given = *statement.value;
    const bool isCall = isOfDefined(given);
    BodySequences lists(reader);
    const bool isGivenList = lists.isSequence(given);
    const auto values = isGivenList || isCall ? valuesOf(given) : std::nullopt;
    if (values && (isGivenList || values->size() != 1)) {
      return listed(statement, *values);
    }
    value = values                  ? std::optional(values->front())
            : isGivenList || isCall ? std::nullopt
                                    : reader.read(given);
  }
  for (const language::ExprPtr &target : statement.targets) {
    reader.assign(target->text, value, target->range);
  }
  return value ? Flow::Next : Flow::Failed;
}

/// `a, b = f(x)`, `a, b = b, a` and `B, *rest = x.shape`.
BodyStatements::Flow BodyStatements::unpacking(const Stmt &statement) {
  const Expr &targets = *statement.targets[0];
  for (const language::ExprPtr &target : targets.operands) {
    const Expr &name = target->kind == ExprKind::Starred ? *target->operands[0] : *target;
    if (name.kind != ExprKind::Name) {
      reader.fail("E0608", name.range, "an assignment in a body expects names on its left");
      return Flow::Failed;
    }
  }
  const bool areTwo = targets.operands.size() == 2 && reader.returnsTwo(*statement.value);
  const std::optional<std::vector<int>> values = areTwo || reader.returnsPieces(*statement.value)
                                                     ? reader.readSeveral(*statement.value)
                                                     : valuesOf(*statement.value);
  if (values) {
    return reader.assignTargets(targets, *values, /*isOwn=*/false) ? Flow::Next : Flow::Failed;
  }
  for (const language::ExprPtr &target : targets.operands) {
    reader.assign(target->text, std::nullopt, target->range);
  }
  return Flow::Failed;
}

/// A call of a function that the body defines, of which texts know nothing.
bool BodyStatements::isOfDefined(const Expr &value) const {
  return value.kind == ExprKind::Call && value.operands[0]->kind == ExprKind::Name &&
         !reader.isInText() && reader.definedFunctions().has(value.operands[0]->text);
}

std::optional<std::vector<int>> BodyStatements::valuesOf(const Expr &value) {
  if (isOfDefined(value)) {
    return reader.definedFunctions().call(value);
  }
  if (BodySequences lists(reader); lists.isSequence(value)) {
    return lists.read(value);
  }
  const std::optional<int> node = reader.read(value);
  return node ? std::optional(std::vector{*node}) : std::nullopt;
}

/// `parts = [a, b]`, `sizes = x.shape`, `halves = x.chunk(2)`, `both = f(x)`.
BodyStatements::Flow BodyStatements::listed(const Stmt &statement, const std::vector<int> &values) {
  const int before = reader.errorCount();
  for (const language::ExprPtr &target : statement.targets) {
    BodySequences(reader).give(*target, *statement.value, values);
  }
  return reader.errorCount() == before ? Flow::Next : Flow::Failed;
}

BodyStatements::Flow BodyStatements::condition(const Stmt &statement) {
  const std::optional<BodyConstant> known = reader.knownValues().constantOf(*statement.value);
  if (!known) {
    reader
        .fail("E0608", statement.value->range,
              "the condition of 'if' is not known when the definition is read")
        .withHelp("it may compare numbers, strings, None, counters of loops and x.dim(); select "
                  "elements by torch.where(condition, a, b)");
    return Flow::Failed;
  }
  return block(isTrue(*known) ? statement.body : statement.orelse);
}

BodyStatements::Flow BodyStatements::loop(const Stmt &statement) {
  const Expr &iterable = *statement.value;
  if (statement.targets.empty()) {
    reader.fail("E0608", statement.range, "a loop of a body expects a name that counts");
    return Flow::Failed;
  }
  if (!statement.orelse.empty()) {
    reader.fail("E0608", statement.orelse[0]->range, "'else' of a loop is not available in a body");
    return Flow::Failed;
  }
  const Expr &counter = *statement.targets[0];
  if (isSequence(iterable) && counter.kind == ExprKind::Name) { // of strings and the like, too
    return turns(statement, iterable.operands.size(), [&](size_t turn) {
      const Expr &value = *iterable.operands[turn];
      if (!reader.assignLiteral(counter.text, value, counter.range)) {
        reader.assign(counter.text, reader.read(value), counter.range);
      }
    });
  }
  BodySequences lists(reader);
  if (!lists.isIterable(iterable)) {
    reader
        .fail("E0608", iterable.range,
              "a loop of a body expects range(…), a list or a tuple, which are known when the "
              "definition is read")
        .withHelp("write for i in range(4):");
    return Flow::Failed;
  }
  const auto values = lists.turnsOf(iterable);
  return values ? turns(statement, values->size(),
                        [&](size_t turn) {
                          reader.assignTargets(counter, (*values)[turn], /*isOwn=*/false);
                        })
                : Flow::Failed;
}

BodyStatements::Flow BodyStatements::turns(const Stmt &statement, size_t count,
                                           const std::function<void(size_t)> &begin) {
  Flow flow = Flow::Next;
  ++loops;
  for (size_t turn = 0; turn < count && flow != Flow::Break; ++turn) {
    reader.enter(
        fmt::format("turn {} of the loop over '{}'", turn + 1, targetText(*statement.targets[0])));
    const int before = reader.errorCount();
    begin(turn);
    flow = reader.errorCount() > before ? Flow::Failed : block(statement.body);
    reader.leave();
    if (flow == Flow::Failed || flow == Flow::Return) {
      break;
    }
  }
  --loops;
  return flow == Flow::Failed || flow == Flow::Return ? flow : Flow::Next;
}

BodyStatements::Flow BodyStatements::returned(const Stmt &statement) {
  std::optional<std::vector<int>> values;
  if (statement.value) {
    values = valuesOf(*statement.value);
  } else {
    reader.fail("E0608", statement.range, "'return' in a body expects a value");
  }
  results = values.value_or(std::vector<int>{});
  return values ? Flow::Return : Flow::Failed;
}

bool BodyStatements::text(const std::vector<language::StmtPtr> &statements) {
  const int outside = std::exchange(loops, 0);
  const Flow flow = block(statements);
  loops = outside;
  return flow == Flow::Next;
}

std::optional<std::vector<int>> BodyStatements::call(const language::FunctionDef &function) {
  const int outside = loops;
  loops = 0; // 'break' does not leave a function
  ++functions;
  results.clear();
  const Flow flow = block(function.body);
  --functions;
  loops = outside;
  if (flow == Flow::Next) {
    reader
        .fail("E0608", function.nameRange,
              fmt::format("the function '{}' ends without 'return'", function.name))
        .withHelp("return what it computes");
  }
  return flow == Flow::Return ? std::optional(results) : std::nullopt;
}

} // namespace nereid::definition
