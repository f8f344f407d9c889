// SPDX-License-Identifier: Apache-2.0
// The integer expressions of launch tables as source text, for wrappers that compute a launch
// themselves:
//
//   min(1024, max(1, next_power_of_2((N))))
//     Python   min(1024, max(1, triton.next_power_of_2(N)))
//     C++      std::min<int64_t>({1024, std::max<int64_t>({1, nereid::nextPowerOf2(N)})})
//
// A choice (launch/Choices.h) is asked of the variable that has the name of its function:
// tuned.get("map.BLOCK_Y", 1024). Parentheses are written where they are needed, and what changes
// nothing is not written: times 1, plus 0, the magnitude of what takes nothing off. Names of a
// table are sizes, of which none is negative.
#pragma once

#include <cstddef>
#include <map>
#include <string>

namespace nereid::generator {

enum class ExpressionLanguage { Python, Cpp };

class Spelling {
public:
  /// `names`: variables of the wrapper for names of the table; the others keep theirs.
  Spelling(ExpressionLanguage language, std::map<std::string, std::string> names)
      : language(language), names(std::move(names)) {}

  void rename(const std::string &name, const std::string &variable) { names[name] = variable; }

  /// In one line, as an operand of * when `isFactor`.
  std::string text(const std::string &expression, bool isFactor = false) const;
  /// `head`, the expression and `tail`, broken so that no line is longer than 100 columns where
  /// that can be. Ends with a new line.
  std::string line(const std::string &head, const std::string &expression,
                   const std::string &tail) const;

private:
  ExpressionLanguage language;
  std::map<std::string, std::string> names;
};

} // namespace nereid::generator
