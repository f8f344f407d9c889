// SPDX-License-Identifier: Apache-2.0
#include "lib/words/Shipped.h"

#include "lib/definition/operations/Operations.h"
#include "lib/support/AtomicFile.h"
#include "lib/words/Gradients.h"

#include <algorithm>
#include <array>
#include <charconv>
#include <filesystem>

namespace nereid::words {
namespace {

namespace fs = std::filesystem;

/// What may tell definitions apart.
bool isSubject(const Term &term) {
  return term.kind == TermKind::Operation || term.kind == TermKind::Weak ||
         term.kind == TermKind::Context || term.kind == TermKind::Word ||
         term.kind == TermKind::Type;
}

void addTerms(std::set<std::string> &to, const std::string &text) {
  if (auto tokens = tokenize("", text)) {
    for (const Term &term : findTerms(*tokens)) {
      if (isSubject(term) && !term.isNegated) {
        to.insert(term.idea);
      }
    }
  }
}

/// Names that are called: letters, digits and "_" before a "(".
void addCalls(std::set<std::string> &to, const std::string &body) {
  for (size_t at = body.find('('); at != std::string::npos; at = body.find('(', at + 1)) {
    size_t begin = at;
    while (begin > 0 && (std::isalnum(static_cast<unsigned char>(body[begin - 1])) != 0 ||
                         body[begin - 1] == '_')) {
      --begin;
    }
    if (begin < at) {
      addTerms(to, body.substr(begin, at - begin));
    }
  }
}

/// Calls of layers, whose inputs go by one letter.
constexpr std::array layers = {"F.linear(", "F.conv"};

std::string layerInput(const std::string &name) {
  return name == "b" ? "bias" : name == "w" ? "weight" : "";
}

void describe(Shipped &one) {
  const definition::Operator &op = one.op;
  addTerms(one.names, op.name);
  if (definition::writesInputs(op)) {
    one.names.insert(inPlaceIdea);
  }
  addTerms(one.summary, op.summary);
  addTerms(one.support, op.requirement);
  for (const auto *terms : {&one.names, &one.summary}) {
    for (const std::string &term : *terms) {
      if (term.ends_with("_norm")) {
        one.classes.insert("normalisation");
      }
      if (term == "loss" || term.ends_with("_loss") ||
          term.find("cross_entropy") != std::string::npos) {
        one.classes.insert("loss");
      }
    }
  }
  addCalls(one.body, op.body);
  readNumbers(one);
  bool reduces = false;
  for (const definition::Node &node : op.nodes) {
    const definition::Operation *operation = definition::findOperation(node.op);
    // A convolution pads by itself: that is no padding somebody asks for.
    const bool isWithin = node.op == "pad" && op.body.find("pad(") == std::string::npos;
    if (operation) {
      if (!isWithin) {
        addTerms(one.body, node.op);
      }
      reduces |= operation->kind == definition::OperationKind::Reduction ||
                 operation->kind == definition::OperationKind::Composite;
    }
  }
  const bool isLayer = std::any_of(layers.begin(), layers.end(), [&](const char *layer) {
    return op.body.find(layer) != std::string::npos;
  });
  for (const definition::Parameter &parameter : op.parameters) {
    if (parameter.isScalar && parameter.name == "seed") {
      one.classes.insert("random");
    }
    addTerms(one.inputs, parameter.name);
    const std::string layer = isLayer ? layerInput(parameter.name) : "";
    addTerms(one.inputs, layer);
    addTerms(one.support, layer);
    addTerms(one.support, parameter.name + ". " + parameter.description);
  }
  for (size_t i = 0; one.computes("backward") && i < op.outputNames.size(); ++i) {
    one.gradients.push_back(gradientIdeas(op.outputNames[i], op.outputDescriptions[i]));
  }
  if (const auto tokens = tokenize("", op.summary); tokens && one.gradients.size() == 1) {
    for (const GradientFact &fact : findGradients(*tokens, findTerms(*tokens))) {
      one.gradients[0].insert(fact.idea); // "with respect to its rows"
    }
  }
  for (const definition::Scene &scene : op.scenes) {
    addTerms(one.support, scene.name + ". " + scene.description);
  }
  const auto tensors =
      std::count_if(op.parameters.begin(), op.parameters.end(),
                    [](const definition::Parameter &parameter) { return !parameter.isScalar; });
  one.structure = {{"rows", reduces}, {"elementwise", !reduces}, {"two_tensors", tensors == 2}};
}

} // namespace

void readNumbers(Shipped &one) {
  one.arguments = argumentsOf(one.op.body);
  std::multiset<double> numbers;
  const auto tokens = tokenize("", one.op.name + " " + one.op.summary + " " + one.op.body);
  for (size_t i = 0; tokens && i < tokens->size(); ++i) {
    const std::string &text = (*tokens)[i].text;
    double value = 0;
    if ((*tokens)[i].kind == TokenKind::Number &&
        std::from_chars(text.data(), text.data() + text.size(), value).ec == std::errc()) {
      // "dim=-1" is no 1
      const bool isNegative = i > 1 && (*tokens)[i - 1].text == "-" &&
                              (*tokens)[i - 2].kind == TokenKind::Symbol &&
                              (*tokens)[i - 2].text != ")" && (*tokens)[i - 2].text != "]";
      numbers.insert(isNegative ? -value : value);
    }
  }
  for (const BodyArgument &argument : one.arguments) {
    for (const double value : isMixed(argument) ? argument.values : std::vector<double>()) {
      if (const auto place = numbers.find(value); place != numbers.end()) {
        numbers.erase(place);
      }
    }
  }
  one.numbers = {numbers.begin(), numbers.end()};
}

bool Shipped::computes(const std::string &idea) const {
  return names.contains(idea) || summary.contains(idea) || body.contains(idea);
}

bool Shipped::hasGradientOf(const std::string &idea) const {
  return std::any_of(gradients.begin(), gradients.end(),
                     [&](const std::set<std::string> &ideas) { return ideas.contains(idea); });
}

bool Shipped::has(const std::string &idea) const {
  return computes(idea) || support.contains(idea) || classes.contains(idea);
}

std::vector<Shipped> readShipped(const std::vector<std::string> &folders) {
  std::vector<Shipped> list;
  for (const std::string &folder : folders) {
    std::error_code failed;
    const auto way = fs::directory_options::skip_permission_denied;
    for (fs::recursive_directory_iterator at(folder, way, failed), end; !failed && at != end;
         at.increment(failed)) {
      if (at->path().extension() != ".toml") {
        continue;
      }
      Diagnostics diags;
      auto text = readTextFile(at->path().string());
      auto op = text ? definition::parseOperator(at->path().string(), *text, diags) : std::nullopt;
      if (op && std::none_of(list.begin(), list.end(),
                             [&](const Shipped &one) { return one.op.name == op->name; })) {
        Shipped one;
        one.text = std::move(*text);
        one.op = std::move(*op);
        describe(one);
        list.push_back(std::move(one));
      }
    }
  }
  std::sort(list.begin(), list.end(),
            [](const Shipped &a, const Shipped &b) { return a.op.name < b.op.name; });
  return list;
}

std::set<std::string> knownTerms(const std::vector<Shipped> &shipped) {
  std::set<std::string> known;
  for (const Shipped &one : shipped) {
    for (const auto *terms : {&one.names, &one.summary, &one.body, &one.support, &one.classes}) {
      known.insert(terms->begin(), terms->end());
    }
  }
  return known;
}

} // namespace nereid::words
