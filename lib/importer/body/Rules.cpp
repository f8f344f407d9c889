// SPDX-License-Identifier: Apache-2.0
// Operators whose expression depends on more than their attributes' values.
#include "lib/importer/body/Expressions.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <numeric>

namespace nereid::importer {

std::string Expressions::rule(std::string_view name) {
  static const RuleTable rules = {
      {"batchNorm", [](Expressions &e) { return e.batchNorm(); }},
      {"clip", [](Expressions &e) { return e.clip(); }},
      {"dropout", [](Expressions &e) { return e.dropout(); }},
      {"gemm", [](Expressions &e) { return e.gemm(); }},
      {"globalLp", [](Expressions &e) { return e.globalLp(); }},
      {"globalMax", [](Expressions &e) { return e.global("amax"); }},
      {"globalMean", [](Expressions &e) { return e.global("mean"); }},
      {"groupNorm", [](Expressions &e) { return e.groupNorm(); }},
      {"identity", [](Expressions &e) { return e.tensor(0); }},
      {"instanceNorm", [](Expressions &e) { return e.instanceNorm(); }},
      {"isinf", [](Expressions &e) { return e.isInf(); }},
      {"layerNorm", [](Expressions &e) { return e.layerNorm(); }},
      {"localNorm", [](Expressions &e) { return e.localNorm(); }},
      {"lpNorm", [](Expressions &e) { return e.lpNorm(); }},
      {"maximum", [](Expressions &e) { return e.nested("maximum"); }},
      {"mean", [](Expressions &e) { return e.mean(); }},
      {"meanVariance", [](Expressions &e) { return e.meanVariance(); }},
      {"minimum", [](Expressions &e) { return e.nested("minimum"); }},
      {"mod", [](Expressions &e) { return e.mod(); }},
      {"power", [](Expressions &e) { return e.power(); }},
      {"product", [](Expressions &e) { return e.product(); }},
      {"quotient", [](Expressions &e) { return e.quotient(); }},
      {"shift", [](Expressions &e) { return e.shift(); }},
      {"softmax", [](Expressions &e) { return e.softmax(); }},
      {"sum", [](Expressions &e) { return e.folded(" + "); }},
  };
  for (const RuleTable *table :
       {&rules, &moveRules(), &windowRules(), &resizeRules(), &conversionRules(), &placeRules(),
        &madeRules(), &attentionRules(), &lossRules()}) {
    if (auto found = table->find(name); found != table->end()) {
      return found->second(*this);
    }
  }
  fail(fmt::format("the rule '{}' is missing", name));
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
  const bool isRight = node->word("direction", "") == "RIGHT";
  const std::string x = operand(0), by = operand(1);
  const auto dtype = type(0).dtype();
  const auto bits = static_cast<int64_t>(8 * type(0).bytes());
  const auto number = known(1);
  const bool isInside = number && *number >= 0 && *number < static_cast<double>(bits);
  if (model.opset < 28 || isInside || !dtype) {
    return fmt::format("{} {} {}", x, isRight ? ">>" : "<<", by);
  }
  // By as many bits as there are, or fewer than none: what filling up alone leaves.
  const std::string inside = step("inside", fmt::format("({0} >= 0) & ({0} < {1})", by, bits));
  if (isRight && isSignedInteger(*dtype)) {
    return fmt::format("{} >> torch.where({}, {}, {})", x, inside, by, bits - 1);
  }
  return fmt::format("torch.where({0}, {1} {2} torch.where({0}, {3}, 0), 0)", inside, x,
                     isRight ? ">>" : "<<", by);
}

/// Of integers cut off towards zero.
std::string Expressions::quotient() {
  const auto dtype = type(0).dtype();
  return dtype && isFloat(*dtype)
             ? fmt::format("{} / {}", operand(0), operand(1))
             : fmt::format("torch.div({}, {}, rounding_mode=\"trunc\")", operand(0), divisor(1));
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
  const std::string name = node->op == "Softmax" ? "softmax" : "log_softmax", x = tensor(0);
  if (model.opset < 13 && at + 1 != static_cast<int64_t>(rank)) { // all from there on together
    const auto first = static_cast<size_t>(at);
    return fmt::format("torch.reshape(torch.{}(torch.reshape({}, ({}, {})), dim=1), {})", name, x,
                       productText(shape(0), 0, first), productText(shape(0), first, rank),
                       shapeText(shape(0)));
  }
  return fmt::format("torch.{}({}, dim={})", name, x, at);
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
  text += ", " + eps + ")";
  if (isRms || (!hasOutput(1) && !hasOutput(2))) {
    return text;
  }
  std::vector<size_t> axes(shape(0).size() - first);
  std::iota(axes.begin(), axes.end(), first);
  const bool isSingle =
      type(0) == ElementType::of(DType::F32) || type(0) == ElementType::of(DType::F64);
  const std::string x = isSingle ? tensor(0) : tensor(0) + ".to(torch.float32)";
  const std::string dim = fmt::format("dim=({},), keepdim=True", fmt::join(axes, ", "));
  const std::string mean = step("mean", fmt::format("torch.mean({}, {})", x, dim));
  setResults(3);
  return fmt::format("{0}, {1}, torch.rsqrt(torch.mean(torch.square({2} - {1}), {3}) + {4})", text,
                     mean, x, dim, eps);
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

/// "dim=(2, 3,), keepdim=True": all behind the channels.
std::string Expressions::dimsOfImage() const {
  std::vector<size_t> axes(shape(0).size() > 2 ? shape(0).size() - 2 : 0);
  if (axes.empty()) {
    fail("has no dimensions behind the channels");
  }
  std::iota(axes.begin(), axes.end(), 2);
  return fmt::format("dim=({},), keepdim=True", fmt::join(axes, ", "));
}

std::string Expressions::global(const char *function) {
  const std::string x = tensor(0);
  return fmt::format("torch.{}({}, {})", function, x, dimsOfImage());
}

std::string Expressions::globalLp() {
  const std::string x = fmt::format("torch.abs({})", tensor(0));
  const int64_t p = node->integer("p", 2);
  return fmt::format("torch.sum({} ** {}.0, {}) ** (1.0 / {}.0)", x, p, dimsOfImage(), p);
}

std::string Expressions::groupNorm() {
  if (model.opset < 21) {
    fail("has a factor for each group, as before operator set 21");
  }
  const std::string x = tensor(0), scale = tensor(1), bias = tensor(2);
  return fmt::format("F.group_norm({}, {}, {}, {}, eps={})", x, node->integer("num_groups", 1),
                     scale, bias, numberText(node->real("epsilon", static_cast<double>(1e-5F))));
}

std::string Expressions::localNorm() {
  const int64_t size = node->integer("size", 0);
  if (size < 1 || size % 2 == 0) {
    fail("sums an even number of channels");
  }
  return fmt::format("F.local_response_norm({}, {}, alpha={}, beta={}, k={})", tensor(0), size,
                     numberText(node->real("alpha", static_cast<double>(1e-4F))),
                     numberText(node->real("beta", 0.75)), numberText(node->real("bias", 1)));
}

std::string Expressions::lpNorm() {
  const int64_t p = node->integer("p", 2), at = axis(node->integer("axis", -1), shape(0).size());
  const std::string x = tensor(0);
  if (p != 1 && p != 2) {
    fail(fmt::format("has the order {}", p));
  }
  const std::string norm =
      p == 1 ? fmt::format("torch.sum(torch.abs({}), dim={}, keepdim=True)", x, at)
             : fmt::format("torch.sqrt(torch.sum({0} * {0}, dim={1}, keepdim=True))", x, at);
  return fmt::format("torch.where({1} == 0.0, 0.0, {0} / {1})", x, norm);
}

} // namespace nereid::importer
