// SPDX-License-Identifier: Apache-2.0
#include "lib/words/Gradients.h"

#include <algorithm>
#include <map>

namespace nereid::words {
namespace {

/// What tensors go by, in the words of layers; Chinese words have several tokens.
const std::map<std::string, std::string> &tensorIdeas() {
  static const std::map<std::string, std::string> ideas = [] {
    std::map<std::string, std::string> made;
    const auto add = [&](const char *idea, std::initializer_list<const char *> words) {
      for (const char *word : words) {
        made[word] = idea;
      }
    };
    add("input",
        {"input",  "inputs",   "x",          "dx",          "data",    "row",      "rows",
         "image",  "images",   "activation", "activations", "feature", "features", "logit",
         "logits", "argument", "operand",    "输入",        "激活",    "图像",     "数据"});
    add("weight", {"weight", "weights", "w", "dw", "scale", "gamma", "filter", "filters", "table",
                   "gain", "kernel", "权重", "缩放", "卷积核", "嵌入表", "增益"});
    add("bias", {"bias", "biases", "db", "beta", "shift", "offset", "偏置", "平移"});
    add("query", {"query", "queries", "q", "查询"});
    add("key", {"key", "keys", "k", "键"});
    add("value", {"value", "values", "v", "值"});
    add("left", {"left", "first", "左"});
    add("right", {"right", "second", "右"});
    return made;
  }();
  return ideas;
}

bool isAnyOf(const std::vector<Token> &tokens, size_t at, std::initializer_list<const char *> of) {
  return at < tokens.size() &&
         std::any_of(
             of.begin(), of.end(),
             [&](const char *word) { return lowerCase(tokens[at].name) == word; });
}

class Finder {
public:
  Finder(const std::vector<Token> &tokens, const std::vector<Term> &terms)
      : tokens(tokens), terms(terms) {}

  std::vector<GradientFact> find() {
    const bool isAsked = std::any_of(terms.begin(), terms.end(), [](const Term &term) {
      return term.idea == "backward" && !term.isNegated;
    });
    for (size_t at = 0; isAsked && at < tokens.size(); ++at) {
      if (const size_t behind = respectTo(at); behind > at) {
        addFirstKnown(behind);
      } else if (isAnyOf(tokens, at, {"gradient", "gradients", "grad", "grads"})) {
        addBefore(at);
        addBehind(at + 1);
      } else if (tokens[at].kind == TokenKind::Han) {
        addHan(at);
      }
    }
    return std::move(found);
  }

private:
  const std::vector<Token> &tokens;
  const std::vector<Term> &terms;
  std::vector<GradientFact> found;

  /// The token behind "with respect to", "wrt", "w.r.t."; `at` without them.
  size_t respectTo(size_t at) const {
    if (isAnyOf(tokens, at, {"respect"}) && isAnyOf(tokens, at + 1, {"to"})) {
      return at + 2;
    }
    if (isAnyOf(tokens, at, {"wrt"})) {
      return at + 1;
    }
    const bool isShort = isAnyOf(tokens, at, {"w"}) && isAnyOf(tokens, at + 1, {"."}) &&
                         isAnyOf(tokens, at + 2, {"r"}) && isAnyOf(tokens, at + 3, {"."}) &&
                         isAnyOf(tokens, at + 4, {"t"});
    return isShort ? at + (isAnyOf(tokens, at + 5, {"."}) ? 6 : 5) : at;
  }

  /// Tokens of the tensor's name that begins here, 0 for none. A word of a longer term, such as
  /// that of "scale_mask_softmax", is none.
  size_t known(size_t at) const {
    if (at >= tokens.size() || isAnyOf(tokens, at + 1, {"_"})) {
      return 0;
    }
    std::string word;
    size_t best = 0;
    for (size_t end = at; end < tokens.size() && end < at + 3; ++end) {
      word += lowerCase(tokens[end].name);
      if (tensorIdeas().contains(word)) {
        best = end - at + 1;
      }
      if (tokens[end].kind != TokenKind::Han) {
        break;
      }
    }
    return best;
  }

  std::string wordsAt(size_t at, size_t count) const {
    std::string word;
    for (size_t i = at; i < at + count; ++i) {
      word += lowerCase(tokens[i].name);
    }
    return word;
  }

  void add(size_t at, size_t count, const std::string &idea) {
    if (std::none_of(found.begin(), found.end(),
                     [&](const GradientFact &one) { return one.idea == idea; })) {
      found.push_back({idea, wordsAt(at, count), tokens[at].range});
    }
  }

  /// The tensor here, and those that are joined to it: "weight, bias and input".
  size_t addList(size_t at) {
    while (const size_t count = known(at)) {
      add(at, count, tensorIdeas().at(wordsAt(at, count)));
      at += count;
      size_t next = at;
      while (isAnyOf(tokens, next,
                     {",", "and", "&", "the", "its", "both", "、", "，", "和", "与", "及"})) {
        ++next;
      }
      if (next == at || known(next) == 0) {
        break;
      }
      at = next;
    }
    return at;
  }

  /// "the layer's weight": the first known name among the next words, else the first word.
  void addFirstKnown(size_t at) {
    while (isAnyOf(tokens, at, {"the", "a", "an", "its", "all", "both", "each", "learned"})) {
      ++at;
    }
    for (size_t i = at; i < tokens.size() && i < at + 4; ++i) {
      if (known(i) > 0) {
        addList(i);
        return;
      }
      if (isAnyOf(tokens, i, {",", ".", "，", "。", ";"})) {
        break;
      }
    }
    if (at < tokens.size() && tokens[at].kind == TokenKind::Word) {
      add(at, 1, tokens[at].text);
    }
  }

  /// "the weight gradient".
  void addBefore(size_t at) {
    if (at > 0 && known(at - 1) == 1 && tokens[at - 1].kind == TokenKind::Word &&
        tokens[at - 1].text.size() > 1) {
      add(at - 1, 1, tensorIdeas().at(wordsAt(at - 1, 1)));
    }
  }

  /// "gradients of the weight", "grad_weight".
  void addBehind(size_t at) {
    const size_t begin = at;
    while (isAnyOf(tokens, at, {"of", "for", "in", "the", "its", "_", "-"})) {
      ++at;
    }
    if (at > begin && known(at) > 0 && tokens[at].text.size() > 1) {
      addList(at);
    }
  }

  /// "对权重的梯度", "权重和偏置的梯度", "对输入求导".
  void addHan(size_t at) {
    if (known(at) == 0 || (at > 0 && isAnyOf(tokens, at - 1, {"和", "与", "、", "及"}))) {
      return;
    }
    const std::vector<GradientFact> before = found;
    size_t behind = addList(at);
    const bool isMarked = at > 0 && isAnyOf(tokens, at - 1, {"对", "于"});
    if (isAnyOf(tokens, behind, {"的"})) {
      ++behind;
    }
    const bool isGradient = isAnyOf(tokens, behind, {"梯", "导"}) ||
                            (isMarked && isAnyOf(tokens, behind, {"求", "反"}));
    if (!isGradient) {
      found = before;
    }
  }
};

} // namespace

std::vector<GradientFact> findGradients(const std::vector<Token> &tokens,
                                        const std::vector<Term> &terms) {
  return Finder(tokens, terms).find();
}

std::set<std::string> gradientIdeas(const std::string &name, const std::string &description) {
  std::set<std::string> ideas;
  const auto read = [&](const std::string &text) {
    const auto tokens = tokenize("", text);
    for (const Token &token : tokens ? *tokens : std::vector<Token>()) {
      if (token.kind == TokenKind::Symbol || token.text == "gradient" || token.text == "grad" ||
          token.text == "of" || token.text == "the") {
        continue;
      }
      ideas.insert(token.text);
      if (auto idea = tensorIdeas().find(lowerCase(token.name)); idea != tensorIdeas().end()) {
        ideas.insert(idea->second);
      }
    }
  };
  read(description);
  if (ideas.empty() && name.starts_with("grad_")) {
    read(name.substr(5));
  }
  if (ideas.empty()) {
    ideas.insert("input");
  }
  return ideas;
}

} // namespace nereid::words
