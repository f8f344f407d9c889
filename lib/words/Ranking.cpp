// SPDX-License-Identifier: Apache-2.0
#include "lib/words/Ranking.h"

#include "lib/support/AtomicFile.h"
#include "lib/support/Documents.h"

#include <algorithm>
#include <cmath>
#include <filesystem>

namespace nereid::words {
namespace {

namespace fs = std::filesystem;

std::vector<Term> termsOf(const std::string &text) {
  auto tokens = tokenize("", text);
  return tokens ? findTerms(*tokens) : std::vector<Term>();
}

bool isSubject(const Term &term) {
  return term.kind == TermKind::Operation || term.kind == TermKind::Context;
}

void describe(Shipped &one) {
  for (const Term &term : termsOf(one.op.name)) {
    if (isSubject(term)) {
      one.names.insert(term.idea);
    }
  }
  bool isFirst = true;
  for (const Term &term : termsOf(one.op.summary)) {
    if (isSubject(term)) {
      one.support.insert(term.idea);
    }
    if (term.kind == TermKind::Operation && isFirst) {
      one.names.insert(term.idea);
      isFirst = false;
    }
  }
  for (const definition::Parameter &parameter : one.op.parameters) {
    for (const Term &term : termsOf(parameter.name + " " + parameter.description)) {
      if (isSubject(term)) {
        one.support.insert(term.idea);
      }
    }
  }
}

double rarity(const std::vector<Shipped> &shipped, const std::string &idea) {
  const auto having = std::count_if(shipped.begin(), shipped.end(), [&](const Shipped &one) {
    return one.names.contains(idea) || one.support.contains(idea);
  });
  return std::log(1.0 + static_cast<double>(shipped.size()) / (1.0 + static_cast<double>(having)));
}

} // namespace

std::string shippedFolder() {
  const std::string document = "docs/definitions.md", found = withDocuments(document);
  return found == document ? "operators"
                           : found.substr(0, found.size() - document.size()) + "operators";
}

std::vector<Shipped> readShipped(const std::string &folder) {
  std::vector<Shipped> list;
  std::error_code failed;
  for (fs::recursive_directory_iterator at(folder, failed), end; !failed && at != end;
       at.increment(failed)) {
    if (at->path().extension() != ".toml") {
      continue;
    }
    Diagnostics diags;
    auto text = readTextFile(at->path().string());
    auto op = text ? definition::parseOperator(at->path().string(), *text, diags) : std::nullopt;
    if (op) {
      list.push_back({*text, std::move(*op), {}, {}});
      describe(list.back());
    }
  }
  std::sort(list.begin(), list.end(),
            [](const Shipped &a, const Shipped &b) { return a.op.name < b.op.name; });
  return list;
}

std::vector<Candidate> rank(const std::vector<Shipped> &shipped, const std::vector<Term> &terms) {
  std::vector<Candidate> candidates;
  for (const Shipped &one : shipped) {
    Candidate candidate{&one, 0, {}, {}};
    std::set<std::string> said;
    bool isKnownByIt = false, isRefused = false;
    for (const Term &term : terms) {
      if (!isSubject(term)) {
        continue;
      }
      const bool isName = one.names.contains(term.idea);
      const bool hasIt = isName || one.support.contains(term.idea);
      isRefused |= term.isNegated && hasIt;
      isRefused |= term.kind == TermKind::Operation && !term.isNegated && !hasIt;
      if (term.isNegated || !hasIt || !said.insert(term.idea).second) {
        continue;
      }
      isKnownByIt |= isName && term.kind == TermKind::Operation;
      candidate.score += rarity(shipped, term.idea) * (isName ? 3 : 1);
      candidate.matched.push_back(term.text);
    }
    for (const std::string &name : one.names) {
      if (!said.contains(name)) {
        candidate.score -= rarity(shipped, name);
        candidate.missing.push_back(name);
      }
    }
    if (isKnownByIt && !isRefused) {
      candidates.push_back(std::move(candidate));
    }
  }
  std::sort(candidates.begin(), candidates.end(), [](const Candidate &a, const Candidate &b) {
    return a.score != b.score ? a.score > b.score : a.shipped->op.name < b.shipped->op.name;
  });
  return candidates;
}

bool isClear(const std::vector<Candidate> &candidates) {
  return candidates.size() == 1 || (candidates.size() > 1 && candidates[0].score > 0 &&
                                    candidates[1].score < 0.8 * candidates[0].score);
}

} // namespace nereid::words
