// SPDX-License-Identifier: Apache-2.0
// The normal form, pass by pass: what each makes of a program, and near misses that it leaves
// alone. That they change no value, view_fuzz_test.cpp shows.
#include "lib/generator/normalise/Normalise.h"
#include "lib/generator/program/Verify.h"
#include "unittests/generator/program/Reading.h"

namespace nereid::generator {
namespace {

using Pass = void (*)(Program &);

std::string after(Pass pass, const std::string &text) {
  Program p = program(text);
  EXPECT_TRUE(bool(verify(p))) << verify(p).error().message;
  pass(p);
  EXPECT_TRUE(bool(verify(p))) << verify(p).error().message << print(p);
  std::string result = stages(p);
  return result.substr(result.find('\n') + 1);
}

constexpr const char *sizes = "N = size()\nM = size()\nx = input(fp32, [N, M])\n"
                              "y = output(fp32, [N, M])\nz = output(fp32, [N*M])\n"
                              "i = iterator(N)\nj = iterator(M)\nk = iterator(N*M)\n"
                              "r = iterator(M)\nq = iterator(M)\n";

std::string afterOf(Pass pass, const std::string &stores) {
  return after(pass, std::string(sizes) + "stage(\"s\")\n" + stores);
}

TEST(DropUnitIterators, OneBecomesNothing) {
  EXPECT_EQ(after(dropUnitIterators,
                  "x = input(fp32, [1, 4])\ny = output(fp32, [4, 1])\ni = iterator(1)\n"
                  "r = iterator(1)\nj = iterator(4)\nstage(\"s\")\ny[j, i] = sum[r](x[r, j])\n"),
            "y[j, 0] = x[0, j]\n");
}

TEST(SplitIterators, PartsThatADivisionSees) {
  EXPECT_EQ(afterOf(splitIterators, "z[k] = x[k // M, k % M]\n"), "z[M*k_o + k_i] = x[k_o, k_i]\n");
  const std::string head = "x = input(fp32, [4, 6])\ny = output(fp32, [3, 8])\ni = iterator(3)\n"
                           "j = iterator(8)\nstage(\"s\")\n";
  // Rows of 8 cut across rows of 6: a part of j would not end a division.
  EXPECT_EQ(after(splitIterators, head + "y[i, j] = x[(8*i + j) // 6, (8*i + j) % 6]\n"),
            "y[i, j] = x[((8*i + j) // 6), ((8*i + j) % 6)]\n");
  // 5 divides nothing here.
  EXPECT_EQ(after(splitIterators, "x = input(fp32, [2, 5])\ny = output(fp32, [8])\n"
                                  "j = iterator(8)\nstage(\"s\")\ny[j] = x[j // 5, j % 5]\n"),
            "y[j] = x[((j) // 5), ((j) % 5)]\n");
}

TEST(UnifyIterators, ASoftmaxRunsOverTheAxisOfItsReductions) {
  EXPECT_EQ(afterOf(unifyIterators, "t_1 = max[r](x[i, r])\n"
                                    "y[i, j] = exp(x[i, j] - t_1) / sum[q](exp(x[i, q] - t_1))\n"),
            "t_1 = x[i, r]\nt_2 = exp(t_1 - max[r](t_1))\ny[i, r] = t_2 / sum[r](t_2)\n");
}

TEST(UnifyIterators, TheInnerOfNestedReductionsStays) {
  // The other way round the outer one would be renamed, and that renamed again, without end.
  EXPECT_EQ(afterOf(unifyIterators, "y[i, j] = sum[r](x[i, r] * sum[q](x[i, q]))\n"),
            "t_1 = x[i, q]\ny[i, j] = sum[q](t_1 * sum[q](t_1))\n");
}

TEST(UnifyIterators, NotWhatANodeSeesTogether) {
  const std::string outer = "y[i, j] = sum[r](x[i, r] * x[i, j])\n";
  EXPECT_EQ(afterOf(unifyIterators, outer), outer);
  const std::string step = "z[k] = sum[r](x[0, r]) + x[k // M, k % M]\n";
  EXPECT_EQ(afterOf(unifyIterators, step), "z[k] = sum[r](x[0, r]) + x[((k) // M), ((k) % M)]\n");
}

TEST(UnifyIterators, NotWhatHasOtherExtents) {
  const std::string text = "x = input(fp32, [9])\ny = output(fp32, [8])\ni = iterator(8)\n"
                           "r = iterator(9)\nstage(\"s\")\ny[i] = x[i] / sum[r](x[r])\n";
  EXPECT_NE(after(unifyIterators, text).find("sum[r](x[r])"), std::string::npos);
  EXPECT_NE(after(unifyIterators, text).find("y[i] = x[i]"), std::string::npos);
}

/// Either pair of iterators could be one, but not both: each sum binds what the other runs over.
TEST(UnifyIterators, EndsAtSumsOverEachOthersAxes) {
  const std::string text = after(
      unifyIterators, "N = size()\nM = size()\nx = input(fp32, [N, M])\na = output(fp32, [M])\n"
                      "b = output(fp32, [N])\ni = iterator(N)\nj = iterator(M)\nr = iterator(N)\n"
                      "q = iterator(M)\nstage(\"s\")\na[j] = sum[r](x[r, j])\n"
                      "b[i] = max[q](x[i, q])\n");
  EXPECT_NE(text.find("sum["), std::string::npos) << text;
  EXPECT_NE(text.find("max["), std::string::npos) << text;
}

TEST(JoinDivisions, ReshapedElementsLieInOneLine) {
  const std::string head = "N = size()\nM = size()\nS = size()\nfact(S - M)\n"
                           "y = output(fp32, [M, N])\ni = iterator(N)\nj = iterator(M)\n";
  const std::string x = "x = input(fp32, [N, M])\n";
  const std::string stage = "stage(\"s\")\ny[j, i] = x[(N*j + i) // M, (N*j + i) % M]\n";
  EXPECT_EQ(after(joinDivisions, head + x + stage), "y[j, i] = x_flat[i + N*j]\n");
  // Rows that lie apart, a division by something else, and parts of two different numbers.
  for (const std::string &kept : {
           "x = input(fp32, [N, M], strides=[S, 1])\n" + stage,
           x + "stage(\"s\")\ny[j, i] = x[(N*j + i) // M, j]\n",
           x + "stage(\"s\")\ny[j, i] = x[(N*j + i) // M, (M*i + j) % M]\n",
       }) {
    EXPECT_NE(after(joinDivisions, head + kept).find("// M"), std::string::npos) << kept;
  }
}

TEST(MergeIterators, NeighboursBecomeOne) {
  Program p = program(std::string(sizes) + "stage(\"s\")\ny[i, j] = exp(x[i, j])\n");
  mergeIterators(p);
  EXPECT_EQ(stages(p), "stage(\"s\")\ny_flat[i_j] = exp(x_flat[i_j])\n");
  EXPECT_NE(print(p).find("x_flat = view(x, [N*M], strides=[1], offset=0)\n"), std::string::npos);
  EXPECT_NE(print(p).find("i_j = iterator(N*M)\n"), std::string::npos);
  EXPECT_TRUE(bool(verify(p)));
}

TEST(MergeIterators, ReductionsOverSeveralAxes) {
  EXPECT_EQ(afterOf(mergeIterators, "z[0] = sum[i, j](x[i, j])\n"),
            "z[0] = sum[i_j](x_flat[i_j])\n");
}

TEST(MergeIterators, NotWhatAnAccessStepsOverOtherwise) {
  const std::string head = "N = size()\nM = size()\nS = size()\nfact(S - M)\n"
                           "x = input(fp32, [N, M], strides=[S, 1])\nb = input(fp32, [M])\n"
                           "w = input(fp32, [M, N])\ny = output(fp32, [N, M])\n"
                           "i = iterator(N)\nj = iterator(M)\nstage(\"s\")\n";
  for (const std::string stores : {
           "y[i, j] = x[i, j]\n",                   // rows lie apart
           "y[i, j] = b[j]\n",                      // a row for all
           "y[i, j] = w[j, i]\n",                   // transposed
           "y[i, j] = cast(index(i + j), fp32)\n",  // seen as a number
           "y[i, M - 1 - j] = 1.0 + b[M - 1 - j]\n" // backwards in one dimension
       }) {
    EXPECT_EQ(after(mergeIterators, head + stores).substr(0, 5), "y[i, ") << stores;
  }
}

TEST(FoldConstants, BoundsDecideConditions) {
  EXPECT_EQ(afterOf(foldConstants, "y[i, j] = where(index(i) >= 0, x[i, j], 0.0)\n"),
            "y[i, j] = x[i, j]\n");
  EXPECT_EQ(afterOf(foldConstants, "y[i, j] = where(index(i) >= index(N), 1.0, x[i, j])\n"),
            "y[i, j] = x[i, j]\n");
  EXPECT_EQ(afterOf(foldConstants,
                    "y[i, j] = where(logical_and(index(i) >= 0, index(j) < 2), x[i, j], 0.0)\n"),
            "y[i, j] = where(index(j) < 2, x[i, j], 0.0)\n");
  EXPECT_EQ(afterOf(foldConstants, "store(y[i, j], 1.0, guard=index(i) < index(N))\n"),
            "y[i, j] = 1.0\n");
  // No index is -100, which losses leave out, and none is as many as there are.
  EXPECT_EQ(afterOf(foldConstants, "y[i, j] = where(index(i) != -100, x[i, j], 0.0)\n"),
            "y[i, j] = x[i, j]\n");
  EXPECT_EQ(afterOf(foldConstants, "y[i, j] = where(index(i) == index(N), 1.0, x[i, j])\n"),
            "y[i, j] = x[i, j]\n");
}

TEST(FoldConstants, ConditionsHaveOneForm) {
  auto condition = [](const std::string &text) {
    std::string found = afterOf(foldConstants, "y[i, j] = where(" + text + ", x[i, j], 0.0)\n");
    size_t begin = found.find("where(") + 6;
    return found.substr(begin, found.find(", x[") - begin);
  };
  EXPECT_EQ(condition("index(i - 2) >= 1"), "index(i) >= 3");
  EXPECT_EQ(condition("index(i) > 2"), "index(i) >= 3");
  EXPECT_EQ(condition("2 < index(i)"), "index(i) >= 3");
  EXPECT_EQ(condition("index(3 - i) <= 0"), "index(i) >= 3");
  EXPECT_EQ(condition("logical_not(index(i) < 3)"), "logical_not(index(i) < 3)");
  EXPECT_EQ(condition("index(4 - i) == 1"), "index(i) == 3");
  EXPECT_EQ(condition("index(N) < index(M)"), "index(N) < index(M)");
  EXPECT_EQ(condition("index(M*i + j) < index(3*M)"), "index(i) < 3");
  EXPECT_EQ(condition("index(M*i + j) >= index(3*M)"), "index(i) >= 3");
  EXPECT_EQ(condition("index(M*i + j) < index(3*M + 1)"), "index(M*i + j) < index(3*M + 1)");
}

TEST(FoldConstants, ArithmeticOfIndicesIsAnIndex) {
  auto value = [](const std::string &text) {
    std::string found = afterOf(foldConstants, "y[i, j] = cast(" + text + ", fp32)\n");
    const size_t begin = found.find("cast(") + 5;
    return found.substr(begin, found.rfind(", fp32") - begin);
  };
  EXPECT_EQ(value("index(i) * 2 - 1 + 3"), "index(2*i + 2)");
  EXPECT_EQ(value("floor_divide(index(i) * 2 + 5, 2)"), "index(i + 2)");
  EXPECT_EQ(value("floor_divide(index(i) - 5, 7)"), "index(((i + 2) // 7) - 1)");
  EXPECT_EQ(value("remainder(index(i) - 5, 7)"), "index(((i + 2) % 7))");
  EXPECT_EQ(value("fmod(index(i) + 5, 7)"), "index(((i + 5) % 7))");
  EXPECT_EQ(value("index(i) + (3 - 3)"), "index(i)");
  EXPECT_EQ(value("index(M) * index(j)"), "index(M*j)");
  EXPECT_EQ(value("maximum(index(i), 0)"), "index(i)");
  EXPECT_EQ(value("minimum(index(i), index(N))"), "index(i)");
  EXPECT_EQ(value("remainder(floor_divide(index(i) * index(j), 1), 1)"), "0");
  EXPECT_EQ(
      afterOf(foldConstants, "y[i, j] = where(logical_xor(x[i, j] < 0.0, 3.0 < 0.0), 1.0, 2.0)\n"),
      "y[i, j] = where(x[i, j] < 0.0, 1.0, 2.0)\n");
  // Near misses: what an index expression cannot say, or says only where nothing wraps.
  EXPECT_EQ(value("index(i) * index(j)"), "index(i) * index(j)");
  EXPECT_EQ(value("floor_divide(index(i), -2)"), "floor_divide(index(i), -2)");
  EXPECT_EQ(value("fmod(index(i) - 5, 7)"), "fmod(index(i - 5), 7)") << "has the sign of i - 5";
  EXPECT_EQ(value("floor_divide(7, index(i))"), "floor_divide(7, index(i))");
  EXPECT_EQ(value("maximum(index(i), 1)"), "maximum(index(i), 1)");
  EXPECT_EQ(value("index(i) * 2654435761234"), "index(i) * 2654435761234");
}

TEST(FoldConstants, NoBitOfAFloatChanges) {
  EXPECT_EQ(afterOf(foldConstants, "y[i, j] = (x[i, j] * 1.0 - 0.0) / 1.0 + -0.0\n"),
            "y[i, j] = x[i, j]\n");
  EXPECT_EQ(afterOf(foldConstants, "y[i, j] = x[i, j] + 0.0\n"), "y[i, j] = x[i, j] + 0.0\n");
  EXPECT_EQ(afterOf(foldConstants, "y[i, j] = x[i, j] * 0.0\n"), "y[i, j] = x[i, j] * 0.0\n");
  EXPECT_EQ(afterOf(foldConstants, "y[i, j] = cast(cast(x[i, j], fp32), fp32)\n"),
            "y[i, j] = x[i, j]\n");
}

TEST(Normalise, SpellingsOfOneComputationAreOneProgram) {
  // A mean over both axes, flattened or not.
  const std::string one = afterOf(normalise, "z[0] = sum[i, j](x[i, j])\n");
  EXPECT_EQ(one, "z[0] = sum[i_j](x_flat[i_j])\n");
  const std::string other = afterOf(normalise, "z[0] = sum[k](x[k // M, k % M])\n");
  EXPECT_EQ(other, "z[0] = sum[k_o_k_i](x_flat[k_o_k_i])\n");
}

} // namespace
} // namespace nereid::generator
