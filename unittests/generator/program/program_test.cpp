// SPDX-License-Identifier: Apache-2.0
// Text of programs, both ways, and the table of nodes.
#include "lib/generator/normalise/Normalise.h"
#include "lib/generator/program/Verify.h"
#include "unittests/generator/program/Reading.h"

namespace nereid::generator {
namespace {

std::string refusal(const std::string &text) {
  auto read = readProgram("p.py", text);
  return read ? "" : render(read.error());
}

TEST(ProgramText, IsReadBackAsItWasPrinted) {
  const std::string text = R"(N = size(low=1, multiple=8)
P = size(low=0, high=64)
fact(N - P - 1)
h = quotient(N + P, 3)
x = input(fp16, [N, 3], strides=[3, 1])
x_flat = view(x, [3*N], strides=[1], offset=0)
k = input(i64, [N], strides=[1])
y = output(fp32, [N, h], strides=[h, 1])
best = output(i64, [N], strides=[1])
total = inout(fp32, [], strides=[])
part = temporary(fp32, [N], strides=[1])
i = iterator(N)
j = iterator(h)
c = iterator(3)
s = iterator(N)
stage("sums")
t_1 = x[i, c]
t_2 = cast(t_1, fp32)
part[i] = sum[c](t_2)
store(total[()], ref(part[i]), monoid="sum", guard=index(i) < index(P))
stage("rest")
t_3 = cast(x_flat[3*i + ((j) % 3)], fp32)
y[i, j] = where(logical_and(index(((i) // 4)) >= 2, t_3 == 0.0), t_3 * (parameter("eps", fp32) - t_3), scan("sum", s, ref(part[s]), at=i, reverse=True, exclusive=True))
t_4 = order(c, t_1, descending=True, stable=False)
best[data(k[i], N)] = pick(t_4, 1, 0) + cast(pick(argmax[c](t_2, cast(pick(t_4, 0, c), fp32)), 1), i64)
alias(part, total)
host_read(total)
)";
  EXPECT_EQ(print(program(text)), text);
}

TEST(ProgramText, ConstantsKeepTypeAndValue) {
  const std::string text = R"(y = output(fp64, [4], strides=[1])
i = iterator(4)
stage("s")
y[i] = where(True, fp64(-0.0), where(i8(3) < i8(-4), fp64("inf"), cast(1e-30 + (fp32("-inf") * 0.1), fp64)))
)";
  EXPECT_EQ(print(program(text)), text);
}

TEST(ProgramText, ErrorsHaveTheirPlace) {
  EXPECT_EQ(refusal("x = input(fp32, [4])\ny = x\n"),
            "p.py:2:5: error: 'x' is no value [E0618]\ny = x\n    ^\n");
  auto complaint = [](const std::string &text) {
    std::string found = refusal(text);
    size_t begin = found.find("error: ") + 7;
    return found.substr(begin, found.find(" [E0618]") - begin);
  };
  const std::string head = "N = size()\nx = input(fp32, [N])\ni = iterator(N)\n";
  EXPECT_EQ(complaint(head + "x[i] = 1.0\n"), "expects stage(\"…\") before the first store");
  EXPECT_EQ(complaint(head + "i = iterator(4)\n"), "'i' is defined twice");
  EXPECT_EQ(complaint(head + "j = iterator(i)\n"), "expects a polynomial in sizes");
  EXPECT_EQ(complaint(head + "v = x[q]\n"), "'q' is neither an iterator nor a size");
  EXPECT_EQ(complaint(head + "v = x[i*i]\n"), "'*' of these is no index expression");
  EXPECT_EQ(complaint(head + "v = x[i // (N - 1)]\n"), "'//' of these is no index expression");
  EXPECT_EQ(complaint(head + "v = x[N/2]\n"), "expects a size that is divisible");
  EXPECT_EQ(complaint(head + "v = sum[i](x[i], x[i])\n"), "'sum' has 1 components, but got 2");
  EXPECT_EQ(complaint(head + "v = mean[i](x[i])\n"), "'mean' is no monoid");
  EXPECT_EQ(complaint(head + "v = expp(x[i])\n"), "'expp' is no pointwise operation");
  EXPECT_EQ(complaint(head + "v = x[i] + 1\n"),
            "'add' expects operands of one type, but got fp32, i64");
  EXPECT_EQ(complaint(head + "v = scan(\"sum\", i, x[i])\n"), "expects the position, at=…");
  EXPECT_EQ(complaint(head + "w = input(fp32, [N], strides=[1, 1])\n"),
            "expects as many strides as sizes, but got 2 and 1");
  EXPECT_EQ(complaint(head + "v = pick(x[i], 0)\n"),
            "expects a reduction, a scan or an order to pick from");
  EXPECT_EQ(complaint("N = size(low=4, high=3)\n"), "expects low <= high and a positive multiple");
  EXPECT_EQ(complaint("if N:\n    pass\n"), "expects a declaration, a stage or a store");
  EXPECT_EQ(complaint("launch(3)\n"),
            "expects stage, fact, store, alias or host_read, but got 'launch'");
}

TEST(NodeTable, EqualNodesAreOne) {
  Program p = program("x = input(fp32, [4])\ny = output(fp32, [4])\ni = iterator(4)\nstage(\"s\")\n"
                      "y[i] = exp(x[i]) + exp(x[i])\n");
  const Node *sum = p.stages[0].stores[0].value;
  EXPECT_EQ(sum->inputs[0], sum->inputs[1]);
  EXPECT_NE(p.nodes.real(0.0, DType::F32), p.nodes.real(-0.0, DType::F32));
  EXPECT_NE(p.nodes.real(1, DType::F32), p.nodes.real(1, DType::F64));
}

TEST(NodeTable, LongChainsNeedNoStack) {
  Program p = program("x = input(fp32, [4])\ny = output(fp32, [4])\ni = iterator(4)\n"
                      "j = iterator(4)\nstage(\"s\")\ny[i] = x[i]\n");
  Store &store = p.stages[0].stores[0];
  const Node *one = p.nodes.real(1.5, DType::F32);
  for (int length = 0; length < 20000; ++length) {
    store.value = p.nodes.map(length % 2 ? "add" : "mul", DType::F32, {store.value, one});
  }
  p.substitute({{0, Affine::iterator(1)}});
  normalise(p);
  EXPECT_TRUE(bool(verify(p)));
  EXPECT_GT(print(p).size(), 150000u);
}

TEST(NodeTable, SubstitutionRenamesWhatItWouldCapture) {
  Program p = program("x = input(fp32, [4, 4])\ny = output(fp32, [4])\ni = iterator(4)\n"
                      "r = iterator(4)\nstage(\"s\")\ny[i] = sum[r](x[i, r])\n");
  p.substitute({{0, Affine::iterator(1)}});
  EXPECT_EQ(stages(p), "stage(\"s\")\ny[r] = sum[r_1](x[r, r_1])\n");
}

/// Two scans that differ in a name alone would be two lines of one kernel.
TEST(NodeTable, StoresShareAfterwardsWhatTheyShared) {
  Program p = program("N = size()\nx = input(fp32, [N, N], strides=[N, 1])\n"
                      "y = output(fp32, [N, N], strides=[N, 1])\n"
                      "z = output(fp32, [N, N], strides=[N, 1])\n"
                      "i = iterator(N)\nj = iterator(N)\ns = iterator(N)\n"
                      "stage(\"a\")\n"
                      "y[i, j] = scan(\"sum\", s, x[s, j], at=i)\n"
                      "z[i, j] = scan(\"sum\", s, x[s, j], at=i)\n");
  p.substitute({{1, Affine::iterator(2)}}); // s is captured, and called something else
  EXPECT_EQ(p.stages[0].stores[0].value, p.stages[0].stores[1].value) << stages(p);
}

TEST(NodeTable, SubstitutionReplacesWhatIsBound) {
  Program p = program("x = input(fp32, [12])\ny = output(fp32, [1])\nr = iterator(12)\n"
                      "a = iterator(3)\nb = iterator(4)\nstage(\"s\")\ny[0] = sum[r](x[r])\n");
  p.substitute({{0, Affine::iterator(1) * 4 + Affine::iterator(2)}});
  EXPECT_EQ(stages(p), "stage(\"s\")\ny[0] = sum[a, b](x[4*a + b])\n");
  p.substitute({{1, Affine(0)}, {2, Affine(2)}});
  EXPECT_EQ(stages(p), "stage(\"s\")\ny[0] = x[2]\n");
}

} // namespace
} // namespace nereid::generator
