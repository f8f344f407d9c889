// SPDX-License-Identifier: Apache-2.0
// Nests whose masks bound rows from both sides, as stencils with padding have them: the rows in
// which all masks hold are walked apart (test/targets/cpu/nests.test). Against the interpreter on
// every vector width, and against sums written out here.
#include "unittests/target_cpu/LowerHarness.h"

#include <fmt/format.h>
#include <gtest/gtest.h>

#include <cmath>
#include <fstream>
#include <sstream>
#include <vector>

using namespace nereid;
using namespace nereid::cpu::test;
using runtime::Tensor;

namespace {

/// y[i, j] = sum over t of x[STRIDE i + t - pad, j] w[t, j], zero outside of x; tiles of BR by BC.
const char *source = R"(
@triton.jit
def kernel(x, w, y, rows, out, columns, pad, limit, TAPS: tl.constexpr, STRIDE: tl.constexpr,
           BR: tl.constexpr, BC: tl.constexpr):
    r = tl.program_id(0) * BR + tl.arange(0, BR)
    c = tl.program_id(1) * BC + tl.arange(0, BC)
    acc = tl.zeros((BR, BC), tl.float32)
    is_column = (c < columns)[None, :]
    for t in tl.static_range(TAPS):
        at = r * STRIDE + t - pad
        inside = (at >= 0) & (rows > at) & (t <= limit)
        a = tl.load(x + at[:, None] * columns + c[None, :], mask=inside[:, None] & is_column, other=0.0)
        b = tl.load(w + t * columns + c[None, :], mask=is_column, other=0.0)
        acc += a * b
    tl.store(y + r[:, None] * columns + c[None, :], acc, mask=(r < out)[:, None] & is_column)
)";

struct Sizes {
  int64_t rows, out, columns, pad, limit;
  int taps, stride, blockRows, blockColumns;
};

std::string signatureOf(const Sizes &s) {
  return fmt::format("x=*fp32, w=*fp32, y=*fp32, rows=i32, out=i32, columns=i32, pad=i32, "
                     "limit=i32, TAPS={}, STRIDE={}, BR={}, BC={}",
                     s.taps, s.stride, s.blockRows, s.blockColumns);
}

TEST(NestRows, RowsInsideAndOutsideAreAllThere) {
  for (const Sizes &s : {Sizes{40, 40, 32, 1, 9, 3, 1, 16, 32},   // narrow: rows inside the lanes
                         Sizes{40, 40, 200, 1, 9, 3, 1, 16, 256}, // wide, but for the weights
                         Sizes{40, 40, 300, 1, 9, 3, 1, 16, 512}, // wide: lanes inside the rows
                         Sizes{41, 20, 33, 2, 9, 5, 2, 64, 16},   // strided
                         Sizes{50, 17, 20, 1, 9, 3, 3, 8, 32},    // a stride of three
                         Sizes{7, 30, 5, 20, 9, 3, 1, 32, 8},     // padding beyond the tile
                         Sizes{2, 3, 16, 1, 9, 4, 1, 4, 16},      // no row is inside
                         Sizes{64, 50, 64, 0, 9, 3, 1, 16, 64},   // bounds from above matter only
                         Sizes{40, 40, 32, 1, 1, 3, 1, 16, 32},   // a tap that is off everywhere
                         Sizes{1, 1, 1, 0, 9, 3, 1, 16, 16}}) {
    // Around x there is nothing: what is read all the same is NaN.
    Tensor space = Tensor::empty({s.rows + 400, s.columns}, DType::F32);
    space.poison();
    Tensor x = Tensor::borrow(space.as<float>() + 200 * s.columns, {s.rows, s.columns}, DType::F32);
    runtime::fillNormal(x, 1);
    Tensor w = randomTensor({s.taps, s.columns}, DType::F32, 2);
    Tensor y = randomTensor({s.out + 2, s.columns}, DType::F32, 3);
    Arguments arguments = {&x, &w, &y, s.rows, s.out, s.columns, s.pad, s.limit};
    std::array<int32_t, 3> grid{
        static_cast<int32_t>((s.out + s.blockRows - 1) / s.blockRows),
        static_cast<int32_t>((s.columns + s.blockColumns - 1) / s.blockColumns), 1};
    std::vector<Tensor> results;
    std::string where = fmt::format("{} rows to {} of {}", s.rows, s.out, s.columns);
    ASSERT_EQ(compareWithOracle(source, signatureOf(s), grid, arguments, 1e-5, &results), "")
        << where;
    for (int64_t i = 0; i < (s.out + 2) * s.columns; ++i) {
      int64_t row = i / s.columns, column = i % s.columns;
      double expected = row < s.out ? 0 : y.at(i); // rows behind the last one stay
      for (int64_t t = 0; t < s.taps && row < s.out && t <= s.limit; ++t) {
        int64_t at = row * s.stride + t - s.pad;
        bool isInside = at >= 0 && at < s.rows;
        expected += isInside ? x.at(at * s.columns + column) * w.at(t * s.columns + column) : 0;
      }
      ASSERT_NEAR(results[2].at(i), expected, 1e-5 * (1 + std::fabs(expected)))
          << where << ", " << i;
    }
  }
}

/// What stands between a label and the jump back to it, for loops without others inside.
std::vector<std::string> innermostLoops(const std::string &assembly) {
  std::vector<std::string> loops;
  std::istringstream lines(assembly);
  std::string line, label, body;
  while (std::getline(lines, line)) {
    if (line.rfind(".LBB", 0) == 0) {
      label = line.substr(0, line.find(':'));
      body.clear();
      continue;
    }
    body += line + "\n";
    bool jumpsBack = line.find("\tj") == 0 && !label.empty() &&
                     line.substr(line.find_last_of('\t') + 1) == label;
    if (jumpsBack) {
      loops.push_back(body);
    }
  }
  return loops;
}

TEST(NestRows, InnermostRowsReadNothingFromTheStack) {
  std::ifstream file(NEREID_SOURCE_DIR "/kernels/conv2d/grouped_nhwc.py");
  std::ostringstream text;
  text << file.rdbuf();
  for (auto [stride, features] : {std::pair{1, 32}, {2, 32}, {1, 256}}) {
    std::string signature = fmt::format(
        "x=*fp32:16, w=*fp32:16, bias=*fp32:16, y=*fp32:16, height=i32, width=i32, "
        "out_height=i32, out_width=i32, channels=i32:16, features=i32:16, KH=3, KW=3, STRIDE={}, "
        "PADDING=1, DILATION=1, CHANNELS=1, FEATURES=1, HAS_BIAS=1, RELU=1, BLOCK_W=64, BLOCK_F={}",
        stride, features);
    LoweredKernel kernel = lowerSource(text.str(), signature, "x86-64-v4");
    ASSERT_EQ(kernel.error, "");
    int found = 0;
    for (const std::string &loop : innermostLoops(kernel.assembly)) {
      bool isInside = countOf(loop, "vfmadd") == 9 && countOf(loop, "{%k") == 0 &&
                      countOf(loop, "vmovups") == 4; // the weights are in registers
      found += isInside ? 1 : 0;
      EXPECT_TRUE(!isInside || loop.find("(%rsp)") == std::string::npos) << loop;
    }
    EXPECT_EQ(found, 1) << kernel.assembly;
  }
}

} // namespace
