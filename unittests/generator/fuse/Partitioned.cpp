// SPDX-License-Identifier: Apache-2.0
#include "unittests/generator/fuse/Partitioned.h"

#include "lib/generator/fuse/Partition.h"
#include "lib/generator/normalise/Normalise.h"
#include "lib/generator/program/Verify.h"
#include "unittests/generator/program/Reading.h"
#include "unittests/generator/template/Expect.h"

namespace nereid::generator {

const char *const square = R"(
N = size()
x = input(fp32, [N, N], strides=[N, 1])
u = input(fp32, [N, N], strides=[N, 1])
p = output(fp32, [N, N], strides=[N, 1])
q = output(fp32, [N, N], strides=[N, 1])
i = iterator(N)
j = iterator(N)
k = iterator(N)
l = iterator(N)
m = iterator(N)
stage("first")
)";

std::string partitioned(const std::string &stores) {
  Program read = program(square + stores);
  normalise(read);
  partition(read);
  const Status isLawful = verify(read);
  EXPECT_TRUE(bool(isLawful)) << (isLawful ? "" : render(isLawful.error()));
  const std::string text = stages(read);
  partition(read);
  EXPECT_EQ(stages(read), text) << "a second time";

  Program whole = program(square + stores);
  normalise(whole);
  EvaluationInput input;
  input.sizes = {3};
  input.memory["x"] = {1, 2, -1, 0, 1, 1, 2, 0, -1};
  input.memory["u"] = {0, 1, 1, -1, 2, 0, 1, 0, 1};
  expectEvaluated(whole, input, {}, 1e-6);
  return text;
}

size_t countOf(const std::string &text, const std::string &part) {
  size_t count = 0;
  for (size_t at = text.find(part); at != std::string::npos; at = text.find(part, at + 1)) {
    ++count;
  }
  return count;
}

} // namespace nereid::generator
