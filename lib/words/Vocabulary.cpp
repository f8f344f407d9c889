// SPDX-License-Identifier: Apache-2.0
#include "lib/words/Vocabulary.h"

#include <algorithm>
#include <map>

namespace nereid::words {
namespace {

struct Entry {
  TermKind kind;
  std::string idea;
  std::vector<std::string> tokens;
};

bool isJoint(const Token &token) {
  return token.kind == TokenKind::Symbol && (token.text == "-" || token.text == "_");
}

std::map<std::string, std::vector<Entry>> readTable() {
  std::map<std::string, std::vector<Entry>> table;
  const auto add = [&](TermKind kind, const char *idea, std::string_view terms) {
    while (!terms.empty()) {
      const std::string_view term = terms.substr(0, terms.find('|'));
      terms.remove_prefix(std::min(terms.size(), term.size() + 1));
      auto tokens = tokenize("", term);
      Entry entry{kind, idea, {}};
      for (const Token &token : *tokens) {
        entry.tokens.push_back(token.text);
      }
      table[entry.tokens.front()].push_back(std::move(entry));
    }
  };
#define NEREID_WORD(kind, idea, terms) add(TermKind::kind, #idea, terms);
#include "lib/words/vocabulary.def"
  return table;
}

/// One past the last token of `entry` when it begins at `at`, else 0.
size_t matchEnd(const Entry &entry, const std::vector<Token> &tokens, size_t at) {
  size_t next = at;
  for (size_t i = 0; i < entry.tokens.size(); ++i, ++next) {
    while (i > 0 && next < tokens.size() && isJoint(tokens[next])) {
      ++next;
    }
    if (next >= tokens.size() || tokens[next].text != entry.tokens[i]) {
      return 0;
    }
  }
  return next;
}

} // namespace

std::vector<Term> findTerms(const std::vector<Token> &tokens) {
  static const auto table = readTable();
  std::vector<Term> terms;
  for (size_t at = 0; at < tokens.size();) {
    size_t end = 0;
    const Entry *best = nullptr;
    if (auto row = table.find(tokens[at].text); row != table.end()) {
      for (const Entry &entry : row->second) {
        if (const size_t one = matchEnd(entry, tokens, at); one > end) {
          end = one;
          best = &entry;
        }
      }
    }
    if (!best) {
      ++at;
      continue;
    }
    Term term{best->kind, best->idea, "", tokens[at].range, at, end - 1};
    for (size_t i = at; i < end; ++i) {
      const bool isApart = i > at && tokens[i].kind != TokenKind::Han && !isJoint(tokens[i]) &&
                           !isJoint(tokens[i - 1]);
      term.text += (isApart ? " " : "") + tokens[i].name;
    }
    if (tokens[end - 1].range.line == term.range.line) {
      term.range.endColumn = tokens[end - 1].range.endColumn;
    }
    // "without a bias", "不加偏置": at most one word stands between.
    term.isNegated =
        !terms.empty() && terms.back().kind == TermKind::Not && at - terms.back().last <= 2;
    terms.push_back(std::move(term));
    at = end;
  }
  return terms;
}

} // namespace nereid::words
