// SPDX-License-Identifier: Apache-2.0
// Images of other sizes as expressions: by the function that definitions have, or one dimension
// after the other, each pixel a sum of its neighbours. Sizes are known then, and places are
// integers over a common denominator: none depends on how a float is rounded.
#include "lib/importer/body/Expressions.h"
#include "lib/importer/shapes/AspectFactor.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <cmath>
#include <numeric>

namespace nereid::importer {
namespace {

/// By how much the dimensions behind the channels grow; all others stay.
bool growsImage(const Shape &from, const Shape &to, bool mayBeUneven) {
  bool isRight =
      from.size() > 2 && from.size() == to.size() && from[0] == to[0] && from[1] == to[1];
  for (size_t i = 2; isRight && i < from.size(); ++i) {
    isRight = from[i].isSize() && to[i].isSize() && from[i].size > 0 && to[i].size > 0 &&
              (mayBeUneven || to[i].size % from[i].size == 0);
  }
  return isRight;
}

/// Those of the model, for the dimensions that `axes` names; none where it gives sizes.
std::vector<double> givenFactors(Expressions &e, bool isUpsample) {
  std::vector<double> factors;
  const size_t input = isUpsample ? 1 : 2;
  auto attribute = e.of().attributes.find("scales");
  if (attribute != e.of().attributes.end() &&
      std::holds_alternative<std::vector<double>>(attribute->second)) {
    factors = std::get<std::vector<double>>(attribute->second);
  } else if (e.of().hasInput(input)) {
    const Tensor *given = e.constant(input);
    const bool isNone = given && given->count() == 0;
    if (!given || (given->floats.empty() && !isNone)) {
      Expressions::fail("has factors that are not known before it runs");
    }
    factors = given->floats;
  }
  return factors;
}

/// Places follow from the factors; definitions find them from the sizes.
bool areExactFactors(Expressions &e, const std::vector<double> &factors) {
  const Shape &from = e.shape(0), &to = e.resultShape();
  bool isExact = factors.empty() || factors.size() == from.size();
  for (size_t i = 0; isExact && i < factors.size(); ++i) {
    const double size = static_cast<double>(from[i].size) * factors[i];
    isExact = !from[i].isSize() || size == static_cast<double>(to[i].size);
  }
  return isExact;
}

/// As definitions have it in one function; "" where they have not.
std::string interpolated(Expressions &e, bool isOld, const std::vector<double> &factors) {
  const Shape &from = e.shape(0), &to = e.resultShape();
  const std::string mode = e.of().word("mode", "nearest");
  const std::string places =
      isOld ? "asymmetric" : e.of().word("coordinate_transformation_mode", "half_pixel");
  const size_t count = from.size() > 2 ? from.size() - 2 : 0;
  const bool isNearest = mode == "nearest";
  if (count < 1 || count > 3 || !growsImage(from, to, !isNearest) || !areExactFactors(e, factors)) {
    return "";
  }
  const std::string size = e.shapeText(Shape(to.begin() + 2, to.end()));
  if (isNearest) {
    // Of whole multiples these agree: the pixel that a place falls into.
    const std::string rounding =
        isOld ? "floor" : e.of().word("nearest_mode", "round_prefer_floor");
    const bool isFloor = places == "asymmetric" && rounding == "floor";
    const bool isMiddle = places == "half_pixel" && rounding.starts_with("round_prefer");
    if (!isFloor && !isMiddle) {
      return "";
    }
    return fmt::format("F.interpolate({}, size={}, mode=\"nearest\")", e.tensor(0), size);
  }
  const bool isCubic = mode == "cubic";
  const bool isCorners = places == "align_corners";
  // The latter reads the first pixel where one is left.
  const bool hasOne =
      std::any_of(to.begin() + 2, to.end(), [](const Dim &one) { return one == Dim{1, ""}; });
  const bool isCenters = places == "half_pixel" || (places == "pytorch_half_pixel" && !hasOne);
  const bool isKnown =
      mode == "linear" ||
      (isCubic && count == 2 && std::abs(e.of().real("cubic_coeff_a", -0.75) + 0.75) < 1e-6 &&
       e.of().integer("exclude_outside", 0) == 0);
  if (!isKnown || (!isCorners && !isCenters) || e.of().integer("antialias", 0) != 0) {
    return "";
  }
  const char *names[] = {"linear", "bilinear", "trilinear"};
  return fmt::format("F.interpolate({}, size={}, mode=\"{}\", align_corners={})", e.tensor(0), size,
                     isCubic ? "bicubic" : names[count - 1], isCorners ? "True" : "False");
}

/// A number over another one, which is above 0, in lowest terms.
struct Fraction {
  int64_t over = 0, under = 1;
};

/// Of products that would not fit into an index, and a sum of as many as an image has.
constexpr __int128 mostExact = __int128{1} << 56;

Fraction reduced(__int128 over, __int128 under) {
  const auto magnitude = [](__int128 one) { return one < 0 ? -one : one; };
  __int128 a = magnitude(over), b = magnitude(under);
  while (b != 0) {
    const __int128 rest = a % b;
    a = b;
    b = rest;
  }
  a = a == 0 ? 1 : under < 0 ? -a : a;
  over /= a;
  under /= a;
  if (under == 0 || magnitude(over) > mostExact || under > mostExact) {
    Expressions::fail("has places that are no short fractions");
  }
  return {static_cast<int64_t>(over), static_cast<int64_t>(under)};
}
Fraction operator*(Fraction a, Fraction b) {
  return reduced(__int128{a.over} * b.over, __int128{a.under} * b.under);
}
Fraction operator/(Fraction a, Fraction b) {
  return reduced(__int128{a.over} * b.under, __int128{a.under} * b.over);
}
Fraction operator+(Fraction a, Fraction b) {
  return reduced(__int128{a.over} * b.under + __int128{b.over} * a.under,
                 __int128{a.under} * b.under);
}
Fraction operator-(Fraction a, Fraction b) { return a + Fraction{-b.over, b.under}; }

/// A float is a fraction.
Fraction exactly(double value) {
  int exponent = 0;
  const double mantissa = std::frexp(value, &exponent);
  exponent -= 53;
  auto over = static_cast<int64_t>(std::ldexp(mantissa, 53));
  while (over != 0 && over % 2 == 0) {
    over /= 2;
    ++exponent;
  }
  if (!std::isfinite(value) || exponent > 40 || exponent < -55) {
    Expressions::fail(fmt::format("has the factor {}", value));
  }
  return exponent < 0 ? reduced(over, __int128{1} << -exponent)
                      : reduced(__int128{over} << exponent, 1);
}

/// How one dimension gets another size.
struct Axis {
  size_t dimension = 0;
  int64_t from = 0, to = 0;
  Fraction factor, begin, end = {1, 1}; ///< of the region, in parts of the dimension
};

/// Where the pixel that is asked for lies: `step` pixels behind the one before, the first at
/// `first`.
struct Line {
  Fraction step, first;
};

Line lineOf(const std::string &places, const Axis &axis) {
  const Fraction one = {1, 1}, half = {1, 2}, last = {axis.from - 1, 1}, pixel = one / axis.factor;
  const Fraction length = axis.factor * Fraction{axis.from, 1};
  const bool isOne = length.over == length.under;
  if (places == "align_corners") {
    return isOne ? Line{{0, 1}, {0, 1}} : Line{last / (length - one), {0, 1}};
  }
  if (places == "asymmetric") {
    return {pixel, {0, 1}};
  }
  if (places == "tf_crop_and_resize") {
    const Fraction region = (axis.end - axis.begin) * last;
    return isOne ? Line{{0, 1}, region * half + axis.begin * last}
                 : Line{region / (length - one), axis.begin * last};
  }
  if (places == "pytorch_half_pixel" && isOne) {
    return {{0, 1}, {-1, 2}};
  }
  const Line line = {pixel, half * pixel - half};
  if (places == "half_pixel" || places == "pytorch_half_pixel") {
    return line;
  }
  if (places == "half_pixel_symmetric") {
    const Fraction share = Fraction{axis.to, 1} / length;
    return {pixel, line.first + Fraction{axis.from, 2} * (one - share)};
  }
  Expressions::fail(fmt::format("finds its pixels by '{}'", places));
}

/// One dimension of an image, pixel by pixel.
class Resized {
public:
  Resized(Expressions &e, const Axis &axis, const std::string &places) : e(e), axis(axis) {
    const Line line = lineOf(places, axis);
    const Fraction common = Fraction{1, line.step.under} * Fraction{1, line.first.under};
    under = std::lcm(line.step.under, line.first.under);
    step = line.step.over * (under / line.step.under);
    first = line.first.over * (under / line.first.under);
    (void)common; // fails where the product is too long
    (void)reduced(__int128{step} * axis.to + first, 1);
  }

  /// The pixel that its place is rounded to.
  std::string nearest(const std::string &x, const std::string &rounding) {
    const std::string place = placeText();
    const std::string index =
        rounding == "floor"  ? fmt::format("({}) // {}", place, under)
        : rounding == "ceil" ? fmt::format("-((-({})) // {})", place, under)
        : rounding == "round_prefer_ceil"
            ? fmt::format("(2 * ({}) + {}) // {}", place, under, 2 * under)
            : fmt::format("-(({} - 2 * ({})) // {})", under, place, 2 * under);
    return read(x, inside(index));
  }

  /// The sum of all neighbours that the filter reaches.
  std::string filtered(const std::string &x, const std::string &mode) {
    const bool isCubic = mode == "cubic";
    const bool isSmoothed =
        e.of().integer("antialias", 0) != 0 && axis.factor.over < axis.factor.under;
    const bool isInside = e.of().integer("exclude_outside", 0) != 0;
    const std::string place = e.step("place", placeText());
    const std::string floor = e.step("floor", fmt::format("{} // {}", place, under));
    const std::string rest = e.step(
        "rest", fmt::format("({} - {} * {}).to({}) / {}.0", place, floor, under, type(), under));
    const double scale =
        isSmoothed ? static_cast<double>(axis.factor.over) / static_cast<double>(axis.factor.under)
                   : 1.0;
    const auto reach = static_cast<int64_t>(std::ceil((isCubic ? 2 : 1) / scale));
    if (reach > 16) {
      Expressions::fail("takes each pixel from more than 32 neighbours");
    }
    std::vector<std::string> weights, pixels;
    for (int64_t i = 1 - reach; i <= reach; ++i) {
      const std::string index = e.step("index", fmt::format("{} + ({})", floor, i));
      std::string weight = weightOf(
          e.step("away", fmt::format("torch.abs({} - {}.0) * {}", rest, i, numberText(scale))),
          isCubic);
      if (isInside) {
        weight = fmt::format("torch.where(({0} >= 0) & ({0} < {1}), {2}, 0.0)", index, axis.from,
                             weight);
      }
      weights.push_back(e.step("weight", weight));
      pixels.push_back(read(x, inside(index)));
    }
    const bool isShared = isSmoothed || isInside;
    const std::string sum =
        isShared ? e.step("sum", fmt::format("{}", fmt::join(weights, " + "))) : "";
    std::string total;
    for (size_t i = 0; i < weights.size(); ++i) {
      const std::string share = isShared ? fmt::format("({} / {})", weights[i], sum) : weights[i];
      total += fmt::format("{}{} * {}", i > 0 ? " + " : "", pixels[i], along(share));
    }
    return total;
  }

  /// Where the place lies outside of the image, a number instead.
  std::string bounded(const std::string &x, double outside) {
    const std::string place = e.step("place", placeText());
    return fmt::format(
        "torch.where({}, {}, {})",
        along(fmt::format("(({0} < 0) | ({0} > {1}))", place, (axis.from - 1) * under)),
        numberText(outside), x);
  }

private:
  std::string placeText() const {
    return fmt::format("torch.arange({}) * {} + ({})", axis.to, step, first);
  }
  std::string inside(const std::string &index) const {
    return fmt::format("torch.clamp({}, 0, {})", index, axis.from - 1);
  }
  std::string read(const std::string &x, const std::string &index) {
    return e.step("pixels", fmt::format("torch.index_select({}, {}, {})", x, axis.dimension,
                                        e.step("at", index)));
  }
  std::string type() const {
    return e.type(0) == ElementType::of(DType::F64) ? "torch.float64" : "torch.float32";
  }
  /// With the dimensions that follow.
  std::string along(const std::string &text) const {
    std::string index;
    for (size_t i = axis.dimension + 1; i < e.shape(0).size(); ++i) {
      index += ", None";
    }
    return index.empty() ? text : fmt::format("{}[:{}]", text, index);
  }

  /// Of a neighbour that is `away`: a hat, or two cubic pieces.
  std::string weightOf(const std::string &away, bool isCubic) const {
    if (!isCubic) {
      return fmt::format("torch.clamp(1.0 - {}, min=0.0)", away);
    }
    const double a = e.of().real("cubic_coeff_a", -0.75);
    const std::string inner = fmt::format("(({1} * {0} + {2}) * {0} * {0} + 1.0)", away,
                                          numberText(a + 2), numberText(-a - 3)),
                      outer = fmt::format("((({1} * {0} + {2}) * {0} + {3}) * {0} + {4})", away,
                                          numberText(a), numberText(-5 * a), numberText(8 * a),
                                          numberText(-4 * a));
    return fmt::format("torch.where({0} <= 1.0, {1}, torch.where({0} < 2.0, {2}, 0.0))", away,
                       inner, outer);
  }

  Expressions &e;
  const Axis &axis;
  int64_t step = 0, first = 0, under = 1;
};

/// The dimensions that change, or that a region is taken of.
std::vector<Axis> axesOf(Expressions &e, const std::vector<double> &factors, bool isRegion) {
  const Shape &from = e.shape(0), &to = e.resultShape();
  std::vector<int64_t> axes;
  if (const auto *given = e.of().integers("axes")) {
    for (const int64_t one : *given) {
      axes.push_back(e.axis(one, from.size()));
    }
  } else {
    axes.resize(from.size());
    std::iota(axes.begin(), axes.end(), 0);
  }
  const Tensor *region = isRegion ? e.constant(1) : nullptr;
  if (isRegion && (!region || region->floats.size() != 2 * axes.size())) {
    Expressions::fail("has a region that is not known before it runs");
  }
  const std::string policy = e.of().word("keep_aspect_ratio_policy", "stretch");
  const auto sizes = factors.empty() ? e.integers("sizes", 3) : std::nullopt;
  AspectFactor shared;
  std::vector<Axis> made;
  for (size_t i = 0; i < axes.size(); ++i) {
    const auto dimension = static_cast<size_t>(axes[i]);
    if (from[dimension] == to[dimension] && !from[dimension].isSize() && !isRegion &&
        (factors.empty() || factors[i] == 1)) {
      continue;
    }
    if (!from[dimension].isSize() || !to[dimension].isSize() || from[dimension].size < 1 ||
        to[dimension].size < 1) {
      Expressions::fail("makes another size of a dimension whose size is open or 0");
    }
    Axis axis{dimension, from[dimension].size, to[dimension].size, {}, {}, {1, 1}};
    axis.factor = factors.empty() ? reduced(axis.to, axis.from) : exactly(factors[i]);
    if (region) {
      axis.begin = exactly(region->floats[i]);
      axis.end = exactly(region->floats[i + axes.size()]);
    }
    if (policy != "stretch" && sizes && sizes->size() == axes.size()) {
      shared.add((*sizes)[i], axis.from, policy);
    }
    made.push_back(axis);
  }
  for (Axis &axis : made) {
    axis.factor = shared.isKnown ? reduced(shared.size, shared.length) : axis.factor;
  }
  std::erase_if(made, [](const Axis &axis) { // as it is
    return axis.factor.over == axis.factor.under && axis.from == axis.to && axis.begin.over == 0 &&
           axis.end.over == axis.end.under;
  });
  return made;
}

std::string resize(Expressions &e) {
  const bool isOld = e.of().op == "Upsample" || e.opset() < 11;
  const std::string mode = e.of().word("mode", "nearest");
  const std::string places =
      isOld ? "asymmetric" : e.of().word("coordinate_transformation_mode", "half_pixel");
  const std::vector<double> factors = givenFactors(e, isOld);
  if (std::string text = interpolated(e, isOld, factors); !text.empty()) {
    return text;
  }
  const bool isNearest = mode == "nearest", isRegion = places == "tf_crop_and_resize";
  const auto dtype = e.type(0).dtype();
  if ((!isNearest && (!dtype || !isFloat(*dtype))) ||
      (mode != "cubic" && mode != "linear" && !isNearest)) {
    Expressions::fail(
        fmt::format("finds its pixels by '{}' in an image of {}", mode, e.type(0).name()));
  }
  const std::string rounding = isOld ? "floor" : e.of().word("nearest_mode", "round_prefer_floor");
  std::string x = e.tensor(0);
  for (const Axis &axis : axesOf(e, factors, isRegion)) {
    Resized resized(e, axis, places);
    x = e.step("resized", isNearest ? resized.nearest(x, rounding) : resized.filtered(x, mode));
    if (isRegion) {
      x = e.step("bounded", resized.bounded(x, e.of().real("extrapolation_value", 0)));
    }
  }
  const bool isWide = dtype == DType::F32 || dtype == DType::F64;
  return isNearest || isWide ? x : fmt::format("{}.to({})", x, typeText(e.type(0)));
}

} // namespace

const RuleTable &resizeRules() {
  static const RuleTable rules = {{"resize", resize}};
  return rules;
}

} // namespace nereid::importer
