// SPDX-License-Identifier: Apache-2.0
#include "lib/words/Parts.h"

#include <algorithm>
#include <cctype>

namespace nereid::words {
namespace {

/// Longer text in front of a colon is no label.
constexpr size_t mostLabel = 60;

constexpr std::string_view asides =
#define NEREID_ASIDE(terms) terms "|"
#include "lib/words/vocabulary.def"
    "";
constexpr std::string_view heads =
#define NEREID_HEAD(terms) terms "|"
#include "lib/words/vocabulary.def"
    "";

bool isLetter(char letter) { return std::isalnum(static_cast<unsigned char>(letter)) != 0; }

/// A word of the label as a whole; Chinese terms anywhere.
bool hasWord(const std::string &label, std::string_view term) {
  for (size_t at = label.find(term); at != std::string::npos; at = label.find(term, at + 1)) {
    const size_t end = at + term.size();
    const bool isWhole = (at == 0 || !isLetter(label[at - 1]) || !isLetter(term.front())) &&
                         (end == label.size() || !isLetter(label[end]) || !isLetter(term.back()));
    if (isWhole) {
      return true;
    }
  }
  return false;
}

bool isCalled(const std::string &label, std::string_view terms) {
  for (; !terms.empty(); terms.remove_prefix(terms.find('|') + 1)) {
    if (const auto term = terms.substr(0, terms.find('|')); hasWord(label, term)) {
      return true;
    }
  }
  return false;
}

struct Line {
  int number = 0;
  size_t level = 0;     ///< of a heading, 0 of none
  bool isBegun = false; ///< a bullet, a row, a label or a blank: it continues no other line
  std::string label;    ///< in lower case
};

/// "- ", "2.", "3)", "|", "> ", "一、", "（二）" in front of a line.
size_t markerLength(std::string_view line) {
  static constexpr std::string_view numerals[] = {"一", "二", "三", "四", "五", "六", "七",
                                                  "八", "九", "十", "（", "）", "、"};
  size_t at = 0;
  while (at < line.size()) {
    const auto numeral =
        std::find_if(std::begin(numerals), std::end(numerals),
                     [&](std::string_view one) { return line.substr(at).starts_with(one); });
    if (std::string_view(" \t-+*>|.)(`_").find(line[at]) != std::string_view::npos ||
        std::isdigit(static_cast<unsigned char>(line[at])) != 0) {
      ++at;
    } else if (numeral != std::end(numerals)) {
      at += numeral->size();
    } else {
      break;
    }
  }
  return at;
}

Line readLine(std::string_view text, int number) {
  Line line{number, 0, false, ""};
  const size_t first = text.find_first_not_of(" \t\r");
  text.remove_prefix(std::min(first, text.size()));
  while (line.level < text.size() && text[line.level] == '#') {
    ++line.level;
  }
  text.remove_prefix(line.level);
  const size_t marker = markerLength(text);
  line.isBegun = text.empty() || line.level > 0 || marker > 0;
  text.remove_prefix(marker);
  size_t end = std::min({text.find(':'), text.find("："), text.find('|')});
  if (line.level > 0) {
    end = std::min(end, text.size());
  }
  if (end != std::string_view::npos && end <= mostLabel) {
    line.label = lowerCase(std::string(text.substr(0, end)));
    line.isBegun = true;
  }
  return line;
}

bool isSubject(const Term &term) {
  return term.kind == TermKind::Operation || term.kind == TermKind::Weak ||
         term.kind == TermKind::Context || term.kind == TermKind::Word ||
         term.kind == TermKind::Unknown || term.kind == TermKind::Then ||
         term.kind == TermKind::Not;
}

bool saysSomething(const Term &term) {
  return !term.isNegated && (term.kind == TermKind::Operation || term.kind == TermKind::Weak);
}

} // namespace

Parts partsOf(std::string_view prose) {
  Parts parts;
  if (prose.find('\n') == std::string_view::npos) {
    return parts;
  }
  size_t asideLevel = 0; // of the heading that is aside, 0 below others
  bool isAside = false, hasTitle = false;
  int number = 0;
  while (!prose.empty()) {
    const size_t end = std::min(prose.find('\n'), prose.size());
    const std::string_view text = prose.substr(0, end);
    prose.remove_prefix(std::min(end + 1, prose.size()));
    const Line line = readLine(text, ++number);
    if (text.find_first_not_of(" \t\r") == std::string_view::npos) {
      isAside = false;
      continue;
    }
    if (!hasTitle) {
      hasTitle = true;
      parts.head.insert(number);
      continue;
    }
    const bool isNamedAside = isCalled(line.label, asides);
    if (line.level > 0 && (asideLevel == 0 || line.level <= asideLevel)) {
      asideLevel = isNamedAside ? line.level : 0;
    }
    isAside = line.isBegun ? isNamedAside && line.level == 0 : isAside;
    if (isAside || asideLevel > 0) {
      parts.aside.insert(number);
    } else if (line.level == 0 && isCalled(line.label, heads)) {
      parts.head.insert(number);
    }
  }
  return parts;
}

std::vector<Term> withoutAsides(std::vector<Term> terms, const Parts &parts) {
  const auto isAside = [&](const Term &term) { return parts.aside.contains(term.range.line); };
  const auto isLeft = [&](auto &&holds) {
    return std::any_of(terms.begin(), terms.end(),
                       [&](const Term &term) { return holds(term) && !isAside(term); });
  };
  const bool areSubjects = isLeft(saysSomething);
  const bool areTypes = isLeft([](const Term &term) { return term.kind == TermKind::Type; });
  std::erase_if(terms, [&](const Term &term) {
    return isAside(term) &&
           ((areSubjects && isSubject(term)) || (areTypes && term.kind == TermKind::Type));
  });
  return terms;
}

std::vector<Term> ofHead(const std::vector<Term> &terms, const Parts &parts) {
  std::vector<Term> head;
  std::copy_if(terms.begin(), terms.end(), std::back_inserter(head),
               [&](const Term &term) { return parts.head.contains(term.range.line); });
  if (std::none_of(head.begin(), head.end(), saysSomething)) {
    head.clear();
  }
  return head;
}

} // namespace nereid::words
