// SPDX-License-Identifier: Apache-2.0
// Attention, rotated rows and losses of classes as definitions: their values by loops written here.
#include "unittests/importer/Computed.h"

#include <cmath>
#include <functional>

namespace nereid::importer {
namespace {

constexpr float infinity = std::numeric_limits<float>::infinity();

/// Numbers near 0 that are all different.
Filled small(std::vector<int64_t> shape) {
  Filled filled = counted(std::move(shape));
  for (float &element : filled.elements) {
    element = std::sin(element);
  }
  return filled;
}

/// What the loops below need of [B, H, S, D] tensors, of which keys may have fewer heads.
struct Sizes {
  size_t batch = 2, heads = 4, keyHeads = 2, rows = 3, keys = 5, size = 2, valueSize = 3;
};

using Score = std::function<float(float, size_t, size_t, size_t, size_t)>;

/// softmax(score(q k / sqrt(size), b, h, row, key)) v; a row without keys is 0.
Filled attended(const Sizes &s, const Filled &q, const Filled &k, const Filled &v,
                const Score &score) {
  Filled y = {{static_cast<int64_t>(s.batch), static_cast<int64_t>(s.heads),
               static_cast<int64_t>(s.rows), static_cast<int64_t>(s.valueSize)},
              {}};
  for (size_t row = 0; row < s.batch * s.heads * s.rows; ++row) {
    const size_t b = row / s.rows / s.heads, h = row / s.rows % s.heads, r = row % s.rows;
    const size_t plane = b * s.keyHeads + h / (s.heads / s.keyHeads);
    std::vector<double> weights(s.keys);
    double sum = 0;
    for (size_t key = 0; key < s.keys; ++key) {
      double product = 0;
      for (size_t d = 0; d < s.size; ++d) {
        product += static_cast<double>(q.elements[row * s.size + d]) *
                   static_cast<double>(k.elements[(plane * s.keys + key) * s.size + d]);
      }
      product /= std::sqrt(static_cast<double>(s.size));
      weights[key] =
          std::exp(static_cast<double>(score(static_cast<float>(product), b, h, r, key)));
      sum += weights[key];
    }
    for (size_t d = 0; d < s.valueSize; ++d) {
      double all = 0;
      for (size_t key = 0; key < s.keys; ++key) {
        const float value = v.elements[(plane * s.keys + key) * s.valueSize + d];
        all += sum > 0 ? weights[key] / sum * static_cast<double>(value) : 0;
      }
      y.elements.push_back(static_cast<float>(all));
    }
  }
  return y;
}

ModelMaker attentionOf(std::vector<std::string> more = {}) {
  ModelMaker maker(25);
  maker.input("q", {2, 4, 3, 2}).input("k", {2, 2, 5, 2}).input("v", {2, 2, 5, 3});
  std::vector<std::string> inputs = {"q", "k", "v"};
  inputs.insert(inputs.end(), more.begin(), more.end());
  maker.node("Attention", inputs, {"y"});
  return maker;
}

TEST(ImportedAttention, HeadsInGroupsReadTheirKeys) {
  const Sizes s;
  const Filled q = small({2, 4, 3, 2}), k = small({2, 2, 5, 2}), v = small({2, 2, 5, 3});
  ModelMaker plain = attentionOf();
  EXPECT_EQ(bodyOf(plain.output("y")),
            "y_groups = torch.reshape(q, (2, 2, 2, 3, 2))\n"
            "y_scores = torch.matmul(y_groups, k.unsqueeze(2).mT) / math.sqrt(2)\n"
            "y_heads = torch.matmul(torch.softmax(y_scores, dim=-1), v.unsqueeze(2))\n"
            "y = torch.reshape(y_heads, (2, 4, 3, 3))");
  expectComputed(plain, {q, k, v}, {attended(s, q, k, v, [](float one, auto...) { return one; })});
  ModelMaker capped = attentionOf();
  capped.number("softcap", 0.5F).integer("is_causal", 1).output("y");
  expectComputed(capped, {q, k, v},
                 {attended(s, q, k, v, [](float one, size_t, size_t, size_t row, size_t key) {
                   return key <= row ? 0.5F * std::tanh(one / 0.5F) : -infinity;
                 })});
  ModelMaker window = attentionOf();
  window.integer("left_window_size", 1).integer("right_window_size", 2).output("y");
  expectComputed(window, {q, k, v},
                 {attended(s, q, k, v, [](float one, size_t, size_t, size_t row, size_t key) {
                   return key + 1 >= row && key <= row + 2 ? one : -infinity;
                 })});
}

TEST(ImportedAttention, MasksAreAddedAndPaddedAndMayForbidAll) {
  const Sizes s;
  const Filled q = small({2, 4, 3, 2}), k = small({2, 2, 5, 2}), v = small({2, 2, 5, 3});
  Filled mask = small({4, 3, 4}); // of heads, and shorter than the keys
  std::fill(mask.elements.begin() + 4, mask.elements.begin() + 8, -infinity); // row 1 of head 0
  ModelMaker maker = attentionOf({"m"});
  maker.input("m", {4, 3, 4}).output("y");
  expectComputed(maker, {q, k, v, mask},
                 {attended(s, q, k, v, [&](float one, size_t, size_t head, size_t row, size_t key) {
                   return key < 4 ? one + mask.elements[(head * 3 + row) * 4 + key] : -infinity;
                 })});
  ModelMaker cache = attentionOf({"", "", "", "n"});
  cache.input("n", {2}, 7).integer("is_causal", 1).output("y");
  const Filled lengths = {{2}, {2, 5}, DType::I64}; // the first has fewer keys than rows
  expectComputed(cache, {q, k, v, lengths},
                 {attended(s, q, k, v, [](float one, size_t batch, size_t, size_t row, size_t key) {
                   const size_t length = batch == 0 ? 2 : 5;
                   return key < length && key + 3 <= row + length ? one : -infinity;
                 })});
}

TEST(ImportedAttention, PastAndPresent) {
  ModelMaker maker(23);
  maker.input("q", {1, 2, 4}).input("k", {1, 2, 4}).input("v", {1, 2, 4});
  maker.input("pk", {1, 2, 3, 2}).input("pv", {1, 2, 3, 2});
  maker.node("Attention", {"q", "k", "v", "", "pk", "pv"}, {"y", "nk", "nv"});
  maker.integer("q_num_heads", 2).integer("kv_num_heads", 2).integer("is_causal", 1);
  maker.output("y").output("nk").output("nv");
  const Filled q = small({1, 2, 4}), k = small({1, 2, 4}), v = counted({1, 2, 4}),
               pk = small({1, 2, 3, 2}), pv = counted({1, 2, 3, 2});
  auto joined = [](const Filled &past, const Filled &more) {
    Filled all = {{1, 2, 5, 2}, {}};
    for (size_t h = 0; h < 2; ++h) {
      for (size_t i = 0; i < 10; ++i) {
        all.elements.push_back(i < 6 ? past.elements[h * 6 + i]
                                     : more.elements[(i - 6) / 2 * 4 + h * 2 + i % 2]);
      }
    }
    return all;
  };
  Filled heads = {{1, 2, 2, 2}, {}};
  for (size_t i = 0; i < 8; ++i) {
    heads.elements.push_back(q.elements[i / 2 % 2 * 4 + i / 4 * 2 + i % 2]);
  }
  const Sizes s = {1, 2, 2, 2, 5, 2, 2};
  const Filled keys = joined(pk, k), values = joined(pv, v);
  const Filled apart =
      attended(s, heads, keys, values, [](float one, size_t, size_t, size_t row, size_t key) {
        return key <= row + 3 ? one : -infinity;
      });
  Filled y = {{1, 2, 4}, {}};
  for (size_t i = 0; i < 8; ++i) {
    y.elements.push_back(apart.elements[i / 2 % 2 * 4 + i / 4 * 2 + i % 2]);
  }
  expectComputed(maker, {q, k, v, pk, pv}, {y, keys, values});
}

TEST(ImportedAttention, RowsAreTurnedByTheirPlaces) {
  for (const bool isPairs : {false, true}) {
    ModelMaker maker(23);
    maker.input("x", {1, 2, 3, 6}).input("c", {4, 2}).input("s", {4, 2}).input("i", {1, 3}, 7);
    maker.node("RotaryEmbedding", {"x", "c", "s", "i"}, {"y"});
    maker.integer("rotary_embedding_dim", 4).integer("interleaved", isPairs ? 1 : 0).output("y");
    const Filled x = small({1, 2, 3, 6}), c = small({4, 2}), s = counted({4, 2});
    const std::vector<float> at = {3, 0, 2};
    Filled y = x;
    for (size_t row = 0; row < 6; ++row) {
      for (size_t d = 0; d < 2; ++d) {
        const size_t first = row * 6 + (isPairs ? 2 * d : d), second = first + (isPairs ? 1 : 2);
        const size_t angle = static_cast<size_t>(at[row % 3]) * 2 + d;
        const float a = x.elements[first], b = x.elements[second];
        y.elements[first] = c.elements[angle] * a - s.elements[angle] * b;
        y.elements[second] = s.elements[angle] * a + c.elements[angle] * b;
      }
    }
    expectComputed(maker, {x, c, s, {{1, 3}, at, DType::I64}}, {y});
  }
}

TEST(ImportedAttention, WhatIsRefused) {
  auto code = [](const ModelMaker &maker) {
    auto definition = imported(maker);
    return definition ? std::string() : definition.error().code;
  };
  EXPECT_EQ(code(attentionOf({"", "k"}).output("y")), "E0636") << "keys of the past alone";
  EXPECT_EQ(code(attentionOf({"m"}).input("m", {}).output("y")), "E0636") << "a mask of nothing";
  Read past = inferred(attentionOf({"", "pk", "pk"}).input("pk", {7}).output("y"));
  EXPECT_EQ(past.code(), "E0635");
  ModelMaker mixed(23);
  mixed.input("q", {1, 3, 4}).input("k", {1, 2, 3, 2}).input("v", {1, 2, 3, 2});
  mixed.node("Attention", {"q", "k", "v"}, {"y"}).integer("q_num_heads", 2);
  EXPECT_EQ(code(mixed.output("y")), "E0636") << "heads apart, and side by side";
  ModelMaker flat(23);
  flat.input("x", {1, 2, 3, 6}).input("c", {}).input("s", {}).input("i", {1, 3}, 7);
  flat.node("RotaryEmbedding", {"x", "c", "s", "i"}, {"y"}).output("y");
  EXPECT_EQ(code(flat), "E0636");
  ModelMaker odd(23);
  odd.input("x", {1, 2, 3, 6}).input("c", {1, 3, 2}).input("s", {1, 3, 2});
  odd.node("RotaryEmbedding", {"x", "c", "s"}, {"y"}).integer("rotary_embedding_dim", 3);
  EXPECT_EQ(code(odd.output("y")), "E0636");
  ModelMaker cubic(20);
  cubic.input("x", {1, 1, 3, 2, 2}).input("g", {1, 2, 4, 2, 3});
  cubic.node("GridSample", {"x", "g"}, {"y"});
  EXPECT_EQ(code(cubic.word("mode", "cubic").output("y")), "E0636");
}

TEST(ImportedLosses, OfClassesThatMayBeIgnored) {
  const Filled x = small({2, 3, 2});
  for (const int64_t ignored : {-1, 1, -100}) {
    ModelMaker maker(13);
    maker.input("x", {2, 3, 2}).input("t", {2, 2}, 7).input("w", {3});
    maker.node("SoftmaxCrossEntropyLoss", {"x", "t", "w"}, {"y", "p"});
    maker.integer("ignore_index", ignored).output("y").output("p");
    const auto none = static_cast<float>(ignored);
    const std::vector<float> target = {2, none, 0, 2}, weight = {0.5, 3, 2};
    Filled p = x;
    double loss = 0, sum = 0;
    for (size_t at = 0; at < 4; ++at) {
      const size_t from = at / 2 * 6 + at % 2;
      double all = 0;
      for (size_t c = 0; c < 3; ++c) {
        all += std::exp(static_cast<double>(x.elements[from + 2 * c]));
      }
      for (size_t c = 0; c < 3; ++c) {
        p.elements[from + 2 * c] -= static_cast<float>(std::log(all));
      }
      if (target[at] != none) {
        const auto c = static_cast<size_t>(target[at]);
        loss -= static_cast<double>(weight[c] * p.elements[from + 2 * c]);
        sum += static_cast<double>(weight[c]);
      }
    }
    expectComputed(maker, {x, {{2, 2}, target, DType::I64}, {{3}, weight}},
                   {{{}, {static_cast<float>(loss / sum)}}, p});
  }
}

TEST(ImportedLosses, NoRangeEndsBehindTheLargestInteger) {
  ModelMaker maker(13);
  maker.input("x", {2, 3, 2}).input("t", {2, 2}, 7);
  maker.node("SoftmaxCrossEntropyLoss", {"x", "t"}, {"y"}).integer("ignore_index", INT64_MAX);
  const auto definition = imported(maker.output("y"));
  ASSERT_FALSE(definition);
  EXPECT_EQ(definition.error().code, "E0636");
}

} // namespace
} // namespace nereid::importer
