// SPDX-License-Identifier: Apache-2.0
// Numbers of a text by themselves: their values, whether they are factors, parts of 100 or marks of
// a list, and the words beside them.
#pragma once

#include "lib/words/Facts.h"

namespace nereid::words {

/// "4", "1.5", "四".
std::optional<double> numberAt(const std::vector<Token> &tokens, size_t at);
/// A number, also one that is a word.
std::optional<double> factorAt(const std::vector<Token> &tokens, size_t at);
/// "by a factor of 3", "factor 3", "by 3", "3 times", "3x", "3-fold", "3倍", "倍数为3".
bool isFactorAt(const std::vector<Token> &tokens, size_t at);
bool isPercent(const std::vector<Token> &tokens, size_t at);
/// "60 % of peak bandwidth", 带宽利用率不低于60%: what the sentence says of a machine.
bool isOfPeak(const std::vector<Token> &tokens, size_t at);
/// "2." and "3)" of a list, "## 4. Tests".
bool isListed(const std::vector<Token> &tokens, size_t at);
/// The tokens of a number, from the sign on, as it stands.
LooseNumber looseAt(const std::vector<Token> &tokens, size_t at);
/// The word behind a number that says what there are so many of: "4 bits", "4-bit", "64 bins".
std::string unitBehind(const std::vector<Token> &tokens, size_t at, const std::vector<Term> &terms);

} // namespace nereid::words
