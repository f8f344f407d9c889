// SPDX-License-Identifier: Apache-2.0
// Tensor descriptors in signatures: reading, canonical text, what is malformed.
#include "lib/language/signature/Signature.h"
#include "lib/language/syntax/Parser.h"

#include <gtest/gtest.h>

using namespace nereid;
using namespace nereid::language;

namespace {

Result<Signature> match(std::string_view text) {
  Diagnostics diags;
  static const std::optional<SourceModule> module =
      parseModule("k.py", "@triton.jit\ndef k(d, n): pass\n", diags);
  return parseSignature(text, *module->find("k"));
}

TEST(DescriptorTypes, ElementBlockAndAlignment) {
  Result<Signature> signature = match("tensordesc< fp16 [128, 64] >:16, i32");
  ASSERT_TRUE(signature) << signature.error().message;
  const ParamType &param = signature->params[0];
  EXPECT_EQ(param.kind, ParamType::Kind::Descriptor);
  EXPECT_EQ(param.dtype, DType::F16);
  EXPECT_EQ(param.blockShape, (std::vector<int64_t>{128, 64}));
  EXPECT_EQ(param.divisibility, 16);
  EXPECT_EQ(signature->text(), "d=tensordesc<fp16[128,64]>:16,n=i32");
  EXPECT_EQ(match(signature->text())->text(), signature->text());
  Result<Signature> padded = match("tensordesc<fp16[8], nan>, 4");
  ASSERT_TRUE(padded) << render(padded.error());
  EXPECT_TRUE(padded->params[0].padsWithNan);
  EXPECT_EQ(padded->text(), "d=tensordesc<fp16[8],nan>,n=4");
  EXPECT_EQ(match("n=4,d=tensordesc<fp8e5[8]>")->text(), "d=tensordesc<fp8e5[8]>,n=4");
}

TEST(DescriptorTypes, WhatIsMalformed) {
  for (const char *text :
       {"tensordesc", "tensordesc<fp16>", "tensordesc<fp16[>", "tensordesc<fp16[8]",
        "tensordesc[8]", "tensordesc<fp16[]>", "tensordesc<fp16[8,]>", "tensordesc<fp16[3]>",
        "tensordesc<fp16[-8]>", "tensordesc<fp17[8]>", "tensordesc<fp16[8x8]>",
        "tensordesc<fp16[8],zero>", "tensordesc<i32[8],nan>", "tensordesc<fp8e4b15[16],nan>",
        "tensordesc<fp16[9999999999999999999]>", "tensordesc<fp16[8]>:3"}) {
    Result<Signature> signature = match(std::string(text) + ", i32");
    ASSERT_FALSE(signature) << text;
    EXPECT_EQ(signature.error().code, "E0207") << text;
  }
}

} // namespace
