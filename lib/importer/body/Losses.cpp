// SPDX-License-Identifier: Apache-2.0
// Losses of classes, as expressions.
#include "lib/importer/body/Expressions.h"

#include <fmt/format.h>

namespace nereid::importer {
namespace {

/// Classes, and what stands for none of them. Where other numbers lie between the two, they are
/// taken as the nearest class: the range of an input is one piece.
std::string labels(Expressions &e, std::optional<int64_t> ignored) {
  const Dim &classes = e.shape(0)[1];
  const std::string count = e.sizeText(classes);
  std::string low = "0", high = count;
  bool isApart = false;
  if (ignored && *ignored < 0) {
    low = std::to_string(*ignored);
    isApart = *ignored < -1;
  } else if (ignored && (!classes.isSize() || *ignored >= classes.size)) {
    if (!classes.isSize() || *ignored == INT64_MAX) {
      Expressions::fail(fmt::format("ignores the class {} of {}", *ignored, count));
    }
    high = std::to_string(*ignored + 1);
    isApart = *ignored > classes.size;
  }
  std::string text = e.within(1, low, high);
  if (e.type(1) != ElementType::of(DType::I64)) {
    text = e.step("labels", fmt::format("{}.to(torch.int64)", text));
  }
  return isApart ? e.step("classes", fmt::format("torch.where({0} == {1}, {0}, torch.clamp({0}, 0, "
                                                 "{2} - 1))",
                                                 text, *ignored, count))
                 : text;
}

std::string loss(Expressions &e) {
  if (e.shape(0).size() < 2 || e.shape(1).size() + 1 != e.shape(0).size()) {
    Expressions::fail("expects scores for each class, and one dimension less of labels");
  }
  const bool hasIgnored = e.of().attributes.contains("ignore_index");
  const auto ignored = hasIgnored ? std::optional(e.of().integer("ignore_index", 0)) : std::nullopt;
  const bool isCrossEntropy = e.of().op == "SoftmaxCrossEntropyLoss";
  const std::string x = e.tensor(0), target = labels(e, ignored);
  std::string text =
      fmt::format("F.{}({}, {}", isCrossEntropy ? "cross_entropy" : "nll_loss", x, target);
  text += e.of().hasInput(2) ? ", weight=" + e.tensor(2) : "";
  text += ignored ? fmt::format(", ignore_index={}", *ignored) : "";
  text += fmt::format(", reduction=\"{}\")", e.attributeText("reduction", "mean"));
  if (isCrossEntropy && e.hasOutput(1)) {
    e.setResults(2);
    text += fmt::format(", torch.log_softmax({}, dim=1)", x);
  }
  return text;
}

} // namespace

const RuleTable &lossRules() {
  static const RuleTable rules = {{"loss", loss}};
  return rules;
}

} // namespace nereid::importer
