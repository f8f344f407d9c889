// SPDX-License-Identifier: Apache-2.0
// Tokens, facts, ranking and written definitions of sentences in both languages.
#include "lib/support/AtomicFile.h"
#include "lib/words/Nearest.h"
#include "lib/words/Writing.h"
#include "lib/words/made/Chain.h"
#include "lib/words/made/Formula.h"
#include "lib/words/made/Product.h"
#include "lib/words/numbers/Numbers.h"

#include <fmt/format.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <random>

namespace nereid::words {
namespace {

const std::vector<Shipped> &shipped() {
  static const auto list = readShipped({NEREID_SOURCE_DIR "/operators"});
  return list;
}

const std::set<std::string> &knownOnes() {
  static const auto known = knownTerms(shipped());
  return known;
}

std::vector<Term> termsOf(const std::vector<Token> &tokens) {
  return findTerms(tokens, &knownOnes());
}

Facts factsOf(const std::string &text) {
  auto tokens = tokenize("text", text);
  return tokens ? findFacts(*tokens, termsOf(*tokens)) : Facts();
}

/// The operator, "?" when several are equally near, "-" for none.
std::string answer(const std::string &text) {
  auto tokens = tokenize("text", text);
  if (!tokens) {
    return "-";
  }
  const Parts parts = partsOf(text);
  const auto terms = withoutAsides(termsOf(*tokens), parts);
  if (auto formula = formulaIn(text); formula && isWhole(*formula, knownOnes())) {
    return "+" + formula->definition.op.body;
  }
  if (auto product = turnedProduct(*tokens)) {
    return "+" + product->op.body;
  }
  const Facts facts = findFacts(*tokens, terms);
  const auto [candidates, doubt] = nearest(shipped(), terms, parts, facts);
  const bool isFound = !doubt;
  if (isFound && candidates.front().missing.empty()) {
    return candidates.front().shipped->op.name;
  }
  const auto steps = chainOf(terms, *tokens);
  const auto chain = steps.empty() ? std::nullopt : chainDefinition(steps);
  return chain && hasNumbersOf(*chain, facts) ? "+" + chain->op.body
         : isFound                            ? candidates.front().shipped->op.name
         : candidates.empty()                 ? "-"
                                              : "?";
}

TEST(Words, SentencesFindTheirOperator) {
  const std::vector<std::pair<std::string, std::string>> sentences = {
#define SENTENCE(expected, text) {expected, text},
#include "unittests/words/sentences.def"
  };
  EXPECT_GT(sentences.size(), 90u);
  for (const auto &[expected, text] : sentences) {
    const std::string found = answer(text);
    if (expected.starts_with("+")) {
      EXPECT_TRUE(found.starts_with("+") && found.find(expected.substr(1)) != std::string::npos)
          << text << ": " << found;
    } else {
      EXPECT_NE(("|" + expected + "|").find("|" + found + "|"), std::string::npos)
          << text << ": expects " << expected << ", but got " << found;
    }
  }
}

/// A definition needs no line of another list.
TEST(Words, EveryDefinitionIsFoundByItsNameAndSummary) {
  for (const Shipped &one : shipped()) {
    const std::string where = definition::writesInputs(one.op) ? "in place, " : "";
    auto tokens = tokenize("text", where + one.op.name + ": " + one.op.summary);
    ASSERT_TRUE(tokens);
    const auto terms = termsOf(*tokens);
    const auto candidates = rank(shipped(), terms, findFacts(*tokens, terms));
    ASSERT_FALSE(candidates.empty()) << one.op.name;
    const bool isNear = std::any_of(
        candidates.begin(), candidates.begin() + std::min<std::ptrdiff_t>(3, candidates.size()),
        [&](const Candidate &candidate) { return candidate.shipped->op.name == one.op.name; });
    EXPECT_TRUE(isNear) << one.op.name << ", but got " << candidates.front().shipped->op.name;
  }
}

/// Task documents: tables, labels, chapters that speak of other operators.
TEST(Words, DocumentsFindTheirOperator) {
  struct Expected {
    const char *file, *found;
    std::vector<int64_t> sizes; ///< of the first shape
    const char *type;
    double speedup; ///< 0 for none
  };
  const std::vector<Expected> documents = {
      {"low_rank_bias", "broadcast_add_4d", {8, 128, 16, 64}, "float16", 1.5},
      {"low_rank_bias_table", "broadcast_add_4d", {4, 256, 32, 128}, "float16", 1.3},
      {"low_rank_bias_labels", "broadcast_add_4d", {2, 64, 8, 96}, "float16", 1.3},
      {"residual_rms_norm", "residual_rms_norm", {4, 2048, 4096}, "bfloat16", 1.5},
      {"softmax_labels", "softmax", {8, 16, 1024, 1024}, "float16", 1.2},
      {"cross_entropy_smoothed", "cross_entropy_smoothed", {4096, 32000}, "bfloat16", 2},
      {"swiglu", "swiglu", {2, 2048, 11008}, "float16", 1.3},
      {"layer_norm_backward", "native_layer_norm_backward", {8, 512, 1024}, "float32", 1.2},
      {"linear_gelu", "linear_gelu", {4096, 4096}, "float16", 1.1},
      {"gelu_tanh", "gelu_tanh", {16, 1024, 3072}, "bfloat16", 1.2},
      {"silu", "silu", {32, 512, 2048}, "bfloat16", 0},
      {"bias_dropout_residual", "bias_dropout_residual", {8, 512, 1024}, "bfloat16", 2},
      {"cumsum", "cumsum", {128, 4096}, "float32", 1.2},
      {"group_norm", "group_norm", {4, 320, 64, 64}, "float16", 1.2},
      {"rotary_tables", "?", {2, 32, 1024, 128}, "bfloat16", 1.5},
      {"matrix_inverse", "-", {4, 4}, "float32", 2},
      {"causal_grouped_attention", "?", {2, 32, 1024, 80}, "float16", 0},
      {"softmax_dropout", "-", {64, 1024}, "float16", 0},
      {"short_time_fourier", "-", {32, 16000}, "float32", 0},
      {"fourier", "-", {64, 4096}, "float32", 2},
      {"beam_search", "-", {8, 4, 32000}, "float32", 0}};
  for (const Expected &expected : documents) {
    const std::string file =
        fmt::format("{}/unittests/words/documents/{}.md", NEREID_SOURCE_DIR, expected.file);
    const auto content = readTextFile(file);
    ASSERT_TRUE(content) << file;
    const std::string prose = readRequest(file, *content).prose;
    EXPECT_EQ(answer(prose), expected.found) << expected.file;
    const auto tokens = tokenize(file, prose);
    const Facts facts = findFacts(*tokens, withoutAsides(termsOf(*tokens), partsOf(prose)));
    ASSERT_FALSE(facts.shapes.empty()) << expected.file;
    EXPECT_EQ(facts.shapes[0].sizes, expected.sizes) << expected.file;
    ASSERT_FALSE(facts.types.empty()) << expected.file;
    EXPECT_EQ(facts.types[0].idea, expected.type) << expected.file;
    const std::vector<double> speedups =
        expected.speedup > 0 ? std::vector<double>{expected.speedup} : std::vector<double>();
    ASSERT_EQ(facts.speedups.size(), speedups.size()) << expected.file;
    EXPECT_TRUE(speedups.empty() || facts.speedups[0].value == speedups[0]) << expected.file;
  }
}

TEST(Words, LinesThatSayNothingOfTheOperatorAreAside) {
  const Parts parts = partsOf("# Performance task\n## Background\nfft\n### More\nsvd\n"
                              "## What\nrelu\n- accuracy: 1e-3,\n  l1 loss\n- name: gelu\n\n"
                              "三、性能：softmax\n更多\n\n| 精度 | 1e-3 |\n| 功能 | silu |\n");
  EXPECT_EQ(parts.aside, (std::set<int>{2, 3, 4, 5, 8, 9, 12, 13, 15}));
  EXPECT_EQ(parts.head, (std::set<int>{1, 10, 16}));
  EXPECT_TRUE(partsOf("background: relu").aside.empty()); // one line
}

TEST(Words, FactsOfTasks) {
  EXPECT_EQ(factsOf("silu, B×S×H = 8×512×1024").shapes.at(0).sizes,
            (std::vector<int64_t>{8, 512, 1024}));
  EXPECT_EQ(factsOf("silu of [B, S] = [4, 5]").shapes.at(0).sizes, (std::vector<int64_t>{4, 5}));
  EXPECT_EQ(factsOf("silu of B x S x 8, B = 2, S = 3").shapes.at(0).sizes,
            (std::vector<int64_t>{2, 3, 8}));
  EXPECT_TRUE(factsOf("product A x B").namedShapes.empty());
  EXPECT_EQ(factsOf("linear, weight [4, 5]").shapes.at(0).of, "weight");
  EXPECT_EQ(factsOf("relu, 60% of peak bandwidth").peaks.at(0).value, 60);
  EXPECT_EQ(factsOf("relu，带宽利用率不低于60%").peaks.size(), 1u);
  EXPECT_EQ(factsOf("dropout of 10 %").loose.at(0).text, "0.1");
  EXPECT_EQ(factsOf("relu, speed-up of at least 1.5").speedups.at(0).value, 1.5);
  EXPECT_EQ(factsOf("relu，加速比不低于1.5倍").speedups.size(), 1u);
  EXPECT_EQ(factsOf("relu in fp16 with fp32 accumulation").types.size(), 1u);
  EXPECT_EQ(factsOf("relu in bf16, accumulated in fp32").innerTypes.at(0).idea, "float32");
  EXPECT_EQ(factsOf("数据类型为半精度的relu").types.size(), 1u);
  EXPECT_EQ(factsOf("把输入转换为fp16").castTypes.size(), 1u);
  EXPECT_EQ(factsOf("einsum ij, jk -> ik").equation, "ij,jk->ik");
  EXPECT_EQ(factsOf("split into 3 parts").parts, 3);
  EXPECT_TRUE(factsOf("two linear layers").areLayers);
  EXPECT_FALSE(factsOf("linear of two matrices, 2x3").areLayers);
}

TEST(Words, NearMissesAreNotWritten) {
  for (const char *text :
       {"sum of the foos", "layer norm without bias", "fp16", "层归一化，不加偏置"}) {
    const std::string found = answer(text);
    EXPECT_TRUE(found == "-" || found == "?") << text << ": " << found;
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
  const std::string text = "softmax \"rows\" of 8x1024\n1.5x";
  for (const Shipped &one : shipped()) {
    auto written = writeDefinition(one, factsOf(text), readRequest("text", text), "mine");
    if (one.op.name == "cumprod_of_few") { // rows of 1024 are more than its constraint allows
      EXPECT_FALSE(written);
      continue;
    }
    ASSERT_TRUE(written) << one.op.name << written.error().message;
    Diagnostics diags;
    auto op = definition::parseOperator("mine.toml", written->text, diags);
    ASSERT_TRUE(op) << one.op.name;
    EXPECT_EQ(op->name, "mine");
    EXPECT_EQ(op->requirement, text);
    EXPECT_EQ(op->dtypes, one.op.dtypes);
    EXPECT_EQ(op->targetSpeedup, 1.5);
    EXPECT_EQ(op->body, one.op.body);
    if (one.op.name == "softmax") {
      ASSERT_EQ(op->performanceCases.size(), 1u);
      EXPECT_EQ(op->performanceCases[0].binding.symbols.at("D"), 1024);
    }
  }
}

/// Of a shape ["...", "2 * D"], cases say D.
TEST(Words, ComputedDimensionsGiveTheirSizes) {
  const auto one = std::find_if(shipped().begin(), shipped().end(),
                                [](const Shipped &each) { return each.op.name == "glu"; });
  const auto textOf = [&](const std::string &text) {
    const auto written = writeDefinition(*one, factsOf(text), readRequest("text", text), "");
    return written ? written->text : written.error().message;
  };
  EXPECT_NE(textOf("glu of [8, 1024]").find("\"...\" = [8], D = 512 }"), std::string::npos);
  EXPECT_NE(textOf("glu with hidden size 256").find("\"...\" = [4096], D = 128 }"),
            std::string::npos);
  EXPECT_NE(textOf("glu of [8, 1023]").find("Not used: shape 8x1023: no shape of glu"),
            std::string::npos)
      << textOf("glu of [8, 1023]");
}

TEST(Words, NumbersBecomeDefaultsOfInputs) {
  const auto defaultsOf = [](const std::string &name, const std::string &text) {
    const auto one = std::find_if(shipped().begin(), shipped().end(),
                                  [&](const Shipped &each) { return each.op.name == name; });
    const auto written = writeDefinition(*one, factsOf(text), readRequest("text", text), "");
    Diagnostics diags;
    std::map<std::string, double> values;
    if (const auto op = written ? definition::parseOperator("t", written->text, diags)
                                : std::optional<definition::Operator>()) {
      for (const auto &parameter : op->parameters) {
        if (parameter.isScalar) {
          values[parameter.name] = parameter.value;
          EXPECT_TRUE(!parameter.isInteger || name != "leaky_relu") << text;
        }
      }
    }
    return values;
  };
  using Values = std::map<std::string, double>;
  EXPECT_EQ(defaultsOf("leaky_relu", "leaky relu with slope 2"), (Values{{"negative_slope", 2}}));
  EXPECT_EQ(defaultsOf("clamp", "clamp, -0.5 to 3, 4x8"), (Values{{"low", -0.5}, {"high", 3}}));
  EXPECT_EQ(defaultsOf("rms_norm", "rms norm of rows of 4096, eps = 1e-6"),
            (Values{{"eps", 1e-6}}));
  const std::string text = "rms norm of 3 things";
  const auto &norm = *std::find_if(shipped().begin(), shipped().end(),
                                   [](const Shipped &each) { return each.op.name == "rms_norm"; });
  const auto written = writeDefinition(norm, factsOf(text), readRequest("text", text), "");
  ASSERT_TRUE(written);
  ASSERT_EQ(written->unused.size(), 1u);
  EXPECT_NE(written->unused[0].find("number 3"), std::string::npos);
}

TEST(Words, BodiesTakeFactors) {
  // The whole definition is read back: its results have the sizes that its body makes.
  const auto writtenFrom = [](const std::string &name, const std::string &text) {
    const auto one = std::find_if(shipped().begin(), shipped().end(),
                                  [&](const Shipped &each) { return each.op.name == name; });
    const auto written = writeDefinition(*one, factsOf(text), readRequest("text", text), "");
    Diagnostics diags;
    return written ? definition::parseOperator("t", written->text, diags) : std::nullopt;
  };
  struct Row {
    const char *name, *text, *body;
    double speedup;
  };
  for (const Row &row :
       {Row{"interpolate_bilinear", "upsample by a factor of 3", "scale_factor=3,", 1},
        Row{"interpolate_bilinear", "bilinear upsampling by 4", "scale_factor=4,", 1},
        Row{"interpolate_bilinear", "upsample 5 times", "scale_factor=5,", 1},
        Row{"interpolate_bilinear", "双线性上采样3倍", "scale_factor=3,", 1},
        Row{"interpolate_bilinear", "双线性放大三倍，提速1.5倍", "scale_factor=3,", 1.5},
        Row{"interpolate_bilinear", "upsample 4x, 1.5x faster", "scale_factor=4,", 1.5},
        Row{"interpolate_bilinear", "upsample, 3x faster", "scale_factor=2,", 3},
        Row{"interpolate_nearest", "nearest upsampling 3x", "scale_factor=3,", 1},
        Row{"interpolate_nearest", "放大倍数为4", "scale_factor=4,", 1},
        Row{"interpolate_bicubic", "bicubic resize by a factor of three", "scale_factor=3,", 1},
        Row{"upsample_nearest2d", "upsample by a factor of 3", "[3 * H, 3 * W]", 1},
        Row{"repeat", "repeat 4 times", "x.repeat(4, 4)", 1},
        Row{"cross_entropy_smoothed", "label smoothing of 0.2", "label_smoothing=0.2", 1},
        Row{"pixel_shuffle", "by a factor of 3", "F.pixel_shuffle(x, 2)", 1},
        Row{"pad", "pad by 3 on each side", "F.pad(x, (3, 3, 3, 3))", 1},
        Row{"pad", "pad 2 left and 1 right", "F.pad(x, (2, 1, 0, 0))", 1},
        Row{"pad", "左右各填充3", "F.pad(x, (3, 3, 0, 0))", 1},
        Row{"pad", "左边填充2右边填充1", "F.pad(x, (2, 1, 0, 0))", 1},
        Row{"pad", "the last dimension, pad by 2", "F.pad(x, (2, 2, 0, 0))", 1},
        Row{"pad", "pad 2 at the top and 1 at the bottom", "F.pad(x, (0, 0, 2, 1))", 1},
        Row{"pad", "pad the left by 1, the right by 2, the top by 3", "F.pad(x, (1, 2, 3, 0))", 1},
        Row{"pad", "pad left and right by 4", "F.pad(x, (4, 4, 0, 0))", 1},
        Row{"pad_reflect", "reflection padding of 2", "F.pad(x, (2, 2, 2, 2), mode", 1},
        Row{"pad", "pad left by 2 and by 3", "F.pad(x, (1, 2, 3, 0))", 1},
        Row{"softmax", "softmax 2x", "torch.amax", 2}}) {
    const auto op = writtenFrom(row.name, row.text);
    ASSERT_TRUE(op) << row.text;
    EXPECT_NE(op->body.find(row.body), std::string::npos) << row.text << ": " << op->body;
    EXPECT_EQ(op->targetSpeedup, row.speedup) << row.text;
  }
}

TEST(Words, ShapesInTheirSpellings) {
  using Sizes = std::vector<int64_t>;
  const std::vector<std::pair<std::string, Sizes>> spellings = {
      {"[8, 1024]", {8, 1024}},
      {"(4, 128, 768)", {4, 128, 768}},
      {"（4，128，768）", {4, 128, 768}},
      {"(16,)", {16}},
      {"4x128x768", {4, 128, 768}},
      {"4 x 128 X 768", {4, 128, 768}},
      {"4×128×768", {4, 128, 768}},
      {"4*128", {4, 128}},
      {"1024 by 4096", {1024, 4096}},
      {"a batch of 32 rows of 1024", {32, 1024}},
      {"32行1024列", {32, 1024}},
      {"batch 32, hidden size 1024", {32, 1024}},
      {"[B, N, D] with B = 4, N = 128, D=768", {4, 128, 768}},
      {"[B, 128] with B = 4", {4, 128}},
  };
  for (const auto &[text, sizes] : spellings) {
    const Facts facts = factsOf(text);
    ASSERT_EQ(facts.shapes.size(), 1u) << text;
    EXPECT_EQ(facts.shapes[0].sizes, sizes) << text;
    EXPECT_TRUE(facts.speedups.empty()) << text; // "4 x" asks for no speed
  }
  for (const char *text : {"[B, N, D]", "BxNxD", "(B, N, D)", "3-d", "三维"}) {
    const Facts facts = factsOf(text);
    EXPECT_TRUE(facts.shapes.empty()) << text;
    ASSERT_EQ(facts.ranks.size(), 1u) << text;
    EXPECT_EQ(facts.ranks[0].value, 3) << text;
  }
  for (const char *text : {"(ReLU)", "(see below, too)", "1.5x", "[", "[]", "[8,", "(8 rows)",
                           "99999999999999999999x2", "4x", "Box", "[[8]"}) {
    EXPECT_TRUE(factsOf(text).shapes.empty() || std::string(text) == "[[8]") << text;
  }
  EXPECT_TRUE(factsOf("sum over dims (1, 2)").shapes.empty()); // axes
  EXPECT_EQ(factsOf("sum over dims (1, 2)").axes->dims, (Sizes{1, 2}));
  EXPECT_EQ(factsOf("最后两个维度").axes->dims, (Sizes{-2, -1}));
  EXPECT_EQ(factsOf("axis=-1").axes->dims, (Sizes{-1}));
  for (const char *text : {"head dim 8", "dim 2048", "4-d", "head_dim=8", "a dimension"}) {
    EXPECT_FALSE(factsOf(text).axes) << text;
  }
  EXPECT_EQ(factsOf("hidden size 4096").lengths.at(0).size, 4096);
  EXPECT_EQ(factsOf("quantise to int8").castTypes.size(), 1u);
  EXPECT_EQ(factsOf("int64 indices, fp16").types.size(), 1u); // of one input
  EXPECT_EQ(factsOf("argmax of fp16, int64 output").types.size(), 1u);
  EXPECT_EQ(factsOf("relu, fp16 output").types.size(), 1u); // as what it is of
  EXPECT_EQ(factsOf("on a GPU, H200").targets.size(), 2u);
}

TEST(Words, ChainsAreOfFunctionsThatNeedNothingElse) {
  const auto chain = [](const std::string &text) {
    auto tokens = tokenize("text", text);
    const auto steps = chainOf(termsOf(*tokens), *tokens);
    const auto made = steps.empty() ? std::nullopt : chainDefinition(steps);
    return made ? made->op.body : "";
  };
  EXPECT_EQ(chain("exp then tanh"), "step1 = torch.exp(x)\nout = torch.tanh(step1)\n");
  EXPECT_EQ(chain("relu followed by softmax"),
            "step1 = torch.relu(x)\nout = torch.softmax(step1, dim=-1)\n");
  EXPECT_EQ(chain("先做exp再求和"),
            "step1 = torch.exp(x)\nout = torch.sum(step1, dim=-1, keepdim=True)\n");
  EXPECT_EQ(chain("add two tensors then softmax"),
            "step1 = x + y\nout = torch.softmax(step1, dim=-1)\n");
  EXPECT_EQ(chain("linear with bias, then tanh, then dropout 0.2"),
            "step1 = x @ w\nstep2 = step1 + bias\nstep3 = torch.tanh(step2)\n"
            "out = F.dropout(step3, 0.2, seed=seed)\n");
  EXPECT_EQ(chain("矩阵乘法 加偏置 再 ReLU"),
            "step1 = x @ w\nstep2 = step1 + bias\nout = torch.relu(step2)\n");
  for (const char *text : {"exp then add two tensors", "exp then dropout 2", "exp then linear",
                           "linear then layer norm", "exp with bias, then tanh"}) {
    EXPECT_EQ(chain(text), "") << text;
  }
  for (const char *text : {"tanh of exp", "exp and tanh", "exp", "exp then dropout", "sum then exp",
                           "exp then add", "exp then tanh without relu", "exp then clamp",
                           "exp then tanh then frobnicate", "exp then isnan"}) {
    EXPECT_EQ(chain(text), "") << text;
  }
}

TEST(Words, AFormulaIsWrittenAsItStands) {
  const auto body = [](const std::string &text) {
    const auto formula = formulaIn(text);
    return formula && isWhole(*formula, knownOnes()) ? formula->definition.op.body : "";
  };
  EXPECT_EQ(body("relu(x) + sigmoid(x) * tanh(x), fp16"),
            "out = torch.relu(x) + torch.sigmoid(x) * torch.tanh(x)\n");
  EXPECT_EQ(body("计算 y = softmax(q * 0.125 + F.gelu(mask))，半精度"),
            "out = torch.softmax(q * 0.125 + F.gelu(mask), dim=-1)\n");
  EXPECT_EQ(body("please write tanh(a @ b + bias) for me"), "out = torch.tanh(a @ b + bias)\n");
  const auto made = formulaIn("sum(exp(x - bias), dim=-1)");
  ASSERT_TRUE(made);
  EXPECT_EQ(definition::text(made->definition.op.parameters.at(1).shape), "[D]");
  EXPECT_NE(made->definition.text.find("[outputs.out]\nshape = [\"...\"]"), std::string::npos);
  for (const char *text :
       {"exp(x)", "x + y", "frobnicate(x) + exp(x)", "exp(x) + y then softmax",
        "max(0, x) + log(1 + exp(x))", "exp(x) + y without bias", "exp(x) @ y", "a @ b @ exp(c)",
        "relu(x) + out", "relu(x) + (y", "exp(x) and tanh(y)", "relu(relu)"}) {
    EXPECT_EQ(body(text), "") << text;
  }
}

TEST(Words, CodeOfADocumentIsAScene) {
  const Request request =
      readRequest("task.md", "# Task\n\n\nsoftmax of rows\n```py\ny = relu(x)\n```\n");
  ASSERT_EQ(request.scenes.size(), 1u);
  EXPECT_EQ(request.scenes[0].name, "Task");
  EXPECT_EQ(request.scenes[0].code, "y = relu(x)\n");
  EXPECT_EQ(request.requirement, "# Task\n\nsoftmax of rows");
  EXPECT_EQ(request.prose.size(), request.text.size());
  EXPECT_EQ(request.prose.find("relu"), std::string::npos);
  auto found = std::find_if(shipped().begin(), shipped().end(),
                            [](const Shipped &one) { return one.op.name == "softmax"; });
  auto written = writeDefinition(*found, Facts(), request, "");
  ASSERT_TRUE(written);
  Diagnostics diags;
  auto op = definition::parseOperator("mine.toml", written->text, diags);
  ASSERT_TRUE(op);
  ASSERT_EQ(op->scenes.size(), 1u);
  EXPECT_EQ(op->requirement, request.requirement);
}

TEST(Words, BadTextIsRefused) {
  for (const std::string &text : {std::string(), std::string(" \n"), std::string("a\0b", 3),
                                  std::string("\xff"), std::string(mostBytes + 1, 'a')}) {
    auto tokens = tokenize("text", text);
    ASSERT_FALSE(tokens);
    EXPECT_EQ(tokens.error().code, "E0623");
  }
  std::mt19937 random(1);
  EXPECT_TRUE(tokenize("text", std::string(mostBytes, 'a')));
  for (int i = 0; i < 2000; ++i) {
    std::string text(random() % 60, ' ');
    for (char &letter : text) {
      letter = static_cast<char>(i % 2 ? random() % 96 + 32 : random());
    }
    factsOf(text);
    readRequest("text", text);
  }
}

} // namespace
} // namespace nereid::words
