// SPDX-License-Identifier: Apache-2.0
// Reverse mode over the graph, written as text: each operation gives its operands' shares of the
// gradient (rules/), which are added up and summed over what was broadcast.
#include "lib/definition/gradient/Backward.h"

#include "lib/definition/gradient/BackwardText.h"
#include "lib/definition/gradient/GradientBody.h"
#include "lib/definition/gradient/Opened.h"
#include "lib/definition/gradient/rules/Rules.h"
#include "lib/definition/gradient/text/BodyText.h"
#include "lib/definition/gradient/text/MovementText.h"
#include "lib/definition/operations/LeadingSum.h"
#include "lib/definition/operations/Promotion.h"
#include "lib/definition/operations/Shape.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>

namespace nereid::definition {
namespace {

/// What the definition itself says of the gradient by a parameter; "" = nothing.
std::string saidGradient(const Operator &op, size_t parameter) {
  return stringAttribute(op.nodes[parameter], "gradient", "");
}

class Reverse {
public:
  /// `wanted`: numbers of parameters; of those that nobody named what no output depends on has
  /// none.
  Reverse(const Operator &op, const std::vector<size_t> &wanted, bool areNamed)
      : op(op), wanted(wanted), areNamed(areNamed), body(op), isNeeded(dependsOn(op, wanted)),
        shares(op.nodes.size()) {
    for (const DType dtype : op.dtypes) {
      if (isFloat(dtype)) {
        types.push_back(nodeDtypes(op, dtype));
      }
    }
  }

  /// `all`: the parameters in the order of the results, among them some whose gradients the
  /// definition says.
  Result<Backward> run(const std::vector<size_t> &all) {
    if (!wanted.empty()) {
      derive();
    }
    if (wanted.size() < all.size()) {
      write(all);
    }
    std::vector<GradientTensor> results;
    for (size_t number : all) {
      std::copy_if(given.begin(), given.end(), std::back_inserter(results),
                   [&](const auto &each) { return each.index == static_cast<int>(number); });
    }
    if (results.empty()) {
      failWithoutAny();
    }
    return backwardDefinition(body, taken, results);
  }

private:
  void derive() {
    seed();
    for (size_t i = op.nodes.size(); i-- > op.parameters.size();) {
      if (isNeeded[i] && !shares[i].empty()) {
        spread(i);
      }
    }
    finish();
  }

  /// What the definition says, with the gradients of the outputs that it names.
  void write(const std::vector<size_t> &all) {
    std::string shared;
    auto add = [&](const std::string &text) {
      body.reads(text);
      const std::set<std::string> names = namesIn(text);
      std::map<std::string, std::string> gradients;
      for (size_t i = 0; i < op.outputs.size(); ++i) {
        const std::string name = "grad_" + op.outputNames[i];
        if (names.contains(name)) {
          gradients.emplace(name, take(i));
        }
      }
      body.lines.push_back(withNames(text, gradients));
    };
    for (size_t number : all) {
      const Parameter &parameter = op.parameters[number];
      const std::string text = saidGradient(op, number), output = resultName(parameter.name);
      if (text.empty()) {
        continue;
      }
      if (const std::string front = stringAttribute(op.nodes[number], "shared", "");
          front != shared) { // once
        add(front);
        shared = front;
      }
      const bool assigns = ("\n" + text).find("\n" + output + " =") != std::string::npos;
      // An output is not an input unchanged.
      const bool isUnchanged = text == "grad_" + op.outputNames[0];
      add(assigns ? text : output + " = " + text + (isUnchanged ? " + -0.0" : ""));
      given.push_back({output, parameter.shape, parameter.fixedDtype, static_cast<int>(number)});
    }
  }

  /// The gradient of output `i` as an input; returns its name in the body. Where a size is
  /// computed, a slice says how long the tensor is.
  const std::string &take(size_t i) {
    auto [known, isNew] = seeds.emplace(i, "");
    if (isNew) {
      const SymbolicShape &shape = op.nodes[static_cast<size_t>(op.outputs[i])].shape;
      const std::string name = body.fresh("grad_" + op.outputNames[i]);
      taken.push_back({name, shape, op.outputDtypes[i], static_cast<int>(i)});
      std::string &text = known->second;
      text = name;
      for (size_t d = 0; d < shape.size(); ++d) {
        if (isComputed(shape[d])) {
          text = body.named("grad", narrowText(text, static_cast<int64_t>(d) - std::ssize(shape), 0,
                                               SizePolynomial::of(shape[d])));
        }
      }
    }
    return known->second;
  }

  void seed() {
    for (size_t i = 0; i < op.outputs.size(); ++i) {
      const auto node = static_cast<size_t>(op.outputs[i]);
      if (!isNeeded[node]) {
        continue;
      }
      shares[node].push_back({take(i), op.nodes[node].shape});
    }
    if (taken.empty()) {
      failWithoutAny();
    }
  }

  [[noreturn]] void failWithoutAny() const {
    std::vector<std::string> names;
    for (size_t number : wanted) {
      names.push_back(op.parameters[number].name);
    }
    body.fail(fmt::format("no output of '{}' depends on '{}'", op.name, fmt::join(names, "', '")),
              "comparisons, integers and what is rounded have no gradient");
  }

  /// All shares of a node together, in its kept shape.
  Share total(size_t number) {
    const std::vector<Share> &list = shares[number];
    if (list.size() == 1) {
      return list[0];
    }
    std::vector<std::string> texts;
    SymbolicShape shape;
    for (const Share &share : list) {
      texts.push_back(share.text);
      shape = broadcast(shape, share.shape).value_or(op.nodes[number].shape);
    }
    const std::string &name = op.nodes[number].name;
    return {body.named("grad_" + (name.empty() ? "t" : name),
                       fmt::format("{}", fmt::join(texts, " + "))),
            shape};
  }

  /// Whether the rule sums the gradient, or moves it: it has to be there for each element.
  static bool takesWhole(const Node &node) {
    const OperationKind kind = findOperation(node.op)->kind;
    const bool isSum = node.op == "logsumexp" || kind == OperationKind::Reduction;
    return kind != OperationKind::Pointwise && (!isSum || isSelection(node));
  }

  void spread(size_t number) {
    const Node &node = op.nodes[number];
    const Operation &operation = *findOperation(node.op);
    Share grad = total(number);
    const bool reduces = (operation.kind == OperationKind::Reduction && !isSelection(node)) ||
                         node.op == "logsumexp";
    // Leading dimensions that are gone come back by broadcasting.
    const bool drops = reduces && !keepsDim(node) && !keptOfLeading(node);
    if (drops) {
      grad = kept(node, grad);
    } else if (takesWhole(node)) {
      grad = body.whole(grad, static_cast<int>(number));
    }
    for (size_t which = 0; which < node.inputs.size(); ++which) {
      const auto input = static_cast<size_t>(node.inputs[which]);
      if (isNeeded[input] && !passesNothing(op, node, which)) {
        const std::optional<Share> share =
            shareOf({node, static_cast<int>(number), which, grad}, drops);
        if (!share) {
          fail(node, which);
        }
        add(input, *share);
        convert({node, static_cast<int>(number), which, grad});
      }
    }
  }

  /// The last share of an operand that the operation promoted: summed in the result's type, it goes
  /// on in the operand's.
  void convert(const GradientOf &of) {
    const auto input = static_cast<size_t>(of.input()), number = static_cast<size_t>(of.number);
    const bool isPromoted = std::any_of(
        types.begin(), types.end(), [&](const auto &each) { return each[input] != each[number]; });
    if (isPromoted && findOperation(of.node.op)->result != ResultType::Cast) {
      Share &share = shares[input].back();
      share = inOperandsType(body, of, share).value_or(share);
    }
  }

  std::optional<Share> shareOf(const GradientOf &of, bool drops) {
    if (findOperation(of.node.op)->result == ResultType::Cast) {
      return conversionGradient(body, of);
    }
    switch (findOperation(of.node.op)->kind) {
    case OperationKind::View:
      return movementGradient(body, of);
    case OperationKind::Contraction:
      return productGradient(body, of);
    case OperationKind::Convolution:
      return convolutionGradient(body, of);
    case OperationKind::Indexing:
      return indexingGradient(body, of);
    default:
      return selectsElements(of.node) ? selectionGradient(body, of)
                                      : formulaGradient(body, of, drops);
    }
  }

  [[noreturn]] void fail(const Node &node, size_t which) const {
    const Operation &operation = *findOperation(node.op);
    std::string operand = "input";
    for (const Argument &argument : operation.arguments) {
      if (argument.type == ArgumentType::Operand && which-- == 0) {
        operand = argument.name;
      }
    }
    // What a call was written out in has no name that a body knows.
    const bool isWrittenOut = node.op.starts_with("_") && !node.source.empty();
    body.fail(isWrittenOut ? fmt::format("'{}' has no derivative", node.source)
                           : fmt::format("'{}' has no derivative by '{}'", node.op, operand),
              "say the gradient in [gradient] of the definition");
  }

  /// With the dimensions that the reduction dropped, as 1.
  Share kept(const Node &node, Share grad) {
    const SymbolicShape &from = body.shapeOf(node.inputs[0]);
    const std::vector<int64_t> dims = dimsOf(node);
    if (dims.empty() || grad.shape.empty()) {
      return grad; // [] broadcasts as it is
    }
    if (grad.shape != node.shape) { // a smaller share has no such places
      grad = body.whole(grad, static_cast<int>(&node - op.nodes.data()));
    }
    SymbolicShape full = std::get<SymbolicShape>(reduce(from, dims, true));
    for (int64_t dim : dims) { // ascending: the first ones are in front of those dropped after them
      const auto behind = static_cast<int64_t>(
          std::count_if(dims.begin(), dims.end(), [&](int64_t d) { return d > dim; }));
      grad.text = fmt::format("torch.unsqueeze({}, {})", grad.text, dim + behind);
    }
    return {body.named("kept", grad.text), full};
  }

  /// A share of the gradient, summed over what broadcasting repeated.
  void add(size_t input, Share share) {
    const SymbolicShape &own = op.nodes[input].shape;
    std::vector<std::string> dropped, kept;
    SymbolicShape left; // what the sums leave: 1 also where the share itself is broadcast
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
        left.push_back(one);
      } else {
        left.push_back(share.shape[i]);
      }
    }
    auto sum = [&](const std::vector<std::string> &dims, const char *more) {
      share.text = body.named(
          "grad", fmt::format("torch.sum({}, dim={}{})", share.text, tupleText(dims), more));
    };
    if (!kept.empty() && !hasRest) {
      sum(kept, ", keepdim=True");
      body.summed[share.text] = share.shape;
    }
    if (hasRest) {
      const std::string sizes = text(left);
      share.text =
          body.named("grad", left.empty() ? fmt::format("torch.sum({})", share.text)
                                          : fmt::format("{}.sum_to_size({})", share.text,
                                                        sizes.substr(1, sizes.size() - 2)));
    } else if (!dropped.empty()) {
      sum(dropped, "");
    }
    share.shape = std::move(left);
    shares[input].push_back(std::move(share));
  }

  /// "grad_x", which is no name of the forward operator.
  std::string resultName(const std::string &name) const {
    std::string result = "grad_" + name;
    auto isTaken = [&](const auto &each) { return each.name == result; };
    while (std::any_of(op.parameters.begin(), op.parameters.end(), isTaken) ||
           std::any_of(taken.begin(), taken.end(), isTaken)) {
      result += "_1";
    }
    return result;
  }

  void finish() {
    std::map<std::string, std::string> renamed; // lines that became outputs
    for (size_t number : wanted) {
      const std::string &name = op.parameters[number].name;
      if (shares[number].empty() && !areNamed) {
        continue;
      }
      if (shares[number].empty()) {
        body.fail(fmt::format("no output of '{}' depends on '{}'", op.name, name),
                  "leave it out of the inputs to differentiate by");
      }
      for (Share &each : shares[number]) {
        each.text = withNames(each.text, renamed);
      }
      Share share = total(number);
      const SymbolicShape &own = op.parameters[number].shape;
      if (share.shape != own) { // every element has the same share: it takes the input's shape
        body.used.insert(number);
        share.text = fmt::format("torch.where({0} == {0}, {1}, {1})", name, share.text);
      }
      const bool isInput =
          std::any_of(taken.begin(), taken.end(),
                      [&](const GradientTensor &gradient) { return gradient.name == share.text; });
      // An output is not an input unchanged.
      const std::string text = isInput ? share.text + " + -0.0" : share.text;
      const std::string output = resultName(name);
      const bool isOutput = // two inputs may have one gradient
          std::any_of(given.begin(), given.end(),
                      [&](const GradientTensor &each) { return each.name == text; });
      if (!isOutput && !body.lines.empty() && body.lines.back().starts_with(text + " = ")) {
        body.lines.back() = output + body.lines.back().substr(text.size());
        renamed[text] = output;
      } else {
        body.line(output, text);
      }
      given.push_back({output, own, op.parameters[number].fixedDtype, static_cast<int>(number)});
    }
  }

  const Operator &op;
  const std::vector<size_t> &wanted;
  const bool areNamed;
  GradientBody body;
  std::vector<bool> isNeeded;
  std::vector<std::vector<DType>> types;  ///< of nodes, for each type of floats
  std::vector<std::vector<Share>> shares; ///< by node
  std::map<size_t, std::string> seeds;    ///< by output: its gradient
  std::vector<GradientTensor> taken, given;
};

/// Numbers of the parameters with these names, all float tensors where there is none.
Result<std::vector<size_t>> wantedOf(const Operator &op, const std::vector<std::string> &names) {
  const std::vector<DType> types = nodeDtypes(op, gradientType(op));
  auto isTensor = [&](size_t i) { return !op.parameters[i].isScalar && isFloat(types[i]); };
  std::vector<size_t> wanted;
  for (size_t i = 0; names.empty() && i < op.parameters.size(); ++i) {
    if (isTensor(i)) {
      wanted.push_back(i);
    }
  }
  for (const std::string &name : names) {
    const auto found = std::find_if(op.parameters.begin(), op.parameters.end(),
                                    [&](const Parameter &each) { return each.name == name; });
    const auto number = static_cast<size_t>(found - op.parameters.begin());
    if (found == op.parameters.end() || !isTensor(number)) {
      Diagnostic error =
          makeError("E0620",
                    fmt::format("'{}' has no float tensor '{}' to differentiate by", op.name, name))
              .withHelp("name inputs that are tensors of floats");
      error.file = op.path;
      return error;
    }
    wanted.push_back(number);
  }
  if (wanted.empty()) {
    Diagnostic error =
        makeError("E0620", fmt::format("'{}' has no float tensor to differentiate by", op.name))
            .withHelp("integers, bools and numbers have no gradient");
    error.file = op.path;
    return error;
  }
  return wanted;
}

} // namespace

Result<Backward> backwardOf(const Operator &op, const std::vector<std::string> &inputs) {
  if (writesInputs(op)) {
    return makeError("E0620",
                     fmt::format("'{}' writes into an input, and has no gradient", op.name))
        .withHelp("the definition without '_' has: it leaves its inputs as they are");
  }
  const bool hasFloats = std::any_of(op.dtypes.begin(), op.dtypes.end(), isFloat);
  if (!hasFloats) {
    return makeError("E0620",
                     fmt::format("'{}' is defined for no floats, and has no gradient", op.name));
  }
  const Result<std::vector<size_t>> wanted = wantedOf(op, inputs);
  if (!wanted) {
    return wanted.error();
  }
  try {
    std::vector<size_t> derived;
    for (size_t number : *wanted) {
      if (saidGradient(op, number).empty()) {
        derived.push_back(number);
      }
    }
    const Operator opened = openedForGradient(op, derived);
    return Reverse(opened, derived, !inputs.empty()).run(*wanted);
  } catch (const NoGradient &found) {
    return found.error;
  }
}

} // namespace nereid::definition
