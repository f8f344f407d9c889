// SPDX-License-Identifier: Apache-2.0
#include "unittests/generator/template/LineData.h"

namespace nereid::generator {

std::vector<double> lineOf(std::size_t count) {
  std::vector<double> result(count);
  for (std::size_t i = 0; i < count; ++i) {
    result[i] = static_cast<double>((i * i + 7 * i + 3) % 11) - 4;
  }
  return result;
}

FarLine farLine() {
  FarLine line{std::vector<double>(4096)};
  double mean = 0;
  for (std::size_t i = 0; i < line.elements.size(); ++i) {
    line.elements[i] = 4096 + static_cast<double>((i * 37 + i / 64 * 5) % 61) / 64 +
                       static_cast<double>(i / 64 % 7) / 8;
  }
  for (const double each : line.elements) {
    mean += each / static_cast<double>(line.elements.size());
  }
  for (const double each : line.elements) {
    line.squares += (each - mean) * (each - mean);
  }
  return line;
}

} // namespace nereid::generator
