// SPDX-License-Identifier: Apache-2.0
#include "runtime/aot/Message.h"

#include <gtest/gtest.h>

#include <climits>
#include <cstring>

namespace nereid::aot {
namespace {

TEST(AotMessage, Numbers) {
  char text[128];
  nereid_aot_options options = {};
  options.message = text;
  options.message_bytes = sizeof text;
  Message(&options) << "a " << int64_t{0} << " " << int64_t{-17} << " " << INT64_MIN;
  EXPECT_STREQ(text, "a 0 -17 -9223372036854775808");
  Message(&options).hex(0).hex(0xdeadbeef12345678);
  EXPECT_STREQ(text, "0x00xdeadbeef12345678");
}

TEST(AotMessage, CutOff) {
  char text[8];
  std::memset(text, 'x', sizeof text);
  nereid_aot_options options = {};
  options.message = text;
  options.message_bytes = 4;
  Message(&options) << "abcdef";
  EXPECT_STREQ(text, "abc");
  EXPECT_EQ(text[4], 'x');
  options.message_bytes = 0;
  Message(&options) << "new";
  EXPECT_STREQ(text, "abc");
  Message(nullptr) << "nothing" << int64_t{1};
}

TEST(AotMessage, EveryStatusHasAText) {
  for (int status = NEREID_AOT_OK; status <= NEREID_AOT_ERROR_VERSION; ++status) {
    EXPECT_STRNE(nereid_aot_status_text(status), "an unknown status");
  }
  EXPECT_STREQ(nereid_aot_status_text(99), "an unknown status");
}

} // namespace
} // namespace nereid::aot
