// SPDX-License-Identifier: Apache-2.0
// Signatures: every kind of entry, matching, the canonical text, every error with its caret.
#include "lib/language/signature/Signature.h"
#include "lib/language/syntax/Parser.h"

#include <gtest/gtest.h>

#include <cmath>

using namespace nereid;
using namespace nereid::language;

namespace {

struct Kernel {
  std::optional<SourceModule> module;
  explicit Kernel(const std::string &params) {
    Diagnostics diags;
    module = parseModule("k.py", "@triton.jit\ndef k(" + params + "): pass\n", diags);
  }
  Result<Signature> match(std::string_view text) {
    return parseSignature(text, *module->find("k"));
  }
  std::string text(std::string_view text) {
    Result<Signature> signature = match(text);
    return signature ? signature->text() : signature.error().code + " " + signature.error().message;
  }
  /// "code column-end"
  std::string place(std::string_view text) {
    Result<Signature> signature = match(text);
    if (signature) {
      return "no error";
    }
    const Diagnostic &d = signature.error();
    EXPECT_EQ(d.file, "signature");
    return d.code + " " + std::to_string(d.range.column) + "-" + std::to_string(d.range.endColumn);
  }
};

TEST(Signatures, ByPosition) {
  Kernel kernel("x, y, n, BLOCK: tl.constexpr");
  Result<Signature> signature = kernel.match("*fp32:16, *bf16, i32:16, 1024");
  ASSERT_TRUE(signature);
  const std::vector<ParamType> &p = signature->params;
  ASSERT_EQ(p.size(), 4u);
  EXPECT_EQ(p[0].name, "x");
  EXPECT_EQ(p[0].kind, ParamType::Kind::Pointer);
  EXPECT_EQ(p[0].dtype, DType::F32);
  EXPECT_EQ(p[0].divisibility, 16);
  EXPECT_EQ(p[1].dtype, DType::BF16);
  EXPECT_EQ(p[1].divisibility, 1);
  EXPECT_EQ(p[2].kind, ParamType::Kind::Scalar);
  EXPECT_EQ(p[2].dtype, DType::I32);
  EXPECT_EQ(p[2].divisibility, 16);
  EXPECT_EQ(p[3].kind, ParamType::Kind::Constexpr);
  EXPECT_EQ(std::get<int64_t>(p[3].constant), 1024);
  EXPECT_EQ(signature->text(), "x=*fp32:16,y=*bf16,n=i32:16,BLOCK=1024");
}

TEST(Signatures, ByNameInAnyOrderGiveTheSameText) {
  Kernel kernel("x, n, BLOCK: tl.constexpr");
  EXPECT_EQ(kernel.text(" BLOCK = 64 ,n=i64, x = * float16 "), "x=*fp16,n=i64,BLOCK=64");
  EXPECT_EQ(kernel.text("*fp16, BLOCK=64, n=i64"), "x=*fp16,n=i64,BLOCK=64");
  EXPECT_EQ(kernel.text("*fp16, i64, 64,"), "x=*fp16,n=i64,BLOCK=64");
  EXPECT_EQ(kernel.text("*fp16:1, i64, 0x40"), "x=*fp16,n=i64,BLOCK=64");
}

TEST(Signatures, EveryLiteral) {
  Kernel kernel("c: tl.constexpr");
  EXPECT_EQ(kernel.text("-5"), "c=-5");
  EXPECT_EQ(kernel.text("-9223372036854775808"), "c=-9223372036854775808");
  EXPECT_EQ(kernel.text("1_000"), "c=1000");
  EXPECT_EQ(kernel.text("1.0"), "c=1.0");
  EXPECT_EQ(kernel.text("1e-5"), "c=1e-05");
  EXPECT_EQ(kernel.text("1e300"), "c=1e+300");
  EXPECT_EQ(kernel.text("0x1e3"), "c=483");
  EXPECT_EQ(kernel.text("-.5"), "c=-0.5");
  EXPECT_EQ(kernel.text("inf"), "c=inf");
  EXPECT_EQ(kernel.text("-inf"), "c=-inf");
  EXPECT_EQ(kernel.text("nan"), "c=nan");
  EXPECT_EQ(kernel.text("True"), "c=True");
  EXPECT_EQ(kernel.text("None"), "c=None");
  EXPECT_EQ(kernel.text("'a, b=c'"), "c='a, b=c'");
  EXPECT_EQ(kernel.text("\"it's\""), "c='it\\'s'");
  EXPECT_EQ(kernel.text("tl.float32"), "c=tl.float32");
  EXPECT_EQ(kernel.text("int8"), "c=tl.int8");
  EXPECT_EQ(kernel.text("tl.int1"), "c=tl.int1");
  Result<Signature> type = kernel.match("tl.bfloat16");
  ASSERT_TRUE(type);
  EXPECT_EQ(std::get<DType>(type->params[0].constant), DType::BF16);
}

TEST(Signatures, CanonicalTextReadsBack) {
  Kernel kernel("a, b, c: tl.constexpr, d: tl.constexpr, e: tl.constexpr, f: tl.constexpr");
  std::string text = kernel.text("*u8:64, fp64, 0.1, None, '\\n', tl.uint16");
  EXPECT_EQ(text, "a=*u8:64,b=fp64,c=0.1,d=None,e='\\n',f=tl.uint16");
  EXPECT_EQ(kernel.text(text), text);
}

TEST(Signatures, EveryTypeNameOfBothSpellings) {
  Kernel kernel("a");
  for (int i = 0; i < dtypeCount; ++i) {
    DType type = static_cast<DType>(i);
    std::string canonical = "a=*" + std::string(kernelName(type));
    EXPECT_EQ(kernel.text("*" + std::string(kernelName(type))), canonical);
    EXPECT_EQ(kernel.text("*" + std::string(torchName(type))), canonical);
  }
}

TEST(Signatures, LiteralsSpecialiseOrdinaryParameters) {
  Kernel kernel("x, bias, n");
  EXPECT_EQ(kernel.text("*fp32, None, 1"), "x=*fp32,bias=None,n=1");
}

TEST(Signatures, DefaultsFillWhatIsMissing) {
  Kernel kernel("x, eps=1e-5, F: tl.constexpr = True, T: tl.constexpr = tl.float16, "
                "S: tl.constexpr = 'a', N=None, M=-3");
  EXPECT_EQ(kernel.text("*fp32"), "x=*fp32,eps=1e-05,F=True,T=tl.float16,S='a',N=None,M=-3");
  EXPECT_EQ(kernel.text("*fp32, fp32, F=False"),
            "x=*fp32,eps=fp32,F=False,T=tl.float16,S='a',N=None,M=-3");
}

TEST(Signatures, NoParameters) {
  Kernel kernel("");
  EXPECT_EQ(kernel.text(""), "");
  EXPECT_EQ(kernel.text("  "), "");
  EXPECT_EQ(kernel.place("i32"), "E0206 1-4");
}

TEST(Signatures, MismatchesAreE0206) {
  Kernel kernel("x, n, BLOCK: tl.constexpr");
  EXPECT_EQ(kernel.text("*fp32, i32"), "E0206 the signature does not match 'k': expects 3 entries, "
                                       "but got 2; 'BLOCK' is missing");
  EXPECT_EQ(kernel.place("*fp32, i32"), "E0206 11-12");
  EXPECT_EQ(kernel.text("*fp32, i32, 4, 5"),
            "E0206 the signature does not match 'k': expects at most 3 entries, but got 4");
  EXPECT_EQ(kernel.place("*fp32, i32, 4, 5"), "E0206 16-17");
  EXPECT_EQ(kernel.place("*fp32, , 4"), "E0206 7-8");
  EXPECT_EQ(kernel.place("x=*fp32, m=i32, BLOCK=4"), "E0206 10-15");
  EXPECT_EQ(kernel.place("*fp32, x=*fp32, i32"), "E0206 8-15");
  EXPECT_EQ(kernel.place("x=*fp32, i32"), "E0206 10-13");
  Result<Signature> near = kernel.match("x=*fp32, n=i32, BLOK=4");
  EXPECT_EQ(near.error().help, "did you mean 'BLOCK'?");
  EXPECT_EQ(near.error().notes[0], "'k' takes (x, n, BLOCK: constexpr)");
  Kernel variadic("*x");
  EXPECT_EQ(variadic.text("i32"), "E0206 the parameter '*x' cannot be given a type");
  Kernel computed("x, B: tl.constexpr = f(3)");
  EXPECT_NE(computed.text("*fp32").find("the default of 'B' is no literal"), std::string::npos);
}

TEST(Signatures, TuplesOfArguments) {
  Kernel kernel("x, n");
  EXPECT_EQ(kernel.text("( *fp32:16, *bf16 ,), i32"), "x=(*fp32:16,*bf16),n=i32");
  EXPECT_EQ(kernel.text("n=i32, x=(*fp32, None, (i32, 4))"), "x=(*fp32,None,(i32,4)),n=i32");
  EXPECT_EQ(kernel.text("(*fp32:16,), i32"), "x=(*fp32:16,),n=i32");
  EXPECT_EQ(kernel.text("x=(*fp32:16,),n=i32"), "x=(*fp32:16,),n=i32"); // reads its own text back
  Result<Signature> signature = kernel.match("(*fp32:16, 3, (i32, fp32)), 4");
  ASSERT_TRUE(signature);
  const ParamType &x = signature->params[0];
  ASSERT_EQ(x.kind, ParamType::Kind::Tuple);
  ASSERT_EQ(x.elements.size(), 3u);
  EXPECT_EQ(x.elements[0].divisibility, 16);
  std::string names;
  for (const ParamType &param : signature->flattened()) {
    names += param.name + " ";
  }
  EXPECT_EQ(names, "x[0] x[1] x[2][0] x[2][1] n ");
}

TEST(Signatures, TuplesOfConstantsStayConstants) {
  Kernel kernel("x, SHAPE: tl.constexpr");
  Result<Signature> signature = kernel.match("(1, 2), (4, 8)");
  ASSERT_TRUE(signature);
  EXPECT_EQ(signature->params[0].kind, ParamType::Kind::Constexpr);
  EXPECT_EQ(signature->params[1].kind, ParamType::Kind::Constexpr);
  EXPECT_EQ(kernel.text("*fp32, (*fp32, *fp32)").substr(0, 5), "E0207");
  EXPECT_EQ(kernel.place("(*fp32, *fp33), 1"), "E0207 9-14");
}

TEST(Signatures, UnknownTypesAreE0207) {
  Kernel kernel("x, n");
  EXPECT_EQ(kernel.place("*fp33, i32"), "E0207 1-6");
  EXPECT_EQ(kernel.match("*fp33, i32").error().help.substr(0, 20), "did you mean 'fp32'?");
  EXPECT_EQ(kernel.place("*fp32, x=1"), "E0206 8-11");
  EXPECT_EQ(kernel.place("*fp32, word"), "E0207 8-12");
  EXPECT_EQ(kernel.place("**fp32, i32"), "E0207 1-7");
  EXPECT_EQ(kernel.place("*fp32:12, i32"), "E0207 1-9");
  EXPECT_EQ(kernel.place("*fp32:, i32"), "E0207 1-7");
  EXPECT_EQ(kernel.place("*fp32:-16, i32"), "E0207 1-10");
  EXPECT_EQ(kernel.place("*fp32, fp32:16"), "E0207 8-15");
  EXPECT_EQ(kernel.place("*, i32"), "E0207 1-2");
  EXPECT_EQ(kernel.place("'abc, i32"), "E0207 1-10");
  EXPECT_EQ(kernel.place("*fp32, 12x"), "E0106 8-11");
  EXPECT_EQ(kernel.place("*fp32, 18446744073709551616"), "E0106 8-28");
  EXPECT_EQ(kernel.place("*fp32, -9223372036854775809"), "E0106 8-28");
}

TEST(Signatures, TypesForConstexprsAreE0208) {
  Kernel kernel("x, BLOCK: tl.constexpr, OTHER: 'tl.constexpr'");
  EXPECT_EQ(kernel.text("*fp32, i32, 1"),
            "E0208 'BLOCK' is constexpr: expects a value, but got the type 'i32'");
  EXPECT_EQ(kernel.match("*fp32, i32, 1").error().help,
            "write a number, True, False, None or a 'string', or tl.int32 to pass the type itself");
  EXPECT_EQ(kernel.place("*fp32, i32, 1"), "E0208 8-11");
  EXPECT_EQ(kernel.place("*fp32, 4, *fp32:16"), "E0208 11-19");
  EXPECT_EQ(kernel.place("*fp32, a-b, 1"), "E0208 8-11");
}

TEST(Signatures, TextsThatAreNoText) {
  Kernel kernel("x");
  EXPECT_EQ(kernel.match(std::string_view("i\0 32", 5)).error().code, "E0109");
  EXPECT_EQ(kernel.match("i\xff").error().code, "E0109");
}

TEST(Signatures, OptionsStandBesideTheParameters) {
  Kernel kernel("x, n, BLOCK: tl.constexpr = 64");
  Result<Signature> signature =
      kernel.match("*fp32, num_stages=0, n=i32, num_warps = 8, maxnreg=128");
  ASSERT_TRUE(signature) << signature.error().message;
  EXPECT_EQ(signature->options.warps(), 8);
  EXPECT_EQ(signature->options.stages(), 0);
  EXPECT_EQ(signature->options.ctas(), 1);
  EXPECT_EQ(signature->options.maxRegisters, 128);
  EXPECT_EQ(signature->text(), "x=*fp32,n=i32,BLOCK=64,num_warps=8,num_stages=0,maxnreg=128");
  EXPECT_EQ(kernel.text(signature->text()), signature->text());
  EXPECT_EQ(kernel.match("*fp32, i32")->options.warps(), 4);
  EXPECT_EQ(Kernel("").text("num_ctas=2"), "num_ctas=2");
}

TEST(Signatures, AParameterOfTheNameIsNoOption) {
  Kernel kernel("x, num_warps: tl.constexpr");
  Result<Signature> signature = kernel.match("*fp32, num_warps=3");
  ASSERT_TRUE(signature) << signature.error().message;
  EXPECT_EQ(std::get<int64_t>(signature->params[1].constant), 3);
  EXPECT_EQ(signature->options.warps(), 4);
}

TEST(Signatures, OptionsThatCannotBe) {
  Kernel kernel("x, n");
  EXPECT_EQ(kernel.place("*fp32, i32, num_warps=3"), "E0235 13-24");
  EXPECT_EQ(kernel.text("*fp32, i32, num_warps=3"),
            "E0235 the option 'num_warps' expects a power of two from 1 to 64, but got 3");
  EXPECT_EQ(kernel.match("*fp32, i32, num_warps=3").error().help,
            "write num_warps=2, or leave it out");
  for (const char *wrong :
       {"num_warps=0", "num_warps=-4", "num_warps=128", "num_warps=4.0", "num_warps=True",
        "num_warps='4'", "num_warps=None", "num_warps=i32", "num_ctas=3", "num_ctas=32",
        "num_stages=-1", "num_stages=65", "maxnreg=0", "maxnreg=256", "maxnreg=None"}) {
    EXPECT_EQ(kernel.text(std::string("*fp32, i32, ") + wrong).substr(0, 5), "E0235") << wrong;
  }
  EXPECT_EQ(kernel.place("*fp32, i32, num_warps=4, num_warps=4"), "E0206 26-37");
  EXPECT_EQ(kernel.match("*fp32, i32, num_wraps=4").error().help, "did you mean 'num_warps'?");
  EXPECT_EQ(kernel.text("*fp32, i32, num_warps=4, i32").substr(0, 5), "E0206");
  // Options do not count as entries.
  EXPECT_NE(kernel.text("*fp32, num_warps=4").find("expects 2 entries, but got 1"),
            std::string::npos);
}

} // namespace
