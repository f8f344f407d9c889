// SPDX-License-Identifier: Apache-2.0
#include "lib/definition/reader/CaseReader.h"

#include "lib/definition/cases/IndexData.h"
#include "lib/definition/operations/Shape.h"
#include "lib/definition/operations/SizeExpression.h"

#include <fmt/format.h>

#include <algorithm>

namespace nereid::definition {

void CaseReader::read(const toml::table &table, std::string_view what, std::vector<Case> &cases) {
  const toml::node *node = table.get("cases");
  if (!node) {
    return;
  }
  if (!node->is_array()) {
    toml.fail("E0602", node->source(), fmt::format("'cases' of {} expects a list", what));
    return;
  }
  for (const toml::node &entry : *node->as_array()) {
    if (!entry.is_table()) {
      toml.fail(
          "E0602", entry.source(),
          fmt::format("a case of {} expects a table such as {{ name = \"a\", D = 128 }}", what));
      continue;
    }
    std::optional<Case> one = readCase(*entry.as_table(), std::string(what));
    if (!one) {
      continue;
    }
    if (std::any_of(cases.begin(), cases.end(),
                    [&](const Case &other) { return other.name == one->name; })) {
      toml.fail("E0602", entry.source(),
                fmt::format("two cases of {} are called '{}'", what, one->name))
          .withHelp("results name their case: give each a name of its own");
      continue;
    }
    cases.push_back(std::move(*one));
  }
}

std::optional<Case> CaseReader::readCase(const toml::table &table, const std::string &what) {
  std::vector<std::string> symbols = symbolsOf(op);
  for (const ComputedDims::Named &dim :
       computed.dims) { // cases have the sizes that the shape names
    std::erase(symbols, dim.name);
  }
  for (const ComputedDims::Named &size : computed.sizes) {
    symbols.push_back(size.name);
  }
  std::vector<std::string> known = symbols;
  known.push_back("name");
  toml.rejectUnknownKeys(table, "a case of " + what, known);
  Case one;
  bool complete = true;
  for (const std::string &symbol : symbols) {
    const toml::node *node = table.get(symbol);
    if (!node) {
      toml.fail("E0602", table.source(),
                fmt::format("a case of {} expects a value for '{}'", what, symbol));
      complete = false;
    } else if (symbol == "...") {
      complete &= readSizes(*node, one.binding.rest);
    } else {
      std::vector<int64_t> size;
      complete &= readSize(*node, symbol, size);
      one.binding.symbols[symbol] = size.empty() ? 0 : size[0];
    }
  }
  complete = complete && computeDims(one.binding, table);
  one.name = toml.line(table, "a case of " + what, "name", false).value_or("");
  if (!complete || !fitsAddressSpace(one, table) || !meetsConstraints(one, what, table) ||
      !hasSizes(one, table)) {
    return std::nullopt;
  }
  if (one.name.empty()) {
    one.name = caseName(one.binding);
  }
  return one;
}

/// The sizes of computed dimensions, in the place of those that only they name.
bool CaseReader::computeDims(Binding &binding, const toml::table &table) {
  Binding named;
  for (const ComputedDims::Named &dim : computed.dims) {
    const Result<SizeNumber> size = evaluateSizes(dim.text, binding);
    if (!size || size->whole < 0) {
      toml.fail("E0602", table.source(),
                fmt::format("the dimension '{}' of a case {}", dim.text,
                            size ? fmt::format("is {}", size->whole) : "has more than 64 bits"));
      return false;
    }
    named.symbols[dim.name] = size->whole;
  }
  for (const ComputedDims::Named &size : computed.sizes) {
    binding.symbols.erase(size.name);
  }
  binding.symbols.merge(named.symbols);
  return true;
}

bool CaseReader::readSize(const toml::node &node, const std::string &symbol,
                          std::vector<int64_t> &sizes) {
  if (!node.is_integer() || node.as_integer()->get() < 0) {
    toml.fail("E0602", node.source(), fmt::format("'{}' expects a size of at least 0", symbol));
    return false;
  }
  sizes.push_back(node.as_integer()->get());
  return true;
}

bool CaseReader::readSizes(const toml::node &node, std::vector<int64_t> &sizes) {
  if (!node.is_array() || node.as_array()->size() > 16) {
    toml.fail("E0602", node.source(), "'...' expects a list of at most 16 sizes");
    return false;
  }
  for (const toml::node &entry : *node.as_array()) {
    if (!readSize(entry, "...", sizes)) {
      return false;
    }
  }
  return true;
}

bool CaseReader::fitsAddressSpace(const Case &one, const toml::table &table) {
  for (const Node &node : op.nodes) {
    Result<std::vector<int64_t>> sizes = bind(node.shape, one.binding);
    if (sizes && !elementCountOf(*sizes)) {
      toml.fail("E0602", table.source(),
                fmt::format("a tensor of {} has more elements than an address can name",
                            sizesText(*sizes)));
      return false;
    }
  }
  return true;
}

bool CaseReader::hasSizes(const Case &one, const toml::table &table) {
  for (const Node &node : op.nodes) {
    if (const Result<std::vector<int64_t>> sizes = bind(node.shape, one.binding); !sizes) {
      toml.fail("E0602", table.source(), sizes.error().message);
      return false;
    }
  }
  return true;
}

std::string CaseReader::caseName(const Binding &binding) const {
  const Node &output = op.nodes[static_cast<size_t>(op.outputs[0])];
  Result<std::vector<int64_t>> sizes = bind(output.shape, binding);
  return sizes ? fmt::format("{}", fmt::join(*sizes, "x")) : "case";
}

bool CaseReader::meetsConstraints(const Case &one, const std::string &what,
                                  const toml::table &table) {
  bool isMet = true;
  for (const Constraint &constraint : op.constraints) {
    std::string why = violation(constraint, op, one.binding, std::nullopt);
    if (!why.empty()) {
      toml.fail("E0617", table.source(),
                fmt::format("case '{}' of {} does not meet the constraint '{}': {}",
                            one.name.empty() ? caseName(one.binding) : one.name, what,
                            constraint.text, why))
          .withHelp("change the case, or the constraint");
      isMet = false;
    }
  }
  for (const Parameter &parameter : op.parameters) {
    const std::string why = parameter.range ? rangeProblem(parameter, one.binding) : "";
    if (!why.empty()) {
      toml.fail("E0617", table.source(),
                fmt::format("case '{}' of {}: {}",
                            one.name.empty() ? caseName(one.binding) : one.name, what, why))
          .withHelp("change the case, or the range");
      isMet = false;
    }
  }
  return isMet;
}

} // namespace nereid::definition
