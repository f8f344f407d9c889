// SPDX-License-Identifier: Apache-2.0
#include "lib/words/numbers/Literals.h"

#include "lib/words/numbers/WindowSizes.h"

#include <fmt/format.h>

#include <algorithm>
#include <cctype>
#include <regex>

namespace nereid::words {
namespace {

/// "2" of "scale_factor=2", "2, 3" of "(2, 3)", and the name in front of it, in `text`.
struct Literal {
  std::string name, value;
  size_t begin = 0, end = 0;
};

/// Arguments of calls that are numbers, by their names, or the last ones without.
std::vector<Literal> literalsOf(const std::string &body) {
  static const std::regex form(
      R"((?:(\w+)=|, |\()(-?[0-9][0-9.]*(?:e-?[0-9]+)?(?:, [0-9]+)*|\([0-9]+(?:, [0-9]+)*\))(?=[,)]))");
  std::vector<Literal> found;
  for (std::sregex_iterator at(body.begin(), body.end(), form), end; at != end; ++at) {
    const auto begin = static_cast<size_t>(at->position(2));
    found.push_back({(*at)[1].str(), (*at)[2].str(), begin, begin + (*at)[2].str().size()});
  }
  return found;
}

/// Factors of "2 * H" in the shapes of results.
const std::regex &multiplier() {
  static const std::regex form(R"re(([0-9]+)( \* [A-Za-z_]\w*))re");
  return form;
}

bool isOutputShape(const std::string &section, const std::string &line) {
  return section.starts_with("[outputs.") && line.starts_with("shape = ");
}

/// Calls `use` with each line of a definition's file and the line that its table begins with.
template <class Use> void forLines(const std::string &text, const Use &use) {
  std::string section;
  for (size_t at = 0; at < text.size();) {
    const size_t end = std::min(text.find('\n', at), text.size());
    const std::string line = text.substr(at, end - at);
    at = end + 1;
    if (line.starts_with("[")) {
      section = line;
    }
    use(section, line);
  }
}

/// The text with another body, and with each factor of a result's size replaced where there is one.
std::string withBody(const Shipped &shipped, const std::string &body, const std::string &said,
                     const std::string &factor) {
  std::string text;
  forLines(shipped.text, [&](const std::string &section, std::string line) {
    if (section == "[operator]" && line.starts_with("summary = ")) {
      line = fmt::format("summary = \"As {}, with {}.\"", shipped.op.name, said);
    }
    if (!factor.empty() && isOutputShape(section, line)) {
      line = std::regex_replace(line, multiplier(), factor + "$2");
    }
    text += line + "\n";
  });
  const size_t old = text.find(shipped.op.body);
  return old == std::string::npos ? "" : text.replace(old, shipped.op.body.size(), body);
}

/// Factors by which results are larger, "2, 3"; "" where they are not.
std::string factorsOf(const Shipped &shipped) {
  std::string factors;
  forLines(shipped.text, [&](const std::string &section, const std::string &line) {
    if (isOutputShape(section, line) && line.find(" * ") != std::string::npos) {
      for (std::sregex_iterator one(line.begin(), line.end(), multiplier()), last; one != last;
           ++one) {
        factors += (factors.empty() ? "" : ", ") + (*one)[1].str();
      }
    }
  });
  return factors;
}

bool isWhole(const LooseNumber &number) {
  return number.value >= 1 && number.value < 1000 &&
         number.text.find_first_not_of("0123456789") == std::string::npos;
}

/// Nothing of a text that the reader of definitions refuses.
std::optional<OtherNumber> readBack(OtherNumber other) {
  Diagnostics diags;
  auto op = other.text.empty() ? std::nullopt
                               : definition::parseOperator("definition", other.text, diags);
  if (!op) {
    return std::nullopt;
  }
  other.op = std::move(*op);
  return other;
}

std::optional<OtherNumber> read(const Shipped &shipped, const std::string &body,
                                const std::string &said, const std::string &factor) {
  return readBack({said, withBody(shipped, body, said, factor), {}});
}

std::string replaced(const std::string &body, const Literal &literal, const std::string &value) {
  return body.substr(0, literal.begin) + value + body.substr(literal.end);
}

/// The argument that makes the results larger: it is their factor, or one for each size.
std::optional<OtherNumber> withFactor(const Shipped &shipped, const LooseNumber &number,
                                      const std::vector<Literal> &literals) {
  const std::string own = factorsOf(shipped);
  if (!isWhole(number) || !hasOtherFactors(shipped, number)) {
    return std::nullopt;
  }
  const std::string first = own.substr(0, own.find(','));
  for (const Literal &literal : literals) {
    const bool isEach = literal.value == own && own != first; // "repeat(2, 3)"
    if (literal.value != first && !isEach && literal.value != "(" + own + ")") {
      continue;
    }
    const std::string name = literal.name.empty() ? "factor" : literal.name;
    const std::string value =
        isEach ? std::regex_replace(own, std::regex("[0-9]+"), number.text) : number.text;
    const std::string said = fmt::format("{} {} instead of {}", name, value, literal.value);
    if (auto other = read(shipped, replaced(shipped.op.body, literal, value), said, number.text)) {
      return other;
    }
  }
  const std::string sizes = std::regex_replace(shipped.op.body, multiplier(), number.text + "$2");
  const std::string said = fmt::format("the factor {} instead of {}", number.text, own);
  return sizes == shipped.op.body ? std::nullopt : read(shipped, sizes, said, number.text);
}

/// "smoothing" of "label_smoothing": the word in front of the number is part of the name.
bool isCalled(const Literal &literal, const std::string &word) {
  const auto tokens = tokenize("", literal.name.empty() ? "_" : literal.name);
  return tokens && std::any_of(tokens->begin(), tokens->end(), [&](const Token &token) {
           return token.kind == TokenKind::Word && token.text == word;
         });
}

} // namespace

bool hasOtherFactors(const Shipped &shipped, const LooseNumber &number) {
  const std::string own = number.isFactor ? factorsOf(shipped) : "";
  return !own.empty() && std::regex_replace(own, std::regex("[0-9]+"), number.text) != own;
}

std::optional<OtherNumber> withOtherBody(const Shipped &shipped, const std::string &body,
                                         const std::string &said, const std::string &shape) {
  OtherNumber other{said, "", {}};
  forLines(withBody(shipped, body, said, ""),
           [&](const std::string &section, const std::string &line) {
             other.text += !shape.empty() && isOutputShape(section, line) ? shape : line;
             other.text += "\n";
           });
  return readBack(std::move(other));
}

namespace {

/// "k = 50", "256 bins": an argument that is a size of the result too, and of constraints. Whether
/// all of it agrees, the reader of definitions says.
std::optional<OtherNumber> withSize(const Shipped &shipped, const LooseNumber &number) {
  const auto argument =
      std::find_if(shipped.arguments.begin(), shipped.arguments.end(), [&](const auto &one) {
        return one.values.size() == 1 && (isArgumentCalled(one.name, number.before) ||
                                          isArgumentCalled(one.name, number.unit));
      });
  if (argument == shipped.arguments.end() || !isWhole(number) ||
      argument->text.find_first_not_of("0123456789") != std::string::npos) {
    return std::nullopt;
  }
  const std::vector<Literal> literals = literalsOf(shipped.op.body);
  const auto isIt = [&](const Literal &literal) {
    return literal.value == argument->text &&
           (literal.name.empty() || literal.name == argument->name);
  };
  if (std::count_if(literals.begin(), literals.end(), isIt) != 1) {
    return std::nullopt;
  }
  const Literal &literal = *std::find_if(literals.begin(), literals.end(), isIt);
  const std::string said =
      fmt::format("{} {} instead of {}", argument->name, number.text, literal.value);
  const std::regex size("\\b" + literal.value + "\\b");
  std::string text;
  bool isOfResult = false;
  forLines(withBody(shipped, replaced(shipped.op.body, literal, number.text), said, ""),
           [&](const std::string &section, const std::string &line) {
             const bool isResult = isOutputShape(section, line);
             const bool isSize =
                 isResult || (section == "[operator]" && line.starts_with("constraints = "));
             const std::string other = isSize ? std::regex_replace(line, size, number.text) : line;
             isOfResult |= isResult && other != line;
             text += other + "\n";
           });
  return isOfResult ? readBack({said, text, {}}) : std::nullopt;
}

} // namespace

std::optional<OtherNumber> withReduction(const Shipped &shipped, const std::string &reduction) {
  static const std::regex form(R"re(reduction=(["'])(\w+)["'])re");
  std::smatch found;
  if (!std::regex_search(shipped.op.body, found, form)) {
    return std::nullopt;
  }
  const std::string quote = found[1].str(), own = found[2].str();
  const std::string body = std::regex_replace(
      shipped.op.body, form, fmt::format("reduction={}{}{}", quote, reduction, quote));
  return read(shipped, body, fmt::format("reduction {} instead of {}", reduction, own), "");
}

std::optional<OtherNumber> withNumber(const Shipped &shipped, const LooseNumber &number) {
  if (auto other = withSize(shipped, number)) {
    return other;
  }
  if (!number.isFactor &&
      (number.before.empty() || shipped.op.body.find(number.before) == std::string::npos)) {
    return std::nullopt;
  }
  const std::vector<Literal> literals = literalsOf(shipped.op.body);
  if (number.isFactor) {
    if (auto other = withFactor(shipped, number, literals)) {
      return other;
    }
  }
  for (const Literal &literal : literals) {
    if (number.before.empty() || literal.value == number.text ||
        !isCalled(literal, number.before) || literal.value[0] == '(') {
      continue;
    }
    const std::string said =
        fmt::format("{} {} instead of {}", literal.name, number.text, literal.value);
    if (auto other = read(shipped, replaced(shipped.op.body, literal, number.text), said, "")) {
      return other;
    }
  }
  return std::nullopt;
}

} // namespace nereid::words
