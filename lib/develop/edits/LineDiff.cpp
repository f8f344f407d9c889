// SPDX-License-Identifier: Apache-2.0
#include "lib/develop/edits/LineDiff.h"

#include <algorithm>
#include <cstdint>
#include <sstream>

namespace nereid::develop {

std::vector<std::string> linesOf(const std::string &text) {
  std::vector<std::string> lines;
  std::istringstream in(text);
  for (std::string line; std::getline(in, line);) {
    lines.push_back(std::move(line));
  }
  return lines;
}

std::vector<Hunk> lineDiff(const std::string &before, const std::string &after) {
  const std::vector<std::string> a = linesOf(before), b = linesOf(after);
  size_t begin = 0, endA = a.size(), endB = b.size();
  while (begin < endA && begin < endB && a[begin] == b[begin]) {
    ++begin;
  }
  while (endA > begin && endB > begin && a[endA - 1] == b[endB - 1]) {
    --endA;
    --endB;
  }
  const size_t n = endA - begin, m = endB - begin;
  std::vector<Hunk> hunks;
  if (n == 0 && m == 0) {
    return hunks;
  }
  constexpr size_t most = 4000;
  const bool isTooLong = n > most || m > most;
  // longest[i][j]: of what is left behind i and j.
  std::vector<std::vector<uint16_t>> longest(isTooLong ? 0 : n + 1,
                                             std::vector<uint16_t>(m + 1, 0));
  for (size_t i = isTooLong ? 0 : n; i-- > 0;) {
    for (size_t j = m; j-- > 0;) {
      longest[i][j] = a[begin + i] == b[begin + j]
                          ? static_cast<uint16_t>(longest[i + 1][j + 1] + 1)
                          : std::max(longest[i + 1][j], longest[i][j + 1]);
    }
  }
  Hunk hunk;
  auto close = [&] {
    if (!hunk.before.empty() || !hunk.after.empty()) {
      hunks.push_back(std::move(hunk));
    }
    hunk = {};
  };
  for (size_t i = 0, j = 0; i < n || j < m;) {
    const bool isSame = !isTooLong && i < n && j < m && a[begin + i] == b[begin + j];
    if (isSame) {
      close();
      ++i;
      ++j;
      continue;
    }
    if (hunk.before.empty() && hunk.after.empty()) {
      hunk.lineBefore = begin + i + 1;
      hunk.lineAfter = begin + j + 1;
    }
    const bool takesBefore =
        j >= m || (i < n && (isTooLong || longest[i + 1][j] >= longest[i][j + 1]));
    if (takesBefore) {
      hunk.before.push_back(a[begin + i++]);
    } else {
      hunk.after.push_back(b[begin + j++]);
    }
  }
  close();
  return hunks;
}

std::string diffText(const std::string &before, const std::string &after, size_t mostLines) {
  std::string text;
  size_t told = 0, left = 0;
  const auto add = [&](char mark, const std::string &line) {
    if (told == mostLines) {
      ++left;
      return;
    }
    ++told;
    text += mark + (line.empty() ? "" : " " + line) + "\n";
  };
  for (const Hunk &hunk : lineDiff(before, after)) {
    if (told < mostLines) {
      text += "@@ line " + std::to_string(hunk.lineBefore) + " @@\n";
    }
    for (const std::string &line : hunk.before) {
      add('-', line);
    }
    for (const std::string &line : hunk.after) {
      add('+', line);
    }
  }
  return left == 0 ? text : text + "@@ and " + std::to_string(left) + " more lines @@\n";
}

} // namespace nereid::develop
