// SPDX-License-Identifier: Apache-2.0
// Which tensors a kernel only reads: followed through arithmetic, loops and branches; whatever
// cannot be followed counts as written.
#include "unittests/pipeline/EchoTarget.h"

#include "lib/pipeline/kernel/KernelInfo.h"

#include <gtest/gtest.h>

namespace nereid::pipeline::test {
namespace {

/// "r" or "w" for each pointer parameter of kernel(a, b, c, n), all *i32.
std::string accesses(const std::string &body) {
  registerEchoTarget();
  echoControl() = {};
  TemporaryFolder folder;
  Diagnostics diags;
  CompileInput input;
  input.path = folder.write("k.py", "import triton\nimport triton.language as tl\n\n@triton.jit\n"
                                    "def kernel(a, b, c, n):\n" +
                                        body);
  input.signature = "*i32, *i32, *i32, i32";
  CompileOptions options;
  options.target = "echo";
  options.to = "echoes";
  options.useCache = false;
  auto output = compile(input, options, diags);
  if (!output) {
    return diags.render();
  }
  // Also through the text that cache entries hold.
  auto info = kernelInfoFromJson(toJson(output->info));
  std::string result;
  for (const runtime::ArgumentInfo &argument : info->arguments) {
    if (argument.kind == runtime::ArgumentKind::Pointer) {
      result += argument.isWritten ? "w" : "r";
    }
  }
  return result;
}

TEST(ReadOnly, StoresAndAtomics) {
  EXPECT_EQ(accesses("    tl.store(c, tl.load(a) + tl.load(b))\n"), "rrw");
  EXPECT_EQ(accesses("    i = tl.arange(0, 8)\n    tl.store(c + i * n, tl.load(a + i) + n)\n"),
            "rrw");
  EXPECT_EQ(accesses("    tl.atomic_add(b, tl.load(a))\n    tl.atomic_cas(c, 0, 1)\n"), "rww");
}

TEST(ReadOnly, PointersCarriedByLoops) {
  EXPECT_EQ(accesses("    total = 0\n    for i in range(n):\n        total += tl.load(a)\n"
                     "        a += 1\n        tl.store(b, total)\n        b += 1\n"),
            "rwr");
  // Swapped in every iteration: each reaches the store.
  EXPECT_EQ(
      accesses("    for i in range(n):\n        tl.store(a, 1)\n        t = a\n        a = b\n"
               "        b = t\n"),
      "wwr");
  // Written after the loop.
  EXPECT_EQ(accesses("    for i in range(n):\n        c += 1\n    tl.store(c, tl.load(a))\n"),
            "rrw");
}

TEST(ReadOnly, PointersCarriedByWhile) {
  const std::string loop = "    i = 0\n    while i < n:\n        i += tl.load(a)\n        a += 1\n";
  EXPECT_EQ(accesses(loop + "    tl.store(c, i)\n"), "rrw");
  EXPECT_EQ(accesses(loop + "    tl.store(a, i)\n"), "wrr");
}

TEST(ReadOnly, Branches) {
  EXPECT_EQ(accesses("    p = a\n    if n > 0:\n        p = b\n    tl.store(p, tl.load(c))\n"),
            "wwr");
  EXPECT_EQ(accesses("    tl.store(tl.where(n > 0, a, b), tl.load(c))\n"), "wwr");
}

TEST(ReadOnly, WhatCannotBeFollowedIsWritten) {
  EXPECT_EQ(accesses("    address = a.to(tl.int64)\n    p = address.to(tl.pointer_type(tl.int32))\n"
                     "    tl.store(p, tl.load(b))\n"),
            "wrr");
}

} // namespace
} // namespace nereid::pipeline::test
