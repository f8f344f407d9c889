// SPDX-License-Identifier: Apache-2.0
// Reads operations.def into the table of Operations.h, once, at first use.
#include "lib/definition/operations/Operations.h"

#include <fmt/format.h>

#include <algorithm>
#include <map>
#include <sstream>
#include <unordered_map>

namespace nereid::definition {
namespace {

ArgumentType typeOf(char letter) {
  switch (letter) {
  case 'B':
    return ArgumentType::Bool;
  case 'S':
    return ArgumentType::String;
  case 'I':
    return ArgumentType::Integer;
  case 'D':
    return ArgumentType::Dims;
  case 'N':
    return ArgumentType::TrailingShape;
  case 'P':
    return ArgumentType::Pair;
  case 'G':
    return ArgumentType::Padding;
  case 'O':
    return ArgumentType::Order;
  case 'R':
    return ArgumentType::Reduction;
  case 'X':
    return ArgumentType::Dimension;
  default:
    return ArgumentType::Operand;
  }
}

std::vector<Argument> readSignature(const std::string &signature) {
  std::vector<Argument> arguments;
  std::istringstream words(signature);
  for (std::string word; words >> word;) {
    size_t colon = word.find(':');
    Argument argument{word.substr(0, colon), typeOf(word[colon + 1]), false, ""};
    if (size_t equals = word.find('='); equals != std::string::npos) {
      argument.hasDefault = true;
      argument.defaultText = word.substr(equals + 1);
    }
    arguments.push_back(std::move(argument));
  }
  return arguments;
}

struct Table {
  std::map<std::string, Operation, std::less<>> operations;
  std::map<std::string, std::string, std::less<>> aliases;
  std::vector<std::string> names;
  /// Both, by what is asked for more often than all else: once for each node and block of a
  /// reference.
  std::unordered_map<std::string_view, const Operation *> byName;
  std::map<std::string, Function, std::less<>> functions;
  std::vector<std::string> functionNames;

  Table() {
#define NEREID_OPERATION(name, kind, flops, rounding, result, signature)                           \
  operations.emplace(#name, Operation{#name, OperationKind::kind, flops, rounding,                 \
                                      ResultType::result, readSignature(signature), "torch"});
#define NEREID_OPERATION_ALIAS(alias, name) aliases.emplace(#alias, #name);
#define NEREID_FUNCTION(name, signature, when, text) addForm(#name, signature, {when, text});
#define NEREID_WRITTEN(name, signature, example)                                                   \
  functions.emplace(#name, Function{#name, "torch", readSignature(signature), {}, example});
#include "lib/definition/operations/operations.def"
#define NEREID_MODULE(path, name) setModule(#name, #path);
#include "lib/definition/operations/operations.def"
    for (const auto &[name, operation] : operations) {
      const bool isOfPair = findPairOfIndices(name) && name.ends_with("_indices");
      const bool isWritten = !name.starts_with("_") && operation.result != ResultType::Cast;
      if (!isOfPair && isWritten) { // PyTorch has no such function
        names.push_back(name);
      }
    }
    for (const auto &[name, operation] : operations) {
      byName.emplace(name, &operation);
    }
    for (const auto &[alias, name] : aliases) {
      names.push_back(alias);
      if (auto found = operations.find(name); found != operations.end()) {
        byName.insert_or_assign(alias, &found->second);
      }
    }
    for (const auto &[name, function] : functions) {
      functionNames.push_back(name);
    }
  }

private:
  void addForm(const std::string &name, const std::string &signature, Function::Form form) {
    auto found =
        functions.try_emplace(name, Function{name, "torch", readSignature(signature), {}, ""});
    found.first->second.forms.push_back(std::move(form));
  }
  void setModule(const std::string &name, const std::string &path) {
    if (auto found = operations.find(name); found != operations.end()) {
      found->second.module = path;
    } else {
      functions.at(name).module = path;
    }
  }
};

const Table &table() {
  static const Table instance;
  return instance;
}

template <class T> const T *attribute(const Node &node, const std::string &name) {
  auto found = node.attributes.find(name);
  return found == node.attributes.end() ? nullptr : std::get_if<T>(&found->second);
}

} // namespace

int Operation::operandCount() const {
  return static_cast<int>(std::count_if(arguments.begin(), arguments.end(), [](const Argument &a) {
    return a.type == ArgumentType::Operand;
  }));
}

const Operation *findOperation(std::string_view name) {
  const Table &all = table();
  auto found = all.byName.find(name);
  return found == all.byName.end() ? nullptr : found->second;
}

const std::vector<std::string> &operationNames() { return table().names; }

const Function *findFunction(std::string_view name) {
  auto found = table().functions.find(name);
  return found == table().functions.end() ? nullptr : &found->second;
}

const std::vector<std::string> &functionNames() { return table().functionNames; }

static const std::vector<OperationPair> &pairs() {
  static const std::vector<OperationPair> table = {
#define NEREID_PAIR(name, values, indices) {#name, #values, #indices},
#include "lib/definition/operations/operations.def"
  };
  return table;
}

const OperationPair *findPair(std::string_view name) {
  auto found = std::find_if(pairs().begin(), pairs().end(),
                            [&](const OperationPair &pair) { return pair.name == name; });
  return found == pairs().end() ? nullptr : &*found;
}

const OperationPair *findPairOfIndices(std::string_view operation) {
  auto found = std::find_if(pairs().begin(), pairs().end(),
                            [&](const OperationPair &pair) { return pair.indices == operation; });
  return found == pairs().end() ? nullptr : &*found;
}

static const std::vector<std::string> &inPlaceFunctions() {
  static const std::vector<std::string> table = {
#define NEREID_IN_PLACE(name) #name,
#include "lib/definition/operations/operations.def"
  };
  return table;
}

bool hasInPlaceForm(std::string_view name) {
  const auto &all = inPlaceFunctions();
  return std::find(all.begin(), all.end(), name) != all.end();
}

std::vector<std::string> inPlaceNames() {
  std::vector<std::string> names;
  for (const std::string &each : inPlaceFunctions()) {
    names.push_back(each + "_");
  }
  return names;
}

std::string signatureText(const std::string &name, const std::vector<Argument> &arguments) {
  std::string list;
  for (const Argument &argument : arguments) {
    list += (list.empty() ? "" : ", ") + argument.name;
    if (argument.hasDefault && argument.defaultText != "all") {
      list += "=" + argument.defaultText;
    }
  }
  return name + "(" + list + ")";
}

std::string moduleOf(std::string_view name) {
  if (const Operation *operation = findOperation(name)) {
    return operation->module;
  }
  if (name == "cross_entropy" || name == "nll_loss") { // whose reader writes them out itself
    return "F";
  }
  const Function *function = findFunction(name);
  return function ? function->module : "torch";
}

bool isLeaf(const Node &node) {
  return node.op == "input" || node.op == "scalar" || node.op == "constant" || node.op == "size";
}

bool isCast(const Node &node) {
  const Operation *operation = findOperation(node.op);
  return operation && operation->result == ResultType::Cast;
}

bool isNumber(const Node &node) { return isLeaf(node) && node.op != "input"; }

std::vector<int64_t> dimsOf(const Node &node) {
  const auto *dims = attribute<std::vector<int64_t>>(node, "dim");
  return dims ? *dims : std::vector<int64_t>{};
}

bool keepsDim(const Node &node) {
  const bool *keep = attribute<bool>(node, "keepdim");
  return keep && *keep;
}

int64_t integerAttribute(const Node &node, const std::string &name, int64_t otherwise) {
  const int64_t *value = attribute<int64_t>(node, name);
  return value ? *value : otherwise;
}

std::string stringAttribute(const Node &node, const std::string &name, std::string otherwise) {
  const std::string *value = attribute<std::string>(node, name);
  return value ? *value : otherwise;
}

/// As a call writes it; "" where the node has none.
static std::string attributeText(const Node &node, const std::string &name) {
  auto found = node.attributes.find(name);
  if (found == node.attributes.end()) {
    return "";
  }
  if (const bool *flag = std::get_if<bool>(&found->second)) {
    return *flag ? "True" : "False";
  }
  const int64_t *number = std::get_if<int64_t>(&found->second);
  return number ? std::to_string(*number) : stringAttribute(node, name, "");
}

bool isMet(const std::string &when, const Node &node) {
  const size_t equals = when.find('=');
  return equals == std::string::npos ||
         attributeText(node, when.substr(0, equals)) == when.substr(equals + 1);
}

double constantValue(const Node &node) {
  const double *value = attribute<double>(node, "value");
  return value ? *value : 0;
}

std::string describe(const Node &node) {
  std::string inside;
  for (const auto &[name, value] : node.attributes) {
    if (name == "corner" || name == "gradient" || name == "shared") { // for gradients alone
      continue;
    }
    std::string shown;
    if (const bool *flag = std::get_if<bool>(&value)) {
      if (!*flag) {
        continue;
      }
      shown = "True";
    } else if (const int64_t *integer = std::get_if<int64_t>(&value)) {
      shown = std::to_string(*integer);
    } else if (const double *real = std::get_if<double>(&value)) {
      shown = fmt::format("{}", *real);
    } else if (const std::string *word = std::get_if<std::string>(&value)) {
      shown = "\"" + *word + "\"";
    } else {
      const auto &list = std::get<std::vector<int64_t>>(value);
      shown =
          list.size() == 1 ? std::to_string(list[0]) : fmt::format("({})", fmt::join(list, ", "));
    }
    inside += (inside.empty() ? "" : ", ") + name + "=" + shown;
  }
  return inside.empty() ? node.op : node.op + "(" + inside + ")";
}

} // namespace nereid::definition
