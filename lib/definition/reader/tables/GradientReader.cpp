// SPDX-License-Identifier: Apache-2.0
#include "lib/definition/reader/tables/GradientReader.h"

#include "lib/definition/reader/tables/SceneReader.h"
#include "lib/language/syntax/Parser.h"

#include <fmt/format.h>

namespace nereid::definition {
namespace {

/// Whether it can be read and is neither an expression nor gives `result` a value.
bool isWithoutResult(const std::string &text, const std::string &result) {
  using language::StmtKind;
  Diagnostics unused;
  const auto read = language::parseStatements("gradient", text, unused);
  if (!read || read->body.empty() || read->body[0]->kind == StmtKind::ExprStmt) {
    return false; // whoever reads the backward definition says what is wrong
  }
  return ("\n" + text).find("\n" + result) == std::string::npos;
}

} // namespace

void readGradients(TomlReader &toml, Operator &op) {
  constexpr std::string_view what = "[gradient]", shared = "body";
  const toml::table *table = toml.subtable(toml.root(), "gradient", false);
  if (!table) {
    return;
  }
  std::vector<std::string> known = {std::string(shared)};
  for (const Parameter &parameter : op.parameters) {
    if (!parameter.isScalar && (!parameter.fixedDtype || isFloat(*parameter.fixedDtype))) {
      known.push_back(parameter.name);
    }
  }
  toml.rejectUnknownKeys(*table, what, known);
  const std::string body =
      table->contains(shared) ? readProse(toml, *table, what, shared, true).value_or("") : "";
  for (size_t i = 0; i < op.parameters.size(); ++i) {
    const std::string &name = op.parameters[i].name;
    if (!table->contains(name)) {
      continue;
    }
    if (std::optional<std::string> text = readProse(toml, *table, what, name, true)) {
      if (isWithoutResult(*text, "grad_" + name)) {
        toml.fail("E0602", table->get(name)->source(),
                  fmt::format("'{0}' of {1} expects an expression, or statements that assign "
                              "'grad_{0}'",
                              name, what));
      }
      op.nodes[i].attributes["gradient"] = std::move(*text);
      op.nodes[i].attributes["shared"] = body;
    }
  }
}

} // namespace nereid::definition
