// SPDX-License-Identifier: Apache-2.0
// Windows as columns of a matrix and back, and convolutions made of them: of sequences and volumes
// as conv2d of images whose channels are places of windows, transposed ones as a product whose
// columns are added where they came from.
#include "lib/definition/reader/windows/BodyWindows.h"

#include <fmt/format.h>

#include <algorithm>
#include <numeric>

namespace nereid::definition {
namespace {

using Sizes = WrittenCall::Sizes;

std::vector<int64_t> upTo(int64_t count) {
  std::vector<int64_t> order(static_cast<size_t>(count));
  std::iota(order.begin(), order.end(), int64_t{0});
  return order;
}

SizePolynomial productOf(const Sizes &sizes) {
  SizePolynomial product = 1;
  for (const SizePolynomial &size : sizes) {
    product = product * size;
  }
  return product;
}

} // namespace

/// [N, C, H, W] to [N, C · kh · kw, L].
Value asColumns(WrittenCall &call) {
  const Value x = call.image(call.name == "im2col" ? "self" : "input");
  const std::optional<WindowSides> sides = x ? windowSides(call) : std::nullopt;
  if (!sides) {
    return std::nullopt;
  }
  const auto rank = static_cast<int64_t>(call.rank(*x));
  Value columns = windowed(call, x, *sides, 0); // [N, C, h, w, kh, kw]
  std::vector<int64_t> order = upTo(rank - 2);
  for (int64_t dim : {rank, rank + 1, rank - 2, rank - 1}) {
    order.push_back(dim);
  }
  columns = call.permuted(columns, order);
  return call.flattened(call.flattened(columns, -2, -1), -4, -2);
}

/// [N, C · kh · kw, L] to [N, C, H, W], the sums of what comes from several windows.
Value fromColumns(WrittenCall &call) {
  const Value x = call.operand(call.name == "col2im" ? "self" : "input");
  const std::optional<WindowSides> sides = x ? windowSides(call) : std::nullopt;
  const std::optional<Sizes> image = sides ? call.sizes("output_size", 2, 1) : std::nullopt;
  if (!image) {
    return std::nullopt;
  }
  const Sizes counts = {sides->windows(0, (*image)[0]), sides->windows(1, (*image)[1])};
  const SizePolynomial places = sides->kernel[0] * sides->kernel[1];
  const size_t rank = call.rank(*x);
  if (rank != 2 && rank != 3) {
    return call.fail("E0604", fmt::format("'{}' expects 2 or 3 dimensions", call.name),
                     "columns are [batch, channels * places, windows]");
  }
  const std::optional<SizePolynomial> channels = call.size(*x, -2).dividedBy(places);
  const Value columns = channels ? call.sized(x, -1, productOf(counts)) : std::nullopt;
  if (!channels) {
    return call.fail("E0604",
                     fmt::format("'{}' expects channels * {} rows of columns, but got {}",
                                 call.name, places.text(), call.size(*x, -2).text()),
                     "there is a row for each place of a window, and a column for each window");
  }
  Value windows = call.reshaped(
      columns, 2, {*channels, sides->kernel[0], sides->kernel[1], counts[0], counts[1]});
  if (!windows) {
    return std::nullopt;
  }
  const auto all = static_cast<int64_t>(call.rank(*windows));
  std::vector<int64_t> order = upTo(all - 4);
  for (int64_t dim : {all - 2, all - 1, all - 4, all - 3}) {
    order.push_back(dim);
  }
  return spreadBack(call, call.permuted(windows, order), *sides, *image);
}

/// The gradient of x.unfold(dim, size, step).
Value windowsGradient(WrittenCall &call) {
  const Value grad = call.operand("grad_in");
  const std::optional<Sizes> sizes = grad ? call.list("input_sizes") : std::nullopt;
  const std::optional<int64_t> dim = call.integer("dim", INT64_MIN), size = call.integer("size", 1),
                               step = call.integer("step", 1);
  if (!sizes || !dim || !size || !step) {
    return std::nullopt;
  }
  const auto rank = static_cast<int64_t>(sizes->size());
  const int64_t at = *dim < 0 ? *dim + rank : *dim;
  if (static_cast<int64_t>(call.rank(*grad)) != rank + 1 || at < 0 || at >= rank) {
    return call.fail("E0604", fmt::format("'{}' expects a dimension of its input", call.name),
                     "grad_in has one dimension more than input_sizes");
  }
  const SizePolynomial whole = (*sizes)[static_cast<size_t>(at)];
  const SizePolynomial count = (whole - *size).floorDivide(*step) + 1;
  const Value windows = call.sized(call.sized(grad, at - rank - 1, count), -1, *size);
  const Value back = call.spread(windows, at - rank - 1, whole, *step, 1, 0);
  return call.reduced("sum", back, {-1});
}

// ---- convolutions ----

namespace {

struct Convolution {
  Value x, weight, bias;
  std::vector<int64_t> stride, padding, dilation;
  std::string word; ///< "same" or "valid"
  int64_t groups = 1;
};

std::optional<Convolution> convolutionOf(WrittenCall &call, bool takesWord) {
  const size_t sides = call.sides();
  Convolution found;
  found.x = call.image("input");
  found.weight = call.operand("weight");
  found.bias = call.isNone("bias") ? std::nullopt : call.operand("bias");
  if (!found.x || !found.weight || (!call.isNone("bias") && !found.bias)) {
    return std::nullopt;
  }
  if (call.rank(*found.weight) != sides + 2) {
    return call.fail("E0604",
                     fmt::format("'{}' expects a weight of {} dimensions, but got {}", call.name,
                                 sides + 2, call.rank(*found.weight)),
                     "weights are filters of the image's channels");
  }
  const bool isWord = takesWord && call.isWord("padding");
  const auto stride = call.integers("stride", sides, 1);
  const auto dilation = call.integers("dilation", sides, 1);
  const auto padding = isWord ? std::vector<int64_t>(sides, 0) : call.integers("padding", sides, 0);
  const auto groups = call.integer("groups", 1);
  const auto word = isWord ? call.word("padding") : std::string();
  if (!stride || !dilation || !padding || !groups || !word) {
    return std::nullopt;
  }
  found.stride = *stride;
  found.dilation = *dilation;
  found.padding = *padding;
  found.groups = *groups;
  found.word = *word;
  return found;
}

/// A sequence is an image one pixel high.
Value ofSequence(WrittenCall &call, Convolution conv) {
  for (auto *list : {&conv.stride, &conv.dilation}) {
    list->insert(list->begin(), 1);
  }
  conv.padding.insert(conv.padding.begin(), 0);
  const Value image =
      call.convolution(call.unsqueezed(conv.x, -2), call.unsqueezed(conv.weight, -2), conv.bias,
                       conv.stride, conv.padding, conv.word, conv.dilation, conv.groups);
  return call.squeezed(image, -2);
}

/// Each slice of a volume is an image, whose channels are those of the slices in a window.
Value ofVolume(WrittenCall &call, Convolution conv) {
  if (conv.word == "same") {
    for (size_t side = 0; side < 3; ++side) {
      const auto taps = call.size(*conv.weight, static_cast<int64_t>(side) - 3).constant();
      const int64_t reach = taps ? (*taps - 1) * conv.dilation[side] : 1;
      if (reach % 2 != 0 || conv.stride[side] != 1) {
        return call.fail("E0604",
                         "padding=\"same\" of 'conv3d' expects kernels of odd sizes and stride 1",
                         "pad the input by F.pad");
      }
      conv.padding[side] = reach / 2;
    }
  }
  const bool hasBatch = call.rank(*conv.x) == 5;
  const Value x = hasBatch ? conv.x : call.unsqueezed(conv.x, 0);
  const auto depth = call.size(*conv.weight, -3).constant();
  if (!depth) {
    return call.fail("E0604", "'conv3d' expects a kernel whose depth is a number",
                     "give the weight's sizes as numbers");
  }
  if (!x) {
    return x;
  }
  const Sizes batch = {call.size(*x, 0)};
  Value images = call.padded(x, -3, conv.padding[0], conv.padding[0]);
  images = call.windows(images, -3, *depth, conv.stride[0], conv.dilation[0]); // n c d h w k
  if (!images) {
    return images;
  }
  const SizePolynomial slices = call.size(*images, -4);
  images = call.permuted(images, {0, 2, 1, 5, 3, 4});
  images = call.flattened(call.flattened(images, -4, -3), -5, -4);
  const Value weight = call.flattened(conv.weight, -4, -3);
  Value result = call.convolution(images, weight, conv.bias, {conv.stride[1], conv.stride[2]},
                                  {conv.padding[1], conv.padding[2]}, "",
                                  {conv.dilation[1], conv.dilation[2]}, conv.groups);
  result = call.unflattened(result, -4, {batch[0], slices});
  result = call.permuted(result, {0, 2, 1, 3, 4});
  return hasBatch ? result : call.squeezed(result, -5);
}

} // namespace

Value convolved(WrittenCall &call) {
  const std::optional<Convolution> conv = convolutionOf(call, true);
  return !conv ? std::nullopt : call.sides() == 1 ? ofSequence(call, *conv) : ofVolume(call, *conv);
}

/// Columns are weightᵀ · x for each place of the kernel.
Value convolvedBack(WrittenCall &call) {
  const std::optional<Convolution> conv = convolutionOf(call, false);
  const size_t count = call.sides();
  const auto further = conv ? call.integers("output_padding", count, 0) : std::nullopt;
  if (!further) {
    return std::nullopt;
  }
  WindowSides sides;
  sides.stride = conv->stride;
  sides.padding = conv->padding;
  sides.dilation = conv->dilation;
  const bool hasBatch = call.rank(*conv->x) == count + 2;
  const Value x = hasBatch ? conv->x : call.unsqueezed(conv->x, 0);
  Sizes image, counts, taps;
  for (size_t side = 0; side < count && x; ++side) {
    const auto dim = static_cast<int64_t>(side) - static_cast<int64_t>(count);
    const auto kernel = call.size(*conv->weight, dim).constant();
    if (!kernel) {
      return call.fail("E0604", fmt::format("'{}' expects a kernel of known size", call.name),
                       "give the weight's sizes as numbers");
    }
    if ((*further)[side] >= std::max(sides.stride[side], sides.dilation[side])) {
      return call.fail("E0604",
                       fmt::format("'output_padding' of '{}' expects less than the stride or the "
                                   "dilation",
                                   call.name),
                       "PyTorch takes no more");
    }
    sides.kernel.push_back(*kernel);
    taps.emplace_back(*kernel);
    counts.push_back(call.size(*x, dim));
    image.push_back((counts.back() - 1) * sides.stride[side] - 2 * sides.padding[side] +
                    sides.reach(side) + (*further)[side] + 1);
    call.expectNotNegative(counts.back() - 1, fmt::format("'{}' expects an element", call.name));
    call.expectNotNegative(image.back() - 1, fmt::format("'{}' expects an element", call.name));
  }
  const auto all = static_cast<int64_t>(count);
  if (!x || call.failed()) {
    return std::nullopt;
  }
  const SizePolynomial channels = call.size(*conv->weight, 0);
  const SizePolynomial features = call.size(*conv->weight, 1);
  const auto share = channels.dividedBy(conv->groups);
  if (channels != call.size(*x, -all - 1) || !share) {
    return call.fail("E0604",
                     fmt::format("'{}' expects as many channels as its weight has, which groups "
                                 "divide, but got {} and {}",
                                 call.name, call.size(*x, -all - 1).text(), channels.text()),
                     "weight is [channels, features / groups, kernel]");
  }
  const SizePolynomial places = productOf(taps), pixels = productOf(counts);
  // [G, F·k, C] by [N, G, C, L]; without groups there is no such dimension.
  const bool hasGroups = conv->groups > 1;
  Value filters = call.flattened(conv->weight, -all - 1, -1);
  Value columns = call.flattened(x, -all, -1);
  if (hasGroups) {
    filters = call.unflattened(filters, -2, {conv->groups, *share});
    columns = call.unflattened(columns, -2, {conv->groups, *share});
  }
  filters = call.permuted(filters,
                          hasGroups ? std::vector<int64_t>{0, 2, 1} : std::vector<int64_t>{1, 0});
  columns = call.apply("matmul", {filters, columns}); // [N, G, F·k, L]
  if (hasGroups) {
    columns = call.flattened(columns, -3, -2);
  }
  Sizes apart = {features * conv->groups};
  apart.insert(apart.end(), taps.begin(), taps.end());
  apart.insert(apart.end(), counts.begin(), counts.end());
  columns = call.reshaped(columns, 2, apart);
  std::vector<int64_t> order = {0, 1};
  for (int64_t dim = 0; dim < all; ++dim) {
    order.push_back(2 + all + dim);
  }
  for (int64_t dim = 0; dim < all; ++dim) {
    order.push_back(2 + dim);
  }
  Value result = spreadBack(call, call.permuted(columns, order), sides, image);
  if (conv->bias) {
    result = call.apply("add", {result, call.along(conv->bias, -all - 1)});
  }
  return hasBatch ? result : call.squeezed(result, -all - 2);
}

} // namespace nereid::definition
