// SPDX-License-Identifier: Apache-2.0
// Tensors without dimensions decide a type only where they are of a higher kind, as in PyTorch.
#include "unittests/definition/Loading.h"

#include <fmt/format.h>

namespace nereid::definition {
namespace {

/// The type of `out` for x of [N] and s without dimensions; "" where none of them is right.
std::string outType(const std::string &body, const std::string &dtypes, const std::string &scalar,
                    const std::string &shape = "\"N\"") {
  for (const char *type : {"", "bool", "uint8", "int8", "int16", "int32", "int64", "float16",
                           "bfloat16", "float32", "float64"}) {
    const std::string declared =
        *type == '\0' ? "" : fmt::format("dtype = \"{}\"\n", std::string(type));
    const Loaded loaded = load(fmt::format(
        "[operator]\nname = \"t\"\nsummary = \"A test.\"\ndtypes = [{}]\nbody = '''\n{}\n'''\n"
        "[inputs.x]\nshape = [\"N\"]\n[inputs.s]\nshape = []\ndtype = \"{}\"\n"
        "[outputs.out]\nshape = [{}]\n{}[performance]\ncases = [{{ N = 4 }}]\n",
        dtypes, body, scalar, shape, declared));
    if (loaded.op) {
      return *type == '\0' ? "own" : type;
    }
  }
  return "";
}

TEST(Unranked, LeaveTheTypeToTensorsWithDimensions) {
  EXPECT_EQ(outType("out = x * s", "\"float16\"", "float32"), "own");
  EXPECT_EQ(outType("out = x * s", "\"float32\", \"float16\", \"bfloat16\"", "float32"), "own");
  EXPECT_EQ(outType("out = x * s", "\"float32\", \"float16\"", "float64"), "own");
  EXPECT_EQ(outType("out = x + s", "\"int8\"", "int64"), "own");
  EXPECT_EQ(outType("out = x + s", "\"uint8\"", "int8"), "own");
  EXPECT_EQ(outType("out = torch.where(x > 0, x, torch.tensor(2.5)) + s", "\"float16\"", "float16"),
            "own");
  EXPECT_EQ(outType("out = x.float().sum() * x + s", "\"bfloat16\"", "float32"), "own");
}

TEST(Unranked, DecideWhereTheyAreOfAHigherKind) {
  EXPECT_EQ(outType("out = x * s", "\"int8\"", "float64"), "float64");
  EXPECT_EQ(outType("out = x * s", "\"bool\"", "int16"), "int16");
  EXPECT_EQ(outType("out = x / s", "\"int8\"", "int64"), "float32");
}

TEST(Unranked, AreJoinedAmongEachOther) {
  EXPECT_EQ(outType("out = x.sum() * s", "\"float16\"", "float32", ""), "float32");
}

TEST(Unranked, OfMoreThanOneTypeAreRefused) {
  const std::string text = "out = (x * s).to(torch.float32)";
  EXPECT_EQ(outType(text, "\"float16\", \"int32\"", "float32"), "");
  EXPECT_EQ(outType("out = (x * s.to(torch.float32)).to(torch.float32)", "\"float16\"", "float32"),
            "float32");
}

TEST(Unranked, AreConvertedBeforeTheyAreCompared) {
  const Loaded loaded = load(
      "[operator]\nname = \"t\"\nsummary = \"A test.\"\ndtypes = [\"int8\"]\nbody = 'out = x == "
      "s'\n"
      "[inputs.x]\nshape = [\"N\"]\n[inputs.s]\nshape = []\ndtype = \"int64\"\n"
      "[outputs.out]\nshape = [\"N\"]\ndtype = \"bool\"\n[performance]\ncases = [{ N = 4 }]\n");
  ASSERT_TRUE(loaded.op) << loaded.diags.render();
  EXPECT_EQ(loaded.op->nodes[2].op, "to_int8");
}

} // namespace
} // namespace nereid::definition
