// SPDX-License-Identifier: Apache-2.0
// Quotients of sizes: what constraints say of them, dimensions of inputs that are computed, and
// attention of grouped heads in the layouts of models.
#include "unittests/definition/Loading.h"

#include "lib/definition/operations/sizes/SizeRules.h"

namespace nereid::definition {
namespace {

std::string read(const std::string &text) { return sizePolynomial(text)->text(); }

Loaded grouped(const std::string &body, const std::string &q = "\"B\", \"Q\", \"L\", \"D\"",
               const std::string &constraints = "", const std::string &cases = "Q = 6",
               const std::string &out = "\"B\", \"Q\", \"L\", \"D\"") {
  return load("[operator]\nname = \"t\"\nsummary = \"s\"\ndtypes = [\"float32\"]\nconstraints = [" +
              constraints + "]\nbody = '''\n" + body + "\n'''\n[inputs.q]\nshape = [" + q +
              "]\n[inputs.k]\nshape = [\"B\", \"H\", \"S\", \"D\"]\n[inputs.v]\nshape = [\"B\", "
              "\"H\", \"S\", \"D\"]\n[outputs.out]\nshape = [" +
              out + "]\n[performance]\ncases = [{ B = 2, H = 2, L = 5, S = 7, D = 4, " + cases +
              " }]\n");
}

std::string constraintsOf(const Loaded &loaded) {
  std::string all;
  for (const Constraint &each : loaded.op ? loaded.op->constraints : std::vector<Constraint>{}) {
    all += each.text + "; ";
  }
  return all;
}

const char *repeated = "out = F.softmax(q @ k.repeat_interleave(Q // H, dim=1).mT, dim=-1) @ "
                       "v.repeat_interleave(Q // H, dim=1)";

TEST(SizeRules, QuotientsOfSizesHaveOneSpelling) {
  EXPECT_EQ(read("Q // H"), "Q // H");
  EXPECT_EQ(read("H * (Q // H)"), "(Q // H) * H");
  EXPECT_EQ(read("H * N // H"), "N");
  EXPECT_EQ(read("(G * H + H) // H"), "G + 1");
  EXPECT_EQ(read("Q % H"), "-(Q // H) * H + Q");
  EXPECT_EQ(read("Q // (2 * H)"), "Q // (2 * H)");
  EXPECT_EQ(read("(Q + 1) // H"), "(Q + 1) // H");
  EXPECT_FALSE(sizePolynomial("Q // 0"));
}

TEST(SizeRules, NamesStandForTheProductsThatTheyAre) {
  Loaded loaded = grouped("out = q * 1.0", "\"B\", \"Q\", \"L\", \"D\"", "\"Q % H == 0\"");
  ASSERT_TRUE(loaded.op) << loaded.diags.render();
  const SizeRules rules(*loaded.op);
  EXPECT_EQ(rules.named(*sizePolynomial("H * (Q // H)")).text(), "Q");
  EXPECT_EQ(rules.named(*sizePolynomial("B * H * (Q // H) + 1")).text(), "B * Q + 1");
  EXPECT_EQ(rules.named(*sizePolynomial("Q // H")).text(), "Q // H");
  EXPECT_EQ(rules.named(*sizePolynomial("0")).text(), "0");
  EXPECT_TRUE(rules.areEqual(*sizePolynomial("Q * D"), *sizePolynomial("D * H * (Q // H)")));
  EXPECT_FALSE(rules.areEqual(*sizePolynomial("Q"), *sizePolynomial("H")));
}

TEST(SizeRules, OtherSizesKeepTheirSpelling) {
  const auto inShape = [](const std::string &constraint, const std::string &size) {
    Loaded loaded = grouped("out = q * 1.0", "\"B\", \"Q\", \"L\", \"D\"", constraint);
    return loaded.op ? SizeRules(*loaded.op).named(*sizePolynomial(size)).text() : loaded.code();
  };
  EXPECT_EQ(inShape("\"Q == B + H + 2\"", "B + H + 2"), "B + H + 2");
  EXPECT_EQ(inShape("\"Q == 3 * H\"", "3 * H"), "3 * H");
  EXPECT_EQ(inShape("\"D == B * H\"", "B * H * L"), "D * L");
}

TEST(SizeRules, RepeatingHeadsMakesThatTheyDivide) {
  const Loaded loaded = grouped(repeated);
  ASSERT_TRUE(loaded.op) << loaded.diags.render();
  EXPECT_EQ(constraintsOf(loaded), "H >= 1; Q % H == 0; ");
  const Loaded said = grouped(repeated, "\"B\", \"Q\", \"L\", \"D\"", "\"H >= 1\", \"Q % H == 0\"");
  EXPECT_EQ(constraintsOf(said), "H >= 1; Q % H == 0; ");
}

TEST(SizeRules, GroupsOfAttentionAreRepeatedHeads) {
  const Loaded loaded = grouped("out = F.scaled_dot_product_attention(q, k, v, enable_gqa=True)");
  ASSERT_TRUE(loaded.op) << loaded.diags.render();
  EXPECT_EQ(constraintsOf(loaded), "H >= 1; Q % H == 0; ");
  EXPECT_EQ(grouped("out = F.scaled_dot_product_attention(q, k, v)").code(), "E0604");
  const std::string text =
      "[operator]\nname = \"t\"\nsummary = \"s\"\ndtypes = [\"float32\"]\nbody = '''\nout = "
      "F.scaled_dot_product_attention(q, k, k, enable_gqa=True)\n'''\n[inputs.q]\nshape = [5, "
      "\"L\", \"D\"]\n[inputs.k]\nshape = [2, \"S\", \"D\"]\n[outputs.out]\nshape = [5, \"L\", "
      "\"D\"]\n[performance]\ncases = [{ L = 5, S = 7, D = 4 }]\n";
  const Loaded never = load(text);
  EXPECT_EQ(never.code(), "E0604");
  EXPECT_EQ(never.first().range.line, 6);
}

TEST(SizeRules, CasesThatDoNotDivideAreRefusedAtTheirPlace) {
  const Loaded loaded = grouped(repeated, "\"B\", \"Q\", \"L\", \"D\"", "", "Q = 5");
  EXPECT_FALSE(loaded.op);
  EXPECT_EQ(loaded.code(), "E0617");
  EXPECT_EQ(loaded.first().range.line, 18);
  EXPECT_NE(loaded.first().message.find("Q % H == 0"), std::string::npos);
}

TEST(SizeRules, DimensionsOfInputsMayBeProducts) {
  const char *body = "q = q.view(B, H, G, L, D)\n"
                     "out = (q @ k[:, :, None].mT @ v[:, :, None]).reshape(B, G * H, L, D)";
  const Loaded loaded = grouped(body, "\"B\", \"G * H\", \"L\", \"D\"", "", "G = 3",
                                "\"B\", \"G * H\", \"L\", \"D\"");
  ASSERT_TRUE(loaded.op) << loaded.diags.render();
  EXPECT_EQ(constraintsOf(loaded), "H >= 1; SIZE_1 % H == 0; ");
  EXPECT_EQ(text(loaded.op->parameters[0].shape), "[B, SIZE_1, L, D]");
  EXPECT_EQ(loaded.op->performanceCases[0].binding.symbols.at("SIZE_1"), 6);
  EXPECT_FALSE(loaded.op->performanceCases[0].binding.symbols.contains("G"));
}

TEST(SizeRules, DimensionsOfInputsMayBeSumsOfKnownSizes) {
  const Loaded loaded = grouped("out = q[:, 1:] * 1.0", "\"B\", \"H + 1\", \"L\", \"D\"", "",
                                "name = \"a\"", "\"B\", \"H\", \"L\", \"D\"");
  ASSERT_TRUE(loaded.op) << loaded.diags.render();
  EXPECT_EQ(loaded.op->performanceCases[0].binding.symbols.at("SIZE_1"), 3);
  const Loaded open = grouped("out = q * 1.0", "\"B\", \"X * Y\", \"L\", \"D\"");
  EXPECT_EQ(open.code(), "E0602");
  EXPECT_NE(open.first().message.find("'X' and 'Y'"), std::string::npos) << open.diags.render();
  EXPECT_EQ(open.first().range.line, 10);
}

TEST(SizeRules, ReshapesMakeThatSizesDivide) {
  const Loaded halves = grouped("out = q.reshape(B, Q, L, 2, D // 2).flatten(-2) * 1.0");
  ASSERT_TRUE(halves.op) << halves.diags.render();
  EXPECT_EQ(constraintsOf(halves), "D % 2 == 0; ");
  const Loaded heads = grouped("out = q.view(B, H, -1, L, D).view(B, Q, L, D) * 1.0");
  ASSERT_TRUE(heads.op) << heads.diags.render();
  EXPECT_EQ(constraintsOf(heads), "H >= 1; Q % H == 0; ");
}

} // namespace
} // namespace nereid::definition
