// SPDX-License-Identifier: Apache-2.0
// Shapes of reductions, products and windows.
#include "lib/importer/shapes/ShapeRules.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <set>

namespace nereid::importer {

void ShapeRules::reduce() {
  if (!shapeOf(0)) {
    return set(0, typeOf(0), std::nullopt);
  }
  const Shape &shape = *shapeOf(0);
  auto axes = list("axes", 1);
  if (isGiven("axes", 1) && !axes) {
    return set(0, typeOf(0), std::nullopt); // which dimensions is known when it runs
  }
  std::set<size_t> reduced;
  for (int64_t axis : axes.value_or(Integers{})) {
    auto one = axisOf(axis, shape.size());
    if (!one) {
      return;
    }
    reduced.insert(*one);
  }
  const bool isAll = reduced.empty() && node->integer("noop_with_empty_axes", 0) == 0;
  Shape result;
  for (size_t i = 0; i < shape.size(); ++i) {
    if (!isAll && !reduced.contains(i)) {
      result.push_back(shape[i]);
    } else if (node->integer("keepdims", 1) != 0) {
      result.push_back({1, ""});
    }
  }
  set(0, typeOf(0), result);
  if (const Integers *elements = knownInput(0); elements && node->op == "ReduceProd" && isAll) {
    int64_t product = 1;
    for (int64_t one : *elements) {
      if (__builtin_mul_overflow(product, one, &product)) {
        return;
      }
    }
    know({product});
  }
}

void ShapeRules::argReduce() {
  const auto type = ElementType::of(DType::I64);
  if (!shapeOf(0)) {
    return set(0, type, std::nullopt);
  }
  Shape shape = *shapeOf(0);
  if (auto axis = axisOf(node->integer("axis", 0), shape.size())) {
    shape[*axis] = {1, ""};
    if (node->integer("keepdims", 1) == 0) {
      shape.erase(shape.begin() + static_cast<std::ptrdiff_t>(*axis));
    }
    set(0, type, shape);
  }
}

void ShapeRules::globalPool() {
  if (!shapeOf(0)) {
    return set(0, typeOf(0), std::nullopt);
  }
  Shape shape = *shapeOf(0);
  for (size_t i = 2; i < shape.size(); ++i) {
    shape[i] = {1, ""};
  }
  set(0, typeOf(0), shape);
}

void ShapeRules::matmul() { matrixProduct(typeOf(0)); }
void ShapeRules::matmulInteger() { matrixProduct(ElementType::of(DType::I32)); }

void ShapeRules::qLinearMatmul() { matrixProduct(typeOf(7), 3); }

void ShapeRules::matrixProduct(ElementType type, size_t second) {
  if (!has(0) || !has(second)) {
    return fail("expects two inputs");
  }
  if (!shapeOf(0) || !shapeOf(second)) {
    return set(0, type, std::nullopt);
  }
  Shape a = *shapeOf(0), b = *shapeOf(second);
  if (a.empty() || b.empty()) {
    return fail(
        fmt::format("a product of {} and {}, but each needs a dimension", text(a), text(b)));
  }
  const bool isRow = a.size() == 1, isColumn = b.size() == 1;
  if (isRow) {
    a.insert(a.begin(), {1, ""});
  }
  if (isColumn) {
    b.push_back({1, ""});
  }
  const Dim &left = a.back(), &right = b[b.size() - 2];
  if (left.isSize() && right.isSize() && left.size != right.size) {
    return fail(fmt::format("a product of {} and {}: expects {} == {}", text(*shapeOf(0)),
                            text(*shapeOf(second)), left.size, right.size));
  }
  auto shape = together(Shape(a.begin(), a.end() - 2), Shape(b.begin(), b.end() - 2));
  if (!shape) {
    return;
  }
  if (!isRow) {
    shape->push_back(a[a.size() - 2]);
  }
  if (!isColumn) {
    shape->push_back(b.back());
  }
  set(0, type, shape);
}

void ShapeRules::gemm() {
  if (!has(0) || !has(1)) {
    return fail("expects two inputs");
  }
  if (!shapeOf(0) || !shapeOf(1)) {
    return set(0, typeOf(0), std::nullopt);
  }
  const Shape &a = *shapeOf(0), &b = *shapeOf(1);
  if (a.size() != 2 || b.size() != 2) {
    return fail(fmt::format("expects two matrices, but got {} and {}", text(a), text(b)));
  }
  const bool isAt = node->integer("transA", 0) != 0, isBt = node->integer("transB", 0) != 0;
  const Dim &left = a[isAt ? 0 : 1], &right = b[isBt ? 1 : 0];
  if (left.isSize() && right.isSize() && left.size != right.size) {
    return fail(fmt::format("a product of {} and {}: expects {} == {}", text(a), text(b), left.size,
                            right.size));
  }
  const Shape result = {a[isAt ? 1 : 0], b[isBt ? 0 : 1]};
  set(0, typeOf(0), result);
  if (shapeOf(2)) {
    together(result, *shapeOf(2));
  }
}

/// Output of a window that moves over the image's dimensions behind the first two.
void ShapeRules::window(ElementType type, const Shape &image, size_t channelsOf, Integers kernel) {
  const size_t count = image.size() - 2;
  Integers strides(count, 1), dilations(count, 1), pads(2 * count, 0);
  auto take = [&](const char *name, Integers &into) {
    const Integers *given = node->integers(name);
    if (given && given->size() != into.size()) {
      fail(fmt::format("'{}' has {} numbers, but the image {} dimensions", name, given->size(),
                       count));
      return false;
    }
    into = given ? *given : into;
    return std::all_of(into.begin(), into.end(), [&](int64_t one) {
      const bool isRight = one >= (name == std::string("pads") ? -1000000 : 1) && one <= (1 << 30);
      if (!isRight) {
        fail(fmt::format("'{}' has {}", name, one));
      }
      return isRight;
    });
  };
  if (!take("strides", strides) || !take("dilations", dilations) || !take("pads", pads)) {
    return;
  }
  if (kernel.size() != count || std::any_of(kernel.begin(), kernel.end(), [](int64_t one) {
        return one < 1 || one > (1 << 30);
      })) {
    return fail(
        fmt::format("a window of [{}] over an image of {}", fmt::join(kernel, ", "), text(image)));
  }
  const std::string automatic = node->word("auto_pad", "NOTSET");
  const Dim channels = channelsOf == 0 ? image[1] : Dim{static_cast<int64_t>(channelsOf), ""};
  Shape result = {image[0], channels};
  for (size_t i = 0; i < count; ++i) {
    const Dim &dim = image[i + 2];
    if (!dim.isSize()) {
      result.push_back({});
      continue;
    }
    const int64_t reach = dilations[i] * (kernel[i] - 1) + 1;
    if (automatic.starts_with("SAME")) {
      result.push_back({(dim.size + strides[i] - 1) / strides[i], ""});
      continue;
    }
    const int64_t padded =
        dim.size + (automatic == "VALID" ? 0 : pads[i] + pads[i + count]) - reach;
    const int64_t more = node->integer("ceil_mode", 0) != 0 ? strides[i] - 1 : 0;
    int64_t steps = padded < 0 ? 0 : (padded + more) / strides[i] + 1;
    // A window that would begin behind the image and its padding is left out.
    if (more > 0 && steps > 0 && (steps - 1) * strides[i] >= dim.size + pads[i]) {
      --steps;
    }
    if (steps <= 0) {
      return fail(
          fmt::format("a window of {} over {} elements with their padding", reach, padded + reach));
    }
    result.push_back({steps, ""});
  }
  set(0, type, result);
}

void ShapeRules::conv() {
  if (!shapeOf(0) || !shapeOf(1)) {
    return set(0, typeOf(0), std::nullopt);
  }
  const ElementType type = node->op == "ConvInteger" ? ElementType::of(DType::I32) : typeOf(0);
  const Shape &image = *shapeOf(0), &weight = *shapeOf(1);
  if (image.size() < 3 || weight.size() != image.size()) {
    return fail(fmt::format("an image {} and weights {}: expects as many dimensions, 3 at least",
                            text(image), text(weight)));
  }
  Integers kernel;
  for (size_t i = 2; i < weight.size(); ++i) {
    kernel.push_back(weight[i].size);
  }
  const bool isOpen =
      std::any_of(kernel.begin(), kernel.end(), [](int64_t one) { return one < 0; });
  if (isOpen && node->integers("kernel_shape")) {
    kernel = *node->integers("kernel_shape");
  } else if (isOpen || weight[0].size == 0) {
    return set(0, type, std::nullopt);
  }
  const int64_t groups = node->integer("group", 1);
  const Dim &in = image[1], &of = weight[1];
  int64_t expected = 0;
  if (groups < 1 || (in.isSize() && of.isSize() &&
                     (__builtin_mul_overflow(of.size, groups, &expected) || expected != in.size))) {
    return fail(fmt::format("an image {} and weights {} with group = {}: expects {} channels",
                            text(image), text(weight), groups, expected));
  }
  if (!weight[0].isSize()) {
    return set(0, type, std::nullopt);
  }
  window(type, image, static_cast<size_t>(weight[0].size), std::move(kernel));
}

void ShapeRules::convInteger() { conv(); }

void ShapeRules::pool() {
  if (!shapeOf(0)) {
    return set(0, typeOf(0), std::nullopt);
  }
  const Integers *kernel = node->integers("kernel_shape");
  if (shapeOf(0)->size() < 3 || !kernel) {
    return fail(kernel ? fmt::format("expects an image of 3 dimensions at least, but got {}",
                                     text(*shapeOf(0)))
                       : std::string("expects the attribute 'kernel_shape'"));
  }
  window(typeOf(0), *shapeOf(0), 0, *kernel);
  if (const Value *first = model.value(node->outputs[0])) {
    set(1, ElementType::of(DType::I64), first->shape);
  }
}

void ShapeRules::convTranspose() {
  if (!shapeOf(0) || !shapeOf(1)) {
    return set(0, typeOf(0), std::nullopt);
  }
  const Shape &image = *shapeOf(0), &weight = *shapeOf(1);
  if (image.size() < 3 || weight.size() != image.size()) {
    return fail(fmt::format("an image {} and weights {}: expects as many dimensions, 3 at least",
                            text(image), text(weight)));
  }
  const size_t count = image.size() - 2;
  auto listOf = [&](const char *name, size_t length, int64_t otherwise) {
    const Integers *given = node->integers(name);
    return given && given->size() == length ? *given : Integers(length, otherwise);
  };
  const Integers strides = listOf("strides", count, 1), dilations = listOf("dilations", count, 1),
                 pads = listOf("pads", 2 * count, 0), more = listOf("output_padding", count, 0);
  const Integers *asked = node->integers("output_shape");
  int64_t channels = 0;
  if (!weight[1].isSize() ||
      __builtin_mul_overflow(weight[1].size, node->integer("group", 1), &channels) ||
      channels < 0) {
    return set(0, typeOf(0), std::nullopt);
  }
  Shape result = {image[0], {channels, ""}};
  const bool isSame = node->word("auto_pad", "NOTSET").starts_with("SAME");
  for (size_t i = 0; i < count; ++i) {
    const Dim &dim = image[i + 2], &kernel = weight[i + 2];
    if (asked && asked->size() == count) {
      result.push_back({std::max<int64_t>((*asked)[i], 0), ""});
      continue;
    }
    int64_t size = 0;
    if (!dim.isSize() || !kernel.isSize() || strides[i] < 1 || dilations[i] < 1 ||
        __builtin_mul_overflow(strides[i], isSame ? dim.size : dim.size - 1, &size)) {
      return set(0, typeOf(0), std::nullopt);
    }
    int64_t reach = 0;
    if (__builtin_mul_overflow(dilations[i], kernel.size - 1, &reach) || reach > (1LL << 40) ||
        size > (1LL << 40)) {
      return fail("the window is larger than any tensor");
    }
    size += isSame ? 0 : more[i] + reach + 1 - pads[i] - pads[i + count];
    result.push_back({std::max<int64_t>(size, 0), ""});
  }
  set(0, typeOf(0), result);
}

void ShapeRules::recurrent() {
  const auto &x = shapeOf(0), &r = shapeOf(2);
  if (!x || !r || x->size() != 3 || r->size() != 3) {
    return;
  }
  const bool isBatchFirst = node->integer("layout", 0) != 0;
  const Dim steps = (*x)[isBatchFirst ? 1 : 0], batch = (*x)[isBatchFirst ? 0 : 1],
            directions = (*r)[0], hidden = (*r)[2];
  set(0, typeOf(0),
      isBatchFirst ? Shape{batch, steps, directions, hidden}
                   : Shape{steps, directions, batch, hidden});
  const Shape last =
      isBatchFirst ? Shape{batch, directions, hidden} : Shape{directions, batch, hidden};
  set(1, typeOf(0), last);
  set(2, typeOf(0), last);
}

/// Heads are a dimension, or lie side by side in the last one.
void ShapeRules::attention() {
  if (!shapeOf(0) || !shapeOf(1) || !shapeOf(2)) {
    return set(0, typeOf(0), std::nullopt);
  }
  auto heads = [&](size_t input, const char *attribute) -> std::optional<Shape> {
    Shape shape = *shapeOf(input);
    if (shape.size() == 4) {
      return shape;
    }
    const int64_t count = node->integer(attribute, 0);
    if (shape.size() != 3 || count < 1 || (shape[2].isSize() && shape[2].size % count != 0)) {
      fail(fmt::format("expects four dimensions, or three whose last is a multiple of '{}', but "
                       "got {}",
                       attribute, text(shape)));
      return std::nullopt;
    }
    const Dim size = shape[2].isSize() ? Dim{shape[2].size / count, ""} : Dim{};
    return Shape{shape[0], {count, ""}, shape[1], size};
  };
  auto q = heads(0, "q_num_heads"), k = heads(1, "kv_num_heads"), v = heads(2, "kv_num_heads");
  if (!q || !k || !v) {
    return;
  }
  if ((*q)[3].isSize() && (*k)[3].isSize() && (*q)[3] != (*k)[3]) {
    return fail(fmt::format("a product of {} and {}", text(*q), text(*k)));
  }
  if (shapeOf(4)) {
    if (shapeOf(4)->size() != 4) {
      return fail(fmt::format("expects a past of four dimensions, but got {}", text(*shapeOf(4))));
    }
    const Dim past = (*shapeOf(4))[2], more = (*k)[2];
    const Dim all = past.isSize() && more.isSize() ? Dim{past.size + more.size, ""} : Dim{};
    (*k)[2] = (*v)[2] = all;
  }
  if (shapeOf(0)->size() == 3) {
    int64_t size = 0;
    const bool isSize =
        (*v)[3].isSize() && !__builtin_mul_overflow((*q)[1].size, (*v)[3].size, &size);
    set(0, typeOf(0), Shape{(*q)[0], (*q)[2], isSize ? Dim{size, ""} : Dim{}});
  } else {
    set(0, typeOf(0), Shape{(*q)[0], (*q)[1], (*q)[2], (*v)[3]});
  }
  set(1, typeOf(1), k);
  set(2, typeOf(2), v);
  set(3, typeOf(0), Shape{(*q)[0], (*q)[1], (*q)[2], (*k)[2]});
}

/// Of scores [N, C, …]: one for each label, or one of all.
void ShapeRules::loss() {
  const bool isEach = node->word("reduction", "mean") == "none";
  set(0, typeOf(0), isEach ? shapeOf(1) : std::optional(Shape{}));
  set(1, typeOf(0), shapeOf(0));
}

void ShapeRules::topK() {
  if (!shapeOf(0)) {
    return;
  }
  Shape shape = *shapeOf(0);
  auto axis = axisOf(node->integer("axis", -1), shape.size());
  if (!axis) {
    return;
  }
  const Integers *k = knownInput(1);
  const int64_t given = k && k->size() == 1 ? (*k)[0] : node->integer("k", -1);
  shape[*axis] = given >= 0 ? Dim{given, ""} : Dim{};
  set(0, typeOf(0), shape);
  set(1, ElementType::of(DType::I64), shape);
}

} // namespace nereid::importer
