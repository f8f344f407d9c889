// SPDX-License-Identifier: Apache-2.0
// Requirement and scenes of a definition, and constraints that repeat what shapes and types say.
#include "unittests/definition/Loading.h"

#include "lib/definition/constraints/Declared.h"

namespace nereid::definition {
namespace {

std::string withMore(const std::string &more) { return withBody("out = x + y * s") + more; }

TEST(Scene, ExpectsNameAndCode) {
  struct Bad {
    const char *text, *message;
  };
  for (const Bad &bad : {
           Bad{"[scene]\nname = \"a\"\n", "'scene' expects a list of tables"},
           Bad{"[[scene]]\nname = \"a\"\n", "[[scene]] expects the key 'code'"},
           Bad{"[[scene]]\ncode = \"a\"\n", "[[scene]] expects the key 'name'"},
           Bad{"[[scene]]\nname = \"a\"\ncode = \"  \\n \"\n", "'code' expects text"},
           Bad{"[[scene]]\nname = \"a\"\ncode = 3\n", "'code' expects a string"},
           Bad{"[[scene]]\nname = \"a\\n\"\ncode = \"b\"\n", "'name' expects one line"},
           Bad{"[[scene]]\nname = \"a\"\nkode = \"b\"\ncode = \"b\"\n", "unknown key 'kode'"},
           Bad{"[[scene]]\nname = \"a\"\ncode = \"b\"\n[[scene]]\nname = \"a\"\ncode = \"b\"\n",
               "two scenes are called 'a'"},
           Bad{"[[scene]]\nname = \"a\"\ncode = \"b\\n  ```\\n# free\"\n", "no line that begins"},
           Bad{"[[scene]]\nname = \"a\"\ncode = \"b\\u0007\"\n", "control characters"},
       }) {
    Loaded loaded = load(withMore(bad.text));
    ASSERT_FALSE(loaded.op) << bad.text;
    EXPECT_EQ(loaded.code(), "E0602") << bad.text;
    EXPECT_NE(loaded.diags.render().find(bad.message), std::string::npos) << loaded.diags.render();
    EXPECT_GT(loaded.first().range.line, 10) << bad.text;
  }
  EXPECT_FALSE(
      load(withMore("[[scene]]\nname = \"a\"\ncode = \"" + std::string(70000, 'x') + "\"\n")).op);
}

TEST(Scene, BlankEndsGo) {
  Loaded loaded =
      load(withMore("[[scene]]\nname = \"a\"\ncode = \"\"\"\n\n  a = 1\n  b = 2\n\n\"\"\"\n"));
  ASSERT_TRUE(loaded.op) << loaded.diags.render();
  EXPECT_EQ(loaded.op->scenes.at(0).code, "  a = 1\n  b = 2");
}

/// Whether the only constraint of a definition repeats a declaration.
bool declared(const std::string &constraint) {
  std::string text = withBody("out = x + y * s", "\"...\", \"D\"");
  text.insert(text.find("dtypes"), "constraints = [\"" + constraint + "\"]\n");
  Loaded loaded = load(text);
  EXPECT_TRUE(loaded.op) << loaded.diags.render();
  return loaded.op && isDeclared(loaded.op->constraints.at(0), *loaded.op);
}

TEST(Declared, KnowsWhatShapesAndTypesSay) {
  for (const char *same : {"x.dim() >= 1", "1 <= x.dim()", "x.dim() > 0", "y.dim() == 1",
                           "1 == y.dim()", "y.shape == [D]", "x.dtype == y.dtype"}) {
    EXPECT_TRUE(declared(same)) << same;
  }
}

TEST(Declared, AndNotWhatOnlyFollows) {
  for (const char *other :
       {"x.dim() >= 2", "x.dim() == 3", "y.dim() <= 1", "y.dim() != 2", "x.shape[-1] == y.numel()",
        "D >= 1", "s > 0", "y >= 0", "x.is_contiguous()", "y.shape != [3]", "y.shape == [4]"}) {
    EXPECT_FALSE(declared(other)) << other;
  }
}

} // namespace
} // namespace nereid::definition
