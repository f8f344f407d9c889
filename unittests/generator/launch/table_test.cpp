// SPDX-License-Identifier: Apache-2.0
// Launch tables: what a launch is told, when offsets need 64 bits, and what it refuses.
#include "lib/generator/launch/Table.h"

#include "lib/generator/normalise/Normalise.h"
#include "unittests/generator/program/Reading.h"

#include <fmt/format.h>

namespace nereid::generator {
namespace {

constexpr const char *turned = R"(
N = size()
H = quotient(N + 1, 2)
x = input(fp16, [N, 2], strides=[2, 1])
w = temporary(fp32, [2, N], strides=[N, 1])
y = output(fp32, [H], strides=[1])
i = iterator(N)
j = iterator(2)
k = iterator(H)
stage("turn")
w[j, i] = cast(x[i, j], fp32) * parameter("scale", fp32)
stage("halve")
y[k] = ref(w[0, 2*k])
)";

LaunchTable tableOf(const std::string &text) {
  Program read = program(text);
  normalise(read);
  auto made = makeKernels(read, "t");
  EXPECT_TRUE(bool(made)) << (made ? "" : render(made.error()));
  return made ? made->table : LaunchTable{};
}

TEST(LaunchTable, SaysAllThatALaunchNeeds) {
  const LaunchTable table = tableOf(turned);
  EXPECT_EQ(table.symbols, (std::vector<std::string>{"N"}));
  ASSERT_EQ(table.derived.size(), 2u); // the first kernel's blocks are none of its elements'
  EXPECT_EQ(table.derived[0], (NamedExpression{"H", "(N + 1)//(2)"}));
  EXPECT_EQ(table.derived[1],
            (NamedExpression{"map2_elements", "min(TILE_ELEMENTS, max(FEWEST_ELEMENTS, "
                                              "next_power_of_2((H)//(4*PROCESSORS))))"}));
  EXPECT_EQ(table.workspaces,
            (std::vector<Workspace>{{"w", DType::F32, "1 + (1)*(N) + (N - 1)*(1)"}}));
  auto launches = bindLaunch(table, {{"N", 5001}});
  ASSERT_TRUE(bool(launches)) << render(launches.error());
  ASSERT_EQ(launches->size(), 2u);
  const BoundLaunch &turn = (*launches)[0], &halve = (*launches)[1];
  EXPECT_EQ(turn.function, "t_1_kernel");
  EXPECT_EQ(turn.signature,
            "x_ptr=*fp16, w_ptr=*fp32, scale=fp32, N=i32, "
            "BLOCK_Y=2048, BLOCK_X=2, EVEN_X=0, EVEN_Y=0, WIDE=0"); // turned: 4096 elements
  EXPECT_EQ(turn.sizes, (std::vector<int64_t>{5001}));
  EXPECT_EQ(turn.programs, 3);
  EXPECT_EQ(halve.signature, "w_ptr=*fp32, y_ptr=*fp32, H=i32, BLOCK_Y=4096, EVEN_Y=0, WIDE=0");
  EXPECT_EQ(halve.sizes, (std::vector<int64_t>{2501}));
  EXPECT_EQ(halve.programs, 1);
}

TEST(LaunchTable, SurvivesAFile) {
  const LaunchTable table = tableOf(turned);
  auto read = tableFromJson("t.json", toJson(table));
  ASSERT_TRUE(bool(read)) << render(read.error());
  EXPECT_EQ(*read, table);
}

TEST(LaunchTable, OffsetsBeyond32BitsAreWide) {
  const LaunchTable table = tableOf(R"(
N = size()
M = size()
S = size()
x = input(fp32, [N, M], strides=[S, 1])
y = output(fp32, [N, M], strides=[M, 1])
i = iterator(N)
j = iterator(M)
stage("t")
y[i, j] = x[i, j]
)");
  auto isWide = [&](int64_t n, int64_t m, int64_t s) {
    auto launches = bindLaunch(table, {{"N", n}, {"M", m}, {"S", s}});
    EXPECT_TRUE(bool(launches));
    return (*launches)[0].signature.find("WIDE=1") != std::string::npos;
  };
  EXPECT_FALSE(isWide(1000, 1000, 1000));
  EXPECT_TRUE(isWide(int64_t(1) << 16, int64_t(1) << 16, int64_t(1) << 16)) << "2^32 elements";
  EXPECT_TRUE(isWide(1000, 1000, 3000000)) << "a stride alone";
  EXPECT_TRUE(isWide(65536, 32766, 32766)) << "lanes beyond the last row's end";
}

TEST(LaunchTable, AReductionTakesTheFormThatItsSizesAskFor) {
  const std::string buffers = "N = size()\nM = size()\nx = input(fp32, [N, M], strides=[M, 1])\n"
                              "y = output(fp32, [N], strides=[1])\n"
                              "z = output(fp32, [M], strides=[1])\n"
                              "i = iterator(N)\nj = iterator(M)\nstage(\"t\")\n";
  auto taken = [](const LaunchTable &table, int64_t n, int64_t m, LaunchSite site = {16}) {
    auto launches = bindLaunch(table, {{"N", n}, {"M", m}}, site);
    EXPECT_TRUE(bool(launches));
    EXPECT_EQ(launches->size(), 4u);
    std::string names;
    for (const BoundLaunch &each : *launches) {
      names += each.programs > 0 ? each.function + " " : "";
    }
    return names;
  };
  const std::string parts = "t_part_1_looped_kernel t_part_2_kernel ";
  const LaunchTable rows = tableOf(buffers + "y[i] = sum[j](x[i, j])\n");
  EXPECT_EQ(taken(rows, 3, 8192), "t_kernel ");
  EXPECT_EQ(taken(rows, 31, 131071), "t_looped_kernel ") << "sooner done than launched again";
  EXPECT_EQ(taken(rows, 31, 131072), parts);
  EXPECT_EQ(taken(rows, 32, 131072), "t_looped_kernel ") << "two for each processor";
  const LaunchTable columns = tableOf(buffers + "z[j] = sum[i](x[i, j])\n");
  EXPECT_EQ(taken(columns, 128, 3), "t_kernel ");
  EXPECT_EQ(taken(columns, 129, 3), "t_looped_kernel ");
  EXPECT_EQ(taken(columns, 1024, 3), parts);
  EXPECT_EQ(taken(columns, 1024, 64 * 31), parts);
  EXPECT_EQ(taken(columns, 1024, 64 * 31 + 1), "t_looped_kernel ");

  const LaunchSite device = {132, /*isDevice=*/true};
  EXPECT_EQ(taken(rows, 65, 131072, device), parts);
  EXPECT_EQ(taken(rows, 66, 131072, device), "t_looped_kernel ") << "half of the processors";
  EXPECT_EQ(taken(rows, 66, 262143, device), "t_looped_kernel ");
  EXPECT_EQ(taken(rows, 66, 262144, device), parts) << "long rows";
  EXPECT_EQ(taken(rows, 263, 262144, device), parts);
  EXPECT_EQ(taken(rows, 264, 262144, device), "t_looped_kernel ");
  EXPECT_EQ(taken(columns, 2047, 64, device), "t_looped_kernel ") << "sooner done by many warps";
  EXPECT_EQ(taken(columns, 2048, 64, device), parts);
  EXPECT_EQ(taken(columns, 2048, 64 * 131, device), parts);
  EXPECT_EQ(taken(columns, 2048, 64 * 131 + 1, device), "t_looped_kernel ");
}

TEST(LaunchTable, DevicesHaveTilesOfTheirLanes) {
  const std::string buffers = "N = size()\nM = size()\nx = input(fp32, [N, M], strides=[M, 1])\n"
                              "i = iterator(N)\nj = iterator(M)\n";
  auto constants = [](const LaunchTable &table, int64_t n, int64_t m, bool isDevice) {
    auto launches = bindLaunch(table, {{"N", n}, {"M", m}}, {132, isDevice});
    EXPECT_TRUE(bool(launches));
    std::string text;
    for (const BoundLaunch &each : *launches) {
      for (const auto &[name, value] : each.constants) {
        text += each.programs > 0 && !isOfSizes(name) ? fmt::format("{}={} ", name, value) : "";
      }
    }
    return text;
  };
  const LaunchTable rows = tableOf(buffers + "y = output(fp32, [N], strides=[1])\nstage(\"t\")\n"
                                             "y[i] = sum[j](x[i, j])\n");
  EXPECT_EQ(constants(rows, 512, 12544, true), "BLOCK_R=16384 BLOCK_X=1 num_warps=32 ");
  EXPECT_EQ(constants(rows, 512, 12544, false), "BLOCK_R=2048 BLOCK_X=1 num_warps=16 ");
  EXPECT_EQ(constants(rows, 512, 128256, true), "BLOCK_R=4096 BLOCK_X=1 num_warps=32 ");
  EXPECT_EQ(constants(rows, 9999, 64, true), "BLOCK_R=64 BLOCK_X=16 num_warps=4 ");
  EXPECT_EQ(constants(rows, 16 * 132, 1024, true), "BLOCK_R=1024 BLOCK_X=1 num_warps=2 ");
  EXPECT_EQ(constants(rows, 16 * 132 - 1, 1024, true), "BLOCK_R=1024 BLOCK_X=1 num_warps=4 ")
      << "too few rows for so few warps";
  EXPECT_EQ(constants(rows, 9999, 512, true), "BLOCK_R=512 BLOCK_X=1 num_warps=1 ");
  const LaunchTable columns = tableOf(buffers + "z = output(fp32, [M], strides=[1])\nstage(\"t\")\n"
                                                "z[j] = sum[i](x[i, j])\n");
  EXPECT_EQ(constants(columns, 100, 9999, true), constants(columns, 100, 9999, false));
  EXPECT_EQ(constants(columns, 999, 64 * 263, true), "BLOCK_Y=64 BLOCK_R=64 num_warps=16 ");
  EXPECT_EQ(constants(columns, 999, 64 * 264, true), "BLOCK_Y=64 BLOCK_R=64 num_warps=8 ")
      << "two programs for each processor";
  const LaunchTable points =
      tableOf(buffers + "y = output(fp32, [N, M], strides=[M, 1])\nstage(\"t\")\n"
                        "y[i, j] = x[i, j]*x[i, j]\n");
  EXPECT_EQ(constants(points, 512, 9999, true), "BLOCK_Y=1024 ");
  const LaunchTable window = tableOf(
      buffers + "y = output(fp32, [N, M], strides=[M, 1])\nstage(\"t\")\n"
                "y[i, j] = x[i, j] + x[i, j + 1] + x[i, j + 2] + x[i, j + 3] + x[i, j + 4]\n");
  EXPECT_EQ(constants(window, 9999, 64, true), "BLOCK_Y=512 ") << "five loads";
  const LaunchTable scaled =
      tableOf(buffers + "a = input(fp32, [N], strides=[1])\nb = input(fp32, [N], strides=[1])\n"
                        "c = input(fp32, [N], strides=[1])\nd = input(fp32, [N], strides=[1])\n"
                        "y = output(fp32, [N, M], strides=[M, 1])\nstage(\"t\")\n"
                        "y[i, j] = x[i, j]*(a[i] + b[i])*(c[i] + d[i])\n");
  EXPECT_EQ(constants(scaled, 9999, 4096, true), "BLOCK_Y=1024 BLOCK_X=1 ") << "four for a row";
  EXPECT_EQ(constants(scaled, 9999, 4096, false), "BLOCK_Y=1024 BLOCK_X=2 ");
  const LaunchTable shifted =
      tableOf(buffers + "a = input(fp32, [M], strides=[1])\nb = input(fp32, [M], strides=[1])\n"
                        "c = input(fp32, [M], strides=[1])\nd = input(fp32, [M], strides=[1])\n"
                        "y = output(fp32, [N, M], strides=[M, 1])\nstage(\"t\")\n"
                        "y[i, j] = x[i, j]*(a[j] + b[j])*(c[j] + d[j])\n");
  EXPECT_EQ(constants(shifted, 9999, 4096, true), "BLOCK_Y=1024 BLOCK_X=1 ") << "and for a column";
}

TEST(LaunchTable, RowsOfSeveralLoadsHaveWarpsByTheirElementsBytes) {
  const std::string buffers =
      "N = size()\nM = size()\nx = input(fp32, [N, M], strides=[M, 1])\n"
      "w = input(fp32, [M], strides=[1])\nb = input(fp32, [N], strides=[1])\n"
      "y = output(fp32, [N], strides=[1])\n"
      "i = iterator(N)\nj = iterator(M)\nstage(\"t\")\n";
  auto warps = [](LaunchTable table, DType dtype, int64_t n, int64_t m) {
    table.dtype = dtype;
    auto launches = bindLaunch(table, {{"N", n}, {"M", m}}, {132, true});
    EXPECT_TRUE(bool(launches));
    int64_t found = 0;
    for (const BoundLaunch &each : *launches) {
      for (const auto &[name, value] : each.constants) {
        found = each.programs > 0 && name == "num_warps" ? value : found;
      }
    }
    return found;
  };
  const LaunchTable two = tableOf(buffers + "y[i] = sum[j](x[i, j]*w[j])\n");
  EXPECT_EQ(warps(two, DType::F32, 9999, 1024), 4) << "8 elements of each of a lane";
  EXPECT_EQ(warps(two, DType::F64, 9999, 1024), 4);
  EXPECT_EQ(warps(two, DType::F16, 9999, 1024), 2) << "16 in as many bytes";
  EXPECT_EQ(warps(two, DType::BF16, 9999, 1024), 2);
  EXPECT_EQ(warps(two, DType::F32, 9999, 512), 2);
  EXPECT_EQ(warps(two, DType::F32, 9999, 4096), 16);
  EXPECT_EQ(warps(two, DType::F32, 9999, 8192), 16) << "a processor has several programs";
  EXPECT_EQ(warps(two, DType::F32, 9999, 16384), 32);
  EXPECT_EQ(warps(two, DType::F32, 100, 1024), 4) << "few rows have as many";
  const LaunchTable one = tableOf(buffers + "y[i] = sum[j](x[i, j]*b[i])\n");
  EXPECT_EQ(warps(one, DType::F32, 9999, 1024), 2) << "what a row has once is none";
  EXPECT_EQ(warps(one, DType::F16, 9999, 1024), 2);
}

TEST(LaunchTable, DevicesAreToldWhichDimensionsAreWholeBlocks) {
  const std::string buffers = "N = size()\nM = size()\nx = input(fp32, [N, M], strides=[M, 1])\n"
                              "i = iterator(N)\nj = iterator(M)\n";
  auto even = [](const LaunchTable &table, int64_t n, int64_t m, bool isDevice) {
    auto launches = bindLaunch(table, {{"N", n}, {"M", m}}, {132, isDevice});
    EXPECT_TRUE(bool(launches));
    std::string text;
    for (const BoundLaunch &each : *launches) {
      for (const auto &[name, value] : each.constants) {
        text +=
            each.programs > 0 && name.starts_with("EVEN") ? fmt::format("{}={} ", name, value) : "";
      }
    }
    return text;
  };
  const LaunchTable rows = tableOf(buffers + "y = output(fp32, [N], strides=[1])\nstage(\"t\")\n"
                                             "y[i] = sum[j](x[i, j])\n");
  EXPECT_EQ(even(rows, 9999, 4096, true), "EVEN_X=1 EVEN_R=1 ") << "a program for each row";
  EXPECT_EQ(even(rows, 9999, 4095, true), "EVEN_X=1 EVEN_R=0 ");
  EXPECT_EQ(even(rows, 9999, 64, true), "EVEN_X=0 EVEN_R=1 ") << "16 rows for each program";
  EXPECT_EQ(even(rows, 9984, 64, true), "EVEN_X=1 EVEN_R=1 ");
  EXPECT_EQ(even(rows, 512, 10 * 4096, true), "EVEN_X=1 EVEN_R=1 ") << "walked over";
  EXPECT_EQ(even(rows, 512, 10 * 4096 + 1, true), "EVEN_X=1 EVEN_R=0 ");
  EXPECT_EQ(even(rows, 16, 0, true), "EVEN_X=1 EVEN_R=0 ") << "a block of nothing has one lane";
  EXPECT_EQ(even(rows, 9984, 64, false), "EVEN_X=0 EVEN_R=0 ");
  const LaunchTable points =
      tableOf(buffers + "y = output(fp32, [N, M], strides=[M, 1])\nstage(\"t\")\n"
                        "y[i, j] = x[i, j]*x[i, j]\n");
  EXPECT_EQ(even(points, 512, 1024, true), "EVEN_Y=1 ");
  EXPECT_EQ(even(points, 512, 1023, true), "EVEN_Y=0 ");
  const LaunchTable named =
      tableOf("EVEN_Y = size()\nx = input(fp32, [EVEN_Y], strides=[1])\n"
              "y = output(fp32, [EVEN_Y], strides=[1])\ni = iterator(EVEN_Y)\nstage(\"t\")\n"
              "y[i] = x[i]*x[i]\n");
  auto launches = bindLaunch(named, {{"EVEN_Y", 8192}}, {132, true});
  ASSERT_TRUE(bool(launches));
  EXPECT_EQ(launches->at(0).programs, 8192 / 128) << "a size may have the name";
}

TEST(LaunchTable, RowsOfPlanesAreWholeWhereTheirTileIs) {
  const LaunchTable table =
      tableOf("N = size()\nM = size()\nx = input(fp32, [3, N, M], strides=[N*M, M, 1])\n"
              "w = input(fp32, [3], strides=[1])\ny = output(fp32, [N], strides=[1])\n"
              "b = iterator(3)\ni = iterator(N)\nj = iterator(M)\nstage(\"t\")\n"
              "y[i] = sum[b, j](x[b, i, j]*w[b])\n");
  auto taken = [&](int64_t m) {
    auto launches = bindLaunch(table, {{"N", 9999}, {"M", m}}, {132, true});
    EXPECT_TRUE(bool(launches));
    std::string text;
    for (const BoundLaunch &each : *launches) {
      text += each.programs > 0 ? each.function : "";
      for (const auto &[name, value] : each.constants) {
        text += each.programs > 0 && !isOfSizes(name) ? fmt::format(" {}={}", name, value) : "";
      }
    }
    return text;
  };
  EXPECT_EQ(taken(5), "t_kernel BLOCK_R=8 BLOCK_P=4 BLOCK_X=16 num_warps=4");
  EXPECT_EQ(taken(8192), "t_kernel BLOCK_R=8192 BLOCK_P=4 BLOCK_X=1 num_warps=32");
  EXPECT_EQ(taken(8193), "t_looped_kernel BLOCK_R=4096 BLOCK_X=1 num_warps=32")
      << "24579 elements, of which a tile would hold 65536";
}

TEST(LaunchTable, DevicesHaveTilesForTheirProcessors) {
  const std::string buffers = "N = size()\nM = size()\nx = input(fp32, [N, M + 2], "
                              "strides=[M + 2, 1])\ny = output(fp32, [N, M], strides=[M, 1])\n"
                              "i = iterator(N)\nj = iterator(M)\n";
  auto elements = [](const LaunchTable &table, int64_t n, int64_t m, bool isDevice) {
    auto launches = bindLaunch(table, {{"N", n}, {"M", m}}, {132, isDevice});
    EXPECT_TRUE(bool(launches));
    int64_t product = 1;
    for (const auto &[name, value] : launches->at(0).constants) {
      product *= name.starts_with("BLOCK") ? value : 1;
    }
    return product;
  };
  const LaunchTable points = tableOf(buffers + "stage(\"t\")\ny[i, j] = x[i, j]*x[i, j]\n");
  const LaunchTable windows = tableOf(buffers + "k = iterator(3)\nstage(\"t\")\n"
                                                "y[i, j] = sum[k](x[i, j + k])\n");
  for (const LaunchTable &table : {points, windows}) {
    EXPECT_EQ(elements(table, 4096, 1024, true), 1024);
    EXPECT_EQ(elements(table, 256, 1024, true), 512) << "four for each processor";
    EXPECT_EQ(elements(table, 64, 1024, true), 128);
    EXPECT_EQ(elements(table, 64, 128, true), 128) << "an element of each lane";
    EXPECT_EQ(elements(table, 64, 1024, false), 4096);
  }
}

TEST(LaunchTable, WorkspacesOfAFormThatIsNotTakenAreEmpty) {
  const LaunchTable table = tableOf("N = size()\nx = input(fp32, [N], strides=[1])\n"
                                    "y = output(fp32, [1], strides=[1])\ni = iterator(N)\n"
                                    "stage(\"t\")\ny[0] = sum[i](x[i])\n");
  auto elements = [&](int64_t n) { return *bindWorkspaces(table, {{"N", n}}); };
  EXPECT_EQ(elements(131071), (std::vector<int64_t>{1}));
  EXPECT_EQ(elements(131072), (std::vector<int64_t>{256}));
}

TEST(LaunchTable, ProductsHaveLargeBlocksWhereTheseKeepAllProcessorsAtWork) {
  const LaunchTable table =
      tableOf("N = size()\nM = size()\nK = size()\n"
              "x = input(fp16, [N, K], strides=[K, 1])\n"
              "w = input(fp16, [K, M], strides=[M, 1])\n"
              "y = output(fp32, [N, M], strides=[M, 1])\n"
              "i = iterator(N)\nj = iterator(M)\nk = iterator(K)\n"
              "stage(\"t\")\n"
              "y[i, j] = sum[k](cast(x[i, k], fp32) * cast(w[k, j], fp32))\n");
  auto taken = [&](int64_t n, int64_t m, int64_t k) {
    auto launches = bindLaunch(table, {{"N", n}, {"M", m}, {"K", k}}, {.processors = 132});
    EXPECT_TRUE(bool(launches));
    std::string text;
    for (const BoundLaunch &each : *launches) {
      const size_t blocks = each.signature.find("BLOCK");
      text += each.programs > 0 ? each.function + " " + each.signature.substr(blocks) + "; " : "";
    }
    return text;
  };
  EXPECT_EQ(taken(4096, 4096, 4096),
            "t_kernel BLOCK_K=64, BLOCK_N=128, BLOCK_M=128, GROUP_M=1, WIDE=0, num_warps=8; ");
  EXPECT_EQ(taken(1024, 1024, 4096),
            "t_kernel BLOCK_K=64, BLOCK_N=64, BLOCK_M=64, GROUP_M=1, WIDE=0, num_warps=4; ");
  EXPECT_EQ(taken(3, 512, 512),
            "t_kernel BLOCK_K=64, BLOCK_N=64, BLOCK_M=16, GROUP_M=1, WIDE=0, num_warps=4; ");
  EXPECT_TRUE(taken(3, 512, 4096)
                  .starts_with("t_part_1_kernel BLOCK_K=64, BLOCK_N=64, BLOCK_M=16, GROUP_M=1, "
                               "WIDE=0, num_warps=4; t_part_2_looped_kernel"))
      << taken(3, 512, 4096);
}

TEST(LaunchTable, WindowsOfFewTilesAreMultipliedInParts) {
  const LaunchTable table = tableOf(
      "C = size()\nF = size()\nP = size()\nx = input(fp32, [C, P + 2], strides=[P + 2, 1])\n"
      "w = input(fp32, [F, C, 3], strides=[3*C, 3, 1])\ny = output(fp32, [F, P], strides=[P, 1])\n"
      "f = iterator(F)\np = iterator(P)\nc = iterator(C)\nt = iterator(3)\nstage(\"t\")\n"
      "y[f, p] = sum[c, t](x[c, p + t] * w[f, c, t])\n");
  auto programs = [&](int64_t c, int64_t f, int64_t p, bool isDevice = true) {
    auto launches = bindLaunch(table, {{"C", c}, {"F", f}, {"P", p}}, {132, isDevice});
    EXPECT_TRUE(bool(launches));
    std::string names;
    for (const BoundLaunch &each : *launches) {
      names += each.programs > 0 ? each.function + " " : "";
    }
    return names;
  };
  const std::string parts = "t_part_1_kernel t_part_2_looped_kernel ", whole = "t_kernel ";
  EXPECT_EQ(programs(512, 64, 49), parts);
  EXPECT_EQ(programs(341, 64, 49), whole) << "1023 products";
  EXPECT_EQ(programs(512, 64, int64_t{64} * 33, false), parts);
  EXPECT_EQ(programs(512, 64, int64_t{64} * 34, false), whole)
      << "tiles for a quarter of the processors";
  EXPECT_EQ(programs(512, 64, int64_t{64} * 34), parts) << "a device has long sums in parts";
  EXPECT_EQ(programs(1366, 64, int64_t{64} * 132), parts) << "4098 products, and a tile for each";
  EXPECT_EQ(programs(1365, 64, int64_t{64} * 132), whole);
  EXPECT_EQ(programs(100000, 64, int64_t{64} * 264), parts) << "two tiles for each";
  EXPECT_EQ(programs(100000, 64, int64_t{64} * 265), whole);
}

TEST(LaunchTable, NothingIsLaunchedForNothing) {
  auto launches = bindLaunch(tableOf(turned), {{"N", 0}});
  ASSERT_TRUE(bool(launches)) << render(launches.error());
  EXPECT_EQ((*launches)[0].programs, 0);
}

TEST(LaunchTable, RefusesWhatItCannotBind) {
  const LaunchTable table = tableOf(turned);
  auto without = bindLaunch(table, {});
  ASSERT_FALSE(bool(without));
  EXPECT_EQ(without.error().code + ": " + without.error().message, "E0612: size 'N' has no value");
  auto beyond = bindLaunch(table, {{"N", std::numeric_limits<int64_t>::max()}});
  ASSERT_FALSE(bool(beyond));
  EXPECT_EQ(beyond.error().code.substr(0, 4), "E028");
}

TEST(LaunchTable, ADamagedFileIsNone) {
  std::string text = toJson(tableOf(turned));
  for (const char *part : {"\"fp16\"", "\"memory\"", "\"grid\"", "{"}) {
    std::string damaged = text;
    damaged.replace(damaged.find(part), std::string(part).size(), "\"?\"");
    auto read = tableFromJson("t.json", damaged);
    ASSERT_FALSE(bool(read)) << part;
    EXPECT_EQ(read.error().code, "E0611");
  }
}

} // namespace
} // namespace nereid::generator
