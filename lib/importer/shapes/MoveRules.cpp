// SPDX-License-Identifier: Apache-2.0
// Shapes of what arranges elements otherwise.
#include "lib/importer/onnx/TensorElements.h"
#include "lib/importer/shapes/AspectFactor.h"
#include "lib/importer/shapes/ShapeRules.h"
#include "lib/importer/shapes/Sizes.h"
#include "lib/importer/shapes/Slice.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <cmath>
#include <set>

namespace nereid::importer {
namespace {

/// A name that both have counts on neither side: 1 stands in its place.
void cancelNames(Shape &a, Shape &b) {
  for (Dim &one : a) {
    auto same = one.symbol.empty() ? b.end() : std::find(b.begin(), b.end(), one);
    if (same != b.end()) {
      one = *same = {1, ""};
    }
  }
}

/// The only name among the sizes, where the others are `count` elements: what is left of them.
std::optional<Dim> onlyNameOf(const Shape &shape, int64_t count) {
  std::optional<Dim> name;
  std::vector<int64_t> sizes;
  for (const Dim &one : shape) {
    if (one.isSize()) {
      sizes.push_back(one.size);
    } else if (name || !one.isKnown()) {
      return std::nullopt;
    } else {
      name = one;
    }
  }
  return count > 0 && elementCount(sizes) == count ? name : std::nullopt;
}

} // namespace

void ShapeRules::flatten() {
  if (!shapeOf(0)) {
    return;
  }
  const Shape &shape = *shapeOf(0);
  const auto rank = static_cast<int64_t>(shape.size());
  int64_t axis = node->integer("axis", 1);
  axis += axis < 0 ? rank : 0;
  if (axis < 0 || axis > rank) {
    return fail(fmt::format("axis {} of a tensor with {} dimensions", axis, rank));
  }
  const auto at = static_cast<size_t>(axis);
  set(0, typeOf(0), Shape{productOf(shape, 0, at), productOf(shape, at, shape.size())});
}

void ShapeRules::reshape() {
  if (const auto elements = sizesIn(0)) {
    knowSizes(*elements);
  }
  std::optional<Shape> asked = sizesIn(1);
  if (const auto given = list("shape", 1); given && !asked) {
    asked = sized(*given);
  }
  if (!asked) {
    // At least as many dimensions as there are sizes.
    const auto &sizes = shapeOf(1);
    const bool isCounted =
        sizes && sizes->size() == 1 && (*sizes)[0].isSize() && (*sizes)[0].size < 64;
    return set(0, typeOf(0),
               isCounted ? std::optional(Shape(static_cast<size_t>((*sizes)[0].size)))
                         : std::nullopt);
  }
  Shape result;
  std::optional<size_t> rest;
  for (size_t i = 0; i < asked->size(); ++i) {
    const int64_t size = (*asked)[i].size;
    if (!(*asked)[i].symbol.empty()) {
      result.push_back((*asked)[i]);
    } else if (size == -1 && !rest) {
      rest = i;
      result.push_back({});
    } else if (size == 0 && node->integer("allowzero", 0) == 0) {
      if (shapeOf(0) && i >= shapeOf(0)->size()) {
        return fail(fmt::format("keeps dimension {} of {}", i, text(*shapeOf(0))));
      }
      result.push_back(shapeOf(0) ? (*shapeOf(0))[i] : Dim{});
    } else if (size >= 0) {
      result.push_back({size, ""});
    } else {
      return fail(
          fmt::format("sizes {}, of which one at most may be -1 and none less", listed(*asked)));
    }
  }
  Shape source = shapeOf(0).value_or(Shape{Dim{}});
  Shape counted = result;
  if (rest) {
    cancelNames(source, counted);
  }
  const Dim all = productOf(source, 0, source.size());
  const bool isCounted = all.isSize();
  std::vector<int64_t> sizes;
  for (size_t i = 0; i < result.size(); ++i) {
    if (rest != i) {
      if (!counted[i].isSize()) {
        return set(0, typeOf(0), result);
      }
      sizes.push_back(counted[i].size);
    }
  }
  const auto others = elementCount(sizes);
  if (rest && others) {
    result[*rest] = onlyNameOf(source, *others).value_or(Dim{});
  }
  if (!isCounted || !others) {
    return set(0, typeOf(0), result);
  }
  const bool fits = rest ? *others > 0 && all.size % *others == 0 : all.size == *others;
  if (!fits && !(rest && all.size == 0)) {
    return fail(
        fmt::format("{} elements of {} as {}", all.size, text(*shapeOf(0)), listed(*asked)));
  }
  if (rest) {
    result[*rest] = {*others > 0 ? all.size / *others : 0, ""};
  }
  set(0, typeOf(0), result);
}

void ShapeRules::squeeze() {
  if (const auto elements = sizesIn(0)) {
    knowSizes(*elements);
  }
  const auto axes = list("axes", 1);
  if (!shapeOf(0) || (isGiven("axes", 1) && !axes)) {
    return set(0, typeOf(0), std::nullopt);
  }
  const Shape &shape = *shapeOf(0);
  std::set<size_t> gone;
  for (int64_t axis : axes.value_or(Integers{})) {
    auto one = axisOf(axis, shape.size());
    if (!one) {
      return;
    }
    if (shape[*one].isSize() && shape[*one].size != 1) {
      return fail(fmt::format("dimension {} of {} is not 1", *one, text(shape)));
    }
    gone.insert(*one);
  }
  Shape result;
  for (size_t i = 0; i < shape.size(); ++i) {
    if (axes ? !gone.contains(i) : shape[i].size != 1) {
      result.push_back(shape[i]);
    }
  }
  set(0, typeOf(0), result);
}

void ShapeRules::unsqueeze() {
  if (const auto elements = sizesIn(0)) {
    knowSizes(*elements);
  }
  const auto axes = list("axes", 1);
  if (!axes || !shapeOf(0) || axes->size() > 64) {
    return set(0, typeOf(0), std::nullopt);
  }
  const size_t rank = shapeOf(0)->size() + axes->size();
  std::set<size_t> added;
  for (int64_t axis : *axes) {
    auto one = axisOf(axis, rank);
    if (!one) {
      return;
    }
    if (!added.insert(*one).second) {
      return fail(fmt::format("axis {} is given twice", axis));
    }
  }
  Shape result;
  size_t next = 0;
  for (size_t i = 0; i < rank; ++i) {
    result.push_back(added.contains(i) ? Dim{1, ""} : (*shapeOf(0))[next++]);
  }
  set(0, typeOf(0), result);
}

void ShapeRules::concat() {
  Shape elements;
  bool isKnown = true;
  for (size_t i = 0; i < node->inputs.size(); ++i) {
    const auto one = sizesIn(i);
    isKnown = isKnown && one && shapeOf(i) && shapeOf(i)->size() == 1;
    if (isKnown) {
      elements.insert(elements.end(), one->begin(), one->end());
    }
  }
  if (isKnown) {
    knowSizes(elements);
  }
  if (!shapeOf(0)) {
    return set(0, typeOf(0), std::nullopt);
  }
  Shape result = *shapeOf(0);
  auto axis = axisOf(node->integer("axis", 1), result.size());
  if (!axis) {
    return;
  }
  for (size_t i = 1; i < node->inputs.size(); ++i) {
    const auto &shape = shapeOf(i);
    if (!shape) {
      result[*axis] = {};
      continue;
    }
    if (shape->size() != result.size()) {
      return fail(fmt::format("joins {} and {}", text(*shapeOf(0)), text(*shape)));
    }
    for (size_t d = 0; d < result.size(); ++d) {
      const Dim &one = (*shape)[d];
      if (d == *axis) {
        int64_t sum = 0;
        const bool isSize = one.isSize() && result[d].isSize() &&
                            !__builtin_add_overflow(one.size, result[d].size, &sum);
        result[d] = isSize ? Dim{sum, ""} : Dim{};
      } else if (one.isSize() && result[d].isSize() && one.size != result[d].size) {
        return fail(fmt::format("joins {} and {} along dimension {}", text(*shapeOf(0)),
                                text(*shape), *axis));
      } else {
        result[d] = one.isSize() ? one : result[d];
      }
    }
  }
  set(0, typeOf(0), result);
}

void ShapeRules::depthToSpace() {
  const int64_t block = node->integer("blocksize", 0);
  if (!shapeOf(0) || shapeOf(0)->size() != 4 || block < 1 || block > (1 << 15)) {
    return fail("expects an image of four dimensions and a block size");
  }
  Shape shape = *shapeOf(0);
  for (size_t i = 1; i < 4; ++i) {
    int64_t size = -1;
    if (i == 1) {
      size = shape[i].size / (block * block);
    } else if (__builtin_mul_overflow(shape[i].size, block, &size)) {
      size = -1;
    }
    shape[i] = shape[i].isSize() ? Dim{size, ""} : Dim{};
  }
  set(0, typeOf(0), shape);
}

void ShapeRules::spaceToDepth() {
  const int64_t block = node->integer("blocksize", 0);
  if (!shapeOf(0) || shapeOf(0)->size() != 4 || block < 1 || block > (1 << 15)) {
    return fail("expects an image of four dimensions and a block size");
  }
  Shape shape = *shapeOf(0);
  for (size_t i = 1; i < 4; ++i) {
    int64_t size = shape[i].size / block;
    if (i == 1 && __builtin_mul_overflow(shape[i].size, block * block, &size)) {
      size = -1;
    }
    shape[i] = shape[i].isSize() ? Dim{size, ""} : Dim{};
  }
  set(0, typeOf(0), shape);
}

void ShapeRules::expand() {
  const auto sizes = sizesIn(1);
  if (!sizes || !shapeOf(0)) {
    return set(0, typeOf(0), std::nullopt);
  }
  if (std::any_of(sizes->begin(), sizes->end(), [](const Dim &one) { return !one.isKnown(); })) {
    return fail(fmt::format("sizes {}", listed(*sizes)));
  }
  if (auto shape = together(*shapeOf(0), *sizes)) {
    set(0, typeOf(0), shape);
  }
  const Integers *asked = knownInput(1);
  if (asked && knownInput(0) && knownInput(0)->size() == 1) {
    if (auto count = elementCount(*asked); count && *count <= mostKeptElements) {
      know(Integers(static_cast<size_t>(*count), (*knownInput(0))[0]));
    }
  }
}

void ShapeRules::pad() {
  auto pads = list("pads", 1);
  if (!pads) {
    pads = list("paddings", 1); // of the oldest files
  }
  if (!shapeOf(0)) {
    return set(0, typeOf(0), std::nullopt);
  }
  Shape shape = *shapeOf(0);
  if (!pads) {
    return set(0, typeOf(0), Shape(shape.size()));
  }
  Integers axes;
  for (size_t i = 0; i < shape.size(); ++i) {
    axes.push_back(static_cast<int64_t>(i));
  }
  if (has(3)) {
    if (!knownInput(3)) {
      return set(0, typeOf(0), Shape(shape.size()));
    }
    axes = *knownInput(3);
  }
  if (pads->size() != 2 * axes.size()) {
    return fail(fmt::format("{} paddings of {} dimensions", pads->size(), axes.size()));
  }
  for (size_t i = 0; i < axes.size(); ++i) {
    auto axis = axisOf(axes[i], shape.size());
    if (!axis) {
      return;
    }
    Dim &dim = shape[*axis];
    int64_t size = 0;
    const bool isSize = dim.isSize() && !__builtin_add_overflow(dim.size, (*pads)[i], &size) &&
                        !__builtin_add_overflow(size, (*pads)[i + axes.size()], &size);
    if (isSize && size < 0) {
      return fail(fmt::format("{} elements of {} are left", size, dim.size));
    }
    dim = isSize ? Dim{size, ""} : Dim{};
  }
  set(0, typeOf(0), shape);
}

void ShapeRules::resize() {
  if (!shapeOf(0)) {
    return set(0, typeOf(0), std::nullopt);
  }
  Shape shape = *shapeOf(0);
  const bool isUpsample = node->op == "Upsample" || model.opset < 11;
  const size_t scalesAt = isUpsample ? 1 : 2;
  std::vector<double> scales;
  if (auto found = node->attributes.find("scales");
      found != node->attributes.end() &&
      std::holds_alternative<std::vector<double>>(found->second)) {
    scales = std::get<std::vector<double>>(found->second);
  } else if (const Tensor *tensor =
                 has(scalesAt) ? model.initialiser(node->inputs[scalesAt]) : nullptr) {
    scales = tensor->floats;
  }
  const Integers *sizes = isUpsample ? nullptr : knownInput(3);
  const Integers *axes = node->integers("axes");
  const size_t count = axes ? axes->size() : shape.size();
  const std::string policy = node->word("keep_aspect_ratio_policy", "stretch");
  const bool keepsAspect = policy != "stretch";
  AspectFactor shared;
  for (size_t i = 0; keepsAspect && sizes && sizes->size() == count && i < count; ++i) {
    auto axis = axisOf(axes ? (*axes)[i] : static_cast<int64_t>(i), shape.size());
    if (!axis || !shape[*axis].isSize() || shape[*axis].size < 1) {
      shared = {};
      break;
    }
    shared.add((*sizes)[i], shape[*axis].size, policy);
  }
  for (size_t i = 0; i < count; ++i) {
    auto axis = axisOf(axes ? (*axes)[i] : static_cast<int64_t>(i), shape.size());
    if (!axis) {
      return;
    }
    Dim &dim = shape[*axis];
    if (sizes && sizes->size() == count && !keepsAspect && (*sizes)[i] >= 0) {
      dim = {(*sizes)[i], ""};
    } else if (shared.isKnown) { // the nearest, of two the larger one
      const __int128 twice = __int128{2} * dim.size * shared.size + shared.length;
      const __int128 size = twice / (__int128{2} * shared.length);
      dim = size >= 0 && size < 1000000000000000 ? Dim{static_cast<int64_t>(size), ""} : Dim{};
    } else if (scales.size() == count && dim.isSize()) {
      const double size = std::floor(static_cast<double>(dim.size) * scales[i]);
      dim = size >= 0 && size < 1e15 ? Dim{static_cast<int64_t>(size), ""} : Dim{};
    } else {
      dim = {};
    }
  }
  set(0, typeOf(0), shape);
}

void ShapeRules::slice() {
  const auto starts = list("starts", 1), ends = list("ends", 2);
  auto axes = list("axes", 3), steps = list("steps", 4);
  if (!shapeOf(0)) {
    return set(0, typeOf(0), std::nullopt);
  }
  Shape shape = *shapeOf(0);
  if (!starts || !ends || (isGiven("axes", 3) && !axes) || (isGiven("steps", 4) && !steps)) {
    return set(0, typeOf(0), Shape(shape.size()));
  }
  const size_t count = starts->size();
  if (!axes) {
    axes.emplace();
    for (size_t i = 0; i < count; ++i) {
      axes->push_back(static_cast<int64_t>(i));
    }
  }
  steps = steps ? steps : Integers(count, 1);
  if (ends->size() != count || axes->size() != count || steps->size() != count) {
    return fail(fmt::format("{} starts, {} ends, {} axes and {} steps", count, ends->size(),
                            axes->size(), steps->size()));
  }
  std::optional<Shape> chosen;
  for (size_t i = 0; i < count; ++i) {
    auto axis = axisOf((*axes)[i], shape.size());
    const int64_t step = (*steps)[i];
    if (!axis) {
      return;
    }
    if (step == 0 || step == INT64_MIN) {
      return fail(fmt::format("a step of {}", step));
    }
    Dim &dim = shape[*axis];
    if (!dim.isSize()) {
      dim = {};
      continue;
    }
    const int64_t size = dim.size;
    if (size == 0) {
      continue;
    }
    const SlicedDim taken = slicedDim(size, (*starts)[i], (*ends)[i], step);
    dim = {taken.count, ""};
    const auto elements = shape.size() == 1 ? sizesIn(0) : std::nullopt;
    if (elements && static_cast<int64_t>(elements->size()) == size) {
      chosen.emplace();
      for (int64_t j = 0; j < dim.size; ++j) {
        chosen->push_back((*elements)[static_cast<size_t>(taken.from + j * step)]);
      }
    }
  }
  set(0, typeOf(0), shape);
  if (chosen) {
    knowSizes(std::move(*chosen));
  }
}

void ShapeRules::split() {
  if (!shapeOf(0) || node->outputs.empty()) {
    return;
  }
  const Shape &shape = *shapeOf(0);
  auto axis = axisOf(node->integer("axis", 0), shape.size());
  if (!axis) {
    return;
  }
  const auto sizes = list("split", 1);
  const auto count = static_cast<int64_t>(node->outputs.size());
  if (sizes && static_cast<int64_t>(sizes->size()) != count) {
    return fail(fmt::format("{} sizes for {} results", sizes->size(), count));
  }
  const Dim whole = shape[*axis];
  int64_t left = whole.size;
  for (size_t i = 0; i < node->outputs.size(); ++i) {
    Shape part = shape;
    const int64_t even = (whole.size + count - 1) / count;
    const int64_t size = sizes ? (*sizes)[i] : std::min(even, left);
    if (whole.isSize() && (size < 0 || size > left)) {
      return fail(fmt::format("a part of {} where {} are left", size, left));
    }
    left -= size;
    part[*axis] = isGiven("split", 1) && !sizes ? Dim{} : whole.isSize() ? Dim{size, ""} : Dim{};
    set(i, typeOf(0), part);
  }
  if (sizes && whole.isSize() && left != 0) {
    fail(fmt::format("sizes [{}] of {}", fmt::join(*sizes, ", "), whole.size));
  }
}

void ShapeRules::tile() {
  const Integers *repeats = knownInput(1);
  if (!shapeOf(0)) {
    return set(0, typeOf(0), std::nullopt);
  }
  Shape shape = *shapeOf(0);
  if (repeats && repeats->size() != shape.size()) {
    return fail(fmt::format("{} repetitions of {}", repeats->size(), text(shape)));
  }
  for (size_t i = 0; i < shape.size(); ++i) {
    int64_t size = 0;
    const bool isSize = repeats && shape[i].isSize() && (*repeats)[i] >= 0 &&
                        !__builtin_mul_overflow(shape[i].size, (*repeats)[i], &size);
    shape[i] = isSize ? Dim{size, ""} : Dim{};
  }
  set(0, typeOf(0), shape);
}

void ShapeRules::transpose() {
  if (!shapeOf(0)) {
    return set(0, typeOf(0), std::nullopt);
  }
  const Shape &shape = *shapeOf(0);
  const Integers *order = node->integers("perm");
  Shape result(shape.rbegin(), shape.rend());
  if (order) {
    result.clear();
    std::set<int64_t> seen;
    for (int64_t axis : *order) {
      if (axis < 0 || axis >= static_cast<int64_t>(shape.size()) || !seen.insert(axis).second) {
        return fail(fmt::format("the order [{}] of {}", fmt::join(*order, ", "), text(shape)));
      }
      result.push_back(shape[static_cast<size_t>(axis)]);
    }
    if (result.size() != shape.size()) {
      return fail(fmt::format("the order [{}] of {}", fmt::join(*order, ", "), text(shape)));
    }
  }
  set(0, typeOf(0), result);
}

} // namespace nereid::importer
