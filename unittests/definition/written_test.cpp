// SPDX-License-Identifier: Apache-2.0
// Views, pieces, places in sorted rows and counts in bodies: shapes, types and constraints that
// follow, and what is refused.
#include "unittests/definition/Loading.h"

#include "lib/definition/operations/Infer.h"

namespace nereid::definition {
namespace {

/// y of x [M, N], r [N] and the indices i [N]; its sum, so that its shape need not be declared.
Loaded written(const std::string &statements) {
  return load(
      "[operator]\nname = \"t\"\nsummary = \"s\"\ndtypes = [\"float32\", \"float16\"]\n"
      "body = '''\n" +
      statements +
      "\nout = x.sum() + torch.where(y != 0, x.sum(), 0).sum()\n'''\n"
      "[inputs.x]\nshape = [\"M\", \"N\"]\n[inputs.r]\nshape = [\"N\"]\n"
      "[inputs.i]\nshape = [\"N\"]\ndtype = \"int64\"\n[inputs.o]\nshape = [\"...\", \"N\"]\n"
      "[inputs.f]\nshape = [6]\n[inputs.p]\nvalue = 0.5\n"
      "[outputs.out]\nshape = []\n[performance]\ncases = [{ M = 8, N = 9, \"...\" = [2] }]\n");
}

/// "[M, N] float16" of y, then the constraints.
std::string made(const std::string &statements) {
  const Loaded loaded = written(statements);
  EXPECT_TRUE(loaded.op) << statements << "\n" << loaded.diags.render();
  const auto types = loaded.op ? nodeDtypes(*loaded.op, DType::F16) : std::vector<DType>();
  std::string found;
  for (size_t i = 0; i < types.size(); ++i) {
    if (loaded.op->nodes[i].name == "y") {
      found = text(loaded.op->nodes[i].shape) + " " + std::string(torchName(types[i]));
    }
  }
  for (size_t i = 0; loaded.op && i < loaded.op->constraints.size(); ++i) {
    found += "; " + loaded.op->constraints[i].text;
  }
  return found;
}

std::string codeOf(const std::string &statements) { return written(statements).code(); }

TEST(Written, ViewsAreCopies) {
  for (const char *call : {"torch.resolve_conj(x)", "torch.resolve_neg(x)", "x.clone()",
                           "x.contiguous()", "x[:1].expand_as(x) + x", "x.view_as(x)"}) {
    EXPECT_EQ(made(std::string("y = ") + call).substr(0, 14), "[M, N] float16") << call;
  }
  EXPECT_EQ(made("y = x.t().reshape_as(x)"), "[M, N] float16");
  EXPECT_EQ(made("y = r.expand_as(x)"), "[M, N] float16");
  EXPECT_EQ(made("y = i.clone()"), "[N] int64");
  EXPECT_EQ(made("y = torch.ops.aten._to_copy(x, dtype=torch.int8)"), "[M, N] int8");
  EXPECT_EQ(made("y = o.contiguous()"), "[..., N] float16");
}

TEST(Written, StridesReadInsideOfAContiguousTensor) {
  EXPECT_EQ(made("y = x.as_strided((3, N), (N, 1))"),
            "[3, N] float16; M * N >= 3 * N; x.is_contiguous()");
  EXPECT_EQ(made("y = f.as_strided((2, 3), (1, 2), 0)"), "[2, 3] float16; f.is_contiguous()");
  EXPECT_EQ(made("y = (f * 2).as_strided((5, 2), (1, 1))"), "[5, 2] float16");
  EXPECT_EQ(made("y = f.as_strided((4, 4), (0, 0), 5)"), "[4, 4] float16; f.is_contiguous()");
  EXPECT_EQ(made("y = f.as_strided((), (), 5)"), "[] float16; f.is_contiguous()");
  EXPECT_EQ(codeOf("y = f.as_strided((2, 3), (1, 2), 2)"), "E0604"); // one too far
  EXPECT_EQ(codeOf("y = f.as_strided((2, 3), (1,))"), "E0608");
  EXPECT_EQ(codeOf("y = f.as_strided((2,), (-1,), 3)"), "E0604");
  EXPECT_EQ(codeOf("y = f.as_strided((2,), (1,), -1)"), "E0608");
  EXPECT_EQ(codeOf("y = o.as_strided((2,), (1,))"), "E0604");
}

TEST(Written, PiecesAreKnownWhenTheDefinitionIsRead) {
  EXPECT_EQ(made("a, y = f.split(4)"), "[2] float16");
  EXPECT_EQ(made("a, b, y = torch.unsafe_split(f, 2)"), "[2] float16");
  EXPECT_EQ(made("y = f.split(6)[0]"), "[6] float16");
  EXPECT_EQ(made("y = f.split(4)[-1]"), "[2] float16");
  EXPECT_EQ(made("a, y = x.split([2, N - 2], dim=1)"), "[M, N - 2] float16; N >= 2");
  EXPECT_EQ(made("a, y = torch.cat((x, x)).split(M)"), "[M, N] float16");
  EXPECT_EQ(made("a, y = x.chunk(2, dim=-1)"),
            "[M, N - ((N + 1) // 2)] float16; N >= ((N + 1) // 2) + 1; N >= (N + 1) // 2");
  EXPECT_EQ(made("a, b, y = f.chunk(4)"), "[2] float16"); // PyTorch has three as well
  EXPECT_EQ(made("a, b, c, d, e, y = f.unbind()"), "[] float16");
  EXPECT_EQ(made("y, a = torch.unsafe_split_with_sizes(o, [1, N - 1], -1)"),
            "[..., 1] float16; N >= 1");
  EXPECT_EQ(codeOf("a, y = x.split(2)"), "E0604"); // M says not how many
  EXPECT_EQ(codeOf("a, y = f.split(2)"), "E0608"); // they are three
  EXPECT_EQ(codeOf("y = f.split(2)"), "E0608");
  EXPECT_EQ(codeOf("y = f.split(2)[3]"), "E0604");
  EXPECT_EQ(codeOf("a, y = f.split([2, 3])"), "E0604");
  EXPECT_EQ(codeOf("a, y = f.split(0)"), "E0604");
  EXPECT_EQ(codeOf("a, y = f.split(3, dim=1)"), "E0604");
  EXPECT_EQ(codeOf("a, y = f.chunk(0)"), "E0608");
  EXPECT_EQ(codeOf("a, y = x.unbind(0)"), "E0604");
  EXPECT_EQ(codeOf("a, y = f.split([])"), "E0608");
}

TEST(Written, RowsAreSearched) {
  EXPECT_EQ(made("y = torch.searchsorted(r, x)"), "[M, N] int64; 2147483647 >= N");
  EXPECT_EQ(made("y = torch.searchsorted(f, x, out_int32=True)"), "[M, N] int32");
  EXPECT_EQ(made("y = torch.searchsorted(o, o[..., :1])").substr(0, 14), "[..., 1] int64");
  EXPECT_EQ(made("y = torch.bucketize(x, f, right=True)"), "[M, N] int64");
  EXPECT_EQ(codeOf("y = torch.searchsorted(x, r)"), "E0604");
  EXPECT_EQ(codeOf("y = torch.searchsorted(x, x.t())"), "E0604");
  EXPECT_EQ(codeOf("y = torch.searchsorted(r, p)"), "E0604");
  EXPECT_EQ(codeOf("y = torch.bucketize(x, x)"), "E0604");
  EXPECT_EQ(codeOf("y = torch.searchsorted(r, x, side=\"middle\")"), "E0608");
  EXPECT_EQ(codeOf("y = torch.searchsorted(r, x, right=True, side=\"left\")"), "E0608");
  EXPECT_EQ(made("y = torch.searchsorted(r[:0], x)"), "[M, N] int64");
}

TEST(Written, CountsHaveTheSizeThatTheCallSays) {
  EXPECT_EQ(made("y = torch.bincount(i, minlength=M)"), "[M] int64");
  EXPECT_EQ(made("y = torch.bincount(i, r, minlength=5)"), "[5] float16");
  EXPECT_EQ(made("y = torch.histc(x, bins=M, min=-1, max=2.5)"), "[M] float16; M >= 1");
  EXPECT_EQ(made("y = torch.nonzero_static(x, size=M)"), "[M, 2] int64");
  EXPECT_EQ(made("y = i.nonzero_static(size=3, fill_value=7)"), "[3, 1] int64");
  EXPECT_EQ(codeOf("y = torch.bincount(i)"), "E0608");
  EXPECT_EQ(codeOf("y = torch.bincount(x, minlength=4)"), "E0608");
  EXPECT_EQ(codeOf("y = torch.bincount(i, i, minlength=4)"), "E0604");
  EXPECT_EQ(codeOf("y = torch.bincount(i, f, minlength=4)"), "E0604");
  EXPECT_EQ(codeOf("y = torch.histc(x)"), "E0608"); // ends that follow from values
  EXPECT_EQ(codeOf("y = torch.histc(x, 4, 2, 1)"), "E0608");
  EXPECT_EQ(codeOf("y = torch.histc(x, 0, 0, 1)"), "E0608");
  EXPECT_EQ(codeOf("y = torch.histc(i, 4, 0, 1)"), "E0608");
  EXPECT_EQ(codeOf("y = torch.nonzero_static(x)"), "E0608");
  EXPECT_EQ(codeOf("y = torch.nonzero_static(o, size=4)"), "E0604");
}

} // namespace
} // namespace nereid::definition
