// SPDX-License-Identifier: Apache-2.0
// Wrong kernels are refused or compiled, never a crash, and what is compiled passes the verifier:
// valid kernels with random pieces replaced by others. The seed of a failure is printed.
#include "EmitTest.h"

#include <random>

namespace nereid::language {
namespace {

const std::vector<std::string> pieces = {"x",
                                         "n",
                                         "i",
                                         "BLOCK",
                                         "tl.arange(0, BLOCK)",
                                         "None",
                                         "1",
                                         "2.5",
                                         "-3",
                                         "tl.float32",
                                         "tl.int8",
                                         "acc",
                                         "mask",
                                         "x + i",
                                         "(1, 2)",
                                         "tl",
                                         "'text'",
                                         "tl.load(x)",
                                         "tl.zeros((4, 4), tl.float16)",
                                         "True",
                                         "tl.sum",
                                         "range",
                                         "acc[:, None]",
                                         "tl.exp(acc)",
                                         "i[None, :]",
                                         "undefined",
                                         "n // 0",
                                         "x.dtype",
                                         "tl.max(acc, 0)",
                                         "acc.shape",
                                         "tl.program_id(0)",
                                         "[i, n]",
                                         "0"};

/// `#` marks what is replaced.
const std::vector<std::string> kernels = {
    "i = #tl.program_id(0)# * #BLOCK# + #tl.arange(0, BLOCK)#\nmask = #i# < #n#\n"
    "acc = tl.load(#x + i#, mask=#mask#, other=#0.0#)\n"
    "tl.store(#x# + i, tl.where(#mask#, #acc#, #1.0#) + #acc#, #mask#)",
    "i = tl.arange(0, #BLOCK#)\nacc = tl.zeros((#BLOCK#,), #tl.float32#)\nmask = i < n\n"
    "for k in range(#0#, #n#, #BLOCK#):\n    acc += tl.load(#x + i + k#, mask=#i + k < n#, "
    "other=#0#)\n"
    "    if #k# > #3#:\n        acc = #acc * 2#\n"
    "s = tl.sum(#acc#, axis=#0#)\nif #s# > #0#:\n    tl.store(#x#, #s#)\n    return\n"
    "tl.store(#x + 1#, #s#)",
    "i = tl.arange(0, BLOCK)\nacc = #0#\nmask = i < n\nwhile #acc < n#:\n    acc = #acc + 1#\n"
    "a = tl.zeros((16, #BLOCK#), #tl.float16#)\nb = tl.trans(#a#)\n"
    "d = tl.dot(#a#, #b#, #None#)\nv, k = tl.max(#d#, axis=#1#, return_indices=#True#)\n"
    "for j in tl.static_range(#3#):\n    v = #v# + #j#\n"
    "tl.store(x + #tl.arange(0, 16)#, #v if n > 0 else v * 2#)"};

std::string mutate(const std::string &text, std::mt19937 &random) {
  std::string result;
  bool isOpen = false;
  std::string original;
  for (char each : text) {
    if (each != '#') {
      (isOpen ? original : result) += each;
    } else if (!isOpen) {
      isOpen = true;
      original.clear();
    } else {
      isOpen = false;
      result += random() % 6 == 0 ? pieces[random() % pieces.size()] : original;
    }
  }
  return result;
}

TEST(Robustness, mutatedKernelsNeverCrash) {
  int compiled = 0;
  for (unsigned seed = 0; seed < 3000; ++seed) {
    SCOPED_TRACE("seed " + std::to_string(seed));
    std::mt19937 random(seed);
    std::string body = mutate(kernels[seed % kernels.size()], random);
    Emitted result = emitSource(kernelFile("x, n, BLOCK: tl.constexpr", body), "*fp32, i32, 16");
    compiled += result.module ? 1 : 0;
    if (HasFailure()) {
      ADD_FAILURE() << body;
      break;
    }
  }
  EXPECT_GT(compiled, 100);
  EXPECT_LT(compiled, 2900);
}

} // namespace
} // namespace nereid::language
