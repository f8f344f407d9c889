// SPDX-License-Identifier: Apache-2.0
#include "lib/importer/body/ImportNodes.h"

#include "lib/definition/Graph.h"
#include "lib/definition/gradient/text/DefinitionText.h"
#include "lib/importer/body/Expressions.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <charconv>
#include <filesystem>
#include <set>

namespace nereid::importer {
namespace {

Diagnostic importError(const Model &model, std::string code, std::string message) {
  Diagnostic error = makeError(std::move(code), std::move(message));
  error.file = model.path;
  return error;
}

/// By the number in the file, or by name.
Result<size_t> findNode(const Model &model, const std::string &word) {
  int64_t number = -1;
  const auto read = std::from_chars(word.data(), word.data() + word.size(), number);
  const bool isNumber = read.ec == std::errc() && read.ptr == word.data() + word.size();
  std::vector<std::string> names;
  for (size_t i = 0; i < model.nodes.size(); ++i) {
    const Node &node = model.nodes[i];
    if (isNumber ? node.number == number : !word.empty() && node.name == word) {
      return i;
    }
    names.push_back(node.name);
  }
  auto error = importError(model, "E0636", fmt::format("the model has no node '{}'", word));
  const auto near = isNumber ? std::vector<std::string>{} : nearestNames(word, names);
  return error.withHelp(near.empty() ? "nereid analyze --nodes lists all nodes with their numbers"
                                     : fmt::format("nearest names: {}", fmt::join(near, ", ")));
}

class Importer {
public:
  Importer(const Model &model, const std::vector<size_t> &nodes,
           const std::map<std::string, int64_t> &sizes)
      : model(model), nodes(nodes), sizes(sizes) {}

  Result<definition::DefinitionParts> run(const std::string &name) {
    definition::DefinitionParts parts;
    parts.name = name;
    names.of(name); // which no value may have
    for (size_t i : nodes) {
      made.insert(model.nodes[i].outputs.begin(), model.nodes[i].outputs.end());
    }
    for (size_t i : nodes) {
      written.push_back(writtenNode(model.nodes[i]));
    }
    keepNeeded();
    for (size_t at = 0; at < nodes.size(); ++at) {
      if (!written[at].isNeeded) {
        continue;
      }
      if (!written[at].text) {
        return written[at].text.error();
      }
      parts.lines.insert(parts.lines.end(), written[at].lines.begin(), written[at].lines.end());
      parts.lines.push_back(leftSide(model.nodes[nodes[at]], written[at].results) + " = " +
                            *written[at].text);
    }
    if (auto problem = chooseType(parts); !problem) {
      return problem.error();
    }
    if (auto problem = addInputs(parts); !problem) {
      return problem.error();
    }
    if (auto problem = addOutputs(parts); !problem) {
      return problem.error();
    }
    parts.summary = summary();
    if (auto problem = addCase(); !problem) {
      return problem.error();
    }
    parts.cases = &cases;
    return parts;
  }

private:
  /// A node as it is said, or why it is not.
  struct Written {
    Result<std::string> text;
    size_t results = 1;
    std::vector<std::string> lines; ///< in front of it
    std::vector<std::string> divisors;
    std::vector<std::string> reads; ///< values that the text and these lines name
    bool isNeeded = false;
  };

  Written writtenNode(const Node &node) {
    Expressions expressions(model, names);
    Written one{expressions.of(node)};
    one.results = expressions.results();
    one.lines = expressions.lines();
    one.divisors = expressions.divisors();
    one.reads = expressions.used();
    ranges.insert(expressions.ranges().begin(), expressions.ranges().end());
    return one;
  }

  /// Values that the model gives, or that nodes read which were not chosen.
  std::set<std::string> neededOutside() const {
    const std::set<size_t> chosen(nodes.begin(), nodes.end());
    std::set<std::string> needed(model.outputs.begin(), model.outputs.end());
    for (size_t i = 0; i < model.nodes.size(); ++i) {
      if (!chosen.contains(i)) {
        needed.insert(model.nodes[i].inputs.begin(), model.nodes[i].inputs.end());
      }
    }
    return needed;
  }

  /// What computes sizes alone is said by shapes already, and nothing reads it then.
  void keepNeeded() {
    std::set<std::string> needed = neededOutside();
    for (size_t at = nodes.size(); at-- > 0;) {
      const Node &node = model.nodes[nodes[at]];
      Written &one = written[at];
      one.isNeeded = std::any_of(node.outputs.begin(), node.outputs.end(),
                                 [&](const std::string &name) { return needed.contains(name); });
      if (one.isNeeded) {
        const auto &reads = one.text ? one.reads : node.inputs;
        needed.insert(reads.begin(), reads.end());
      }
    }
    for (const Written &one : written) {
      for (const std::string &name : one.isNeeded ? one.reads : std::vector<std::string>()) {
        if (std::find(used.begin(), used.end(), name) == used.end()) {
          used.push_back(name);
        }
      }
    }
  }

  /// "values, indices": the names of a node's first results.
  std::string leftSide(const Node &node, size_t results) {
    std::vector<std::string> left;
    for (size_t i = 0; i < results; ++i) {
      const bool isThere = i < node.outputs.size() && !node.outputs[i].empty();
      left.push_back(isThere ? names.of(node.outputs[i]) : "_");
    }
    return fmt::format("{}", fmt::join(left, ", "));
  }

  std::string summary() const {
    std::vector<std::string> operators;
    for (size_t i : nodes) {
      operators.push_back(model.nodes[i].op);
    }
    if (operators.size() > 12) {
      operators.resize(11);
      operators.push_back("others");
    }
    const bool isOne = nodes.size() == 1;
    return fmt::format("Node{} {}{} of {}: {}.", isOne ? "" : "s", model.nodes[nodes[0]].number,
                       isOne ? "" : fmt::format(" to {}", model.nodes[nodes.back()].number),
                       printable(std::filesystem::path(model.path).filename().string()),
                       fmt::join(operators, ", "));
  }

  /// That of the first input that is no constant; others are fixed.
  Status chooseType(definition::DefinitionParts &parts) {
    for (const bool mayBeConstant : {false, true}) {
      for (const std::string &name : used) {
        const bool isConstant = model.initialiser(name) != nullptr;
        if (made.contains(name) || (isConstant && !mayBeConstant)) {
          continue;
        }
        const Value *value = model.value(name);
        const auto dtype = value ? value->type.dtype() : std::nullopt;
        const bool isBetter = dtype && (!mainType || (!isFloat(*mainType) && isFloat(*dtype)));
        mainType = isBetter ? dtype : mainType;
      }
      if (mainType) {
        break;
      }
    }
    if (std::all_of(used.begin(), used.end(),
                    [this](const std::string &name) { return made.contains(name); })) {
      return importError(model, "E0636", "the nodes read no tensor, which a definition has to")
          .withHelp("choose nodes that use what these make as well, by --nodes");
    }
    if (!mainType || isFloat8(*mainType)) {
      return importError(model, "E0636", "the nodes have no input of a type that definitions know")
          .withHelp("definitions know float16 to float64, bfloat16, integers and bool");
    }
    parts.dtypes = {*mainType};
    return Done{};
  }

  Result<definition::TensorText> tensorText(const std::string &name) {
    const Value *value = model.value(name);
    const auto dtype = value ? value->type.dtype() : std::nullopt;
    if (!value || !value->shape || !dtype) {
      return importError(model, "E0634",
                         fmt::format("the shape or type of '{}' is not known", name))
          .withHelp("save the model with the shapes of its values (onnx.shape_inference)");
    }
    definition::TensorText tensor;
    tensor.name = names.of(name);
    tensor.description = tensor.name == name ? "" : printable("'" + name + "' in the model");
    for (const Dim &dim : *value->shape) {
      if (!dim.isKnown()) {
        return importError(
                   model, "E0634",
                   fmt::format("a size of '{}' is not known: {}", name, text(*value->shape)))
            .withHelp("save the model with the shapes of its values (onnx.shape_inference), or "
                      "begin with an earlier node");
      }
      if (dim.isSize()) {
        tensor.shape.push_back({"", dim.size});
        continue;
      }
      tensor.shape.push_back({names.ofSize(dim.symbol), 0});
      symbols[dim.symbol] = tensor.shape.back().symbol;
    }
    if (*dtype != *mainType) {
      tensor.dtype = dtype;
    }
    return tensor;
  }

  Status addInputs(definition::DefinitionParts &parts) {
    std::set<std::string> divisors;
    for (const Written &one : written) {
      if (one.isNeeded) {
        divisors.insert(one.divisors.begin(), one.divisors.end());
      }
    }
    for (const std::string &name : used) {
      if (made.contains(name)) {
        continue;
      }
      auto tensor = tensorText(name);
      if (!tensor) {
        return tensor.error();
      }
      if (model.initialiser(name) && tensor->description.empty()) {
        tensor->description = "constant in the model";
      }
      if (auto found = ranges.find(name); found != ranges.end()) {
        tensor->range = found->second;
      }
      if (divisors.contains(name)) {
        parts.constraints.push_back(tensor->name + " != 0");
      }
      parts.inputs.push_back(std::move(*tensor));
    }
    return Done{};
  }

  Status addOutputs(definition::DefinitionParts &parts) {
    const std::set<std::string> needed = neededOutside();
    std::set<std::string> readInside;
    for (size_t at = 0; at < nodes.size(); ++at) {
      if (written[at].isNeeded) {
        readInside.insert(written[at].reads.begin(), written[at].reads.end());
      }
    }
    for (size_t at = 0; at < nodes.size(); ++at) {
      const Node &node = model.nodes[nodes[at]];
      const size_t results = written[at].results;
      for (size_t o = 0; o < node.outputs.size(); ++o) {
        const std::string &name = node.outputs[o];
        const bool isNeeded = needed.contains(name) || (o >= results && readInside.contains(name));
        if (name.empty() || !isNeeded) {
          continue;
        }
        if (o >= results) {
          return nodeError("E0636", model, node,
                           fmt::format("its result {}, '{}', is used, but definitions have the "
                                       "first{} alone",
                                       o, name, results == 1 ? "" : fmt::format(" {}", results)))
              .withHelp("choose other nodes by --nodes");
        }
        auto tensor = tensorText(name);
        if (!tensor) {
          return tensor.error();
        }
        parts.outputs.push_back(std::move(*tensor));
      }
    }
    if (parts.outputs.empty()) {
      return importError(model, "E0636", "nothing reads what these nodes compute");
    }
    return Done{};
  }

  Status addCase() {
    definition::Case one;
    one.name = "model";
    std::string missing;
    for (const auto &[symbol, name] : symbols) {
      auto found = sizes.find(symbol);
      if (found == sizes.end()) {
        missing += fmt::format(" --size {}=…", symbol);
        continue;
      }
      one.binding.symbols[name] = found->second;
    }
    if (!missing.empty()) {
      return importError(model, "E0634", "the nodes have sizes that the model leaves open")
          .withHelp("give those of the case that is timed, they stay open in the definition:" +
                    missing);
    }
    cases = {one};
    return Done{};
  }

  const Model &model;
  const std::vector<size_t> &nodes;
  const std::map<std::string, int64_t> &sizes;
  Names names;
  std::vector<Written> written;  ///< for each of `nodes`
  std::vector<std::string> used; ///< by the lines that are kept, in the order of their first use
  std::map<std::string, definition::IndexRange> ranges;
  std::set<std::string> made;
  std::map<std::string, std::string> symbols; ///< names in the definition
  std::optional<DType> mainType;
  std::vector<definition::Case> cases;
};

} // namespace

Result<std::vector<size_t>> selectNodes(const Model &model, const std::string &text) {
  std::vector<size_t> chosen;
  if (text.empty()) {
    chosen.resize(model.nodes.size());
    for (size_t i = 0; i < chosen.size(); ++i) {
      chosen[i] = i;
    }
    return chosen;
  }
  if (const size_t dots = text.find(".."); dots != std::string::npos) {
    auto first = findNode(model, text.substr(0, dots)),
         last = findNode(model, text.substr(dots + 2));
    if (!first || !last) {
      return first ? last.error() : first.error();
    }
    if (*first > *last) {
      return importError(model, "E0636",
                         fmt::format("'{}' begins behind its end: node {} and node {}", text,
                                     model.nodes[*first].number, model.nodes[*last].number))
          .withHelp("--nodes FIRST..LAST, in the model's order");
    }
    for (size_t i = *first; i <= *last; ++i) {
      chosen.push_back(i);
    }
    return chosen;
  }
  std::set<size_t> set;
  for (size_t at = 0; at <= text.size();) {
    const size_t comma = std::min(text.find(',', at), text.size());
    auto node = findNode(model, text.substr(at, comma - at));
    if (!node) {
      return node.error();
    }
    set.insert(*node);
    at = comma + 1;
  }
  return std::vector<size_t>(set.begin(), set.end());
}

bool isReadBack(const ImportedDefinition &definition, Diagnostics &diags) {
  Diagnostics problems;
  const bool isRead =
      definition::parseOperator(definition.name + ".toml", definition.text, problems).has_value();
  for (const Diagnostic &problem : isRead ? std::vector<Diagnostic>() : problems.all()) {
    diags.add(problem);
  }
  return isRead;
}

Result<ImportedDefinition> importNodes(const Model &model, const std::vector<size_t> &nodes,
                                       const std::string &name,
                                       const std::map<std::string, int64_t> &sizes,
                                       Diagnostics &diags) {
  Importer importer(model, nodes, sizes);
  auto parts = importer.run(name);
  if (!parts) {
    return parts.error();
  }
  ImportedDefinition result{name, definitionText(*parts)};
  if (!isReadBack(result, diags)) {
    return importError(model, "E0636", "a definition cannot say what these nodes compute")
        .withHelp("choose other nodes by --nodes");
  }
  return result;
}

} // namespace nereid::importer
