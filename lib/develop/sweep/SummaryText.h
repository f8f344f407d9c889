// SPDX-License-Identifier: Apache-2.0
// A sweep for people: its table and totals on the screen, and summary.md.
#pragma once

#include "lib/develop/sweep/Summary.h"

namespace nereid::develop {

/// "1.53x"; "~1.53x" of unsteady times; "-" without either.
std::string speedupText(const OperatorResult &result);
/// "53/54".
std::string correctText(const OperatorResult &result);

/// As a cell of a table in Markdown, or one line of a list.
std::string cellText(std::string text);

/// One line for each operator.
std::string summaryTable(const std::vector<OperatorResult> &results);
/// What the rows come to, several lines.
std::string totalsText(const std::vector<OperatorResult> &results);
std::string summaryMarkdown(const Summary &summary);

} // namespace nereid::develop
