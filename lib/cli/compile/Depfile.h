// SPDX-License-Identifier: Apache-2.0
// `nereid compile --depfile FILE`: what a build tool has to watch, as a rule of make.
#pragma once

#include <string>
#include <vector>

namespace nereid::cli {

/// "output: source source…" in one line, with what has a meaning for make escaped.
std::string depfileText(const std::string &output, const std::vector<std::string> &sources);

} // namespace nereid::cli
