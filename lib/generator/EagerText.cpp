// SPDX-License-Identifier: Apache-2.0
#include "lib/generator/EagerText.h"

#include "lib/definition/operations/Operations.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cctype>

namespace nereid::generator {
namespace {

bool isOfPath(char c) {
  return std::isalnum(static_cast<unsigned char>(c)) != 0 || c == '_' || c == '.';
}

template <size_t N>
bool isOneOf(const std::array<std::string_view, N> &list, std::string_view wanted) {
  return std::find(list.begin(), list.end(), wanted) != list.end();
}

/// Where a definition says nothing of the module, or another one than PyTorch has.
std::string called(const std::string &path) {
  static constexpr std::array<std::string_view, 5> modules = {"", "torch", "F", "nn.functional",
                                                              "torch.nn.functional"};
  static constexpr std::array<std::string_view, 3> ofPython = {"float", "int", "bool"};
  const size_t dot = path.rfind('.');
  const std::string module = dot == std::string::npos ? "" : path.substr(0, dot);
  const std::string name = dot == std::string::npos ? path : path.substr(dot + 1);
  if (path.starts_with(".") || !isOneOf(modules, module) || isOneOf(ofPython, path)) {
    return path;
  }
  const definition::Operation *operation = definition::findOperation(name);
  return definition::moduleOf(name) + "." + (operation ? operation->name : name);
}

} // namespace

std::string withModules(const std::string &line) {
  std::string text;
  for (size_t at = 0; at < line.size();) {
    if (!isOfPath(line[at])) {
      text += line[at++];
      continue;
    }
    size_t end = at;
    while (end < line.size() && isOfPath(line[end])) {
      ++end;
    }
    const std::string path = line.substr(at, end - at);
    const bool isName = std::isdigit(static_cast<unsigned char>(path[0])) == 0;
    const size_t next = line.find_first_not_of(' ', end);
    const bool isCall = isName && next != std::string::npos && line[next] == '(';
    text += isCall ? called(path) : path;
    at = end;
  }
  return text;
}

std::string eagerFunction(const CalledOperator &called, const SizeNames &names) {
  std::string parameters, results;
  for (const CallParameter &parameter : callParameters(called)) {
    parameters += (parameters.empty() ? "" : ", ") + parameter.name;
  }
  std::string text = fmt::format("def _eager({}):\n", parameters);
  text += "    \"\"\"The definition by PyTorch's own operations.\"\"\"\n";
  for (const SizeNames::Step &step : names.steps) {
    if (!step.isRest) {
      const Operand &operand = called.operands[static_cast<size_t>(step.operand)];
      const definition::Dim &dim = *(operand.shape.end() - step.fromEnd);
      text += fmt::format("    {} = {}.shape[-{}]\n", dim.symbol, operand.name, step.fromEnd);
    }
  }
  std::string lead;
  for (const Operand &operand : called.operands) {
    lead = lead.empty() && !operand.isOutput ? operand.name : lead;
  }
  for (const std::string &line : bodyLines(called.op)) {
    text += "    " + withModules(line) + "\n";
  }
  for (const Operand &operand : called.operands) {
    if (operand.isOutput) {
      const std::string type = operand.fixedDtype
                                   ? fmt::format("torch.{}", torchName(*operand.fixedDtype))
                                   : lead + ".dtype";
      results += fmt::format("{}{}.to({})", results.empty() ? "" : ", ", operand.name, type);
    }
  }
  return text + "    return " + results + "\n\n\n";
}

} // namespace nereid::generator
