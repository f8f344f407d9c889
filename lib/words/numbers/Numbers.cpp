// SPDX-License-Identifier: Apache-2.0
// Places of loose numbers, see Numbers.h.
#include "lib/words/numbers/Numbers.h"

#include "lib/words/numbers/Padding.h"
#include "lib/words/numbers/WindowSizes.h"

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

/// "32000 classes" of [4096, 32000]: the number says one of the text's sizes once more.
bool isSizeOfText(const Facts &facts, const LooseNumber &number) {
  const auto isIt = [&](int64_t size) { return static_cast<double>(size) == number.value; };
  const bool isNoted = !number.unit.empty() || !number.counted.empty() ||
                       (facts.isDocument && number.value >= 16); // "| b | 16384 |"
  return !number.isFactor && isNoted &&
         std::any_of(facts.shapes.begin(), facts.shapes.end(), [&](const ShapeFact &shape) {
           return std::any_of(shape.sizes.begin(), shape.sizes.end(), isIt);
         });
}

/// A loss whose text says another reduction than the definition's, which is the mean unless it
/// says.
bool isReducedOtherwise(const Shipped &shipped, const Facts &facts) {
  if (facts.reduction.empty() || !shipped.classes.contains("loss")) {
    return false;
  }
  std::string own = shipped.op.name.ends_with("_none") ? "none" : "mean";
  for (const BodyArgument &argument : shipped.arguments) {
    own = argument.name == "reduction" && argument.isWord ? argument.text : own;
  }
  return own != facts.reduction;
}

/// The text says the size, and the definition a factor.
bool isResizedOtherwise(const Shipped &shipped, const Facts &facts) {
  return facts.resizedTo &&
         std::any_of(shipped.arguments.begin(), shipped.arguments.end(),
                     [](const BodyArgument &argument) { return argument.name == "scale_factor"; });
}

/// One that a number without a name is never meant for.
bool isOwnAffair(const definition::Parameter &parameter) {
  return parameter.name == "eps" || parameter.name == "seed";
}

class Reading {
public:
  Reading(const Shipped &shipped, const Facts &facts) : shipped(shipped), facts(facts) {
    for (const definition::Parameter &parameter : shipped.op.parameters) {
      if (parameter.isScalar && !parameter.isSize()) {
        free.push_back(&parameter);
      }
    }
  }

  NumbersOf read() {
    if (isReducedOtherwise(shipped, facts)) {
      found.other = withReduction(shipped, facts.reduction);
    }
    const bool isPadded = readPadding();
    std::vector<LooseNumber> unnamed;
    for (const LooseNumber &number : facts.loose) {
      if (!(isPadded && isOfPadding(number)) && !giveToInput(number)) {
        unnamed.push_back(number);
      }
    }
    std::erase_if(free, [](const auto *parameter) { return isOwnAffair(*parameter); });
    const bool isEachOne =
        unnamed.size() == free.size() &&
        std::none_of(unnamed.begin(), unnamed.end(), [](const auto &one) {
          return one.isOfName || !one.unit.empty(); // "quantise to 4 bits" gives no scale
        });
    std::vector<LooseNumber> open;
    for (const LooseNumber &number : unnamed) {
      if (!hasIt(number, unnamed.size())) {
        open.push_back(number);
      }
    }
    if (isEachOne && !found.other && !open.empty()) { // in their order: "between -1 and 1"
      for (size_t i = 0; i < free.size(); ++i) {
        found.inputs[free[i]->name] = unnamed[i].text;
      }
      return found;
    }
    found.open.insert(found.open.end(), open.begin(), open.end());
    return found;
  }

private:
  const Shipped &shipped;
  const Facts &facts;
  std::vector<const definition::Parameter *> free; ///< number inputs that the text gives nothing
  NumbersOf found;

  bool isOfPadding(const LooseNumber &number) const {
    return std::any_of(facts.padding->numbers.begin(), facts.padding->numbers.end(),
                       [&](const SourceRange &one) { return isAt(one, number.range); });
  }

  /// True when the definition pads as the text says, from now on if it has not before.
  bool readPadding() {
    if (!facts.padding || !isPadding(shipped)) {
      return false;
    }
    found.other = withPadding(shipped, *facts.padding);
    return found.other.has_value();
  }

  bool giveToInput(const LooseNumber &number) {
    const auto input = std::find_if(free.begin(), free.end(), [&](const auto *parameter) {
      return isCalled(*parameter, number.before) || isCalled(*parameter, number.unit);
    });
    if (input == free.end()) {
      return false;
    }
    found.inputs[(*input)->name] = number.text;
    free.erase(input);
    return true;
  }

  /// Whether the number is an argument that the words beside it name: what it is there. Nothing
  /// where they name none.
  std::optional<bool> isItsArgument(const LooseNumber &number) const {
    bool isNamed = false;
    for (const BodyArgument &argument : shipped.arguments) {
      if (number.isOfName || argument.values.empty() ||
          !(isArgumentCalled(argument.name, number.before) ||
            isArgumentCalled(argument.name, number.unit))) {
        continue;
      }
      isNamed = true;
      if (!isMixed(argument) && argument.values.front() == number.value) {
        return true;
      }
    }
    return isNamed ? std::optional(false) : std::nullopt;
  }

  /// Of an argument with several that are not the same, the text has to have all.
  bool isOfWholeArgument(double value) const {
    const auto isSaid = [&](double one) {
      return std::any_of(facts.loose.begin(), facts.loose.end(),
                         [&](const LooseNumber &number) { return number.value == one; });
    };
    return std::any_of(shipped.arguments.begin(), shipped.arguments.end(),
                       [&](const BodyArgument &argument) {
                         return isMixed(argument) &&
                                std::find(argument.values.begin(), argument.values.end(), value) !=
                                    argument.values.end() &&
                                std::all_of(argument.values.begin(), argument.values.end(), isSaid);
                       });
  }

  /// A default that nothing else of the text could mean: of the only number input, or of one that
  /// no text says.
  bool isDefault(double value, size_t unnamed) const {
    const auto &parameters = shipped.op.parameters;
    return std::any_of(parameters.begin(), parameters.end(), [&](const auto &parameter) {
      return parameter.isScalar && !parameter.isSize() && parameter.value == value &&
             (unnamed == free.size() || isOwnAffair(parameter));
    });
  }

  /// The definition has the number where the text means it, from now on if it has not before.
  bool hasIt(const LooseNumber &number, size_t unnamed) {
    // "2 x 3" is no factor of 3.
    const bool isOther = hasOtherFactors(shipped, number);
    const auto isArgument = isItsArgument(number);
    const bool hasValue = shipped.numbers.contains(number.value) ||
                          isOfWholeArgument(number.value) || isDefault(number.value, unnamed);
    const bool isHere = !isOther && isArgument.value_or(hasValue);
    if (isHere) {
      return true;
    }
    if (auto other = found.other ? std::nullopt : withNumber(shipped, number)) {
      found.other = std::move(other);
      return true;
    }
    return !isOther && !isArgument &&
           ((!number.counted.empty() && isSizeOfCases(shipped.op, number.value)) ||
            isSizeOfText(facts, number));
  }
};

} // namespace

bool hasNumbersOf(const Shipped &shipped, const Facts &facts) {
  const auto tensors = std::count_if(shipped.op.parameters.begin(), shipped.op.parameters.end(),
                                     [](const auto &parameter) { return !parameter.isScalar; });
  if (!facts.isDocument && facts.tensors && *facts.tensors != tensors) {
    return false;
  }
  if (!hasWindowsOf(shipped, facts) || !hasAxesOf(shipped, facts) ||
      isResizedOtherwise(shipped, facts)) {
    return false;
  }
  const NumbersOf numbers = numbersOf(shipped, facts);
  if (isReducedOtherwise(shipped, facts) && !numbers.other) {
    return false;
  }
  const std::vector<LooseNumber> &open = numbers.open;
  return facts.isDocument || std::all_of(open.begin(), open.end(),
                                         [](const LooseNumber &number) { return number.isOfName; });
}

NumbersOf numbersOf(const Shipped &shipped, const Facts &facts) {
  return Reading(shipped, facts).read();
}

} // namespace nereid::words
