// SPDX-License-Identifier: Apache-2.0
// What PyTorch promotes, and what it refuses to compute of two types.
#include "unittests/definition/Loading.h"

#include <fmt/format.h>

namespace nereid::definition {
namespace {

/// x and y of these types and shapes; the output's type is `out`.
Loaded mixed(const std::string &body, const std::string &x, const std::string &y,
             const std::string &out, const std::string &shape = "\"N\", \"N\"",
             const std::string &other = "\"N\", \"N\"",
             const std::string &result = "\"N\", \"N\"") {
  return load(fmt::format("[operator]\nname = \"t\"\nsummary = \"A test.\"\ndtypes = [\"{}\"]\n"
                          "body = 'out = {}'\n[inputs.x]\nshape = [{}]\n[inputs.y]\nshape = [{}]\n"
                          "dtype = \"{}\"\n[outputs.out]\nshape = [{}]\ndtype = \"{}\"\n"
                          "[performance]\ncases = [{{ N = 4 }}]\n",
                          x, body, shape, other, y, result, out));
}

TEST(Promotion, JoinsTensorsOfTwoTypes) {
  for (const char *name : {"cat", "concat"}) {
    EXPECT_TRUE(mixed(fmt::format("torch.{}([x, y, x])", name), "float16", "float32", "float32",
                      "\"N\", \"N\"", "\"N\", \"N\"", "\"3 * N\", \"N\"")
                    .op)
        << name;
  }
  EXPECT_TRUE(mixed("torch.stack([x, y])", "int32", "int64", "int64", "\"N\", \"N\"",
                    "\"N\", \"N\"", "2, \"N\", \"N\"")
                  .op);
  EXPECT_EQ(mixed("torch.cat([x, y])", "uint16", "int32", "int32", "\"N\", \"N\"", "\"N\", \"N\"",
                  "\"2 * N\", \"N\"")
                .code(),
            "E0605");
}

TEST(Promotion, IsNoneOfLongUnsignedIntegers) {
  for (const char *body : {"x + y", "x * y", "torch.maximum(x, y)", "x == y",
                           "torch.where(x == x, x, y)", "torch.logical_and(x, y)"}) {
    EXPECT_EQ(mixed(body, "uint16", "int32", "int32").code(), "E0605") << body;
    EXPECT_EQ(mixed(body, "uint64", "int64", "int64").code(), "E0605") << body;
  }
  EXPECT_TRUE(mixed("x + y", "uint16", "float32", "float32").op);
  EXPECT_TRUE(mixed("x.to(torch.int32) + y", "uint16", "int32", "int32").op);
  EXPECT_TRUE(mixed("x + y", "uint8", "int32", "int32").op);
}

TEST(Promotion, IsNoneOfProductsAndWhatIsAddedToThem) {
  for (const char *body : {"F.linear(x, x, y)", "torch.addmm(y, x, x)"}) {
    EXPECT_EQ(mixed(body, "float32", "float64", "float64", "\"N\", \"N\"", "\"N\"").code(), "E0605")
        << body;
    EXPECT_TRUE(mixed(body, "float32", "float32", "float32", "\"N\", \"N\"", "\"N\"").op) << body;
  }
}

TEST(Promotion, IsNoneOfProbabilitiesAndTargets) {
  const std::string each = "(x, y, reduction=\"none\")";
  EXPECT_EQ(mixed("F.binary_cross_entropy" + each, "float32", "float64", "float64").code(),
            "E0605");
  const std::string logits = "F.binary_cross_entropy_with_logits" + each;
  EXPECT_EQ(mixed(logits, "float32", "int64", "float32").code(), "E0605");
  EXPECT_TRUE(mixed(logits, "float32", "float64", "float64").op);
}

TEST(Promotion, IsNoneOfRowsAndTheirWeights) {
  const std::string body = "F.layer_norm(x, (N,), y)";
  EXPECT_EQ(mixed(body, "float32", "float64", "float64", "\"N\", \"N\"", "\"N\"").code(), "E0605");
  EXPECT_TRUE(mixed(body, "float32", "float32", "float32", "\"N\", \"N\"", "\"N\"").op);
}

TEST(Products, HaveTheRanksOfTheirNames) {
  const std::string batch = "\"B\", \"N\", \"N\"";
  for (const char *body : {"torch.bmm(x, y)", "torch.mm(y, x)", "x.bmm(y)", "torch.mv(y, y)",
                           "torch.dot(y, y)", "torch.bmm(y, y)"}) {
    const Loaded loaded = load(fmt::format("[operator]\nname = \"t\"\nsummary = \"A "
                                           "test.\"\ndtypes = [\"float32\"]\nbody = 'out = {}'\n"
                                           "[inputs.x]\nshape = [{}]\n[inputs.y]\nshape = [\"N\", "
                                           "\"N\"]\n[outputs.out]\nshape = [{}]\n"
                                           "[performance]\ncases = [{{ B = 2, N = 4 }}]\n",
                                           body, batch, batch));
    EXPECT_EQ(loaded.code(), "E0604") << body;
  }
}

} // namespace
} // namespace nereid::definition
