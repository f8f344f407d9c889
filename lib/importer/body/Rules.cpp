// SPDX-License-Identifier: Apache-2.0
// Operators whose expression depends on more than their attributes' values.
#include "lib/importer/body/Expressions.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <map>
#include <numeric>

namespace nereid::importer {

std::string Expressions::rule(std::string_view name) {
  using Rule = std::string (*)(Expressions &);
  static const std::map<std::string_view, Rule> rules = {
      {"batchNorm", [](Expressions &e) { return e.batchNorm(); }},
      {"cast", [](Expressions &e) { return e.cast(); }},
      {"clip", [](Expressions &e) { return e.clip(); }},
      {"conv", [](Expressions &e) { return e.conv(); }},
      {"dropout", [](Expressions &e) { return e.dropout(); }},
      {"gemm", [](Expressions &e) { return e.gemm(); }},
      {"globalMax", [](Expressions &e) { return e.global("amax"); }},
      {"globalMean", [](Expressions &e) { return e.global("mean"); }},
      {"identity", [](Expressions &e) { return e.tensor(0); }},
      {"instanceNorm", [](Expressions &e) { return e.instanceNorm(); }},
      {"isinf", [](Expressions &e) { return e.isInf(); }},
      {"layerNorm", [](Expressions &e) { return e.layerNorm(); }},
      {"maximum", [](Expressions &e) { return e.nested("maximum"); }},
      {"mean", [](Expressions &e) { return e.mean(); }},
      {"meanVariance", [](Expressions &e) { return e.meanVariance(); }},
      {"minimum", [](Expressions &e) { return e.nested("minimum"); }},
      {"mod", [](Expressions &e) { return e.mod(); }},
      {"power", [](Expressions &e) { return e.power(); }},
      {"product", [](Expressions &e) { return e.product(); }},
      {"shift", [](Expressions &e) { return e.shift(); }},
      {"softmax", [](Expressions &e) { return e.softmax(); }},
      {"sum", [](Expressions &e) { return e.folded(" + "); }},
      {"transpose", [](Expressions &e) { return e.transpose(); }},
      {"unsqueeze", [](Expressions &e) { return e.unsqueeze(); }},
  };
  auto found = rules.find(name);
  if (found == rules.end()) {
    fail(fmt::format("the rule '{}' is missing", name));
  }
  return found->second(*this);
}

std::string Expressions::cast() {
  const ElementType to(static_cast<int>(node->integer("to", 0)));
  if (to == type(0)) {
    return tensor(0);
  }
  const auto result = to.dtype(), from = type(0).dtype();
  if (result == DType::F32 && from == DType::Bool) {
    return fmt::format("torch.where({}, 1.0, 0.0)", tensor(0));
  }
  if (result == DType::F32 && from && !isFloat(*from)) {
    return tensor(0) + " * 1.0";
  }
  fail(fmt::format("bodies of definitions convert integers and bools to float32, but this is {} to "
                   "{}",
                   type(0).name(), to.name()));
}

std::string Expressions::clip() {
  std::string text = tensor(0);
  const bool isOld = node->attributes.contains("min") || node->attributes.contains("max");
  auto bound = [&](size_t input, const char *attribute) -> std::string {
    if (isOld) {
      return node->attributes.contains(attribute) ? attributeText(attribute, "") : "";
    }
    return node->hasInput(input) ? operand(input) : "";
  };
  const std::string low = bound(1, "min"), high = bound(2, "max");
  // Where they cross the upper one counts, as clamp has it.
  if (!low.empty()) {
    text = fmt::format("torch.maximum({}, {})", text, low);
  }
  if (!high.empty()) {
    text = fmt::format("torch.minimum({}, {})", text, high);
  }
  return text;
}

std::string Expressions::dropout() {
  const bool isTraining = (node->hasInput(2) && known(2) != 0.0) ||
                          (model.opset < 7 && node->integer("is_test", 0) == 0);
  if (isTraining) {
    fail("is a dropout that draws random numbers: export the model for inference");
  }
  return tensor(0);
}

std::string Expressions::isInf() {
  if (node->integer("detect_negative", 1) == 0 || node->integer("detect_positive", 1) == 0) {
    const bool isPositive = node->integer("detect_positive", 1) != 0;
    if (!isPositive && node->integer("detect_negative", 1) == 0) {
      fail("asks for neither infinity");
    }
    return fmt::format("{} == float(\"{}inf\")", tensor(0), isPositive ? "" : "-");
  }
  return fmt::format("torch.isinf({})", tensor(0));
}

std::string Expressions::shift() {
  return fmt::format("{} {} {}", operand(0), node->word("direction", "") == "RIGHT" ? ">>" : "<<",
                     operand(1));
}

std::string Expressions::mod() {
  return fmt::format("torch.{}({}, {})", node->integer("fmod", 0) != 0 ? "fmod" : "remainder",
                     operand(0), operand(1));
}

std::string Expressions::power() {
  const auto base = type(0).dtype(), exponent = type(1).dtype();
  if (!base || !exponent || (*base != *exponent && (!isFloat(*base) || isFloat(*exponent)))) {
    fail(fmt::format("powers of {} with an exponent of {}", type(0).name(), type(1).name()));
  }
  return fmt::format("{} ** {}", operand(0), operand(1));
}

std::string Expressions::folded(const char *between) {
  std::vector<std::string> texts;
  for (size_t i = 0; i < node->inputs.size(); ++i) {
    texts.push_back(operand(i));
  }
  return fmt::format("{}", fmt::join(texts, between));
}

std::string Expressions::nested(const char *function) {
  std::string text = operand(0);
  for (size_t i = 1; i < node->inputs.size(); ++i) {
    text = fmt::format("torch.{}({}, {})", function, text, operand(i));
  }
  return text;
}

std::string Expressions::mean() {
  return fmt::format("({}) / {}.0", folded(" + "), node->inputs.size());
}

/// Products are taken along one dimension at a time.
std::string Expressions::product() { return fmt::format("torch.prod({}{})", tensor(0), dims()); }

std::string Expressions::softmax() {
  const size_t rank = shape(0).size();
  const int64_t at = axis(node->integer("axis", model.opset < 13 ? 1 : -1), rank);
  if (model.opset < 13 && at + 1 != static_cast<int64_t>(rank)) {
    fail("is taken over several dimensions together, as before operator set 13");
  }
  return fmt::format("torch.{}({}, dim={})", node->op == "Softmax" ? "softmax" : "log_softmax",
                     tensor(0), at);
}

std::string Expressions::layerNorm() {
  const auto first = static_cast<size_t>(axis(node->integer("axis", -1), shape(0).size()));
  const bool isRms = node->op == "RMSNormalization";
  const std::string eps = numberText(node->real("epsilon", static_cast<double>(1e-5F)));
  std::string text = fmt::format("F.{}({}, {}, {}", isRms ? "rms_norm" : "layer_norm", tensor(0),
                                 sizesFrom(first), tensor(1));
  if (!isRms) {
    text += node->hasInput(2) ? ", " + tensor(2) : ", 0.0";
  }
  return text + ", " + eps + ")";
}

/// A value for each channel, dimension 1, spread over the dimensions behind it.
std::string Expressions::perChannel(size_t input) {
  std::string text = tensor(input);
  for (size_t i = 2; i < shape(0).size(); ++i) {
    text = fmt::format("torch.unsqueeze({}, -1)", text);
  }
  return text;
}

std::string Expressions::batchNorm() {
  const bool isTraining =
      node->integer("training_mode", 0) != 0 || node->integer("spatial", 1) == 0;
  if (isTraining || (model.opset < 7 && node->integer("is_test", 0) == 0)) {
    fail("takes mean and variance of the batch: export the model for inference");
  }
  const std::string x = tensor(0), scale = perChannel(1), bias = perChannel(2),
                    mean = perChannel(3), variance = perChannel(4);
  return fmt::format("({} - {}) / torch.sqrt({} + {}) * {} + {}", x, mean, variance,
                     numberText(node->real("epsilon", static_cast<double>(1e-5F))), scale, bias);
}

std::string Expressions::instanceNorm() {
  std::vector<size_t> axes(shape(0).size() > 2 ? shape(0).size() - 2 : 0);
  if (axes.empty()) {
    fail("normalises images, but this has no dimensions behind the channels");
  }
  std::iota(axes.begin(), axes.end(), 2);
  const std::string x = tensor(0), scale = perChannel(1), bias = perChannel(2);
  const std::string dim = fmt::format("dim=({},), keepdim=True", fmt::join(axes, ", "));
  return fmt::format("({0} - torch.mean({0}, {1})) / torch.sqrt(torch.mean(torch.square({0} - "
                     "torch.mean({0}, {1})), {1}) + {2}) * {3} + {4}",
                     x, dim, numberText(node->real("epsilon", static_cast<double>(1e-5F))), scale,
                     bias);
}

std::string Expressions::meanVariance() {
  const std::vector<int64_t> usual = {0, 2, 3};
  std::vector<int64_t> axes;
  for (int64_t one : node->integers("axes") ? *node->integers("axes") : usual) {
    axes.push_back(axis(one, shape(0).size()));
  }
  std::sort(axes.begin(), axes.end());
  const std::string x = tensor(0);
  const std::string dim = fmt::format("dim=({},), keepdim=True", fmt::join(axes, ", "));
  return fmt::format("({0} - torch.mean({0}, {1})) / (torch.sqrt(torch.mean({0} * {0}, {1}) - "
                     "torch.square(torch.mean({0}, {1}))) + 1e-9)",
                     x, dim);
}

std::string Expressions::gemm() {
  std::string a = tensor(0), b = tensor(1);
  a += node->integer("transA", 0) != 0 ? ".permute(1, 0)" : "";
  b += node->integer("transB", 0) != 0 ? ".permute(1, 0)" : "";
  std::string text = fmt::format("torch.matmul({}, {})", a, b);
  if (const double alpha = node->real("alpha", 1); alpha != 1) {
    text += " * " + numberText(alpha);
  }
  if (node->hasInput(2)) {
    const double beta = node->real("beta", 1);
    text += " + " + operand(2) + (beta != 1 ? " * " + numberText(beta) : "");
  }
  return text;
}

std::string Expressions::conv() {
  if (shape(0).size() != 4) {
    fail(fmt::format("definitions convolve images of height and width, but this has {} dimensions",
                     shape(0).size()));
  }
  auto pair = [&](const char *attribute) {
    const auto *given = node->integers(attribute);
    return given && given->size() == 2 ? *given : std::vector<int64_t>{1, 1};
  };
  const auto stride = pair("strides"), dilation = pair("dilations");
  std::string padding = "(0, 0)";
  const std::string automatic = node->word("auto_pad", "NOTSET");
  const auto *pads = node->integers("pads");
  if (automatic == "SAME_UPPER" && stride == std::vector<int64_t>{1, 1}) {
    padding = "\"same\"";
  } else if (automatic.starts_with("SAME")) {
    fail("pads its image by more on one side than the other");
  } else if (pads && automatic != "VALID") {
    if (pads->size() != 4 || (*pads)[0] != (*pads)[2] || (*pads)[1] != (*pads)[3]) {
      fail("pads its image by more on one side than the other");
    }
    padding = fmt::format("({}, {})", (*pads)[0], (*pads)[1]);
  }
  const std::string x = tensor(0), weight = tensor(1);
  return fmt::format("F.conv2d({}, {}, {}, stride=({}, {}), padding={}, dilation=({}, {}), "
                     "groups={})",
                     x, weight, node->hasInput(2) ? tensor(2) : "0.0", stride[0], stride[1],
                     padding, dilation[0], dilation[1], node->integer("group", 1));
}

std::string Expressions::global(const char *function) {
  std::vector<size_t> axes(shape(0).size() > 2 ? shape(0).size() - 2 : 0);
  if (axes.empty()) {
    fail("has no dimensions behind the channels");
  }
  std::iota(axes.begin(), axes.end(), 2);
  return fmt::format("torch.{}({}, dim=({},), keepdim=True)", function, tensor(0),
                     fmt::join(axes, ", "));
}

std::string Expressions::unsqueeze() {
  const auto given = integers("axes", 1);
  if (!given) {
    fail("expects axes");
  }
  std::vector<int64_t> axes;
  for (int64_t one : *given) {
    axes.push_back(axis(one, shape(0).size() + given->size()));
  }
  std::sort(axes.begin(), axes.end());
  std::string text = tensor(0);
  for (int64_t one : axes) {
    text = fmt::format("torch.unsqueeze({}, {})", text, one);
  }
  return text;
}

std::string Expressions::transpose() {
  std::vector<int64_t> order(shape(0).size());
  std::iota(order.rbegin(), order.rend(), 0);
  order = node->integers("perm") ? *node->integers("perm") : order;
  return fmt::format("torch.permute({}, ({},))", tensor(0), fmt::join(order, ", "));
}

} // namespace nereid::importer
