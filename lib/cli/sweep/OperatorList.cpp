// SPDX-License-Identifier: Apache-2.0
#include "lib/cli/sweep/OperatorList.h"

#include "lib/cli/sweep/DevelopAll.h"
#include "lib/definition/operations/Operations.h"
#include "lib/develop/sweep/FindDefinitions.h"
#include "lib/develop/sweep/KernelForms.h"
#include "lib/develop/sweep/SummaryText.h"
#include "lib/document/OperatorClass.h"
#include "lib/report/Table.h"
#include "lib/support/Hash.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <filesystem>

namespace nereid::cli {

using definition::Argument;
using develop::FoundDefinition;
using develop::OperatorResult;
using Json = nlohmann::ordered_json;

namespace {

struct List {
  report::Table table;
  Json json = Json::array();
};

/// Of a definition that is refused.
Diagnostic firstError(const Diagnostics &problems) {
  for (const Diagnostic &one : problems.all()) {
    if (one.severity == Severity::Error) {
      return one;
    }
  }
  return makeError("E0601", "it cannot be read");
}

const char *kindName(definition::OperationKind kind) {
  switch (kind) {
  case definition::OperationKind::Pointwise:
    return "pointwise";
  case definition::OperationKind::Reduction:
    return "reduction";
  case definition::OperationKind::Contraction:
    return "contraction";
  case definition::OperationKind::Convolution:
    return "convolution";
  case definition::OperationKind::View:
    return "view";
  case definition::OperationKind::Scan:
    return "scan";
  case definition::OperationKind::Sort:
    return "sort";
  case definition::OperationKind::Indexing:
    return "indexing";
  case definition::OperationKind::Creation:
    return "creation";
  case definition::OperationKind::Composite:
    return "composite";
  }
  return "";
}

std::string argumentsText(const std::vector<Argument> &arguments) {
  std::string text;
  for (const Argument &argument : arguments) {
    text += (text.empty() ? "" : ", ") + argument.name +
            (argument.hasDefault ? "=" + argument.defaultText : "");
  }
  return text;
}

/// With a column that says whether a generated kernel computes it, asked of the generator.
List functionList() {
  List list{report::Table({"function", "arguments", "kind", ">FLOP per element", "in a kernel"})};
  auto add = [&](const std::string &name, const std::vector<Argument> &arguments,
                 const std::string &kind, std::optional<double> flops) {
    const auto missing = develop::missingForm(name);
    const std::string text = argumentsText(arguments);
    list.table.add({name, text, kind, flops ? fmt::format("{}", *flops) : "",
                    missing ? "no, " + missing->code : "yes"});
    Json json = {{"function", name}, {"arguments", text}, {"kind", kind}};
    json["flops_per_element"] = flops ? Json(*flops) : Json();
    json["in_kernel"] = !missing;
    if (missing) {
      json["code"] = missing->code;
      json["message"] = missing->message;
    }
    list.json.push_back(std::move(json));
  };
  for (const std::string &name : definition::operationNames()) {
    const definition::Operation *operation = definition::findOperation(name);
    add(name, operation->arguments, kindName(operation->kind), operation->flops);
  }
  for (const std::string &name : definition::functionNames()) {
    add(name, definition::findFunction(name)->arguments, "function of others", std::nullopt);
  }
  return list;
}

std::string typesText(const definition::Operator &op) {
  std::vector<std::string_view> names;
  names.reserve(op.dtypes.size());
  for (DType dtype : op.dtypes) {
    names.push_back(torchName(dtype));
  }
  return fmt::format("{}", fmt::join(names, ", "));
}

/// What a sweep found, unless the definition was changed since.
const OperatorResult *resultOf(const FoundDefinition &definition,
                               const std::optional<develop::Summary> &summary, bool &isOutdated) {
  if (!summary) {
    return nullptr;
  }
  for (const OperatorResult &one : summary->results) {
    if (one.name == definition.name && one.state != develop::OperatorState::Pending) {
      isOutdated = one.definitionHash != toHex(sha256(definition.text));
      return &one;
    }
  }
  return nullptr;
}

Json resultJson(const OperatorResult *result, bool isOutdated) {
  if (result == nullptr) {
    return {};
  }
  Json json = develop::toJson(*result);
  json["outdated"] = isOutdated;
  return json;
}

List operatorList(const std::vector<FoundDefinition> &found,
                  const std::optional<develop::Summary> &summary) {
  std::vector<std::string> titles = {"operator", "class", "types", "kernel"};
  if (summary) {
    titles.insert(titles.end(), {">correct", ">speed-up", "state"});
  }
  List list{report::Table(titles)};
  for (const FoundDefinition &one : found) {
    const auto missing =
        one.op ? develop::missingKernel(*one.op) : std::optional(firstError(one.problems));
    bool isOutdated = false;
    const OperatorResult *result = resultOf(one, summary, isOutdated);
    const std::string operatorClass = one.op ? document::operatorClass(*one.op) : "";
    std::vector<std::string> cells = {
        one.name, operatorClass, one.op ? typesText(*one.op) : "",
        missing ? fmt::format("no, {}: {}", missing->code, missing->message) : "yes"};
    if (summary) {
      cells.insert(cells.end(), {result != nullptr ? develop::correctText(*result) : "-",
                                 result != nullptr ? develop::speedupText(*result) : "-",
                                 result == nullptr ? "not done"
                                 : isOutdated      ? "the definition was changed since"
                                                   : develop::stateName(result->state)});
    }
    list.table.add(cells);
    Json json = {{"operator", one.name}, {"definition", one.path}, {"class", operatorClass}};
    json["dtypes"] = Json::array();
    if (one.op) {
      for (DType dtype : one.op->dtypes) {
        json["dtypes"].push_back(torchName(dtype));
      }
    }
    json["kernel"] = !missing;
    if (missing) {
      json["code"] = missing->code;
      json["message"] = missing->message;
    }
    json["result"] = resultJson(result, isOutdated);
    list.json.push_back(std::move(json));
  }
  return list;
}

/// The file that was named, or the one that a sweep here has left.
Result<std::optional<develop::Summary>> openResults(const std::string &named) {
  const std::string standard = std::string(sweepFolder) + "/summary.json";
  std::error_code ignored;
  if (named.empty() && !std::filesystem::exists(standard, ignored)) {
    return std::optional<develop::Summary>();
  }
  auto summary = develop::readSummary(named.empty() ? standard : named);
  if (!summary) {
    return summary.error();
  }
  return std::optional(std::move(*summary));
}

} // namespace

void listOperators(const OperatorListOptions &options, Session &session) {
  auto summary = openResults(options.results);
  if (!summary) {
    return session.fail(summary.error());
  }
  const std::string folder =
      options.folder.empty() ? develop::shippedDefinitions() : options.folder;
  Diagnostics diags;
  std::optional<std::vector<FoundDefinition>> found = std::vector<FoundDefinition>();
  if (!folder.empty()) { // a copied program has none beside it
    found = develop::findDefinitions(folder, diags);
  }
  if (!found) {
    return session.fail(diags);
  }
  const List functions = functionList(), operators = operatorList(*found, *summary);
  if (session.json) {
    Json json;
    json["functions"] = functions.json;
    json["definitions"] = folder;
    json["operators"] = operators.json;
    return fmt::print("{}\n", json.dump(2));
  }
  fmt::print("Functions of definitions\n{}", functions.table.text());
  if (folder.empty()) {
    return fmt::print("\nNo definitions lie beside this program\n");
  }
  fmt::print("\nOperators of {}\n{}", folder, operators.table.text());
  const bool hasNewer = *summary && !(*summary)->isComplete;
  fmt::print("{}", !*summary  ? "nereid develop --all tells how right and how quick they are\n"
                   : hasNewer ? "not all of them are done: nereid develop --all goes on\n"
                              : "");
}

} // namespace nereid::cli
