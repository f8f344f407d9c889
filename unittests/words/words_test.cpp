// SPDX-License-Identifier: Apache-2.0
// Tokens, facts, ranking and written definitions of sentences in both languages.
#include "lib/words/Writing.h"

#include <gtest/gtest.h>

#include <random>

namespace nereid::words {
namespace {

const std::vector<Shipped> &shipped() {
  static const auto list = readShipped(NEREID_SOURCE_DIR "/operators");
  return list;
}

std::vector<Term> termsOf(const std::string &text) {
  auto tokens = tokenize("text", text);
  return tokens ? findTerms(*tokens) : std::vector<Term>();
}

Facts factsOf(const std::string &text) {
  auto tokens = tokenize("text", text);
  return tokens ? findFacts(*tokens, findTerms(*tokens)) : Facts();
}

std::string first(const std::string &text) {
  auto candidates = rank(shipped(), termsOf(text));
  return candidates.empty() ? "" : candidates.front().shipped->op.name;
}

TEST(Words, SentencesFindTheirOperator) {
  const std::vector<std::pair<std::string, std::string>> sentences = {
      {"low-rank bias broadcast to a 4-d activation, fp16", "broadcast_add"},
      {"低秩偏置广播到四维激活，半精度", "broadcast_add"},
      {"softmax over the rows", "softmax"},
      {"对最后一维做softmax", "softmax"},
      {"Layer normalization of [8, 1024]", "layer_norm"},
      {"层归一化", "layer_norm"},
      {"add a bias, then gelu", "bias_gelu"},
      {"偏置加gelu", "bias_gelu"},
      {"add a bias and apply relu", "bias_relu"},
      {"batch norm at inference", "scale_shift"},
      {"推理时的批归一化", "scale_shift"},
      {"add the attention mask to the scores", "mask_add"},
      {"注意力掩码相加", "mask_add"},
  };
  for (const auto &[text, name] : sentences) {
    EXPECT_EQ(first(text), name) << text;
  }
}

TEST(Words, NearMissesFindNothing) {
  for (const char *text :
       {"log softmax of rows", "softplus", "softmin", "group norm", "FFT of rows", "傅里叶变换",
        "layer norm without bias", "层归一化，不加偏置", "good morning", "fp16"}) {
    EXPECT_EQ(first(text), "") << text;
  }
}

TEST(Words, FactsHaveTheirPlace) {
  const Facts facts = factsOf("softmax\nof [8, 1024, 256] and 4x16, D = 512, fp16 and 单精度,\n"
                              "1.5x faster, 4-d, accuracy 1e-3");
  ASSERT_EQ(facts.shapes.size(), 2u);
  EXPECT_EQ(facts.shapes[0].sizes, (std::vector<int64_t>{8, 1024, 256}));
  EXPECT_EQ(facts.shapes[0].range.line, 2);
  EXPECT_EQ(facts.shapes[0].range.column, 4);
  EXPECT_EQ(facts.shapes[1].sizes, (std::vector<int64_t>{4, 16}));
  ASSERT_EQ(facts.sizes.size(), 1u);
  EXPECT_EQ(facts.sizes[0].name, "D");
  ASSERT_EQ(facts.types.size(), 2u);
  EXPECT_EQ(facts.types[1].idea, "float32");
  ASSERT_EQ(facts.speedups.size(), 1u);
  EXPECT_EQ(facts.speedups[0].value, 1.5);
  ASSERT_EQ(facts.ranks.size(), 1u);
  ASSERT_EQ(facts.precisions.size(), 1u);
  EXPECT_EQ(factsOf("提速1.5倍，四维").speedups.size(), 1u);
  EXPECT_EQ(factsOf("提速1.5倍，四维").ranks.size(), 1u);
}

TEST(Words, WrittenDefinitionsAreReadBack) {
  const std::string text = "softmax \"rows\" of 8x1024\nfp16, 1.5x";
  for (const Shipped &one : shipped()) {
    auto written = writeDefinition(one, factsOf(text), text, "mine");
    ASSERT_TRUE(written) << one.op.name << written.error().message;
    Diagnostics diags;
    auto op = definition::parseOperator("mine.toml", written->text, diags);
    ASSERT_TRUE(op) << one.op.name;
    EXPECT_EQ(op->name, "mine");
    EXPECT_EQ(op->requirement, text);
    EXPECT_EQ(op->dtypes, std::vector<DType>{*parseDType("float16")});
    EXPECT_EQ(op->targetSpeedup, 1.5);
    EXPECT_EQ(op->body, one.op.body);
    if (one.op.name == "softmax") {
      ASSERT_EQ(op->performanceCases.size(), 1u);
      EXPECT_EQ(op->performanceCases[0].binding.symbols.at("D"), 1024);
    }
  }
}

TEST(Words, BadTextIsRefused) {
  for (const std::string &text : {std::string(), std::string(" \n"), std::string("a\0b", 3),
                                  std::string("\xff"), std::string(mostBytes + 1, 'a')}) {
    auto tokens = tokenize("text", text);
    ASSERT_FALSE(tokens);
    EXPECT_EQ(tokens.error().code, "E0623");
  }
  std::mt19937 random(1);
  for (int i = 0; i < 2000; ++i) {
    std::string text(random() % 60, ' ');
    for (char &letter : text) {
      letter = static_cast<char>(i % 2 ? random() % 96 + 32 : random());
    }
    factsOf(text);
  }
  EXPECT_TRUE(tokenize("text", std::string(mostBytes, 'a')));
}

} // namespace
} // namespace nereid::words
