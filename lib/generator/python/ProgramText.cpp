// SPDX-License-Identifier: Apache-2.0
// programFiles() is in a file that cmake/EmbedText.cmake writes.
#include "lib/generator/python/ProgramText.h"

#include <algorithm>

namespace nereid::generator {

std::string programText(std::string_view name) {
  const auto files = programFiles();
  const auto found = std::find_if(files.begin(), files.end(),
                                  [&](const ProgramFile &file) { return file.name == name; });
  return found == files.end() ? std::string() : std::string(found->text);
}

} // namespace nereid::generator
