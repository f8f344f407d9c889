// SPDX-License-Identifier: Apache-2.0
#include "lib/importer/analysis/ModelCost.h"

#include "lib/definition/operations/Operations.h"
#include "lib/document/CostModel.h"

#include <fmt/format.h>

#include <algorithm>
#include <set>

namespace nereid::importer {
namespace {

/// Product of the dimensions from `first` on; the shape is known in numbers.
double productFrom(const Shape &shape, size_t first) {
  double product = 1;
  for (size_t i = first; i < shape.size(); ++i) {
    product *= static_cast<double>(shape[i].size);
  }
  return product;
}

double countOf(const Model &model, const Node &node, size_t input) {
  return node.hasInput(input) ? elementsOf(model, node.inputs[input]).value_or(0) : 0;
}

class Counter {
public:
  Counter(const Model &model, const Node &node, const OnnxOperator &row)
      : model(model), node(node), row(row), out(elementsOf(model, node.outputs[0]).value_or(0)) {}

  double flops() const {
    switch (row.kind) {
    case OperatorKind::Pointwise:
      return row.flops * out * perElement();
    case OperatorKind::Reduction:
    case OperatorKind::Normalisation:
      return row.flops * count(0);
    case OperatorKind::Product:
      return product();
    case OperatorKind::Convolution:
      return convolution();
    case OperatorKind::Pool:
      return row.flops * out * window();
    case OperatorKind::Attention:
      return attention();
    case OperatorKind::Recurrent:
      return recurrent();
    case OperatorKind::Move:
    case OperatorKind::Select:
    case OperatorKind::View:
    case OperatorKind::Free:
      return 0;
    }
    return 0;
  }

private:
  double count(size_t input) const { return countOf(model, node, input); }
  const Shape &shape(size_t input) const { return *model.value(node.inputs[input])->shape; }

  /// Sums, means and maxima of several tensors take one operation less than there are tensors.
  double perElement() const {
    const bool isOfMany =
        node.op == "Sum" || node.op == "Max" || node.op == "Min" || node.op == "Mean";
    return isOfMany ? static_cast<double>(node.inputs.size()) - (node.op == "Mean" ? 0 : 1) : 1;
  }

  double product() const {
    const Shape &a = shape(0);
    const bool isTransposed = node.op == "Gemm" && node.integer("transA", 0) != 0;
    const double depth = static_cast<double>((isTransposed ? a.front() : a.back()).size);
    double flops = 2 * out * depth;
    if (node.op == "Gemm") {
      flops += (node.hasInput(2) ? out : 0) + (node.real("alpha", 1) != 1 ? out : 0) +
               (node.hasInput(2) && node.real("beta", 1) != 1 ? out : 0);
    }
    return flops;
  }

  double convolution() const {
    const double ofEach = productFrom(shape(1), 1); // channels of a group, and the window
    const double bias = node.hasInput(2) && node.op != "ConvInteger" ? out : 0;
    return (node.op == "ConvTranspose" ? 2 * count(0) * ofEach : 2 * out * ofEach) + bias;
  }

  double window() const {
    double elements = 1;
    if (const auto *kernel = node.integers("kernel_shape")) {
      for (int64_t size : *kernel) {
        elements *= static_cast<double>(size);
      }
    }
    return elements;
  }

  /// Each row's product with all keys, a softmax over them, and the product with all values.
  double attention() const {
    const Shape &q = shape(0), &k = shape(1);
    const bool isThree = q.size() == 3;
    double keys = static_cast<double>(k[isThree ? 1 : 2].size);
    keys += node.hasInput(4) ? static_cast<double>(shape(4)[2].size) : 0;
    const double rows =
        isThree ? static_cast<double>(q[0].size * q[1].size * node.integer("q_num_heads", 1))
                : count(0) / std::max(1.0, static_cast<double>(q[3].size));
    return 2 * (count(0) + out) * keys + definition::findOperation("softmax")->flops * rows * keys;
  }

  /// Each gate has a product with the input and one with the state.
  double recurrent() const {
    const Shape &x = shape(0), &r = shape(2);
    if (x.size() != 3 || r.size() != 3) {
      return 0;
    }
    const double hidden = static_cast<double>(r[2].size);
    return row.flops * 2 * static_cast<double>(x[0].size) * static_cast<double>(x[1].size) *
           static_cast<double>(r[0].size) * hidden * (static_cast<double>(x[2].size) + hidden);
  }

  const Model &model;
  const Node &node;
  const OnnxOperator &row;
  double out;
};

DType arithmeticOf(const Model &model, const Node &node) {
  for (const auto *names : {&node.outputs, &node.inputs}) {
    const Value *value = names->empty() ? nullptr : model.value(names->front());
    const auto type = value ? value->type.dtype() : std::nullopt;
    if (type && *type != DType::Bool) {
      return *type;
    }
  }
  return DType::F32;
}

definition::Work countNode(const Model &model, const Node &node, const OnnxOperator &row) {
  definition::Work work;
  if (row.kind == OperatorKind::View || row.kind == OperatorKind::Free) {
    return work;
  }
  std::set<std::string> read;
  for (size_t i = 0; i < node.inputs.size(); ++i) {
    if (!node.hasInput(i) || !read.insert(node.inputs[i]).second) {
      continue;
    }
    const bool isChosenFrom = row.kind == OperatorKind::Select && i == 0;
    work.bytesRead += bytesOf(model, isChosenFrom ? node.outputs[0] : node.inputs[i]);
  }
  for (const std::string &output : node.outputs) {
    work.bytesWritten += output.empty() ? 0 : bytesOf(model, output);
  }
  work.flops = Counter(model, node, row).flops();
  return work;
}

/// The first value that costs hang on and whose shape or type is not known; "" = none.
std::string unknownValue(const Model &model, const Node &node) {
  for (const auto *names : {&node.inputs, &node.outputs}) {
    for (const std::string &name : *names) {
      const Value *value = name.empty() ? nullptr : model.value(name);
      if (!name.empty() && (!elementsOf(model, name) || !value->type.isKnown())) {
        return name;
      }
    }
  }
  return "";
}

} // namespace

std::optional<double> elementsOf(const Model &model, const std::string &name) {
  const Value *value = model.value(name);
  if (!value || !value->shape) {
    return std::nullopt;
  }
  for (const Dim &dim : *value->shape) {
    if (!dim.isSize()) {
      return std::nullopt;
    }
  }
  return productFrom(*value->shape, 0);
}

double bytesOf(const Model &model, const std::string &name) {
  const Value *value = model.value(name);
  return value ? elementsOf(model, name).value_or(0) * value->type.bytes() : 0;
}

std::vector<NodeCost> countCosts(const Model &model, Diagnostics &diags) {
  std::vector<NodeCost> costs;
  for (const Node &node : model.nodes) {
    const OnnxOperator &row = *findOnnxOperator(node.op);
    NodeCost &cost = costs.emplace_back();
    cost.kind = row.kind;
    cost.type = arithmeticOf(model, node);
    const bool isCounted = row.kind != OperatorKind::View && row.kind != OperatorKind::Free;
    if (const std::string open = isCounted ? unknownValue(model, node) : ""; !open.empty()) {
      const Value *value = model.value(open);
      diags
          .add(nodeError(
              "E0634", model, node,
              fmt::format("the {} of '{}' is not known{}",
                          value && value->shape && value->type.isKnown() ? "shape"
                                                                         : "shape or type",
                          open, value && value->shape ? ": " + text(*value->shape) : "")))
          .withHelp("save the model with the shapes of its values (onnx.shape_inference), or give "
                    "more sizes by --size");
      return costs;
    }
    cost.elements = elementsOf(model, node.outputs[0]).value_or(0);
    cost.work = countNode(model, node, row);
  }
  return costs;
}

Machine chipOfModels(Machine chip) {
  chip.caches.clear();
  chip.launchSeconds = chip.queuedLaunchSeconds > 0 ? chip.queuedLaunchSeconds : chip.launchSeconds;
  return chip;
}

LaunchSeconds launchSeconds(const Machine &chip, const definition::Work &work, DType type,
                            bool isProduct) {
  document::LaunchOutline outline;
  outline.grid = {std::max(chip.cores, 1), 1, 1}; // every processor has one program
  document::ModelTime time = document::modelTime(chip, work, outline, type);
  if (isProduct) {
    time.arithmetic = work.flops / chip.peakFor(type);
  }
  return {time.memory, time.arithmetic, time.seconds()};
}

void addSeconds(const Machine &chip, std::vector<NodeCost> &costs) {
  for (NodeCost &cost : costs) {
    if (cost.work.bytes() <= 0 && cost.work.flops <= 0) {
      continue;
    }
    const bool isProduct =
        cost.kind == OperatorKind::Product || cost.kind == OperatorKind::Convolution;
    const LaunchSeconds time = launchSeconds(chip, cost.work, cost.type, isProduct);
    cost.memorySeconds = time.memory;
    cost.arithmeticSeconds = time.arithmetic;
    cost.seconds = time.whole;
  }
}

} // namespace nereid::importer
