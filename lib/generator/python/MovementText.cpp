// SPDX-License-Identifier: Apache-2.0
#include "lib/generator/python/MovementText.h"

#include "lib/definition/operations/Operations.h"
#include "lib/definition/operations/indices/Movement.h"
#include "lib/generator/python/WrapperText.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

namespace nereid::generator {
namespace {

using definition::Node;

std::string sizeOf(const Node &node, const char *name) {
  return definition::sizeAttribute(node, name).text();
}

std::string narrowText(const Node &node) {
  const int64_t dim = definition::integerAttribute(node, "dim", -1);
  const int64_t step = definition::integerAttribute(node, "step", 1);
  const std::string start = sizeOf(node, "start"), length = sizeOf(node, "length");
  if (step == 1) {
    return fmt::format("_x.narrow({}, {}, {})", dim, start, length);
  }
  return fmt::format("_x.index_select({}, {} + {} * torch.arange({}, device=_x.device))", dim,
                     start, step, length);
}

std::string shapedText(const Node &node) {
  if (definition::isTriangle(node)) {
    return fmt::format("torch.{}(_x, {})", node.op, sizeOf(node, "diagonal"));
  }
  if (node.op == "unfold") {
    const int64_t dilation = definition::integerAttribute(node, "dilation", 1);
    return fmt::format("_x.unfold({}, {}, {})[..., ::{}]",
                       definition::integerAttribute(node, "dim", -1),
                       (definition::integerAttribute(node, "size", 1) - 1) * dilation + 1,
                       definition::integerAttribute(node, "step", 1), dilation);
  }
  std::string sizes;
  for (const definition::SizePolynomial &size : definition::shapeAttribute(node)) {
    sizes += ", " + size.text();
  }
  return node.op == "expand" ? fmt::format("_x.expand({})", sizes.empty() ? "()" : sizes.substr(2))
                             : fmt::format("_x.reshape((*_x.shape[: _x.dim() - {}]{},))",
                                           definition::integerAttribute(node, "last", 0), sizes);
}

std::string padText(const Node &node) {
  const int64_t dim = definition::integerAttribute(node, "dim", -1);
  const std::string before = sizeOf(node, "before"), after = sizeOf(node, "after");
  const std::string mode = definition::stringAttribute(node, "mode", "constant");
  if (mode == "constant") {
    auto found = node.attributes.find("value");
    const double value = found == node.attributes.end() ? 0 : std::get<double>(found->second);
    std::string sizes;
    for (int64_t d = -1; d > dim; --d) {
      sizes += "0, 0, ";
    }
    return fmt::format("F.pad(_x, ({}{}, {}), value=({} if _fill else 0.0))", sizes, before, after,
                       pythonNumber(value));
  }
  const std::string place =
      fmt::format("torch.arange(-({}), _x.shape[{}] + {}, device=_x.device)", before, dim, after);
  const std::string last = fmt::format("(_x.shape[{}] - 1)", dim);
  const std::string at = mode == "reflect"
                             ? fmt::format("{0} - ({0} - {1}.abs()).abs()", last, place)
                         : mode == "replicate" ? fmt::format("{}.clamp(0, {})", place, last)
                                               : fmt::format("{} % _x.shape[{}]", place, dim);
  return fmt::format("_x.index_select({}, {})", dim, at);
}

} // namespace

std::string movementLambda(const Node &node) {
  std::string text;
  if (node.op == "narrow") {
    text = narrowText(node);
  } else if (node.op == "squeeze") {
    text = fmt::format("_x.squeeze(({},))", fmt::join(definition::dimsOf(node), ", "));
  }
  if (node.op == "reshape" || node.op == "expand" || node.op == "unfold" ||
      definition::isTriangle(node)) {
    text = shapedText(node);
  }
  if (node.op == "_positions") {
    const std::string length = sizeOf(node, "length");
    return fmt::format("lambda _fill, _x: torch.arange({}, device=_x.device) if _fill else "
                       "torch.zeros({}, device=_x.device, dtype=torch.float64)",
                       length, length);
  }
  if (node.op == "_resample") {
    const int64_t dim = definition::integerAttribute(node, "dim", -1);
    const std::string first = fmt::format(
        "(({}) + ({}) * torch.arange({}, device=_x.device)) // ({})", sizeOf(node, "start"),
        sizeOf(node, "step"), sizeOf(node, "length"), sizeOf(node, "divisor"));
    text = node.attributes.count("places") != 0
               ? fmt::format("_windows(_x, {}, {}, {})", dim, first, sizeOf(node, "places"))
               : fmt::format("_x.index_select({0}, ({1}).clamp({2}, _x.shape[{0}] - 1))", dim,
                             first, definition::integerAttribute(node, "least", 0));
  } else if (node.op == "_spread") {
    text = fmt::format("_spread(_x, {}, {}, {}, {}, {})",
                       definition::integerAttribute(node, "dim", -1), sizeOf(node, "length"),
                       sizeOf(node, "step"), sizeOf(node, "dilation"), sizeOf(node, "before"));
  }
  if (node.op == "cat") {
    return fmt::format("lambda _fill, *_x: torch.cat(_x, {})",
                       definition::integerAttribute(node, "dim", -1));
  }
  return "lambda _fill, _x: " + (node.op == "pad" ? padText(node) : text);
}

} // namespace nereid::generator
