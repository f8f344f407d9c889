// SPDX-License-Identifier: Apache-2.0
#include "lib/definition/reader/Reassigned.h"

#include "lib/language/syntax/Parser.h"

#include <algorithm>
#include <set>
#include <sstream>

namespace nereid::definition {
namespace {

using language::Expr;
using language::ExprKind;
using language::StmtKind;

void addTargets(const Expr &target, std::set<std::string> &names) {
  if (target.kind == ExprKind::Name) {
    names.insert(target.text);
  }
  const bool isList = target.kind == ExprKind::Tuple || target.kind == ExprKind::List ||
                      target.kind == ExprKind::Starred;
  for (size_t i = 0; isList && i < target.operands.size(); ++i) {
    addTargets(*target.operands[i], names);
  }
}

/// Of the body itself: functions have names of their own.
void addAssigned(const std::vector<language::StmtPtr> &statements, std::set<std::string> &names) {
  for (const language::StmtPtr &statement : statements) {
    const bool assigns = statement->kind == StmtKind::Assign || statement->kind == StmtKind::For;
    for (size_t i = 0; assigns && i < statement->targets.size(); ++i) {
      addTargets(*statement->targets[i], names);
    }
    addAssigned(statement->body, names);
    addAssigned(statement->orelse, names);
  }
}

/// Without the indentation that all lines share.
std::string dedented(const std::string &body) {
  size_t shared = std::string::npos;
  std::istringstream in(body);
  for (std::string line; std::getline(in, line);) {
    shared = std::min(shared, line.find_first_not_of(" \t"));
  }
  std::string text;
  in = std::istringstream(body);
  for (std::string line; std::getline(in, line);) {
    text += (line.size() > shared ? line.substr(shared) : "") + "\n";
  }
  return text;
}

} // namespace

std::vector<std::string> reassignedInputs(const Operator &op) {
  Diagnostics unused;
  const auto module = language::parseStatements(op.path, dedented(op.body), unused);
  std::set<std::string> names;
  if (module) {
    addAssigned(module->body, names);
  }
  std::vector<std::string> inputs;
  for (const Parameter &parameter : op.parameters) {
    if (names.contains(parameter.name)) {
      inputs.push_back(parameter.name);
    }
  }
  return inputs;
}

} // namespace nereid::definition
