// SPDX-License-Identifier: Apache-2.0
// Shared naming of wrappers, see WrapperNames.h.
#include "lib/generator/WrapperNames.h"

#include "lib/definition/operations/SizeAlgebra.h"

#include <algorithm>
#include <cctype>
#include <sstream>

namespace nereid::generator {

std::vector<CallParameter> callParameters(const CalledOperator &called) {
  std::vector<CallParameter> list;
  for (size_t i = 0; i < called.operands.size(); ++i) {
    if (!called.operands[i].isOutput) {
      list.push_back({called.operands[i].name, static_cast<int>(i), 0});
    }
  }
  for (const definition::Parameter &parameter : called.op.parameters) {
    if (parameter.isScalar) {
      list.push_back(
          {parameter.name, -1, parameter.value, parameter.isSize(), parameter.isInteger});
    }
  }
  return list;
}

SizeNames::SizeNames(const CalledOperator &called) {
  std::set<std::string> taken = {"rows",      "columns",   "grid",        "kernel", "blocks",
                                 "wide",      "dtype",     "device",      "shape",  "bytes",
                                 "rest",      "launch",    "schedule",    "isWide", "kept",
                                 "signature", "rowBlocks", "columnBlocks"};
  for (const definition::Parameter &parameter : called.op.parameters) {
    taken.insert(parameter.name);
  }
  taken.insert(called.op.outputNames.begin(), called.op.outputNames.end());
  for (const definition::Parameter &parameter : called.op.parameters) {
    if (parameter.isSize()) {
      names[parameter.name] = parameter.name;
      given.push_back(parameter.name);
    }
  }
  auto assign = [&](const std::string &symbol, const std::string &wanted) {
    std::string name = wanted;
    while (taken.contains(name)) {
      name += "_size";
    }
    taken.insert(name);
    return names[symbol] = name;
  };
  for (size_t i = 0; i < called.operands.size(); ++i) {
    const Operand &operand = called.operands[i];
    if (operand.isOutput) {
      continue;
    }
    int count = static_cast<int>(operand.shape.size());
    for (int d = 0; d < count; ++d) {
      const definition::Dim &dim = operand.shape[static_cast<size_t>(d)];
      if (dim.symbol.empty() || names.contains(dim.symbol)) {
        continue;
      }
      Step step;
      step.operand = static_cast<int>(i);
      step.isRest = dim.isRest();
      step.fromEnd = dim.isRest() ? count - 1 : count - d;
      step.variable = assign(dim.symbol, dim.isRest() ? "leading" : dim.symbol);
      steps.push_back(std::move(step));
    }
  }
}

std::string SizeNames::computed(const std::string &size, const std::string &prefix) const {
  const auto isPart = [](char c) {
    return std::isalnum(static_cast<unsigned char>(c)) || c == '_';
  };
  std::string text;
  for (size_t begin = 0, end = 0; begin < size.size(); begin = end) {
    end = begin + 1;
    while (isPart(size[begin]) && end < size.size() && isPart(size[end])) {
      ++end;
    }
    const std::string word = size.substr(begin, end - begin);
    text += definition::isSizeName(word) ? prefix + variable({word, 0}) : word;
  }
  return "(" + text + ")";
}

std::string SizeNames::variable(const definition::Dim &dim) const {
  if (dim.symbol.empty()) {
    return std::to_string(dim.constant);
  }
  auto found = names.find(dim.symbol);
  if (found != names.end() || dim.isRest() || definition::isSizeName(dim.symbol)) {
    return found == names.end() ? dim.symbol : found->second;
  }
  return computed(dim.symbol, "");
}

std::vector<std::string> bodyLines(const definition::Operator &op) {
  std::vector<std::string> lines;
  size_t shared = std::string::npos;
  std::istringstream stream(op.body);
  for (std::string line; std::getline(stream, line);) {
    size_t first = line.find_first_not_of(" \t");
    if (first != std::string::npos) {
      shared = std::min(shared, first);
      lines.push_back(std::move(line));
    }
  }
  for (std::string &line : lines) {
    line.erase(0, shared);
  }
  return lines;
}

} // namespace nereid::generator
