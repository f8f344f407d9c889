// SPDX-License-Identifier: Apache-2.0
// Reverse mode over the graph, written as text: each operation gives its operands' shares of the
// gradient, which are added up and summed over what was broadcast.
#include "lib/definition/gradient/Backward.h"

#include "lib/definition/gradient/BodyText.h"
#include "lib/definition/gradient/DefinitionText.h"
#include "lib/definition/gradient/Derivatives.h"
#include "lib/definition/gradient/IndexingText.h"
#include "lib/definition/operations/Infer.h"
#include "lib/definition/operations/LeadingSum.h"
#include "lib/definition/operations/Promotion.h"
#include "lib/definition/operations/Shape.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <set>
#include <sstream>

namespace nereid::definition {
namespace {

/// Thrown inside of this file alone.
struct NoGradient {
  Diagnostic error;
};

/// A gradient on its way: a name or an expression, and the shape it has; it broadcasts to that of
/// the value whose gradient it is.
struct Share {
  std::string text;
  SymbolicShape shape;
};

class Reverse {
public:
  Reverse(const Operator &op, std::vector<std::string> wanted)
      : op(op), types(nodeDtypes(op, op.dtypes.front())), wanted(std::move(wanted)),
        shares(op.nodes.size()), names(op.nodes.size()) {
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

  Result<Backward> run() {
    findNeeded();
    seed();
    for (size_t i = op.nodes.size(); i-- > op.parameters.size();) {
      if (isNeeded[i] && !shares[i].empty()) {
        spread(i);
      }
    }
    finish();
    return assemble();
  }

private:
  // ---- what needs a gradient ----

  void findNeeded() {
    if (wanted.empty()) {
      for (size_t i = 0; i < op.parameters.size(); ++i) {
        if (!op.parameters[i].isScalar && isFloat(types[i])) {
          wanted.push_back(op.parameters[i].name);
        }
      }
    }
    isNeeded.assign(op.nodes.size(), false);
    for (const std::string &name : wanted) {
      const size_t number = parameterNamed(name);
      if (number == op.parameters.size() || op.parameters[number].isScalar ||
          !isFloat(types[number])) {
        fail(fmt::format("'{}' has no float tensor '{}' to differentiate by", op.name, name),
             "name inputs that are tensors of floats");
      }
      isNeeded[number] = true;
    }
    for (size_t i = op.parameters.size(); i < op.nodes.size(); ++i) {
      isNeeded[i] = isFloat(types[i]) &&
                    std::any_of(op.nodes[i].inputs.begin(), op.nodes[i].inputs.end(),
                                [&](int input) { return isNeeded[static_cast<size_t>(input)]; });
    }
  }

  /// Their count when there is none.
  size_t parameterNamed(const std::string &name) const {
    return static_cast<size_t>(std::find_if(op.parameters.begin(), op.parameters.end(),
                                            [&](const Parameter &p) { return p.name == name; }) -
                               op.parameters.begin());
  }

  [[noreturn]] void fail(const std::string &message, const std::string &help) const {
    Diagnostic error = makeError("E0620", message).withHelp(help);
    error.file = op.path;
    throw NoGradient{error};
  }

  void seed() {
    const size_t count = op.outputs.size();
    for (size_t i = 0; i < count; ++i) {
      const auto node = static_cast<size_t>(op.outputs[i]);
      if (!isNeeded[node]) {
        continue;
      }
      const std::string name = fresh("grad_" + op.outputNames[i]);
      gradients.push_back({name, op.nodes[node].shape, op.outputDtypes[i], static_cast<int>(i)});
      shares[node].push_back({name, op.nodes[node].shape});
    }
    if (gradients.empty()) {
      fail(fmt::format("no output of '{}' depends on '{}'", op.name, fmt::join(wanted, "', '")),
           "comparisons and integers have no gradient");
    }
  }

  // ---- names ----

  std::string fresh(const std::string &wantedName) {
    std::string name = wantedName;
    for (int i = 1; taken.contains(name); ++i) {
      name = fmt::format("{}_{}", wantedName, i);
    }
    taken.insert(name);
    return name;
  }

  std::string line(const std::string &name, const std::string &text) {
    lines.push_back(name + " = " + text);
    return name;
  }

  /// The value of a node of the forward graph: an input, a saved output, or computed again.
  std::string value(int number) {
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
      saved.insert(which);
      return name = op.outputNames[which];
    }
    std::vector<std::string> operands;
    for (int input : node.inputs) {
      operands.push_back(value(input));
    }
    name = isUnique(node) ? node.name : fresh("t");
    forward.push_back(name + " = " + expressionText(node, op, operands));
    return name;
  }

  /// A name that the body gives twice is none.
  bool isUnique(const Node &node) const {
    const auto same = std::count_if(op.nodes.begin(), op.nodes.end(),
                                    [&](const Node &n) { return n.name == node.name; });
    const bool isOutput =
        std::find(op.outputNames.begin(), op.outputNames.end(), node.name) != op.outputNames.end();
    return !node.name.empty() && same == 1 && !isOutput;
  }

  // ---- one operation ----

  /// All shares of a node together, in its kept shape.
  Share total(size_t number) {
    std::vector<Share> &list = shares[number];
    if (list.size() == 1) {
      return list[0];
    }
    std::vector<std::string> texts;
    SymbolicShape shape;
    for (const Share &share : list) {
      texts.push_back(share.text);
      shape = broadcast(shape, share.shape).value_or(op.nodes[number].shape);
    }
    return {line(fresh("grad_" + shownAs(number)), fmt::format("{}", fmt::join(texts, " + "))),
            shape};
  }
  std::string shownAs(size_t number) const {
    const std::string &name = op.nodes[number].name;
    return name.empty() ? "t" : name;
  }

  void spread(size_t number) {
    const Node &node = op.nodes[number];
    const Operation &operation = *findOperation(node.op);
    Share grad = total(number);
    if (operation.kind == OperationKind::View) {
      return throughView(node, grad);
    }
    if (operation.kind == OperationKind::Indexing) {
      return throughIndexing(node, number, grad);
    }
    const bool reduces = operation.kind == OperationKind::Reduction || node.op == "logsumexp";
    // Leading dimensions that are gone come back by broadcasting.
    const bool drops = reduces && !keepsDim(node) && !keptOfLeading(node);
    if (drops) {
      grad = kept(node, grad);
    }
    size_t next = 0;
    for (const Argument &argument : operation.arguments) {
      if (argument.type != ArgumentType::Operand) {
        continue;
      }
      const int input = node.inputs[next++];
      if (isNeeded[static_cast<size_t>(input)]) {
        give(node, number, argument.name, input, grad, drops);
      }
    }
  }

  /// With the dimensions that the reduction dropped, as 1.
  Share kept(const Node &node, Share grad) {
    const SymbolicShape &from = op.nodes[static_cast<size_t>(node.inputs[0])].shape;
    const std::vector<int64_t> dims = dimsOf(node);
    if (dims.empty()) {
      return grad; // [] broadcasts as it is
    }
    auto shape = reduce(from, dims, true);
    SymbolicShape full = std::get<SymbolicShape>(shape);
    for (int64_t dim : dims) { // ascending: the first ones are in front of those dropped after them
      const auto behind = static_cast<int64_t>(
          std::count_if(dims.begin(), dims.end(), [&](int64_t d) { return d > dim; }));
      grad.text = fmt::format("torch.unsqueeze({}, {})", grad.text, dim + behind);
    }
    return {line(fresh("kept"), grad.text), full};
  }

  void give(const Node &node, size_t number, const std::string &operand, int input,
            const Share &grad, bool drops) {
    const std::string *rule = derivativeOf(node, operand);
    if (!rule) {
      fail(fmt::format("'{}' has no derivative by '{}'", node.op, operand),
           "write the backward operator as a definition of its own");
    }
    std::map<std::string, std::string> texts;
    SymbolicShape shape = grad.shape;
    auto spreads = [&](const SymbolicShape &with) {
      shape = broadcast(shape, with).value_or(node.shape);
    };
    size_t next = 0;
    for (const Argument &argument : findOperation(node.op)->arguments) {
      if (argument.type == ArgumentType::Operand) {
        const int from = node.inputs[next++];
        if (mentions(*rule, argument.name)) {
          texts[argument.name] = value(from);
          spreads(op.nodes[static_cast<size_t>(from)].shape);
        }
      }
    }
    if (mentions(*rule, "result")) {
      texts["result"] = drops ? keptValue(node) : value(static_cast<int>(number));
      spreads(drops ? grad.shape : node.shape);
    }
    if (node.op == "mean") {
      if (std::optional<std::string> mean = meanOf(grad.text, node)) {
        return add(static_cast<size_t>(input), {line(fresh("grad"), *mean), shape});
      }
    }
    texts["grad"] = grad.text;
    const std::string text = written(fill(*rule, node), texts);
    add(static_cast<size_t>(input), {text, shape});
  }

  /// Of a sum over the same dimensions, divided by their length: nothing has to know that.
  std::optional<std::string> meanOf(const std::string &name, const Node &node) {
    const std::string head = name + " = torch.sum(";
    const std::string tail = fill(", dim={dim}, keepdim=True)", node);
    auto found = std::find_if(lines.begin(), lines.end(), [&](const std::string &each) {
      return each.starts_with(head) && each.ends_with(tail);
    });
    if (found == lines.end() || dimsOf(node).empty()) {
      return std::nullopt;
    }
    const std::string summed =
        found->substr(head.size(), found->size() - head.size() - tail.size());
    lines.erase(found);
    return "torch.mean(" + summed + tail;
  }

  static bool mentions(const std::string &rule, const std::string &name) {
    return withNames(rule, {{name, "\1"}}).find('\1') != std::string::npos;
  }

  /// The reduction once more, with its dimensions kept.
  std::string keptValue(const Node &node) {
    Node again = node;
    if (!dimsOf(node).empty()) {
      again.attributes["keepdim"] = true;
    }
    const std::string text = expressionText(again, op, {value(node.inputs[0])});
    auto [known, isNew] = keptNames.emplace(text, "");
    if (isNew) {
      known->second = fresh(node.name.empty() ? "t" : node.name + "_kept");
      forward.push_back(known->second + " = " + text);
    }
    return known->second;
  }

  std::string fill(std::string rule, const Node &node) const {
    auto replace = [&](const std::string &what, const std::string &by) {
      for (size_t at = 0; (at = rule.find(what, at)) != std::string::npos; at += by.size()) {
        rule.replace(at, what.size(), by);
      }
    };
    std::vector<std::string> dims, sizes;
    const SymbolicShape &shape = op.nodes[static_cast<size_t>(node.inputs[0])].shape;
    for (int64_t dim : dimsOf(node)) {
      dims.push_back(std::to_string(dim));
    }
    bool isOpen = false;
    for (int64_t i = -static_cast<int64_t>(shape.size()); i < 0; ++i) {
      const Dim &dim = *(shape.end() + i);
      if (dims.empty() || std::find(dims.begin(), dims.end(), std::to_string(i)) != dims.end()) {
        isOpen |= dim.isRest();
        sizes.push_back(dim.symbol.empty() ? std::to_string(dim.constant) : dim.symbol);
      }
    }
    if (rule.find("{count}") != std::string::npos && isOpen) {
      fail(fmt::format("the gradient of '{}' divides by the number of elements of {}", node.op,
                       text(shape)),
           "give every dimension that is reduced a name");
    }
    const std::string count = sizes.empty() ? "1" : fmt::format("{}", fmt::join(sizes, " * "));
    replace("dim={dim}, ", dims.empty() ? "" : "dim={dim}, ");
    if (dims.empty()) {
      replace("keepdim=True", "keepdim=False");
    }
    replace("{dim}", tupleText(dims));
    replace("{count}", sizes.size() > 1 ? "(" + count + ")" : count);
    replace("{correction}", std::to_string(integerAttribute(node, "correction", 1)));
    return rule;
  }

  /// Writes the rule's statements but for its result, which is returned as an operand.
  std::string written(const std::string &rule, std::map<std::string, std::string> texts) {
    std::istringstream in(rule);
    std::string result;
    for (std::string statement; std::getline(in, statement);) {
      const size_t equals = statement.find(" = ");
      const std::string target = equals == std::string::npos ? "out" : statement.substr(0, equals);
      const std::string source =
          equals == std::string::npos ? statement : statement.substr(equals + 3);
      std::string text = withNames(source, texts);
      if (target == "out") {
        result = text;
        continue;
      }
      auto [known, isNew] = shared.emplace(text, "");
      if (isNew) {
        known->second = line(fresh(target), text);
      }
      texts[target] = known->second;
    }
    const bool isAtom = result.find(' ') == std::string::npos && result.front() != '-';
    return isAtom || result == "-" + texts["grad"] ? result : line(fresh("grad"), result);
  }

  void throughIndexing(const Node &node, size_t number, Share grad) {
    if (grad.shape != node.shape) { // one share for all elements
      const std::string like = value(static_cast<int>(number));
      grad = {
          line(fresh("grad"), fmt::format("torch.where({0} == {0}, {1}, {1})", like, grad.text)),
          node.shape};
    }
    for (size_t i = 0; i < node.inputs.size(); ++i) {
      const auto input = static_cast<size_t>(node.inputs[i]);
      if (!isNeeded[input]) {
        continue;
      }
      std::vector<std::string> operands;
      for (int each : node.inputs) {
        operands.push_back(value(each));
      }
      const std::optional<std::string> text = indexingGradient(node, op, i, operands, grad.text);
      if (!text) {
        fail(fmt::format("'{}' has no derivative by '{}'", node.op, shownName(op.nodes[input])),
             "write the backward operator as a definition of its own");
      }
      add(input,
          {*text == grad.text ? *text : line(fresh("grad"), *text), gradientShape(node, op, i)});
    }
  }

  void throughView(const Node &node, const Share &grad) {
    const int input = node.inputs[0];
    if (!isNeeded[static_cast<size_t>(input)]) {
      return;
    }
    if (node.op == "unsqueeze") {
      const int64_t dim = integerAttribute(node, "dim", 0);
      return add(static_cast<size_t>(input),
                 {line(fresh("grad"), fmt::format("torch.sum({}, dim={})", grad.text, dim)),
                  op.nodes[static_cast<size_t>(input)].shape});
    }
    fail(fmt::format("'{}' has no derivative yet", node.op),
         "write the backward operator as a definition of its own");
  }

  /// A share of the gradient, summed over what broadcasting repeated.
  void add(size_t input, Share share) {
    const SymbolicShape &own = op.nodes[input].shape;
    std::vector<std::string> dropped, kept;
    bool hasRest = false;
    const size_t extra = share.shape.size() > own.size() ? share.shape.size() - own.size() : 0;
    for (size_t i = 0; i < share.shape.size(); ++i) {
      const std::string dim =
          std::to_string(static_cast<int64_t>(i) - static_cast<int64_t>(share.shape.size()));
      if (i < extra) {
        hasRest |= share.shape[i].isRest();
        dropped.push_back(dim);
      } else if (const Dim one{"", 1};
                 own[own.size() - (share.shape.size() - i)] == one && share.shape[i] != one) {
        kept.push_back(dim);
      }
    }
    auto sum = [&](const std::vector<std::string> &dims, const char *more) {
      share.text = line(fresh("grad"),
                        fmt::format("torch.sum({}, dim={}{})", share.text, tupleText(dims), more));
    };
    if (!kept.empty() && !hasRest) {
      sum(kept, ", keepdim=True");
    }
    if (hasRest) {
      const std::string sizes = text(own);
      share.text =
          line(fresh("grad"), own.empty() ? fmt::format("torch.sum({})", share.text)
                                          : fmt::format("{}.sum_to_size({})", share.text,
                                                        sizes.substr(1, sizes.size() - 2)));
    } else if (!dropped.empty()) {
      sum(dropped, "");
    }
    if (!kept.empty() || !dropped.empty()) {
      share.shape = own;
    }
    shares[input].push_back(std::move(share));
  }

  // ---- the definition ----

  void finish() {
    for (const std::string &name : wanted) {
      const size_t number = parameterNamed(name);
      if (shares[number].empty()) {
        fail(fmt::format("no output of '{}' depends on '{}'", op.name, name),
             "leave it out of the inputs to differentiate by");
      }
      Share share = total(number);
      const SymbolicShape &own = op.parameters[number].shape;
      if (share.shape != own) { // every element has the same share: it takes the input's shape
        used.insert(number);
        share.text = fmt::format("torch.where({0} == {0}, {1}, {1})", name, share.text);
      }
      const bool isInput =
          std::any_of(gradients.begin(), gradients.end(),
                      [&](const Gradient &gradient) { return gradient.name == share.text; });
      // An output is not an input unchanged.
      const std::string text = isInput ? share.text + " + -0.0" : share.text;
      const std::string output = "grad_" + name;
      results.push_back({output, own, op.parameters[number].fixedDtype});
      if (!lines.empty() && lines.back().starts_with(text + " = ")) {
        lines.back() = output + lines.back().substr(text.size());
      } else {
        line(output, text);
      }
    }
  }

  Result<Backward> assemble() {
    DefinitionParts parts;
    parts.name = op.name + "_backward";
    parts.summary =
        fmt::format("The gradient of {} with respect to {}.", op.name, fmt::join(wanted, ", "));
    for (DType dtype : op.dtypes) {
      if (isFloat(dtype)) {
        parts.dtypes.push_back(dtype);
      }
    }
    std::vector<Backward::Source> sources;
    using Kind = Backward::Source::Kind;
    for (const Gradient &gradient : gradients) {
      parts.inputs.push_back({gradient.name, gradient.shape, gradient.dtype, "gradient"});
      sources.push_back({Kind::Gradient, gradient.index});
    }
    bindSizes();
    for (size_t number : used) {
      const Parameter &parameter = op.parameters[number];
      sources.push_back({Kind::Parameter, static_cast<int>(number)});
      parts.inputs.push_back({parameter.name, parameter.shape, parameter.fixedDtype,
                              parameter.description, parameter.isScalar, parameter.isInteger,
                              parameter.value, parameter.range});
    }
    for (size_t which : saved) {
      sources.push_back({Kind::Output, static_cast<int>(which)});
      parts.inputs.push_back({op.outputNames[which],
                              op.nodes[static_cast<size_t>(op.outputs[which])].shape,
                              op.outputDtypes[which], "what " + op.name + " computed"});
    }
    for (const Gradient &result : results) {
      parts.outputs.push_back({result.name, result.shape, result.dtype, ""});
    }
    parts.lines = forward;
    parts.lines.insert(parts.lines.end(), lines.begin(), lines.end());
    parts.cases = &op.performanceCases;
    parts.accuracyCases = &op.accuracyCases;
    Backward backward;
    backward.text = definitionText(parts);
    backward.sources = std::move(sources);
    for (const std::string &name : wanted) {
      backward.differentiated.push_back(static_cast<int>(parameterNamed(name)));
    }
    Diagnostics diags;
    auto read = parseOperator(parts.name + ".toml", backward.text, diags);
    if (!read) {
      Diagnostic error = diags.all().front();
      error.note("in the backward definition:\n" + backward.text);
      return error;
    }
    backward.op = std::move(*read);
    return backward;
  }

  /// Every size that the text names must be one of a tensor.
  void bindSizes() {
    std::set<std::string> bound;
    auto bind = [&](const SymbolicShape &shape) {
      for (const Dim &dim : shape) {
        bound.insert(dim.symbol);
      }
    };
    for (const Gradient &gradient : gradients) {
      bind(gradient.shape);
    }
    for (size_t number : used) {
      bind(op.parameters[number].shape);
    }
    for (size_t i = 0; i < op.parameters.size(); ++i) {
      const SymbolicShape &shape = op.parameters[i].shape;
      if (std::any_of(shape.begin(), shape.end(), [&](const Dim &dim) {
            return !dim.symbol.empty() && !bound.contains(dim.symbol);
          })) {
        used.insert(i);
        bind(shape);
      }
    }
  }

  struct Gradient {
    std::string name;
    SymbolicShape shape;
    std::optional<DType> dtype;
    int index = 0; ///< of the output
  };

  const Operator &op;
  const std::vector<DType> types;
  std::vector<std::string> wanted;
  std::vector<bool> isNeeded;
  std::vector<std::vector<Share>> shares; ///< by node
  std::vector<std::string> names;         ///< of forward values, by node
  std::set<std::string> taken;
  std::set<size_t> used;  ///< parameters
  std::set<size_t> saved; ///< outputs
  std::vector<Gradient> gradients, results;
  std::vector<std::string> forward, lines;
  std::map<std::string, std::string> shared, keptNames; ///< text to name
};

} // namespace

Result<Backward> backwardOf(const Operator &op, const std::vector<std::string> &inputs) {
  const bool hasFloats = std::any_of(op.dtypes.begin(), op.dtypes.end(), isFloat);
  if (!hasFloats) {
    return makeError("E0620",
                     fmt::format("'{}' is defined for no floats, and has no gradient", op.name));
  }
  try {
    return Reverse(op, inputs).run();
  } catch (const NoGradient &found) {
    return found.error;
  }
}

} // namespace nereid::definition
