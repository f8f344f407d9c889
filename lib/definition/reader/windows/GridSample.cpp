// SPDX-License-Identifier: Apache-2.0
// Images read at points between their pixels: the points become places in float32 at least, places
// become neighbours and weights, and neighbours are read at indices.
#include "lib/definition/reader/windows/BodyWindows.h"
#include "lib/definition/reader/windows/Ratio.h"

#include <fmt/format.h>

#include <algorithm>

namespace nereid::definition {
namespace {

class GridSample {
public:
  explicit GridSample(WrittenCall &call) : call(call) {}

  Value run() {
    const Value x = call.operand("input"), grid = x ? call.operand("grid") : x;
    if (!grid || !readArguments() || !checkShapes(*x, *grid)) {
      return std::nullopt;
    }
    // What is so far away is where it was, and no product of it leaves the range of float32.
    const double farthest = padding == "reflection" ? 0x1p100 : 0x1p20;
    const Value points =
        call.apply("clamp", {call.widened(grid), call.number(-farthest), call.number(farthest)});
    std::vector<Neighbours> sides;
    for (size_t side = 0; side < sideCount; ++side) { // x, the last dimension, is the first number
      const Value number = call.squeezed(
          call.narrowed(points, -1, static_cast<int64_t>(sideCount - 1 - side), 1), -1);
      const SizePolynomial size = call.size(*x, static_cast<int64_t>(side) + 2);
      sides.push_back(neighbours(placeOf(number, size), size));
    }
    return call.failed() ? std::nullopt : call.castTo(sampled(*x, *grid, sides), *x);
  }

private:
  /// Along one side: index, weight and whether the index lies in the image, of each neighbour.
  struct Neighbour {
    Value index, weight, isInside;
  };
  using Neighbours = std::vector<Neighbour>;

  bool readArguments() {
    const auto modeWord = call.word("mode"), paddingWord = call.word("padding_mode");
    const auto corners = call.flag("align_corners");
    if (!modeWord || !paddingWord || !corners) {
      return false;
    }
    isNearest = *modeWord == "nearest";
    isCubic = *modeWord == "bicubic";
    perSide = isNearest ? 1 : isCubic ? 4 : 2;
    padding = *paddingWord;
    areCorners = *corners;
    if (!isNearest && !isCubic && *modeWord != "bilinear") {
      call.fail(
          "E0608",
          fmt::format("'grid_sample' has the modes \"bilinear\", \"nearest\" and \"bicubic\", "
                      "but got \"{}\"",
                      *modeWord),
          "of volumes \"bilinear\" goes between 8 neighbours");
      return false;
    }
    if (padding != "zeros" && padding != "border" && padding != "reflection") {
      call.fail("E0608",
                fmt::format("'padding_mode' of 'grid_sample' expects \"zeros\", \"border\" or "
                            "\"reflection\", but got \"{}\"",
                            padding),
                "it says what lies beyond the edges");
      return false;
    }
    return true;
  }

  bool checkShapes(int x, int grid) {
    const size_t rank = call.rank(x);
    sideCount = rank - std::min<size_t>(2, rank);
    const bool isOpen = call.isOpen(x) || call.isOpen(grid);
    if (isOpen || (rank != 4 && rank != 5) || call.rank(grid) != rank ||
        call.size(grid, 0) != call.size(x, 0) ||
        call.size(grid, -1) != SizePolynomial(static_cast<int64_t>(sideCount))) {
      call.fail("E0604",
                "'grid_sample' expects images of [N, C, H, W] and points of [N, P, Q, 2], or "
                "volumes and points with a dimension more and 3 numbers",
                "a point is x, y and perhaps z, from -1 to 1");
      return false;
    }
    if (isCubic && sideCount != 2) {
      call.fail("E0608", "'grid_sample' has no \"bicubic\" of volumes, as in PyTorch",
                "\"bilinear\" and \"nearest\" sample volumes");
      return false;
    }
    return call.expectFloats(x) && call.expectFloats(grid);
  }

  /// -1 and 1 are the middles of the pixels at the ends, or the ends of the image.
  Value placeOf(Value point, const SizePolynomial &size) {
    const Value sum = call.apply("add", {point, call.number(1)});
    Value place = areCorners ? call.apply("mul", {sum, call.sizeNumber(size - 1)})
                             : call.apply("sub", {call.apply("mul", {sum, call.sizeNumber(size)}),
                                                  call.integerNumber(1)});
    place = call.apply("mul", {place, call.number(0.5)});
    if (padding == "zeros") { // what is far outside is so far that no neighbour lies in the image
      const int64_t reach = isCubic ? 3 : 2;
      const Value isNear = call.apply(
          "logical_and", {call.apply("gt", {place, call.number(static_cast<double>(-reach))}),
                          call.apply("lt", {place, call.sizeNumber(size + (reach - 1))})});
      return call.apply("where",
                        {isNear, place, call.number(static_cast<double>(isCubic ? -4 : -2))});
    }
    if (isCubic) { // its neighbours are brought into the image, not the place
      return call.apply("where", {call.apply("isnan", {place}), call.number(0), place});
    }
    place = padding == "reflection" ? reflected(place, size) : place;
    const Value number = call.apply("where", {call.apply("isnan", {place}), call.number(0), place});
    return call.apply("clamp", {number, call.number(0), call.sizeNumber(size - 1)});
  }

  /// At the middles of the pixels at the ends, or at the ends of the image. Of one pixel nothing is
  /// left but NaN, which becomes its place.
  Value reflected(Value place, const SizePolynomial &size) {
    const SizePolynomial span = areCorners ? size - 1 : size;
    if (span == SizePolynomial(0)) {
      return place;
    }
    const double low = areCorners ? 0 : -0.5;
    const Value beyond = call.apply(
        "remainder", {call.apply("sub", {place, call.number(low)}), call.sizeNumber(span * 2)});
    const Value away = call.apply("abs", {call.apply("sub", {beyond, call.sizeNumber(span)})});
    return call.apply("add", {call.apply("rsub", {away, call.sizeNumber(span)}), call.number(low)});
  }

  Neighbours neighbours(Value place, const SizePolynomial &size) {
    const Value low = call.apply(isNearest ? "round" : "floor", {place});
    if (isCubic) {
      return fourNeighbours(place, low, size);
    }
    const Value number = call.apply("to_int64", {low});
    if (isNearest) {
      return {neighbour(number, std::nullopt, size)};
    }
    const Value share = call.apply("sub", {place, low});
    return {neighbour(number, call.apply("rsub", {share, call.number(1)}), size),
            neighbour(call.apply("add", {number, call.integerNumber(1)}), share, size)};
  }

  Neighbours fourNeighbours(Value place, Value low, const SizePolynomial &size) {
    const Value share = call.apply("sub", {place, low});
    Neighbours four;
    for (int64_t i = -1; i <= 2; ++i) {
      const Value distance =
          call.apply("abs", {call.apply("sub", {share, call.number(static_cast<double>(i))})});
      const Value weight = cubicOf(call, distance, call.apply("le", {distance, call.number(1)}));
      Value number = call.apply("add", {low, call.number(static_cast<double>(i))});
      if (padding != "zeros") {
        number = padding == "reflection" ? reflected(number, size) : number;
        const Value known =
            call.apply("where", {call.apply("isnan", {number}), call.number(0), number});
        number = call.apply("clamp", {known, call.number(0), call.sizeNumber(size - 1)});
      }
      four.push_back(neighbour(call.apply("to_int64", {number}), weight, size));
    }
    return four;
  }

  Neighbour neighbour(Value number, Value weight, const SizePolynomial &size) {
    const Value last = call.sizeNumber(size - 1), first = call.integerNumber(0);
    const Value isInside = call.apply(
        "logical_and", {call.apply("ge", {number, first}), call.apply("le", {number, last})});
    const Value index = call.apply("minimum", {call.apply("maximum", {number, first}), last});
    return {index, weight, isInside};
  }

  /// The sum over the neighbours of all sides. Channels are the last dimension until the end.
  Value sampled(int x, int grid, const std::vector<Neighbours> &sides) {
    const auto rank = static_cast<int64_t>(call.rank(x));
    std::vector<int64_t> toLast = {0}, back = {0, rank - 1};
    for (int64_t dim = 2; dim < rank; ++dim) {
      toLast.push_back(dim);
      back.push_back(dim - 1);
    }
    toLast.push_back(1);
    const Value table = call.permuted(x, toLast);
    const Value image = call.along(call.positions(call.size(grid, 0)), 1 - rank);
    size_t count = 1;
    for (size_t side = 0; side < sideCount; ++side) {
      count *= perSide;
    }
    Value sum;
    for (size_t number = 0; number < count; ++number) {
      std::vector<Value> indices = {image};
      Value weight, isInside;
      for (size_t side = 0, rest = number, behind = count / perSide; side < sideCount;
           ++side, rest %= behind, behind = std::max<size_t>(behind / perSide, 1)) {
        const Neighbour &each = sides[side][rest / behind];
        indices.push_back(each.index);
        weight = weight ? call.apply("mul", {weight, each.weight}) : each.weight;
        isInside = isInside ? call.apply("logical_and", {isInside, each.isInside}) : each.isInside;
      }
      Value part = call.readAt(table, indices);
      part = isNearest ? part : call.apply("mul", {part, call.unsqueezed(weight, -1)});
      part = call.apply("where", {call.unsqueezed(isInside, -1), part, call.number(0)});
      sum = sum ? call.apply("add", {sum, part}) : part;
    }
    return call.permuted(sum, back);
  }

  WrittenCall &call;
  bool isNearest = false, isCubic = false, areCorners = false;
  size_t perSide = 2; ///< neighbours
  std::string padding;
  size_t sideCount = 2;
};

} // namespace

Value gridSample(WrittenCall &call) { return GridSample(call).run(); }

} // namespace nereid::definition
