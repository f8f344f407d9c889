// SPDX-License-Identifier: Apache-2.0
// Statements of a body: assignments in order, each name bound to the node it was last given, then
// the outputs are looked up and what none of them needs is dropped.
#include "lib/definition/reader/Body.h"

#include "lib/definition/operations/Infer.h"
#include "lib/definition/reader/BodyExpressions.h"
#include "lib/language/syntax/Parser.h"

#include <fmt/format.h>

#include <algorithm>
#include <sstream>

namespace nereid::definition {
namespace {

using language::ExprKind;
using language::Stmt;
using language::StmtKind;

/// Removes the indentation all lines share; returns how many characters that was.
int dedent(std::string &text) {
  std::vector<std::string> lines;
  std::istringstream in(text);
  size_t shared = std::string::npos;
  for (std::string line; std::getline(in, line);) {
    size_t first = line.find_first_not_of(" \t");
    if (first != std::string::npos) {
      shared = std::min(shared, first);
    }
    lines.push_back(std::move(line));
  }
  if (shared == std::string::npos || shared == 0) {
    return 0;
  }
  text.clear();
  for (const std::string &line : lines) {
    text += (line.size() > shared ? line.substr(shared) : "") + "\n";
  }
  return static_cast<int>(shared);
}

bool isDocumentation(const Stmt &statement) {
  return statement.kind == StmtKind::Pass ||
         (statement.kind == StmtKind::ExprStmt && statement.value &&
          statement.value->kind == ExprKind::String);
}

bool isTuple(const language::ExprPtr &expr) { return expr->kind == ExprKind::Tuple; }

/// `values, indices = torch.sort(x)`, and `a, b = x, y`.
void readSeveral(const Stmt &statement, BodyExpressions &reader) {
  const language::Expr &target = *statement.targets[0];
  const bool areNames = std::all_of(target.operands.begin(), target.operands.end(),
                                    [](const auto &each) { return each->kind == ExprKind::Name; });
  if (statement.kind != StmtKind::Assign || statement.targets.size() != 1 || !areNames) {
    reader.fail("E0608", statement.range, "an assignment in a body expects names on its left");
    return;
  }
  std::vector<std::optional<int>> values;
  const language::Expr &right = *statement.value;
  if (right.kind == ExprKind::Tuple && right.operands.size() == target.operands.size()) {
    for (const language::ExprPtr &each : right.operands) {
      values.push_back(reader.read(*each));
    }
  } else if (target.operands.size() != 2 || right.kind == ExprKind::Tuple) {
    reader
        .fail("E0608", statement.range,
              fmt::format("{} names expect as many values", target.operands.size()))
        .withHelp("give each of them a value, or write two names for a call that returns two");
    return;
  } else {
    const std::optional<std::pair<int, int>> both = reader.readPair(right);
    values = {both ? std::optional(both->first) : std::nullopt,
              both ? std::optional(both->second) : std::nullopt};
  }
  for (size_t i = 0; i < values.size(); ++i) {
    if (target.operands[i]->text != "_") {
      reader.assign(target.operands[i]->text, values[i], target.operands[i]->range);
    }
  }
}

void readStatement(const Stmt &statement, BodyExpressions &reader) {
  if (isDocumentation(statement)) {
    return;
  }
  bool isAssign = statement.kind == StmtKind::Assign || statement.kind == StmtKind::AugAssign;
  if (!isAssign || !statement.value) {
    reader.fail("E0608", statement.range, "a body expects assignments, but got another statement")
        .withHelp("write one 'name = expression' per line");
    return;
  }
  if (std::any_of(statement.targets.begin(), statement.targets.end(), isTuple)) {
    readSeveral(statement, reader);
    return;
  }
  for (const language::ExprPtr &target : statement.targets) {
    if (target->kind != ExprKind::Name) {
      reader.fail("E0608", target->range, "an assignment in a body expects one name on its left");
      return;
    }
  }
  std::optional<int> value;
  if (statement.kind == StmtKind::AugAssign) {
    value = reader.binary(statement.text, *statement.targets[0], *statement.value, statement.range);
  } else {
    value = reader.read(*statement.value);
  }
  for (const language::ExprPtr &target : statement.targets) {
    reader.assign(target->text, value, target->range);
  }
}

/// Keeps the parameters and what the outputs need, in order.
void dropUnused(Operator &op) {
  std::vector<bool> needed(op.nodes.size(), false);
  std::fill(needed.begin(), needed.begin() + static_cast<ptrdiff_t>(op.parameters.size()), true);
  for (int output : op.outputs) {
    needed[static_cast<size_t>(output)] = true;
  }
  for (size_t i = op.nodes.size(); i-- > 0;) {
    for (int input : needed[i] ? op.nodes[i].inputs : std::vector<int>{}) {
      needed[static_cast<size_t>(input)] = true;
    }
  }
  std::vector<int> renumbered(op.nodes.size(), -1);
  std::vector<Node> kept;
  for (size_t i = 0; i < op.nodes.size(); ++i) {
    if (!needed[i]) {
      continue;
    }
    renumbered[i] = static_cast<int>(kept.size());
    for (int &input : op.nodes[i].inputs) {
      input = renumbered[static_cast<size_t>(input)];
    }
    kept.push_back(std::move(op.nodes[i]));
  }
  for (int &output : op.outputs) {
    output = renumbered[static_cast<size_t>(output)];
  }
  op.nodes = std::move(kept);
}

bool collectOutputs(Operator &op, BodyExpressions &reader, SourceRange whole) {
  bool complete = true;
  for (const std::string &name : op.outputNames) {
    std::optional<int> node = reader.lookup(name);
    if (!node) {
      if (!reader.wasAssigned(name)) {
        reader.fail("E0608", whole, fmt::format("the body does not assign the output '{}'", name))
            .withHelp(fmt::format("add a line '{} = …'", name));
      }
      complete = false;
      continue;
    }
    if (isLeaf(op.nodes[static_cast<size_t>(*node)])) {
      reader
          .fail("E0608", whole,
                fmt::format("the output '{}' is an input or a number unchanged", name))
          .withHelp("an operator computes something; drop the output or compute it");
      complete = false;
      continue;
    }
    op.outputs.push_back(*node);
  }
  return complete;
}

} // namespace

bool readBody(Operator &op, const BodyPlace &place, Diagnostics &diags) {
  std::string text = op.body;
  int indentation = dedent(text);
  // Blank lines in front make the parser count the definition file's own lines.
  std::string padded(static_cast<size_t>(std::max(0, place.firstLine - 1)), '\n');
  Diagnostics syntax;
  std::optional<language::SourceModule> module =
      language::parseStatements(place.path, padded + text, syntax);
  BodyExpressions reader(op, place, indentation, diags);
  for (const Diagnostic &problem : syntax.all()) {
    reader.report(problem);
  }
  if (!module || syntax.hasErrors()) {
    return false;
  }
  for (const language::StmtPtr &statement : module->body) {
    readStatement(*statement, reader);
  }
  if (reader.failed()) {
    return false;
  }
  SourceRange whole{place.firstLine, place.firstColumn, place.firstColumn + 1};
  if (!collectOutputs(op, reader, whole)) {
    return false;
  }
  dropUnused(op);
  return true;
}

} // namespace nereid::definition
