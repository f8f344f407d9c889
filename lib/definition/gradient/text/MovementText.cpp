// SPDX-License-Identifier: Apache-2.0
#include "lib/definition/gradient/text/MovementText.h"

#include "lib/definition/gradient/text/BodyText.h"
#include "lib/definition/operations/Operations.h"
#include "lib/definition/operations/indices/Movement.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <cmath>

namespace nereid::definition {
namespace {

std::string padTuple(int64_t dim, const std::string &before, const std::string &after) {
  std::string text;
  for (int64_t behind = -1; behind > dim; --behind) {
    text += "0, 0, ";
  }
  return fmt::format("({}{}, {})", text, before, after);
}

std::string padNodeText(const Node &node, const std::string &of) {
  const std::string mode = stringAttribute(node, "mode", "constant");
  std::string text =
      fmt::format("F.pad({}, {}", of,
                  padTuple(integerAttribute(node, "dim", -1), sizeAttribute(node, "before").text(),
                           sizeAttribute(node, "after").text()));
  if (mode != "constant") {
    return text + fmt::format(", mode=\"{}\")", mode);
  }
  auto value = node.attributes.find("value");
  const double number = value == node.attributes.end() ? 0 : std::get<double>(value->second);
  return number == 0             ? text + ")"
         : std::isfinite(number) ? text + fmt::format(", value={})", number)
                                 : text + fmt::format(", value=float(\"{}\"))", number);
}

/// The last dimensions become others, whatever stands before them.
std::string reshapeText(const Node &node, const SymbolicShape &shape, const std::string &of) {
  const auto last = static_cast<size_t>(integerAttribute(node, "last", 0));
  std::vector<std::string> sizes;
  const bool isOpen = !shape.empty() && shape[0].isRest();
  for (size_t d = 0; !isOpen && d + last < shape.size(); ++d) {
    sizes.push_back(SizePolynomial::of(shape[d]).text());
  }
  for (const SizePolynomial &size : shapeAttribute(node)) {
    sizes.push_back(size.text());
  }
  if (!isOpen) {
    return fmt::format("torch.reshape({}, {})", of, tupleText(sizes));
  }
  std::string text = last == 0 ? fmt::format("torch.unsqueeze({}, -1)", of) : of;
  text = last > 1 ? fmt::format("torch.flatten({}, -{}, -1)", text, last) : text;
  return sizes.empty()       ? fmt::format("torch.squeeze({}, dim=-1)", text)
         : sizes.size() == 1 ? text
                             : fmt::format("torch.unflatten({}, -1, {})", text, tupleText(sizes));
}

} // namespace

std::string shapeText(const SymbolicShape &shape) {
  std::vector<std::string> sizes;
  for (const Dim &dim : shape) {
    sizes.push_back(SizePolynomial::of(dim).text());
  }
  return tupleText(sizes);
}

std::string narrowText(const std::string &of, int64_t dim, const SizePolynomial &start,
                       const SizePolynomial &length) {
  return fmt::format("torch.narrow({}, {}, {}, {})", of, dim, start.text(), length.text());
}

std::string flipText(const std::string &of, int64_t dim) {
  return fmt::format("torch.flip({}, dims=({},))", of, dim);
}

std::string padText(const std::string &of, int64_t dim, const SizePolynomial &before,
                    const SizePolynomial &after) {
  return fmt::format("F.pad({}, {})", of, padTuple(dim, before.text(), after.text()));
}

std::string sliceText(const std::string &of, int64_t dim, const SizePolynomial &start,
                      const SizePolynomial &length, int64_t step) {
  const SizePolynomial stop = start + (length - 1) * step + 1;
  std::string text = fmt::format("{}[..., {}:{}:{}", of, start.text(), stop.text(), step);
  for (int64_t behind = -1; behind > dim; --behind) {
    text += ", :";
  }
  return text + "]";
}

std::vector<std::string> placesRead(const Node &node, const SymbolicShape &from,
                                    const NameLine &place) {
  const auto count = node.attributes.contains("places") ? sizeAttribute(node, "places").constant()
                                                        : std::optional<int64_t>(1);
  const SizePolynomial start = sizeAttribute(node, "start"), step = sizeAttribute(node, "step"),
                       divisor = sizeAttribute(node, "divisor"),
                       last =
                           SizePolynomial::of(*(from.end() + integerAttribute(node, "dim", -1))) -
                           1;
  std::string first = place(fmt::format("torch.arange({})", sizeAttribute(node, "length").text()));
  if (step != SizePolynomial(1)) {
    first = place(fmt::format("{} * ({})", first, step.text()));
  }
  if (start != SizePolynomial(0)) {
    first = place(fmt::format("{} + ({})", first, start.text()));
  }
  if (divisor != SizePolynomial(1)) {
    first = place(fmt::format("{} // ({})", first, divisor.text()));
  }
  std::vector<std::string> places;
  for (int64_t i = 0; i < count.value_or(0); ++i) {
    const std::string at = i == 0 ? first : place(fmt::format("{} + {}", first, i));
    places.push_back(place(fmt::format("torch.clamp({}, {}, {})", at,
                                       integerAttribute(node, "least", 0), last.text())));
  }
  return places;
}

std::string resampledText(const Node &node, const SymbolicShape &from, const std::string &of,
                          const NameLine &place) {
  const bool hasPlaces = node.attributes.contains("places");
  std::vector<std::string> parts;
  for (const std::string &each : placesRead(node, from, place)) {
    const std::string part =
        fmt::format("torch.index_select({}, {}, {})", of, integerAttribute(node, "dim", -1), each);
    parts.push_back(hasPlaces ? fmt::format("torch.unsqueeze({}, -1)", part) : part);
  }
  return parts.empty() ? ""
         : hasPlaces   ? fmt::format("torch.cat([{}], dim=-1)", fmt::join(parts, ", "))
                       : parts[0];
}

std::string movementText(const Node &node, const Operator &op,
                         const std::vector<std::string> &operands) {
  const std::string &of = operands[0];
  const SymbolicShape &shape = op.nodes[static_cast<size_t>(node.inputs[0])].shape;
  const int64_t dim = integerAttribute(node, "dim", -1);
  if (node.op == "narrow") {
    const int64_t step = integerAttribute(node, "step", 1);
    const SizePolynomial start = sizeAttribute(node, "start"),
                         length = sizeAttribute(node, "length");
    return step == 1  ? narrowText(of, dim, start, length)
           : step < 0 ? flipText(of, dim)
                      : sliceText(of, dim, start, length, step);
  }
  if (node.op == "squeeze") {
    std::string text = of;
    for (int64_t each : dimsOf(node)) { // ascending: those in front do not move the others
      text = fmt::format("torch.squeeze({}, dim={})", text, each);
    }
    return text;
  }
  if (node.op == "reshape") {
    return reshapeText(node, shape, of);
  }
  if (node.op == "expand") {
    std::vector<std::string> sizes;
    for (const SizePolynomial &size : shapeAttribute(node)) {
      sizes.push_back(size.text());
    }
    return fmt::format("{}.expand({})", of, tupleText(sizes));
  }
  if (node.op == "cat") {
    return fmt::format("torch.cat([{}], dim={})", fmt::join(operands, ", "), dim);
  }
  if (node.op == "pad") {
    return padNodeText(node, of);
  }
  if (node.op == "unfold") {
    const int64_t size = integerAttribute(node, "size", 1),
                  dilation = integerAttribute(node, "dilation", 1);
    const std::string windows =
        fmt::format("{}.unfold({}, {}, {})", of, dim, (size - 1) * dilation + 1,
                    integerAttribute(node, "step", 1));
    return dilation == 1 ? windows : fmt::format("{}[..., ::{}]", windows, dilation);
  }
  if (node.op == "_positions") {
    return fmt::format("torch.arange({})", sizeAttribute(node, "length").text());
  }
  return fmt::format("torch.{}({}, diagonal={})", node.op, of,
                     sizeAttribute(node, "diagonal").text());
}

} // namespace nereid::definition
