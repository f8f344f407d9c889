// SPDX-License-Identifier: Apache-2.0
// Bodies with scans, sorted lines and calls that return two tensors.
#include "unittests/definition/Loading.h"

namespace nereid::definition {
namespace {

/// x: [..., N] with the constraint N >= least.
Loaded lines(const std::string &body, const std::string &outShape = "\"...\", \"N\"",
             const std::string &more = "", int least = 0) {
  const std::string constraint =
      least > 0 ? "constraints = [\"N >= " + std::to_string(least) + "\"]\n" : "";
  return load("[operator]\nname = \"t\"\nsummary = \"s\"\n" + constraint +
              "dtypes = [\"float32\"]\nbody = \"\"\"\n" + body +
              "\n\"\"\"\n[inputs.x]\nshape = [\"...\", \"N\"]\n[outputs.out]\nshape = [" +
              outShape + "]\n" + more + "\n[performance]\ncases = [{ \"...\" = [2], N = 16 }]\n");
}
const char *positions = "dtype = \"int64\"";

TEST(LineBodies, TwoNames) {
  const Loaded both = lines("values, indices = torch.sort(x)\nout = values + indices");
  ASSERT_TRUE(both.op) << both.diags.render();
  EXPECT_EQ(both.op->nodes[1].op, "sort");
  EXPECT_EQ(both.op->nodes[2].op, "argsort");
  for (const char *body :
       {"out, _ = torch.cummax(x, dim=-1)", "out = torch.cummin(x, -1).values",
        "out = x.sort(descending=True)[0]", "out = torch.sort(x, dim=-1, stable=True).values",
        "a, b = x, x + 1\nout = a * b", "out = torch.maximum(x, torch.max(x))",
        "out = torch.max(x, x * 2)"}) {
    EXPECT_TRUE(lines(body).op) << body << lines(body).diags.render();
  }
}

TEST(LineBodies, ShapesAndTypes) {
  EXPECT_TRUE(lines("out = torch.argsort(x)", "\"...\", \"N\"", positions).op);
  EXPECT_TRUE(lines("_, out = torch.topk(x, 3)", "\"...\", 3", positions, 3).op);
  EXPECT_TRUE(lines("out = torch.topk(x, 0).values", "\"...\", 0").op);
  EXPECT_TRUE(lines("out = torch.argmax(x, -1, keepdim=True)", "\"...\", 1", positions).op);
  EXPECT_TRUE(lines("out = torch.argmax(x)", "", positions).op);
  EXPECT_TRUE(lines("out = torch.median(x, -1).values", "\"...\"").op);
  EXPECT_EQ(lines("out = torch.argsort(x)").code(), "E0605");
}

struct Refused {
  const char *body, *code, *message;
};

TEST(LineBodies, RefusesWhatPyTorchDoesNotHave) {
  const Refused all[] = {
      {"out = torch.sort(x)", "E0608", "returns two tensors, but one is expected"},
      {"out, b = torch.exp(x)", "E0608", "2 names are assigned 1 values"},
      {"out, b = torch.max(x)", "E0608", "2 names are assigned 1 values"},
      {"out, b, c = torch.sort(x)", "E0608", "returns two tensors"},
      {"out, b = x, x, x", "E0608", "2 names are assigned 3 values"},
      {"out, x[0] = torch.sort(x)", "E0608", "expects names on its left"},
      {"out = torch.cumsum(x, dim=(-1, -2))", "E0604", "outside"},
      {"out = torch.cumsum(x, dim=0)", "E0604", "counts from the front"},
      {"out = torch.cumsum(x)", "E0608", "expects the argument 'dim'"},
      {"out = torch.topk(x, 3).values", "E0604", "'N' may be any size"},
      {"out = torch.topk(x, -1).values", "E0608", "integer of at least 0"},
      {"out = torch.kthvalue(x, 0).values", "E0604", "k of at least 1"},
      {"out = topk_indices(x, 3)", "E0603", "unknown function 'topk_indices'"},
      {"out = torch.sort(x)[2]", "E0608", "returns two tensors"},
  };
  for (const Refused &each : all) {
    const Loaded loaded = lines(each.body);
    EXPECT_FALSE(loaded.op) << each.body;
    ASSERT_FALSE(loaded.diags.all().empty()) << each.body;
    EXPECT_EQ(loaded.code(), each.code) << each.body << loaded.diags.render();
    EXPECT_NE(loaded.first().message.find(each.message), std::string::npos)
        << each.body << loaded.diags.render();
    EXPECT_GT(loaded.first().range.line, 0) << each.body;
  }
}

/// As in PyTorch the largest of nothing is refused, here by the size before any value is looked at.
TEST(LineBodies, ExtremesNeedAnElement) {
  for (const char *body :
       {"out = x * torch.amax(x, dim=-1, keepdim=True)", "out = x + torch.amin(x)",
        "out = x * torch.argmax(x, dim=-1, keepdim=True)",
        "out = x - torch.max(x, dim=-1)[1][..., None]",
        "out = x - torch.median(x, dim=-1, keepdim=True).values",
        "out = x - torch.topk(x, 1).values"}) {
    const Loaded loaded = lines(body);
    ASSERT_TRUE(loaded.op) << body << loaded.diags.render();
    ASSERT_EQ(loaded.op->constraints.size(), 1U) << body;
    EXPECT_EQ(loaded.op->constraints[0].text, "N >= 1") << body;
  }
  for (const char *body : {"out = torch.softmax(x, dim=-1)", "out = torch.sort(x).values",
                           "out = torch.cummax(x, dim=-1).values"}) {
    EXPECT_TRUE(lines(body).op->constraints.empty()) << body;
  }
  const Loaded empty = lines("out = x[..., :0].amax(dim=-1)", "\"...\"");
  EXPECT_EQ(empty.code(), "E0604") << empty.diags.render();
  EXPECT_NE(empty.first().message.find("the size there is 0"), std::string::npos);
}

TEST(LineBodies, LengthsThatAreNumbers) {
  auto of = [](const char *body) {
    return load(std::string("[operator]\nname = \"t\"\nsummary = \"s\"\ndtypes = [\"float32\"]\n"
                            "body = \"\"\"\n") +
                body +
                "\n\"\"\"\n[inputs.x]\nshape = [\"N\", 4]\n[outputs.out]\nshape = [\"N\", 4]\n"
                "[performance]\ncases = [{ N = 16 }]\n");
  };
  EXPECT_TRUE(of("out = torch.topk(x, 4).values").op);
  EXPECT_EQ(of("out = torch.topk(x, 5).values").code(), "E0604");
}

} // namespace
} // namespace nereid::definition
