// SPDX-License-Identifier: Apache-2.0
#include "lib/report/SvgText.h"

#include <fmt/format.h>

namespace nereid::report {

std::string svgEscaped(const std::string &text) {
  std::string out;
  for (char one : text) {
    switch (one) {
    case '<':
      out += "&lt;";
      break;
    case '>':
      out += "&gt;";
      break;
    case '&':
      out += "&amp;";
      break;
    case '"':
      out += "&quot;";
      break;
    default:
      out += one;
    }
  }
  return out;
}

std::string svgBegin(double width, double height) {
  return fmt::format("<svg xmlns=\"http://www.w3.org/2000/svg\" width=\"{0}\" height=\"{1}\" "
                     "viewBox=\"0 0 {0} {1}\" font-family=\"sans-serif\" font-size=\"11\">\n"
                     "<rect width=\"{0}\" height=\"{1}\" fill=\"white\"/>\n",
                     width, height);
}

std::string svgLabel(double x, double y, const char *anchor, const std::string &words) {
  return fmt::format("<text x=\"{:.1f}\" y=\"{:.1f}\" text-anchor=\"{}\">{}</text>\n", x, y, anchor,
                     svgEscaped(words));
}

std::string svgLine(double x1, double y1, double x2, double y2, const char *colour, double size) {
  return fmt::format("<line x1=\"{:.1f}\" y1=\"{:.1f}\" x2=\"{:.1f}\" y2=\"{:.1f}\" "
                     "stroke=\"{}\" stroke-width=\"{}\"/>\n",
                     x1, y1, x2, y2, colour, size);
}

} // namespace nereid::report
