// SPDX-License-Identifier: Apache-2.0
// The shape of what is emitted: function, attributes, locations; the shipped kernels as a whole.
#include "EmitTest.h"

#include <fstream>
#include <sstream>

namespace nereid::language {
namespace {

const char *const vectorAdd = R"py(
import triton
import triton.language as tl

@triton.jit
def vector_add(x, y, out, n, BLOCK: tl.constexpr):
    """Adds."""
    pid = tl.program_id(0)
    offsets = pid * BLOCK + tl.arange(0, BLOCK)
    mask = offsets < n
    tl.store(out + offsets, tl.load(x + offsets, mask=mask) + tl.load(y + offsets, mask), mask)
)py";

TEST(Basic, vectorAddHasOneKernelFunction) {
  Emitted result = emitSource(vectorAdd, "*fp32:16, *fp32:16, *fp32, i32:16, 128");
  ASSERT_TRUE(result.module) << result.diags.render();
  EXPECT_TRUE(result.has("func.func @vector_add(%arg0: !tile.ptr<f32> {tile.divisibility = 16 : "
                         "i64}"));
  EXPECT_TRUE(result.has("%arg3: i32 {tile.divisibility = 16 : i64}"));
  EXPECT_TRUE(result.has("tile.kernel"));
  EXPECT_TRUE(result.has("{divisibility = 1 : i64, dtype = \"fp32\", kind = \"pointer\", name = "
                         "\"out\"}"))
      << result.text;
  EXPECT_TRUE(result.has("{divisibility = 16 : i64, dtype = \"i32\", kind = \"integer\", name = "
                         "\"n\"}"));
  EXPECT_TRUE(result.has("tile.make_range 0 to 128"));
  EXPECT_TRUE(result.has("arith.cmpi slt"));
  EXPECT_TRUE(result.has("arith.addf"));
}

TEST(Basic, vectorAddComputes) {
  Emitted result = emitSource(vectorAdd, "*fp32, *fp32, *fp32, i32, 16");
  std::vector<float> x(37), y(37), out(37, -1.0f);
  for (size_t i = 0; i < x.size(); ++i) {
    x[i] = static_cast<float>(i);
    y[i] = 100.0f - 3.0f * static_cast<float>(i);
  }
  runtime::Tensor a = tensorOf(x, DType::F32), b = tensorOf(y, DType::F32),
                  c = tensorOf(out, DType::F32);
  ASSERT_TRUE(runKernel(result, {&a, &b, &c, int64_t(37)}, 3));
  for (size_t i = 0; i < out.size(); ++i) {
    EXPECT_EQ(out[i], x[i] + y[i]);
  }
}

TEST(Basic, operationsCarryLineAndColumn) {
  Emitted result = emitSource(vectorAdd, "*fp32, *fp32, *fp32, i32, 128", true);
  EXPECT_TRUE(result.has("\"kernel.py\":8:11")) << result.text;
}

TEST(Basic, inlinedHelpersCarryTheirCaller) {
  Emitted result = emitSource(R"py(
import triton
import triton.language as tl
@triton.jit
def twice(x):
    return x + x
@triton.jit
def kernel(p):
    tl.store(p, twice(tl.load(p)))
)py",
                              "*fp32", true);
  EXPECT_TRUE(result.has("callsite(")) << result.text;
  EXPECT_TRUE(result.has("\"kernel.py\":6:12"));
  EXPECT_TRUE(result.has("\"kernel.py\":9:17"));
}

struct ShippedKernel {
  const char *file, *signature;
};

class Shipped : public testing::TestWithParam<ShippedKernel> {};

TEST_P(Shipped, emits) {
  std::ifstream stream(std::string(NEREID_SOURCE_DIR) + "/kernels/" + GetParam().file);
  std::stringstream text;
  text << stream.rdbuf();
  ASSERT_FALSE(text.str().empty()) << GetParam().file;
  Emitted result = emitSource(text.str(), GetParam().signature);
  EXPECT_TRUE(result.module) << result.diags.render();
}

INSTANTIATE_TEST_SUITE_P(
    Kernels, Shipped,
    testing::Values(ShippedKernel{"vector_add/vector_add.py", "*fp32, *fp32, *fp32, i32, 1024"},
                    ShippedKernel{"relu/relu.py", "*fp16, *fp16, i32, 1024"},
                    ShippedKernel{"gelu/gelu.py", "*bf16, *bf16, i32, False, 1024"},
                    ShippedKernel{"gelu/gelu.py", "*fp32, *fp32, i32, True, 1024"},
                    ShippedKernel{"layer_norm/layer_norm.py",
                                  "*fp16, *fp16, *fp16, *fp16, i32, i32, fp32, 1024"},
                    ShippedKernel{"matmul/matmul_v0.py",
                                  "*fp16, *fp16, *fp32, i32, i32, i32, i32, i32, i32, i32, i32, "
                                  "i32, 64"},
                    ShippedKernel{"matmul/matmul_v1.py",
                                  "*fp16, *fp16, *fp32, i32, i32, i32, i32, i32, i32, i32, i32, "
                                  "i32, 64, 64, 32"}));

} // namespace
} // namespace nereid::language
