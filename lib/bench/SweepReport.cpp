// SPDX-License-Identifier: Apache-2.0
#include "lib/bench/SweepReport.h"

#include "lib/report/SvgText.h"
#include "lib/report/Table.h"

#include <fmt/format.h>

#include <algorithm>
#include <charconv>
#include <cmath>

namespace nereid::bench {

namespace {

constexpr double width = 640, height = 360;
constexpr double left = 92, right = 40, top = 40, bottom = 48;

/// What is drawn over the size.
struct Measure {
  const char *what;
  double (*of)(const KernelRow &row); ///< 0 = the row cannot say
  std::string (*text)(double value);
  bool isLogarithmic;
};

constexpr Measure measures[] = {
    {"operations in time",
     [](const KernelRow &row) { return row.flops / row.kernel.summary.median; },
     report::formatFlops, false},
    {"bytes in time", [](const KernelRow &row) { return row.bytes / row.kernel.summary.median; },
     report::formatRate, false},
    {"time", [](const KernelRow &row) { return row.kernel.summary.median; }, report::formatSeconds,
     true},
};

struct Point {
  double size, value;
};

std::vector<Point> pointsOf(const Measure &measure, const std::vector<KernelRow> &rows) {
  std::vector<Point> points;
  for (const KernelRow &row : rows) {
    const auto size = sweptSize(row.caseName);
    if (size && *size > 0 && row.failure.empty() && row.kernel.summary.count > 0) {
      points.push_back({*size, measure.of(row)});
    }
  }
  std::sort(points.begin(), points.end(),
            [](const Point &a, const Point &b) { return a.size < b.size; });
  return points;
}

/// From a number to a place, along one side of the picture.
struct Axis {
  double low, high, from, to;
  bool isLogarithmic;

  double at(double value) const {
    const auto scaled = [&](double x) { return isLogarithmic ? std::log(x) : x; };
    const double span = scaled(high) - scaled(low);
    return span > 0 ? from + (to - from) * (scaled(value) - scaled(low)) / span : (from + to) / 2;
  }
  double tick(int number, int count) const {
    const double share = static_cast<double>(number) / count;
    return isLogarithmic ? low * std::pow(high / low, share) : low + (high - low) * share;
  }
};

} // namespace

std::optional<double> sweptSize(const std::string &caseName) {
  const size_t equals = caseName.find('=');
  int64_t value = 0;
  if (equals == std::string::npos) {
    return std::nullopt;
  }
  const char *last = caseName.data() + caseName.size();
  const auto [stop, error] = std::from_chars(caseName.data() + equals + 1, last, value);
  return error == std::errc() && stop == last ? std::optional(static_cast<double>(value))
                                              : std::nullopt;
}

std::string sweepPicture(const std::string &title, const std::vector<KernelRow> &rows) {
  const auto *measure =
      std::find_if(std::begin(measures), std::end(measures), [&](const auto &one) {
        const auto points = pointsOf(one, rows);
        return std::all_of(points.begin(), points.end(),
                           [](const Point &p) { return p.value > 0; });
      });
  const std::vector<Point> points =
      measure == std::end(measures) ? std::vector<Point>() : pointsOf(*measure, rows);
  if (points.size() < 2) {
    return "";
  }
  const auto [least, most] =
      std::minmax_element(points.begin(), points.end(),
                          [](const Point &a, const Point &b) { return a.value < b.value; });
  const Axis x{points.front().size, points.back().size, left, width - right, true};
  const Axis y{measure->isLogarithmic ? least->value : 0, most->value, height - bottom, top,
               measure->isLogarithmic};
  std::string out =
      report::svgBegin(width, height) +
      report::svgLabel(width / 2, 20, "middle", fmt::format("{}: {}", title, measure->what));
  for (int i = 0; i <= 4; ++i) {
    const double value = y.tick(i, 4), at = y.at(value);
    out += report::svgLine(left, at, width - right, at, "#dddddd", 1) +
           report::svgLabel(left - 6, at + 4, "end", measure->text(value));
  }
  double labelled = 0;
  for (size_t i = 0; i < points.size(); ++i) {
    const double at = x.at(points[i].size), height = y.at(points[i].value);
    if (i > 0) {
      out += report::svgLine(x.at(points[i - 1].size), y.at(points[i - 1].value), at, height,
                             "#1f5fa8", 2);
    }
    out += fmt::format("<circle cx=\"{:.1f}\" cy=\"{:.1f}\" r=\"3\" fill=\"#1f5fa8\">"
                       "<title>{}: {}</title></circle>\n",
                       at, height, points[i].size, measure->text(points[i].value));
    if (i == 0 || at - labelled > 44) {
      out += report::svgLabel(at, y.from + 16, "middle", report::formatCount(points[i].size));
      labelled = at;
    }
  }
  const std::string &name = rows.front().caseName;
  return out + report::svgLabel(width / 2, y.from + 36, "middle", name.substr(0, name.find('='))) +
         "</svg>\n";
}

} // namespace nereid::bench
