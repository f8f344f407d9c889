// SPDX-License-Identifier: Apache-2.0
#include "lib/document/RooflinePicture.h"

#include "lib/report/SvgText.h"
#include "lib/report/Table.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>

namespace nereid::document {
namespace {

constexpr double width = 560, height = 360;
constexpr double left = 76, right = 16, top = 34, bottom = 50;

struct Axis {
  int first = 0, last = 1; ///< decades
  double from = 0, to = 1; ///< pixels
  double at(double value) const {
    const double share =
        (std::log10(value) - first) / std::max(1.0, static_cast<double>(last - first));
    return from + std::clamp(share, 0.0, 1.0) * (to - from);
  }
};

struct Point {
  std::string name;
  double intensity = 0;
  bool isFused = true;
};

std::string powerText(int decade) {
  return decade < 0 ? fmt::format("{:.{}f}", std::pow(10.0, decade), -decade)
                    : report::formatCount(std::pow(10.0, decade));
}

std::vector<Point> pointsOf(const DocumentInput &input) {
  std::vector<Point> points;
  for (const auto &one : input.op.performanceCases) {
    const auto work = definition::countWork(input.op, one.binding, input.dtype);
    const auto unfused = definition::countUnfusedWork(input.op, one.binding, input.dtype);
    if (work.intensity() > 0) {
      points.push_back({one.name, work.intensity(), true});
    }
    if (unfused.bytes() > work.bytes() && unfused.intensity() > 0) {
      points.push_back({one.name, unfused.intensity(), false});
    }
  }
  return points;
}

class Picture {
public:
  Picture(const DocumentInput &input, std::vector<Point> points)
      : points(std::move(points)), peak(input.chip.peakFor(arithmeticType(input.dtype))),
        rate(input.chip.copyBandwidth), title(input.op.name + " on " + input.chip.name) {
    double least = peak / rate, most = least;
    for (const Point &point : this->points) {
      least = std::min(least, point.intensity);
      most = std::max(most, point.intensity);
    }
    x = {static_cast<int>(std::floor(std::log10(least))) - 1,
         static_cast<int>(std::ceil(std::log10(most))) + 1, left, width - right};
    y = {static_cast<int>(std::floor(std::log10(rate * std::pow(10.0, x.first)))),
         static_cast<int>(std::ceil(std::log10(peak))) + (peak >= 9e11 ? 1 : 0), height - bottom,
         top};
  }

  std::string text() {
    out = report::svgBegin(width, height);
    label(width / 2, 18, "middle", title);
    axes();
    const double ridge = peak / rate;
    line(x.from, y.at(rate * std::pow(10.0, x.first)), x.at(ridge), y.at(peak), "#1f5fa8", 2);
    line(x.at(ridge), y.at(peak), x.to, y.at(peak), "#a83a1f", 2);
    label(x.to - 4, y.at(peak) - 6, "end", report::formatFlops(peak));
    label(x.from + 6, y.at(rate * std::pow(10.0, x.first)) - 14, "start", report::formatRate(rate));
    label(x.at(ridge), y.at(peak) - 6, "middle", fmt::format("{:.3g} FLOP/B", ridge));
    for (const Point &point : points) {
      mark(point);
    }
    return out + "</svg>\n";
  }

private:
  void line(double x1, double y1, double x2, double y2, const char *colour, double size) {
    out += report::svgLine(x1, y1, x2, y2, colour, size);
  }
  void label(double at, double height, const char *anchor, const std::string &words) {
    out += report::svgLabel(at, height, anchor, words);
  }
  void axes() {
    for (int decade = x.first; decade <= x.last; ++decade) {
      const double at = x.at(std::pow(10.0, decade));
      line(at, y.from, at, y.to, "#dddddd", 1);
      label(at, y.from + 14, "middle", powerText(decade));
    }
    for (int decade = y.first; decade <= y.last; ++decade) {
      const double at = y.at(std::pow(10.0, decade));
      line(x.from, at, x.to, at, "#dddddd", 1);
      label(x.from - 6, at + 4, "end", powerText(decade) + "FLOP/s");
    }
    label((x.from + x.to) / 2, height - 12, "middle",
          "FLOP per byte; full: one kernel, hollow: operation by operation");
  }
  void mark(const Point &point) {
    out += fmt::format("<circle cx=\"{:.1f}\" cy=\"{:.1f}\" r=\"4\" fill=\"{}\" stroke=\"#222222\">"
                       "<title>{}{}: {:.3g} FLOP/B</title></circle>\n",
                       x.at(point.intensity), y.at(std::min(peak, rate * point.intensity)),
                       point.isFused ? "#222222" : "white", report::svgEscaped(point.name),
                       point.isFused ? "" : ", unfused", point.intensity);
  }

  std::vector<Point> points;
  double peak, rate;
  std::string title, out;
  Axis x, y;
};

} // namespace

std::optional<std::string> rooflinePicture(const DocumentInput &input) {
  std::vector<Point> points = pointsOf(input);
  if (!hasModel(input.chip) || points.empty()) {
    return std::nullopt;
  }
  return Picture(input, std::move(points)).text();
}

} // namespace nereid::document
