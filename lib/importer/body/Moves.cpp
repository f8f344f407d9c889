// SPDX-License-Identifier: Apache-2.0
// Nodes that arrange elements otherwise or read them at indices, as expressions.
#include "lib/importer/body/Expressions.h"
#include "lib/importer/shapes/Slice.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <cstdlib>
#include <numeric>

namespace nereid::importer {
namespace {

/// "[:, :, 1:5]": what is said of one dimension, and all of those before it.
std::string subscript(const std::string &tensor, size_t dim, const std::string &what) {
  std::string text = tensor + "[";
  for (size_t i = 0; i < dim; ++i) {
    text += ":, ";
  }
  return text + what + "]";
}

/// Whatever the model says of the new sizes, inference has found what they are.
std::string reshape(Expressions &e) {
  return fmt::format("torch.reshape({}, {})", e.tensor(0), e.shapeText(e.resultShape()));
}

std::string expand(Expressions &e) {
  return fmt::format("torch.broadcast_to({}, {})", e.tensor(0), e.shapeText(e.resultShape()));
}

std::string unsqueeze(Expressions &e) {
  const auto given = e.integers("axes", 1);
  if (!given) {
    Expressions::fail("expects axes");
  }
  std::vector<int64_t> axes;
  for (int64_t one : *given) {
    axes.push_back(e.axis(one, e.shape(0).size() + given->size()));
  }
  std::sort(axes.begin(), axes.end());
  std::string text = e.tensor(0);
  for (int64_t one : axes) {
    text = fmt::format("torch.unsqueeze({}, {})", text, one);
  }
  return text;
}

std::string transpose(Expressions &e) {
  std::vector<int64_t> order(e.shape(0).size());
  std::iota(order.rbegin(), order.rend(), 0);
  order = e.of().integers("perm") ? *e.of().integers("perm") : order;
  return fmt::format("torch.permute({}, ({},))", e.tensor(0), fmt::join(order, ", "));
}

std::string concat(Expressions &e) {
  const int64_t dim = e.axis(e.of().integer("axis", 1), e.shape(0).size());
  std::vector<std::string> parts;
  for (size_t i = 0; i < e.of().inputs.size(); ++i) {
    parts.push_back(e.tensor(i));
  }
  return parts.size() == 1 ? parts[0]
                           : fmt::format("torch.cat(({}), dim={})", fmt::join(parts, ", "), dim);
}

std::string split(Expressions &e) {
  const auto dim = static_cast<size_t>(e.axis(e.of().integer("axis", 0), e.shape(0).size()));
  std::vector<std::string> sizes;
  if (const auto given = e.integers("split", 1)) {
    for (int64_t one : *given) {
      sizes.push_back(std::to_string(one));
    }
  }
  for (size_t i = sizes.size(); i < e.of().outputs.size(); ++i) {
    sizes.push_back(e.sizeText(e.resultShape(i)[dim]));
  }
  e.setResults(sizes.size());
  return sizes.size() == 1 ? e.tensor(0)
                           : fmt::format("torch.split({}, [{}], dim={})", e.tensor(0),
                                         fmt::join(sizes, ", "), dim);
}

std::string tile(Expressions &e) {
  const auto repeats = e.integers("repeats", 1);
  if (!repeats) {
    Expressions::fail("expects repetitions");
  }
  return fmt::format("{}.repeat({})", e.tensor(0), fmt::join(*repeats, ", "));
}

std::string pad(Expressions &e) {
  const size_t rank = e.shape(0).size();
  const auto pads = e.integers(e.of().integers("paddings") ? "paddings" : "pads", 1);
  std::vector<int64_t> axes(rank);
  std::iota(axes.begin(), axes.end(), 0);
  if (e.of().hasInput(3)) {
    axes = *e.integers("axes", 3);
  }
  if (!pads || pads->size() != 2 * axes.size()) {
    Expressions::fail("expects two paddings of each dimension");
  }
  std::vector<int64_t> low(rank), high(rank);
  size_t first = rank;
  for (size_t i = 0; i < axes.size(); ++i) {
    const auto dim = static_cast<size_t>(e.axis(axes[i], rank));
    low[dim] = (*pads)[i];
    high[dim] = (*pads)[i + axes.size()];
    if (low[dim] < 0 || high[dim] < 0) {
      Expressions::fail("cuts something off by negative paddings");
    }
    first = low[dim] + high[dim] > 0 ? std::min(first, dim) : first;
  }
  if (first == rank) {
    return e.tensor(0);
  }
  std::vector<int64_t> order;
  for (size_t dim = rank; dim-- > first;) {
    order.insert(order.end(), {low[dim], high[dim]});
  }
  const std::string mode = e.of().word("mode", "constant");
  const std::string text = fmt::format("F.pad({}, ({})", e.tensor(0), fmt::join(order, ", "));
  if (mode == "constant") {
    const std::string value = e.of().hasInput(2) ? e.operand(2) : e.attributeText("value", "0.0");
    return fmt::format("{}, value={})", text, value);
  }
  const std::string name = mode == "edge" ? "replicate" : mode == "wrap" ? "circular" : mode;
  return fmt::format("{}, mode=\"{}\")", text, name);
}

/// What a slice leaves of a dimension whose size is known: "1:7:2", and whether it is turned round.
std::string knownSlice(int64_t size, int64_t start, int64_t end, int64_t step, bool &isTurned) {
  const SlicedDim taken = slicedDim(size, start, end, step);
  const std::string by = std::abs(step) > 1 ? fmt::format(":{}", std::abs(step)) : "";
  isTurned = step < 0 && taken.count > 1;
  if (step > 0) {
    return fmt::format("{}:{}{}", taken.from, std::max(taken.from, taken.to), by);
  }
  const int64_t lowest = taken.count > 0 ? taken.from + (taken.count - 1) * step : 0;
  return fmt::format("{}:{}{}", lowest, taken.count > 0 ? taken.from + 1 : lowest, by);
}

/// The same of a dimension with a name, whose size may be anything.
std::string openSlice(int64_t start, int64_t end, int64_t step, bool &isTurned) {
  constexpr int64_t far = INT32_MAX; // what exporters write for "to the end"
  if (step < 0) {
    if (step != -1 || (start != -1 && start < far) || end > -far) {
      Expressions::fail("turns a part of a dimension round whose size is open");
    }
    isTurned = true;
    return ":";
  }
  if (end >= 0 && end < far) {
    Expressions::fail(fmt::format("ends at {} of a dimension whose size is open", end));
  }
  return fmt::format("{}:{}{}", start == 0 ? "" : std::to_string(start),
                     end >= far ? "" : std::to_string(end),
                     step > 1 ? fmt::format(":{}", step) : "");
}

std::string slice(Expressions &e) {
  const Shape &shape = e.shape(0);
  const auto starts = e.integers("starts", 1), ends = e.integers("ends", 2);
  auto axes = e.integers("axes", 3), steps = e.integers("steps", 4);
  if (!starts || !ends) {
    Expressions::fail("expects starts and ends");
  }
  const size_t count = starts->size();
  if (!axes) {
    axes.emplace(count);
    std::iota(axes->begin(), axes->end(), 0);
  }
  steps = steps ? steps : std::vector<int64_t>(count, 1);
  std::vector<std::string> parts(shape.size(), ":");
  std::vector<size_t> turned;
  size_t last = 0;
  for (size_t i = 0; i < count; ++i) {
    const auto dim = static_cast<size_t>(e.axis((*axes)[i], shape.size()));
    bool isTurned = false;
    parts[dim] = shape[dim].isSize()
                     ? knownSlice(shape[dim].size, (*starts)[i], (*ends)[i], (*steps)[i], isTurned)
                     : openSlice((*starts)[i], (*ends)[i], (*steps)[i], isTurned);
    if (isTurned) {
      turned.push_back(dim);
    }
    last = std::max(last, dim);
  }
  parts.resize(last + 1);
  const std::string text = fmt::format("{}[{}]", e.tensor(0), fmt::join(parts, ", "));
  return turned.empty() ? text
                        : fmt::format("torch.flip({}, ({},))", text, fmt::join(turned, ", "));
}

std::string gather(Expressions &e) {
  const auto dim = static_cast<size_t>(e.axis(e.of().integer("axis", 0), e.shape(0).size()));
  const Tensor *index = e.constant(1);
  if (index && index->dims.empty() && index->integers.size() == 1) {
    return fmt::format("torch.select({}, {}, {})", e.tensor(0), dim, index->integers[0]);
  }
  const std::string x = e.tensor(0);
  return subscript(x, dim, e.indices(1, e.shape(0)[dim], true));
}

/// Indices that may count from the end, which definitions' functions of elements do not know.
std::string fromTheFront(Expressions &e, size_t dim, int64_t distinct) {
  const Dim &size = e.shape(0)[dim];
  const Tensor *known = e.constant(1);
  const bool isFront = known && std::all_of(known->integers.begin(), known->integers.end(),
                                            [](int64_t one) { return one >= 0; });
  const std::string index = e.indices(1, size, !isFront, distinct);
  return isFront ? index
                 : fmt::format("torch.where({0} < 0, {0} + {1}, {0})", index, e.sizeText(size));
}

std::string gatherElements(Expressions &e) {
  const auto dim = static_cast<size_t>(e.axis(e.of().integer("axis", 0), e.shape(0).size()));
  const std::string x = e.tensor(0);
  return fmt::format("torch.gather({}, {}, {})", x, dim, fromTheFront(e, dim, 0));
}

std::string scatterElements(Expressions &e) {
  const size_t rank = e.shape(0).size();
  const auto dim = static_cast<size_t>(e.axis(e.of().integer("axis", 0), rank));
  const std::string how = e.of().word("reduction", "none");
  const int64_t distinct =
      how == "none" ? static_cast<int64_t>(dim) - static_cast<int64_t>(rank) : 0;
  const std::string x = e.tensor(0), index = fromTheFront(e, dim, distinct), updates = e.tensor(2);
  if (how == "none" || how == "add") {
    return fmt::format("torch.scatter{}({}, {}, {}, {})", how == "add" ? "_add" : "", x, dim, index,
                       updates);
  }
  const std::string name = how == "mul" ? "prod" : how == "max" ? "amax" : "amin";
  return fmt::format("torch.scatter_reduce({}, {}, {}, {}, reduce=\"{}\")", x, dim, index, updates,
                     name);
}

std::string argReduce(Expressions &e) {
  const int64_t dim = e.axis(e.of().integer("axis", 0), e.shape(0).size());
  // The last of equal elements is the first one from the end.
  const bool isLast = e.of().integer("select_last_index", 0) != 0;
  const std::string x = e.tensor(0);
  const std::string text =
      fmt::format("torch.{}({}, dim={}{})", e.of().op == "ArgMax" ? "argmax" : "argmin",
                  isLast ? fmt::format("torch.flip({}, ({},))", x, dim) : x, dim,
                  e.of().integer("keepdims", 1) != 0 ? ", keepdim=True" : "");
  return isLast ? fmt::format("{} - 1 - {}", e.sizeText(e.shape(0)[static_cast<size_t>(dim)]), text)
                : text;
}

/// One where the largest element of a line is, the first of several; nothing elsewhere.
std::string hardmax(Expressions &e) {
  const Shape &shape = e.shape(0);
  const int64_t dim = e.axis(e.of().integer("axis", e.opset() < 13 ? 1 : -1), shape.size());
  if (e.opset() < 13 && dim + 1 != static_cast<int64_t>(shape.size())) {
    Expressions::fail("is taken over several dimensions together, as before operator set 13");
  }
  const auto at = static_cast<size_t>(dim);
  const std::string places = e.places(shape[at], shape.size() - at - 1);
  const std::string x = e.tensor(0);
  return fmt::format("torch.where({0} == torch.argmax({1}, dim={2}, keepdim=True), "
                     "torch.ones_like({1}), 0.0)",
                     places, x, dim);
}

/// Every element one place further along a dimension, behind a 1; the last one falls out.
std::string shifted(const std::string &x, size_t dim, size_t rank) {
  std::vector<int64_t> pads(2 * (rank - dim), 0);
  pads[pads.size() - 2] = 1;
  return fmt::format("F.pad({}, ({}), value=1.0)", subscript(x, dim, ":-1"), fmt::join(pads, ", "));
}

/// Sums or products of the elements up to each.
std::string cumulated(Expressions &e) {
  const auto given = e.integers("axis", 1);
  if (!given || given->size() != 1) {
    Expressions::fail("expects one axis");
  }
  const int64_t dim = e.axis((*given)[0], e.shape(0).size());
  const bool isProduct = e.of().op == "CumProd", isExclusive = e.of().integer("exclusive", 0) != 0;
  const bool isReverse = e.of().integer("reverse", 0) != 0;
  std::string x = e.tensor(0);
  const std::string own = x, name = isProduct ? "cumprod" : "cumsum";
  x = isReverse ? fmt::format("torch.flip({}, ({},))", x, dim) : x;
  if (isProduct && isExclusive) { // the element itself may be 0: no quotient takes it out again
    x = shifted(x, static_cast<size_t>(dim), e.shape(0).size());
  }
  std::string text = fmt::format("torch.{}({}, dim={})", name, x, dim);
  text = isReverse ? fmt::format("torch.flip({}, ({},))", text, dim) : text;
  text = !isProduct && isExclusive ? text + " - " + own : text;
  const auto dtype = e.type(0).dtype();
  const bool isShort = dtype && !isFloat(*dtype) && *dtype != DType::I64; // computed as int64
  return isShort ? fmt::format("({}).to({})", text, typeText(e.type(0))) : text;
}

std::string topK(Expressions &e) {
  std::optional<double> count = e.known(1);
  if (e.of().attributes.contains("k")) {
    count = static_cast<double>(e.of().integer("k", 0));
  }
  if (!count) {
    Expressions::fail("takes a number of elements that is not known before it runs");
  }
  e.setResults(2);
  return fmt::format("torch.topk({}, {:.0f}, dim={}{})", e.tensor(0), *count,
                     e.axis(e.of().integer("axis", -1), e.shape(0).size()),
                     e.of().integer("largest", 1) == 0 ? ", largest=False" : "");
}

std::string triangle(Expressions &e) {
  const std::optional<double> diagonal = e.of().hasInput(1) ? e.known(1) : 0;
  if (!diagonal) {
    Expressions::fail("has a diagonal that is not known before it runs");
  }
  return fmt::format("torch.{}({}, diagonal={:.0f})",
                     e.of().integer("upper", 1) != 0 ? "triu" : "tril", e.tensor(0), *diagonal);
}

std::string depthToSpace(Expressions &e) {
  const int64_t block = e.of().integer("blocksize", 1);
  if (e.of().word("mode", "DCR") == "CRD") {
    return fmt::format("F.pixel_shuffle({}, {})", e.tensor(0), block);
  }
  const Shape &shape = e.shape(0);
  const Shape parts = {shape[0], {block, ""}, {block, ""}, e.resultShape()[1], shape[2], shape[3]};
  return fmt::format("torch.reshape(torch.permute(torch.reshape({}, {}), (0, 3, 4, 1, 5, 2)), {})",
                     e.tensor(0), e.shapeText(parts), e.shapeText(e.resultShape()));
}

std::string spaceToDepth(Expressions &e) {
  const int64_t block = e.of().integer("blocksize", 1);
  const Shape &shape = e.shape(0), &result = e.resultShape();
  const Shape parts = {shape[0], shape[1], result[2], {block, ""}, result[3], {block, ""}};
  const bool isChannelFirst = e.of().word("mode", "DCR") == "CRD";
  return fmt::format("torch.reshape(torch.permute(torch.reshape({}, {}), ({}, 2, 4)), {})",
                     e.tensor(0), e.shapeText(parts), isChannelFirst ? "0, 1, 3, 5" : "0, 3, 5, 1",
                     e.shapeText(result));
}

std::string einsum(Expressions &e) {
  std::vector<std::string> operands;
  for (size_t i = 0; i < e.of().inputs.size(); ++i) {
    operands.push_back(e.tensor(i));
  }
  const std::string equation = e.of().word("equation", "");
  const bool isPlain = equation.find_first_not_of("abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUV"
                                                  "WXYZ.,-> ") == std::string::npos;
  if (!isPlain) {
    Expressions::fail("has an equation of other characters than letters");
  }
  return fmt::format("torch.einsum(\"{}\", {})", equation, fmt::join(operands, ", "));
}

} // namespace

const RuleTable &moveRules() {
  static const RuleTable rules = {
      {"argReduce", argReduce}, {"concat", concat},
      {"cumulated", cumulated}, {"depthToSpace", depthToSpace},
      {"einsum", einsum},       {"expand", expand},
      {"gather", gather},       {"gatherElements", gatherElements},
      {"hardmax", hardmax},     {"pad", pad},
      {"reshape", reshape},     {"scatterElements", scatterElements},
      {"slice", slice},         {"spaceToDepth", spaceToDepth},
      {"split", split},         {"tile", tile},
      {"topK", topK},           {"transpose", transpose},
      {"triangle", triangle},   {"unsqueeze", unsqueeze},
  };
  return rules;
}

} // namespace nereid::importer
