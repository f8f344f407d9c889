// SPDX-License-Identifier: Apache-2.0
// Kernels that are compiled once for all who ask, whoever comes first, and again after a failure.
#include "lib/develop/CompiledKernels.h"

#include <gtest/gtest.h>

#include <atomic>
#include <chrono>
#include <thread>
#include <vector>

namespace nereid::develop {
namespace {

/// A kernel that can be told from others.
Result<runtime::Kernel> numbered(int number) {
  runtime::Kernel kernel;
  kernel.info.name = std::to_string(number);
  return kernel;
}

TEST(CompiledKernels, OnceForEachFunctionAndSignature) {
  CompiledKernels kernels;
  int compiled = 0;
  auto get = [&](const std::string &function, const std::string &signature) {
    auto kernel = kernels.get(function, signature, [&] { return numbered(++compiled); });
    return kernel ? kernel->info.name : kernel.error().message;
  };
  EXPECT_EQ(get("rows", "*fp32"), "1");
  EXPECT_EQ(get("rows", "*fp16"), "2");
  EXPECT_EQ(get("tiles", "*fp32"), "3");
  EXPECT_EQ(get("rows", "*fp32"), "1");
  EXPECT_EQ(compiled, 3);
}

TEST(CompiledKernels, AFailureIsNotKept) {
  CompiledKernels kernels;
  auto failed = kernels.get("rows", "", [] { return makeError("E0301", "not yet"); });
  ASSERT_FALSE(bool(failed));
  EXPECT_EQ(failed.error().code, "E0301");
  auto kernel = kernels.get("rows", "", [] { return numbered(7); });
  ASSERT_TRUE(bool(kernel));
  EXPECT_EQ(kernel->info.name, "7");
}

TEST(CompiledKernels, ThreadsThatAskTogetherGetOne) {
  CompiledKernels kernels;
  std::atomic<int> compiled{0}, atWork{0}, most{0};
  auto get = [&](const std::string &function) {
    auto kernel = kernels.get(function, "", [&] {
      int others = ++atWork, seen = most;
      while (others > seen && !most.compare_exchange_weak(seen, others)) {
      }
      // Long enough for the other function's thread to begin; nothing fails where it does not.
      std::this_thread::sleep_for(std::chrono::milliseconds(20));
      --atWork;
      return numbered(++compiled);
    });
    EXPECT_TRUE(bool(kernel));
  };
  std::vector<std::thread> threads;
  for (int i = 0; i < 8; ++i) {
    threads.emplace_back(get, i % 2 == 0 ? "rows" : "tiles");
  }
  for (std::thread &thread : threads) {
    thread.join();
  }
  EXPECT_EQ(compiled, 2);
  EXPECT_LE(most, 2) << "one for each function";
}

} // namespace
} // namespace nereid::develop
