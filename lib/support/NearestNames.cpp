// SPDX-License-Identifier: Apache-2.0
// Which known names may have been meant: edit distance with neighbouring letters swapped counted
// as one edit (optimal string alignment). Letter case counts as half an edit for the whole name.
#include "lib/support/Diagnostics.h"

#include <algorithm>
#include <cctype>

namespace nereid {
namespace {

constexpr size_t longestName = 64; // longer ones are not typing errors; bounds the table

std::string lowered(std::string_view text) {
  std::string out(text);
  for (char &c : out) {
    c = static_cast<char>(std::tolower(static_cast<unsigned char>(c)));
  }
  return out;
}

/// Twice the number of edits between lower-case names.
int distanceInHalves(std::string_view a, std::string_view b) {
  std::vector<int> beforeLast, last(b.size() + 1), row(b.size() + 1);
  for (size_t j = 0; j <= b.size(); ++j) {
    last[j] = static_cast<int>(2 * j);
  }
  for (size_t i = 1; i <= a.size(); ++i) {
    row[0] = static_cast<int>(2 * i);
    for (size_t j = 1; j <= b.size(); ++j) {
      int change = a[i - 1] == b[j - 1] ? 0 : 2;
      row[j] = std::min({last[j] + 2, row[j - 1] + 2, last[j - 1] + change});
      if (i > 1 && j > 1 && a[i - 1] == b[j - 2] && a[i - 2] == b[j - 1]) {
        row[j] = std::min(row[j], beforeLast[j - 2] + 2);
      }
    }
    beforeLast = last;
    last = row;
  }
  return last[b.size()];
}

} // namespace

std::vector<std::string> nearestNames(std::string_view name,
                                      const std::vector<std::string> &known) {
  constexpr size_t most = 3;
  if (name.empty() || name.size() > longestName) {
    return {};
  }
  std::string lowerName = lowered(name);
  int limit = std::max<int>(2, static_cast<int>(name.size()) * 2 / 3);
  std::vector<std::pair<int, std::string>> near;
  for (const std::string &candidate : known) {
    if (candidate.empty() || candidate.size() > longestName || candidate == name) {
      continue;
    }
    std::string lowerCandidate = lowered(candidate);
    bool differsInCase = lowerName != name || lowerCandidate != candidate;
    int distance = distanceInHalves(lowerName, lowerCandidate);
    distance += distance < limit && differsInCase;
    if (distance <= limit) {
      near.emplace_back(distance, candidate);
    }
  }
  std::sort(near.begin(), near.end());
  near.erase(std::unique(near.begin(), near.end()), near.end());
  std::vector<std::string> out;
  for (size_t i = 0; i < near.size() && i < most; ++i) {
    out.push_back(near[i].second);
  }
  return out;
}

} // namespace nereid
