// SPDX-License-Identifier: Apache-2.0
#include "test/fuzz/Reducer.h"

#include <chrono>

namespace nereid::fuzz {
namespace {

size_t indentOf(const std::string &line) { return line.find_first_not_of(' '); }

/// Behind the line and what is indented below it, with an `else` of the same depth.
size_t endOf(const std::vector<std::string> &lines, size_t at) {
  size_t indent = indentOf(lines[at]), end = at + 1;
  while (end < lines.size() &&
         (indentOf(lines[end]) > indent ||
          (indentOf(lines[end]) == indent && lines[end].substr(indent).starts_with("else:")))) {
    ++end;
  }
  return end;
}

class Reducer {
public:
  Reducer(Program program, const std::function<bool(const Program &)> &stillFails, double seconds)
      : best(std::move(program)), stillFails(stillFails), seconds(seconds) {}

  Program run() {
    for (bool hasShrunk = true; hasShrunk && !isLate();) {
      hasShrunk = dropChunks();
      for (size_t i = best.lines.size(); i-- > 0 && !isLate();) {
        hasShrunk |= i < best.lines.size() && (dropAt(i) || flattenAt(i));
      }
      hasShrunk |= dropPrograms();
    }
    return best;
  }

private:
  bool isLate() const {
    std::chrono::duration<double> passed = std::chrono::steady_clock::now() - start;
    return passed.count() > seconds;
  }

  bool accept(Program smaller) {
    if (isLate() || !stillFails(smaller)) {
      return false;
    }
    best = std::move(smaller);
    return true;
  }

  static Program without(Program program, size_t from, size_t to) {
    program.lines.erase(program.lines.begin() + static_cast<ptrdiff_t>(from),
                        program.lines.begin() + static_cast<ptrdiff_t>(to));
    return program;
  }

  /// Most lines are stores of what nobody else needs.
  bool dropChunks() {
    bool hasShrunk = false;
    for (size_t size = best.lines.size() / 2; size > 1; size /= 2) {
      for (size_t from = best.lines.size(); from >= size && !isLate(); from -= size) {
        if (from <= best.lines.size()) {
          hasShrunk |= accept(without(best, from - size, from));
        }
      }
    }
    return hasShrunk;
  }

  bool dropAt(size_t at) { return accept(without(best, at, endOf(best.lines, at))); }

  /// A block's body in place of the block.
  bool flattenAt(size_t at) {
    size_t to = endOf(best.lines, at);
    if (to == at + 1) {
      return false;
    }
    Program smaller = best;
    for (size_t i = at + 1; i < to; ++i) {
      smaller.lines[i].erase(0, 4);
    }
    return accept(without(std::move(smaller), at, at + 1));
  }

  bool dropPrograms() {
    if (best.programs == 1) {
      return false;
    }
    Program smaller = best;
    smaller.programs = 1;
    return accept(std::move(smaller));
  }

  Program best;
  const std::function<bool(const Program &)> &stillFails;
  double seconds;
  std::chrono::steady_clock::time_point start = std::chrono::steady_clock::now();
};

} // namespace

Program reduced(Program program, const std::function<bool(const Program &)> &stillFails,
                double seconds) {
  return Reducer(std::move(program), stillFails, seconds).run();
}

} // namespace nereid::fuzz
