// SPDX-License-Identifier: Apache-2.0
// Backward operators of scans, sorted lines and positions against finite differences, and what they
// give at zeros and ties, which is what PyTorch gives.
#include "unittests/eager/gradient/Gradients.h"

#include "lib/eager/reference/Reference.h"

namespace nereid::eager {
namespace {

TEST(LineGradient, OfScans) {
  for (const char *call :
       {"torch.cumsum(x, dim=1)", "torch.cumsum(x, dim=0)", "torch.cumprod(x, dim=1)",
        "torch.cumprod(x, dim=0)", "torch.logcumsumexp(x, dim=1)", "torch.cummax(x, dim=1).values",
        "torch.cummin(x, dim=0).values"}) {
    EXPECT_EQ(
        wrongWith(
            {std::string("x = a * b\nout = ") + call, {"a: N, M", "b: N, M"}, "N, M", "", {}}),
        "")
        << call;
  }
}

TEST(LineGradient, OfSumsOfScans) { // one share for all elements
  for (const char *call : {"torch.cumsum(x, dim=1).sum()", "torch.log_softmax(x, dim=1).sum()",
                           "torch.cumprod(x, dim=0).mean()"}) {
    EXPECT_EQ(
        wrongWith({std::string("x = a * b\nout = ") + call, {"a: N, M", "b: N, M"}, "", "", {}}),
        "")
        << call;
  }
}

TEST(LineGradient, OfLinesOfLines) {
  for (const char *call : {"torch.cumsum(torch.cumsum(x, dim=1), dim=0)",
                           "torch.cumsum(torch.cumsum(x, dim=1), dim=1)",
                           "torch.sort(x - x.mean(dim=1, keepdim=True), dim=1).values",
                           "torch.cumsum(torch.sort(x, dim=0).values, dim=1)",
                           "torch.cumprod(torch.softmax(torch.cumsum(x, dim=1), dim=1), dim=0)"}) {
    EXPECT_EQ(
        wrongWith(
            {std::string("x = a * b\nout = ") + call, {"a: N, M", "b: N, M"}, "N, M", "", {}}),
        "")
        << call;
  }
}

TEST(LineGradient, OfSortedLines) {
  for (const auto &[call, shape] : std::vector<std::pair<std::string, std::string>>{
           {"torch.sort(x, dim=1).values", "N, M"},
           {"torch.sort(x, dim=0, descending=True).values", "N, M"},
           {"torch.topk(x, 2, dim=1).values", "N, 2"},
           {"torch.topk(x, 2, dim=1, largest=False).values", "N, 2"},
           {"torch.kthvalue(x, 2, dim=1).values", "N"},
           {"torch.kthvalue(x, 2, dim=0, keepdim=True).values", "1, M"},
           {"torch.median(x, dim=1).values", "N"},
           {"torch.max(x, dim=1).values", "N"},
           {"torch.min(x, dim=0, keepdim=True).values", "1, M"},
           {"torch.prod(x, dim=1)", "N"},
           {"torch.prod(x)", ""}}) {
    EXPECT_EQ(wrongWith({"x = a * b\nout = " + call,
                         {"a: N, M", "b: N, M"},
                         shape,
                         "\"M >= 2\", \"N >= 2\"",
                         {}}),
              "")
        << call;
  }
}

/// Tensors that the forward operator makes of sizes and numbers, made again.
TEST(MadeGradient, OfWhatIsMadeOfSizes) {
  for (const char *body :
       {"out = a * b * torch.arange(M)", "out = torch.where(torch.arange(N)[:, None] > 1, a, b)",
        "out = a * b + a * torch.full((M,), 3)",
        "out = a * torch.full((N, 1), 0.5, dtype=a.dtype) * b",
        "out = a * b * torch.full_like(a, 2)", "out = a * torch.ones(N, M) * b",
        "out = torch.where(torch.full((N, 1), True), a * b, b)",
        "out = a * torch.linspace(0, 1, M) * b", "out = torch.tanh(torch.eye(N) @ a) * b",
        "out = F.dropout(a, 0.5, seed=3) * b", "out = torch.tanh(a.new_zeros(N, M) + a) * b"}) {
    EXPECT_EQ(wrongWith({body, {"a: N, M", "b: N, M"}, "N, M", "", {}}), "") << body;
  }
  EXPECT_EQ(wrongWith({"out = torch.tanh(torch.zeros_like(a) + a) * b",
                       {"a: ..., M", "b: M"},
                       "..., M",
                       "",
                       {}}),
            "");
}

TEST(MadeGradient, OfWindowsThatReachOutside) {
  EXPECT_EQ(wrongWith({"out = F.avg_pool2d(x, 2, padding=1, count_include_pad=False)",
                       {"x: 1, 1, N, M"},
                       "1, 1, N // 2 + 1, M // 2 + 1",
                       "",
                       {}}),
            "");
}

/// The gradient by x of a body over x: [6] where `grad` is that of the result.
std::vector<double> gradientAt(const std::string &body, const std::vector<double> &x,
                               const std::vector<double> &grad) {
  const Operator op = operatorOf({body, {"x: 6"}, std::to_string(grad.size()), "", {}});
  auto backward = definition::backwardOf(op);
  if (!backward) {
    ADD_FAILURE() << render(backward.error());
    return {};
  }
  const std::vector<Tensor> inputs = {make({6}, x, DType::F64)};
  auto out = runReference(op, inputs, DType::F64, Rounding::OncePerResult, runtime::defaultPool());
  std::vector<Tensor> taken;
  using Kind = definition::Backward::Source::Kind;
  for (const auto &source : backward->sources) {
    taken.push_back(source.kind == Kind::Gradient
                        ? make({static_cast<int64_t>(grad.size())}, grad, DType::F64)
                    : source.kind == Kind::Parameter ? inputs[0]
                                                     : (*out)[0].values);
  }
  auto found = runReference(backward->op, taken, DType::F64, Rounding::OncePerResult,
                            runtime::defaultPool());
  if (!found) {
    ADD_FAILURE() << render(found.error()) << backward->text;
    return {};
  }
  return list((*found)[0].values);
}

// torch.autograd.grad gives these numbers, of PyTorch 2.11 in float64.
TEST(LineGradient, AtZerosAndTies) {
  using List = std::vector<double>;
  const List x = {2, 0, 3, 0, 2, 3}, g = {1, 2, 3, 4, 5, 6};
  EXPECT_EQ(gradientAt("out = torch.cumprod(x, dim=0)", x, g), (List{1, 22, 0, 0, 0, 0}));
  EXPECT_EQ(gradientAt("out = torch.cumprod(x, dim=0)", {2, 1, 3, 1, 0, 3}, g),
            (List{1 + 2 + 9 + 12, 4 + 18 + 24, 6 + 8, 24, 30 + 108, 0}));
  EXPECT_EQ(gradientAt("out = torch.prod(x, dim=0, keepdim=True)", {2, 1, 3, 1, 0, 3}, {2}),
            (List{0, 0, 0, 0, 36, 0}));
  EXPECT_EQ(gradientAt("out = torch.max(x, dim=0, keepdim=True).values", x, {6}),
            (List{0, 0, 6, 0, 0, 0}));
  EXPECT_EQ(gradientAt("out = torch.amax(x, dim=0, keepdim=True)", x, {6}),
            (List{0, 0, 3, 0, 0, 3}));
  EXPECT_EQ(gradientAt("out = torch.cummax(x, dim=0).values", x, g), (List{3, 0, 12, 0, 0, 6}));
  EXPECT_EQ(gradientAt("out = torch.sort(x, dim=0).values", x, g), (List{3, 1, 5, 2, 4, 6}));
  EXPECT_EQ(gradientAt("out = torch.norm(x * 0.0, keepdim=True)", x, {1}),
            (List{0, 0, 0, 0, 0, 0}));
}

} // namespace
} // namespace nereid::eager
