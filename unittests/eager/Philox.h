// SPDX-License-Identifier: Apache-2.0
// Philox4x32-10 as its authors describe it, for comparing.
#pragma once

#include <array>
#include <cstdint>

namespace nereid::eager {

using Words = std::array<uint32_t, 4>;

inline Words philox(uint64_t key, uint64_t counter, uint32_t offset = 0, uint32_t block = 0) {
  Words x = {uint32_t(counter), uint32_t(counter >> 32), offset, block};
  auto k0 = uint32_t(key), k1 = uint32_t(key >> 32);
  for (int round = 0; round < 10; ++round) {
    const uint64_t a = uint64_t(0xD2511F53) * x[0], b = uint64_t(0xCD9E8D57) * x[2];
    x = {uint32_t(b >> 32) ^ x[1] ^ k0, uint32_t(b), uint32_t(a >> 32) ^ x[3] ^ k1, uint32_t(a)};
    k0 += 0x9E3779B9;
    k1 += 0xBB67AE85;
  }
  return x;
}

} // namespace nereid::eager
