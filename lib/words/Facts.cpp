// SPDX-License-Identifier: Apache-2.0
#include "lib/words/Facts.h"

#include "lib/words/Shapes.h"
#include "lib/words/numbers/Arguments.h"
#include "lib/words/numbers/LooseNumbers.h"
#include "lib/words/numbers/Padding.h"
#include "runtime/elements/DType.h"

#include <fmt/format.h>

#include <algorithm>
#include <charconv>
#include <map>
#include <set>

namespace nereid::words {
namespace {

/// "dim 4" is one of the first dimensions, "dim 2048" a length.
constexpr int64_t mostRank = 16;

/// First size behind a term, over "of", "=", ":" and the like.
const Token *sizeBehind(const std::vector<Token> &tokens, const Term &term) {
  for (size_t i = term.last + 1; i < tokens.size() && i <= term.last + 3; ++i) {
    if (sizeAt(tokens, i)) {
      return &tokens[i];
    }
    if (tokens[i].kind == TokenKind::Symbol && tokens[i].text != "=" && tokens[i].text != ":" &&
        tokens[i].text != "：") {
      return nullptr;
    }
  }
  return nullptr;
}

/// "1.5x faster", "提速3倍"; and any other factor, unless something grows by it.
bool isOfSpeed(const std::vector<Token> &tokens, const Term &times,
               const std::vector<Term> &terms) {
  static const std::set<std::string> growing = {
      "interpolate", "pixel_shuffle", "pixel_unshuffle", "repeat", "tile", "repeat_interleave"};
  const bool isBy = times.first > 1 && isSymbol(tokens, times.first - 2, "by");
  if (times.text.find("fast") != std::string::npos || times.text == "speedup" ||
      (!isBy && std::none_of(terms.begin(), terms.end(),
                             [](const Term &term) { return growing.contains(term.idea); }))) {
    return true;
  }
  static const std::set<std::string> words = {"fast", "faster",  "speed", "speedup",
                                              "速",   "quicker", "快"};
  const auto isEnd = [&](size_t i) { // of the clause
    return isSymbol(tokens, i, ",") || isSymbol(tokens, i, "，") || isSymbol(tokens, i, "。") ||
           isSymbol(tokens, i, ";") || isSymbol(tokens, i, "；");
  };
  return hasAround(tokens, times.first, times.last, words, isEnd);
}

bool isWindowed(const Term &term) {
  return term.idea == "conv2d" || term.idea == "depthwise" ||
         term.idea == "transposed_convolution" || term.idea.ends_with("pool");
}

/// "3d convolution", "2-d max pooling": no rank.
bool isOfWindow(const Term &dimensions, const std::vector<Term> &terms) {
  return dimensions.idea == "dimensions" &&
         std::any_of(terms.begin(), terms.end(), [&](const Term &term) {
           return isWindowed(term) && term.first > dimensions.last &&
                  term.first <= dimensions.last + 2;
         });
}

/// "conv1d", "maxpool2d".
void readWindows(const std::vector<Term> &terms, Facts &facts) {
  for (const Term &term : terms) {
    const size_t size = term.text.size();
    if (isWindowed(term) || term.idea == "unfold" || term.idea == "fold") {
      facts.windowLines.insert(term.range.line);
    }
    if (isWindowed(term) && size > 1 && lowerCase(term.text).back() == 'd' &&
        term.text[size - 2] >= '1' && term.text[size - 2] <= '3') {
      facts.spatial = term.text[size - 2] - '0';
    }
  }
}

/// "speed-up of at least 1.5", 加速比不低于1.5: the token of the number.
std::optional<size_t> speedBehind(const std::vector<Token> &tokens, const Term &term) {
  static const std::set<std::string> between = {
      "of", "at", "least",        "=",  ":",  "：", ">",  "≥",  "不", "低", "于", "少", "到",
      "达", "为", stem("target"), "by", "比", "至", "要", "求", "|",  "目", "标", "提", "升"};
  if (term.idea != "times" || !(lowerCase(term.text).starts_with("speed") ||
                                term.text.ends_with("速") || term.text.ends_with("比"))) {
    return std::nullopt;
  }
  size_t at = term.last + 1;
  while (at < tokens.size() && at < term.last + 9 && between.contains(tokens[at].text)) {
    ++at;
  }
  const bool isHere = at < tokens.size() && tokens[at].range.line == term.range.line &&
                      tokens[at].kind == TokenKind::Number && !isSymbol(tokens, at + 1, "%") &&
                      !isSymbol(tokens, at + 1, "×");
  const auto value = isHere ? numberAt(tokens, at) : std::nullopt;
  return value && *value > 0 ? std::optional(at) : std::nullopt;
}

void readNumbers(const std::vector<Token> &tokens, const std::vector<Term> &terms,
                 const std::vector<bool> &isOfShape, Facts &facts,
                 std::vector<SourceRange> &joined) {
  std::optional<SizeFact> batch;
  for (const Term &term : terms) {
    if (term.idea == "rows" && facts.shapes.empty()) { // "last dimension 768", "rows of 1024"
      if (const Token *size = sizeBehind(tokens, term)) {
        facts.lengths.push_back({term.text, *sizeAt({*size}, 0), size->range});
      }
      continue;
    }
    if (term.kind != TermKind::Fact || term.idea == "factor") {
      continue; // a factor is the operator's own affair
    }
    const bool isOfSize =
        std::any_of(facts.sizes.begin(), facts.sizes.end(),
                    [&](const SizeFact &size) { return isAt(size.range, term.range); });
    if (isOfSize) { // "D = 128"
      continue;
    }
    if (term.idea == "precision") { // "1e-3 tolerance", "accuracy of 1e-3": among the next words
      const auto small = [&](size_t i) {
        const auto value = numberAt(tokens, i);
        return value && *value > 0 && *value < 1;
      };
      if (term.first > 0 && small(term.first - 1)) {
        facts.precisions.push_back(
            {*numberAt(tokens, term.first - 1), tokens[term.first - 1].range});
        continue;
      }
      for (size_t i = term.last + 1; i < tokens.size() && i <= term.last + 4; ++i) {
        if (auto value = numberAt(tokens, i); value && *value > 0 && *value < 1) {
          facts.precisions.push_back({*value, tokens[i].range});
          break;
        }
      }
      continue;
    }
    if (term.idea == "batch" || term.idea == "length") {
      if (const Token *size = sizeBehind(tokens, term)) {
        const SizeFact fact = {term.text, *sizeAt({*size}, 0), size->range};
        term.idea == "length" ? facts.lengths.push_back(fact) : void(batch = fact);
      }
      continue;
    }
    const size_t back = term.first > 0 && isSymbol(tokens, term.first - 1, "-") ? 2 : 1;
    if (isOfWindow(term, terms)) {
      if (const auto count =
              term.first >= back ? numberAt(tokens, term.first - back) : std::nullopt) {
        facts.spatial = static_cast<int64_t>(*count);
        joined.push_back(tokens[term.first - back].range);
        continue;
      }
    }
    if (const auto speed = speedBehind(tokens, term)) {
      const bool isOfTime =
          std::any_of(facts.speedups.begin(), facts.speedups.end(),
                      [&](const NumberFact &one) { return isAt(one.range, tokens[*speed].range); });
      if (!isOfTime) {
        facts.speedups.push_back({*numberAt(tokens, *speed), tokens[*speed].range});
      }
      continue;
    }
    const bool isFree = term.first >= back && !isOfShape[term.first - back]; // not "8 x 1024"
    auto value = isFree ? numberAt(tokens, term.first - back) : std::nullopt;
    if (const Token *size = sizeBehind(tokens, term);
        term.idea == "dimensions" && !value && size && *sizeAt({*size}, 0) > mostRank) {
      facts.lengths.push_back({term.text, *sizeAt({*size}, 0), size->range}); // "dim 2048"
      continue;
    }
    if (value && *value > 0 && term.idea == "times" && !isOfSpeed(tokens, term, terms)) {
      continue; // a factor of the operator: "upsampling 4x"
    }
    const bool isSaid =
        value &&
        std::any_of(facts.speedups.begin(), facts.speedups.end(), [&](const NumberFact &one) {
          return isAt(one.range, tokens[term.first - back].range);
        });
    if (value && *value > 0 && !isSaid) {
      auto &list = term.idea == "times" ? facts.speedups : facts.ranks;
      list.push_back({*value, tokens[term.first - back].range});
    }
  }
  if (batch && facts.shapes.empty() && facts.lengths.size() == 1) { // "batch 32, length 1024"
    facts.shapes.push_back({{batch->size, facts.lengths[0].size}, batch->range});
    joined.push_back(facts.lengths[0].range);
    facts.lengths.clear();
  } else if (batch && facts.shapes.empty()) {
    facts.sizes.push_back(*batch);
  }
}

/// "accumulate in fp32", "a float64 reference", fp32累加, 与fp32参考结果相比: no type of an input.
bool isInner(const std::vector<Token> &tokens, const Term &type) {
  static const std::set<std::string> words = {stem("accumulate"),
                                              stem("accumulates"),
                                              stem("accumulated"),
                                              stem("accumulation"),
                                              stem("accumulating"),
                                              stem("accumulator"),
                                              stem("reference"),
                                              stem("internally"),
                                              stem("statistics"),
                                              "累",
                                              "参"};
  const auto isEnd = [&](size_t i) {
    return tokens[i].range.line != type.range.line || isSymbol(tokens, i, ",") ||
           isSymbol(tokens, i, "，") || isSymbol(tokens, i, "。") || isSymbol(tokens, i, ";") ||
           isSymbol(tokens, i, "；");
  };
  const auto isType = [&](size_t i) {
    return tokens[i].text.find_first_of("0123456789") != std::string::npos;
  };
  const size_t behind = type.last + 1;
  if (behind < tokens.size() && !isEnd(behind) && words.contains(tokens[behind].text)) {
    return true;
  }
  constexpr size_t most = 3;
  for (size_t i = type.first; i > 0 && i + most > type.first; --i) {
    if (isEnd(i - 1) || isType(i - 1)) {
      break;
    }
    if (words.contains(tokens[i - 1].text)) {
      return true;
    }
  }
  return false;
}

/// 转换为, 变为: not of 数据类型为.
bool isTurnedInto(const std::vector<Token> &tokens, size_t at) {
  static const std::set<std::string> turning = {"换", "变", "化", "转", "改"};
  return at > 0 && isSymbol(tokens, at, "为") && turning.contains(tokens[at - 1].text);
}

void readTerms(const std::vector<Token> &tokens, const std::vector<Term> &terms, Facts &facts) {
  for (const Term &term : terms) {
    const auto addNew = [&](std::vector<Term> &list) {
      if (std::none_of(list.begin(), list.end(),
                       [&](const Term &one) { return one.idea == term.idea; })) {
        list.push_back(term);
      }
    };
    if (term.kind == TermKind::Target && !term.isNegated) {
      addNew(facts.targets);
    }
    if (term.kind == TermKind::Type && !term.isNegated) {
      const size_t back = term.first > 0 && isSymbol(tokens, term.first - 1, "_") ? 2 : 1;
      const bool isCast = term.first >= back && (isSymbol(tokens, term.first - back, "to") ||
                                                 isSymbol(tokens, term.first - back, "into") ||
                                                 isSymbol(tokens, term.first - back, "到") ||
                                                 isSymbol(tokens, term.first - back, "成") ||
                                                 isTurnedInto(tokens, term.first - back));
      const std::string behind = term.last + 1 < tokens.size() ? tokens[term.last + 1].text : "";
      static const std::set<std::string> inputs = {
          stem("index"), stem("indices"), "索", stem("tokens"), stem("labels"),
          "id",          stem("weights"), "权", stem("table"),  stem("positions")};
      if (inputs.contains(behind)) {
        addNew(facts.inputTypes); // "int64 indices"
        continue;
      }
      if (isInner(tokens, term)) {
        addNew(facts.innerTypes);
        continue;
      }
      // "int64 output": of what counts and finds places; floats have the type of what they are of.
      static const std::set<std::string> results = {
          stem("output"), stem("outputs"), stem("result"), stem("results"), "输", "结"};
      const auto dtype = parseDType(term.idea);
      const bool isOfResult = dtype && !isFloat(*dtype) && results.contains(behind);
      addNew(isCast || isOfResult ? facts.castTypes : facts.types);
    }
    if (term.idea == "channels_first" || term.idea == "channels_last") {
      if (term.text.size() == 4) { // "NCHW"
        facts.ranks.push_back({4, term.range});
      }
    }
  }
}

/// A shape of names becomes one of sizes when the text has them all: "[B, D], B = 8, D = 512".
void resolveNames(Facts &facts) {
  std::erase_if(facts.namedShapes, [&](const NamedShapeFact &shape) {
    ShapeFact sized{{}, shape.range, shape.of};
    for (const std::string &name : shape.names) {
      const auto size = std::find_if(facts.sizes.begin(), facts.sizes.end(),
                                     [&](const SizeFact &one) { return one.name == name; });
      int64_t number = 0;
      const auto [end, failed] = std::from_chars(name.data(), name.data() + name.size(), number);
      if (size == facts.sizes.end() &&
          (failed != std::errc() || end != name.data() + name.size())) {
        facts.ranks.push_back({static_cast<double>(shape.names.size()), shape.range});
        return false;
      }
      sized.sizes.push_back(size == facts.sizes.end() ? number : size->size);
    }
    facts.shapes.push_back(std::move(sized));
    return true;
  });
}

/// "three tensors", "4 matrices", "三个张量" at a token.
std::optional<int64_t> tensorsAt(const std::vector<Token> &tokens, size_t at) {
  static const std::vector<std::string> words = {"", "one", "two", "three", "four", "five", "six"};
  const auto word = std::find(words.begin() + 1, words.end(), tokens[at].name);
  const auto number =
      word == words.end() ? numberAt(tokens, at) : std::optional<double>(word - words.begin());
  if (!number || *number < 3 || *number > 6) {
    return std::nullopt;
  }
  const size_t next = at + (isSymbol(tokens, at + 1, "个") ? 2 : 1);
  static const std::vector<std::string> things = {"tensor", "matric", "matrice", "vector", "array"};
  const bool isHan =
      isSymbol(tokens, next, "张") || isSymbol(tokens, next, "矩") || isSymbol(tokens, next, "向");
  const bool isThing =
      isHan || (next < tokens.size() &&
                std::find(things.begin(), things.end(), tokens[next].text) != things.end());
  return isThing ? std::optional(static_cast<int64_t>(*number)) : std::nullopt;
}

/// Whether one of the facts, or a term, is made of the token.
bool isTaken(const Token &token, size_t at, const std::vector<Term> &terms, const Facts &facts) {
  const auto anyOf = [&](const auto &list) {
    return std::any_of(list.begin(), list.end(),
                       [&](const auto &one) { return isAt(one.range, token.range); });
  };
  return anyOf(facts.sizes) || anyOf(facts.lengths) || anyOf(facts.ranks) ||
         anyOf(facts.speedups) || anyOf(facts.precisions) || anyOf(facts.shapes) ||
         std::any_of(terms.begin(), terms.end(),
                     [&](const Term &term) { return term.first <= at && at <= term.last; });
}

/// "reduction none", "no reduction", "sum reduction", "reduction='sum'"; "" where none is said.
std::string reductionIn(const std::vector<Token> &tokens) {
  static const std::map<std::string, std::string> words = {
      {"none", "none"}, {"no", "none"},    {"without", "none"}, {"any", "none"},
      {"sum", "sum"},   {"summed", "sum"}, {"mean", "mean"},    {"average", "mean"}};
  for (size_t at = 0; at < tokens.size(); ++at) {
    if (lowerCase(tokens[at].name) != "reduction") {
      continue;
    }
    size_t next = at + 1;
    while (next < tokens.size() && tokens[next].kind == TokenKind::Symbol) {
      ++next;
    }
    for (const size_t place : {next, at - 1}) {
      const auto found =
          place < tokens.size() ? words.find(lowerCase(tokens[place].name)) : words.end();
      if (found != words.end()) {
        return found->second;
      }
    }
  }
  return "";
}

/// "a, b and c": how many names of one letter; none of fewer than two.
std::optional<int64_t> lettersIn(const std::vector<Token> &tokens) {
  const auto isLetter = [&](size_t at) {
    return at < tokens.size() && tokens[at].kind == TokenKind::Word && tokens[at].name.size() == 1;
  };
  for (size_t at = 0; at < tokens.size(); ++at) {
    int64_t count = isLetter(at) ? 1 : 0;
    bool isJoined = false;
    size_t next = at + 1;
    while (count > 0) {
      const bool isAnd = isSymbol(tokens, next, "and") || isSymbol(tokens, next, "和");
      const size_t letter =
          next + (isSymbol(tokens, next, ",") && isSymbol(tokens, next + 1, "and"));
      if (!(isAnd || isSymbol(tokens, next, ",")) || !isLetter(letter + 1)) {
        break;
      }
      isJoined |= isAnd || letter > next;
      ++count;
      next = letter + 2;
    }
    if (isJoined && count > 2) { // "the product of A and B" may have a bias
      return count;
    }
  }
  return std::nullopt;
}

bool hasIdea(const std::vector<Term> &terms, std::string_view idea) {
  return std::any_of(terms.begin(), terms.end(),
                     [&](const Term &term) { return term.idea == idea && !term.isNegated; });
}

/// "stride = 2", "num_classes = 10", "k = 5": numbers of the call, and no sizes.
bool isOfCall(const std::vector<Token> &tokens, size_t at) {
  std::string name = tokens[at].name;
  for (size_t i = at; i > 1 && isSymbol(tokens, i - 1, "_"); i -= 2) {
    name = tokens[i - 2].name + "_" + name;
  }
  // "temperature = 2": what no tensor has.
  static const std::set<std::string> sizes = {"batch",    "seq",   "len",    "length",  "head",
                                              "heads",    "dim",   "hidden", "size",    "width",
                                              "height",   "rows",  "cols",   "columns", "channels",
                                              "features", "vocab", "tokens", "experts", "block"};
  const bool isSize =
      tokens[at].name.size() < 3 || sizes.contains(lowerCase(tokens[at].name)) ||
      (tokens[at].name[0] >= 'A' && tokens[at].name[0] <= 'Z') ||
      std::count_if(
          tokens.begin(), tokens.end(),
          [&](const Token &token) { return token.name == tokens[at].name; }) > 1; // of a shape
  return isArgumentName(name) || !isSize;
}

/// What the names in front of "=" are: a shape, and sizes for others with these names. Returns the
/// end of the sizes, or `at`.
size_t readSizesOf(const std::vector<Token> &tokens, size_t at,
                   const std::vector<WrittenDim> &names, Facts &facts) {
  std::vector<WrittenDim> sizes;
  const bool isEqual = isSymbol(tokens, at, "=") || isSymbol(tokens, at, "为");
  const size_t end = isEqual ? readShape(tokens, at + 1, sizes) : at;
  const bool isSized = std::all_of(sizes.begin(), sizes.end(),
                                   [](const WrittenDim &dim) { return dim.name.empty(); });
  if (!isEqual || end <= at + 1 || !isSized || sizes.size() != names.size()) {
    return at;
  }
  ShapeFact shape{{}, tokens[at + 1].range};
  for (size_t i = 0; i < sizes.size(); ++i) {
    shape.sizes.push_back(sizes[i].size);
    if (!names[i].name.empty()) {
      facts.sizes.push_back({names[i].name, sizes[i].size, tokens[at + 1].range});
    }
  }
  facts.shapes.push_back(std::move(shape));
  return end;
}

/// What a shape is of: the word in front of it, over "of shape", "is" and marks; the first cell in
/// a row of a table.
std::string wordBefore(const std::vector<Token> &tokens, size_t at) {
  static const std::set<std::string> between = {"of", "shap", "is", "are", "with",
                                                "形", "状",   "为", "是",  "的"};
  const int line = tokens[at].range.line;
  while (at > 0 && tokens[at - 1].range.line == line &&
         (between.contains(tokens[at - 1].text) ||
          (tokens[at - 1].kind == TokenKind::Symbol && tokens[at - 1].text != "," &&
           tokens[at - 1].text != "，" && tokens[at - 1].text != "。" &&
           tokens[at - 1].text != "]" && tokens[at - 1].text != ")"))) {
    --at;
  }
  if (at == 0 || tokens[at - 1].range.line != line) {
    return "";
  }
  const Token &word = tokens[at - 1];
  const bool isHan = word.kind == TokenKind::Han && at > 1 && tokens[at - 2].kind == TokenKind::Han;
  return isHan ? tokens[at - 2].text + word.text : word.kind == TokenKind::Word ? word.name : "";
}

/// "into three parts", 分成3份.
std::optional<int64_t> partsIn(const std::vector<Token> &tokens) {
  static const std::set<std::string> parts = {stem("parts"), stem("pieces"), stem("chunks"),
                                              "份",          "块",           "段"};
  for (size_t at = 1; at + 1 < tokens.size(); ++at) {
    const bool isInto = isSymbol(tokens, at - 1, "into") || isSymbol(tokens, at - 1, "成");
    const auto count = isInto ? factorAt(tokens, at) : std::nullopt;
    const size_t next = at + (isSymbol(tokens, at + 1, "equal") ? 2 : 1);
    if (count && next < tokens.size() && parts.contains(tokens[next].text)) {
      return static_cast<int64_t>(*count);
    }
  }
  return std::nullopt;
}

/// "two linear layers", "3 matmuls", 两个线性层: more than one product in a row.
bool areSeveral(const std::vector<Token> &tokens, const std::vector<Term> &terms) {
  return std::any_of(terms.begin(), terms.end(), [&](const Term &term) {
    const bool isProduct = term.idea == "matmul" || term.idea == "conv2d";
    const size_t back = term.first > 0 && isSymbol(tokens, term.first - 1, "个") ? 2 : 1;
    if (!isProduct || term.first < back) {
      return false;
    }
    const size_t at = term.first - back;
    const auto count = tokens[at].kind != TokenKind::Symbol ? factorAt(tokens, at) : std::nullopt;
    const bool isShape = at > 0 && isSymbol(tokens, at - 1, "×");
    return !isShape && (isSymbol(tokens, at, "两") || (count && *count >= 2 && *count <= 4));
  });
}

/// "ij, jk -> ik": words of letters with commas between, an arrow and one more.
std::string equationIn(const std::vector<Token> &tokens) {
  for (size_t at = 1; at + 1 < tokens.size(); ++at) {
    const bool isArrow =
        (isSymbol(tokens, at, "-") && isSymbol(tokens, at + 1, ">")) || isSymbol(tokens, at, "→");
    if (!isArrow || tokens[at - 1].kind != TokenKind::Word) {
      continue;
    }
    const size_t result = at + (isSymbol(tokens, at, "-") ? 2 : 1);
    std::string equation = tokens[at - 1].name;
    for (size_t i = at - 1;
         i > 1 && isSymbol(tokens, i - 1, ",") && tokens[i - 2].kind == TokenKind::Word; i -= 2) {
      equation.insert(0, tokens[i - 2].name + ",");
    }
    const bool hasResult = result < tokens.size() && tokens[result].kind == TokenKind::Word;
    return equation + "->" + (hasResult ? tokens[result].name : "");
  }
  return "";
}

/// "2x2 pooling" is of images.
void readWindowShapes(Facts &facts) {
  for (const ShapeFact &shape : facts.shapes) {
    const std::vector<int64_t> &sizes = shape.sizes;
    if (!facts.spatial && isWindowShape(facts, shape)) {
      facts.spatial = static_cast<int64_t>(sizes.size());
    }
  }
}

} // namespace

bool isWindowShape(const Facts &facts, const ShapeFact &shape) {
  constexpr int64_t largestWindow = 16;
  const std::vector<int64_t> &sizes = shape.sizes;
  return facts.windowLines.contains(shape.range.line) && (sizes.size() == 2 || sizes.size() == 3) &&
         sizes[0] <= largestWindow &&
         std::count(sizes.begin(), sizes.end(), sizes[0]) ==
             static_cast<std::ptrdiff_t>(sizes.size());
}

Facts findFacts(const std::vector<Token> &tokens, const std::vector<Term> &terms) {
  Facts facts;
  std::vector<bool> isOfShape(tokens.size(), false);
  const auto take = [&](size_t first, size_t end) {
    std::fill(isOfShape.begin() + static_cast<std::ptrdiff_t>(first),
              isOfShape.begin() + static_cast<std::ptrdiff_t>(end), true);
  };
  facts.isDocument = !tokens.empty() && tokens.front().range.line != tokens.back().range.line;
  facts.axes = findAxes(tokens);
  if (facts.axes) {
    take(facts.axes->first, facts.axes->last + 1);
  }
  const bool isResized = hasIdea(terms, "interpolate"), isPadded = hasIdea(terms, "pad");
  for (size_t at = 0; at < tokens.size();) {
    std::vector<WrittenDim> dims;
    if (isOfShape[at]) {
      ++at;
      continue;
    }
    const bool isAmount = isPadded && isSymbol(tokens, at + 1, "by"); // "with 5 by 2"
    const size_t end = isAmount ? at : readShape(tokens, at, dims);
    if (end > at) {
      const bool isSized = std::all_of(dims.begin(), dims.end(),
                                       [](const WrittenDim &dim) { return dim.name.empty(); });
      if (const size_t sizesEnd = isSized ? end : readSizesOf(tokens, end, dims, facts);
          sizesEnd > end) { // "[B, S, H] = [4, 512, 768]"
        take(at, sizesEnd);
        at = sizesEnd;
        continue;
      }
      ShapeFact sized{{}, tokens[at].range, wordBefore(tokens, at)};
      NamedShapeFact named{{}, tokens[at].range, sized.of};
      for (const WrittenDim &dim : dims) {
        sized.sizes.push_back(dim.size);
        named.names.push_back(dim.name.empty() ? std::to_string(dim.size) : dim.name);
      }
      if (isSized && isResized && at > 0 && isSymbol(tokens, at - 1, "to")) {
        facts.resizedTo = std::move(sized);
      } else if (isSized) {
        facts.shapes.push_back(std::move(sized));
      } else {
        facts.namedShapes.push_back(std::move(named));
      }
      take(at, end);
      at = end;
      continue;
    }
    if (std::string written = noShape(tokens, at); !written.empty()) {
      facts.noShapes.push_back(std::move(written));
      for (size_t i = at; i < tokens.size() && !isSymbol(tokens, i, "]"); ++i) {
        isOfShape[i] = true;
      }
    }
    if (tokens[at].kind == TokenKind::Word && isSymbol(tokens, at + 1, "=") &&
        !isOfCall(tokens, at)) {
      if (auto size = sizeAt(tokens, at + 2)) {
        facts.sizes.push_back({tokens[at].name, *size, tokens[at].range});
        isOfShape[at + 2] = true;
      }
    }
    ++at;
  }
  readTerms(tokens, terms, facts);
  std::vector<SourceRange> joined; // numbers that are sizes of a shape
  readNumbers(tokens, terms, isOfShape, facts, joined);
  readWindows(terms, facts);
  readWindowShapes(facts);
  if (facts.axes && facts.axes->dims == std::vector<int64_t>{allDims} && hasIdea(terms, "rows")) {
    facts.axes.reset(); // "the largest of all elements of each row"
  }
  if (hasIdea(terms, "pad")) {
    facts.padding = findPadding(tokens, isOfShape, facts.axes);
  }
  std::erase_if(facts.lengths, [&](const SizeFact &fact) { // "the last dimension by 2 zeros"
    return facts.padding &&
           std::any_of(facts.padding->numbers.begin(), facts.padding->numbers.end(),
                       [&](const SourceRange &one) { return isAt(one, fact.range); });
  });
  for (size_t at = 0; at < tokens.size(); ++at) {
    if (const auto count = tensorsAt(tokens, at)) {
      facts.tensors = count;
      continue;
    }
    const bool isNumber = tokens[at].kind == TokenKind::Number
                              ? numberAt(tokens, at).has_value()
                              : factorAt(tokens, at) && isFactorAt(tokens, at);
    if (isNumber && isPercent(tokens, at) && isOfPeak(tokens, at)) {
      facts.peaks.push_back({*factorAt(tokens, at), tokens[at].range});
      continue;
    }
    if (isNumber && !isOfShape[at] && !isTaken(tokens[at], at, terms, facts) &&
        std::none_of(joined.begin(), joined.end(),
                     [&](const SourceRange &one) { return isAt(one, tokens[at].range); })) {
      if (facts.isDocument && isListed(tokens, at)) {
        continue;
      }
      facts.loose.push_back(looseAt(tokens, at));
      facts.loose.back().unit = unitBehind(tokens, at, terms);
    }
  }
  facts.parts = partsIn(tokens);
  facts.areLayers = areSeveral(tokens, terms);
  facts.equation = hasIdea(terms, "einsum") ? equationIn(tokens) : "";
  facts.reduction = reductionIn(tokens);
  const bool isLoss = std::any_of(terms.begin(), terms.end(), [](const Term &term) {
    return term.idea == "loss" || term.idea.ends_with("_loss") || term.idea == "cross_entropy";
  });
  if (facts.reduction.empty() && isLoss && hasIdea(terms, "mean")) {
    facts.reduction = "mean"; // "averaged", 取平均
  }
  facts.tensors = facts.tensors ? facts.tensors : lettersIn(tokens);
  facts.gradients = findGradients(tokens, terms);
  resolveNames(facts);
  return facts;
}

} // namespace nereid::words
