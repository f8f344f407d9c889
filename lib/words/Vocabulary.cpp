// SPDX-License-Identifier: Apache-2.0
#include "lib/words/Vocabulary.h"

#include "lib/definition/operations/Operations.h"

#include <algorithm>
#include <unordered_map>

namespace nereid::words {
namespace {

/// Longest term, in tokens.
constexpr size_t mostTokens = 8;
/// Words that are compared with all names for one wrong letter; a text has few, a file many.
constexpr int mostCorrections = 200;
constexpr size_t shortestCorrected = 6;

struct Entry {
  TermKind kind;
  std::string idea;
  size_t tokens; ///< in which it is written
};

bool isJoint(const Token &token) {
  return token.kind == TokenKind::Symbol && (token.text == "-" || token.text == "_");
}

bool isWritten(const Token &token) { return token.kind != TokenKind::Symbol; }

/// Left out between the words of a term: "count the nonzero".
bool isFiller(const Token &token) {
  return token.text == "a" || token.text == "the" || token.text == "of";
}

/// Entries under their tokens, joined.
struct Lexicon {
  std::unordered_map<std::string, Entry> entries;

  void add(TermKind kind, const std::string &idea, std::string_view spelling) {
    auto tokens = tokenize("", spelling);
    std::string key;
    size_t count = 0;
    for (const Token &token : *tokens) {
      if (isWritten(token) && (count == 0 || !isFiller(token))) {
        key += token.text;
        ++count;
      }
    }
    // "layer norm", "layer normalisation"; the first entry of a key stays.
    if (key.size() > 4 && key.ends_with("norm")) {
      entries.emplace(key + "alization", Entry{kind, idea, count});
    }
    entries.emplace(std::move(key), Entry{kind, idea, count});
  }

  Lexicon() {
    const auto addAll = [&](TermKind kind, const char *idea, std::string_view terms) {
      while (!terms.empty()) {
        const std::string_view term = terms.substr(0, terms.find('|'));
        terms.remove_prefix(std::min(terms.size(), term.size() + 1));
        add(kind, idea, term);
      }
    };
#define NEREID_WORD(kind, idea, terms) addAll(TermKind::kind, #idea, terms);
#include "lib/words/vocabulary.def"
    for (const auto *names : {&definition::operationNames(), &definition::functionNames()}) {
      for (const std::string &name : *names) {
        if (name.ends_with("_backward")) {
          continue; // "backward" and what it is of are two terms
        }
        add(TermKind::Operation, name, name);
      }
    }
  }
};

const Lexicon &lexicon() {
  static const Lexicon one;
  return one;
}

/// One letter changed, missing, too many, or two neighbours exchanged.
bool differsByOne(const std::string &one, const std::string &other) {
  if (one.size() > other.size()) {
    return differsByOne(other, one);
  }
  const size_t begin = static_cast<size_t>(
      std::mismatch(one.begin(), one.end(), other.begin(), other.end()).first - one.begin());
  const auto rest = [&](size_t a, size_t b) {
    return one.compare(std::min(a, one.size()), std::string::npos, other, b) == 0;
  };
  if (other.size() == one.size() + 1) {
    return rest(begin, begin + 1);
  }
  const bool isExchanged = other.size() == one.size() && begin + 1 < one.size() &&
                           one[begin] == other[begin + 1] && one[begin + 1] == other[begin] &&
                           rest(begin + 2, begin + 2);
  return other.size() == one.size() &&
         (isExchanged || (begin < one.size() && rest(begin + 1, begin + 1)));
}

const Entry *nearest(const std::string &key) {
  const Entry *found = nullptr;
  for (const auto &[name, entry] : lexicon().entries) {
    const bool isNamed = entry.kind == TermKind::Operation && name.size() + 1 >= shortestCorrected;
    // The first letter is seldom wrong: "router" is no "outer".
    if (!isNamed || name.front() != key.front() || !differsByOne(key, name)) {
      continue;
    }
    if (found && found->idea != entry.idea) {
      return nullptr; // as near to two
    }
    found = &entry;
  }
  return found;
}

/// What begins at one token.
struct Match {
  const Entry *entry = nullptr;
  size_t end = 0; ///< behind its last token
  bool isCorrected = false;
};

class Finder {
public:
  Finder(const std::vector<Token> &tokens, const std::set<std::string> *known)
      : tokens(tokens), known(known) {}

  std::vector<Term> find() {
    for (size_t at = 0; at < tokens.size();) {
      if (!isWritten(tokens[at])) {
        if (const Entry *sign = signAt(at)) {
          add(sign->kind, sign->idea, at, at + 1);
        }
        ++at;
        continue;
      }
      Match match = longestAt(at, false);
      const bool isOpen = !match.entry || match.entry->kind == TermKind::Stop;
      const bool hasLost =
          known && (isLost(tokens[at]) || (at + 1 < tokens.size() && isLost(tokens[at + 1])));
      if (isOpen && hasLost) {
        const Match corrected = longestAt(at, true);
        match = corrected.entry ? corrected : match;
      }
      if (match.entry) {
        add(match.entry->kind, match.entry->idea, at, match.end);
        terms.back().isCorrected = match.isCorrected;
        at = match.end;
      } else {
        at = addWord(at);
      }
    }
    std::erase_if(terms, [](const Term &term) { return term.kind == TermKind::Stop; });
    std::erase_if(terms, [&](const Term &term) { // "1024 columns" are a size
      return term.idea == stem("columns") && term.first > 0 &&
             tokens[term.first - 1].kind == TokenKind::Number;
    });
    settlePadding();
    openAffine();
    return std::move(terms);
  }

private:
  const std::vector<Token> &tokens;
  const std::set<std::string> *known;
  std::vector<Term> terms;
  int corrections = 0;

  /// "padding" is the operator where no other is named: else it is one's argument.
  void settlePadding() {
    static const std::set<std::string> own = {"pad", "reflect", "replicate", "circular"};
    const bool isOther = std::any_of(terms.begin(), terms.end(), [](const Term &term) {
      return term.kind == TermKind::Operation && !own.contains(term.idea);
    });
    for (Term &term : terms) {
      const std::string word = lowerCase(term.text);
      if (isOther && term.idea == "pad" && word != "pad" && word != "pads" && word != "padded") {
        term.kind = TermKind::Word;
        term.idea = stem("padding");
      }
    }
  }

  /// "without affine parameters" is without a weight and a bias.
  void openAffine() {
    for (size_t i = 0; i < terms.size(); ++i) {
      if (terms[i].idea == "affine") {
        terms[i].idea = "weight";
        terms.insert(terms.begin() + static_cast<std::ptrdiff_t>(i), terms[i]);
        terms[i].idea = "bias";
      }
    }
  }

  bool isLost(const Token &token) const {
    return token.kind == TokenKind::Word && !lexicon().entries.contains(token.text) &&
           !known->contains(token.text);
  }

  /// "x + b", "a * b", "1/sqrt(x)", "x @ w": between two values of one line, so that no bullet,
  /// emphasis or "and/or" is one.
  const Entry *signAt(size_t at) const {
    static const std::unordered_map<std::string, Entry> signs = {
        {"+", {TermKind::Weak, "add", 1}},
        {"*", {TermKind::Weak, "mul", 1}},
        {"/", {TermKind::Weak, "div", 1}},
        {"@", {TermKind::Operation, "matmul", 1}}};
    const auto sign = signs.find(tokens[at].text);
    if (sign == signs.end() || at == 0 || at + 1 >= tokens.size() || !known) {
      return nullptr;
    }
    const Token &before = tokens[at - 1], &after = tokens[at + 1];
    const bool isLine = before.range.line == after.range.line;
    const bool isBetween = (isWritten(before) || before.text == ")" || before.text == "]") &&
                           (isWritten(after) || after.text == "(");
    const bool isSizes = before.kind == TokenKind::Number && after.kind == TokenKind::Number;
    const bool isWord =
        sign->first == "/" && before.kind == TokenKind::Word && before.text.size() > 1; // "and/or"
    return isLine && isBetween && !isSizes && !isWord ? &sign->second : nullptr;
  }

  bool isStop(const std::string &text) const {
    auto found = lexicon().entries.find(text);
    return found != lexicon().entries.end() && found->second.kind == TermKind::Stop;
  }

  /// Parts of a name that is written apart have two letters at least, and not all of them say
  /// nothing: "s in" would be "sin", "as in" "asin".
  Match longestAt(size_t at, bool isCorrecting) {
    Match match;
    std::string key;
    size_t count = 0;
    bool isSplit = true, isAllStop = true;
    for (size_t next = at; next < tokens.size() && next < at + 2 * mostTokens; ++next) {
      if (isJoint(tokens[next]) || (count > 0 && tokens[next].text == "=")) { // "dim=0"
        continue;
      }
      if (!isWritten(tokens[next]) || count == mostTokens) {
        break;
      }
      const std::string &text = tokens[next].text;
      if (count > 0 && isFiller(tokens[next])) {
        continue;
      }
      key += text;
      ++count;
      isSplit &= tokens[next].kind == TokenKind::Word && text.size() > 1;
      isAllStop &= isStop(text);
      if (isCorrecting) {
        if (count > 2 || key.size() < shortestCorrected || !isSplit ||
            ++corrections > mostCorrections || !isLost(tokens[next])) {
          continue;
        }
        if (const Entry *entry = nearest(key)) {
          match = {entry, next + 1, true};
        }
        continue;
      }
      auto found = lexicon().entries.find(key);
      if (found != lexicon().entries.end() &&
          (count == 1 || (isSplit && !isAllStop) || count == found->second.tokens)) {
        match = {&found->second, next + 1, false};
      }
    }
    return match;
  }

  void add(TermKind kind, const std::string &idea, size_t at, size_t end) {
    Term term{kind, idea, "", tokens[at].range, at, end - 1};
    for (size_t i = at; i < end; ++i) {
      const bool isApart = i > at && tokens[i].kind != TokenKind::Han && !isJoint(tokens[i]) &&
                           !isJoint(tokens[i - 1]);
      term.text += (isApart ? " " : "") + tokens[i].name;
    }
    if (tokens[end - 1].range.line == term.range.line) {
      term.range.endColumn = tokens[end - 1].range.endColumn;
    }
    // "without a bias", "不加偏置": at most one word stands between.
    const auto isBefore = [&](const Term &one) {
      return one.kind == TermKind::Not && at - one.last <= 2;
    };
    term.isNegated = (!terms.empty() && isBefore(terms.back())) ||
                     (terms.size() > 1 && terms.back().kind == TermKind::Stop &&
                      isBefore(terms[terms.size() - 2]));
    terms.push_back(std::move(term));
  }

  /// A word that no list has; Chinese characters up to the next term are one.
  size_t addWord(size_t at) {
    const Token &token = tokens[at];
    size_t end = at + 1;
    if (token.kind == TokenKind::Number) {
      return end;
    }
    if (token.kind == TokenKind::Han) {
      while (end < tokens.size() && tokens[end].kind == TokenKind::Han &&
             !longestAt(end, false).entry) {
        ++end;
      }
    }
    if (token.kind == TokenKind::Han || token.text.size() > 1 || !known) {
      add(!known || known->contains(token.text) ? TermKind::Word : TermKind::Unknown, token.text,
          at, end);
    }
    return end;
  }
};

} // namespace

std::vector<Term> findTerms(const std::vector<Token> &tokens, const std::set<std::string> *known) {
  return Finder(tokens, known).find();
}

bool areOpposite(const std::string &one, const std::string &other) {
  static const std::set<std::pair<std::string, std::string>> pairs = {
#define NEREID_OPPOSITE(one, other) {#one, #other}, {#other, #one},
#include "lib/words/vocabulary.def"
  };
  return pairs.contains({one, other});
}

} // namespace nereid::words
