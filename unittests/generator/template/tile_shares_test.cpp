// SPDX-License-Identifier: Apache-2.0
// Products whose tiles are shared by persistent programs, and whose last wave of tiles is dealt
// along k: what the kernels compute where there are more tiles than programs, fewer, and as many,
// their text, and which of them a launch takes.
#include "lib/generator/kernel/Printer.h"
#include "lib/generator/normalise/Normalise.h"
#include "unittests/generator/program/Reading.h"
#include "unittests/generator/template/Expect.h"

namespace nereid::generator {
namespace {

constexpr const char *product = R"(
N = size()
M = size()
K = size()
x = input(fp16, [N, K], strides=[K, 1])
w = input(fp16, [K, M], strides=[M, 1])
b = input(fp32, [M], strides=[1])
y = output(fp32, [N, M], strides=[M, 1])
i = iterator(N)
j = iterator(M)
k = iterator(K)
stage("t")
y[i, j] = sum[k](cast(x[i, k], fp32) * cast(w[k, j], fp32)) + b[j]
)";

MadeKernels kernelsOf(const std::string &text) {
  Program read = program(text);
  normalise(read);
  auto made = makeKernels(read, "t");
  EXPECT_TRUE(bool(made));
  return made ? std::move(*made) : MadeKernels();
}

std::string textOf(const MadeKernels &made, const std::string &function) {
  for (const StageKernel &kernel : made.kernels) {
    if (kernel.tree.name == function) {
      return kernel::text(kernel.tree);
    }
  }
  return "";
}

TEST(TileShares, PersistentProgramsWalkOverTiles) {
  const std::string text = textOf(kernelsOf(product), "t_persistent_kernel");
  EXPECT_NE(text.find(R"(
    tiles = tl.cdiv(N, BLOCK_M) * tl.cdiv(M, BLOCK_N)
    for tile in range(tl.program_id(axis=0), tiles, tl.num_programs(axis=0)):
        blocks_n = tl.cdiv(M, BLOCK_N)
        pid_n = tile % blocks_n
        pid_m = tile // blocks_n
        if GROUP_M > 1:
)"),
            std::string::npos)
      << text;
  EXPECT_NE(text.find("\n        tl.store(y_ptr + m * M + n, y, mask="), std::string::npos) << text;
}

TEST(TileShares, TurnsOfTheLastWaveAreDealt) {
  const MadeKernels made = kernelsOf(product);
  const std::string dealt = textOf(made, "t_stream_kernel"), joined = textOf(made, "t_join_kernel");
  const std::string head = R"(
    tiles = tl.cdiv(N, BLOCK_M) * tl.cdiv(M, BLOCK_N)
    first_tile = tiles - tiles % tl.num_programs(axis=0)
    depth = tl.maximum(tl.cdiv(K, BLOCK_K), 1)
    if WIDE:
        depth = depth.to(tl.int64)
    turns = tl.cdiv((tiles - first_tile) * depth, tl.num_programs(axis=0))
)";
  EXPECT_NE(dealt.find(head + R"(    first = tl.program_id(axis=0) * turns
    end = tl.minimum(first + turns, (tiles - first_tile) * depth)
    for tile in range(first_tile + first // depth, first_tile + tl.cdiv(end, depth)):
)"),
            std::string::npos)
      << dealt;
  EXPECT_EQ(dealt.find("y_ptr"), std::string::npos) << "the other kernel writes results" << dealt;
  EXPECT_EQ(dealt.find("b_ptr"), std::string::npos) << dealt;
  EXPECT_NE(joined.find(head + "    for tile in range(first_tile + tl.program_id(axis=0), tiles, "
                               "tl.num_programs(axis=0)):\n"),
            std::string::npos)
      << joined;
  EXPECT_EQ(joined.find("tl.dot"), std::string::npos) << joined;
  EXPECT_EQ(joined.find("x_ptr"), std::string::npos) << joined;
}

TEST(TileShares, AShortSumIsNotDealt) {
  const MadeKernels made = kernelsOf(
      "N = size()\nM = size()\nx = input(fp16, [N, 48], strides=[48, 1])\n"
      "w = input(fp16, [48, M], strides=[M, 1])\ny = output(fp32, [N, M], strides=[M, 1])\n"
      "i = iterator(N)\nj = iterator(M)\nk = iterator(48)\nstage(\"t\")\n"
      "y[i, j] = sum[k](cast(x[i, k], fp32) * cast(w[k, j], fp32))\n");
  EXPECT_EQ(textOf(made, "t_stream_kernel"), "");
  EXPECT_NE(textOf(made, "t_persistent_kernel"), "");
  EXPECT_TRUE(made.table.workspaces.empty());
}

/// "function programs, …" of what is launched on four processors in tiles of 64 x 64.
std::string launched(int64_t n, int64_t m, ChosenValues chosen, int64_t k = 500) {
  const LaunchTable table = kernelsOf(product).table;
  chosen.insert({{"contract.BLOCK_M", 64}, {"contract.BLOCK_N", 64}});
  auto launches = bindLaunch(table, {{"N", n}, {"M", m}, {"K", k}}, {4}, chosen);
  EXPECT_TRUE(bool(launches));
  std::string text;
  for (const BoundLaunch &each : *launches) {
    text += each.programs > 0
                ? (text.empty() ? "" : ", ") + each.function + " " + std::to_string(each.programs)
                : "";
  }
  return text;
}

TEST(TileShares, LaunchesTakeOneForm) {
  const ChosenValues persistent = {{"contract.PERSISTENT", 1}}, dealt = {{"contract.STREAM_K", 1}};
  EXPECT_EQ(launched(192, 192, {}), "t_kernel 9");
  EXPECT_EQ(launched(192, 192, persistent), "t_persistent_kernel 4");
  EXPECT_EQ(launched(64, 128, persistent), "t_persistent_kernel 2");
  EXPECT_EQ(launched(192, 192, dealt), "t_kernel 8, t_stream_kernel 4, t_join_kernel 4");
  EXPECT_EQ(launched(192, 192, {{"contract.PERSISTENT", 1}, {"contract.STREAM_K", 1}}),
            "t_kernel 8, t_stream_kernel 4, t_join_kernel 4");
  EXPECT_EQ(launched(256, 192, dealt), "t_kernel 12") << "whole waves";
  EXPECT_EQ(launched(64, 128, dealt), "t_stream_kernel 4, t_join_kernel 4") << "no whole wave";
  ChosenValues split = dealt;
  EXPECT_EQ(launched(64, 64, split, 2048), "t_stream_kernel 4, t_join_kernel 4")
      << "the rule takes parts";
  split.emplace("contract.SPLIT", 1);
  EXPECT_TRUE(launched(64, 64, split, 2048).starts_with("t_part_1_kernel 8, t_part_2"));
}

TEST(TileShares, DevicesHaveAsManyProgramsAsStay) {
  const LaunchTable table = kernelsOf(product).table;
  auto programs = [&](int64_t m, int64_t n) {
    auto launches = bindLaunch(
        table, {{"N", 8192}, {"M", 8192}, {"K", 64}}, {.processors = 132, .isDevice = true},
        {{"contract.PERSISTENT", 1}, {"contract.BLOCK_M", m}, {"contract.BLOCK_N", n}});
    EXPECT_TRUE(bool(launches));
    int64_t sum = 0;
    for (const BoundLaunch &each : *launches) {
      sum += each.programs;
    }
    return sum;
  };
  EXPECT_EQ(programs(128, 256), 132);
  EXPECT_EQ(programs(256, 256), 132);
  EXPECT_EQ(programs(128, 128), 2 * 132);
  EXPECT_EQ(programs(64, 64), 4 * 132);
}

TEST(TileShares, SumsAreLeftWhereTheyAreDealtAlone) {
  const LaunchTable table = kernelsOf(product).table;
  auto elements = [&](const ChosenValues &chosen) {
    auto all = bindWorkspaces(table, {{"N", 192}, {"M", 24}, {"K", 500}}, {4}, chosen);
    EXPECT_TRUE(bool(all));
    for (size_t i = 0; i < table.workspaces.size(); ++i) {
      if (table.workspaces[i].name == "sums") {
        return (*all)[i];
      }
    }
    return int64_t{0};
  };
  EXPECT_EQ(elements({}), 1);
  EXPECT_EQ(elements({{"contract.STREAM_K", 1}, {"contract.BLOCK_M", 64}}), 2 * 4 * 64 * 32);
}

/// Both forms, where few processors have several tiles each and where many have none.
std::vector<RunOptions> shares() {
  std::vector<RunOptions> all;
  for (const int64_t processors : {1, 3, 5, 16}) {
    for (const bool isStreamed : {false, true}) {
      const bool isEven = processors % 2 == 0;
      RunOptions options{isEven == isStreamed ? RunOn::Interpreter : RunOn::Cpu, true, !isEven};
      options.site.processors = processors;
      options.isPersistent = !isStreamed;
      options.isStreamed = isStreamed;
      all.push_back(options);
    }
  }
  all.push_back({RunOn::Interpreter});
  all.back().hasSmallBlocks = false;
  all.back().isStreamed = true;
  all.push_back(all.back());
  all.back().site = {.processors = 2, .isDevice = true};
  all.push_back(all.back());
  all.back().isPersistent = true;
  all.back().isStreamed = false;
  return all;
}

void expectShares(const Sample &sample, const std::vector<DType> &types) {
  for (DType dtype : types) {
    const definition::Operator op = made(sample.body, sample.inputs, sample.outShape,
                                         "\"" + std::string(torchName(dtype)) + "\"");
    for (const RunOptions &options : shares()) {
      SCOPED_TRACE(std::to_string(options.site.processors) + " processors, " +
                   (options.isStreamed ? "dealt" : "walked"));
      expectReference(op, sample, dtype, options);
    }
  }
}

TEST(TileShares, Products) {
  for (const Sample &sample : products()) {
    expectShares(sample, {DType::F32, DType::BF16});
  }
}

TEST(TileShares, Convolutions) {
  for (const Sample &sample : convolutions()) {
    expectShares(sample, {DType::F32});
  }
}

TEST(TileShares, WhatIsComputedBeforeAndBehind) {
  const std::string inputs = "[inputs.x]\nshape = [\"N\", \"K\"]\n[inputs.w]\nshape = "
                             "[\"K\", \"M\"]\n[inputs.v]\nshape = [\"K\", \"M\"]\n[inputs.b]\n"
                             "shape = [\"M\"]\n[inputs.r]\nshape = [\"N\", \"M\"]\n";
  for (const char *body : {"out = F.gelu(x @ w + b) + r", "out = F.silu(x @ w) * (x @ v)",
                           "out = (1 / x) @ w", // infinite beyond the end of k
                           "out = F.softmax(x @ w + b, dim=-1)"}) {
    expectShares({body,
                  inputs,
                  "\"N\", \"M\"",
                  {{33, 70}, {70, 37}, {70, 37}, {37}, {33, 37}},
                  {33, 70, 37}},
                 {DType::F32, DType::F16});
  }
}

TEST(TileShares, OfBatchesWithLastTilesThatAreCut) {
  const std::string inputs = "[inputs.x]\nshape = [\"B\", \"N\", \"K\"]\n[inputs.w]\nshape = "
                             "[\"B\", \"K\", \"M\"]\n[inputs.b]\nshape = [\"M\"]\n";
  for (const std::vector<int64_t> &sizes :
       {std::vector<int64_t>{2, 33, 65, 70}, {3, 1, 131, 17}, {1, 16, 16, 16}}) {
    const int64_t b = sizes[0], n = sizes[1], k = sizes[2], m = sizes[3];
    expectShares({"out = torch.relu(x @ w + b)",
                  inputs,
                  "\"B\", \"N\", \"M\"",
                  {{b, n, k}, {b, k, m}, {m}},
                  {b, n, k, m}},
                 {DType::F32});
  }
}

TEST(TileShares, OfIntegers) {
  const std::string text =
      "N = size()\nM = size()\nK = size()\nx = input(i8, [N, K], strides=[K, 1])\n"
      "w = input(i8, [M, K], strides=[K, 1])\ny = output(i32, [N, M], strides=[M, 1])\n"
      "i = iterator(N)\nj = iterator(M)\nk = iterator(K)\nstage(\"t\")\n"
      "y[i, j] = sum[k](cast(x[i, k], i32) * cast(w[j, k], i32)) + cast(x[i, 0], i32)\n";
  EvaluationInput input{{20, 35, 150}, {}, {}};
  for (int64_t at = 0; at < int64_t{35} * 150; ++at) {
    if (at < int64_t{20} * 150) {
      input.memory["x"].push_back(static_cast<double>(at * 7 % 255 - 127));
    }
    input.memory["w"].push_back(static_cast<double>(at * 5 % 251 - 125));
  }
  for (const RunOptions &options : shares()) {
    Program read = program(text);
    normalise(read);
    expectEvaluated(read, input, options);
  }
}

} // namespace
} // namespace nereid::generator
