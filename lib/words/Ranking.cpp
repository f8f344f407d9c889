// SPDX-License-Identifier: Apache-2.0
#include "lib/words/Ranking.h"

#include "lib/definition/operations/Operations.h"
#include "lib/words/numbers/Numbers.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <tuple>

namespace nereid::words {
namespace {

/// What a term is worth where it stands.
constexpr double inName = 3, inSummary = 1.5, inBody = 1, inSupport = 0.5;
/// What it costs when only the name, or only the text, has it.
constexpr double notSaid = 1.5, backwardNotSaid = 4, notHad = 0.3, weakNotHad = 0.8;
constexpr double wrongStructure = 2, rightStructure = 1;

bool isSubject(const Term &term) {
  return term.kind == TermKind::Operation || term.kind == TermKind::Weak ||
         term.kind == TermKind::Context || term.kind == TermKind::Word;
}

/// The part of a name whose stem is the term: "online" for "onlin".
std::string wordOf(const std::string &name, const std::string &idea) {
  for (size_t at = 0; at < name.size();) {
    const size_t end = std::min(name.find('_', at), name.size());
    if (std::string word = name.substr(at, end - at); stem(word) == idea) {
      return word;
    }
    at = end + 1;
  }
  return idea;
}

/// What a gradient is asked of: it chooses among the gradients, and says nothing else.
bool isOfGradient(const Term &term, const Facts &facts) {
  return std::any_of(facts.gradients.begin(), facts.gradients.end(),
                     [&](const GradientFact &fact) { return isAt(fact.range, term.range); });
}

/// "times" in "3 times", "fold" in "3-fold": the number has it.
bool isOfNumber(const Term &term, const Facts &facts) {
  return (term.text == "times" || term.text == "fold") &&
         std::any_of(facts.loose.begin(), facts.loose.end(), [&](const LooseNumber &number) {
           return number.isFactor && number.range.line == term.range.line &&
                  term.range.column - number.range.endColumn <= 1 &&
                  term.range.column >= number.range.endColumn;
         });
}

class Ranker {
public:
  Ranker(const std::vector<const Shipped *> &shipped, const std::vector<Term> &terms,
         const Facts &facts)
      : shipped(shipped), facts(facts) {
    for (const Shipped *one : shipped) { // "zeros" is an everyday word
      const auto &inputs = one->op.parameters;
      const bool isOfTensors = std::any_of(inputs.begin(), inputs.end(),
                                           [](const auto &input) { return !input.isScalar; });
      if (isOfTensors && !one->structure.at("rows")) {
        names.insert(stem(one->op.name));
      }
    }
    std::set<std::string> seen;
    for (const Term &term : terms) {
      if (term.idea == "channels_first" || term.idea == "channels_last") {
        lastLayout = term.idea;
      }
      if (isSubject(term) && !isOfFact(term, facts) &&
          seen.insert((term.isNegated ? "!" : "") + term.idea).second) {
        subjects.push_back(term);
        rarities[term.idea] = rarity(term.idea);
      }
    }
    std::erase_if(subjects, [&](const Term &term) { // what is also asked for is not excluded
      return term.isNegated && seen.contains(term.idea);
    });
  }

  /// None when the definition lacks an operation of the text, or has what the text excludes.
  std::optional<Candidate> judge(const Shipped &one) {
    Candidate candidate;
    candidate.shipped = &one;
    candidate.isWhole = true;
    if (isOtherGradient(one) || isOfOtherWindows(one) || isOtherWay(one)) {
      return std::nullopt;
    }
    std::set<std::string> said;
    bool isKnownByIt = false, isKnownByClass = false;
    for (const Term &term : subjects) {
      if (isRefused(one, term)) {
        return std::nullopt;
      }
      if (term.isNegated) {
        continue;
      }
      said.insert(term.idea);
      if (auto fits = one.structure.find(term.idea); fits != one.structure.end()) {
        candidate.score += fits->second ? rightStructure : -wrongStructure;
        continue;
      }
      const double worth = worthIn(one, term.idea);
      candidate.lacksName |=
          term.kind == TermKind::Word && names.contains(term.idea) && !one.has(term.idea);
      candidate.score += rarities[term.idea] * (worth > 0                     ? worth
                                                : term.kind == TermKind::Word ? -notHad
                                                                              : -weakNotHad);
      if (worth > 0) {
        candidate.ideas.insert(term.idea);
        candidate.matched.push_back(fmt::format("'{}'{} ({})", term.text,
                                                term.isCorrected ? " as '" + term.idea + "'" : "",
                                                placeOf(worth)));
      }
      const bool isClass = one.classes.contains(term.idea);
      isKnownByClass |= isClass;
      isKnownByIt |= !isClass && (worth == inName || (isStrong(term) && worth == inSummary));
    }
    std::vector<Term> parts = facts.castTypes; // "to_float32", "int8_weight_linear"
    parts.insert(parts.end(), facts.inputTypes.begin(), facts.inputTypes.end());
    for (const Term &type : parts) {
      if (one.names.contains(type.idea)) {
        isKnownByIt = true;
        candidate.score += inName * rarity(type.idea);
        candidate.matched.push_back(fmt::format("'{}' (name)", type.text));
      }
    }
    for (const std::string &name : one.names) {
      if (!said.contains(name) && !isImplied(name)) {
        candidate.score -= (name == "backward" ? backwardNotSaid : notSaid) * rarity(name);
        candidate.missing.push_back(wordOf(one.op.name, name));
        candidate.isWhole = false;
      }
    }
    if (!candidate.isWhole && std::any_of(subjects.begin(), subjects.end(), [&](const Term &term) {
          return isElsewhere(one, term);
        })) {
      return std::nullopt;
    }
    if (isUnaskedProduct(one, candidate)) {
      return std::nullopt;
    }
    judgeFacts(one, candidate);
    candidate.isClass = !isKnownByIt;
    return isKnownByIt || isKnownByClass ? std::optional(candidate) : std::nullopt;
  }

private:
  const std::vector<const Shipped *> &shipped;
  const Facts &facts;
  std::vector<Term> subjects;  ///< each once
  std::set<std::string> names; ///< of definitions over elements, stemmed
  std::string lastLayout;      ///< "channels_first" or "channels_last"
  std::map<std::string, double> rarities;

  double rarity(const std::string &idea) {
    if (auto found = rarities.find(idea); found != rarities.end()) {
      return found->second;
    }
    const auto having = std::count_if(shipped.begin(), shipped.end(),
                                      [&](const Shipped *one) { return one->has(idea); });
    return rarities[idea] = std::log(1.0 + static_cast<double>(shipped.size()) /
                                               (1.0 + static_cast<double>(having)));
  }

  static double worthIn(const Shipped &one, const std::string &idea) {
    return one.classes.contains(idea)   ? inSummary
           : one.names.contains(idea)   ? inName
           : one.summary.contains(idea) ? inSummary
           : one.body.contains(idea)    ? inBody
           : one.support.contains(idea) ? inSupport
                                        : 0;
  }

  static const char *placeOf(double worth) {
    return worth == inName      ? "name"
           : worth == inSummary ? "summary"
           : worth == inBody    ? "body"
                                : "inputs";
  }

  /// The text asks for a gradient that a definition of gradients does not compute.
  bool isOtherGradient(const Shipped &one) const {
    return !one.gradients.empty() &&
           std::any_of(facts.gradients.begin(), facts.gradients.end(),
                       [&](const GradientFact &fact) { return !one.hasGradientOf(fact.idea); });
  }

  /// "quantise per row": a definition with one scale for all, or one for each group, is another.
  static bool isOfOtherScale(const Shipped &one, const Term &term) {
    const auto has = [&](const std::string &idea) {
      return one.names.contains(idea) || one.summary.contains(idea);
    };
    const bool isRow = term.idea == "rows" || term.idea == "channel";
    return one.op.name.find("quantize_") != std::string::npos &&
           ((isRow && !has("rows") && !has("channel")) || (term.idea == "group" && !has("group")));
  }

  /// "conv1d" is no "conv2d".
  bool isOfOtherWindows(const Shipped &one) const {
    const std::string &name = one.op.name;
    for (size_t i = 1; facts.spatial && i + 1 < name.size(); ++i) {
      if (name[i + 1] == 'd' && name[i] >= '1' && name[i] <= '3' &&
          (i + 2 == name.size() || name[i + 2] == '_')) {
        return name[i] - '0' != *facts.spatial;
      }
    }
    return false;
  }

  /// "NHWC to NCHW" asks for channels first: what stands last is what the result is.
  bool isOtherWay(const Shipped &one) const {
    const std::string from = lastLayout == "channels_last" ? "channels_first" : "channels_last";
    const bool areBoth = std::any_of(subjects.begin(), subjects.end(),
                                     [&](const Term &term) { return term.idea == from; });
    return areBoth && !lastLayout.empty() && one.names.contains(from) &&
           !one.names.contains(lastLayout);
  }

  static bool isRefused(const Shipped &one, const Term &term) {
    if (term.isNegated) {
      return one.computes(term.idea) || one.inputs.contains(term.idea);
    }
    // "rotary with cos and sin tables": an input may be what an operation gives.
    if (isStrong(term) && !one.computes(term.idea) && !one.classes.contains(term.idea) &&
        !one.inputs.contains(term.idea)) {
      return true;
    }
    if (isOfOtherScale(one, term)) {
      return true;
    }
    const bool isItself = one.summary.contains(term.idea) || one.names.contains(term.idea);
    return !isItself && // "channels last, written with channels first" has both
           std::any_of(one.summary.begin(), one.summary.end(),
                       [&](const std::string &other) { return areOpposite(term.idea, other); });
  }

  /// A product or a convolution is more than what was asked for, unless the text names it.
  bool isUnaskedProduct(const Shipped &one, const Candidate &candidate) const {
    const auto isProduct = [](const std::string &idea) {
      if (idea == "depthwise" || idea == "transposed_convolution") {
        return true;
      }
      const definition::Operation *operation = definition::findOperation(idea);
      return operation && (operation->kind == definition::OperationKind::Contraction ||
                           operation->kind == definition::OperationKind::Convolution);
    };
    return !candidate.isWhole && std::any_of(one.body.begin(), one.body.end(), isProduct) &&
           std::none_of(subjects.begin(), subjects.end(),
                        [&](const Term &term) { return !term.isNegated && isProduct(term.idea); });
  }

  static bool isTypeOf(const std::vector<Term> &types, const std::string &name) {
    return std::any_of(types.begin(), types.end(),
                       [&](const Term &type) { return type.idea == name; });
  }

  bool isImplied(const std::string &name) const {
    const bool isInteger = std::any_of(facts.types.begin(), facts.types.end(), [](const Term &t) {
      return t.idea.find("int") != std::string::npos || t.idea == "bool";
    });
    const bool isLastTwo = facts.axes && facts.axes->dims == std::vector<int64_t>{-2, -1};
    return (name == "integers" && isInteger) || (name == "last" && isLastTwo) ||
           (name == "size" && facts.resizedTo) || isTypeOf(facts.castTypes, name) ||
           isTypeOf(facts.inputTypes, name);
  }

  /// A type that the definition does not have makes it less likely, a rank too.
  void judgeFacts(const Shipped &one, Candidate &candidate) const {
    for (const Term &type : facts.types) {
      const DType asked = *parseDType(type.idea);
      const bool isOfInput =
          std::any_of(one.op.parameters.begin(), one.op.parameters.end(),
                      [&](const auto &parameter) { return parameter.fixedDtype == asked; });
      if (!definition::checkDtype(one.op, asked) && !isOfInput) {
        candidate.score -= 2 * wrongStructure;
      }
    }
    if (!hasNumbersOf(one, facts)) {
      candidate.score -= wrongStructure;
    }
    if (!hasAxesOf(one, facts)) {
      candidate.score -= 2 * wrongStructure;
    }
    const auto tensor = std::find_if(one.op.parameters.begin(), one.op.parameters.end(),
                                     [](const auto &parameter) { return !parameter.isScalar; });
    if (tensor == one.op.parameters.end() || facts.ranks.empty()) {
      return;
    }
    const bool isOpen = !tensor->shape.empty() && tensor->shape.front().isRest();
    const double rank = facts.ranks.front().value;
    const auto own = static_cast<double>(tensor->shape.size()) - (isOpen ? 1 : 0);
    if (isOpen ? rank < own : rank != own) {
      candidate.score -= 2 * wrongStructure;
    } else if (!isOpen) {
      candidate.score += 2 * rightStructure;
      candidate.hasRank = true;
    }
  }
};

} // namespace

bool isElsewhere(const Shipped &one, const Term &term) {
  const definition::Operation *operation = definition::findOperation(term.idea);
  return operation && !term.isNegated && !one.body.contains(term.idea) &&
         (operation->kind == definition::OperationKind::Contraction ||
          operation->kind == definition::OperationKind::Convolution);
}

bool isOfFact(const Term &term, const Facts &facts) {
  const bool isReduction = term.idea == "mean" && facts.reduction == "mean";
  return isOfGradient(term, facts) || isOfNumber(term, facts) || isReduction;
}

bool isStrong(const Term &term) { return term.kind == TermKind::Operation && !term.isNegated; }

std::vector<Candidate> rank(const std::vector<Shipped> &shipped, const std::vector<Term> &terms,
                            const Facts &facts) {
  // "in place" chooses among those that write into an input, which nobody else means.
  const bool isInPlace = std::any_of(terms.begin(), terms.end(), [](const Term &term) {
    return term.idea == inPlaceIdea && !term.isNegated;
  });
  std::vector<const Shipped *> eligible;
  for (const Shipped &one : shipped) {
    if (definition::writesInputs(one.op) == isInPlace) {
      eligible.push_back(&one);
    }
  }
  std::vector<Candidate> candidates;
  Ranker ranker(eligible, terms, facts);
  for (const Shipped *one : eligible) {
    if (auto candidate = ranker.judge(*one)) {
      candidates.push_back(std::move(*candidate));
    }
  }
  std::sort(candidates.begin(), candidates.end(), [](const Candidate &a, const Candidate &b) {
    const std::string &one = a.shipped->op.name, &other = b.shipped->op.name;
    return std::make_tuple(-a.score, one.size(), one) <
           std::make_tuple(-b.score, other.size(), other);
  });
  if (!candidates.empty() && candidates.front().score > 0) { // the others are no help then
    std::erase_if(candidates, [](const Candidate &one) { return one.score <= 0; });
  }
  return candidates;
}

} // namespace nereid::words
