// SPDX-License-Identifier: Apache-2.0
// Wave quantisation: processors that run so many programs at a time work through a grid in waves,
// and the last one may leave most of them idle.
//   264 places, 300 programs: one whole wave and a tail of 36, in the time of two: 57 % of them
//   used
#pragma once

#include <cstdint>

namespace nereid::bench {

struct Waves {
  int64_t programs = 0; ///< of the grid
  int64_t places = 0;   ///< for programs at a time, in all processors; > 0

  int64_t whole() const { return programs / places; }
  int64_t tail() const { return programs % places; }
  double count() const { return static_cast<double>(programs) / static_cast<double>(places); }
  /// Of the places over all waves, how many have a program, were all programs equally long.
  double used() const {
    const int64_t waves = whole() + (tail() > 0 ? 1 : 0);
    return waves == 0 ? 0 : count() / static_cast<double>(waves);
  }
  /// The nearest numbers of programs without a tail; of the smaller one 0 = there is none.
  int64_t without() const { return whole() * places; }
  int64_t filled() const { return (whole() + (tail() > 0 ? 1 : 0)) * places; }
};

} // namespace nereid::bench
