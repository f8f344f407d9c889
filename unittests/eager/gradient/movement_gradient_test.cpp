// SPDX-License-Identifier: Apache-2.0
// Backward operators of movements against finite differences: what is cut off, repeated, mirrored,
// put together and seen through windows.
#include "unittests/eager/gradient/Gradients.h"

namespace nereid::eager {
namespace {

struct Move {
  const char *body, *shape, *constraints = "";
};

void check(const std::vector<Move> &moves) {
  for (const Move &move : moves) {
    EXPECT_EQ(wrongWith({std::string("x = a * b\nout = ") + move.body,
                         {"a: N, M", "b: N, M"},
                         move.shape,
                         move.constraints,
                         {}}),
              "")
        << move.body;
  }
}

TEST(MovementGradient, OfSlices) {
  check({{"x[:, 1:]", "N, M - 1"},
         {"x[1:2]", "1, M"},
         {"x[:, ::2]", "N, (M + 1) // 2"},
         {"x[:, 1::2]", "N, M // 2"},
         {"x[:, 1:4:2]", "N, 2"},
         {"x[::2, 1:]", "(N + 1) // 2, M - 1"},
         {"x[:, -1:]", "N, 1"},
         {"x[:, :M - 2]", "N, M - 2"},
         {"x[:, 0]", "N"},
         {"x[0]", "M"},
         {"x[:, None]", "N, 1, M"},
         {"torch.narrow(x, 1, 1, M - 2)", "N, M - 2"},
         {"torch.select(x, 1, 2)", "N"},
         {"torch.flip(x, dims=(0, 1))", "N, M"},
         {"torch.flip(x[:, 1:], dims=(1,))", "N, M - 1"},
         {"torch.fliplr(x)", "N, M"}});
}

TEST(MovementGradient, OfParts) {
  check({{"torch.cat([x, a, x[:, 1:]], dim=1)", "N, 3 * M - 1"},
         {"torch.stack([x, a], dim=1)", "N, 2, M"},
         {"torch.roll(x, 2, dims=1)", "N, M"},
         {"torch.roll(x, (1, -1), dims=(0, 1))", "N, M"},
         {"torch.diff(x)", "N, M - 1"},
         {"torch.diff(x, n=2, dim=0)", "N - 2, M"},
         {"torch.rot90(x, 1, (0, 1))", "M, N"},
         {"torch.rot90(x, 3, (0, 1))", "M, N"}});
}

TEST(MovementGradient, OfPaddings) {
  check({{"F.pad(x, (1, 2))", "N, M + 3"},
         {"F.pad(x, (1, 2, 0, 1), value=3.0)", "N + 1, M + 3"},
         {"F.pad(x, (-1, 2))", "N, M + 1"},
         {"F.pad(x, (2, 1), mode=\"reflect\")", "N, M + 3"},
         {"F.pad(x, (2, 1), mode=\"replicate\")", "N, M + 3"},
         {"F.pad(x, (2, 1), mode=\"circular\")", "N, M + 3"},
         {"F.pad(torch.unsqueeze(x, 0), (1, 1, 2, 2), mode=\"reflect\")", "1, N + 4, M + 2"}});
}

TEST(MovementGradient, OfShapes) {
  check({{"torch.reshape(x, (M, N))", "M, N"},
         {"torch.flatten(x)", "N * M"},
         {"torch.reshape(x, (-1,))", "N * M"},
         {"torch.unflatten(torch.flatten(x), 0, (M, N))", "M, N"},
         {"torch.unsqueeze(x, 1).expand(N, 4, M)", "N, 4, M"},
         {"x.repeat(2, 3)", "2 * N, 3 * M"},
         {"torch.repeat_interleave(x, 2, dim=1)", "N, 2 * M"},
         {"x.unfold(1, 3, 1)", "N, M - 2, 3"},
         {"x.unfold(1, 2, 2)", "N, M // 2, 2"},
         {"x.unfold(0, 2, 1)", "N - 1, M, 2"},
         {"torch.tril(x)", "N, M"},
         {"torch.triu(x, diagonal=1)", "N, M"},
         {"x.permute(1, 0)", "M, N"},
         {"torch.unsqueeze(x, 0).permute(1, 2, 0)", "N, M, 1"},
         {"x.T", "M, N"},
         {"torch.squeeze(torch.unsqueeze(x, 1), dim=1)", "N, M"}});
}

TEST(MovementGradient, OfWindowsThatAreAddedUpOrResampled) {
  const std::vector<Definition> forms = {
      {"out = F.fold(x * x, (4, 5), 2)", {"x: 2, 8, 12"}, "2, 2, 4, 5", "", {}},
      {"out = F.fold(x * x, (5, 4), (3, 2), stride=2, padding=1)", {"x: 6, 9"}, "1, 5, 4", "", {}},
      {"out = F.adaptive_avg_pool1d(x * x, 3)", {"x: 2, 3, 7"}, "2, 3, 3", "", {}},
      {"out = F.interpolate(x * x, size=7)", {"x: 2, 3, M"}, "2, 3, 7", "", {}},
      {"out = F.interpolate(x * x, size=(3, 7), mode=\"bilinear\")",
       {"x: 2, 3, M, K"},
       "2, 3, 3, 7",
       "",
       {}},
      {"out = F.interpolate(x * x, scale_factor=2, mode=\"bilinear\", align_corners=True)",
       {"x: 1, 2, M, K"},
       "1, 2, 2 * M, 2 * K",
       "",
       {}},
  };
  for (const Definition &form : forms) {
    EXPECT_EQ(wrongWith(form), "") << form.body;
  }
}

TEST(MovementGradient, OfOpenRanks) {
  definition::Binding binding = smallSizes();
  binding.rest = {2};
  for (const auto &[body, shape] : std::vector<std::pair<std::string, std::string>>{
           {"x[..., 1:]", "..., N, M - 1"},
           {"x[..., ::2, :]", "..., (N + 1) // 2, M"},
           {"torch.flatten(x, -2, -1)", "..., N * M"},
           {"torch.unflatten(torch.flatten(x, -2, -1), -1, (M, N))", "..., M, N"},
           {"torch.flip(x, dims=(-1,))", "..., N, M"},
           {"F.pad(x, (1, 1), mode=\"replicate\")", "..., N, M + 2"},
           {"torch.cat([x, x * x], dim=-2)", "..., 2 * N, M"},
           {"torch.unsqueeze(x, -2)", "..., N, 1, M"}}) {
    const Operator op = operatorOf({"x = a * a\nout = " + body, {"a: ..., N, M"}, shape, "", {}});
    EXPECT_EQ(wrongIn(op, {}, binding), "") << body;
  }
}

/// The gradient that comes back is the same along one dimension, and the value has 1 in another.
TEST(Gradient, OfWhatIsBroadcastAndSummedAlongAnother) {
  for (const char *of : {"y * 2", "torch.cumsum(y, dim=1)", "y.flip(1)",
                         "torch.median(y, dim=0, keepdim=True).values", "F.softmax(y, dim=1)",
                         "F.layer_norm(y, (M,))", "y @ x.T @ x", "y.mean(dim=0, keepdim=True)"}) {
    for (const char *behind : {".sum(dim=1)", ".mean(dim=1)"}) {
      EXPECT_EQ(wrongWith({std::string("t = ") + of + " + x\nout = t" + behind,
                           {"x: N, M", "y: 1, M"},
                           "N",
                           "",
                           {}}),
                "")
          << of << behind;
    }
  }
  EXPECT_EQ(
      wrongWith({"out = (y * 2 + x).sum(dim=-1)", {"x: ..., N, M", "y: 1, M"}, "..., N", "", {}}),
      "");
}

/// A mean over K elements, whose gradient is summed over N.
TEST(Gradient, OfMeansThatAreRepeated) {
  for (const char *body :
       {"out = y.mean(dim=0, keepdim=True) * x", "out = y.mean(dim=0, keepdim=True) + x",
        "out = y.mean(dim=0, keepdim=True).expand(N, M) * x",
        "out = (x - x.mean(dim=0, keepdim=True) * x) * y.sum()"}) {
    EXPECT_EQ(wrongWith({body, {"x: N, M", "y: K, M"}, "N, M", "", {}}), "") << body;
  }
}

TEST(MovementGradient, OfWhatIsSummedBehindIt) { // the gradient is the same for all elements
  check({{"x[:, 1:].sum()", ""},
         {"torch.flip(x, dims=(1,)).sum(dim=-1)", "N"},
         {"torch.cat([x, a], dim=0).mean(dim=0)", "M"},
         {"F.pad(x, (2, 1), mode=\"reflect\").sum(dim=0, keepdim=True)", "1, M + 3"}});
}

/// Dimensions that are swapped behind "...".
TEST(MovementGradient, OfSwapsBehindOpenRanks) {
  const Definition definitions[] = {
      {"out = (x * y).mT * z",
       {"x: ..., N, M", "y: ..., N, M", "z: ..., M, N"},
       "..., M, N",
       "",
       {}},
      {"out = x.transpose(-3, -1) * y",
       {"x: ..., N, M, K", "y: ..., K, M, N"},
       "..., K, M, N",
       "",
       {}},
      {"out = torch.einsum('...ij,...kj->...ik', x, y)",
       {"x: ..., N, M", "y: ..., K, M"},
       "..., N, K",
       "",
       {}},
      {"out = torch.einsum('...ijk->...kij', x * y)",
       {"x: ..., N, M, K", "y: ..., N, M, K"},
       "..., K, N, M",
       "",
       {}},
  };
  for (const Definition &definition : definitions) {
    EXPECT_EQ(wrongWith(definition), "") << definition.body;
  }
}

/// Sizes that are computed: of an input, and of what is broadcast over "...".
TEST(MovementGradient, OfComputedSizes) {
  const Definition definitions[] = {
      {"out = F.glu(x * y)", {"x: ..., 2 * M", "y: ..., 2 * M"}, "..., M", "", {}},
      {"out = F.glu(x * y, dim=0)", {"x: 2 * N, M", "y: 2 * N, M"}, "N, M", "", {}},
      {"out = x[..., 1:] * y[:-1]", {"x: ..., M", "y: M"}, "..., M - 1", "\"M >= 1\"", {}},
      {"out = torch.trapezoid(y, x)", {"y: ..., M", "x: M"}, "...", "\"M >= 1\"", {}},
  };
  for (const Definition &definition : definitions) {
    const Operator op = operatorOf(definition);
    ASSERT_FALSE(op.performanceCases.empty()) << definition.body;
    EXPECT_EQ(wrongIn(op, {}, op.performanceCases[0].binding), "") << definition.body;
  }
}

} // namespace
} // namespace nereid::eager
