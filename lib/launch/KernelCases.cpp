// SPDX-License-Identifier: Apache-2.0
#include "lib/launch/KernelCases.h"

#include "lib/launch/CasePeers.h"
#include "lib/launch/KernelReference.h"
#include "lib/launch/TensorMaker.h"
#include "lib/support/AtomicFile.h"
#include "lib/verify/KeptCase.h"

#include <fmt/format.h>

#include <algorithm>
#include <cctype>
#include <cstring>
#include <filesystem>

namespace nereid::launch {

using runtime::Tensor;

namespace {

Diagnostic badCase(const std::string &path, const std::string &name, const std::string &what) {
  return makeError("E0016", fmt::format("case '{}' of '{}' {}", name, path, what))
      .withHelp("kernels/README.md has the format of cases.toml");
}

std::map<std::string, std::string> readTexts(toml::node_view<const toml::node> node) {
  std::map<std::string, std::string> texts;
  if (const toml::table *table = node.as_table()) {
    for (const auto &[key, value] : *table) {
      texts[std::string(key.str())] = value.value_or(std::string());
    }
  }
  return texts;
}

/// What is wrong with the list; empty: nothing.
std::string readWorkspaces(toml::node_view<const toml::node> node, KernelCase &result) {
  if (!node) {
    return "";
  }
  const toml::array *names = node.as_array();
  if (names == nullptr) {
    return "expects a list of names for the key 'workspace'";
  }
  for (const toml::node &one : *names) {
    const std::string name = one.value_or(std::string());
    const bool isArgument =
        std::any_of(result.arguments.begin(), result.arguments.end(),
                    [&](const std::string &text) { return text.starts_with(name + "="); });
    if (name.empty() || !isArgument) {
      return fmt::format("has the workspace '{}', which is not in 'args'", name);
    }
    if (result.reference.contains(name)) {
      return fmt::format("has both a reference and a 'workspace' for '{}'", name);
    }
    result.workspaces.insert(name);
  }
  return "";
}

Result<KernelCase> readCase(const toml::table &table, const std::string &folder,
                            const std::string &path) {
  KernelCase result;
  result.name = table["name"].value_or(std::string());
  std::string kernel = table["kernel"].value_or(std::string());
  result.kernel = folder + "/" + kernel;
  result.signature = table["signature"].value_or(std::string());
  result.grid = table["grid"].value_or(std::string());
  result.bytes = table["bytes"].value_or(std::string());
  result.flops = table["flops"].value_or(std::string());
  result.unfusedBytes = table["unfused_bytes"].value_or(std::string());
  result.ladder = table["ladder"].value_or(std::string());
  result.rung = table["rung"].value_or(std::string());
  if (result.ladder.empty() != result.rung.empty()) {
    return badCase(path, result.name,
                   fmt::format("has the key '{}' without '{}'",
                               result.rung.empty() ? "ladder" : "rung",
                               result.rung.empty() ? "rung" : "ladder"));
  }
  for (const char *key : {"name", "kernel", "signature", "grid"}) {
    if (table[key].value_or(std::string()).empty()) {
      return badCase(path, result.name, fmt::format("has no text for the key '{}'", key));
    }
  }
  const toml::table *arguments = table["args"].as_table();
  if (arguments == nullptr) {
    return badCase(path, result.name, "has no table 'args'");
  }
  for (const auto &[key, value] : *arguments) {
    std::string text;
    if (auto asText = value.value<std::string>()) {
      text = *asText;
    } else if (auto integer = value.value_exact<int64_t>()) {
      text = std::to_string(*integer);
    } else if (auto real = value.value<double>()) {
      text = fmt::format("{}", *real);
    } else {
      return badCase(path, result.name,
                     fmt::format("expects a text or a number for argument '{}'", key.str()));
    }
    result.arguments.push_back(std::string(key.str()) + "=" + text);
  }
  if (const toml::table *given = table["given"].as_table()) {
    for (const auto &[key, value] : *given) {
      result.given.push_back(
          fmt::format("{}={}", std::string(key.str()), value.value_or(std::string())));
    }
  }
  result.isFinite = table["finite"].value_or(false);
  result.computed = readTexts(table["computed"]);
  result.reference = readTexts(table["reference"]);
  if (std::string wrong = readWorkspaces(table["workspace"], result); !wrong.empty()) {
    return badCase(path, result.name, wrong);
  }
  if (std::string wrong = readPeers(table["peer"], folder, result); !wrong.empty()) {
    return badCase(path, result.name, wrong);
  }
  if (const toml::table *tolerance = table["tolerance"].as_table()) {
    result.tolerance =
        definition::Tolerance{(*tolerance)["rtol"].value_or(0.0),
                              (*tolerance)["atol"].value_or(0.0), "stated by the case"};
  }
  if (const toml::array *use = table["use"].as_array()) {
    auto has = [&](std::string_view word) {
      return std::any_of(use->begin(), use->end(), [&](const toml::node &node) {
        return node.value_or(std::string()) == word;
      });
    };
    result.isTest = has("test");
    result.isBench = has("bench");
  }
  if (result.reference.empty() && (result.isTest || result.peer.empty())) {
    return badCase(path, result.name, "has no table 'reference'");
  }
  return result;
}

} // namespace

std::string_view formName(ReferenceForm form) {
  return form == ReferenceForm::Eager      ? "eager"
         : form == ReferenceForm::Compiled ? "compiled"
                                           : "graph";
}

Result<std::vector<KernelCase>> loadCases(const std::string &folder) {
  std::string path = folder + "/cases.toml";
  auto text = readTextFile(path);
  if (!text) {
    return text.error();
  }
  toml::parse_result parsed = toml::parse(*text, path);
  if (!parsed) {
    auto begin = parsed.error().source().begin;
    int line = static_cast<int>(begin.line), column = static_cast<int>(begin.column);
    return makeError("E0016", std::string(parsed.error().description()))
        .at(path, *text, {line, column, column + 1});
  }
  int64_t schema = parsed.table()["schema"].value_or(int64_t{0});
  if (schema != 1) {
    return makeError("E0016", fmt::format("'{}' expects schema = 1, but has {}", path, schema));
  }
  const toml::array *cases = parsed.table()["case"].as_array();
  if (cases == nullptr || cases->empty()) {
    return makeError("E0016", fmt::format("'{}' has no [[case]]", path));
  }
  std::vector<KernelCase> result;
  for (const toml::node &node : *cases) {
    const toml::table *table = node.as_table();
    if (table == nullptr) {
      return makeError("E0016", fmt::format("'{}' expects tables under [[case]]", path));
    }
    auto one = readCase(*table, folder, path);
    if (!one) {
      return one.error();
    }
    result.push_back(std::move(*one));
  }
  return result;
}

void KernelCase::addArguments(const std::vector<std::string> &assignments) {
  for (const std::string &assignment : assignments) {
    computed.erase(assignment.substr(0, assignment.find('=')));
    arguments.push_back(assignment);
  }
}

Result<std::vector<KernelCase>> casesNamedBy(const std::string &reference) {
  using std::filesystem::path;
  const KernelReference wanted = parseKernelReference(reference);
  const bool isFile = path(wanted.path).extension() == ".py";
  const std::string folder = isFile ? path(wanted.path).parent_path().string() : wanted.path;
  auto cases = loadCases(folder.empty() ? "." : folder);
  if (!cases) {
    return cases;
  }
  std::erase_if(*cases, [&](const KernelCase &one) {
    const KernelReference its = parseKernelReference(one.kernel);
    const bool isOther = isFile && path(its.path).filename() != path(wanted.path).filename();
    return isOther || (!wanted.function.empty() && its.function != wanted.function);
  });
  return cases;
}

Result<std::vector<KernelCase>> chooseCases(const std::string &where,
                                            const std::vector<KernelCase> &cases,
                                            const std::string &name) {
  std::vector<KernelCase> chosen;
  std::vector<std::string> names;
  for (const KernelCase &one : cases) {
    names.push_back(one.name);
    if (one.name == name) {
      chosen.push_back(one);
    }
  }
  if (chosen.empty()) {
    return verify::unknownCase(where, name, names);
  }
  return chosen;
}

std::set<std::string> outputNames(const KernelCase &testCase) {
  std::set<std::string> names;
  for (const auto *table : {&testCase.reference, &testCase.peer}) {
    for (const auto &[name, expression] : *table) {
      names.insert(name);
    }
  }
  return names;
}

std::set<std::string> changedNames(const KernelCase &testCase) {
  std::set<std::string> names = outputNames(testCase);
  names.insert(testCase.workspaces.begin(), testCase.workspaces.end());
  return names;
}

/// "name=maker", null where the case has none.
static const std::string *makerOf(const KernelCase &testCase, const std::string &name) {
  auto found = std::find_if(testCase.arguments.begin(), testCase.arguments.end(),
                            [&](const std::string &text) { return text.starts_with(name + "="); });
  return found == testCase.arguments.end() ? nullptr : &*found;
}

bool startsEmpty(const KernelCase &testCase, const std::string &output) {
  const std::string *maker = makerOf(testCase, output);
  return !maker || maker->starts_with(output + "=empty(");
}

std::string beforeName(const std::string &output) { return output + "_before"; }

bool namesBefore(const KernelCase &testCase, const std::string &output) {
  const std::string name = beforeName(output);
  auto isPartOfName = [](const std::string &text, size_t at) {
    return at < text.size() &&
           (std::isalnum(static_cast<unsigned char>(text[at])) != 0 || text[at] == '_');
  };
  return std::any_of(testCase.reference.begin(), testCase.reference.end(), [&](const auto &one) {
    const std::string &text = one.second;
    for (size_t at = text.find(name); at != std::string::npos; at = text.find(name, at + 1)) {
      if (!isPartOfName(text, at - 1) && !isPartOfName(text, at + name.size())) {
        return true;
      }
    }
    return false;
  });
}

Status resetOutputs(const KernelCase &testCase, KernelArguments &arguments) {
  for (const std::string &name : outputNames(testCase)) {
    auto output = arguments.tensors.find(name);
    if (output == arguments.tensors.end()) {
      return makeError("E0016", fmt::format("case '{}' has a reference for '{}', which is no "
                                            "tensor argument",
                                            testCase.name, name));
    }
    const Tensor &tensor = output->second;
    if (startsEmpty(testCase, name)) {
      tensor.poison();
      continue;
    }
    Tensor &before = arguments.before[name];
    if (!before.isValid()) {
      auto fresh = makeTensor(*makerOf(testCase, name), tensor.dtype(), arguments.integers);
      if (!fresh) {
        return fresh.error();
      }
      before = *fresh;
    }
    std::memcpy(tensor.data(), before.data(), tensor.byteCount());
  }
  return Done{};
}

} // namespace nereid::launch
