// SPDX-License-Identifier: Apache-2.0
// Whether the best candidate is what the text means, and what speaks against it: a word that nobody
// knows beside words that may mean anything ("sum of the foos"), something of the text that the
// definition lacks, something of its name that the text does not say, or a second one as near.
#pragma once

#include "lib/words/Ranking.h"

namespace nereid::words {

/// What speaks against the first candidate, as the end of a sentence ("it has no 'bias'"); nothing
/// when it is meant, "" where only its score does.
std::optional<std::string> doubtOf(const std::vector<Candidate> &candidates,
                                   const std::vector<Term> &terms, const Facts &facts);

} // namespace nereid::words
