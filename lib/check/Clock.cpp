// SPDX-License-Identifier: Apache-2.0
// The shared trie behind a vector clock.
#include "lib/check/Clock.h"

#include <algorithm>

namespace nereid::check {

uint32_t Clock::of(uint32_t program) const {
  const Node *node = root.get();
  for (unsigned shift = topShift; node != nullptr; shift -= fanoutBits) {
    const unsigned digit = (program >> shift) % fanout;
    if (shift == 0) {
      return node->times[digit];
    }
    node = node->children[digit].get();
  }
  return 0;
}

Clock::Link Clock::with(const Link &node, unsigned shift, uint32_t program, uint32_t time) {
  auto copy = node ? std::make_shared<Node>(*node) : std::make_shared<Node>();
  const unsigned digit = (program >> shift) % fanout;
  if (shift == 0) {
    copy->times[digit] = time;
  } else {
    copy->children[digit] = with(copy->children[digit], shift - fanoutBits, program, time);
  }
  return copy;
}

void Clock::set(uint32_t program, uint32_t time) {
  if (of(program) != time) {
    root = with(root, topShift, program, time);
  }
}

/// One of the two themselves wherever it covers the other, so that they go on sharing.
Clock::Link Clock::joined(const Link &a, const Link &b, unsigned shift) {
  if (a == b || !b) {
    return a;
  }
  if (!a) {
    return b;
  }
  Node both;
  bool isA = true, isB = true;
  for (unsigned i = 0; i < fanout; ++i) {
    if (shift == 0) {
      both.times[i] = std::max(a->times[i], b->times[i]);
      isA = isA && both.times[i] == a->times[i];
      isB = isB && both.times[i] == b->times[i];
    } else {
      both.children[i] = joined(a->children[i], b->children[i], shift - fanoutBits);
      isA = isA && both.children[i] == a->children[i];
      isB = isB && both.children[i] == b->children[i];
    }
  }
  return isA ? a : isB ? b : std::make_shared<Node>(std::move(both));
}

void Clock::join(const Clock &other) { root = joined(root, other.root, topShift); }

} // namespace nereid::check
