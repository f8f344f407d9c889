// SPDX-License-Identifier: Apache-2.0
// Where two texts differ, line by line.
#pragma once

#include <cstddef>
#include <string>
#include <vector>

namespace nereid::develop {

/// Lines that were replaced; one of the lists may be empty. Lines count from 1: of an empty list it
/// is the line behind the place.
struct Hunk {
  size_t lineBefore = 1, lineAfter = 1;
  std::vector<std::string> before, after;
};

std::vector<std::string> linesOf(const std::string &text);
/// In order. Along a longest common subsequence; texts whose differing parts have more than 4000
/// lines give one hunk.
std::vector<Hunk> lineDiff(const std::string &before, const std::string &after);

/// The differences for people: "@@ line 12 @@" in front of each, "-" and "+" in front of lines. Of
/// more than `mostLines` lines the rest is counted. "" when the texts are equal.
std::string diffText(const std::string &before, const std::string &after, size_t mostLines);

} // namespace nereid::develop
