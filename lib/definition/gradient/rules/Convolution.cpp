// SPDX-License-Identifier: Apache-2.0
// Gradients of conv2d. The input's is a convolution with the weight turned round, over the gradient
// with zeros between its elements where the stride is larger than 1; the weight's is one product
// over all windows of the input.
#include "lib/definition/operations/Convolution.h"
#include "lib/definition/gradient/rules/Rules.h"
#include "lib/definition/gradient/text/MovementText.h"

#include <fmt/format.h>

#include <algorithm>

namespace nereid::definition {
namespace {

/// One spatial dimension, counted from the end.
struct Side {
  int64_t dim = -1, kernel = 1, stride = 1, dilation = 1, before = 0, after = 0;
  SizePolynomial size, result;
  int64_t reach() const { return dilation * (kernel - 1); }
};

class Convolution {
public:
  Convolution(GradientBody &body, const GradientOf &of)
      : body(body), of(of), input(body.shapeOf(of.node.inputs[0])),
        weight(body.shapeOf(of.node.inputs[1])), grad(of.grad.text) {
    const ConvolutionAttributes attributes = *convolutionAttributes(of.node);
    groups = attributes.groups;
    for (size_t i = 0; i < 2; ++i) {
      const int64_t dim = static_cast<int64_t>(i) - 2;
      Side &side = sides[i];
      side.dim = dim;
      side.kernel = (weight.end() + dim)->constant;
      hasNumbers &= (weight.end() + dim)->symbol.empty();
      side.stride = attributes.stride[i];
      side.dilation = attributes.dilation[i];
      // An odd sum leaves the larger part behind.
      side.before = attributes.isSame ? side.reach() / 2 : attributes.padding[i];
      side.after = attributes.isSame ? side.reach() - side.before : side.before;
      side.size = SizePolynomial::of(*(input.end() + dim));
      side.result = SizePolynomial::of(*(of.node.shape.end() + dim));
    }
  }

  std::optional<Share> run() {
    if (of.which == 2) {
      const char *dims = hasBatch() ? "(0, 2, 3)" : "(1, 2)";
      return Share{body.named("grad", fmt::format("torch.sum({}, dim={})", grad, dims)),
                   {weight[0]}};
    }
    if (!hasNumbers) {
      return std::nullopt;
    }
    return of.which == 0 ? ofInput() : ofWeight();
  }

private:
  bool hasBatch() const { return input.size() == 4; }
  std::string named(const std::string &text) { return body.named("grad", text); }

  std::optional<Share> ofInput() {
    bool isSame = true;
    for (const Side &side : sides) {
      isSame &= side.stride == 1 && side.before == side.after && 2 * side.before == side.reach();
    }
    std::string spread = grad;
    for (const Side &side : sides) {
      spread = isSame ? spread : padded(side, spread);
    }
    std::string filters = body.value(of.node.inputs[1]);
    filters = body.once("filters", fmt::format("torch.flip({}, dims=(-2, -1))", filters));
    if (groups == 1) {
      filters = body.once("filters", fmt::format("torch.permute({}, (1, 0, 2, 3))", filters));
    } else { // [groups, features, channels] of each group
      const int64_t features = weight[0].constant / groups;
      filters = body.once(
          "filters", fmt::format("torch.unflatten({}, 0, ({}, {}))", filters, groups, features));
      filters = body.once("filters", fmt::format("torch.permute({}, (0, 2, 1, 3, 4))", filters));
      filters = body.once("filters", fmt::format("torch.flatten({}, 0, 1)", filters));
    }
    std::string more = isSame ? ", padding=\"same\"" : "";
    if (sides[0].dilation != 1 || sides[1].dilation != 1) {
      more += fmt::format(", dilation=({}, {})", sides[0].dilation, sides[1].dilation);
    }
    more += groups == 1 ? "" : fmt::format(", groups={}", groups);
    return Share{named(fmt::format("F.conv2d({}, {}{})", spread, filters, more)), input};
  }

  /// As long as the input and what the kernel reaches over.
  std::string padded(const Side &side, std::string spread) {
    SizePolynomial length = side.result;
    if (side.stride > 1) {
      spread = named(fmt::format("torch.unsqueeze({}, {})", spread, side.dim));
      spread = named(padText(spread, side.dim, 0, side.stride - 1));
      spread = named(fmt::format("torch.flatten({}, {}, {})", spread, side.dim - 1, side.dim));
      length = length * side.stride;
    }
    const int64_t before = side.reach() - side.before;
    const SizePolynomial whole = side.size + side.reach(), behind = whole - before - length;
    if (behind.constant()) {
      return named(padText(spread, side.dim, before, behind));
    }
    // How much is to be added or taken off depends on the sizes.
    spread = named(padText(spread, side.dim, before, whole));
    return named(narrowText(spread, side.dim, 0, whole));
  }

  std::optional<Share> ofWeight() {
    std::string windows = body.value(of.node.inputs[0]);
    for (const Side &side : sides) {
      if (side.before != 0 || side.after != 0) {
        windows = body.once("windows", padText(windows, side.dim, side.before, side.after));
      }
    }
    for (const Side &side : sides) { // its windows' places come last
      windows = body.once(
          "windows", fmt::format("{}.unfold(-2, {}, {})", windows, side.reach() + 1, side.stride));
      if (side.dilation != 1) {
        windows = body.once("windows", fmt::format("{}[..., ::{}]", windows, side.dilation));
      }
    }
    std::string result = grad;
    if (!hasBatch()) {
      windows = body.once("windows", fmt::format("torch.unsqueeze({}, 0)", windows));
      result = named(fmt::format("torch.unsqueeze({}, 0)", result));
    }
    const std::string kernel = fmt::format("{}, {}", sides[0].kernel, sides[1].kernel);
    if (groups == 1) { // [features, places] by [places, channels and window]
      result = named(fmt::format("torch.permute({}, (1, 0, 2, 3))", result));
      result = named(fmt::format("torch.flatten({}, 1)", result));
      windows = body.once("windows", fmt::format("torch.permute({}, (0, 2, 3, 1, 4, 5))", windows));
      windows = body.once("windows", fmt::format("torch.flatten({}, 0, 2)", windows));
      windows = body.once("windows", fmt::format("torch.flatten({}, 1)", windows));
    } else {
      result = named(fmt::format("torch.unflatten({}, 1, ({}, {}))", result, groups,
                                 weight[0].constant / groups));
      result = named(fmt::format("torch.permute({}, (1, 2, 0, 3, 4))", result));
      result = named(fmt::format("torch.flatten({}, 2)", result));
      windows = body.once("windows", fmt::format("torch.unflatten({}, 1, ({}, {}))", windows,
                                                 groups, weight[1].constant));
      windows =
          body.once("windows", fmt::format("torch.permute({}, (1, 0, 3, 4, 2, 5, 6))", windows));
      windows = body.once("windows", fmt::format("torch.flatten({}, 1, 3)", windows));
      windows = body.once("windows", fmt::format("torch.flatten({}, 2)", windows));
    }
    const std::string product = named(fmt::format("{} @ {}", result, windows));
    return Share{named(fmt::format("torch.reshape({}, {})", product, shapeText(weight))), weight};
  }

  GradientBody &body;
  const GradientOf &of;
  const SymbolicShape &input, &weight;
  std::string grad;
  std::array<Side, 2> sides;
  int64_t groups = 1;
  bool hasNumbers = true;
};

} // namespace

std::optional<Share> convolutionGradient(GradientBody &body, const GradientOf &of) {
  return Convolution(body, of).run();
}

} // namespace nereid::definition
