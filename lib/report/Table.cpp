// SPDX-License-Identifier: Apache-2.0
#include "lib/report/Table.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>

namespace nereid::report {

namespace {

std::string padded(const std::string &cell, size_t width, bool isRight) {
  std::string space(width - std::min(width, displayWidth(cell)), ' ');
  return isRight ? space + cell : cell + space;
}

/// Three significant digits, never in exponent form for the sizes that occur.
std::string threeDigits(double value) {
  double magnitude = std::fabs(value);
  int decimals = magnitude >= 99.95 ? 0 : magnitude >= 9.995 ? 1 : 2;
  return fmt::format("{:.{}f}", value, decimals);
}

} // namespace

size_t displayWidth(const std::string &text) {
  return static_cast<size_t>(std::count_if(text.begin(), text.end(), [](char c) {
    return (static_cast<unsigned char>(c) & 0xC0U) != 0x80U;
  }));
}

Table::Table(std::vector<std::string> names) : titles(std::move(names)) {
  for (auto &title : titles) {
    isRight.push_back(!title.empty() && title[0] == '>');
    if (isRight.back()) {
      title.erase(0, 1);
    }
  }
}

void Table::add(std::vector<std::string> cells) {
  cells.resize(titles.size());
  rows.push_back(std::move(cells));
}

std::vector<size_t> Table::widths() const {
  std::vector<size_t> result;
  for (size_t column = 0; column < titles.size(); ++column) {
    size_t width = displayWidth(titles[column]);
    for (const auto &row : rows) {
      width = std::max(width, displayWidth(row[column]));
    }
    result.push_back(width);
  }
  return result;
}

std::string Table::text() const {
  std::vector<size_t> width = widths();
  auto line = [&](const std::vector<std::string> &cells) {
    std::string result;
    for (size_t column = 0; column < cells.size(); ++column) {
      result += (column > 0 ? "  " : "") + padded(cells[column], width[column], isRight[column]);
    }
    result.erase(result.find_last_not_of(' ') + 1);
    return result + "\n";
  };
  std::string result = line(titles);
  size_t total = titles.empty() ? 0 : 2 * (titles.size() - 1);
  for (size_t value : width) {
    total += value;
  }
  result += std::string(total, '-') + "\n";
  for (const auto &row : rows) {
    result += line(row);
  }
  return result;
}

std::string Table::markdown() const {
  auto line = [](const std::vector<std::string> &cells) {
    std::string result = "|";
    for (const auto &cell : cells) {
      result += " " + cell + " |";
    }
    return result + "\n";
  };
  std::string result = line(titles) + "|";
  for (bool right : isRight) {
    result += right ? "---:|" : "---|";
  }
  result += "\n";
  for (const auto &row : rows) {
    result += line(row);
  }
  return result;
}

std::string formatSeconds(double seconds) {
  if (seconds >= 1) {
    return threeDigits(seconds) + " s";
  }
  if (seconds >= 1e-3) {
    return threeDigits(seconds * 1e3) + " ms";
  }
  if (seconds >= 1e-6) {
    return threeDigits(seconds * 1e6) + " µs";
  }
  return threeDigits(seconds * 1e9) + " ns";
}

std::string formatBytes(double bytes) {
  const char *units[] = {"B", "KiB", "MiB", "GiB", "TiB"};
  int unit = 0;
  while (bytes >= 1024 && unit < 4) {
    bytes /= 1024;
    ++unit;
  }
  bool isWhole = bytes == std::floor(bytes);
  return (isWhole ? fmt::format("{:.0f}", bytes) : threeDigits(bytes)) + " " + units[unit];
}

std::string formatRate(double bytesPerSecond) {
  return threeDigits(bytesPerSecond / 1e9) + " GB/s";
}

std::string formatFlops(double flopsPerSecond) {
  return threeDigits(flopsPerSecond / 1e9) + " GFLOP/s";
}

std::string formatRatio(double ratio) { return fmt::format("{:.2f}x", ratio); }

std::string formatPercent(double fraction) { return fmt::format("{:.0f} %", 100 * fraction); }

std::string formatCount(double value) {
  const char *units[] = {"", " k", " M", " G", " T"};
  int unit = 0;
  while (value >= 1000 && unit < 4) {
    value /= 1000;
    ++unit;
  }
  bool isWhole = value == std::floor(value);
  return (isWhole ? fmt::format("{:.0f}", value) : threeDigits(value)) + units[unit];
}

} // namespace nereid::report
