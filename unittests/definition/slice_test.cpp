// SPDX-License-Identifier: Apache-2.0
// Slices of a body: shapes with sizes as names and numbers, the constraints that follow, and what
// is refused.
#include "unittests/definition/Loading.h"

#include "lib/definition/operations/SizeAlgebra.h"

namespace nereid::definition {
namespace {

/// One operation on x; its result is reduced, so that its shape need not be declared.
Loaded sliced(const std::string &expression, const std::string &x) {
  return load(
      "[operator]\nname = \"t\"\nsummary = \"s\"\ndtypes = [\"float32\"]\nbody = '''\ny = " +
      expression + "\nout = y.sum()\n'''\n[inputs.x]\nshape = " + x +
      "\n[inputs.z]\nshape = [\"M\", \"N\"]\n[outputs.out]\nshape = []\n"
      "[performance]\ncases = [{ M = 9, N = 9" +
      (x.find("...") == std::string::npos ? "" : ", \"...\" = [2]") + " }]\n");
}

std::string shapeOf(const std::string &expression, const std::string &x = "[\"M\", \"N\"]") {
  Loaded loaded = sliced(expression, x);
  EXPECT_TRUE(loaded.op) << expression << "\n" << loaded.diags.render();
  return loaded.op
             ? text(loaded.op->nodes[static_cast<size_t>(loaded.op->nodes.back().inputs[0])].shape)
             : "";
}

std::string constraintsOf(const std::string &expression) {
  Loaded loaded = sliced(expression, "[\"M\", \"N\"]");
  std::string all;
  for (const Constraint &constraint :
       loaded.op ? loaded.op->constraints : std::vector<Constraint>{}) {
    all += constraint.text + "; ";
  }
  return all;
}

std::string codeOf(const std::string &expression, const std::string &x = "[\"M\", \"N\"]") {
  return sliced(expression, x).code();
}

TEST(Slices, ShapesFollowFromEndsAndSteps) {
  EXPECT_EQ(shapeOf("x[:, 1:]"), "[M, N - 1]");
  EXPECT_EQ(shapeOf("x[1:]"), "[M - 1, N]");
  EXPECT_EQ(shapeOf("x[..., :N - 1]"), "[M, N - 1]");
  EXPECT_EQ(shapeOf("x[:, -1:]"), "[M, 1]");
  EXPECT_EQ(shapeOf("x[:, 1:-1]"), "[M, N - 2]");
  EXPECT_EQ(shapeOf("x[..., ::2]"), "[M, (N + 1) // 2]");
  EXPECT_EQ(shapeOf("x[..., 1::2]"), "[M, N // 2]");
  EXPECT_EQ(shapeOf("x[..., N // 2:]"), "[M, N - (N // 2)]");
  EXPECT_EQ(shapeOf("x[:]"), "[M, N]");
  EXPECT_EQ(shapeOf("x[..., :3:2]", "[\"M\", \"N\", 8]"), "[M, N, 2]");
  EXPECT_EQ(shapeOf("x[..., 2:100]", "[\"M\", \"N\", 8]"), "[M, N, 6]"); // cut off, as in Python
  EXPECT_EQ(shapeOf("x[..., 5:3]", "[\"M\", \"N\", 8]"), "[M, N, 0]");
}

TEST(Slices, SelectsDropAndNoneAddsDimensions) {
  EXPECT_EQ(shapeOf("x[:, 0]"), "[M]");
  EXPECT_EQ(shapeOf("x[0]"), "[N]");
  EXPECT_EQ(shapeOf("x[-1, N - 1]"), "[]");
  EXPECT_EQ(shapeOf("x[None]"), "[1, M, N]");
  EXPECT_EQ(shapeOf("x[:, None]"), "[M, 1, N]");
  EXPECT_EQ(shapeOf("x[..., None]"), "[M, N, 1]");
  EXPECT_EQ(shapeOf("x[:, None, 0]"), "[M, 1]");
  EXPECT_EQ(shapeOf("x[None, :, None, 1:]"), "[1, M, 1, N - 1]");
  EXPECT_EQ(shapeOf("x[0, ..., None, 1]", "[\"M\", \"N\", 8]"), "[N, 1]");
  EXPECT_EQ(shapeOf("x.select(0, M - 1)"), "[N]");
  EXPECT_EQ(shapeOf("x[..., 1]", "[\"...\", \"N\"]"), "[...]");
  EXPECT_EQ(shapeOf("x[..., 2, :]", "[\"...\", \"M\", \"N\"]"), "[..., N]");
}

TEST(Slices, NarrowFlipAndSqueeze) {
  EXPECT_EQ(shapeOf("x.narrow(0, 1, M - 2)"), "[M - 2, N]");
  EXPECT_EQ(shapeOf("torch.narrow(x, dim=1, start=-2, length=2)"), "[M, 2]");
  EXPECT_EQ(shapeOf("torch.flip(x, (0, 1))"), "[M, N]");
  EXPECT_EQ(shapeOf("x.flip(-1)"), "[M, N]");
  EXPECT_EQ(shapeOf("x.flip(0, 1)"), "[M, N]");
  EXPECT_EQ(shapeOf("torch.fliplr(x)"), "[M, N]");
  EXPECT_EQ(shapeOf("x.squeeze(1)", "[\"M\", 1, \"N\"]"), "[M, N]");
}

TEST(Slices, WhatSizesDecideIsAConstraint) {
  EXPECT_EQ(constraintsOf("x[:, 1:]"), "N >= 1; ");
  EXPECT_EQ(constraintsOf("x[:, 1:-1]"), "N >= 2; ");
  EXPECT_EQ(constraintsOf("x[:, :M]"), "N >= M; ");
  EXPECT_EQ(constraintsOf("x[0]"), "M >= 1; ");
  EXPECT_EQ(constraintsOf("x[:, 3]"), "N >= 4; ");
  EXPECT_EQ(constraintsOf("x[..., ::2]"), "");
  EXPECT_EQ(constraintsOf("x[:, 1:] * x[:, :-1]"), "N >= 1; ");
}

TEST(Slices, RefusalsHaveAPlace) {
  EXPECT_EQ(codeOf("x[0, 0, 0]"), "E0604");
  EXPECT_EQ(codeOf("x[..., 8]", "[\"M\", \"N\", 8]"), "E0604");
  EXPECT_EQ(codeOf("x[..., -9]", "[\"M\", \"N\", 8]"), "E0604");
  EXPECT_EQ(codeOf("x[1:]", "[\"...\", \"N\"]"), "E0604");
  EXPECT_EQ(codeOf("x[..., 0, 0]", "[\"...\", \"N\"]"), "E0604");
  EXPECT_EQ(codeOf("x[..., ..., 0]"), "E0608");
  EXPECT_EQ(codeOf("x[::-1]"), "E0608");
  EXPECT_EQ(codeOf("x[::M]"), "E0608");
  EXPECT_EQ(codeOf("x[::0]"), "E0608");
  EXPECT_EQ(codeOf("x[1.5]"), "E0608");
  EXPECT_EQ(codeOf("x[z]"), "E0608");
  EXPECT_EQ(codeOf("x[:, :K]"), "E0608"); // no such size
  EXPECT_EQ(codeOf("x.squeeze(0)"), "E0604");
  EXPECT_EQ(codeOf("x.narrow(2, 0, 1)"), "E0604");
  EXPECT_EQ(codeOf("x.narrow(0, 0)"), "E0608");
  EXPECT_EQ(codeOf("x.flip(0, 0)"), "E0604");
  EXPECT_EQ(codeOf("x[:, 1:] + x"), "E0604");
  Loaded loaded = sliced("x[:, 8:2]", "[\"M\", 8]");
  EXPECT_TRUE(loaded.op) << loaded.diags.render();
}

TEST(Joins, ShapesAddUp) {
  EXPECT_EQ(shapeOf("torch.cat([x, z], dim=1)"), "[M, 2 * N]");
  EXPECT_EQ(shapeOf("torch.cat((x, z, x))"), "[3 * M, N]");
  EXPECT_EQ(shapeOf("torch.concat([x[:, :1], x], -1)"), "[M, N + 1]");
  EXPECT_EQ(shapeOf("torch.stack([x, z])"), "[2, M, N]");
  EXPECT_EQ(shapeOf("torch.stack([x, z], dim=-1)"), "[M, N, 2]");
  EXPECT_EQ(shapeOf("torch.stack([x, x, x], 1)"), "[M, 3, N]");
  EXPECT_EQ(shapeOf("torch.stack([x, x], -1)", "[\"...\", \"N\"]"), "[..., N, 2]");
  EXPECT_EQ(shapeOf("F.pad(x, (1, 2))"), "[M, N + 3]");
  EXPECT_EQ(shapeOf("F.pad(x, (0, 0, 1, N), value=-1.5)"), "[M + N + 1, N]");
  EXPECT_EQ(shapeOf("F.pad(x, (-1, 2))"), "[M, N + 1]");
  EXPECT_EQ(shapeOf("F.pad(x, (1, 1), mode=\"reflect\")"), "[M, N + 2]");
  EXPECT_EQ(shapeOf("torch.roll(x, 1, 0)"), "[M, N]");
  EXPECT_EQ(shapeOf("x.roll((1, -2), (0, 1))"), "[M, N]");
  EXPECT_EQ(shapeOf("torch.diff(x)"), "[M, N - 1]");
  EXPECT_EQ(shapeOf("torch.diff(x, n=2, dim=0)"), "[M - 2, N]");
  EXPECT_EQ(shapeOf("torch.rot90(x)"), "[N, M]");
  EXPECT_EQ(shapeOf("torch.rot90(x, 2, (0, 1))"), "[M, N]");
}

TEST(Joins, WhatSizesDecideIsAConstraint) {
  EXPECT_EQ(constraintsOf("F.pad(x, (2, 1), mode=\"reflect\")"), "N >= 3; N >= 2; ");
  EXPECT_EQ(constraintsOf("F.pad(x, (2, 1), mode=\"replicate\")"), "N >= 1; ");
  EXPECT_EQ(constraintsOf("F.pad(x, (2, 1), mode=\"circular\")"), "N >= 2; N >= 1; ");
  EXPECT_EQ(constraintsOf("F.pad(x, (2, 1))"), "");
  EXPECT_EQ(constraintsOf("torch.roll(x, 3, 1)"), "N >= 3; ");
  EXPECT_EQ(constraintsOf("torch.diff(x, n=2)"), "N >= 1; N >= 2; ");
}

TEST(Joins, RefusalsHaveAPlace) {
  EXPECT_EQ(codeOf("torch.cat([x, z], dim=2)"), "E0604");
  EXPECT_EQ(codeOf("torch.cat([x, z[:, 1:]], dim=0)"), "E0604");
  EXPECT_EQ(codeOf("torch.cat(x)"), "E0608");
  EXPECT_EQ(codeOf("torch.cat([])"), "E0608");
  EXPECT_EQ(codeOf("torch.cat([x, 2.0])"), "E0608");
  EXPECT_EQ(codeOf("torch.cat([x, x > 0])"), "") << "PyTorch promotes them";
  EXPECT_EQ(codeOf("torch.cat([x, z])", "[\"...\", \"N\"]"), "E0604");
  EXPECT_EQ(codeOf("torch.stack([x, z], dim=3)"), "E0604");
  EXPECT_EQ(codeOf("F.pad(x, (1, 2, 3))"), "E0604");
  EXPECT_EQ(codeOf("F.pad(x, (1, 2, 3, 4, 5, 6))"), "E0604");
  EXPECT_EQ(codeOf("F.pad(x, (1, 2), mode=\"mirror\")"), "E0608");
  EXPECT_EQ(codeOf("F.pad(x, (1, 2, 3, 4), mode=\"reflect\")"), "E0604");
  EXPECT_EQ(codeOf("F.pad(x, (1, 2), value=x)"), "E0608");
  EXPECT_EQ(codeOf("torch.roll(x, 1)"), "E0608");
  EXPECT_EQ(codeOf("torch.roll(x, (1, 2), (0,))"), "E0608");
  EXPECT_EQ(codeOf("torch.rot90(x, 1, (0, 0))"), "E0604");
  EXPECT_EQ(codeOf("torch.rot90(x, 1, (0, 2))"), "E0604");
  EXPECT_EQ(codeOf("torch.diff(x, n=99)"), "E0608");
}

/// The shape of a reshape of x [M, N] beside a constraint, or the code of what is wrong.
std::string reshapedBeside(const std::string &constraint, const std::string &sizes) {
  Loaded loaded = load("[operator]\nname = \"t\"\nsummary = \"s\"\ndtypes = [\"float32\"]\n"
                       "constraints = [\"" +
                       constraint + "\"]\nbody = '''\ny = x.reshape(" + sizes +
                       ")\nout = y.sum()\n'''\n[inputs.x]\nshape = [\"M\", \"N\"]\n"
                       "[outputs.out]\nshape = []\n[performance]\ncases = [{ M = 24, N = 25 }]\n");
  return loaded.op
             ? text(loaded.op->nodes[static_cast<size_t>(loaded.op->nodes.back().inputs[0])].shape)
             : loaded.code();
}

TEST(Shapes, AConstraintMakesSizesDivide) {
  EXPECT_EQ(reshapedBeside("M % 4 == 0", "M // 4, 4, N"), "[M // 4, 4, N]");
  EXPECT_EQ(reshapedBeside("M % 4 == 0", "-1, 4, N"), "[M // 4, 4, N]");
  EXPECT_EQ(reshapedBeside("x.shape[0] % 4 == 0", "M // 4, 4, N"), "[M // 4, 4, N]");
  EXPECT_EQ(reshapedBeside("M % 8 == 0", "M // 4, 4, N"), "[2 * (M // 8), 4, N]");
  EXPECT_EQ(reshapedBeside("M % 4 == 0", "M // 4, 4 * N"), "[M // 4, 4 * N]");
  EXPECT_EQ(reshapedBeside("N % 5 == 0", "M, N // 5, 5"), "[M, N // 5, 5]");
  EXPECT_EQ(reshapedBeside("M % 4 == 0", "M // 3, 3, N"), "E0604");
  // What no constraint says becomes one, which the case of 24 and 25 meets or breaks.
  EXPECT_EQ(reshapedBeside("M % 4 == 0", "M // 8, 8, N"), "[M // 8, 8, N]");
  EXPECT_EQ(reshapedBeside("N % 5 == 0", "M // 5, 5, N"), "E0617");
  EXPECT_EQ(reshapedBeside("N % 4 == 1", "M, N // 4, 4"), "E0617");
  EXPECT_EQ(reshapedBeside("N >= 4", "M, N // 4, 4"), "E0617");
}

TEST(Shapes, ElementsKeepTheirNumber) {
  EXPECT_EQ(shapeOf("x.reshape(M * N)"), "[M * N]");
  EXPECT_EQ(shapeOf("x.reshape(-1)"), "[M * N]");
  EXPECT_EQ(shapeOf("torch.reshape(x, (N, -1))"), "[N, M]");
  EXPECT_EQ(shapeOf("x.view(M, 1, N)"), "[M, 1, N]");
  EXPECT_EQ(shapeOf("x.flatten(1)", "[\"M\", 3, 4]"), "[M, 12]");
  EXPECT_EQ(shapeOf("x.flatten(0, 1)", "[\"M\", 3, 4]"), "[3 * M, 4]");
  EXPECT_EQ(shapeOf("x.flatten(-2)", "[\"...\", \"M\", \"N\"]"), "[..., M * N]");
  EXPECT_EQ(shapeOf("x.unflatten(-1, (2, 4))", "[\"M\", 8]"), "[M, 2, 4]");
  EXPECT_EQ(shapeOf("x.unflatten(1, (2, -1))", "[\"M\", 8]"), "[M, 2, 4]");
  EXPECT_EQ(shapeOf("x[:, None].expand(M, 3, N)"), "[M, 3, N]");
  EXPECT_EQ(shapeOf("x[:, None].expand(-1, 3, -1)"), "[M, 3, N]");
  EXPECT_EQ(shapeOf("x.expand(2, -1, -1)"), "[2, M, N]");
  EXPECT_EQ(shapeOf("x.repeat(2, 3)"), "[2 * M, 3 * N]");
  EXPECT_EQ(shapeOf("x.repeat_interleave(2, -1)"), "[M, 2 * N]");
  EXPECT_EQ(shapeOf("x.unfold(1, 3, 2)"), "[M, ((N + 1) // 2) - 1, 3]");
  EXPECT_EQ(shapeOf("torch.tril(x)"), "[M, N]");
  EXPECT_EQ(codeOf("x.reshape(M, M)"), "E0604");
  EXPECT_EQ(codeOf("x.reshape(4, -1)"), "E0604");
  EXPECT_EQ(codeOf("x.reshape(-1)", "[\"...\", \"N\"]"), "E0604");
  EXPECT_EQ(codeOf("x.expand(3, N)"), "E0604");
  EXPECT_EQ(codeOf("x.expand(N)"), "E0604");
  EXPECT_EQ(codeOf("x.repeat(2)"), "E0604");
  EXPECT_EQ(codeOf("x.unfold(1, 0, 1)"), "E0608");
  EXPECT_EQ(codeOf("x.unfold(1, 9, 1)", "[\"M\", 8]"), "E0604");
  EXPECT_EQ(codeOf("x.flatten(1, 0)"), "E0604");
  EXPECT_EQ(codeOf("torch.tril(x)", "[\"M\"]"), "E0604");
}

TEST(SizeAlgebra, OneSpellingForEqualSizes) {
  auto spelt = [](const std::string &text) {
    const auto size = sizePolynomial(text);
    return size ? size->text() : "";
  };
  EXPECT_EQ(spelt("1 + N - 2"), "N - 1");
  EXPECT_EQ(spelt("2 * (N + M) - M"), "M + 2 * N");
  EXPECT_EQ(spelt("(2 * N + 4) // 2"), "N + 2");
  EXPECT_EQ(spelt("(N - 1) // 2"), "((N + 1) // 2) - 1");
  EXPECT_EQ(spelt("N - N"), "0");
  EXPECT_EQ(spelt("N % 4"), "N - 4 * (N // 4)");
  EXPECT_EQ(spelt("(4 * N) % 4"), "0");
  EXPECT_EQ(spelt("N // M"), "N // M");
  EXPECT_EQ(spelt("N // 0"), "");
  EXPECT_EQ(spelt("N / 2"), "");
  EXPECT_EQ(spelt("9223372036854775807 * N + N"), "");
}

TEST(SizeAlgebra, AnOutputMayHaveAComputedSize) {
  EXPECT_TRUE(load(withBody("out = x[..., 1:]", "\"...\", \"D - 1\"")).op);
  EXPECT_EQ(load(withBody("out = x[..., 1:]", "\"...\", \"D - 2\"")).code(), "E0604");
  EXPECT_EQ(load(withBody("out = x[..., 1:]", "\"...\", \"D -\"")).code(), "E0602");
}

} // namespace
} // namespace nereid::definition
