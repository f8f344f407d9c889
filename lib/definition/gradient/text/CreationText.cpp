// SPDX-License-Identifier: Apache-2.0
#include "lib/definition/gradient/text/CreationText.h"

#include "lib/definition/gradient/text/MovementText.h"
#include "lib/definition/operations/Operations.h"
#include "lib/definition/operations/SizeAlgebra.h"
#include "lib/definition/operations/indices/Creation.h"

#include <fmt/format.h>

#include <algorithm>

namespace nereid::definition {
namespace {

/// An input that `is` holds for, which the body then reads.
template <class Is> std::optional<std::string> inputText(GradientBody &body, const Is &is) {
  const std::vector<Parameter> &all = body.op.parameters;
  const auto found = std::find_if(
      all.begin(), all.end(), [&](const Parameter &each) { return !each.isScalar && is(each); });
  return found == all.end() ? std::nullopt
                            : std::optional(body.value(static_cast<int>(found - all.begin())));
}

/// ", dtype=torch.int64"; the operator's type is that of an input.
std::string typeText(GradientBody &body, const Node &node) {
  const std::string type = stringAttribute(node, "dtype", "default");
  if (type == "default") {
    return "";
  }
  const auto own =
      type == "operator"
          ? inputText(body, [](const Parameter &each) { return !each.fixedDtype.has_value(); })
          : std::nullopt;
  return own ? fmt::format(", dtype={}.dtype", *own)
             : fmt::format(", dtype=torch.{}", torchName(createdDtype(node, body.op.dtypes[0])));
}

/// Each element's number in row-major order.
std::string numbersText(const Node &node, const std::string &type) {
  SizePolynomial count = 1;
  for (const Dim &dim : node.shape) {
    count = count * SizePolynomial::of(dim);
  }
  const std::string line = fmt::format("torch.arange({}{})", count.text(), type);
  return node.shape.size() == 1 ? line
                                : fmt::format("torch.reshape({}, {})", line, shapeText(node.shape));
}

} // namespace

std::string creationText(GradientBody &body, const Node &node,
                         const std::vector<std::string> &operands) {
  const bool isOpen = !node.shape.empty() && node.shape[0].isRest(), isFull = node.op == "full";
  const std::string type = typeText(body, node);
  // A whole number alone would make integers.
  const bool isPlain = !isFull || !type.empty();
  if (!isOpen && !isFull) {
    return numbersText(node, type);
  }
  if (!isOpen) {
    return isPlain ? fmt::format("torch.full({}, {}{})", shapeText(node.shape), operands[0], type)
                   : fmt::format("torch.ones({}) * {}", shapeText(node.shape), operands[0]);
  }
  const auto like =
      inputText(body, [&](const Parameter &each) { return each.shape == node.shape; });
  if (!isFull || !isPlain || !like) {
    body.fail(fmt::format("'{}' of an open number of dimensions is not written in gradients",
                          node.source.empty() ? node.op : node.source),
              "give the dimensions names, or say the gradient in [gradient] of the definition");
  }
  return fmt::format("torch.full_like({}, {}{})", *like, operands[0], type);
}

} // namespace nereid::definition
