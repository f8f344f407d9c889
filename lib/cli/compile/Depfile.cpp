// SPDX-License-Identifier: Apache-2.0
#include "lib/cli/compile/Depfile.h"

#include <string_view>

namespace nereid::cli {

/// As compilers write it and as Ninja and CMake read it: a space and '#' get a backslash, and so
/// does every backslash right before one of them; '$' is doubled.
static std::string escaped(std::string_view path) {
  std::string result;
  for (size_t i = 0; i < path.size(); ++i) {
    const char letter = path[i];
    if (letter == ' ' || letter == '#') {
      for (size_t back = i; back > 0 && path[back - 1] == '\\'; --back) {
        result += '\\';
      }
      result += '\\';
    } else if (letter == '$') {
      result += '$';
    }
    result += letter;
  }
  return result;
}

std::string depfileText(const std::string &output, const std::vector<std::string> &sources) {
  std::string text = escaped(output) + ":";
  for (const std::string &path : sources) {
    text += ' ' + escaped(path);
  }
  return text + '\n';
}

} // namespace nereid::cli
