// SPDX-License-Identifier: Apache-2.0
// Programs as text, see Program.h. A value that is used more than once gets a line of its own.
#include "lib/generator/program/Program.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <cmath>

namespace nereid::generator {
namespace {

/// Deeper values are cut into lines.
constexpr int heightAtMost = 24;

const std::map<std::string, std::string> &infix() {
  static const std::map<std::string, std::string> table = {
      {"add", "+"}, {"sub", "-"}, {"mul", "*"}, {"div", "/"}, {"lt", "<"},
      {"le", "<="}, {"gt", ">"},  {"ge", ">="}, {"eq", "=="}, {"ne", "!="}};
  return table;
}

class Printer {
public:
  explicit Printer(const Program &program) : program(program) {}

  std::string run() {
    symbols();
    for (size_t i = 0; i < program.buffers.size(); ++i) {
      buffer(program.buffers[i]);
    }
    iterators();
    countUses();
    for (const Stage &stage : program.stages) {
      text += fmt::format("stage(\"{}\")\n", stage.name);
      for (const Store &store : stage.stores) {
        print(store);
      }
    }
    for (const Alias &alias : program.aliases) {
      text += fmt::format("alias({}, {})\n", bufferName(alias.buffer), bufferName(alias.of));
    }
    for (const HostRead &read : program.hostReads) {
      text += fmt::format("host_read({})\n", bufferName(read.buffer));
    }
    return text;
  }

  std::string affine(const Affine &value) {
    std::string result;
    for (const auto &[atom, coefficient] : value.terms()) {
      std::string factor = polynomial(coefficient);
      bool isSum = coefficient.terms().size() > 1, isNegative = !isSum && factor[0] == '-';
      factor = isSum ? "(" + factor + ")" : isNegative ? factor.substr(1) : factor;
      result += result.empty() ? (isNegative ? "-" : "") : isNegative ? " - " : " + ";
      result += (factor == "1" ? "" : factor + "*") + this->atom(atom);
    }
    std::string constant = polynomial(value.constant());
    if (result.empty()) {
      return constant;
    }
    bool isNegative = constant[0] == '-' && value.constant().terms().size() == 1;
    return constant == "0"      ? result
           : isNegative         ? result + " - " + constant.substr(1)
           : constant[0] == '-' ? result + " + (" + constant + ")"
                                : result + " + " + constant;
  }

private:
  std::string polynomial(const Polynomial &value) const {
    return program.space.symbols.text(value);
  }
  std::string grouped(const Polynomial &value) const {
    std::string result = polynomial(value);
    bool isAtom = value.constant() ? *value.constant() >= 0
                                   : result.find_first_of(" */-") == std::string::npos;
    return isAtom ? result : "(" + result + ")";
  }
  std::string list(const std::vector<Polynomial> &values) const {
    std::vector<std::string> texts;
    for (const Polynomial &value : values) {
      texts.push_back(polynomial(value));
    }
    return fmt::format("[{}]", fmt::join(texts, ", "));
  }
  const std::string &bufferName(BufferId id) const { return program.buffers[id].name; }
  const std::string &iterator(IteratorId id) const { return program.space.iterators[id].name; }

  void symbols() {
    const std::vector<Symbol> &all = program.space.symbols.all();
    for (size_t i = 0; i < all.size(); ++i) {
      const Symbol &symbol = all[i];
      if (symbol.quotientOf) {
        facts(i); // which may say that it is positive
        text += fmt::format("{} = quotient({}, {})\n", symbol.name,
                            polynomial(symbol.quotientOf->first),
                            polynomial(symbol.quotientOf->second));
        continue;
      }
      text += fmt::format("{} = size(low={}", symbol.name, symbol.low);
      text += symbol.high ? fmt::format(", high={}", *symbol.high) : "";
      text += symbol.divisor > 1 ? fmt::format(", multiple={}", symbol.divisor) : "";
      text += ")\n";
    }
    facts(all.size());
  }
  /// Those about the first `count` symbols that no quotient brings with it.
  void facts(size_t count) {
    const std::vector<Polynomial> &all = program.space.symbols.assumptions();
    for (size_t i = 0; i < all.size(); ++i) {
      const std::set<SymbolId> symbols = all[i].symbols();
      bool isKnown = symbols.empty() || *symbols.rbegin() < count;
      if (isKnown && !isOfQuotient(all[i]) && told.insert(i).second) {
        text += fmt::format("fact({})\n", polynomial(all[i]));
      }
    }
  }
  /// One of the two facts that a quotient brings with it.
  bool isOfQuotient(const Polynomial &fact) const {
    const std::vector<Symbol> &all = program.space.symbols.all();
    for (size_t i = 0; i < all.size(); ++i) {
      if (all[i].quotientOf) {
        const auto &[value, by] = *all[i].quotientOf;
        Polynomial product = by * Polynomial::symbol(static_cast<SymbolId>(i));
        if (fact == value - product || fact == product + by - 1 - value) {
          return true;
        }
      }
    }
    return false;
  }

  void buffer(const Buffer &buffer) {
    constexpr std::string_view roles[] = {"input", "output", "inout", "temporary"};
    if (buffer.base) {
      text += fmt::format("{} = view({}, {}, strides={}, offset={})\n", buffer.name,
                          bufferName(*buffer.base), list(buffer.sizes), list(buffer.strides),
                          polynomial(buffer.offset));
    } else {
      text += fmt::format("{} = {}({}, {}, strides={})\n", buffer.name,
                          roles[static_cast<size_t>(buffer.role)], kernelName(buffer.dtype),
                          list(buffer.sizes), list(buffer.strides));
    }
  }

  /// Those that are still used; passes leave others behind.
  void iterators() {
    std::set<IteratorId> used;
    for (const Affine &index : program.indices()) {
      index.collect(used);
    }
    for (const Node *node : program.values()) {
      used.insert(node->iterators.begin(), node->iterators.end());
    }
    for (IteratorId id : used) {
      text += fmt::format("{} = iterator({})\n", iterator(id),
                          polynomial(program.space.iterators[id].extent));
    }
  }

  void countUses() {
    for (const Node *node : program.values()) {
      for (const Node *input : node->inputs) {
        ++uses[input];
      }
    }
    for (const Affine &index : program.indices()) {
      index.forEachAtom([&](const Atom &atom) { uses[atom.node] += atom.node != nullptr; });
    }
    for (const Stage &stage : program.stages) {
      for (const Store &store : stage.stores) {
        ++uses[store.value];
        ++uses[store.guard];
      }
    }
  }

  void print(const Store &store) {
    std::map<const Node *, int> heights; // of what stands in one line
    for (const Node *node : reachable(rootsOf({&store, 1}))) {
      int &height = heights[node] = 1;
      for (const Node *input : node->inputs) {
        height = std::max(height, 1 + (names.contains(input) ? 0 : heights[input]));
      }
      bool isShort = node->kind == NodeKind::Const || node->kind == NodeKind::Param ||
                     node->kind == NodeKind::Index;
      bool isNamed = uses[node] > 1 || height > heightAtMost;
      if (isNamed && !isShort && !names.contains(node)) {
        std::string name = freshName();
        text += fmt::format("{} = {}\n", name, value(node));
        names[node] = name;
      }
    }
    std::string to = bufferName(store.buffer) + subscript(store.index), from = value(store.value);
    if (store.monoid.empty() && !store.guard) {
      text += fmt::format("{} = {}\n", to, from);
      return;
    }
    text += fmt::format("store({}, {}", to, from);
    text += store.monoid.empty() ? "" : fmt::format(", monoid=\"{}\"", store.monoid);
    text += store.guard ? ", guard=" + value(store.guard) : "";
    text += ")\n";
  }

  std::string freshName() {
    for (;;) {
      std::string name = fmt::format("t_{}", ++lastName);
      if (!program.find(name) && !program.space.iterators.find(name) &&
          !program.space.symbols.find(name)) {
        return name;
      }
    }
  }

  std::string atom(const Atom &atom) {
    switch (atom.kind) {
    case Atom::Kind::Iterator:
      return iterator(atom.iterator);
    case Atom::Kind::Data:
      return fmt::format("data({}, {})", value(atom.node), polynomial(atom.size));
    case Atom::Kind::Quotient:
      return fmt::format("(({}) // {})", affine(*atom.argument), grouped(atom.size));
    case Atom::Kind::Remainder:
      return fmt::format("(({}) % {})", affine(*atom.argument), grouped(atom.size));
    }
    return "";
  }

  std::string subscript(const std::vector<Affine> &indices) {
    std::vector<std::string> texts;
    for (const Affine &index : indices) {
      texts.push_back(affine(index));
    }
    return indices.empty() ? "[()]" : fmt::format("[{}]", fmt::join(texts, ", "));
  }

  std::string constant(const Node &node) const {
    if (node.dtype == DType::Bool) {
      return node.integer ? "True" : "False";
    }
    if (!isFloat(node.dtype)) {
      return node.dtype == DType::I64 ? std::to_string(node.integer)
                                      : fmt::format("{}({})", kernelName(node.dtype), node.integer);
    }
    if (!std::isfinite(node.real)) {
      return fmt::format("{}(\"{}\")", kernelName(node.dtype), node.real);
    }
    std::string digits = fmt::format("{}", node.real);
    digits += digits.find_first_of(".e") == std::string::npos ? ".0" : "";
    return node.dtype == DType::F32 ? digits
                                    : fmt::format("{}({})", kernelName(node.dtype), digits);
  }

  std::string inputs(const Node &node) {
    std::vector<std::string> texts;
    for (const Node *input : node.inputs) {
      texts.push_back(value(input));
    }
    return fmt::format("{}", fmt::join(texts, ", "));
  }
  std::string operand(const Node *node) {
    bool isGrouped =
        node->kind == NodeKind::Map && infix().contains(node->name) && !names.contains(node);
    return isGrouped ? "(" + value(node) + ")" : value(node);
  }

  std::string value(const Node *pointer) {
    if (auto named = names.find(pointer); named != names.end()) {
      return named->second;
    }
    const Node &node = *pointer;
    switch (node.kind) {
    case NodeKind::Const:
      return constant(node);
    case NodeKind::Param:
      return fmt::format("parameter(\"{}\", {})", node.name, kernelName(node.dtype));
    case NodeKind::Index:
      return fmt::format("index({})", affine(node.indices[0]));
    case NodeKind::Load:
      return bufferName(node.buffer) + subscript(node.indices);
    case NodeKind::Ref:
      return fmt::format("ref({}{})", bufferName(node.buffer), subscript(node.indices));
    case NodeKind::Map:
      if (node.name == "cast") {
        return fmt::format("cast({}, {})", inputs(node), kernelName(node.dtype));
      }
      if (auto sign = infix().find(node.name); sign != infix().end()) {
        return fmt::format("{} {} {}", operand(node.inputs[0]), sign->second,
                           operand(node.inputs[1]));
      }
      return fmt::format("{}({})", node.name, inputs(node));
    case NodeKind::Reduce: {
      std::vector<std::string> bound;
      for (IteratorId id : node.iterators) {
        bound.push_back(iterator(id));
      }
      return fmt::format("{}[{}]({})", node.name,
                         bound.empty() ? "()" : fmt::format("{}", fmt::join(bound, ", ")),
                         inputs(node));
    }
    case NodeKind::Scan:
      return fmt::format("scan(\"{}\", {}, {}, at={}{}{})", node.name, iterator(node.iterators[0]),
                         inputs(node), affine(node.indices[0]),
                         node.isReverse ? ", reverse=True" : "",
                         node.isExclusive ? ", exclusive=True" : "");
    case NodeKind::Order:
      return fmt::format("order({}, {}{}{})", iterator(node.iterators[0]), inputs(node),
                         node.isDescending ? ", descending=True" : "",
                         node.isStable ? "" : ", stable=False");
    case NodeKind::Pick:
      return fmt::format("pick({}, {}{})", inputs(node), node.component,
                         node.indices.empty() ? "" : ", " + affine(node.indices[0]));
    case NodeKind::Random:
      return fmt::format("random({}, {})", inputs(node), affine(node.indices[0]));
    }
    return "";
  }

  const Program &program;
  std::string text;
  std::set<size_t> told; ///< facts
  std::map<const Node *, int> uses;
  std::map<const Node *, std::string> names;
  int lastName = 0;
};

} // namespace

std::string print(const Program &program) { return Printer(program).run(); }

std::string print(const Affine &value, const Program &program) {
  return Printer(program).affine(value);
}

} // namespace nereid::generator
