// SPDX-License-Identifier: Apache-2.0
// Which expressions are the call of one operation.
#include "lib/bench/measurement/PeerCall.h"

#include <gtest/gtest.h>

namespace nereid::bench {
namespace {

TEST(PeerCall, OneOperationWithTensorsAndNumbers) {
  auto call = parsePeerCall("torch.softmax(x, dim=-1)");
  ASSERT_TRUE(call);
  EXPECT_EQ(call->operation, "softmax");
  EXPECT_EQ(call->inputs, std::vector<std::string>{"x"});
  EXPECT_EQ(call->attributes.at("dim"), -1);
  call = parsePeerCall("layer_norm(x, [8], weight=w, bias=b, eps=1e-5)");
  ASSERT_TRUE(call);
  EXPECT_EQ(call->inputs, (std::vector<std::string>{"x", "w", "b"}));
  EXPECT_EQ(call->attributes.at("eps"), 1e-5);
  call = parsePeerCall("a @ b");
  ASSERT_TRUE(call);
  EXPECT_EQ(call->operation, "matmul");
  EXPECT_EQ(call->inputs, (std::vector<std::string>{"a", "b"}));
}

TEST(PeerCall, NothingElse) {
  for (const char *text : {"x + 1", "relu(x + 1)", "relu(x) * 2", "f(x, dim='a')", "x", "f("}) {
    EXPECT_FALSE(parsePeerCall(text)) << text;
  }
}

} // namespace
} // namespace nereid::bench
