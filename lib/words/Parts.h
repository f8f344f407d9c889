// SPDX-License-Identifier: Apache-2.0
// Which lines of a document say what is computed: a heading, the first cell of a table's row, or
// the words in front of a colon tell what a line is about ("## Background", "| 精度 | 1e-3 |",
// "三、性能："). vocabulary.def has these words. Text of one line has no parts.
#pragma once

#include "lib/words/Vocabulary.h"

#include <set>
#include <string_view>

namespace nereid::words {

struct Parts {
  std::set<int> head;  ///< the title, and what is called name, function and the like
  std::set<int> aside; ///< background, use, speed, accuracy, tests: nothing of what is computed
};

Parts partsOf(std::string_view prose);

/// Without the operators and types that lines aside speak of, as far as others are left; targets,
/// sizes and what else says facts stay.
std::vector<Term> withoutAsides(std::vector<Term> terms, const Parts &parts);

/// Terms of the head; none where it says nothing of an operator.
std::vector<Term> ofHead(const std::vector<Term> &terms, const Parts &parts);

} // namespace nereid::words
