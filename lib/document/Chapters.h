// SPDX-License-Identifier: Apache-2.0
// The chapters of the definition document, each in a file of its own. Document.cpp puts them in
// order.
#pragma once

#include "lib/document/Document.h"
#include "lib/document/SizeSum.h"

namespace nereid::document {

std::string operatorChapter(const DocumentInput &input); ///< 1: what is asked for
std::string costSections(const DocumentInput &input);    ///< 2.1 to 2.3: time, space, traffic
std::string boundSections(const DocumentInput &input);   ///< 2.4 and 2.5: roofline, bottleneck
std::string flowSection(const DocumentInput &input);     ///< 2.6: who reads what how often
std::string accuracySection(const DocumentInput &input); ///< 2.7
std::string strategyChapter(const DocumentInput &input); ///< 3
std::string missedChapter(const DocumentInput &input);   ///< 4

/// A text within a cell of a table.
std::string cell(std::string text);
/// The text between backticks, within a cell.
std::string code(const std::string &text);

} // namespace nereid::document
