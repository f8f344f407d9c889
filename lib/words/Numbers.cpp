// SPDX-License-Identifier: Apache-2.0
// Places of loose numbers, see Numbers.h.
#include "lib/words/Numbers.h"

#include "lib/words/WindowSizes.h"

#include <algorithm>

namespace nereid::words {
namespace {

/// Words of an input's name and description.
bool isCalled(const definition::Parameter &parameter, const std::string &word) {
  if (word.empty()) {
    return false;
  }
  const auto tokens = tokenize("", parameter.name + " " + parameter.description);
  return tokens && std::any_of(tokens->begin(), tokens->end(), [&](const Token &token) {
           return token.kind != TokenKind::Symbol && token.text == word;
         });
}

/// "32 groups": a size of what is timed.
bool isSizeOfCases(const definition::Operator &op, double value) {
  return std::any_of(op.performanceCases.begin(), op.performanceCases.end(), [&](const auto &one) {
    return std::any_of(one.binding.symbols.begin(), one.binding.symbols.end(),
                       [&](const auto &size) { return static_cast<double>(size.second) == value; });
  });
}

/// One that a number without a name is never meant for.
bool isOwnAffair(const definition::Parameter &parameter) {
  return parameter.name == "eps" || parameter.name == "seed";
}

} // namespace

bool hasNumbersOf(const Shipped &shipped, const Facts &facts) {
  const auto tensors = std::count_if(shipped.op.parameters.begin(), shipped.op.parameters.end(),
                                     [](const auto &parameter) { return !parameter.isScalar; });
  if (!facts.isDocument && facts.tensors && *facts.tensors != tensors) {
    return false;
  }
  if (!hasWindowsOf(shipped, facts)) {
    return false;
  }
  const std::vector<LooseNumber> open = numbersOf(shipped, facts).open;
  return facts.isDocument || std::all_of(open.begin(), open.end(),
                                         [](const LooseNumber &number) { return number.isOfName; });
}

NumbersOf numbersOf(const Shipped &shipped, const Facts &facts) {
  NumbersOf found;
  std::vector<const definition::Parameter *> free;
  for (const definition::Parameter &parameter : shipped.op.parameters) {
    if (parameter.isScalar && !parameter.isSize()) {
      free.push_back(&parameter);
    }
  }
  std::vector<LooseNumber> unnamed;
  for (const LooseNumber &number : facts.loose) {
    const auto input = std::find_if(free.begin(), free.end(), [&](const auto *parameter) {
      return isCalled(*parameter, number.before);
    });
    if (input != free.end()) {
      found.inputs[(*input)->name] = number.text;
      free.erase(input);
    } else {
      unnamed.push_back(number);
    }
  }
  std::erase_if(free, [](const auto *parameter) { return isOwnAffair(*parameter); });
  std::vector<LooseNumber> open;
  for (const LooseNumber &number : unnamed) {
    // "2 x 3" is no factor of 3.
    const bool isOther = hasOtherFactors(shipped, number);
    const bool isNamed = isOther || !shipped.numbers.contains(number.value);
    if (auto other = isNamed && !found.other ? withNumber(shipped, number) : std::nullopt) {
      found.other = std::move(other);
      continue;
    }
    if (isOther || (!shipped.numbers.contains(number.value) &&
                    (number.counted.empty() || !isSizeOfCases(shipped.op, number.value)))) {
      open.push_back(number);
    }
  }
  const bool isEachOne =
      !found.other && unnamed.size() == free.size() &&
      std::none_of(unnamed.begin(), unnamed.end(), [](const auto &one) { return one.isOfName; });
  if (isEachOne && !open.empty()) { // in their order: "between -1 and 1"
    for (size_t i = 0; i < free.size(); ++i) {
      found.inputs[free[i]->name] = unnamed[i].text;
    }
    return found;
  }
  found.open = std::move(open);
  return found;
}

} // namespace nereid::words
