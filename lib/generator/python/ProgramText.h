// SPDX-License-Identifier: Apache-2.0
// The parts of generated Python programs that are the same for every operator; text/ has them as
// files, which are embedded when Nereid is built.
#pragma once

#include <span>
#include <string>
#include <string_view>

namespace nereid::generator {

struct ProgramFile {
  std::string_view name; ///< "judge.py"
  std::string_view text;
};
/// Every file of text/.
std::span<const ProgramFile> programFiles();

/// "data.py", "steps.py", "judge.py", "accuracy.py", "performance.py" of text/; "" for a name that
/// is not there.
std::string programText(std::string_view name);

} // namespace nereid::generator
