// SPDX-License-Identifier: Apache-2.0
#include "lib/definition/reader/BodyStatements.h"

#include "lib/definition/reader/BodyInPlace.h"

#include <fmt/format.h>

namespace nereid::definition {

using language::Expr;
using language::ExprKind;
using language::Stmt;
using language::StmtKind;

namespace {

/// What loops and functions may become: a kernel of more operations helps nobody, and neither the
/// generator nor the compiler behind it is made for it.
constexpr int64_t mostTurns = 1024;
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
  return expr.kind == ExprKind::Tuple || expr.kind == ExprKind::List;
}

} // namespace

BodyStatements::BodyStatements(BodyExpressions &reader) : reader(reader) {
  reader.definedFunctions().runBy(
      [this](const language::FunctionDef &function) { return call(function); });
}

void BodyStatements::read(const std::vector<language::StmtPtr> &statements) { block(statements); }

/// Goes on behind an error at the body's first level, so that several are reported.
BodyStatements::Flow BodyStatements::block(const std::vector<language::StmtPtr> &statements) {
  for (const language::StmtPtr &each : statements) {
    const int before = reader.errorCount();
    Flow flow = statement(*each);
    if (loops + functions > 0 && reader.errorCount() > before) {
      return Flow::Failed;
    }
    if (flow != Flow::Next && !(flow == Flow::Failed && loops + functions == 0)) {
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
  if (isPlain && statement.targets.size() == 1 && isSequence(*statement.targets[0])) {
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
    value = reader.read(*statement.value);
  }
  for (const language::ExprPtr &target : statement.targets) {
    reader.assign(target->text, value, target->range);
  }
  return value ? Flow::Next : Flow::Failed;
}

/// `a, b = f(x)` and `a, b = b, a`.
BodyStatements::Flow BodyStatements::unpacking(const Stmt &statement) {
  const Expr &targets = *statement.targets[0];
  for (const language::ExprPtr &target : targets.operands) {
    if (target->kind != ExprKind::Name) {
      reader.fail("E0608", target->range, "an assignment in a body expects names on its left");
      return Flow::Failed;
    }
  }
  const bool areTwo = targets.operands.size() == 2 && reader.returnsTwo(*statement.value);
  std::optional<std::vector<int>> values = areTwo || reader.returnsPieces(*statement.value)
                                               ? reader.readSeveral(*statement.value)
                                               : valuesOf(*statement.value);
  if (values && values->size() != targets.operands.size()) {
    reader.fail(
        "E0608", statement.range,
        fmt::format("{} names are assigned {} values", targets.operands.size(), values->size()));
    values = std::nullopt;
  }
  for (size_t i = 0; i < targets.operands.size(); ++i) {
    const Expr &target = *targets.operands[i];
    if (target.text == "_") {
      continue;
    }
    reader.assign(target.text, values ? std::optional((*values)[i]) : std::nullopt, target.range);
  }
  return values ? Flow::Next : Flow::Failed;
}

std::optional<std::vector<int>> BodyStatements::valuesOf(const Expr &value) {
  const bool isCall = value.kind == ExprKind::Call && value.operands[0]->kind == ExprKind::Name &&
                      reader.definedFunctions().has(value.operands[0]->text);
  if (isCall) {
    return reader.definedFunctions().call(value);
  }
  std::vector<int> list;
  for (size_t i = 0; i < (isSequence(value) ? value.operands.size() : 1); ++i) {
    const std::optional<int> each = reader.read(isSequence(value) ? *value.operands[i] : value);
    if (!each) {
      return std::nullopt;
    }
    list.push_back(*each);
  }
  return list;
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

/// The numbers of range(…) with known arguments.
std::optional<std::vector<int64_t>> BodyStatements::range(const Expr &iterable) {
  std::vector<int64_t> arguments;
  for (size_t i = 1; i < iterable.operands.size(); ++i) {
    const std::optional<int64_t> number = reader.knownValues().integerOf(*iterable.operands[i]);
    if (!number) {
      reader
          .fail("E0608", iterable.operands[i]->range,
                "range expects integers that are known when the definition is read")
          .withHelp("a loop is written out, so sizes cannot count it: reduce over the dimension");
      return std::nullopt;
    }
    arguments.push_back(*number);
  }
  if (arguments.empty() || arguments.size() > 3 || !iterable.keywords.empty()) {
    reader.fail("E0608", iterable.range, "range expects one to three integers");
    return std::nullopt;
  }
  const int64_t begin = arguments.size() > 1 ? arguments[0] : 0;
  const int64_t end = arguments[arguments.size() > 1 ? 1 : 0];
  const int64_t step = arguments.size() > 2 ? arguments[2] : 1;
  if (step == 0) {
    reader.fail("E0608", iterable.range, "the step of range expects not to be 0");
    return std::nullopt;
  }
  const __int128 distance = step > 0 ? __int128{end} - begin : __int128{begin} - end;
  const __int128 width = step > 0 ? __int128{step} : -__int128{step};
  const __int128 count = distance <= 0 ? 0 : (distance + width - 1) / width;
  if (count > mostTurns) {
    reader
        .fail("E0608", iterable.range,
              fmt::format("a loop expects at most {} turns, but got {}", mostTurns,
                          count > INT64_MAX ? "more than 63 bits count"
                                            : std::to_string(static_cast<int64_t>(count))))
        .withHelp("it is written out when the definition is read: reduce over a dimension instead");
    return std::nullopt;
  }
  std::vector<int64_t> numbers;
  for (int64_t i = 0; i < static_cast<int64_t>(count); ++i) {
    numbers.push_back(begin + i * step);
  }
  return numbers;
}

BodyStatements::Flow BodyStatements::loop(const Stmt &statement) {
  const Expr &iterable = *statement.value;
  if (statement.targets.empty() || statement.targets[0]->kind != ExprKind::Name) {
    reader.fail("E0608", statement.range, "a loop of a body expects one name that counts");
    return Flow::Failed;
  }
  if (!statement.orelse.empty()) {
    reader.fail("E0608", statement.orelse[0]->range, "'else' of a loop is not available in a body");
    return Flow::Failed;
  }
  const bool isRange = iterable.kind == ExprKind::Call &&
                       iterable.operands[0]->kind == ExprKind::Name &&
                       iterable.operands[0]->text == "range";
  std::vector<const Expr *> values;
  std::vector<int64_t> numbers;
  if (isRange) {
    std::optional<std::vector<int64_t>> counted = range(iterable);
    if (!counted) {
      return Flow::Failed;
    }
    numbers = std::move(*counted);
  } else if (isSequence(iterable)) {
    for (const language::ExprPtr &entry : iterable.operands) {
      values.push_back(entry.get());
    }
  } else {
    reader
        .fail("E0608", iterable.range,
              "a loop of a body expects range(…) or a tuple, which are known when the definition "
              "is read")
        .withHelp("write for i in range(4):");
    return Flow::Failed;
  }
  return turns(statement, values, numbers);
}

BodyStatements::Flow BodyStatements::turns(const Stmt &statement,
                                           const std::vector<const Expr *> &values,
                                           const std::vector<int64_t> &numbers) {
  const Expr &counter = *statement.targets[0];
  const size_t count = values.size() + numbers.size();
  Flow flow = Flow::Next;
  ++loops;
  for (size_t turn = 0; turn < count && flow != Flow::Break; ++turn) {
    reader.enter(fmt::format("turn {} of the loop over '{}'", turn + 1, counter.text));
    const int before = reader.errorCount();
    if (values.empty()) {
      reader.assignInteger(counter.text, numbers[turn], counter.range);
    } else if (!reader.assignLiteral(counter.text, *values[turn], counter.range)) {
      reader.assign(counter.text, reader.read(*values[turn]), counter.range);
    }
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
