// SPDX-License-Identifier: Apache-2.0
// Long chains of operations take time and text in proportion: far more of them than anybody writes,
// so that what grows with the square of their number would take minutes.
#include "unittests/generator/Making.h"

#include <fmt/format.h>

#include <chrono>

namespace nereid::generator {
namespace {

/// Every line gives the same name again, reads what is far away, or repeats an operation.
std::string chain(int length) {
  std::string body = "t = x + y\nfirst = t * x\n";
  for (int i = 0; i < length / 2; ++i) {
    body += i % 3 == 2 ? "t = t + first * y\n" : "t = t * 0.5 + x\n";
  }
  return body + "out = t - first";
}

/// Of all files.
size_t bytesOf(const std::string &body) {
  auto generation = generate(made(body, inputXY, "\"...\", \"D\""), testChip(), nullptr);
  EXPECT_TRUE(bool(generation)) << (generation ? "" : render(generation.error()));
  size_t bytes = 0;
  for (const GeneratedFile &file :
       generation ? writeFiles(*generation) : std::vector<GeneratedFile>{}) {
    bytes += file.content.size();
  }
  return bytes;
}

TEST(Growth, ChainsOfOperationsAreLinear) {
  const auto begin = std::chrono::steady_clock::now();
  const size_t few = bytesOf(chain(2000)), many = bytesOf(chain(20000));
  const std::chrono::duration<double> seconds = std::chrono::steady_clock::now() - begin;
  EXPECT_LT(static_cast<double>(many), 12 * static_cast<double>(few));
  EXPECT_LT(seconds.count(), 40);
}

/// Each line selects between two values of the one before it, which reads memory at an index from
/// memory.
std::string selections(int length) {
  std::string body = "t = torch.gather(x, -1, i)\n";
  for (int line = 0; line < length; ++line) {
    body += fmt::format("t = torch.where(t > {}, t * 0.5, t + 1)\n", line);
  }
  return body + "out = t";
}

TEST(Growth, ChainsOfSelectionsAreLinear) {
  const std::string inputs = "[inputs.x]\nshape = [\"N\", \"M\"]\n"
                             "[inputs.i]\nshape = [\"N\", \"K\"]\ndtype = \"int64\"\n"
                             "range = [0, \"M\"]\n";
  auto bytes = [&](int length) {
    auto generation =
        generate(made(selections(length), inputs, "\"N\", \"K\""), testChip(), nullptr);
    EXPECT_TRUE(bool(generation)) << (generation ? "" : render(generation.error()));
    return generation ? generation->program.kernels.at(0).size() : 0;
  };
  const size_t none = bytes(0), few = bytes(2), many = bytes(6);
  EXPECT_GT(few, none);
  ASSERT_LE(many - none, 4 * (few - none));
  EXPECT_GT(bytes(60), many) << "and it takes no time";
}

/// Arguments of each kernel are the results of those before it that it reads: a little more each.
TEST(Growth, ChainsOfReductionsGrowLittleMoreThanTheyAreLong) {
  auto bytesOfLevels = [](int levels) {
    std::string body = "t = x * 1.0\n";
    for (int i = 0; i < levels; ++i) {
      body += "t = t - torch.mean(t, dim=-1, keepdim=True)\n";
    }
    return bytesOf(body + "out = t + y");
  };
  EXPECT_LT(static_cast<double>(bytesOfLevels(64)), 6 * static_cast<double>(bytesOfLevels(16)));
}

} // namespace
} // namespace nereid::generator
