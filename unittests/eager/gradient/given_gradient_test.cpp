// SPDX-License-Identifier: Apache-2.0
// Gradients that a definition says itself: expressions and statements, beside derived ones, and
// wrong ones, which differences find.
#include "unittests/eager/gradient/Gradients.h"

namespace nereid::eager {
namespace {

Operator withGradient(const std::string &gradient) {
  const std::string text =
      "[operator]\nname = \"t\"\nsummary = \"s\"\ndtypes = [\"float32\"]\n"
      "body = \"\"\"\nout = torch.tanh(x) * y\ntop = out.amax(dim=-1)\n\"\"\"\n"
      "[inputs.x]\nshape = [\"N\", \"M\"]\n[inputs.y]\nshape = [\"M\"]\n"
      "[inputs.i]\nshape = [\"M\"]\ndtype = \"int64\"\n"
      "[outputs.out]\nshape = [\"N\", \"M\"]\n[outputs.top]\nshape = [\"N\"]\n" +
      gradient + "[performance]\ncases = [{ N = 3, M = 5 }]\n";
  Diagnostics diags;
  auto op = definition::parseOperator("t.toml", text, diags);
  if (!op) {
    ADD_FAILURE() << diags.render();
  }
  return op ? *op : Operator();
}

const std::string ofX = "x = \"(grad_out + torch.where(out == top.unsqueeze(-1), "
                        "grad_top.unsqueeze(-1), 0)) * y * (1 - torch.tanh(x) ** 2)\"\n";

TEST(GivenGradient, IsTaken) {
  const Operator op = withGradient("[gradient]\n" + ofX);
  EXPECT_EQ(wrongIn(op), "");
  auto backward = definition::backwardOf(op);
  ASSERT_TRUE(backward) << render(backward.error());
  EXPECT_NE(backward->text.find("top.unsqueeze(-1)"), std::string::npos) << backward->text;
  EXPECT_EQ(backward->op.outputNames, (std::vector<std::string>{"grad_x", "grad_y"}));
  EXPECT_EQ(wrongIn(op, {"x"}), "");
  EXPECT_EQ(wrongIn(op, {"y", "x"}), "");
}

TEST(GivenGradient, MayHaveStatements) {
  const std::string statements =
      "[gradient]\nbody = \"\"\"\nhere = grad_out + torch.where(out == top.unsqueeze(-1), "
      "grad_top.unsqueeze(-1), 0)\n\"\"\"\n"
      "x = \"\"\"\nslope = torch.tanh(x)\ngrad_x = here * y * (1 - slope * slope)\n\"\"\"\n"
      "y = \"(here * torch.tanh(x)).sum(dim=0)\"\n";
  EXPECT_EQ(wrongIn(withGradient(statements)), "");
  EXPECT_EQ(wrongIn(withGradient(statements), {"y"}), "");
}

TEST(GivenGradient, ThatIsWrongIsFound) {
  for (const char *wrong : {"x = \"grad_out * y + 0 * grad_top.unsqueeze(-1)\"\n",
                            "x = \"grad_out * 0 + 0 * grad_top.unsqueeze(-1)\"\n",
                            "x = \"grad_out / 0 * 0 + grad_top.unsqueeze(-1)\"\n"}) {
    const Operator op = withGradient("[gradient]\n" + std::string(wrong));
    EXPECT_NE(wrongIn(op).find("the gradient of 'x'"), std::string::npos) << wrong << wrongIn(op);
  }
}

TEST(GivenGradient, ThatCannotBeReadIsShown) {
  const std::string unknown =
      wrongIn(withGradient("[gradient]\nx = \"grad_out * nobody + grad_top.unsqueeze(-1)\"\n"));
  EXPECT_NE(unknown.find("nobody"), std::string::npos) << unknown;
  EXPECT_NE(unknown.find("in the backward definition"), std::string::npos) << unknown;
  const std::string shape = wrongIn(withGradient("[gradient]\nx = \"grad_top * 2\"\n"));
  EXPECT_NE(shape.find("E0604"), std::string::npos) << shape;
}

TEST(GivenGradient, OfNoInputIsRefused) {
  for (const char *wrong :
       {"[gradient]\nz = \"grad_out\"\n", "[gradient]\ni = \"grad_out\"\n",
        "[gradient]\nx = \"\"\n", "[gradient]\nx = 3\n", "[gradient]\nx = \"s = grad_out * 2\"\n",
        "[gradient]\nx = \"for i in range(2):\\n    s = grad_out\"\n"}) {
    Diagnostics diags;
    auto op = definition::parseOperator(
        "t.toml",
        "[operator]\nname = \"t\"\nsummary = \"s\"\ndtypes = [\"float32\"]\nbody = \"out = x * "
        "2\"\n"
        "[inputs.x]\nshape = [\"N\"]\n[inputs.i]\nshape = [\"N\"]\ndtype = \"int64\"\n"
        "[outputs.out]\nshape = [\"N\"]\n" +
            std::string(wrong) + "[performance]\ncases = [{ N = 3 }]\n",
        diags);
    EXPECT_FALSE(op) << wrong;
    EXPECT_NE(diags.render().find("E0602"), std::string::npos) << diags.render();
  }
}

} // namespace
} // namespace nereid::eager
