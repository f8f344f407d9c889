// SPDX-License-Identifier: Apache-2.0
// Shapes of what is read at places that another tensor names, and of tensors that are made of sizes
// and numbers, with the values of those that hold sizes.
#include "lib/importer/onnx/TensorElements.h"
#include "lib/importer/shapes/ShapeRules.h"
#include "lib/importer/shapes/Sizes.h"
#include "lib/importer/shapes/Slice.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <cmath>

namespace nereid::importer {

// ---- read at places ----

void ShapeRules::gather() {
  const auto &data = shapeOf(0), &indices = shapeOf(1);
  if (!data || !indices) {
    return set(0, typeOf(0), std::nullopt);
  }
  auto axis = axisOf(node->integer("axis", 0), data->size());
  if (!axis) {
    return;
  }
  Shape result(data->begin(), data->begin() + static_cast<std::ptrdiff_t>(*axis));
  result.insert(result.end(), indices->begin(), indices->end());
  result.insert(result.end(), data->begin() + static_cast<std::ptrdiff_t>(*axis) + 1, data->end());
  set(0, typeOf(0), result);
  if (const auto sizes = sizesIn(0); sizes && knownInput(1) && data->size() == 1) {
    Shape chosen;
    const auto count = static_cast<int64_t>(sizes->size());
    for (int64_t index : *knownInput(1)) {
      if (index < -count || index >= count) {
        return fail(fmt::format("index {} of {} elements", index, count));
      }
      chosen.push_back((*sizes)[static_cast<size_t>(index < 0 ? index + count : index)]);
    }
    knowSizes(std::move(chosen));
  }
}

void ShapeRules::gatherElements() { set(0, typeOf(0), shapeOf(1)); }

void ShapeRules::gatherNd() {
  const auto &data = shapeOf(0), &indices = shapeOf(1);
  const int64_t batch = node->integer("batch_dims", 0);
  if (!data || !indices || indices->empty() || !indices->back().isSize()) {
    return set(0, typeOf(0), std::nullopt);
  }
  const int64_t depth = indices->back().size;
  if (batch < 0 || depth < 0 || depth > 64 || batch > 64 ||
      batch + depth > static_cast<int64_t>(data->size())) {
    return fail(fmt::format("indices of {} numbers into {}", depth, text(*data)));
  }
  Shape result(indices->begin(), indices->end() - 1);
  result.insert(result.end(), data->begin() + batch + depth, data->end());
  set(0, typeOf(0), result);
}

/// A place of two or three numbers for each pixel.
void ShapeRules::affineGrid() {
  const Integers *size = knownInput(1);
  if (!size) {
    return set(0, typeOf(0), std::nullopt);
  }
  const auto rank = static_cast<int64_t>(size->size());
  if ((rank != 4 && rank != 5) ||
      std::any_of(size->begin(), size->end(), [](int64_t one) { return one < 0; })) {
    return fail(fmt::format("an image of [{}]", fmt::join(*size, ", ")));
  }
  Shape result = sized(*size);
  result.erase(result.begin() + 1);
  result.push_back({rank - 2, ""});
  set(0, typeOf(0), result);
}

/// [N, C, …] at a grid of [N, rows, …, 2].
void ShapeRules::gridSample() {
  const auto &image = shapeOf(0), &grid = shapeOf(1);
  if (!image || !grid) {
    return set(0, typeOf(0), std::nullopt);
  }
  const auto rank = static_cast<int64_t>(image->size());
  if (rank < 3 || grid->size() != image->size() ||
      (grid->back().isSize() && grid->back().size != rank - 2)) {
    return fail(fmt::format("samples {} at {}", text(*image), text(*grid)));
  }
  Shape result = *grid;
  result.pop_back();
  result.insert(result.begin() + 1, (*image)[1]);
  set(0, typeOf(0), result);
}

void ShapeRules::oneHot() {
  const Integers *given = knownInput(1);
  std::optional<Integers> depth = given ? std::optional(*given) : std::nullopt;
  if (const Tensor *number = has(1) ? model.initialiser(node->inputs[1]) : nullptr;
      number && number->floats.size() == 1 && std::abs(number->floats[0]) < 1e15) {
    depth = Integers{static_cast<int64_t>(number->floats[0])};
  }
  if (!shapeOf(0)) {
    return;
  }
  Shape shape = *shapeOf(0);
  auto axis = axisOf(node->integer("axis", -1), shape.size() + 1);
  if (axis) {
    const bool isSize = depth && depth->size() == 1 && (*depth)[0] >= 0;
    shape.insert(shape.begin() + static_cast<std::ptrdiff_t>(*axis),
                 isSize ? Dim{(*depth)[0], ""} : Dim{});
    set(0, typeOf(2), shape);
  }
}

// ---- made of sizes ----

void ShapeRules::constantOfShape() {
  auto value = node->attributes.find("value");
  const Tensor *tensor =
      value == node->attributes.end() ? nullptr : std::get_if<Tensor>(&value->second);
  const ElementType type = tensor ? tensor->type : ElementType::of(DType::F32);
  const auto sizes = sizesIn(0);
  if (!sizes) {
    return set(0, type, std::nullopt);
  }
  if (std::any_of(sizes->begin(), sizes->end(), [](const Dim &one) { return !one.isKnown(); })) {
    return fail(fmt::format("sizes {}", listed(*sizes)));
  }
  set(0, type, sizes);
  const auto count = knownInput(0) ? elementCount(*knownInput(0)) : std::nullopt;
  if (tensor && count && *count <= mostKeptElements && tensor->integers.size() == 1) {
    know(Integers(static_cast<size_t>(*count), tensor->integers[0]));
  }
}

void ShapeRules::range() {
  const Integers *start = knownInput(0), *limit = knownInput(1), *step = knownInput(2);
  const auto end = sizesIn(1);
  if (const Integers first = {0}, one = {1}; start && step && *start == first && *step == one &&
                                             end && end->size() == 1 && !(*end)[0].symbol.empty()) {
    return set(0, typeOf(0), *end);
  }
  const bool isKnown = start && limit && step && start->size() == 1 && limit->size() == 1 &&
                       step->size() == 1 && (*step)[0] != 0;
  int64_t span = 0;
  auto real = [&](size_t input) {
    const Tensor *tensor = has(input) ? model.initialiser(node->inputs[input]) : nullptr;
    return tensor && tensor->floats.size() == 1 ? tensor->floats[0] : std::nan("");
  };
  if (const double count = std::ceil((real(1) - real(0)) / real(2)); std::abs(count) < 1e15) {
    return set(0, typeOf(0), Shape{Dim{std::max<int64_t>(static_cast<int64_t>(count), 0), ""}});
  }
  if (!isKnown || __builtin_sub_overflow((*limit)[0], (*start)[0], &span) ||
      (*step)[0] == INT64_MIN || span == INT64_MIN) {
    return set(0, typeOf(0), Shape{Dim{}});
  }
  const int64_t by = (*step)[0] > 0 ? (*step)[0] : -(*step)[0];
  span = (*step)[0] > 0 ? span : -span;
  const int64_t count = span <= 0 ? 0 : (span - 1) / by + 1;
  set(0, typeOf(0), Shape{Dim{count, ""}});
  if (count <= mostKeptElements) {
    Integers elements;
    for (int64_t i = 0; i < count; ++i) {
      elements.push_back((*start)[0] + i * (*step)[0]);
    }
    know(std::move(elements));
  }
}

void ShapeRules::shapeAsValue() {
  const auto type = ElementType::of(DType::I64);
  if (!shapeOf(0)) {
    return set(0, type, Shape{Dim{}});
  }
  const Shape &shape = *shapeOf(0);
  const auto rank = static_cast<int64_t>(shape.size());
  const SlicedDim taken = slicedDim(rank, node->integer("start", 0), node->integer("end", rank), 1);
  const Shape sizes(shape.begin() + taken.from, shape.begin() + taken.from + taken.count);
  set(0, type, Shape{Dim{taken.count, ""}});
  if (std::all_of(sizes.begin(), sizes.end(), [](const Dim &one) { return one.isKnown(); })) {
    knowSizes(sizes);
  }
}

void ShapeRules::sizeOf() {
  set(0, ElementType::of(DType::I64), Shape{});
  if (shapeOf(0)) {
    const Dim all = productOf(*shapeOf(0), 0, shapeOf(0)->size());
    if (all.isSize()) {
      know({all.size});
    }
  }
}

} // namespace nereid::importer
