// SPDX-License-Identifier: Apache-2.0
// The parts of generated Python programs that are the same for every operator; text/ has them as
// files, which are embedded when Nereid is built.
#pragma once

#include <string>
#include <string_view>

namespace nereid::generator {

/// "judge.py", "accuracy.py", "performance.py" of text/.
std::string programText(std::string_view name);

} // namespace nereid::generator
