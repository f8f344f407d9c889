// SPDX-License-Identifier: Apache-2.0
// Tables for people: aligned on a terminal, or Markdown. Cells are ready-made text; the number
// formats below give them few but sufficient digits and a unit.
#pragma once

#include <string>
#include <vector>

namespace nereid::report {

class Table {
public:
  /// Columns whose title starts with '>' are aligned to the right (the mark is not printed).
  explicit Table(std::vector<std::string> titles);
  /// Missing cells are empty; extra ones are dropped.
  void add(std::vector<std::string> cells);
  bool isEmpty() const { return rows.empty(); }
  std::string text() const;
  std::string markdown() const;

private:
  std::vector<size_t> widths() const;
  std::vector<std::string> titles;
  std::vector<bool> isRight;
  std::vector<std::vector<std::string>> rows;
};

/// Columns a text takes on a terminal: code points, since we print no wide characters.
size_t displayWidth(const std::string &text);

std::string formatSeconds(double seconds);      ///< "12.3 µs", "4.56 ms", "1.20 s"
std::string formatBytes(double bytes);          ///< "512 B", "1.5 KiB", "256 MiB"
std::string formatRate(double bytesPerSecond);  ///< "38.2 GB/s" (decimal)
std::string formatFlops(double flopsPerSecond); ///< "105 GFLOP/s"
std::string formatRatio(double ratio);          ///< "1.53x"
std::string formatPercent(double fraction);     ///< "87 %"
std::string formatCount(double value);          ///< "1.2 M"

} // namespace nereid::report
