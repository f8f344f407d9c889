// SPDX-License-Identifier: Apache-2.0
#include "lib/words/Doubt.h"

#include "lib/definition/operations/Operations.h"
#include "lib/words/numbers/Numbers.h"

#include <fmt/format.h>

#include <algorithm>
#include <cctype>
#include <map>

namespace nereid::words {
namespace {

/// Part of the first score that the second must stay below.
constexpr double clearlyBelow = 0.86;

/// The text asks for something that the definition does not have: an operation that goes by an
/// everyday word, or an input.
bool isLacking(const Shipped &one, const Term &term) {
  static const std::set<std::string> everyday = {"all", "any", "where", "norm", "normalisation"};
  static const std::set<std::string> inputs = {"bias", "weight", "gate", "alpha", "beta"};
  const bool isAsked = (term.kind == TermKind::Weak && !everyday.contains(term.idea)) ||
                       inputs.contains(term.idea) || term.idea == "random";
  const bool isSign = term.text == "+" || term.text == "*" || term.text == "/"; // of a formula
  // "gelu of x times y": between two operands, where the definition has one.
  static const std::set<std::string> between = {"times", "plus", "minus", "divided",
                                                "乘以",  "加上", "减去",  "除以"};
  if (between.contains(term.text) && !term.isNegated && one.op.parameters.size() == 1) {
    return true;
  }
  // "sort columns"
  const bool isColumn = term.text == "columns" || term.text == "column";
  if (isColumn && term.kind == TermKind::Word && !one.has(term.idea) && !one.has("columns")) {
    return true;
  }
  // "normalise by L1": the second power is what goes without saying.
  const bool isPower = term.idea.size() == 2 && term.idea[0] == 'l' && term.idea[1] >= '0' &&
                       term.idea[1] <= '9' && term.idea != "l2";
  if (isPower && !term.isNegated && !one.has(term.idea)) {
    return true;
  }
  const bool isOwn = term.idea == "bias" || term.idea == "gate"; // a scene may speak of another's
  if (isOwn && !term.isNegated) {
    return !one.computes(term.idea) && !one.inputs.contains(term.idea);
  }
  const bool hasIt = isSign ? one.body.contains(term.idea) : one.has(term.idea);
  return isAsked && !term.isNegated && !hasIt;
}

/// Calls of a product of two matrices, as they are.
const std::set<std::string> &productWords() {
  static const std::set<std::string> words = {"matrix product",
                                              "matrix product of two",
                                              "matrix multiplication",
                                              "matrix multiply",
                                              "matmul",
                                              "gemm",
                                              "multiply two matrices",
                                              "@",
                                              "两个矩阵相乘",
                                              "矩阵相乘",
                                              "两个矩阵的乘积",
                                              "矩阵乘",
                                              "矩阵乘法"};
  return words;
}

/// A product of matrices is of two: a definition with a third tensor is meant where the text names
/// it, or a layer.
bool hasTensorsNobodyNamed(const Shipped &one, const std::vector<Term> &terms) {
  bool isProduct = false, isLayer = false, isMore = false;
  for (const Term &term : terms) {
    const bool isMatmul = term.idea == "matmul";
    isProduct |= isMatmul && productWords().contains(term.text);
    isLayer |= isMatmul && !productWords().contains(term.text);
    isMore |= !isMatmul && term.idea != "transpose" && !term.isNegated &&
              (term.kind == TermKind::Operation || term.kind == TermKind::Weak ||
               term.kind == TermKind::Context);
  }
  const auto tensors = std::count_if(one.op.parameters.begin(), one.op.parameters.end(),
                                     [](const auto &parameter) { return !parameter.isScalar; });
  return isProduct && !isLayer && !isMore && tensors > 2;
}

/// "the upper triangle" has the diagonal: a view by another number than a call without it is meant
/// where the text says the number, or of what it is.
bool hasNumberNobodySaid(const Shipped &one, const std::vector<Term> &terms, const Facts &facts) {
  return std::any_of(one.arguments.begin(), one.arguments.end(), [&](const BodyArgument &argument) {
    const definition::Operation *operation = definition::findOperation(argument.function);
    const definition::Function *function = definition::findFunction(argument.function);
    const bool isWindow = argument.name == "stride" || argument.name == "dilation";
    const bool isView = operation && operation->kind == definition::OperationKind::View;
    if ((!operation && !function) || argument.values.size() != 1 ||
        !(isView || (isWindow && argument.function.starts_with("conv")))) {
      return false;
    }
    const auto &signature = operation ? operation->arguments : function->arguments;
    const auto own = std::find_if(signature.begin(), signature.end(),
                                  [&](const auto &each) { return each.name == argument.name; });
    const bool isOther =
        own != signature.end() && own->hasDefault && own->defaultText != argument.text;
    const bool isSaid =
        std::any_of(facts.loose.begin(), facts.loose.end(),
                    [&](const auto &number) { return number.value == argument.values[0]; }) ||
        std::any_of(terms.begin(), terms.end(),
                    [&](const Term &term) { return term.idea == stem(argument.name); });
    return isOther && !isSaid;
  });
}

/// "scale" of a name, where a number input has this name: the result depends on it.
bool isFactor(const definition::Operator &op, const std::string &name) {
  return (name == "scale" || name == "shift") &&
         std::any_of(op.parameters.begin(), op.parameters.end(), [&](const auto &parameter) {
           return parameter.isScalar && parameter.name == name && parameter.value != 1;
         });
}

/// The first two dimensions of matrices, but for those of results, make a product.
template <class List, class Dims> bool isProduct(const List &list, const Dims &dims) {
  static const std::set<std::string> results = {"output", "out", "result", "y", "输出", "结果"};
  std::vector<std::decay_t<decltype(dims(list.front()))>> matrices;
  for (const auto &shape : list) {
    if (!results.contains(lowerCase(shape.of))) {
      matrices.push_back(dims(shape));
    }
  }
  return matrices.size() > 1 && matrices[0].size() == 2 && matrices[1].size() == 2 &&
         matrices[0][1] == matrices[1][0] && matrices[0][1] != matrices[1][1];
}

/// "matmul, bias and ReLU", "[32, 1024] times [1024, 4096]" are no linear layer, whose weights are
/// [4096, 1024]; "matmul and bias" is the layer itself.
bool isTurned(const Shipped &one, const std::vector<Term> &terms, const Facts &facts) {
  const auto has = [&](bool isProductWord) {
    return std::any_of(terms.begin(), terms.end(), [&](const Term &term) {
      return term.idea == "matmul" && productWords().contains(term.text) == isProductWord;
    });
  };
  const bool isSaid = std::any_of(terms.begin(), terms.end(), [](const Term &term) {
    return term.idea == "transpose" && !term.isNegated;
  });
  return one.op.body.find("F.linear(") != std::string::npos &&
         ((has(true) && !has(false) && !isSaid && one.names.size() > 1) ||
          isProduct(facts.shapes, [](const ShapeFact &shape) { return shape.sizes; }) ||
          isProduct(facts.namedShapes, [](const NamedShapeFact &shape) { return shape.names; }));
}

/// Letters in the order in which they appear: "bik,bkj->bij" is "abc,bcd->abd".
std::string renamed(const std::string &equation) {
  std::map<char, char> letters;
  std::string result;
  for (const char letter : equation) {
    if (std::isalpha(static_cast<unsigned char>(letter)) != 0) {
      letters.emplace(letter, static_cast<char>('a' + letters.size()));
      result += letters[letter];
    } else if (letter != ' ') {
      result += letter;
    }
  }
  return result;
}

/// The text has an equation of sums, and the body another one, or none.
bool isOtherEquation(const Shipped &one, const Facts &facts) {
  if (facts.equation.empty()) {
    return false;
  }
  const std::string &body = one.op.body;
  for (size_t at = body.find("einsum("); at != std::string::npos;
       at = body.find("einsum(", at + 1)) {
    const size_t begin = body.find_first_of("\"'", at) + 1;
    const size_t end = body.find_first_of("\"'", begin);
    if (begin > 0 && end != std::string::npos &&
        renamed(body.substr(begin, end - begin)) == renamed(facts.equation)) {
      return false;
    }
  }
  return true;
}

/// "attention with rotary embedding", 带旋转编码的注意力: what the text is of, though attention is
/// also where much is used ("softmax for attention", "attention scores").
const Term *attentionItself(const Shipped &one, const std::vector<Term> &terms) {
  if (terms.size() < 2 || one.computes("attention")) {
    return nullptr;
  }
  const auto isEnglish = [](const Term &term) { return (term.text[0] & 0x80) == 0; };
  const Term &first = terms.front(), &last = terms.back();
  const bool isFollowed =
      terms[1].range.line == first.range.line && terms[1].first == first.last + 1;
  if (first.idea == "attention" && isEnglish(first) && !isFollowed) {
    return &first;
  }
  return last.idea == "attention" && !isEnglish(last) ? &last : nullptr;
}

/// "add then layer norm", "rotary plus attention": a step of the text that the definition does not
/// say it has, though its body may compute the like within.
const Term *partBeside(const Shipped &one, const std::vector<Term> &terms) {
  static const std::set<std::string> arithmetic = {"add", "sub", "mul", "div", "residual"};
  static const std::set<std::string> nouns = {"attention"};
  const auto isSaid = [&](const Term &term) {
    return one.names.contains(term.idea) || one.summary.contains(term.idea);
  };
  for (size_t i = 0; i + 1 < terms.size(); ++i) {
    const Term &first = terms[i], &second = terms[i + 1];
    const bool isStep = second.kind == TermKind::Then && arithmetic.contains(first.idea);
    if (isStep && !first.isNegated && !isSaid(first)) {
      return &first;
    }
    for (const auto &[noun, sign] : {std::pair(&first, &second), std::pair(&second, &first)}) {
      const bool isJoined = sign->text == "+" || sign->text == "加" || sign->text == "plus";
      if (isJoined && nouns.contains(noun->idea) && !one.computes(noun->idea)) {
        return noun;
      }
    }
  }
  return nullptr;
}

} // namespace

std::optional<std::string> doubtOf(const std::vector<Candidate> &candidates,
                                   const std::vector<Term> &terms, const Facts &facts) {
  if (candidates.empty() || candidates[0].score <= 0) {
    return "";
  }
  if (candidates[0].isClass) {
    return "the text says no more than its kind";
  }
  const Candidate &best = candidates[0];
  const auto anyOf = [&](auto &&holds) { return std::any_of(terms.begin(), terms.end(), holds); };
  if (!hasNumbersOf(*best.shipped, facts)) {
    return "its numbers, windows, dimensions or reduction are not those of the text";
  }
  if (hasTensorsNobodyNamed(*best.shipped, terms)) {
    return "it has a tensor that the text does not name";
  }
  if (hasNumberNobodySaid(*best.shipped, terms, facts)) {
    return "it has a number that the text does not say";
  }
  const auto products = static_cast<int>(best.shipped->body.contains("matmul")) +
                        static_cast<int>(best.shipped->body.contains("conv2d"));
  if (facts.areLayers && products < 2 && !facts.isDocument) {
    return "the text has several layers";
  }
  if (facts.parts && static_cast<size_t>(*facts.parts) != best.shipped->op.outputNames.size()) {
    return fmt::format("it has {} results", best.shipped->op.outputNames.size());
  }
  if (isOtherEquation(*best.shipped, facts)) {
    return fmt::format("its equation is not '{}'", facts.equation);
  }
  if (isTurned(*best.shipped, terms, facts)) {
    return "it takes the second matrix turned, a row for each column of the result";
  }
  // "fp8 to fp32" is no "to_float8".
  const auto isInName = [&](const Term &type) { return best.shipped->names.contains(type.idea); };
  const bool isOtherCast = best.shipped->op.name.starts_with("to_") && !facts.castTypes.empty() &&
                           std::none_of(facts.castTypes.begin(), facts.castTypes.end(), isInName);
  if (best.lacksName || isOtherCast) {
    return "the text names another one";
  }
  const bool hasUnknown = anyOf(
      [&](const Term &term) { return term.kind == TermKind::Unknown && !isOfFact(term, facts); });
  // Prose of a document has words of its own: a name of several words is no accident there.
  const bool isWholeName = facts.isDocument && best.isWhole && best.shipped->names.size() > 1;
  const bool isNamed = isWholeName || anyOf([&](const Term &term) {
                         return isStrong(term) || (term.kind == TermKind::Word &&
                                                   best.shipped->names.contains(term.idea));
                       });
  const auto lacking = std::find_if(terms.begin(), terms.end(), [&](const Term &term) {
    return !isOfFact(term, facts) &&
           (isElsewhere(*best.shipped, term) || isLacking(*best.shipped, term));
  });
  if (lacking != terms.end()) {
    return fmt::format("it has no '{}'", lacking->text);
  }
  for (size_t i = 0; i + 1 < terms.size(); ++i) { // "gumbel softmax"
    const Term &word = terms[i], &next = terms[i + 1];
    if (word.kind == TermKind::Word && !word.isNegated && isStrong(next) &&
        next.first == word.last + 1 && word.idea.find_first_of("0123456789") == std::string::npos &&
        !best.shipped->has(word.idea) && !isOfFact(word, facts)) {
      return fmt::format("it has no '{}'", word.text);
    }
  }
  if (const Term *itself = attentionItself(*best.shipped, terms)) {
    return fmt::format("it has no '{}'", itself->text);
  }
  if (const Term *part = partBeside(*best.shipped, terms)) {
    return fmt::format("'{}' is no part of it", part->text);
  }
  // A function of its name that the text does not ask for: "dropout" is not "layer_norm_dropout",
  // and "linear followed by tanh" not "linear_gelu_tanh".
  static const std::set<std::string> arithmetic = {"add", "sub", "mul", "div"}; // how, not what
  const auto more =
      std::find_if(best.missing.begin(), best.missing.end(), [&](const std::string &name) {
        const definition::Operation *operation = definition::findOperation(name);
        const bool isFunction = operation && !arithmetic.contains(name) &&
                                (operation->kind == definition::OperationKind::Composite ||
                                 operation->kind == definition::OperationKind::Pointwise);
        return isFunction || name == "backward" || isFactor(best.shipped->op, name);
      });
  if (more != best.missing.end()) {
    return fmt::format("the text does not say '{}'", *more);
  }
  // "the upper part" is not "positive_part": a word of its name that says nothing by itself.
  const bool isKnown = anyOf([&](const Term &term) {
    return !term.isNegated && (best.shipped->names.contains(term.idea) || isStrong(term)) &&
           term.kind != TermKind::Word && term.kind != TermKind::Unknown;
  });
  if (!isKnown && !best.isWhole) {
    return "the text says only a part of its name";
  }
  const bool isExcluding = anyOf([](const Term &term) { return term.isNegated; });
  if (hasUnknown && !isNamed) {
    return "the text has words that no definition has";
  }
  if (isExcluding && !best.isWhole) {
    return "the text excludes something, and does not say all of its name";
  }
  // "add a bias and then GELU" is no GELU alone, whatever scenes the text speaks of.
  const auto rival =
      std::find_if(candidates.begin() + 1, candidates.end(), [&](const Candidate &one) {
        return !anyOf([&](const Term &term) {
          return !isOfFact(term, facts) && isLacking(*one.shipped, term);
        });
      });
  if (rival == candidates.end()) {
    return std::nullopt;
  }
  const Candidate &second = *rival;
  for (const Term &type : facts.types) {
    const DType asked = *parseDType(type.idea);
    if (!definition::checkDtype(best.shipped->op, asked) &&
        definition::checkDtype(second.shipped->op, asked)) {
      return fmt::format("it is not defined for {}, as '{}' is", type.idea,
                         second.shipped->op.name);
    }
  }
  if (second.score < clearlyBelow * best.score) {
    return std::nullopt;
  }
  const bool isPlainer =
      best.shipped->names == second.shipped->names &&
      (best.score > second.score || best.shipped->op.name.size() < second.shipped->op.name.size());
  // Long texts have much in which both agree: of two that both have it, one has the rank as well.
  const bool isOfRank =
      best.isWhole && best.hasRank && !second.hasRank &&
      std::includes(best.ideas.begin(), best.ideas.end(), second.ideas.begin(), second.ideas.end());
  const bool isAhead = best.isWhole && !second.isWhole && second.score < best.score;
  return isPlainer || isOfRank || isAhead
             ? std::nullopt
             : std::optional(fmt::format("'{}' is nearly as near", second.shipped->op.name));
}

} // namespace nereid::words
