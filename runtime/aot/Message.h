// SPDX-License-Identifier: Apache-2.0
// Text of an error, written into the buffer that the caller of a launch gave; cut off at its end.
// Without a buffer nothing is written.
#pragma once

#include "nereid/aot.h"

#include <cstdint>

namespace nereid::aot {

class Message {
public:
  explicit Message(const nereid_aot_options *options);

  Message &operator<<(const char *text);
  Message &operator<<(int64_t value);
  Message &hex(uint64_t value);

private:
  void put(char character);

  char *next = nullptr, *last = nullptr; ///< last: of the buffer, for the terminating zero
};

} // namespace nereid::aot
