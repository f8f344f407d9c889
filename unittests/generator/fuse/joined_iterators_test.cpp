// SPDX-License-Identifier: Apache-2.0
// What windows need is computed once for each place, within the bounds that the windows keep.
#include "lib/generator/fuse/JoinedIterators.h"

#include "lib/generator/fuse/Partition.h"
#include "lib/generator/normalise/Normalise.h"
#include "unittests/generator/program/Reading.h"
#include "unittests/generator/template/Expect.h"

namespace nereid::generator {
namespace {

constexpr const char *tensors = R"(
N = size(low=4)
C = size()
x = input(fp32, [C, N], strides=[N, 1])
w = input(fp32, [C], strides=[1])
u = input(fp32, [3], strides=[1])
out = output(fp32, [N], strides=[1])
i = iterator(N)
k = iterator(3)
c = iterator(C)
)";

Program partitioned(const std::string &text) {
  Program read = program(tensors + text);
  normalise(read);
  partition(read);
  return read;
}

/// "[N, 2]", of the first temporary.
std::string sizesSaved(const Program &read) {
  for (const Buffer &buffer : read.buffers) {
    if (buffer.role == BufferRole::Temporary) {
      std::string text;
      for (const Polynomial &size : buffer.sizes) {
        text += (text.empty() ? "[" : ", ") + read.space.symbols.text(size);
      }
      return text + "]";
    }
  }
  return "";
}

void expectRight(const std::string &text) {
  Program read = partitioned(text);
  EvaluationInput input;
  input.sizes = {5, 4};
  for (int number = 0; number < 20; ++number) {
    input.memory["x"].push_back((number * 7) % 11 - 5);
  }
  input.memory["w"] = {1, -2, 3, 1};
  input.memory["u"] = {2, -1, 1};
  expectEvaluated(read, input, {});
}

const std::string inner = "sum[c](x[c, i + k - 1] * w[c])";

TEST(JoinedIterators, AreOfWhatAWindowNeeds) {
  const std::string window = "stage(\"t\")\nout[i] = sum[k](where(logical_and(index(i + k) >= 1, "
                             "index(i + k) < index(N + 1)), exp(" +
                             inner + "), 0.0) * u[k])\n";
  EXPECT_EQ(sizesSaved(partitioned(window)), "[N]");
  expectRight("stage(\"t\")\nout[i] = sum[k](where(logical_and(index(i + k) >= 1, index(i + k) < "
              "index(N + 1)), maximum(" +
              inner + ", 0.0), 0.0) * u[k])\n");
}

TEST(JoinedIterators, RunOverTheWholeSumWithoutConditions) {
  const std::string wrapped = "stage(\"t\")\nout[i] = sum[k](maximum(sum[c](x[c, (i + k) % N] * "
                              "w[c]), 0.0) * u[k])\n";
  EXPECT_EQ(sizesSaved(partitioned(wrapped)), "[N + 2]");
  expectRight(wrapped);
  const std::string steps = "stage(\"t\")\nout[i] = sum[k](maximum(sum[c](x[c, (2*i + k) % N] * "
                            "w[c]), 0.0) * u[k])\n";
  EXPECT_EQ(sizesSaved(partitioned(steps)), "[2*N + 1]");
  expectRight(steps);
}

TEST(JoinedIterators, StayApartWhereOneStandsAlone) {
  const std::string apart = "stage(\"t\")\nout[i] = sum[k](maximum(sum[c](x[c, (i + k) % N] * "
                            "w[c] * u[k]), 0.0))\n";
  EXPECT_EQ(sizesSaved(partitioned(apart)), "[N, 3]");
  expectRight(apart);
  const std::string turned = "stage(\"t\")\nout[i] = sum[k](maximum(sum[c](x[c, (i - k) % N] * "
                             "w[c]), 0.0) * u[k])\n";
  expectRight(turned);
}

TEST(JoinedIterators, ServeWhoeverNeedsTheSameValue) {
  Program read = program(R"(
N = size(low=4)
C = size()
x = input(fp32, [C, N], strides=[N, 1])
w = input(fp32, [C], strides=[1])
u = input(fp32, [3], strides=[1])
out = output(fp32, [N], strides=[1])
top = output(fp32, [1], strides=[1])
i = iterator(N)
j = iterator(N)
k = iterator(3)
c = iterator(C)
z = iterator(1)
stage("windows")
out[i] = sum[k](where(logical_and(index(i + k) >= 1, index(i + k) < index(N + 1)), exp(sum[c](x[c, i + k - 1] * w[c])), 0.0) * u[k])
stage("largest")
top[z] = max[j](sum[c](x[c, j] * w[c]))
)");
  normalise(read);
  partition(read);
  EXPECT_EQ(std::count_if(read.buffers.begin(), read.buffers.end(),
                          [](const Buffer &each) { return each.role == BufferRole::Temporary; }),
            1);
}

} // namespace
} // namespace nereid::generator
