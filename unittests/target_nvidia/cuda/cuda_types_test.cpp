// SPDX-License-Identifier: Apache-2.0
// Kernels in PTX, and which arguments they take.
#include "lib/targets/nvidia/cuda/CudaTypes.h"

#include <gtest/gtest.h>

namespace nereid::nvidia {
namespace {

using runtime::ArgumentInfo;
using runtime::ArgumentKind;

// As NVRTC 13.0 and nvcc write it, with older forms beside.
constexpr const char *ptx = R"(
.version 9.0
.target sm_90a
.address_size 64

	// .globl	gelu
// .entry commented_out(
.visible .entry gelu(
	.param .u64 .ptr .align 1 gelu_param_0,
	.param .u64 gelu_param_1,
	.param .u32 gelu_param_2,
	.param .f64 gelu_param_3,
	.param .u8 gelu_param_4,
	.param .align 2 .b8 gelu_param_5[2]
)
.maxntid 16, 8, 2
.minnctapersm 2
{
	.reg .b64 	%rd<8>;
	ld.param.u64 	%rd1, [gelu_param_0];
	ret;
}
.visible .entry _Z5plainPKfPfif(
	.param .u64 _Z5plainPKfPfif_param_0,
	.param .u64 _Z5plainPKfPfif_param_1,
	.param .u32 _Z5plainPKfPfif_param_2,
	.param .f32 _Z5plainPKfPfif_param_3
)
.reqntid 96, 1, 1
{
	ret;
}
.weak .entry _ZN4deep5tgeluI6__halfEEvPKT_PS2_i(
	.param .u64 a,
	.param .u64 b,
	.param .u32 c
)
{
	ret;
}
.visible .entry nothing()
{
	ret;
}
)";

ArgumentInfo pointer(const char *name, DType dtype) {
  return {.name = name, .kind = ArgumentKind::Pointer, .dtype = dtype};
}
ArgumentInfo integer(const char *name, DType dtype = DType::I32) {
  return {.name = name, .kind = ArgumentKind::Integer, .dtype = dtype};
}
ArgumentInfo real(const char *name, DType dtype = DType::F32) {
  return {.name = name, .kind = ArgumentKind::Float, .dtype = dtype};
}

TEST(PtxEntries, HaveTheirParametersAndThreads) {
  const std::vector<PtxEntry> entries = readPtxEntries(ptx);
  ASSERT_EQ(entries.size(), 4u);
  EXPECT_EQ(entries[0].name, "gelu");
  std::vector<int> bytes;
  for (const PtxParameter &parameter : entries[0].parameters) {
    bytes.push_back(parameter.bytes);
  }
  EXPECT_EQ(bytes, (std::vector<int>{8, 8, 4, 8, 1, 2}));
  using Kind = PtxParameter::Kind;
  EXPECT_EQ(entries[0].parameters[2].kind, Kind::Integer);
  EXPECT_EQ(entries[0].parameters[3].kind, Kind::Float);
  EXPECT_EQ(entries[0].parameters[5].kind, Kind::Bytes);
  EXPECT_EQ(entries[0].threads, 256u);
  EXPECT_TRUE(entries[0].isThreadsMost);
  EXPECT_EQ(entries[1].threads, 96u);
  EXPECT_FALSE(entries[1].isThreadsMost);
  EXPECT_EQ(entries[2].threads, 0u);
  EXPECT_EQ(entries[3].name, "nothing");
  EXPECT_TRUE(entries[3].parameters.empty());
}

TEST(PtxEntries, OfTextsThatAreCutOffAreNoWorse) {
  const std::string whole = ptx;
  for (size_t bytes = 0; bytes < whole.size(); ++bytes) {
    (void)readPtxEntries(std::string_view(whole).substr(0, bytes));
  }
}

TEST(CudaTypes, NamesAreThoseOfTheSource) {
  const std::vector<PtxEntry> entries = readPtxEntries(ptx);
  const CudaFunction plain = describeEntry(entries[1]), deep = describeEntry(entries[2]);
  EXPECT_EQ(plain.name, "plain");
  EXPECT_EQ(plain.text, "plain(float const*, float*, int, float)");
  EXPECT_EQ(plain.types, (std::vector<std::string>{"float const*", "float*", "int", "float"}));
  EXPECT_EQ(deep.name, "tgelu");
  EXPECT_EQ(deep.text, "deep::tgelu<__half>(__half const*, __half*, int)");
  EXPECT_EQ(describeEntry(entries[0]).text, "gelu");
  EXPECT_EQ(describeEntry({.name = "_Zbroken"}).name, "_Zbroken");
}

/// "" = it can be called.
std::string problem(const char *mangled, std::vector<ArgumentInfo> arguments) {
  PtxEntry entry{.name = mangled};
  entry.parameters.resize(arguments.size());
  return problemOfCall(describeEntry(entry), arguments);
}

TEST(CudaTypes, AFunctionWithTypesTakesWhatTheySay) {
  EXPECT_EQ(problem("_Z1fPKfi", {pointer("x", DType::F32), integer("n")}), "");
  EXPECT_EQ(problem("_Z1fPKfi", {pointer("x", DType::F64), integer("n")}),
            "its parameter 1 is 'float const*', but the case gives 'double *x'");
  EXPECT_EQ(problem("_Z1fPKfi", {pointer("x", DType::I32), integer("n")}),
            "its parameter 1 is 'float const*', but the case gives 'int *x'");
  EXPECT_EQ(problem("_Z1fPKfi", {pointer("x", DType::F32), integer("n", DType::I64)}),
            "its parameter 2 is 'int', but the case gives 'long long n'");
  EXPECT_EQ(problem("_Z1fPKfi", {pointer("x", DType::F32), real("s")}),
            "its parameter 2 is 'int', but the case gives 'float s'");
  EXPECT_EQ(problem("_Z1fPKff", {pointer("x", DType::F32), integer("n")}),
            "its parameter 2 is 'float', but the case gives 'int n'");
  EXPECT_EQ(problem("_Z1fPKff", {integer("m"), real("n")}),
            "its parameter 1 is 'float const*', but the case gives 'int m'");
  // A kernel may read bits of any type, and knows best what lies behind void and vectors.
  EXPECT_EQ(problem("_Z1fPKj", {pointer("x", DType::F32)}), "");
  EXPECT_EQ(problem("_Z1fPKt", {pointer("x", DType::BF16)}), "");
  EXPECT_NE(problem("_Z1fPKt", {pointer("x", DType::F32)}), "");
  EXPECT_EQ(problem("_Z1fPKv", {pointer("x", DType::F32)}), "");
  EXPECT_EQ(problem("_Z1fPK6float4", {pointer("x", DType::F32)}), "");
  EXPECT_EQ(problem("_Z1fPK6__half", {pointer("x", DType::F16)}), "");
  EXPECT_NE(problem("_Z1fPK6__half", {pointer("x", DType::BF16)}), "");
  EXPECT_EQ(problem("_Z1fj", {integer("n")}), "");
  EXPECT_EQ(problem("_Z1fx", {integer("n", DType::I64)}), "");
}

TEST(CudaTypes, OneWithoutTypesTakesKindsAndSizes) {
  const CudaFunction gelu = describeEntry(readPtxEntries(ptx)[0]);
  std::vector<ArgumentInfo> arguments = {
      pointer("x", DType::F32), pointer("out", DType::F32), integer("n"),
      real("d", DType::F64),    integer("b", DType::I8),    integer("h")};
  EXPECT_EQ(problemOfCall(gelu, arguments),
            "its parameter 6 is a value of 2 bytes, but the case gives 'int h'");
  arguments.pop_back();
  EXPECT_EQ(problemOfCall(gelu, arguments), "it expects 6 arguments, but the case gives 5");
  CudaFunction five = gelu;
  five.entry.parameters.pop_back();
  EXPECT_EQ(problemOfCall(five, arguments), "");
  std::swap(arguments[2], arguments[3]);
  EXPECT_EQ(problemOfCall(five, arguments),
            "its parameter 3 is an integer of 4 bytes, but the case gives 'double d'");
  std::swap(arguments[2], arguments[3]);
  arguments[2].dtype = DType::I64;
  EXPECT_NE(problemOfCall(five, arguments), "");
  arguments[2] = real("n");
  EXPECT_EQ(problemOfCall(five, arguments),
            "its parameter 3 is an integer of 4 bytes, but the case gives 'float n'");
  arguments[2] = integer("n");
  EXPECT_EQ(problemOfCall(five, arguments), "");
  arguments[1].kind = ArgumentKind::Descriptor;
  EXPECT_NE(problemOfCall(five, arguments), "");
}

} // namespace
} // namespace nereid::nvidia
