// SPDX-License-Identifier: Apache-2.0
// Ranges of sizes in signatures: what is read, how it is written again, what is refused and where.
#include "lib/language/signature/Signature.h"
#include "lib/language/syntax/Parser.h"

#include <gtest/gtest.h>

using namespace nereid;
using namespace nereid::language;

namespace {

Result<Signature> match(std::string_view text) {
  Diagnostics diags;
  static auto module = parseModule("k.py", "@triton.jit\ndef k(x, n):\n    pass\n", diags);
  return parseSignature(text, *module->find("k"));
}

std::string canonical(std::string_view text) {
  Result<Signature> signature = match(text);
  return signature ? signature->text() : signature.error().code;
}

TEST(SizeRanges, AreReadAndWrittenAgain) {
  EXPECT_EQ(canonical("*fp32, i32{1..4096}"), "x=*fp32,n=i32{1..4096}");
  EXPECT_EQ(canonical("*fp32:16, n = i32 : 16 { 1 .. 4096 }"), "x=*fp32:16,n=i32:16{1..4096}");
  EXPECT_EQ(canonical("*fp32, i64{..-1}"), "x=*fp32,n=i64{..-1}");
  EXPECT_EQ(canonical("*fp32, u8{255..}"), "x=*fp32,n=u8{255..}");
  EXPECT_EQ(canonical(canonical("*fp32, i16:8{5..5}")), "x=*fp32,n=i16:8{5..5}");
  EXPECT_EQ(canonical("*fp32, i64{-9223372036854775808..9223372036854775807}"),
            "x=*fp32,n=i64{-9223372036854775808..9223372036854775807}");
  Result<Signature> signature = match("*fp32, i32:4{3..}");
  ASSERT_TRUE(signature);
  EXPECT_EQ(signature->params[1].range, (SizeRange{3, std::nullopt}));
  EXPECT_EQ(signature->params[1].divisibility, 4);
  EXPECT_EQ(signature->withoutRanges().text(), "x=*fp32,n=i32:4");
}

TEST(SizeRanges, WithoutValuesOrBeyondTheTypeAreRefused) {
  for (const char *text :
       {"i32{}", "i32{..}", "i32{4096}", "i32{1...2}", "i32{a..b}", "i32{1..2,3}", "i32{5..4}",
        "i32{0..2147483648}", "i8{-129..}", "u8{-1..}", "u8{..256}", "u64{1..2}", "fp32{1..2}",
        "i1{0..1}", "*fp32{1..2}", "i32{1..99999999999999999999}"}) {
    Result<Signature> signature = match(std::string("x=*fp32, n=") + text);
    ASSERT_FALSE(signature) << text;
    EXPECT_TRUE(signature.error().code == "E0026" ||
                (std::string(text) == "i32{1..2,3}" && signature.error().code != ""))
        << text << " " << signature.error().code;
  }
  EXPECT_EQ(match("*fp32, i32{5..4}").error().message,
            "the range '{5..4}' is empty: 5 is larger than 4");
  EXPECT_EQ(match("*fp32, u8{..256}").error().message,
            "the range '{..256}' expects values from 0 to 255 for the type 'u8', but got 256");
  EXPECT_EQ(match("*fp32, i32{5..4}").error().range.column, 8);
}

TEST(SizeRanges, AreRefusedWhereNothingChooses) {
  Result<Signature> ranged = match("*fp32, i32{1..2}"), plain = match("*fp32, i32");
  ASSERT_TRUE(ranged && plain);
  EXPECT_FALSE(refuseRanges(*plain));
  std::optional<Diagnostic> error = refuseRanges(*ranged);
  ASSERT_TRUE(error);
  EXPECT_EQ(error->code, "E0026");
  EXPECT_NE(error->message.find("'n'"), std::string::npos);
}

} // namespace
