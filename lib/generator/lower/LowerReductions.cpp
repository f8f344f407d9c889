// SPDX-License-Identifier: Apache-2.0
// Reductions, products and convolutions: sums of what lies along dimensions.
#include "lib/definition/operations/Convolution.h"
#include "lib/generator/lower/Lowerer.h"
#include "lib/generator/lower/Moves.h"
#include "lib/generator/lower/Places.h"

#include <algorithm>
#include <numeric>

namespace nereid::generator {

/// That are reduced.
static Polynomial elementsOf(const Lazy &x, const std::vector<size_t> &dims) {
  Polynomial count = 1;
  for (size_t dim : dims) {
    count = count * x.shape[dim];
  }
  return count;
}

std::vector<size_t> Lowerer::dimsOf(const GraphNode &node, const Shape &shape) const {
  std::vector<size_t> dims;
  for (int64_t dim : definition::dimsOf(node)) {
    dims.push_back(static_cast<size_t>(dim + static_cast<int64_t>(shape.size())));
  }
  if (dims.empty()) {
    dims.resize(shape.size());
    std::iota(dims.begin(), dims.end(), size_t{0});
  }
  return dims;
}

Lazy Lowerer::reduction(const GraphNode &node, const Lowered &value, DType type) {
  if (node.op == "argmax" || node.op == "argmin") {
    const Lazy given = as(value, computed(value.dtype));
    return lines.searched(node.op == "argmax", given, dimsOf(node, given.shape),
                          definition::keepsDim(node));
  }
  const Lazy x = as(value, type);
  const std::vector<size_t> dims = dimsOf(node, x.shape);
  const bool keeps = definition::keepsDim(node);
  const bool isWritten = areWindows(node) && areFewPlaces(x.shape, dims) && !areShared(node);
  auto reduce = [&](const char *monoid, const Lazy &of, bool keepsDims) {
    return isWritten ? placeByPlace(make, monoid, of, dims, keepsDims)
                     : make.reduce(monoid, of, dims, keepsDims);
  };
  if (node.op == "sum" || node.op == "prod") {
    return reduce(node.op.c_str(), x, keeps);
  }
  if (node.op == "amax" || node.op == "amin") {
    return reduce(node.op == "amax" ? "max" : "min", x, keeps);
  }
  if (node.op == "mean") {
    return make.map("div", {reduce("sum", x, keeps), count(x, dims, 0, type)});
  }
  if (node.op == "var" || node.op == "std") { // the mean first, then squared distances from it
    Lazy mean = make.map("div", {reduce("sum", x, true), count(x, dims, 0, type)});
    Lazy away = make.map("sub", {x, mean});
    int64_t correction = definition::integerAttribute(node, "correction", 1);
    Lazy degrees = count(x, dims, correction, type);
    if (correction > 0 && !elementsOf(x, dims).constant()) { // fewer elements than that leave none
      degrees = make.map("maximum", {degrees, make.constant(zeroOf(type))});
    }
    Lazy squares = reduce("sum", make.map("mul", {away, away}), keeps);
    const bool isRead = definition::isLeaf(op.nodes[static_cast<size_t>(node.inputs[0])]);
    if (correction > 0 && !isRead && !elementsOf(x, dims).constant()) {
      // One element that is computed for its mean and anew for its distance from it may have one.
      const Lazy elements = count(x, dims, 0, type), zero = make.constant(zeroOf(type));
      const Lazy isOne = make.map("eq", {elements, make.constant(program.nodes.real(1, type))});
      squares = make.map("where", {isOne, zero, squares});
    }
    Lazy variance = make.map("div", {squares, degrees});
    return node.op == "var" ? variance : make.map("sqrt", {variance});
  }
  throw Unsupported{node.op};
}

/// Of the places of windows, which lie behind all other dimensions; those of _resample also with
/// weights and conditions.
bool Lowerer::areWindows(const GraphNode &node) const {
  const GraphNode &from = op.nodes[static_cast<size_t>(node.inputs[0])];
  return (from.op == "unfold" || from.op == "_spread" || areResampled(from)) &&
         !definition::dimsOf(node).empty();
}

/// Windows that overlap, over what is itself reduced: each place would be reduced anew for every
/// window that has it.
bool Lowerer::areShared(const GraphNode &node) const {
  using definition::OperationKind;
  bool doOverlap = false, isReduced = false;
  std::vector<int> work = node.inputs;
  std::set<int> seen;
  while (!work.empty() && !isReduced) {
    const int number = work.back();
    work.pop_back();
    if (!seen.insert(number).second) {
      continue;
    }
    const GraphNode &each = op.nodes[static_cast<size_t>(number)];
    doOverlap |= each.op == "unfold" && definition::integerAttribute(each, "size", 1) >
                                            definition::integerAttribute(each, "step", 1);
    const definition::Operation *operation = definition::findOperation(each.op);
    const OperationKind kind = operation ? operation->kind : OperationKind::View;
    isReduced = kind == OperationKind::Reduction || kind == OperationKind::Contraction ||
                kind == OperationKind::Convolution || kind == OperationKind::Composite ||
                kind == OperationKind::Scan || kind == OperationKind::Sort;
    work.insert(work.end(), each.inputs.begin(), each.inputs.end());
  }
  return doOverlap && isReduced;
}

bool Lowerer::areResampled(const GraphNode &node) const {
  if (node.op == "_resample") {
    return node.attributes.count("places") != 0;
  }
  const definition::Operation *operation = definition::findOperation(node.op);
  return operation && operation->kind == definition::OperationKind::Pointwise &&
         areResampled(op.nodes[static_cast<size_t>(node.inputs[0])]);
}

/// How many elements are reduced, less `correction`.
Lazy Lowerer::count(const Lazy &x, const std::vector<size_t> &dims, int64_t correction,
                    DType type) {
  const Polynomial count = elementsOf(x, dims);
  return make.cast(make.constant(program.nodes.index(Affine(count - correction))), type);
}

/// sum(a[..., i, k] * b[..., k, j], k)
Lazy Lowerer::product(Lazy a, Lazy b) {
  const bool isRow = a.shape.size() == 1, isColumn = b.shape.size() == 1;
  a = isRow ? make.insertDim(a, 0) : a;
  b = isColumn ? make.insertDim(b, 1) : b;
  a = make.insertDim(a, a.shape.size());
  b = make.insertDim(b, b.shape.size() - 2);
  Lazy pairs = make.map("mul", {a, b});
  Lazy sum = make.reduce("sum", pairs, {pairs.shape.size() - 2}, false);
  sum = isColumn ? make.dropDim(sum, sum.shape.size() - 1) : sum;
  return isRow ? make.dropDim(sum, sum.shape.size() - (isColumn ? 1 : 2)) : sum;
}

/// Whether what the node computes goes back to where windows came from: each place of a result asks
/// for all places of the windows over it, most of which other results ask for as well, or none.
bool Lowerer::isSpread(size_t number) const {
  auto isView = [&](int node) {
    const auto *operation = definition::findOperation(op.nodes[static_cast<size_t>(node)].op);
    return operation && operation->kind == definition::OperationKind::View;
  };
  return std::any_of(op.nodes.begin(), op.nodes.end(), [&](const GraphNode &node) {
    int from = node.op == "_spread" ? node.inputs[0] : -1;
    while (from > static_cast<int>(number) && isView(from)) {
      from = op.nodes[static_cast<size_t>(from)].inputs[0];
    }
    return from == static_cast<int>(number);
  });
}

/// sum(pad(x)[n, g·C + c, oh·s + kh·d, ow·s + kw·d] * w[g·F + f, c, kh, kw], (c, kh, kw)) + b
Lazy Lowerer::convolved(const GraphNode &node, const std::vector<Lowered> &in, DType type) {
  auto attributes = definition::convolutionAttributes(node);
  if (!attributes) { // shape inference has refused it
    throw Unsupported{node.op};
  }
  Lazy x = in[0].tensor, w = as(in[1], type);
  const bool hasBatch = x.shape.size() == 4;
  x = hasBatch ? x : make.insertDim(x, 0);
  const Shape kernel(w.shape.end() - 2, w.shape.end());
  for (size_t side = 0; side < 2; ++side) {
    const size_t dim = 2 + side;
    const int64_t stride = attributes->stride[side], dilation = attributes->dilation[side];
    const auto [before, after] = paddingOf(*attributes, side, kernel[side]);
    const Polynomial reach = (kernel[side] - 1) * dilation;
    const Polynomial whole = x.shape[dim] + before + after - reach - 1;
    if (!whole.constant()) {
      program.space.symbols.assume(whole); // the window fits
    }
    const std::optional<Polynomial> count =
        sizeIn(program, sizes, definition::SizePolynomial::of(*(node.shape.end() - 2 + side)));
    if (!count) {
      throw Unsupported{node.op};
    }
    if (!before.isZero() || !after.isZero()) {
      x = make.pad(x, dim, before, after, zeroOf(x.dtype));
    }
    x = make.windows(x, dim, kernel[side], stride, dilation, *count);
  }
  x = make.cast(x, type); // [batch, channels, height, width, kernel height, kernel width]
  Lazy sum = windowSums(x, w, attributes->groups);
  if (in.size() > 2 && !(in[2].isNumber() && in[2].real == 0)) {
    Lazy bias = as(in[2], type);
    for (size_t side = 0; side < 2 && !bias.shape.empty(); ++side) {
      bias = make.insertDim(bias, bias.shape.size());
    }
    sum = make.map("add", {sum, bias});
  }
  return hasBatch ? sum : make.dropDim(sum, 0);
}

/// "same" reads as far on both sides, one more behind.
std::pair<Polynomial, Polynomial>
Lowerer::paddingOf(const definition::ConvolutionAttributes &attributes, size_t side,
                   const Polynomial &kernel) {
  if (!attributes.isSame) {
    return {attributes.padding[side], attributes.padding[side]};
  }
  const std::optional<int64_t> taps = kernel.constant();
  if (!taps) {
    throw Unsupported{"conv2d with padding=\"same\" of a kernel whose size is a symbol"};
  }
  const int64_t reach = (*taps - 1) * attributes.dilation[side];
  return {reach / 2, reach - reach / 2};
}

/// Of windows [n, G·C, h, w, kh, kw] and weights [G·F, C, kh, kw].
Lazy Lowerer::windowSums(const Lazy &x, const Lazy &w, int64_t groups) {
  const std::optional<Polynomial> features = w.shape[0].dividedBy(groups);
  if (!features || !x.shape[1].dividedBy(groups)) {
    throw Unsupported{"conv2d with groups of channels whose number is a symbol"};
  }
  const Polynomial channels = w.shape[1];
  const Shape result = {x.shape[0], w.shape[0], x.shape[2], x.shape[3]};
  Shape image = {x.shape[0], groups, channels};
  image.insert(image.end(), x.shape.begin() + 2, x.shape.end());
  Lazy windows = make.permute(make.reshape(x, image), {0, 1, 3, 4, 2, 5, 6});
  windows = make.insertDim(windows, 2); // [n, G, 1, h, w, C, kh, kw]
  Lazy weights = make.reshape(w, {groups, *features, channels, w.shape[2], w.shape[3]});
  weights = make.insertDim(make.insertDim(weights, 2), 2);
  return make.reshape(make.reduce("sum", make.map("mul", {windows, weights}), {5, 6, 7}, false),
                      result);
}

} // namespace nereid::generator
