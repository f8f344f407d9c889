// SPDX-License-Identifier: Apache-2.0
#include "runtime/aot/Message.h"

namespace nereid::aot {

Message::Message(const nereid_aot_options *options) {
  if (options && options->message && options->message_bytes > 0) {
    next = options->message;
    last = next + options->message_bytes - 1;
    *next = '\0';
  }
}

void Message::put(char character) {
  if (next && next != last) {
    *next++ = character;
    *next = '\0';
  }
}

Message &Message::operator<<(const char *text) {
  for (; *text; ++text) {
    put(*text);
  }
  return *this;
}

Message &Message::operator<<(int64_t value) {
  char digits[20];
  int count = 0;
  auto left = static_cast<uint64_t>(value);
  if (value < 0) {
    put('-');
    left = 0 - left;
  }
  do {
    digits[count++] = static_cast<char>('0' + left % 10);
    left /= 10;
  } while (left != 0);
  while (count > 0) {
    put(digits[--count]);
  }
  return *this;
}

Message &Message::hex(uint64_t value) {
  *this << "0x";
  int shift = 60;
  while (shift > 0 && value >> shift == 0) {
    shift -= 4;
  }
  for (; shift >= 0; shift -= 4) {
    put("0123456789abcdef"[value >> shift & 15]);
  }
  return *this;
}

} // namespace nereid::aot

const char *nereid_aot_status_text(int status) {
  switch (status) {
  case NEREID_AOT_OK:
    return "done";
  case NEREID_AOT_ERROR_NULL:
    return "a tensor's address is NULL";
  case NEREID_AOT_ERROR_ALIGNMENT:
    return "an address is not divisible by what the signature promises";
  case NEREID_AOT_ERROR_DIVISIBILITY:
    return "an integer is not divisible by what the signature promises";
  case NEREID_AOT_ERROR_SPECIALIZATION:
    return "the arguments fit none of the kernel's specializations";
  case NEREID_AOT_ERROR_GRID:
    return "the grid cannot be launched";
  case NEREID_AOT_ERROR_CPU:
    return "the kernel was compiled for instruction sets that this machine lacks";
  case NEREID_AOT_ERROR_MEMORY:
    return "there is no memory for a kernel's scratch space";
  case NEREID_AOT_ERROR_ASSERTION:
    return "a device assertion failed";
  case NEREID_AOT_ERROR_DEADLOCK:
    return "programs wait for each other and none can get on";
  case NEREID_AOT_ERROR_POOL:
    return "the thread pool did not run every task";
  case NEREID_AOT_ERROR_VERSION:
    return "the kernel and the runtime are of different versions of Nereid";
  case NEREID_AOT_ERROR_DRIVER:
    return "the device's driver is missing, does not start or is too old";
  case NEREID_AOT_ERROR_DEVICE:
    return "the device has no code of the kernel, refuses a call or is lost";
  }
  return "an unknown status";
}
