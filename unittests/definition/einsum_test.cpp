// SPDX-License-Identifier: Apache-2.0
// Equations of torch.einsum: what is refused, with which code and at which character. What they
// compute is tested in unittests/eager/einsum_test.cpp.
#include "unittests/definition/Loading.h"

#include "lib/definition/reader/einsum/Equation.h"

#include <fmt/format.h>

#include <random>

namespace nereid::definition {
namespace {

/// a: [M, K], b: [K, N], x: [..., D], y: [D], z: [1, K].
Loaded einsum(const std::string &call, const std::string &type = "float32") {
  return load(
      "[operator]\nname = \"t\"\nsummary = \"s\"\ndtypes = [\"" + type +
      "\"]\nbody = '''\nout = " + call +
      " * 1'''\n[inputs.a]\nshape = [\"M\", \"K\"]\n[inputs.b]\nshape = [\"K\", \"N\"]\n"
      "[inputs.x]\nshape = [\"...\", \"D\"]\n[inputs.y]\nshape = [\"D\"]\n[inputs.z]\nshape = "
      "[1, \"K\"]\n[inputs.s]\nvalue = 2.0\n[outputs.out]\nshape = [\"M\", \"N\"]\n"
      "[performance]\ncases = [{ M = 2, N = 2, K = 2, D = 2, \"...\" = [2] }]\n");
}

TEST(EinsumText, WhatIsWrongIsRefusedAtItsPlace) {
  const std::tuple<const char *, const char *, const char *> wrong[] = {
      {"torch.einsum()", "E0608", "expects its equation"},
      {"torch.einsum(a, b)", "E0608", "expects its equation"},
      {"torch.einsum(\"ik,kj\", a, b, optimize=True)", "E0608", "expects its equation"},
      {"a.einsum(\"ik,kj\", b)", "E0608", "expects its equation"},
      {"torch.einsum(\"ik,kj->ij\", a)", "E0608", "has 2 operands, but the call 1"},
      {"torch.einsum(\"ik,kj->ij\", a, b, a)", "E0608", "has 2 operands, but the call 3"},
      {"torch.einsum(\"\", a)", "E0604", "expects a shape for \"\""},
      {"torch.einsum(\"ik,kj->ij->ij\", a, b)", "E0608", "but got '-'"},
      {"torch.einsum(\"ik,k1->i1\", a, b)", "E0608", "but got '1'"},
      {"torch.einsum(\"ik,kj>ij\", a, b)", "E0608", "but got '>'"},
      {"torch.einsum(\"ik;kj\", a, b)", "E0608", "but got ';'"},
      {"torch.einsum(\"ik,kä->i\", a, b)", "E0608", "expects letters"},
      {"torch.einsum(\"ik\\t,kj\", a, b)", "E0608", "but got another character"},
      {"torch.einsum(\"ii,kj->ij\", a, b)", "E0608", "its diagonal"},
      {"torch.einsum(\"ik,kj->ijj\", a, b)", "E0608", "has the letter 'j' twice"},
      {"torch.einsum(\"ik,kj->iz\", a, b)", "E0608", "has the letter 'z', but no operand"},
      {"torch.einsum(\"ik,kj->...ij\", a, b)", "E0608", "has '...', but no operand"},
      {"torch.einsum(\"i..k,kj\", a, b)", "E0608", "expects two more"},
      {"torch.einsum(\"....ik,kj\", a, b)", "E0608", "once"},
      {"torch.einsum(\"...i...,kj\", a, b)", "E0608", "once"},
      {"torch.einsum(\"ik,.\", a, b)", "E0608", "expects two more"},
      {"torch.einsum(\"ik,kj->ij,\", a, b)", "E0608", "but got ','"},
      {"torch.einsum(\"ikl,kj->ij\", a, b)", "E0604", "expects a shape for \"ikl\""},
      {"torch.einsum(\"i,kj->ij\", a, b)", "E0604", "expects a shape for \"i\""},
      {"torch.einsum(\"ikl...,kj->ij\", a, b)", "E0604", "expects a shape for \"ikl...\""},
      {"torch.einsum(\"ki,kj->ij\", a, b)", "E0604", "the letter 'k' of 'einsum' is [M]"},
      {"torch.einsum(\"id,kj->ij\", x, b)", "E0604", "expects a shape for \"id\""},
      {"torch.einsum(\"d...,kj->...j\", x, b)", "E0604", "expects a shape for \"d...\""},
      {"torch.einsum(\"...d->d\", x)", "E0604", "'...' in front"},
      {"torch.einsum(\"...d->d...\", x)", "E0604", "'...' in front"},
      {"torch.einsum(\"...d,...->...d\", x, y)", "E0604", "may or may not"},
      {"torch.einsum(\"ik,\", a, s)", "E0608", "but got a number"},
      {"torch.einsum(\"ik,kj\", a, nothing)", "E0608", "not defined"},
  };
  for (const auto &[call, code, message] : wrong) {
    Loaded loaded = einsum(call);
    ASSERT_FALSE(loaded.op) << call;
    EXPECT_EQ(loaded.code(), code) << call << loaded.diags.render();
    EXPECT_NE(loaded.first().message.find(message), std::string::npos)
        << call << loaded.diags.render();
    EXPECT_EQ(loaded.first().range.line, 6) << call;
  }
  // The character itself.
  Loaded digit = einsum("torch.einsum(\"ik,k1->i1\", a, b)");
  EXPECT_EQ(digit.first().range.column, 6 + 14 + 5);
  EXPECT_EQ(digit.first().range.endColumn, digit.first().range.column + 1);
}

/// Products of integers have no sums, as matmul.
TEST(EinsumText, SumsOfProductsAreOfNumbers) {
  EXPECT_TRUE(einsum("torch.einsum(\"ik,kj->ij\", a, b)", "int32").op);
  Loaded loaded = einsum("torch.einsum(\"ik,kj->ij\", a, b)", "bool");
  ASSERT_EQ(loaded.code(), "E0608");
  EXPECT_NE(loaded.first().message.find("matmul"), std::string::npos) << loaded.first().message;
}

TEST(EinsumText, OnesAreBroadcast) {
  for (const char *call :
       {"torch.einsum(\"ik,kj->ij\", a, b)", "torch.einsum('ik,kj', [a, b])",
        "einsum(\"ik,kj->ij\", a, b)", "torch.einsum(\"zk,ik,kj->ij\", z, a, b)",
        "torch.einsum(\"ik,ik,kj->ij\", z, a, b)", "torch.einsum(\"ik,kj->ij\", a, b) + y.sum()"}) {
    Loaded loaded = einsum(call);
    EXPECT_TRUE(loaded.op) << call << loaded.diags.render();
  }
}

/// No text of these characters makes the reader fail.
TEST(EinsumText, AnyTextIsReadOrRefused) {
  std::mt19937 random(3);
  const std::string characters = "ij.,->A 1\x80";
  for (int turn = 0; turn < 20000; ++turn) {
    std::string text;
    for (size_t length = random() % 12; length > 0; --length) {
      text += characters[random() % characters.size()];
    }
    auto parsed = parseEinsum(text);
    if (const auto *problem = std::get_if<EinsumProblem>(&parsed)) {
      EXPECT_LE(problem->begin, text.size()) << text;
      EXPECT_FALSE(problem->message.empty());
      EXPECT_FALSE(problem->help.empty());
    }
  }
}

} // namespace
} // namespace nereid::definition
