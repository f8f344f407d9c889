// SPDX-License-Identifier: Apache-2.0
// Pieces of pictures as SVG text.
#pragma once

#include <string>

namespace nereid::report {

/// The text with what XML reads as its own written as entities.
std::string svgEscaped(const std::string &text);
/// The beginning of a picture on white; "</svg>\n" ends it.
std::string svgBegin(double width, double height);
/// A line of text; `anchor` is "start", "middle" or "end".
std::string svgLabel(double x, double y, const char *anchor, const std::string &words);
std::string svgLine(double x1, double y1, double x2, double y2, const char *colour, double size);

} // namespace nereid::report
