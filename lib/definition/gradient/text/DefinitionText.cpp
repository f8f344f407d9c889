// SPDX-License-Identifier: Apache-2.0
#include "lib/definition/gradient/text/DefinitionText.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>

namespace nereid::definition {
namespace {

/// A basic string of TOML.
std::string quoted(const std::string &text) {
  std::string result = "\"";
  for (char one : text) {
    result += one == '"' || one == '\\' ? std::string("\\") + one : std::string(1, one);
  }
  return result + "\"";
}

std::string shapeText(const SymbolicShape &shape) {
  std::vector<std::string> entries;
  for (const Dim &dim : shape) {
    entries.push_back(dim.symbol.empty() ? std::to_string(dim.constant) : quoted(dim.symbol));
  }
  return fmt::format("[{}]", fmt::join(entries, ", "));
}

std::string tableText(const char *kind, const TensorText &tensor) {
  std::string text = fmt::format("\n[{}.{}]\n", kind, tensor.name);
  if (tensor.isScalar) {
    const std::string number = fmt::format("{}", tensor.value);
    const bool isFraction = number.find_first_of(".en") != std::string::npos;
    text += fmt::format("value = {}{}\n", number, tensor.isInteger || isFraction ? "" : ".0");
  } else {
    text += fmt::format("shape = {}\n", shapeText(tensor.shape));
    text += tensor.dtype ? fmt::format("dtype = \"{}\"\n", torchName(*tensor.dtype)) : "";
    if (tensor.range) {
      text +=
          fmt::format("range = [{}, {}]\n", quoted(tensor.range->low), quoted(tensor.range->high));
      text +=
          tensor.range->distinct == 0 ? "" : fmt::format("distinct = {}\n", tensor.range->distinct);
    }
  }
  return text + (tensor.description.empty()
                     ? ""
                     : fmt::format("description = {}\n", quoted(tensor.description)));
}

std::string casesText(const std::vector<Case> &cases, bool hasRest) {
  std::string text = "cases = [\n";
  for (const Case &one : cases) {
    std::vector<std::string> entries;
    if (!one.name.empty()) {
      entries.push_back("name = " + quoted(one.name));
    }
    if (hasRest) {
      entries.push_back(fmt::format("\"...\" = [{}]", fmt::join(one.binding.rest, ", ")));
    }
    for (const auto &[symbol, size] : one.binding.symbols) {
      entries.push_back(fmt::format("{} = {}", symbol, size));
    }
    text += fmt::format("  {{ {} }},\n", fmt::join(entries, ", "));
  }
  return text + "]\n";
}

} // namespace

std::string definitionText(const DefinitionParts &parts) {
  std::vector<std::string> dtypes;
  for (DType dtype : parts.dtypes) {
    dtypes.push_back(quoted(std::string(torchName(dtype))));
  }
  std::string text =
      fmt::format("[operator]\nname = {}\nsummary = {}\ndtypes = [{}]\n", quoted(parts.name),
                  quoted(parts.summary), fmt::join(dtypes, ", "));
  if (parts.isDeterministic) {
    text += "deterministic = true\n";
  }
  if (!parts.constraints.empty()) {
    std::vector<std::string> constraints;
    for (const std::string &each : parts.constraints) {
      constraints.push_back(quoted(each));
    }
    text += fmt::format("constraints = [{}]\n", fmt::join(constraints, ", "));
  }
  text += fmt::format("body = \"\"\"\n{}\n\"\"\"\n", fmt::join(parts.lines, "\n"));
  for (const TensorText &input : parts.inputs) {
    text += tableText("inputs", input);
  }
  for (const TensorText &output : parts.outputs) {
    text += tableText("outputs", output);
  }
  const bool hasRest =
      std::any_of(parts.inputs.begin(), parts.inputs.end(), [](const TensorText &input) {
        return !input.shape.empty() && input.shape[0].isRest();
      });
  if (parts.accuracyCases && !parts.accuracyCases->empty()) {
    text += "\n[accuracy]\n" + casesText(*parts.accuracyCases, hasRest);
  }
  return text + "\n[performance]\n" + casesText(*parts.cases, hasRest);
}

} // namespace nereid::definition
