// SPDX-License-Identifier: Apache-2.0
// Losses whose targets are class numbers, written out where they are called: what is gathered of
// the logarithms of probabilities, without the targets that are ignored.
#include "lib/definition/reader/indices/BodyIndexing.h"

#include "lib/language/syntax/Parser.h"

#include <fmt/format.h>

#include <algorithm>

namespace nereid::definition {

using language::Expr;
using language::ExprKind;

namespace {

/// Of log-probabilities `logs`, in the language of bodies. {dim}: the classes' dimension.
constexpr const char *kept = "kept = target != {ignored}\n"
                             "at = torch.where(kept, target, 0)\n";
constexpr const char *picked =
    "picked = -torch.squeeze(torch.gather(logs, {dim}, torch.unsqueeze(at, {dim})), dim={dim})\n";
constexpr const char *ofWeights = "share = torch.where(kept, weight[at], 0.0)\n";
/// Of the losses' type, which torch.where of two numbers is not.
constexpr const char *unweighted =
    "share = torch.masked_fill(torch.masked_fill(torch.select(input, {dim}, 0), kept, 1.0), "
    "torch.logical_not(kept), 0.0)\n";
constexpr const char *plain = "losses = torch.where(kept, picked * share, 0.0)\n";
/// With label smoothing each class has a part of the target.
constexpr const char *smoothed =
    "spread = -torch.sum(logs{weights}, dim={dim})\n"
    "losses = torch.where(kept, picked * share * (1.0 - {smoothing}) + spread * ({smoothing} / "
    "{classes}), 0.0)\n";

std::string replaced(std::string text, const std::string &from, const std::string &to) {
  for (size_t at = 0; (at = text.find(from, at)) != std::string::npos; at += to.size()) {
    text.replace(at, from.size(), to);
  }
  return text;
}

} // namespace

/// A call, taken apart.
struct BodyClassLosses::Loss {
  int input = 0, target = 0;
  std::optional<int> weight;
  int64_t ignored = -100;
  double smoothing = 0;
  std::string reduction = "mean";
};

bool BodyClassLosses::isFunction(const std::string &name) {
  return name == "cross_entropy" || name == "nll_loss";
}

std::optional<BodyClassLosses::Loss> BodyClassLosses::read(const BodyExpressions::Call &call) {
  std::vector<Argument> arguments = {
      {"input", ArgumentType::Operand, false, ""},
      {"target", ArgumentType::Operand, false, ""},
      {"weight", ArgumentType::Operand, true, "none"},
      {"size_average", ArgumentType::Bool, true, "none"},
      {"ignore_index", ArgumentType::Dimension, true, "-100"},
      {"reduce", ArgumentType::Bool, true, "none"},
      {"reduction", ArgumentType::String, true, "mean"},
  };
  if (call.function == "cross_entropy") {
    arguments.push_back({"label_smoothing", ArgumentType::Operand, true, "0.0"});
  }
  auto given = body.matched(call, call.function, arguments);
  if (!given) {
    return std::nullopt;
  }
  auto argument = [&](const std::string &name) -> const Expr * {
    auto found = given->find(name);
    return found == given->end() ? nullptr : body.resolved(found->second);
  };
  for (const char *name : {"size_average", "reduce"}) {
    if (const Expr *old = argument(name)) {
      body.fail("E0608", old->range,
                fmt::format("'{}' of '{}' is not available", name, call.function))
          .withHelp("write reduction=\"mean\", \"sum\" or \"none\"");
      return std::nullopt;
    }
  }
  Loss loss;
  const Expr *reduction = argument("reduction"), *ignored = argument("ignore_index"),
             *smoothing = argument("label_smoothing");
  loss.reduction = reduction ? reduction->text : loss.reduction;
  const bool isKnown =
      loss.reduction == "none" || loss.reduction == "mean" || loss.reduction == "sum";
  const bool isNumber = !smoothing || smoothing->kind == ExprKind::Float;
  const bool isLiteral = !ignored || literalInteger(*ignored);
  if (!argument("input") || !argument("target") || !isLiteral || !isKnown || !isNumber) {
    body.fail("E0608", call.whole->range,
              fmt::format("'{}' expects input and target, a literal ignore_index and "
                          "label_smoothing, and reduction=\"none\", \"mean\" or \"sum\"",
                          call.function));
    return std::nullopt;
  }
  loss.ignored = ignored ? *literalInteger(*ignored) : loss.ignored;
  loss.smoothing = smoothing ? smoothing->real : 0;
  const std::optional<int> input = body.read(*argument("input"));
  const std::optional<int> target = body.read(*argument("target"));
  loss.weight = argument("weight") ? body.read(*argument("weight")) : std::nullopt;
  if (!input || !target || (argument("weight") && !loss.weight)) {
    return std::nullopt;
  }
  loss.input = *input;
  loss.target = *target;
  return loss;
}

std::optional<int> BodyClassLosses::call(const BodyExpressions::Call &call) {
  const std::optional<Loss> loss = read(call);
  if (!loss) {
    return std::nullopt;
  }
  const SymbolicShape shape = body.op.nodes[static_cast<size_t>(loss->input)].shape;
  if (shape.empty() || shape[0].isRest()) {
    body.fail("E0604", call.whole->range,
              fmt::format("'{}' expects an input of known rank, but got {}", call.function,
                          nereid::definition::text(shape)))
        .withHelp("its classes lie along the second dimension: write [\"N\", \"C\"]");
    return std::nullopt;
  }
  const size_t dim = shape.size() == 1 ? 0 : 1;
  const Dim &classes = shape[dim];
  std::string text = call.function == "cross_entropy"
                         ? "logs = torch.log_softmax(input, dim={dim})\n"
                         : "logs = input\n";
  text += std::string(kept) + picked + (loss->weight ? ofWeights : unweighted);
  text += loss->smoothing == 0 ? plain : smoothed;
  text += loss->reduction == "none"  ? "out = losses\n"
          : loss->reduction == "sum" ? "out = torch.sum(losses)\n"
                                     : "out = torch.sum(losses) / torch.sum(share)\n";
  std::string shaped = "weight";
  for (size_t i = dim + 1; i < shape.size(); ++i) {
    shaped = "torch.unsqueeze(" + shaped + ", -1)";
  }
  text = replaced(text, "{weights}", loss->weight ? " * " + shaped : "");
  text = replaced(text, "{dim}", std::to_string(dim));
  text = replaced(text, "{ignored}", std::to_string(loss->ignored));
  text = replaced(text, "{smoothing}", fmt::format("{}", loss->smoothing));
  text = replaced(text, "{classes}",
                  classes.symbol.empty() ? std::to_string(classes.constant) : classes.symbol);
  std::map<std::string, int> operands = {{"input", loss->input}, {"target", loss->target}};
  if (loss->weight) {
    operands["weight"] = *loss->weight;
  }
  return body.writtenOut(call, text, std::move(operands));
}

} // namespace nereid::definition
