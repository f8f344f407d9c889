// SPDX-License-Identifier: Apache-2.0
// Definitions that load, and every way one is refused: code, place and help.
#include "unittests/ShippedOperators.h"
#include "unittests/definition/Loading.h"

#include "lib/definition/operations/Operations.h"
#include "lib/support/AtomicFile.h"

#include <filesystem>

namespace nereid::definition {
namespace {

TEST(Loader, ReadsTheShippedDefinitions) {
  for (const auto &[name, path] : shippedDefinitions()) {
    Diagnostics diags;
    std::optional<Operator> op = loadOperator(path, diags);
    ASSERT_TRUE(op) << path << "\n" << diags.render();
    EXPECT_EQ(op->name, name);
    EXPECT_FALSE(op->performanceCases.empty());
    EXPECT_FALSE(op->accuracyCases.empty() && op->scenes.empty() && op->requirement.empty() &&
                 op->constraints.empty())
        << path;
    EXPECT_FALSE(op->dtypes.empty());
  }
  EXPECT_GE(shippedDefinitions().size(), 150U);
}

/// Folders group operators and name none: a name stands for one definition.
TEST(Loader, ShippedNamesAreUniqueAndDocumented) {
  size_t files = 0;
  for (const auto &entry :
       std::filesystem::recursive_directory_iterator(NEREID_SOURCE_DIR "/operators")) {
    files += entry.path().extension() == ".toml";
  }
  EXPECT_EQ(shippedDefinitions().size(), files);
  auto table = readTextFile(NEREID_SOURCE_DIR "/docs/operators.md");
  ASSERT_TRUE(table) << render(table.error());
  for (const auto &[name, path] : shippedDefinitions()) {
    EXPECT_NE(table->find("| `" + name + "` |"), std::string::npos)
        << "docs/operators.md has no row of " << path;
  }
}

TEST(Loader, BroadcastAdd) {
  Diagnostics diags;
  auto op = loadOperator(NEREID_SOURCE_DIR "/operators/broadcast_add.toml", diags);
  ASSERT_TRUE(op) << diags.render();
  ASSERT_EQ(op->parameters.size(), 2u);
  EXPECT_EQ(op->parameters[0].name, "x");
  EXPECT_EQ(op->parameters[1].name, "bias");
  ASSERT_EQ(op->nodes.size(), 3u);
  EXPECT_EQ(op->nodes[2].op, "add");
  EXPECT_EQ(op->nodes[2].name, "out");
  EXPECT_EQ(op->nodes[2].source, "x + bias");
  EXPECT_EQ(text(op->nodes[2].shape), "[..., D]");
}

TEST(Loader, LargeFloat32CasesShip) {
  for (const char *name : {"broadcast_add", "bias_gelu", "softmax", "layer_norm"}) {
    Diagnostics diags;
    auto op = loadOperator(std::string(NEREID_SOURCE_DIR "/operators/") + name + ".toml", diags);
    ASSERT_TRUE(op);
    double largest = 0;
    for (const Case &one : op->performanceCases) {
      largest = std::max(largest, countWork(*op, one.binding, DType::F32).bytesWritten);
    }
    EXPECT_GE(largest, 256.0 * 1024 * 1024) << name;
  }
}

TEST(Loader, KeepsTheOrderOfInputs) {
  Loaded loaded = load(withBody("out = x * y + s"));
  ASSERT_TRUE(loaded.op) << loaded.diags.render();
  EXPECT_EQ(loaded.op->parameters[0].name, "x");
  EXPECT_EQ(loaded.op->parameters[1].name, "y");
  EXPECT_EQ(loaded.op->parameters[2].name, "s");
  EXPECT_TRUE(loaded.op->parameters[2].isScalar);
  EXPECT_EQ(loaded.op->parameters[2].value, 2.5);
  EXPECT_EQ(loaded.op->performanceCases[0].name, "2x3x4");
}

TEST(Loader, MissingFileSaysSo) {
  Diagnostics diags;
  EXPECT_FALSE(loadOperator("/nowhere/x.toml", diags));
  EXPECT_EQ(diags.all().at(0).code, "E0601");
  EXPECT_NE(diags.all()[0].message.find("/nowhere/x.toml"), std::string::npos);
  Diagnostics folder;
  EXPECT_FALSE(loadOperator("/tmp", folder));
  EXPECT_EQ(folder.all().at(0).code, "E0601");
}

TEST(Loader, SyntaxErrorsOfTomlHaveAPlace) {
  Loaded loaded = load("[operator]\nname = \n");
  EXPECT_FALSE(loaded.op);
  EXPECT_EQ(loaded.code(), "E0601");
  EXPECT_EQ(loaded.first().range.line, 2);
}

TEST(Loader, UnknownKeysAreRejectedWithTheNearest) {
  std::string text = withBody("out = x + y");
  text.replace(text.find("summary"), 7, "sumary_");
  Loaded loaded = load(text);
  EXPECT_FALSE(loaded.op);
  EXPECT_EQ(loaded.code(), "E0602");
  EXPECT_EQ(loaded.first().range.line, 3);
  EXPECT_NE(loaded.first().help.find("summary"), std::string::npos) << loaded.diags.render();
}

TEST(Loader, MissingTablesAndKeys) {
  EXPECT_EQ(load("").code(), "E0602");
  EXPECT_EQ(load("operator = 3").code(), "E0602");
  std::string text = withBody("out = x + y");
  std::string noCases = text.substr(0, text.find("[performance]"));
  EXPECT_EQ(load(noCases).code(), "E0602");
  std::string badCase = text;
  badCase.replace(badCase.find("D = 4 }"), 7, "E = 4 }");
  Loaded loaded = load(badCase);
  EXPECT_EQ(loaded.code(), "E0602");
  EXPECT_NE(loaded.diags.render().find("'D'"), std::string::npos);
}

TEST(Loader, ImpossibleSizesAreRefused) {
  std::string text = withBody("out = x + y");
  std::string negative = text;
  negative.replace(negative.find("D = 4 }"), 7, "D = -4 }");
  EXPECT_EQ(load(negative).code(), "E0602");
  std::string huge = text;
  huge.replace(huge.find("[2, 3]"), 6, "[4000000000, 4000000000]");
  EXPECT_EQ(load(huge).code(), "E0602");
}

TEST(Loader, TextThatIsQuotedElsewhereIsOneLine) {
  for (const char *text : {"a\\u0007b", "a\\nb", "a\\r\\nb", "a\\u001b[31mb", "a\\u007fb"}) {
    std::string definition = withBody("out = x + y");
    const size_t at = definition.find("summary"), end = definition.find('\n', at);
    definition.replace(at, end - at, std::string("summary = \"") + text + "\"");
    Loaded loaded = load(definition);
    EXPECT_EQ(loaded.code(), "E0602") << text;
    EXPECT_NE(loaded.first().message.find("'summary' expects one line"), std::string::npos);
  }
}

TEST(Loader, CasesOfComputedSizesOfMoreThan64BitsAreRefused) {
  const std::string text =
      "[operator]\nname = \"t\"\nsummary = \"A test.\"\ndtypes = [\"float32\"]\n"
      "body = 'out = torch.arange(N * 4611686018427387904) + x'\n[inputs.x]\nshape = [1]\n"
      "[inputs.N]\nsize = 0\n[outputs.out]\nshape = [\"4611686018427387904 * N\"]\n"
      "[performance]\ncases = [{ N = 3 }]\n";
  const Loaded loaded = load(text);
  EXPECT_EQ(loaded.code(), "E0602");
  EXPECT_EQ(loaded.first().range.line, 13u);
}

TEST(Loader, CasesHaveNamesOfTheirOwn) {
  std::string text = withBody("out = x + y");
  const size_t at = text.rfind("cases = ["), end = text.rfind(']');
  text.replace(at, end - at,
               "cases = [{ name = \"a\", \"...\" = [2, 3], D = 4 }, "
               "{ name = \"a\", \"...\" = [2], D = 5 }");
  Loaded loaded = load(text);
  EXPECT_EQ(loaded.code(), "E0602");
  EXPECT_NE(loaded.first().message.find("called 'a'"), std::string::npos) << loaded.diags.render();
}

TEST(Loader, UnknownAndExcludedTypes) {
  std::string text = withBody("out = x + y");
  std::string unknown = text;
  unknown.replace(unknown.find("\"float16\""), 9, "\"flot16\"");
  EXPECT_EQ(load(unknown).code(), "E0605");
  std::string integer = text;
  integer.replace(integer.find("\"float16\""), 9, "\"float8_e5m2\"");
  EXPECT_EQ(load(integer).code(), "E0605");
  Loaded loaded = load(text);
  ASSERT_TRUE(loaded.op);
  EXPECT_TRUE(checkDtype(*loaded.op, DType::F16));
  Status excluded = checkDtype(*loaded.op, DType::BF16);
  ASSERT_FALSE(excluded);
  EXPECT_EQ(excluded.error().code, "E0606");
  EXPECT_NE(excluded.error().help.find("float32, float16"), std::string::npos);
}

TEST(Loader, DamagedTextNeverCrashes) {
  std::string text = withBody("out = torch.softmax(x * 2 + y, dim=-1)");
  uint64_t state = 12345;
  for (int i = 0; i < 3000; ++i) {
    std::string damaged = text;
    for (int k = 0; k < 2; ++k) {
      state = state * 6364136223846793005u + 1442695040888963407u;
      damaged[(state >> 33) % damaged.size()] = static_cast<char>(32 + (state >> 24) % 95);
    }
    Loaded loaded = load(damaged);
    EXPECT_TRUE(loaded.op || loaded.diags.hasErrors());
  }
}

} // namespace
} // namespace nereid::definition
