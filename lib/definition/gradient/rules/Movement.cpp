// SPDX-License-Identifier: Apache-2.0
// Gradients of movements: each element goes back to where it was, and those that were read several
// times get the sum.
#include "lib/definition/operations/indices/Movement.h"
#include "lib/definition/gradient/rules/Rules.h"
#include "lib/definition/gradient/text/BodyText.h"
#include "lib/definition/gradient/text/MovementText.h"
#include "lib/definition/operations/View.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>

namespace nereid::definition {
namespace {

SizePolynomial sizeAt(const SymbolicShape &shape, int64_t dim) {
  return SizePolynomial::of(*(shape.end() + dim));
}

/// A piece of a dimension of `size` elements back in its place, with zeros around: element i goes
/// to start + step · i.
struct Place {
  int64_t dim;
  SizePolynomial start, length;
  int64_t step;
  SizePolynomial size;
};
std::string placed(GradientBody &body, std::string piece, const Place &at) {
  if (at.step < 0) {
    Place turned = at;
    turned.start = at.start + (at.length - 1) * at.step;
    turned.step = -at.step;
    return placed(body, body.named("grad", flipText(piece, at.dim)), turned);
  }
  SizePolynomial length = at.length;
  if (at.step > 1) { // zeros behind each element
    piece = body.named("grad", fmt::format("torch.unsqueeze({}, {})", piece, at.dim));
    piece = body.named("grad", padText(piece, at.dim, 0, at.step - 1));
    piece = body.named("grad", fmt::format("torch.flatten({}, {}, {})", piece, at.dim - 1, at.dim));
    length = length * at.step;
  }
  const SizePolynomial behind = at.size - at.start - length;
  if (at.step == 1 || behind.constant()) {
    const bool isWhole = at.start == SizePolynomial(0) && behind == SizePolynomial(0);
    return isWhole ? piece : body.named("grad", padText(piece, at.dim, at.start, behind));
  }
  // How much is to be added or taken off depends on the sizes.
  piece = body.named("grad", padText(piece, at.dim, at.start, at.size));
  return body.named("grad", narrowText(piece, at.dim, 0, at.size));
}

std::string sumText(const std::vector<std::string> &texts) {
  return fmt::format("{}", fmt::join(texts, " + "));
}

/// Of a padding that repeats elements: what lies beyond the ends is added to what it repeats.
std::string unpadded(GradientBody &body, const Node &node, const std::string &grad,
                     const SizePolynomial &size) {
  const int64_t dim = integerAttribute(node, "dim", -1);
  const SizePolynomial before = sizeAttribute(node, "before"), after = sizeAttribute(node, "after"),
                       none = 0;
  const std::string mode = stringAttribute(node, "mode", "constant");
  std::vector<std::string> parts = {body.named("grad", narrowText(grad, dim, before, size))};
  /// `start`: where the repeated elements lie in the dimension.
  auto add = [&](const SizePolynomial &from, const SizePolynomial &length,
                 const SizePolynomial &start, const SizePolynomial &end) {
    if (length == none) {
      return;
    }
    std::string edge = body.named("edge", narrowText(grad, dim, from, length));
    SizePolynomial count = length, first = start;
    if (mode == "reflect") {
      edge = body.named("edge", flipText(edge, dim));
    } else if (mode == "replicate") {
      edge = body.named("edge", fmt::format("torch.sum({}, dim={}, keepdim=True)", edge, dim));
      count = 1;
      first = end;
    }
    parts.push_back(placed(body, edge, {dim, first, count, 1, size}));
  };
  if (mode == "reflect") {
    add(none, before, 1, none);
    add(before + size, after, size - after - 1, none);
  } else if (mode == "replicate") {
    add(none, before, none, 0);
    add(before + size, after, none, size - 1);
  } else if (mode == "circular") {
    add(none, before, size - before, none);
    add(before + size, after, 0, none);
  }
  return parts.size() == 1 ? parts[0] : body.named("grad", sumText(parts));
}

/// Each place of a window is a slice.
std::string unwindowed(GradientBody &body, const Node &node, const std::string &grad,
                       const SymbolicShape &from, const SymbolicShape &to) {
  const int64_t dim = integerAttribute(node, "dim", -1), count = integerAttribute(node, "size", 1);
  std::vector<std::string> parts;
  for (int64_t i = 0; i < count; ++i) {
    const std::string part = body.named("grad", fmt::format("{}[..., {}]", grad, i));
    parts.push_back(placed(body, part,
                           {dim, i * integerAttribute(node, "dilation", 1), sizeAt(to, dim - 1),
                            integerAttribute(node, "step", 1), sizeAt(from, dim)}));
  }
  return body.named("grad", sumText(parts));
}

/// Each place of a window is read where it was put.
std::string unspread(GradientBody &body, const Node &node, const std::string &grad,
                     const SymbolicShape &from) {
  const int64_t dim = integerAttribute(node, "dim", -1), step = integerAttribute(node, "step", 1);
  const SizePolynomial windows = sizeAt(from, dim), reach = (windows - 1) * step + 1, none = 0;
  std::vector<std::string> parts;
  for (int64_t i = 0; i < from.back().constant; ++i) {
    const int64_t away = i * integerAttribute(node, "dilation", 1);
    const SizePolynomial before = sizeAttribute(node, "before") - away;
    const SizePolynomial behind = reach - before - sizeAttribute(node, "length");
    std::string part = body.named("grad", fmt::format("{}[..., {}]", grad, i));
    // How much is to be added or taken off may depend on the sizes.
    const bool isKnown = behind.constant().has_value();
    if (before != none || behind != none) {
      part = body.named("grad", padText(part, dim + 1, before, isKnown ? behind : reach));
    }
    if (step > 1 || !isKnown) {
      part = body.named("grad", step > 1 ? sliceText(part, dim + 1, 0, windows, step)
                                         : narrowText(part, dim + 1, 0, windows));
    }
    parts.push_back(body.named("grad", fmt::format("torch.unsqueeze({}, -1)", part)));
  }
  return parts.size() == 1
             ? parts[0]
             : body.named("grad", fmt::format("torch.cat([{}], dim=-1)", fmt::join(parts, ", ")));
}

/// What was read at computed places is added there.
std::optional<std::string> unresampled(GradientBody &body, const Node &node,
                                       const std::string &grad, const SymbolicShape &from) {
  const int64_t dim = integerAttribute(node, "dim", -1);
  const std::vector<std::string> places =
      placesRead(node, from, [&](const std::string &text) { return body.once("place", text); });
  std::string sum;
  for (size_t i = 0; i < places.size(); ++i) {
    const std::string part = node.attributes.contains("places")
                                 ? body.named("grad", fmt::format("{}[..., {}]", grad, i))
                                 : grad;
    if (i == 0) { // of the input's shape, without its values
      const std::string whole = padText(narrowText(part, dim, 0, 1), dim, 0, sizeAt(from, dim) - 1);
      sum = body.named("zeros", fmt::format("torch.zeros_like({})", whole));
    }
    sum = body.named("grad",
                     fmt::format("torch.index_add({}, {}, {}, {})", sum, dim, places[i], part));
  }
  return places.empty() ? std::nullopt : std::optional(sum);
}

std::string permuted(GradientBody &body, const Node &node, const std::string &grad, size_t rank) {
  const Result<std::vector<size_t>> order = viewOrder(node, rank);
  if (const auto swap = trailingSwap(node)) { // its own inverse
    return body.named("grad",
                      fmt::format("torch.transpose({}, {}, {})", grad, swap->first, swap->second));
  }
  std::vector<std::string> back(rank);
  for (size_t d = 0; d < rank; ++d) {
    back[(*order)[d]] = std::to_string(d);
  }
  return body.named("grad", fmt::format("torch.permute({}, {})", grad, tupleText(back)));
}

} // namespace

std::optional<Share> movementGradient(GradientBody &body, const GradientOf &of) {
  const Node &node = of.node;
  const SymbolicShape &own = body.shapeOf(of.input());
  const std::string &grad = of.grad.text;
  const int64_t dim = integerAttribute(node, "dim", -1);
  auto share = [&](const std::string &text) { return Share{text, own}; };
  auto named = [&](const std::string &text) { return share(body.named("grad", text)); };
  if (node.op == "expand") {
    return of.grad; // summed as any other broadcast
  }
  if (node.op == "permute") {
    return share(permuted(body, node, grad, own.size()));
  }
  if (node.op == "unsqueeze") {
    const auto rank = static_cast<int64_t>(node.shape.size());
    return named(fmt::format("torch.squeeze({}, dim={})", grad, dim < 0 ? dim : dim - rank));
  }
  if (node.op == "squeeze") {
    std::vector<int64_t> dims = dimsOf(node);
    std::string text = grad;
    for (auto each = dims.rbegin(); each != dims.rend(); ++each) { // the last one comes first
      text = fmt::format("torch.unsqueeze({}, {})", text, *each);
    }
    return named(text);
  }
  if (node.op == "narrow") {
    return share(placed(body, grad,
                        {dim, sizeAttribute(node, "start"), sizeAttribute(node, "length"),
                         integerAttribute(node, "step", 1), sizeAt(own, dim)}));
  }
  if (node.op == "cat") {
    SizePolynomial start = 0;
    for (size_t i = 0; i < of.which; ++i) {
      start = start + sizeAt(body.shapeOf(node.inputs[i]), dim);
    }
    return named(narrowText(grad, dim, start, sizeAt(own, dim)));
  }
  if (node.op == "reshape") {
    const bool isOpen = !own.empty() && own[0].isRest();
    if (!isOpen) {
      return named(fmt::format("torch.reshape({}, {})", grad, shapeText(own)));
    }
    Node back = node; // the last dimensions are what they were
    back.attributes["last"] = static_cast<int64_t>(shapeAttribute(node).size());
    std::vector<SizePolynomial> sizes;
    for (int64_t at = -integerAttribute(node, "last", 0); at < 0; ++at) {
      sizes.push_back(sizeAt(own, at));
    }
    setShape(back, sizes);
    back.inputs = {of.number};
    return named(movementText(back, body.op, {grad}));
  }
  if (node.op == "pad") {
    return share(unpadded(body, node, grad, sizeAt(own, dim)));
  }
  if (node.op == "unfold") {
    return share(unwindowed(body, node, grad, own, node.shape));
  }
  if (node.op == "_spread" && own.back().symbol.empty() && own.back().constant > 0) {
    return share(unspread(body, node, grad, own));
  }
  if (node.op == "_resample") {
    const std::optional<std::string> sum = unresampled(body, node, grad, own);
    return sum ? std::optional(share(*sum)) : std::nullopt;
  }
  if (isTriangle(node)) {
    return named(movementText(node, body.op, {grad}));
  }
  return std::nullopt;
}

} // namespace nereid::definition
