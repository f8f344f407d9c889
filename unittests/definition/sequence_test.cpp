// SPDX-License-Identifier: Apache-2.0
// Lists and tuples of bodies: what they become, entry by entry, and what is refused.
#include "unittests/definition/Loading.h"

#include "lib/definition/reader/Reassigned.h"

#include <algorithm>

namespace nereid::definition {
namespace {

/// x: [M, N], y: [M, N]; the body assigns y_, whose shape need not be declared.
Loaded of(const std::string &body, const std::string &x = "\"M\", \"N\"") {
  return load("[operator]\nname = \"t\"\nsummary = \"s\"\ndtypes = [\"float32\"]\n"
              "body = '''\n" +
              body + "\nout = (y_ * 1.0).sum()\n'''\n[inputs.x]\nshape = [" + x +
              "]\n[inputs.y]\nshape = [\"M\", \"N\"]\n[outputs.out]\nshape = []\n"
              "[performance]\ncases = [{ M = 9, N = 8 }]\n");
}

std::string shapeOf(const std::string &body) {
  Loaded loaded = of(body);
  EXPECT_TRUE(loaded.op) << body << "\n" << loaded.diags.render();
  if (!loaded.op) {
    return "";
  }
  const auto &nodes = loaded.op->nodes;
  const Node &sum = nodes[static_cast<size_t>(loaded.op->outputs[0])];
  const Node &product = nodes[static_cast<size_t>(sum.inputs[0])];
  return text(nodes[static_cast<size_t>(product.inputs[0])].shape);
}

size_t countOf(const Operator &op, const std::string &operation) {
  return static_cast<size_t>(std::count_if(op.nodes.begin(), op.nodes.end(),
                                           [&](const Node &node) { return node.op == operation; }));
}

TEST(Sequences, ShapesAreTuplesOfSizes) {
  EXPECT_EQ(shapeOf("A, B = x.shape\ny_ = x.view(B, A)"), "[N, M]");
  EXPECT_EQ(shapeOf("A, B = x.size()\ny_ = x.reshape(A * B)"), "[M * N]");
  EXPECT_EQ(shapeOf("A, *rest = x.shape\ny_ = x.reshape(*rest, A)"), "[N, M]");
  EXPECT_EQ(shapeOf("lead = x.shape[:-1]\ny_ = x.view(*lead, N, 1)"), "[M, N, 1]");
  EXPECT_EQ(shapeOf("shape = (*x.shape[:-1], 1, -1)\ny_ = x.view(shape)"), "[M, 1, N]");
  EXPECT_EQ(shapeOf("shape = (x.shape[0],) + (1,) * (x.ndim - 1)\ny_ = torch.ones(shape) * x"),
            "[M, N]");
  EXPECT_EQ(shapeOf("y_ = x.reshape(y.shape[::-1])"), "[N, M]");
  EXPECT_EQ(shapeOf("y_ = x.view(-1).view(y.shape)"), "[M, N]");
  EXPECT_EQ(shapeOf("y_ = F.layer_norm(x, x.shape[-1:])"), "[M, N]");
  EXPECT_EQ(shapeOf("B = x.size(-1)\ny_ = F.layer_norm(x, (B,))"), "[M, N]");
  EXPECT_EQ(shapeOf("y_ = x[:, None] / x.numel()"), "[M, 1, N]");
  EXPECT_EQ(shapeOf("y_ = x.sum(dim=list(range(1, x.dim())))"), "[M]");
}

TEST(Sequences, ListsGrowAndAreJoined) {
  EXPECT_EQ(shapeOf("parts = []\nfor i in range(3):\n  parts.append(x * i)\n"
                    "y_ = torch.cat(parts, dim=-1)"),
            "[M, 3 * N]");
  EXPECT_EQ(shapeOf("parts = [x]\nparts += [y, y]\nparts.extend((x,))\ny_ = torch.stack(parts)"),
            "[4, M, N]");
  EXPECT_EQ(shapeOf("y_ = torch.stack([f * 2.0 for f in (x, y)], dim=1)"), "[M, 2, N]");
  EXPECT_EQ(shapeOf("y_ = torch.cat([x[:, i:i + 1] for i in range(4) if i % 2 == 0], 1)"),
            "[M, 2]");
  EXPECT_EQ(shapeOf("a = [x, y]\nb = a\nb.append(x)\ny_ = torch.stack(a)"), "[3, M, N]");
  EXPECT_EQ(shapeOf("y_ = torch.cat([*x.chunk(2, dim=-1), y], dim=-1)"), "[M, 2 * N]");
  EXPECT_EQ(shapeOf("y_ = torch.stack(list(reversed(x.chunk(2, dim=1))))"), "[2, M, N // 2]");
  EXPECT_EQ(shapeOf("halves = x.chunk(2, dim=-1)\ny_ = halves[0] * halves[-1]"), "[M, N // 2]");
}

TEST(Sequences, EntriesAreTakenAtOnceAndCounted) {
  Loaded loaded = of("parts = [x, y]\nx = x * 3\ny_ = parts[0] + sum(parts) / len(parts)");
  ASSERT_TRUE(loaded.op) << loaded.diags.render();
  EXPECT_EQ(countOf(*loaded.op, "mul"), 1U); // y_ * 1.0: the list has the x of before
  EXPECT_EQ(countOf(*loaded.op, "add"), 2U);
  loaded = of("y_ = x\nfor i, part in enumerate([x, y]):\n  if i < len([x, y]) - 1:\n"
              "    y_ = y_ + part");
  ASSERT_TRUE(loaded.op) << loaded.diags.render();
  EXPECT_EQ(countOf(*loaded.op, "add"), 1U);
  loaded = of("outs = []\nfor a, b in zip(x.chunk(2, -1), y.chunk(2, -1)):\n"
              "  outs.append(a * b)\ny_ = torch.cat(outs, -1)");
  ASSERT_TRUE(loaded.op) << loaded.diags.render();
  EXPECT_EQ(countOf(*loaded.op, "narrow"), 4U);
}

TEST(Sequences, FunctionsTakeAndReturnThem) {
  EXPECT_EQ(shapeOf("def halves(v):\n  return [v[:, :2], v[:, 2:4]]\n"
                    "parts = halves(x)\ny_ = torch.stack(parts)"),
            "[2, M, 2]");
  EXPECT_EQ(shapeOf("def joined(list_, dim):\n  return torch.cat(list_, dim=dim)\n"
                    "y_ = joined([x, y], 0)"),
            "[2 * M, N]");
  EXPECT_EQ(
      shapeOf("def grow(list_):\n  list_.append(x)\n  return x\nparts = [y]\nz = grow(parts)\n"
              "y_ = torch.stack(parts)"),
      "[2, M, N]");
}

TEST(Sequences, GridsAndBroadcastTensors) {
  EXPECT_EQ(shapeOf("a, b = torch.meshgrid(torch.arange(M), torch.arange(N), indexing='ij')\n"
                    "y_ = a * b"),
            "[M, N]");
  EXPECT_EQ(shapeOf("a, b = torch.meshgrid([torch.arange(M), torch.arange(N)], indexing='xy')\n"
                    "y_ = a * b"),
            "[N, M]");
  EXPECT_EQ(shapeOf("a, b = torch.broadcast_tensors(x[:, :1], y)\ny_ = a * b"), "[M, N]");
}

TEST(Sequences, WhatIsNoListIsRefusedAtItsPlace) {
  const auto message = [](const std::string &body) {
    Loaded loaded = of(body);
    EXPECT_FALSE(loaded.op) << body;
    return loaded.code() + " " +
           std::to_string(loaded.diags.all().empty() ? 0 : loaded.first().range.line);
  };
  EXPECT_EQ(message("parts = [x]\ny_ = parts * x"), "E0608 7");
  EXPECT_EQ(message("parts = [x]\ny_ = parts[1]"), "E0604 7");
  EXPECT_EQ(message("A, B, C = x.shape\ny_ = x"), "E0608 6");
  EXPECT_EQ(message("parts = [x, [y]]\ny_ = x"), "E0608 6");
  EXPECT_EQ(message("y_ = sum([f for f in x])"), "E0608 6");
  EXPECT_EQ(message("y_ = x.view(*x)"), "E0608 6");
}

TEST(Sequences, InputsMayBeGivenOtherValues) {
  Loaded loaded = of("x = x.float()\nx = x * x\ny_ = x");
  ASSERT_TRUE(loaded.op) << loaded.diags.render();
  EXPECT_EQ(reassignedInputs(*loaded.op), std::vector<std::string>{"x"});
  EXPECT_EQ(loaded.op->nodes[0].op, "input");
  loaded = of("x = x + y\nx += 1\ny_ = x"); // a computed value, and no input's memory
  ASSERT_TRUE(loaded.op) << loaded.diags.render();
  EXPECT_TRUE(loaded.op->outputMemory.empty());
  loaded = of("x.add_(1)\nx = x + y\ny_ = x");
  EXPECT_EQ(loaded.code(), "E0608");
}

TEST(Sequences, ComputedValuesAreWrittenUnderTheirNames) {
  Loaded loaded = of("y_ = x * 2\nz = y_\ny_.masked_fill_(x > 0, 0)\ny_ = y_ + z");
  ASSERT_TRUE(loaded.op) << loaded.diags.render();
  const Node &sum = loaded.op->nodes[loaded.op->nodes.size() - 4];
  EXPECT_EQ(sum.op, "add") << "both names stand for what was written";
  EXPECT_EQ(sum.inputs[0], sum.inputs[1]);
  EXPECT_EQ(shapeOf("y_ = F.relu(x * 2, inplace=True)"), "[M, N]");
  EXPECT_EQ(of("y_ = x * 2\nF.relu(y_, inplace=3)").code(), "E0608");
  EXPECT_EQ(of("v = x[1:]\nv.mul_(2)\ny_ = v").code(), "E0608");
}

TEST(Sequences, NumbersMakeTensors) {
  EXPECT_EQ(shapeOf("y_ = x[:, :3] - torch.tensor([0.485, 0.456, 0.406])"), "[M, 3]");
  EXPECT_EQ(shapeOf("y_ = torch.where(x > 0, x, torch.tensor(float('-inf')))"), "[M, N]");
}

TEST(Sequences, TypesAreValues) {
  Loaded loaded =
      of("dtype = x.dtype\nx = x.double()\ny_ = (x + torch.finfo(dtype).max).to(dtype)");
  ASSERT_TRUE(loaded.op) << loaded.diags.render();
  EXPECT_EQ(countOf(*loaded.op, "to_float32") + countOf(*loaded.op, "to_own"), 1U);
  EXPECT_EQ(shapeOf("y_ = torch.nan_to_num(x)"), "[M, N]");
  EXPECT_EQ(of("y_ = x * torch.finfo(x.dtype).maximum").code(), "E0608");
}

TEST(Sequences, IndicesNeedNoName) {
  EXPECT_EQ(shapeOf("y_ = x[torch.arange(2 * M) // 2]"), "[2 * M, N]");
  EXPECT_EQ(shapeOf("y_ = x[:, torch.arange(N)]"), "[M, N]");
}

TEST(Sequences, TwoReductionsAtOnce) {
  EXPECT_EQ(shapeOf("a, b = torch.var_mean(x, dim=-1, unbiased=False)\ny_ = a * b"), "[M]");
  EXPECT_EQ(shapeOf("a, b = torch.std_mean(x, dim=0, keepdim=True)\ny_ = a * b"), "[1, N]");
  EXPECT_EQ(shapeOf("a, b = x.aminmax(dim=-1)\ny_ = a * b"), "[M]");
  EXPECT_EQ(shapeOf("y_ = torch.aminmax(x, dim=0).max"), "[N]");
  EXPECT_EQ(of("y_ = torch.var_mean(x)").code(), "E0608");
  EXPECT_NE(of("y_ = torch.varmean(x)").first().help.find("'var_mean'"), std::string::npos);
}

} // namespace
} // namespace nereid::definition
