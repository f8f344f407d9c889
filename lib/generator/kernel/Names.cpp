// SPDX-License-Identifier: Apache-2.0
// Names in one kernel, see Names.h.
#include "lib/generator/kernel/Names.h"

namespace nereid::generator::kernel {
namespace {

bool isLetter(char c) { return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || c == '_'; }
bool isDigit(char c) { return c >= '0' && c <= '9'; }

std::string identifier(const std::string &hint) {
  std::string result;
  for (char c : hint) {
    const bool isPart = isLetter(c) || (isDigit(c) && !result.empty());
    if (isPart) {
      result += c;
    } else if (!result.empty() && result.back() != '_') {
      result += '_';
    }
  }
  while (!result.empty() && result.back() == '_') {
    result.pop_back();
  }
  return result.empty() ? "t" : result;
}

} // namespace

Names::Names()
    : taken{"tl",    "triton", "torch",  "libdevice", "float",    "range",   "min",
            "max",   "abs",    "len",    "int",       "bool",     "if",      "for",
            "in",    "is",     "and",    "or",        "not",      "def",     "else",
            "while", "pass",   "return", "lambda",    "None",     "True",    "False",
            "as",    "from",   "with",   "del",       "try",      "elif",    "import",
            "class", "yield",  "async",  "await",     "assert",   "break",   "global",
            "raise", "except", "print",  "round",     "continue", "finally", "nonlocal"} {}

std::string Names::fresh(const std::string &hint) {
  const std::string stem = identifier(hint);
  std::string name = stem;
  for (int number = 1; !taken.insert(name).second; ++number) {
    name = stem + "_" + std::to_string(number);
  }
  return name;
}

} // namespace nereid::generator::kernel
