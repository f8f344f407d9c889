// SPDX-License-Identifier: Apache-2.0
// A vector clock: how far into each program instance somebody has seen. Nearly all entries are 0
// and most clocks differ from another one in a single entry, so a clock is a trie whose nodes are
// shared and never change: copying is free, changing an entry copies one path, and joining skips
// every part the two have in common. A counter that a million programs increase stays cheap.
#pragma once

#include <array>
#include <cstdint>
#include <memory>

namespace nereid::check {

class Clock {
public:
  /// 0 for a program nothing is known about.
  uint32_t of(uint32_t program) const;
  void set(uint32_t program, uint32_t time);
  /// The larger time for every program.
  void join(const Clock &other);

private:
  static constexpr unsigned fanoutBits = 4;
  static constexpr unsigned fanout = 1u << fanoutBits;
  static constexpr unsigned topShift = 32 - fanoutBits;

  struct Node;
  using Link = std::shared_ptr<const Node>;
  struct Node {
    std::array<Link, fanout> children{};  ///< of inner nodes
    std::array<uint32_t, fanout> times{}; ///< of leaves
  };

  static Link with(const Link &node, unsigned shift, uint32_t program, uint32_t time);
  static Link joined(const Link &a, const Link &b, unsigned shift);

  Link root;
};

} // namespace nereid::check
