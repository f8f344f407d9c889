// SPDX-License-Identifier: Apache-2.0
#include "lib/definition/gradient/BackwardText.h"

#include "lib/definition/gradient/text/BodyText.h"
#include "lib/definition/gradient/text/DefinitionText.h"
#include "lib/definition/operations/Promotion.h"
#include "lib/definition/operations/SizeAlgebra.h"
#include "lib/definition/operations/SizeExpression.h"
#include "lib/definition/operations/indices/Along.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>

namespace nereid::definition {
namespace {

class BackwardText {
public:
  BackwardText(const GradientBody &body, const std::vector<GradientTensor> &taken,
               const std::vector<GradientTensor> &given)
      : body(body), op(body.op), taken(taken), given(given), used(body.used) {}

  Result<Backward> run() {
    Backward backward;
    nameParts();
    parts.lines = body.forward;
    parts.lines.insert(parts.lines.end(), body.lines.begin(), body.lines.end());
    for (const GradientTensor &gradient : taken) {
      addGradient(gradient);
      backward.sources.push_back({Kind::Gradient, gradient.index});
    }
    bindSizes();
    for (size_t number : used) {
      const Parameter &parameter = op.parameters[number];
      backward.sources.push_back({Kind::Parameter, static_cast<int>(number)});
      parts.inputs.push_back({parameter.name, parameter.shape, parameter.fixedDtype,
                              parameter.description, parameter.isScalar, parameter.isInteger,
                              parameter.value, parameter.range});
    }
    for (size_t which : body.saved) {
      backward.sources.push_back({Kind::Output, static_cast<int>(which)});
      addSaved(which);
    }
    for (const GradientTensor &result : given) {
      parts.outputs.push_back({result.name, result.shape, result.dtype, ""});
      backward.differentiated.push_back(result.index);
    }
    addConstraints();
    const std::vector<Case> cases = completed(op.performanceCases),
                            accuracyCases = completed(op.accuracyCases);
    parts.cases = &cases;
    parts.accuracyCases = &accuracyCases;
    backward.text = definitionText(parts);
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

private:
  using Kind = Backward::Source::Kind;

  void nameParts() {
    std::vector<std::string> wanted;
    for (const GradientTensor &result : given) {
      wanted.push_back(op.parameters[static_cast<size_t>(result.index)].name);
    }
    parts.name = op.name + "_backward";
    parts.summary =
        fmt::format("The gradient of {} with respect to {}.", op.name, fmt::join(wanted, ", "));
    parts.isDeterministic = op.isDeterministic;
    for (DType dtype : op.dtypes) {
      if (isFloat(dtype)) {
        parts.dtypes.push_back(dtype);
      }
    }
  }

  /// Inputs have names as sizes: a computed one gets a name, and a constraint that says what it is.
  void addGradient(const GradientTensor &gradient) {
    SymbolicShape shape = gradient.shape;
    for (Dim &dim : shape) {
      if (isComputed(dim)) {
        auto [known, isNew] = computed.emplace(dim.symbol, "");
        if (isNew) {
          known->second = freeSizeName();
          parts.constraints.push_back(fmt::format("{} == {}", known->second, dim.symbol));
        }
        dim.symbol = known->second;
      }
    }
    parts.inputs.push_back({gradient.name, shape, gradient.dtype, "gradient"});
  }

  /// Sizes of inputs may have such names already, see ComputedDims.h.
  std::string freeSizeName() const {
    const std::vector<std::string> sizes = symbolsOf(op);
    for (size_t number = computed.size();; ++number) {
      std::string name = fmt::format("SIZE_{}", number);
      const bool isTaken = std::any_of(computed.begin(), computed.end(),
                                       [&](const auto &each) { return each.second == name; }) ||
                           std::find(sizes.begin(), sizes.end(), name) != sizes.end();
      if (!isTaken) {
        return name;
      }
    }
  }

  /// A result of the forward operator; places in a line are promised to lie in it.
  void addSaved(size_t which) {
    const Node &node = op.nodes[static_cast<size_t>(op.outputs[which])];
    TensorText saved{op.outputNames[which], node.shape, op.outputDtypes[which],
                     "what " + op.name + " computed"};
    const std::optional<int64_t> dim = isAlong(node) ? dimAlong(node) : std::nullopt;
    if (dim && findOperation(node.op)->result == ResultType::Position) {
      const SymbolicShape &from = body.shapeOf(node.inputs[0]);
      const bool isDistinct =
          findOperation(node.op)->kind == OperationKind::Sort && from.size() == node.shape.size();
      saved.range =
          IndexRange{"0", SizePolynomial::of(*(from.end() + *dim)).text(), isDistinct ? *dim : 0};
    }
    parts.inputs.push_back(std::move(saved));
  }

  /// Every size that the text names must be one of a tensor's.
  void bindSizes() {
    std::set<std::string> needed;
    auto need = [&](const std::string &text) { needed.merge(namesIn(text)); };
    for (const std::string &each : parts.lines) {
      need(each);
    }
    for (const std::string &each : parts.constraints) {
      need(each);
    }
    for (const GradientTensor &result : given) {
      for (const Dim &dim : result.shape) {
        need(dim.isRest() ? "" : dim.symbol);
        bound.insert(""); // constants
      }
    }
    auto bind = [&](const SymbolicShape &shape) {
      for (const Dim &dim : shape) {
        bound.insert(dim.symbol);
      }
    };
    for (const TensorText &input : parts.inputs) {
      bind(input.shape);
    }
    for (size_t number : used) {
      bind(op.parameters[number].shape);
      needRange(op.parameters[number], need);
    }
    for (size_t which : body.saved) {
      bind(op.nodes[static_cast<size_t>(op.outputs[which])].shape);
    }
    const bool needsRest = std::any_of(given.begin(), given.end(), [](const GradientTensor &each) {
      return !each.shape.empty() && each.shape[0].isRest();
    });
    for (size_t i = 0; i < op.parameters.size(); ++i) {
      const SymbolicShape &shape = op.parameters[i].shape;
      if (std::any_of(shape.begin(), shape.end(), [&](const Dim &dim) {
            const bool isNeeded = dim.isRest() ? needsRest : needed.contains(dim.symbol);
            return isNeeded && !bound.contains(dim.symbol);
          })) {
        used.insert(i);
        bind(shape);
        needRange(op.parameters[i], need);
      }
    }
  }
  template <class Need> void needRange(const Parameter &parameter, const Need &need) {
    if (parameter.range) {
      need(parameter.range->low);
      need(parameter.range->high);
    }
  }

  /// Those of the forward operator that are about what is there.
  void addConstraints() {
    static const std::set<std::string> python = {"torch", "and", "or", "not"};
    std::set<std::string> known = bound;
    for (const TensorText &input : parts.inputs) {
      known.insert(input.name);
    }
    for (const Constraint &constraint : op.constraints) {
      const std::set<std::string> names = namesIn(constraint.text);
      const bool isKnown = std::all_of(names.begin(), names.end(), [&](const std::string &name) {
        return python.contains(name) || known.contains(name);
      });
      if (isKnown && !constraint.text.ends_with(".is_contiguous()")) {
        parts.constraints.push_back(constraint.text);
      }
    }
  }

  /// With the sizes that were computed, and without those that are no longer there.
  std::vector<Case> completed(std::vector<Case> cases) const {
    for (Case &one : cases) {
      std::map<std::string, int64_t> sizes;
      for (const auto &[symbol, size] : one.binding.symbols) {
        if (bound.contains(symbol)) {
          sizes.emplace(symbol, size);
        }
      }
      for (const auto &[text, name] : computed) {
        if (auto value = evaluateSizes(text, one.binding)) {
          sizes[name] = value->whole;
        }
      }
      one.binding.symbols = std::move(sizes);
    }
    return cases;
  }

  const GradientBody &body;
  const Operator &op;
  const std::vector<GradientTensor> &taken, &given;
  std::set<size_t> used;
  std::set<std::string> bound;                 ///< sizes of inputs
  std::map<std::string, std::string> computed; ///< text of a size to its name
  DefinitionParts parts;
};

} // namespace

Result<Backward> backwardDefinition(const GradientBody &body,
                                    const std::vector<GradientTensor> &taken,
                                    const std::vector<GradientTensor> &given) {
  return BackwardText(body, taken, given).run();
}

} // namespace nereid::definition
