// SPDX-License-Identifier: Apache-2.0
#include "lib/definition/gradient/GradientBody.h"

#include "lib/definition/gradient/text/BodyText.h"
#include "lib/definition/gradient/text/CreationText.h"
#include "lib/definition/gradient/text/MovementText.h"
#include "lib/definition/gradient/text/SearchText.h"
#include "lib/definition/operations/Operations.h"
#include "lib/definition/operations/indices/Creation.h"

#include <fmt/format.h>

#include <algorithm>

namespace nereid::definition {

bool isComputed(const Dim &dim) {
  return !dim.symbol.empty() && !dim.isRest() && !isSizeName(dim.symbol);
}

GradientBody::GradientBody(const Operator &op) : op(op), names(op.nodes.size()) {
  for (const std::string &symbol : symbolsOf(op)) {
    taken.insert(symbol);
  }
  for (const Node &node : op.nodes) {
    taken.insert(node.name);
  }
  taken.insert(op.outputNames.begin(), op.outputNames.end());
  for (const Parameter &parameter : op.parameters) {
    taken.insert("grad_" + parameter.name); // what the outputs are called
  }
}

void GradientBody::fail(const std::string &message, const std::string &help) const {
  Diagnostic error = makeError("E0620", message).withHelp(help);
  error.file = op.path;
  throw NoGradient{error};
}

std::string GradientBody::fresh(const std::string &wanted) {
  std::string name = wanted;
  for (int i = 1; taken.contains(name); ++i) {
    name = fmt::format("{}_{}", wanted, i);
  }
  taken.insert(name);
  return name;
}

std::string GradientBody::line(const std::string &name, const std::string &text) {
  lines.push_back(name + " = " + text);
  return name;
}

std::string GradientBody::once(const std::string &wanted, const std::string &text) {
  auto [known, isNew] = shared.emplace(text, "");
  if (isNew) {
    known->second = named(wanted, text);
  }
  return known->second;
}

/// Of a shape that an input can have: one that is computed is no input's.
bool GradientBody::isSaved(size_t which) const {
  const SymbolicShape &shape = shapeOf(op.outputs[which]);
  return std::none_of(shape.begin(), shape.end(), isComputed);
}

std::string GradientBody::value(int number) {
  const auto at = static_cast<size_t>(number);
  const Node &node = op.nodes[at];
  std::string &name = names[at];
  if (!name.empty()) {
    return name;
  }
  if (at < op.parameters.size()) {
    used.insert(at);
    return name = node.name;
  }
  if (isLeaf(node)) {
    return name = numberText(node);
  }
  if (auto output = std::find(op.outputs.begin(), op.outputs.end(), number);
      output != op.outputs.end()) {
    const auto which = static_cast<size_t>(output - op.outputs.begin());
    if (isSaved(which)) {
      saved.insert(which);
      return name = op.outputNames[which];
    }
  }
  std::vector<std::string> operands;
  std::string text;
  if (node.op == "_resample") {
    operands = {value(node.inputs[0])};
    text = resampledText(node, shapeOf(node.inputs[0]), operands[0], [&](const std::string &line) {
      const std::string place = fresh("place");
      forward.push_back(place + " = " + line);
      return place;
    });
  }
  if (node.op == "_spread" || (node.op == "_resample" && text.empty())) {
    fail(fmt::format("'{}' is needed for the gradient, but is not written in gradients",
                     node.source),
         "leave the inputs out whose gradients read it: --by names those that are wanted");
  }
  if (!text.empty()) {
    // written already
  } else if (const std::optional<SearchCall> search = searchOf(op, number)) {
    operands = {value(search->row), value(search->values)};
    text = searchText(*search, operands[0], operands[1]);
  } else {
    for (int input : node.inputs) {
      operands.push_back(value(input));
    }
    text =
        isCreation(node) ? creationText(*this, node, operands) : expressionText(node, op, operands);
  }
  name = isUnique(node) ? node.name : fresh("t");
  forward.push_back(name + " = " + text);
  return name;
}

/// A name that the body gives twice is none.
bool GradientBody::isUnique(const Node &node) const {
  const auto same = std::count_if(op.nodes.begin(), op.nodes.end(),
                                  [&](const Node &n) { return n.name == node.name; });
  const bool isOutput =
      std::find(op.outputNames.begin(), op.outputNames.end(), node.name) != op.outputNames.end();
  return !node.name.empty() && same == 1 && !isOutput;
}

std::string GradientBody::valueOf(const Node &node, const std::string &wanted) {
  for (size_t i = op.parameters.size(); i < op.nodes.size(); ++i) {
    const Node &other = op.nodes[i];
    if (other.op == node.op && other.inputs == node.inputs && other.attributes == node.attributes) {
      return value(static_cast<int>(i));
    }
  }
  std::vector<std::string> operands;
  for (int input : node.inputs) {
    operands.push_back(value(input));
  }
  const std::string text = expressionText(node, op, operands);
  auto [known, isNew] = keptNames.emplace(text, "");
  if (isNew) {
    known->second = fresh(wanted);
    forward.push_back(known->second + " = " + text);
  }
  return known->second;
}

std::string GradientBody::keptValue(const Node &node) {
  Node again = node;
  if (!dimsOf(node).empty()) {
    again.attributes["keepdim"] = true;
  }
  return valueOf(again, node.name.empty() ? "t" : node.name + "_kept");
}

void GradientBody::reads(const std::string &text) {
  const std::set<std::string> read = namesIn(text);
  for (size_t i = 0; i < op.parameters.size(); ++i) {
    if (read.contains(op.parameters[i].name)) {
      used.insert(i);
    }
  }
  for (size_t i = 0; i < op.outputs.size(); ++i) {
    if (!read.contains(op.outputNames[i])) {
      continue;
    }
    // What the gradient may name has this name, also where it is computed again.
    if (const std::string name = value(op.outputs[i]); name != op.outputNames[i]) {
      forward.push_back(op.outputNames[i] + " = " + name);
    }
  }
}

Share GradientBody::whole(const Share &share, int number) {
  const SymbolicShape &shape = shapeOf(number);
  if (share.shape == shape) {
    return share;
  }
  if (!shape.empty() && shape[0].isRest()) {
    const std::string like = value(number);
    return {named("grad", fmt::format("torch.where({0} == {0}, {1}, {1})", like, share.text)),
            shape};
  }
  const std::string name =
      share.text.find(' ') == std::string::npos ? share.text : named("grad", share.text);
  return {named("grad", fmt::format("{}.expand({})", name, shapeText(shape))), shape};
}

} // namespace nereid::definition
