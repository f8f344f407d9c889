// SPDX-License-Identifier: Apache-2.0
// Nodes that read and write at indices of several dimensions, one-hot vectors and images that are
// sampled at places, as expressions.
#include "lib/importer/body/Expressions.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>

namespace nereid::importer {
namespace {

/// Indices whose last dimension holds a place in so many dimensions of data.
class Places {
public:
  /// `first`: of the dimensions that they lead into.
  Places(Expressions &e, size_t first) : e(e), first(first) {
    const Shape &indices = e.shape(1), &data = e.shape(0);
    if (indices.empty() || !indices.back().isSize()) {
      Expressions::fail("has places in a number of dimensions that is not known");
    }
    depth = static_cast<size_t>(indices.back().size);
    if (depth < 1 || first + depth > data.size()) {
      Expressions::fail(fmt::format("has places in {} dimensions of {}", depth, text(data)));
    }
    longest = data[first];
    for (size_t i = 0; i < depth; ++i) {
      const Dim &dim = data[first + i];
      isEven = isEven && dim == data[first];
      if (dim != data[first] && (!dim.isSize() || !longest.isSize())) {
        Expressions::fail("has places in dimensions of different open sizes");
      }
      longest = dim.size > longest.size ? dim : longest;
    }
  }

  size_t count() const { return depth; }
  const Dim &extent() const { return longest; }

  /// Each component; `distinct` as ranges have it. One range is said of all of them: with unlike
  /// sizes each is taken modulo its own, which changes no index that is right.
  std::vector<std::string> components(int64_t distinct, bool mayBeNegative) const {
    const std::string indices = e.indices(1, longest, true, distinct);
    std::vector<std::string> parts;
    for (size_t i = 0; i < depth; ++i) {
      std::string part = fmt::format("torch.select({}, -1, {})", indices, i);
      if (!isEven || !mayBeNegative) {
        part = fmt::format("torch.remainder({}, {})", part, e.sizeText(e.shape(0)[first + i]));
      }
      parts.push_back(e.step("at", part));
    }
    return parts;
  }

private:
  Expressions &e;
  size_t first, depth = 0;
  bool isEven = true;
  Dim longest;
};

std::string gatherNd(Expressions &e) {
  const int64_t batches = e.of().integer("batch_dims", 0);
  const Shape &indices = e.shape(1);
  if (batches < 0 || static_cast<size_t>(batches) + 1 > indices.size()) {
    Expressions::fail(fmt::format("shares {} dimensions with its indices", batches));
  }
  const Places places(e, static_cast<size_t>(batches));
  const std::string x = e.tensor(0);
  std::vector<std::string> parts;
  for (size_t i = 0; i < static_cast<size_t>(batches); ++i) { // its own place in each of these
    parts.push_back(e.places(indices[i], indices.size() - 2 - i));
  }
  const auto components = places.components(0, true);
  parts.insert(parts.end(), components.begin(), components.end());
  return fmt::format("{}[{}]", x, fmt::join(parts, ", "));
}

/// The dimension of the places along which they differ, where one input can promise that: 0 when
/// several dimensions have places, or one has more of them than the data.
int64_t distinctDimension(const Shape &indices, const Dim &extent) {
  int64_t found = 0;
  for (size_t i = 0; i + 1 < indices.size(); ++i) {
    if (indices[i] == Dim{1, ""}) {
      continue;
    }
    if (found != 0 || (extent.isSize() && indices[i].size > extent.size)) {
      return 0;
    }
    found = static_cast<int64_t>(i) - static_cast<int64_t>(indices.size());
  }
  return found == 0 ? -2 : found;
}

/// By rows: the places count as one number, what lies behind them is a row.
std::string scatteredRows(Expressions &e, const Places &places, const std::string &how) {
  const Shape &data = e.shape(0), &indices = e.shape(1);
  std::string row;
  const auto components = places.components(0, false);
  for (size_t i = 0; i < components.size(); ++i) {
    const std::string outer = i > 1 ? "(" + row + ")" : row;
    row = i == 0 ? components[i]
                 : fmt::format("{} * {} + {}", outer, e.sizeText(data[i]), components[i]);
  }
  const std::string rows = e.productText(data, 0, places.count()),
                    columns = e.productText(data, places.count(), data.size()),
                    count = e.productText(indices, 0, indices.size() - 1);
  const std::string index =
      e.step("rows", fmt::format("torch.broadcast_to(torch.reshape({}, ({}, 1)), ({}, {}))", row,
                                 count, count, columns));
  const std::string name = how == "mul" ? "prod" : how == "min" ? "amin" : "amax";
  return fmt::format("torch.reshape(torch.scatter_reduce(torch.reshape({}, ({}, {})), 0, {}, "
                     "torch.reshape({}, ({}, {})), reduce=\"{}\"{}), {})",
                     e.tensor(0), rows, columns, index, e.tensor(2), count, columns, name,
                     how == "none" ? ", include_self=False" : "", e.shapeText(data));
}

std::string scatterNd(Expressions &e) {
  const std::string how = e.of().word("reduction", "none");
  e.useAll();
  const Places places(e, 0);
  if (e.shape(1).size() < 2) {
    Expressions::fail("has a single place, not a list of them");
  }
  const int64_t distinct = how == "none" ? distinctDimension(e.shape(1), places.extent()) : 0;
  // Where no input can promise that none comes twice, the largest of what meets stays.
  if (how != "add" && (how != "none" || distinct == 0)) {
    return scatteredRows(e, places, how);
  }
  const std::string x = e.tensor(0), at = tupleText(places.components(distinct, true));
  return fmt::format("torch.index_put({}, {}, {}{})", x, at, e.tensor(2),
                     how == "add" ? ", accumulate=True" : "");
}

/// One dimension of a tensor as the only one that is not 1, of `rank`: to broadcast with others.
std::string along(Expressions &e, const std::string &text, const Dim &size, size_t dim,
                  size_t rank) {
  Shape shape(rank, {1, ""});
  shape[dim] = size;
  return fmt::format("torch.reshape({}, {})", text, e.shapeText(shape));
}

/// The first elements of each line in the other order, as many as its length says.
std::string reverseSequence(Expressions &e) {
  const Shape &shape = e.shape(0);
  const auto time = static_cast<size_t>(e.axis(e.of().integer("time_axis", 0), shape.size())),
             batch = static_cast<size_t>(e.axis(e.of().integer("batch_axis", 1), shape.size()));
  e.useAll();
  const std::string size = e.sizeText(shape[time]);
  const std::string lengths = e.step(
      "lengths", along(e, e.within(1, "0", size + " + 1"), shape[batch], batch, shape.size()));
  const std::string places = e.step(
      "places", along(e, fmt::format("torch.arange({})", size), shape[time], time, shape.size()));
  const std::string from =
      fmt::format("torch.where({0} < {1}, {1} - 1 - {0}, {0})", places, lengths);
  return fmt::format("torch.gather({}, {}, torch.broadcast_to({}, {}))", e.tensor(0), time, from,
                     e.shapeText(shape));
}

/// A piece of a cache anew, from a place of its own in each batch.
std::string tensorScatter(Expressions &e) {
  const Shape &cache = e.shape(0), &update = e.shape(1);
  const auto dim = static_cast<size_t>(e.axis(e.of().integer("axis", -2), cache.size()));
  if (dim == 0 || update.size() != cache.size()) {
    Expressions::fail("expects a cache and a piece of it, along another dimension than the first");
  }
  e.useAll();
  const bool isCircular = e.of().word("mode", "linear") == "circular";
  const std::string size = e.sizeText(cache[dim]), count = e.sizeText(update[dim]);
  std::string places =
      along(e, fmt::format("torch.arange({})", count), update[dim], dim, cache.size());
  if (e.of().hasInput(2)) {
    const std::string from =
        e.within(2, "0", isCircular ? size : fmt::format("{} - {} + 1", size, count));
    places = fmt::format("{} + {}", places, along(e, from, cache[0], 0, cache.size()));
  }
  places = isCircular ? fmt::format("torch.remainder({}, {})", places, size) : places;
  places = e.step("places", places);
  return fmt::format("torch.scatter({}, {}, torch.broadcast_to({}, {}), {})", e.tensor(0), dim,
                     places, e.shapeText(update), e.tensor(1));
}

/// One of two values at the index of each element, the other elsewhere; indices that lead nowhere
/// have the other one everywhere.
std::string oneHot(Expressions &e) {
  const Shape &result = e.resultShape();
  const auto axis = static_cast<size_t>(e.axis(e.of().integer("axis", -1), result.size()));
  const std::string places = e.places(result[axis], result.size() - axis - 1);
  const auto dtype = e.type(0).dtype();
  const bool isUnsigned = dtype && !isFloat(*dtype) && !isSignedInteger(*dtype);
  std::string index = fmt::format("torch.unsqueeze({}, {})", e.tensor(0), axis);
  if (!isUnsigned) {
    index = e.step("index", index);
    index = fmt::format("torch.where({0} < 0, {0} + {1}, {0})", index, e.sizeText(result[axis]));
  }
  std::string values[2];
  const Tensor *known = e.constant(2);
  for (size_t i = 0; i < 2; ++i) {
    if (known && known->floats.size() == 2) {
      values[i] = numberText(known->floats[i]);
    } else if (known && known->integers.size() == 2) {
      values[i] = fmt::format("({})", known->integers[i]);
    } else {
      values[i] = fmt::format("torch.select({}, 0, {})", e.tensor(2), i);
    }
  }
  const std::string text =
      fmt::format("torch.where({} == {}, {}, {})", index, places, values[1], values[0]);
  // Of two numbers the type is not that of the values.
  return known ? fmt::format("{}.to({})", text, typeText(e.resultType())) : text;
}

/// The places of an image's pixels after a linear map.
std::string affineGrid(Expressions &e) {
  const auto size = e.integers("size", 1);
  if (!size) {
    Expressions::fail("expects the sizes of an image");
  }
  return fmt::format("F.affine_grid({}, ({}), align_corners={})", e.tensor(0),
                     fmt::join(*size, ", "),
                     e.of().integer("align_corners", 0) != 0 ? "True" : "False");
}

/// An image at places that a grid has.
std::string gridSample(Expressions &e) {
  std::string mode = e.of().word("mode", e.opset() < 20 ? "bilinear" : "linear");
  const size_t rank = e.shape(0).size();
  if (rank != 4 && rank != 5) {
    Expressions::fail(fmt::format("goes over an image of {} dimensions, and definitions know 2 "
                                  "and 3",
                                  rank > 2 ? rank - 2 : 0));
  }
  mode = mode == "linear" ? "bilinear" : mode;
  mode = mode == "cubic" ? "bicubic" : mode;
  if (mode != "bilinear" && mode != "nearest" && (mode != "bicubic" || rank != 4)) {
    Expressions::fail(fmt::format("finds its pixels by '{}'", mode));
  }
  const std::string x = e.tensor(0), grid = e.tensor(1);
  return fmt::format("F.grid_sample({}, {}, mode=\"{}\", padding_mode=\"{}\", align_corners={})", x,
                     grid, mode, e.attributeText("padding_mode", "zeros"),
                     e.of().integer("align_corners", 0) != 0 ? "True" : "False");
}

} // namespace

const RuleTable &placeRules() {
  static const RuleTable rules = {
      {"affineGrid", affineGrid},           {"gatherNd", gatherNd},
      {"gridSample", gridSample},           {"oneHot", oneHot},
      {"reverseSequence", reverseSequence}, {"scatterNd", scatterNd},
      {"tensorScatter", tensorScatter},
  };
  return rules;
}

} // namespace nereid::importer
