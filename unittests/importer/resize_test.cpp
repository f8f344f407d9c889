// SPDX-License-Identifier: Apache-2.0
// Images of other sizes than one function of definitions makes, and windows whose elements lie
// apart: by loops over pixels, written here.
#include "unittests/importer/Computed.h"

#include <algorithm>
#include <cmath>

namespace nereid::importer {
namespace {

/// One line of an image, of `from` pixels, as one of `to`.
ModelMaker line(int64_t from, int64_t to, const std::string &mode, const std::string &places) {
  ModelMaker maker(19);
  maker.input("x", {1, 2, from}).integers("sizes", {1, 2, to});
  maker.node("Resize", {"x", "", "", "sizes"}, {"y"});
  return maker.word("mode", mode).word("coordinate_transformation_mode", places).output("y");
}

Filled lines(const Filled &x, int64_t to,
             const std::function<double(const float *, int64_t)> &pixel) {
  Filled y = {{1, 2, to}, {}};
  for (int64_t c = 0; c < 2; ++c) {
    for (int64_t o = 0; o < to; ++o) {
      y.elements.push_back(static_cast<float>(pixel(x.elements.data() + c * x.shape[2], o)));
    }
  }
  return y;
}

double hat(double away) { return std::max(1 - std::abs(away), 0.0); }
double cubic(double away, double a) {
  const double d = std::abs(away);
  return d <= 1  ? ((a + 2) * d - (a + 3)) * d * d + 1
         : d < 2 ? ((a * d - 5 * a) * d + 8 * a) * d - 4 * a
                 : 0;
}

/// The sum over all pixels near a place; those outside are the last ones, or do not count.
double filtered(const float *x, int64_t size, double place, double scale, bool isInside,
                const std::function<double(double)> &weight) {
  double sum = 0, all = 0;
  for (int64_t i = -20; i < size + 20; ++i) {
    const bool isOutside = i < 0 || i >= size;
    const double share =
        isInside && isOutside ? 0 : weight((place - static_cast<double>(i)) * scale);
    sum += share * x[std::clamp<int64_t>(i, 0, size - 1)];
    all += share;
  }
  return sum / all;
}

TEST(ImportedResizes, NearestPixelsOfAnySize) {
  const Filled x = counted({1, 2, 7});
  for (const std::string rounding : {"floor", "ceil", "round_prefer_floor", "round_prefer_ceil"}) {
    for (const int64_t to : {3, 5, 11}) {
      ModelMaker maker = line(7, to, "nearest", "half_pixel");
      maker.word("nearest_mode", rounding);
      SCOPED_TRACE(rounding);
      expectComputed(maker, {x}, {lines(x, to, [&](const float *row, int64_t o) {
                       // ((2 o + 1) 7 - to) / (2 to), without a rounding
                       const int64_t over = (2 * o + 1) * 7 - to, under = 2 * to;
                       const auto floored = [](int64_t a, int64_t b) {
                         return a / b - (a % b < 0 ? 1 : 0);
                       };
                       const int64_t at = rounding == "floor"  ? floored(over, under)
                                          : rounding == "ceil" ? -floored(-over, under)
                                          : rounding == "round_prefer_floor"
                                              ? -floored(-(2 * over - under), 2 * under)
                                              : floored(2 * over + under, 2 * under);
                       return static_cast<double>(row[std::clamp<int64_t>(at, 0, 6)]);
                     })});
    }
  }
}

TEST(ImportedResizes, SumsOfNeighbours) {
  const Filled x = counted({1, 2, 7});
  for (const int64_t to : {3, 5, 12}) {
    const double scale = static_cast<double>(to) / 7, less = std::min(scale, 1.0);
    const auto place = [&](int64_t o) { return (static_cast<double>(o) + 0.5) / scale - 0.5; };
    expectComputed(line(7, to, "linear", "asymmetric"), {x},
                   {lines(x, to, [&](const float *row, int64_t o) {
                     return filtered(row, 7, static_cast<double>(o) / scale, 1, false, hat);
                   })});
    expectComputed(line(7, to, "linear", "half_pixel").integer("antialias", 1), {x},
                   {lines(x, to, [&](const float *row, int64_t o) {
                     return filtered(row, 7, place(o), less, false, hat);
                   })});
    expectComputed(line(7, to, "cubic", "half_pixel")
                       .integer("exclude_outside", 1)
                       .number("cubic_coeff_a", -0.5F),
                   {x}, {lines(x, to, [&](const float *row, int64_t o) {
                     return filtered(row, 7, place(o), 1, true,
                                     [](double d) { return cubic(d, -0.5); });
                   })});
    expectComputed(line(7, to, "cubic", "half_pixel").integer("antialias", 1), {x},
                   {lines(x, to, [&](const float *row, int64_t o) {
                     return filtered(row, 7, place(o), less, false,
                                     [](double d) { return cubic(d, -0.75); });
                   })});
  }
}

TEST(ImportedResizes, RegionsAndWhatLiesOutside) {
  const Filled x = counted({1, 2, 7});
  ModelMaker maker(19);
  maker.input("x", {1, 2, 7}).integers("sizes", {6}).floats("roi", {2}, {0.25F, 1.5F});
  maker.node("Resize", {"x", "roi", "", "sizes"}, {"y"}).word("mode", "linear");
  maker.word("coordinate_transformation_mode", "tf_crop_and_resize").list("axes", {2});
  maker.number("extrapolation_value", 9).output("y");
  expectComputed(maker, {x}, {lines(x, 6, [&](const float *row, int64_t o) {
                   const double place = static_cast<double>(o) * 1.25 * 6 / 5 + 0.25 * 6;
                   return place > 6 ? 9 : filtered(row, 7, place, 1, false, hat);
                 })});
}

TEST(ImportedResizes, OneFactorForAll) {
  // 4 x 6 within 9 x 7: by 7 / 6, so that 4 becomes 4.67, and 5.
  ModelMaker maker(19);
  maker.input("x", {1, 1, 4, 6}).integers("sizes", {9, 7});
  maker.node("Resize", {"x", "", "", "sizes"}, {"y"}).word("mode", "nearest");
  maker.word("keep_aspect_ratio_policy", "not_larger").list("axes", {2, 3});
  maker.word("coordinate_transformation_mode", "asymmetric").word("nearest_mode", "floor");
  maker.output("y");
  const Filled x = counted({1, 1, 4, 6});
  Filled y = {{1, 1, 5, 7}, {}};
  for (int64_t h = 0; h < 5; ++h) {
    for (int64_t w = 0; w < 7; ++w) {
      y.elements.push_back(x.elements[static_cast<size_t>(h * 6 / 7 * 6 + w * 6 / 7)]);
    }
  }
  expectComputed(maker, {x}, {y});
}

TEST(ImportedResizes, OpenSizesAreNoPlaces) {
  ModelMaker maker(19);
  maker.input("x", {1, 2, "n"}).integers("sizes", {1, 2, 5});
  maker.node("Resize", {"x", "", "", "sizes"}, {"y"}).word("mode", "linear").output("y");
  auto refused = imported(maker, "", {{"n", 7}});
  ASSERT_FALSE(refused);
  EXPECT_EQ(refused.error().code, "E0636");
}

/// Windows of 2 x 3 whose elements are 2 and 1 apart, over 5 x 6 with a row of padding before.
Filled windows(const Filled &x, const std::function<double(const std::vector<double> &, int)> &of) {
  Filled y = {{2, 3, 4, 4}, {}};
  for (int64_t plane = 0; plane < 6; ++plane) {
    for (int64_t h = 0; h < 4; ++h) {
      for (int64_t w = 0; w < 4; ++w) {
        std::vector<double> inside;
        for (int64_t i = 0; i < 6; ++i) {
          const int64_t row = h - 1 + i / 3 * 2, column = w + i % 3;
          if (row >= 0 && row < 5) {
            inside.push_back(x.elements[static_cast<size_t>((plane * 5 + row) * 6 + column)]);
          }
        }
        y.elements.push_back(static_cast<float>(of(inside, 6)));
      }
    }
  }
  return y;
}

TEST(ImportedResizes, WindowsWhoseElementsLieApart) {
  const Filled x = counted({2, 3, 5, 6});
  const auto pool = [](const std::string &op) {
    ModelMaker maker(19);
    maker.input("x", {2, 3, 5, 6}).node(op, {"x"}, {"y"}).list("kernel_shape", {2, 3});
    return maker.list("dilations", {2, 1}).list("pads", {1, 0, 0, 0}).output("y");
  };
  const auto sum = [](const std::vector<double> &inside) {
    double all = 0;
    for (const double one : inside) {
      all += one;
    }
    return all;
  };
  expectComputed(pool("AveragePool"), {x}, {windows(x, [&](const auto &inside, int) {
                   return sum(inside) / static_cast<double>(inside.size());
                 })});
  expectComputed(pool("AveragePool").integer("count_include_pad", 1), {x},
                 {windows(x, [&](const auto &inside, int count) { return sum(inside) / count; })});
  for (const int64_t order : {1, 2, 3}) {
    expectComputed(pool("LpPool").integer("p", order), {x},
                   {windows(x, [&](const auto &inside, int) {
                     double all = 0;
                     for (const double one : inside) {
                       all += std::pow(std::abs(one), static_cast<double>(order));
                     }
                     return std::pow(all, 1.0 / static_cast<double>(order));
                   })});
  }
}

} // namespace
} // namespace nereid::importer
