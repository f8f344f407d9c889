// SPDX-License-Identifier: Apache-2.0
// Kernels whose programs wait for each other, from their source through the interpreter: the forms
// that occur in real code.
#include "EmitTest.h"

namespace nereid::language {
namespace {

std::vector<InterpretOptions> schedules() {
  std::vector<InterpretOptions> all(2);
  all[1].schedule = Schedule::RoundRobin;
  for (uint64_t seed = 0; seed < 8; ++seed) {
    InterpretOptions random;
    random.schedule = Schedule::Random;
    random.seed = seed;
    all.push_back(random);
  }
  return all;
}

bool runWith(Emitted &kernel, const std::vector<runtime::ArgumentValue> &arguments,
             int64_t programs, const InterpretOptions &options) {
  Diagnostics diags;
  const bool isDone =
      kernel.module && interpret(*kernel.module, {programs, 1, 1}, arguments, diags, options);
  EXPECT_TRUE(isDone) << diags.render() << kernel.text;
  return isDone;
}

TEST(Concurrency, spinLockAroundATile) {
  Emitted kernel = emitBody("lock, out, BLOCK: tl.constexpr",
                            "i = tl.arange(0, BLOCK)\n"
                            "while tl.atomic_cas(lock, 0, 1) == 1:\n"
                            "    pass\n"
                            "tl.store(out + i, tl.load(out + i) + tl.program_id(0))\n"
                            "tl.debug_barrier()\n"
                            "tl.atomic_xchg(lock, 0)\n",
                            "*i32, *fp32, 16");
  for (const InterpretOptions &options : schedules()) {
    std::vector<int32_t> lock(1);
    std::vector<float> out(16);
    runtime::Tensor l = tensorOf(lock, DType::I32), o = tensorOf(out, DType::F32);
    runWith(kernel, {&l, &o}, 20, options);
    EXPECT_EQ(out, std::vector<float>(16, 190)); // 0 + 1 + … + 19
  }
}

TEST(Concurrency, decoupledLookBackScan) {
  // Each block publishes its own sum (flag 1), then walks back over the blocks before it until one
  // has its inclusive prefix (flag 2), then publishes its own.
  Emitted kernel = emitBody("x, y, sums, prefixes, flags, BLOCK: tl.constexpr",
                            "pid = tl.program_id(0)\n"
                            "i = pid * BLOCK + tl.arange(0, BLOCK)\n"
                            "v = tl.load(x + i)\n"
                            "total = tl.sum(v, axis=0)\n"
                            "tl.store(sums + pid, total)\n"
                            "tl.atomic_xchg(flags + pid, 1)\n"
                            "before = total - total\n"
                            "at = pid - 1\n"
                            "while at >= 0:\n"
                            "    flag = tl.atomic_add(flags + at, 0)\n"
                            "    while flag == 0:\n"
                            "        flag = tl.atomic_add(flags + at, 0)\n"
                            "    if flag == 2:\n"
                            "        before += tl.load(prefixes + at)\n"
                            "        at = -1\n"
                            "    else:\n"
                            "        before += tl.load(sums + at)\n"
                            "        at -= 1\n"
                            "tl.store(prefixes + pid, before + total)\n"
                            "tl.atomic_xchg(flags + pid, 2)\n"
                            "tl.store(y + i, before + tl.cumsum(v, axis=0))\n",
                            "*i32, *i32, *i32, *i32, *i32, 8");
  for (const InterpretOptions &options : schedules()) {
    std::vector<int32_t> x(160), y(160), sums(20), prefixes(20), flags(20), expected(160);
    int32_t sum = 0;
    for (int i = 0; i < 160; ++i) {
      x[i] = i * i % 17 - 5;
      expected[i] = sum += x[i];
    }
    runtime::Tensor tensors[] = {tensorOf(x, DType::I32), tensorOf(y, DType::I32),
                                 tensorOf(sums, DType::I32), tensorOf(prefixes, DType::I32),
                                 tensorOf(flags, DType::I32)};
    runWith(kernel, {&tensors[0], &tensors[1], &tensors[2], &tensors[3], &tensors[4]}, 20, options);
    EXPECT_EQ(y, expected);
  }
}

TEST(Concurrency, theLastBlockFinishes) {
  Emitted kernel = emitBody("partial, counter, out, BLOCK: tl.constexpr",
                            "pid = tl.program_id(0)\n"
                            "tl.store(partial + pid, pid * pid)\n"
                            "done = tl.atomic_add(counter, 1, sem='acq_rel')\n"
                            "if done == tl.num_programs(0) - 1:\n"
                            "    i = tl.arange(0, BLOCK)\n"
                            "    p = tl.load(partial + i, mask=i < tl.num_programs(0), other=0)\n"
                            "    tl.store(out, tl.sum(p, axis=0))\n",
                            "*i32, *i32, *i32, 32");
  for (const InterpretOptions &options : schedules()) {
    std::vector<int32_t> partial(32), counter(1), out(1);
    runtime::Tensor p = tensorOf(partial, DType::I32), c = tensorOf(counter, DType::I32),
                    o = tensorOf(out, DType::I32);
    runWith(kernel, {&p, &c, &o}, 21, options);
    EXPECT_EQ(out[0], 2870); // the squares up to 20
  }
}

TEST(Concurrency, waitingForAHigherId) {
  Emitted kernel = emitBody("flags",
                            "pid = tl.program_id(0)\n"
                            "if pid + 1 < tl.num_programs(0):\n"
                            "    while tl.load(flags + pid + 1, volatile=True) == 0:\n"
                            "        pass\n"
                            "    tl.store(flags + pid, tl.load(flags + pid + 1) + 1)\n"
                            "else:\n"
                            "    tl.store(flags + pid, 1)\n",
                            "*i32");
  for (const InterpretOptions &options : schedules()) {
    std::vector<int32_t> flags(9);
    runtime::Tensor f = tensorOf(flags, DType::I32);
    runWith(kernel, {&f}, 9, options);
    EXPECT_EQ(flags, (std::vector<int32_t>{9, 8, 7, 6, 5, 4, 3, 2, 1}));
  }
}

TEST(Concurrency, aDeadlockNamesTheLine) {
  Emitted kernel = emitBody("lock",
                            "while tl.atomic_cas(lock, 0, 1) == 1:\n"
                            "    pass\n",
                            "*i32");
  ASSERT_TRUE(kernel.module);
  std::vector<int32_t> lock(1);
  runtime::Tensor l = tensorOf(lock, DType::I32);
  Diagnostics diags;
  const std::vector<runtime::ArgumentValue> arguments{&l};
  EXPECT_FALSE(interpret(*kernel.module, {3, 1, 1}, arguments, diags));
  ASSERT_EQ(diags.all().size(), 1u);
  EXPECT_EQ(diags.all()[0].code, "E0413");
  EXPECT_EQ(diags.all()[0].range.line, 6);
  EXPECT_NE(diags.render().find("programs (1, 0, 0), (2, 0, 0) wait in the loop at kernel.py:6"),
            std::string::npos)
      << diags.render();
}

} // namespace
} // namespace nereid::language
