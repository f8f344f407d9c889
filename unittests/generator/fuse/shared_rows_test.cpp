// SPDX-License-Identifier: Apache-2.0
// Two kernels of one stage that need the same sum of rows, each over iterators of its own.
#include "unittests/generator/fuse/Partitioned.h"

#include <gtest/gtest.h>

namespace nereid::generator {
namespace {

TEST(SharedRows, AreSummedOverTheIteratorsOfEachKernel) {
  const std::string text = partitioned("p[i, k] = x[i, k] / sum[j](x[i, j] * x[i, j])\n"
                                       "q[i, l] = u[i, l] * sum[j](x[i, j] * x[i, j])\n");
  EXPECT_EQ(countOf(text, "sum[j](t_1 * t_1)"), 1u) << text;
  EXPECT_EQ(countOf(text, "sum[l](t_2 * t_2)"), 1u) << text;
}

} // namespace
} // namespace nereid::generator
