// SPDX-License-Identifier: Apache-2.0
// Every size of the lowering that follows from a chip, as a formula of its descriptor, one row
// each. Beside each stands what it is where no chip is described (48 KiB, 1 MiB and 32 MiB of
// caches): what was measured best on a server core with these caches. Formulas are of sizes, never
// of rates: rates are measured, so that code made of them would differ from day to day.
//
// Constants of other files stay where they are: they are ratios of costs of instructions
// (leastArithmetic, smallProduct, leastReducedBlock, FusionPlan's), limits of patterns (maxRank) or
// layouts that the runtime knows (overhangAddresses), none of which a descriptor says anything of.
// Those of runtime/ and eager/ follow no descriptor either: what is linked into programs runs on
// any machine, and pieces of another size would round the baseline's sums in another way.
#pragma once

#include "lib/machine/Machine.h"

#include <algorithm>
#include <bit>
#include <cstdint>

namespace nereid::cpu::sizes {

/// The descriptor's entry of a cache level, 1 to 3; of a chip with fewer levels the last one.
inline CacheLevel levelOf(const Machine &machine, int level) {
  const auto &caches = machine.caches;
  return caches.empty() ? levelOf(genericMachine(), level)
                        : caches[std::min(static_cast<size_t>(level), caches.size()) - 1];
}

/// Whatever a descriptor says, the formulas see a size that makes a block of some vectors at least,
/// and one that 32 bits of a loop can count.
inline int64_t usableBytes(int64_t bytes) {
  return std::clamp<int64_t>(bytes, 4 << 10, int64_t{1} << 30);
}

/// What one core has of a level, of which others may have the rest.
inline int64_t bytesOfCore(const Machine &machine, int level) {
  const CacheLevel cache = levelOf(machine, level);
  return usableBytes(cache.bytes / std::max(cache.sharedBy, 1));
}

inline int64_t powerOfTwo(int64_t bytes) {
  return static_cast<int64_t>(std::bit_floor(static_cast<uint64_t>(bytes)));
}

// ---- first level, 48 KiB ----

/// 32 KiB. A panel of b may fill two thirds, while rows of a and c pass through the rest; a power
/// of two, as the depth of panels is.
inline int64_t panelBytes(const Machine &machine) {
  return powerOfTwo(bytesOfCore(machine, 1) * 2 / 3);
}

/// 48 KiB. Of a b larger than the first level every row of blocks brings the panel in from the
/// second level again: one of half the width is half as much for each step of the k loop.
inline int64_t cachedProductBytes(const Machine &machine) { return bytesOfCore(machine, 1); }

/// 16 KiB. Of a row that the first level has room for beside the next one and what is written. With
/// a lead, cross entropy of 8192 columns of float32 is slower by 7 %, of 65536 by 10 %.
inline int64_t mostNearBytes(const Machine &machine) { return bytesOfCore(machine, 1) / 3; }

/// 8192. Elements of a row that is short: of float32 it fills two thirds.
inline int64_t mostShortRow(const Machine &machine) { return bytesOfCore(machine, 1) / 6; }

// ---- second level, 1 MiB ----

/// 1.5 MiB. Larger than the second level: packed rows that lie one behind the other come from the
/// third level faster than rows of b. At most 2 MiB: tiles need scratch memory, too.
inline int64_t panelCacheBytes(const Machine &machine) {
  return std::min<int64_t>(bytesOfCore(machine, 2) * 3 / 2, 2 << 20);
}

/// 16 KiB. Rows that are a multiple of this apart fall into four times the ways' number of lines (a
/// level of 16 ways has 64 KiB in each): a tile's rows do not stay there. A power of two.
inline int64_t collidingBytes(const Machine &machine) {
  return powerOfTwo(bytesOfCore(machine, 2) / 64);
}

/// 256 KiB. Of a row walked in blocks. Longer ones have left the second level before they are read,
/// as what is computed and written passes through it too.
inline int64_t longestRowBytes(const Machine &machine) { return bytesOfCore(machine, 2) / 4; }

// ---- third level, 32 MiB ----

/// 32 MiB. A launch that writes so much to one tensor bypasses the caches also without `.cs`: the
/// last level, which all cores write to, does not have it any more when it is read.
inline int64_t nonTemporalFromBytes(const Machine &machine) {
  return usableBytes(levelOf(machine, 3).bytes);
}

// ---- vector registers, 32 ----

/// 12. Vectors that a loop may carry from one iteration to the next; more would be kept in memory,
/// as the iteration itself needs the rest.
inline size_t mostCarried(const Machine &machine) {
  return static_cast<size_t>(machine.vectorRegisters) * 3 / 8;
}

/// 36. Vectors alive at once, constants among them. A few more than there are registers: constants
/// can be read from memory.
inline size_t mostAlive(const Machine &machine) {
  return static_cast<size_t>(machine.vectorRegisters) + 4;
}

// ---- no chip changes these ----

/// Every CPU that there is a target for has processors with lines of 64 bytes; longer ones make a
/// prefetch redundant, never wrong.
constexpr int64_t lineBytes = 64;
/// What is read meanwhile should last longer than memory takes: 8 KiB at 40 GB/s are 200 ns. As
/// many lines as the queues of cache misses of today's cores hold some times; a rate, so that it is
/// not taken from a descriptor.
constexpr int64_t leastDistanceBytes = 8192;
/// A page. Prefetches are ahead of the same place in the next row: its end, prefetched last, is
/// read soon after, by a loop that does little else. Cross entropy 8192x4096 bfloat16: 0.60 of a
/// copy without, 0.71 to 0.73 with 4 to 8 KiB.
constexpr int64_t leadBytes = 4096;
/// A page, where hardware prefetchers end. GELU with tanh, 16 million float32: 76 % of a copy
/// without, 80 with 1024, 81 with 4096 and 83 with 8192 bytes, of which more lie beyond a range's
/// end.
constexpr int32_t aheadBytes = 4096;

} // namespace nereid::cpu::sizes
