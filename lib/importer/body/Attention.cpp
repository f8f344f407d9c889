// SPDX-License-Identifier: Apache-2.0
// Attention, and the rotation of its rows by their places, as lines of a body.
#include "lib/importer/body/Expressions.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>

namespace nereid::importer {
namespace {

/// Heads apart, in front of the rows: [B, S, H D] as [B, H, S, D].
struct Heads {
  std::string text;
  Shape shape;
};

Heads headsOf(Expressions &e, size_t input, const char *attribute, const char *name) {
  const Shape &shape = e.shape(input);
  if (shape.size() == 4) {
    return {e.tensor(input), shape};
  }
  const int64_t heads = e.of().integer(attribute, 0);
  if (shape.size() != 3 || heads < 1 || !shape[2].isSize() || shape[2].size % heads != 0) {
    Expressions::fail(fmt::format("expects four dimensions, or three whose last is a multiple of "
                                  "'{}', but got {}",
                                  attribute, text(shape)));
  }
  const Shape parts = {shape[0], shape[1], {heads, ""}, {shape[2].size / heads, ""}};
  return {e.step(name, fmt::format("torch.permute(torch.reshape({}, {}), (0, 2, 1, 3))",
                                   e.tensor(input), e.shapeText(parts))),
          Shape{parts[0], parts[2], parts[1], parts[3]}};
}

class Attention {
public:
  explicit Attention(Expressions &e) : e(e) {}

  std::string text() {
    if (e.shape(1).size() != e.shape(0).size() || e.shape(2).size() != e.shape(0).size()) {
      Expressions::fail("expects queries, keys and values of as many dimensions");
    }
    e.useAll();
    q = headsOf(e, 0, "q_num_heads", "q");
    k = headsOf(e, 1, "kv_num_heads", "k");
    v = headsOf(e, 2, "kv_num_heads", "v");
    rows = e.sizeText(q.shape[2]);
    columns = e.sizeText(k.shape[2]);
    joinPast();
    const std::string keys = k.text, values = v.text;
    shareHeads();
    findAllowed();
    const std::string result = computed();
    std::vector<std::string> texts = {result, keys, values, raw};
    size_t count = 4;
    while (count > 1 && !e.hasOutput(count - 1)) {
      --count;
    }
    texts.resize(count);
    e.setResults(count);
    return fmt::format("{}", fmt::join(texts, ", "));
  }

private:
  bool hasPast() const { return e.of().hasInput(4); }

  void joinPast() {
    if (hasPast() != e.of().hasInput(5)) {
      Expressions::fail("expects keys and values of the past together");
    }
    if (!hasPast()) {
      return;
    }
    if (e.of().hasInput(6)) {
      Expressions::fail("has both a past and lengths of a cache");
    }
    past = e.sizeText(e.shape(4)[2]);
    columns = fmt::format("({} + {})", past, columns);
    k.text = e.step("keys", fmt::format("torch.cat(({}, {}), dim=2)", e.tensor(4), k.text));
    v.text = e.step("values", fmt::format("torch.cat(({}, {}), dim=2)", e.tensor(5), v.text));
  }

  /// Several heads of queries read one of keys: these are a dimension of their own, which
  /// broadcasts.
  void shareHeads() {
    const Dim &many = q.shape[1], &few = k.shape[1];
    if (many == few) {
      return;
    }
    if (!many.isSize() || !few.isSize() || few.size < 1 || many.size % few.size != 0) {
      Expressions::fail("has a number of heads that is no multiple of those of its keys");
    }
    group = {few.size, many.size / few.size};
    q.text = e.step("groups", fmt::format("torch.reshape({}, {})", q.text, grouped(q.shape[3])));
    k.text = fmt::format("{}.unsqueeze(2)", k.text);
    v.text = fmt::format("{}.unsqueeze(2)", v.text);
  }
  bool isGrouped() const { return group.first > 0; }
  std::string grouped(const Dim &last) const {
    return fmt::format("({}, {}, {}, {}, {})", e.sizeText(q.shape[0]), group.first, group.second,
                       rows, e.sizeText(last));
  }
  /// What broadcasts with [B, H, S, T], with heads in their groups.
  std::string inGroups(const std::string &text, const Shape &shape) const {
    if (!isGrouped() || shape.size() < 3) {
      return text;
    }
    const Dim &heads = shape[shape.size() - 3];
    if (heads == Dim{1, ""}) {
      return fmt::format("{}.unsqueeze(-3)", text);
    }
    std::vector<std::string> sizes;
    for (size_t i = 0; i + 3 < shape.size(); ++i) {
      sizes.push_back(e.sizeText(shape[i]));
    }
    sizes.push_back(std::to_string(group.first));
    sizes.push_back(std::to_string(group.second));
    sizes.push_back(e.sizeText(shape[shape.size() - 2]));
    sizes.push_back(e.sizeText(shape.back()));
    return fmt::format("torch.reshape({}, ({}))", text, fmt::join(sizes, ", "));
  }

  /// A mask that is shorter than the rows allows nothing behind its end.
  std::string mask() {
    Shape shape = e.shape(3);
    if (shape.empty() || shape.size() > 4) {
      Expressions::fail("expects a mask of one to four dimensions");
    }
    std::string text = e.tensor(3);
    isAdded = e.type(3) != ElementType::of(DType::Bool);
    const Dim &last = shape.back(), &whole = k.shape[2];
    const bool isLonger = hasPast() || (last != whole && last != Dim{1, ""});
    if (isLonger) {
      const bool isKnown =
          last.isSize() && whole.isSize() && (!hasPast() || e.shape(4)[2].isSize());
      if (!isKnown) {
        Expressions::fail("has a mask of an open size that may be shorter than its keys");
      }
      const int64_t all = whole.size + (hasPast() ? e.shape(4)[2].size : 0);
      if (last.size > all) {
        Expressions::fail("has a mask that is longer than its keys");
      }
      if (last.size < all && isAdded) {
        text = fmt::format("F.pad({}, (0, {}), value=float(\"-inf\"))", text, all - last.size);
      } else if (last.size < all) {
        Shape rest = shape;
        rest.back() = {all - last.size, ""};
        text = fmt::format("torch.cat(({}, torch.zeros({}, dtype=torch.bool)), dim=-1)", text,
                           e.shapeText(rest));
      }
      shape.back() = {all, ""};
    }
    const std::string given = inGroups(text, shape);
    return given == e.tensor(3) ? given : e.step("mask", given);
  }

  /// Which keys a row may read, and what is added to the scores of those.
  void findAllowed() {
    std::vector<std::string> terms;
    if (e.of().hasInput(3)) {
      const std::string text = mask();
      isAdded ? added = text : terms.emplace_back(text);
      mayBeEmpty = true;
    }
    const bool isCausal = e.of().integer("is_causal", 0) != 0;
    const int64_t left = e.of().integer("left_window_size", -1),
                  right = e.of().integer("right_window_size", -1);
    if (isCausal || left >= 0 || right >= 0 || e.of().hasInput(6)) {
      terms.push_back(near(isCausal, left, right));
      mayBeEmpty = mayBeEmpty || left >= 0 || right >= 0 || e.of().hasInput(6);
    }
    if (!terms.empty()) {
      allowed = terms.size() == 1 ? terms[0]
                                  : e.step("allowed", fmt::format("{} & {}", terms[0], terms[1]));
    }
  }

  /// By the places of rows and keys alone.
  std::string near(bool isCausal, int64_t left, int64_t right) {
    const std::string key = e.step("key", fmt::format("torch.arange({})[None, :]", columns));
    std::vector<std::string> terms;
    std::string lengths;
    if (e.of().hasInput(6)) {
      lengths = e.within(6, "0", columns + " + 1");
      lengths = e.step("lengths", fmt::format("torch.reshape({}, ({}, 1, 1, 1{}))", lengths,
                                              e.sizeText(q.shape[0]), isGrouped() ? ", 1" : ""));
      terms.push_back(fmt::format("({} < {})", key, lengths));
    }
    if (isCausal || left >= 0 || right >= 0) {
      std::string row = fmt::format("torch.arange({})[:, None]", rows);
      row += !lengths.empty() ? fmt::format(" + ({} - {})", lengths, rows)
             : hasPast()      ? " + " + past
                              : "";
      row = e.step("row", row);
      if (isCausal) {
        terms.push_back(fmt::format("({} <= {})", key, row));
      }
      if (left >= 0) {
        terms.push_back(fmt::format("({} >= {} - {})", key, row, left));
      }
      if (right >= 0) {
        terms.push_back(fmt::format("({} <= {} + {})", key, row, right));
      }
    }
    std::string text = fmt::format("{}", fmt::join(terms, " & "));
    text = terms.size() == 1 ? text.substr(1, text.size() - 2) : text;
    return e.step("near", text);
  }

  std::string scaled(const std::string &product) const {
    if (e.of().attributes.contains("scale")) {
      return fmt::format("{} * {}", product, numberText(e.of().real("scale", 1)));
    }
    return fmt::format("{} / math.sqrt({})", product, e.sizeText(q.shape[3]));
  }

  std::string computed() {
    const int64_t mode = e.of().integer("qk_matmul_output_mode", 0);
    std::string scores =
        e.step("scores", scaled(fmt::format("torch.matmul({}, {}.mT)", q.text, k.text)));
    raw = scores;
    if (const double cap = e.of().real("softcap", 0); cap > 0) {
      scores =
          e.step("capped", fmt::format("{0} * torch.tanh({1} / {0})", numberText(cap), scores));
    }
    raw = mode >= 1 ? scores : raw;
    if (!added.empty() || !allowed.empty()) {
      std::string text = added.empty() ? scores : fmt::format("{} + {}", scores, added);
      text = allowed.empty() ? text
                             : fmt::format("torch.where({}, {}, float(\"-inf\"))", allowed, text);
      scores = e.step("masked", text);
    }
    raw = mode == 2 ? scores : raw;
    const auto precision = ElementType(static_cast<int>(e.of().integer("softmax_precision", 0)));
    const bool isOther = precision.isKnown() && precision != e.type(0);
    std::string weights = isOther ? fmt::format("torch.softmax({}.to({}), dim=-1).to({})", scores,
                                                typeText(precision), typeText(e.type(0)))
                                  : fmt::format("torch.softmax({}, dim=-1)", scores);
    std::string some;
    if (mayBeEmpty) { // a row that reads nothing is 0
      some = added.empty() ? fmt::format("torch.any({}, dim=-1, keepdim=True)", allowed)
                           : fmt::format("torch.amax({}, dim=-1, keepdim=True) > float(\"-inf\")",
                                         allowed.empty() ? added
                                                         : fmt::format("torch.where({}, {}, "
                                                                       "float(\"-inf\"))",
                                                                       allowed, added));
      some = e.step("reads", some);
    }
    if (mode == 3 && e.hasOutput(3)) {
      weights = some.empty() ? weights : fmt::format("torch.where({}, {}, 0.0)", some, weights);
      weights = raw = e.step("weights", weights);
    }
    std::string result = fmt::format("torch.matmul({}, {})", weights, v.text);
    result = some.empty() ? result : fmt::format("torch.where({}, {}, 0.0)", some, result);
    return arranged(result);
  }

  /// As the result has it: heads side by side where they came so.
  std::string arranged(std::string result) {
    const bool isThree = e.shape(0).size() == 3;
    result = isThree || isGrouped() ? e.step("heads", result) : result;
    if (isGrouped()) {
      raw = e.hasOutput(3)
                ? fmt::format("torch.reshape({}, ({}, {}, {}, {}))", raw, e.sizeText(q.shape[0]),
                              e.sizeText(q.shape[1]), rows, columns)
                : raw;
      result = fmt::format("torch.reshape({}, {})", result,
                           e.shapeText({q.shape[0], q.shape[1], q.shape[2], v.shape[3]}));
    }
    return isThree
               ? fmt::format(
                     "torch.reshape(torch.permute({}, (0, 2, 1, 3)), {})", result,
                     e.shapeText({q.shape[0], q.shape[2], {q.shape[1].size * v.shape[3].size, ""}}))
               : result;
  }

  Expressions &e;
  Heads q, k, v;
  std::string rows, columns, past;
  std::pair<int64_t, int64_t> group{0, 0}; ///< heads of keys, of queries for each; 0 = as many
  std::string allowed, added, raw;
  bool isAdded = false, mayBeEmpty = false;
};

std::string attention(Expressions &e) { return Attention(e).text(); }

/// Pairs of elements turned by the angle of their row's place.
std::string rotaryEmbedding(Expressions &e) {
  const Shape &shape = e.shape(0);
  const bool isThree = shape.size() == 3;
  const int64_t heads = e.of().integer("num_heads", 0);
  if (!isThree && shape.size() != 4) {
    Expressions::fail("expects rows of three or four dimensions");
  }
  if (!shape.back().isSize() || (isThree && (heads < 1 || shape[2].size % heads != 0))) {
    Expressions::fail("has rows of an open size, or of no multiple of 'num_heads'");
  }
  const int64_t size = isThree ? shape[2].size / heads : shape[3].size;
  int64_t turned = e.of().integer("rotary_embedding_dim", 0);
  turned = turned == 0 ? size : turned;
  if (turned < 2 || turned % 2 != 0 || turned > size) {
    Expressions::fail(fmt::format("turns {} elements of {}", turned, size));
  }
  e.useAll();
  std::string x = e.tensor(0);
  if (isThree) {
    x = e.step("heads", fmt::format("torch.reshape({}, {})", x,
                                    e.shapeText({shape[0], shape[1], {heads, ""}, {size, ""}})));
  }
  auto table = [&](size_t input, const char *name) {
    std::string text = e.tensor(input);
    if (e.shape(input).size() != (e.of().hasInput(3) ? 2 : 3)) {
      Expressions::fail("expects two dimensions of angles, and those of batches without places");
    }
    if (e.of().hasInput(3)) {
      text = fmt::format("{}[{}]", text, e.indices(3, e.shape(input)[0], false));
    }
    return e.step(name, fmt::format("torch.unsqueeze({}, {})", text, isThree ? 2 : 1));
  };
  const std::string cos = table(1, "cos"), sin = table(2, "sin");
  const bool isPairs = e.of().integer("interleaved", 0) != 0;
  const int64_t half = turned / 2;
  const std::string a = e.step("a", isPairs ? fmt::format("{}[..., 0:{}:2]", x, turned)
                                            : fmt::format("{}[..., 0:{}]", x, half)),
                    b = e.step("b", isPairs ? fmt::format("{}[..., 1:{}:2]", x, turned)
                                            : fmt::format("{}[..., {}:{}]", x, half, turned));
  const std::string first = fmt::format("{} * {} - {} * {}", cos, a, sin, b),
                    second = fmt::format("{} * {} + {} * {}", sin, a, cos, b);
  std::string result;
  if (isPairs) {
    Shape all = isThree ? Shape{shape[0], shape[1], {heads, ""}, {turned, ""}} : shape;
    all.back() = {turned, ""};
    result = fmt::format("torch.reshape(torch.stack(({}, {}), dim=-1), {})", first, second,
                         e.shapeText(all));
    if (turned < size) {
      result = fmt::format("torch.cat(({}, {}[..., {}:]), dim=-1)", result, x, turned);
    }
  } else {
    const std::string rest = turned < size ? fmt::format(", {}[..., {}:]", x, turned) : "";
    result = fmt::format("torch.cat(({}, {}{}), dim=-1)", first, second, rest);
  }
  return isThree ? fmt::format("torch.reshape({}, {})", result, e.shapeText(shape)) : result;
}

} // namespace

const RuleTable &attentionRules() {
  static const RuleTable rules = {{"attention", attention}, {"rotaryEmbedding", rotaryEmbedding}};
  return rules;
}

} // namespace nereid::importer
