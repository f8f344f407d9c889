// SPDX-License-Identifier: Apache-2.0
#include "nereid/nereid.h"

#include <gtest/gtest.h>

extern "C" int nereid_test_call_in_c(void);

TEST(OperatorCalls, FromC) { EXPECT_EQ(nereid_test_call_in_c(), 0) << nereid_last_error(); }
