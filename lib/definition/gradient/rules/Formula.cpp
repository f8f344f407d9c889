// SPDX-License-Identifier: Apache-2.0
// Gradients by the formulas of derivatives.def.
#include "lib/definition/gradient/rules/Derivatives.h"
#include "lib/definition/gradient/rules/Rules.h"
#include "lib/definition/gradient/text/BodyText.h"
#include "lib/definition/operations/Shape.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <sstream>

namespace nereid::definition {
namespace {

const std::string noShare = "0";

/// Of the operation's operands the name of number `which`.
std::string operandName(const Node &node, size_t which) {
  for (const Argument &argument : findOperation(node.op)->arguments) {
    if (argument.type == ArgumentType::Operand && which-- == 0) {
      return argument.name;
    }
  }
  return "";
}

bool mentions(const std::string &rule, const std::string &name) {
  return withNames(rule, {{name, "\1"}}).find('\1') != std::string::npos;
}

class Formula {
public:
  Formula(GradientBody &body, const GradientOf &of, const std::string &rule)
      : body(body), node(of.node), of(of), rule(rule), shape(of.grad.shape) {}

  Share run(bool drops) {
    std::map<std::string, std::string> texts;
    size_t next = 0;
    for (const Argument &argument : findOperation(node.op)->arguments) {
      if (argument.type == ArgumentType::Operand) {
        const int from = node.inputs[next++];
        if (mentions(rule, argument.name)) {
          texts[argument.name] = body.value(from);
          spreads(body.shapeOf(from));
        }
      }
    }
    if (mentions(rule, "result")) {
      texts["result"] = drops ? body.keptValue(node) : body.value(of.number);
      spreads(drops ? of.grad.shape : node.shape);
    }
    if (node.op == "mean") {
      if (std::optional<std::string> mean = meanOf(of.grad.text)) {
        return {body.named("grad", *mean), shape};
      }
    }
    texts["grad"] = of.grad.text;
    const std::string text = written(filled(rule), texts);
    return {text, shape};
  }

private:
  void spreads(const SymbolicShape &with) { shape = broadcast(shape, with).value_or(node.shape); }

  /// Of a sum over the same dimensions, divided by their length: nothing has to know that.
  std::optional<std::string> meanOf(const std::string &name) {
    const std::string head = name + " = torch.sum(";
    const std::string tail = filled(", dim={dim}, keepdim=True)");
    auto found = std::find_if(body.lines.begin(), body.lines.end(), [&](const std::string &each) {
      return each.starts_with(head) && each.ends_with(tail);
    });
    if (found == body.lines.end() || !hasSummedAsMany(name)) {
      return std::nullopt;
    }
    const std::string summed =
        found->substr(head.size(), found->size() - head.size() - tail.size());
    body.lines.erase(found);
    return "torch.mean(" + summed + tail;
  }

  /// Whether the sum of this name is over as many elements as the mean.
  bool hasSummedAsMany(const std::string &name) const {
    const SymbolicShape &from = body.shapeOf(node.inputs[0]);
    const auto sum = body.summed.find(name);
    const std::vector<int64_t> dims = dimsOf(node);
    return !dims.empty() && sum != body.summed.end() &&
           std::all_of(dims.begin(), dims.end(), [&](int64_t dim) {
             return -dim <= std::ssize(sum->second) &&
                    *(sum->second.end() + dim) == *(from.end() + dim);
           });
  }

  /// With the node's dimensions and numbers.
  std::string filled(std::string text) const {
    auto replace = [&](const std::string &what, const std::string &by) {
      for (size_t at = 0; (at = text.find(what, at)) != std::string::npos; at += by.size()) {
        text.replace(at, what.size(), by);
      }
    };
    std::vector<std::string> dims, sizes;
    const SymbolicShape &from = body.shapeOf(node.inputs[0]);
    for (int64_t dim : dimsOf(node)) {
      dims.push_back(std::to_string(dim));
    }
    bool isOpen = false;
    for (int64_t i = -static_cast<int64_t>(from.size()); i < 0; ++i) {
      const Dim &dim = *(from.end() + i);
      if (dims.empty() || std::find(dims.begin(), dims.end(), std::to_string(i)) != dims.end()) {
        isOpen |= dim.isRest();
        const bool isName = dim.symbol.find(' ') == std::string::npos;
        sizes.push_back(dim.symbol.empty() ? std::to_string(dim.constant)
                        : isName           ? dim.symbol
                                           : "(" + dim.symbol + ")");
      }
    }
    if (text.find("{count}") != std::string::npos && isOpen) {
      body.fail(fmt::format("the gradient of '{}' divides by the number of elements of {}", node.op,
                            definition::text(from)),
                "give every dimension that is reduced a name");
    }
    const std::string count = sizes.empty() ? "1" : fmt::format("{}", fmt::join(sizes, " * "));
    replace("dim={dim}, ", dims.empty() ? "" : "dim={dim}, ");
    if (dims.empty()) {
      replace("keepdim=True", "keepdim=False");
    }
    replace("{dims}", tupleText(dims));
    replace("{dim}", takesOneDim(node) && dims.size() == 1 ? dims.front() : tupleText(dims));
    replace("{place}", dims.empty() ? "-1" : dims.front());
    replace("{count}", sizes.size() > 1 ? "(" + count + ")" : count);
    replace("{correction}", std::to_string(integerAttribute(node, "correction", 1)));
    return text;
  }

  /// Writes the rule's statements but for its result, which is returned as an operand.
  std::string written(const std::string &statements, std::map<std::string, std::string> texts) {
    std::istringstream in(statements);
    std::string result;
    for (std::string statement; std::getline(in, statement);) {
      const size_t equals = statement.find(" = ");
      const std::string target = equals == std::string::npos ? "out" : statement.substr(0, equals);
      const std::string source =
          equals == std::string::npos ? statement : statement.substr(equals + 3);
      const std::string text = withNames(source, texts);
      if (target == "out") {
        result = text;
        continue;
      }
      texts[target] = body.once(target, text);
    }
    const bool isAtom = result.find(' ') == std::string::npos && result.front() != '-';
    return isAtom || result == "-" + texts["grad"] ? result : body.named("grad", result);
  }

  GradientBody &body;
  const Node &node;
  const GradientOf &of;
  const std::string &rule;
  SymbolicShape shape;
};

} // namespace

bool hasNoShare(const Node &node, size_t which) {
  const std::string *rule = derivativeOf(node, operandName(node, which));
  return rule && *rule == noShare;
}

bool hasRule(const Node &node, size_t which) {
  switch (findOperation(node.op)->kind) {
  case OperationKind::View:
  case OperationKind::Contraction:
  case OperationKind::Convolution:
  case OperationKind::Indexing:
  case OperationKind::Sort:
    return true;
  default:
    return selectsElements(node) || derivativeOf(node, operandName(node, which));
  }
}

std::optional<Share> formulaGradient(GradientBody &body, const GradientOf &of, bool drops) {
  const std::string *rule = derivativeOf(of.node, operandName(of.node, of.which));
  return rule && !rule->empty() ? std::optional(Formula(body, of, *rule).run(drops)) : std::nullopt;
}

} // namespace nereid::definition
