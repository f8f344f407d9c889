// SPDX-License-Identifier: Apache-2.0
// Loads and stores: masks, replacement values, strides, gathers, scalars.
#include "test/language/Case.h"

namespace nereid::conformance {
namespace {

const std::vector<DType> stored = numbers + std::vector<DType>{DType::Bool};

Case loadCase(const std::string &title, const std::string &body) {
  Case one;
  one.builtin = "tl.load";
  one.title = title;
  one.types = stored;
  one.source = "@triton.jit\ndef kernel(A, OUT, n, BLOCK: tl.constexpr):\n"
               "    i = tl.arange(0, BLOCK)\n" +
               body;
  one.constants = "BLOCK=64";
  one.integers = {{"n", 37}};
  one.tensors = {{"A", 128, Fill::Normal}, {"OUT", 64, Fill::Poison}};
  return one;
}

} // namespace

void addMemory(Cases &cases) {
  Case one = loadCase("other", "    tl.store(OUT + i, tl.load(A + i, mask=i < n, other=1))\n");
  one.tensors[0].count = 37;
  one.reference = [](Run &run) {
    for (int64_t i = 0; i < 64; ++i) {
      run.expect("OUT", i, i < 37 ? run.in("A")[static_cast<size_t>(i)] : 1);
    }
  };
  cases.push_back(one);

  one = loadCase("strided", "    tl.store(OUT + i, tl.load(A + 2 * i))\n");
  one.reference = [](Run &run) {
    for (int64_t i = 0; i < 64; ++i) {
      run.expect("OUT", i, run.in("A")[static_cast<size_t>(2 * i)]);
    }
  };
  cases.push_back(one);

  one = loadCase("backwards", "    tl.store(OUT + i, tl.load(A + n - i, mask=i <= n, other=0))\n");
  one.reference = [](Run &run) {
    for (int64_t i = 0; i < 64; ++i) {
      run.expect("OUT", i, i <= 37 ? run.in("A")[static_cast<size_t>(37 - i)] : 0);
    }
  };
  cases.push_back(one);

  one = loadCase("gathered", "    at = (i * 29) % n\n    tl.store(OUT + i, tl.load(A + at))\n");
  one.reference = [](Run &run) {
    for (int64_t i = 0; i < 64; ++i) {
      run.expect("OUT", i, run.in("A")[static_cast<size_t>(i * 29 % 37)]);
    }
  };
  cases.push_back(one);

  one = loadCase("scalar", "    tl.store(OUT + n, tl.load(A + n))\n");
  one.reference = [](Run &run) { run.expect("OUT", 37, run.in("A")[37]); };
  cases.push_back(one);

  one = loadCase("hints", "    tl.store(OUT + i, tl.load(A + i, cache_modifier='.cg', "
                          "eviction_policy='evict_last', volatile=True))\n");
  one.reference = [](Run &run) {
    for (int64_t i = 0; i < 64; ++i) {
      run.expect("OUT", i, run.in("A")[static_cast<size_t>(i)]);
    }
  };
  cases.push_back(one);

  one = loadCase(
      "masked",
      "    odd = (i % 2 == 1) & (i < n)\n    tl.store(OUT + i, tl.load(A + i), mask=odd)\n");
  one.builtin = "tl.store";
  one.reference = [](Run &run) {
    for (int64_t i = 1; i < 37; i += 2) {
      run.expect("OUT", i, run.in("A")[static_cast<size_t>(i)]);
    }
  };
  cases.push_back(one);

  one = loadCase("scattered", "    tl.store(OUT + (i * 29) % BLOCK, tl.load(A + i))\n");
  one.builtin = "tl.store";
  one.reference = [](Run &run) {
    for (int64_t i = 0; i < 64; ++i) {
      run.expect("OUT", i * 29 % 64, run.in("A")[static_cast<size_t>(i)]);
    }
  };
  cases.push_back(one);

  one = loadCase("streaming", "    tl.store(OUT + i, tl.load(A + i), cache_modifier='.cs')\n");
  one.builtin = "tl.store";
  one.reference = [](Run &run) {
    for (int64_t i = 0; i < 64; ++i) {
      run.expect("OUT", i, run.in("A")[static_cast<size_t>(i)]);
    }
  };
  cases.push_back(one);
}

} // namespace nereid::conformance
