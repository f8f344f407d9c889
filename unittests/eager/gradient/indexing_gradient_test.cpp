// SPDX-License-Identifier: Apache-2.0
// Backward operators of reads and writes at indices against finite differences, with indices that
// repeat and count from the end.
#include "unittests/eager/Values.h"

#include "lib/eager/gradient/GradientCheck.h"
#include "lib/eager/reference/Reference.h"

#include <fmt/format.h>

namespace nereid::eager {
namespace {

/// x, s: [N, M]; i and n: [N] into N, n of negative ones as well; g: [N, M] into N; p: the same,
/// none twice; j: [M, 1] and k: [N] into M.
constexpr const char *inputs =
    "[inputs.x]\nshape = [\"N\", \"M\"]\n[inputs.s]\nshape = [\"N\", \"M\"]\n"
    "[inputs.n]\nshape = [\"N\"]\ndtype = \"int64\"\nrange = [\"-N\", \"N\"]\n"
    "[inputs.i]\nshape = [\"N\"]\ndtype = \"int64\"\nrange = [0, \"N\"]\n"
    "[inputs.g]\nshape = [\"N\", \"M\"]\ndtype = \"int64\"\nrange = [0, \"N\"]\n"
    "[inputs.p]\nshape = [\"N\"]\ndtype = \"int64\"\nrange = [\"-N\", \"N\"]\ndistinct = -1\n"
    "[inputs.q]\nshape = [\"N\", \"M\"]\ndtype = \"int64\"\nrange = [0, \"N\"]\ndistinct = -2\n"
    "[inputs.j]\nshape = [\"M\", 1]\ndtype = \"int64\"\nrange = [0, \"M\"]\n"
    "[inputs.k]\nshape = [\"N\"]\ndtype = \"int64\"\nrange = [0, \"M\"]\n"
    "[inputs.l]\nshape = [\"N\"]\ndtype = \"int64\"\nrange = [-1, \"M\"]\n";

struct Form {
  const char *body, *shape, *by;
};

std::optional<Operator> operatorOf(const Form &form) {
  Diagnostics diags;
  auto op = definition::parseOperator(
      "t.toml",
      std::string("[operator]\nname = \"t\"\nsummary = \"s\"\ndtypes = [\"float32\"]\nbody = "
                  "\"\"\"\n") +
          form.body + "\n\"\"\"\n" + inputs + "[outputs.out]\nshape = " + form.shape +
          "\n[performance]\ncases = [{ N = 4, M = 3 }]\n",
      diags);
  EXPECT_TRUE(op) << form.body << "\n" << diags.render();
  return op;
}

TEST(IndexingGradient, AgreesWithFiniteDifferences) {
  const Form forms[] = {
      {"out = torch.gather(x * x, 0, g)", "[\"N\", \"M\"]", "x"},
      {"out = torch.index_select(x * x, 0, i)", "[\"N\", \"M\"]", "x"},
      {"out = torch.index_select(x * x, 1, k)", "[\"N\", \"N\"]", "x"},
      {"out = (x * x)[n] * s", "[\"N\", \"M\"]", "xs"},
      {"out = (x * x)[:, k]", "[\"N\", \"N\"]", "x"},
      {"out = (x * x)[n, j]", "[\"M\", \"N\"]", "x"},
      {"out = F.embedding(g, x * x).sum(dim=1)", "[\"N\", \"M\"]", "x"},
      {"out = torch.scatter_add(x * x, 0, g, s * s)", "[\"N\", \"M\"]", "xs"},
      {"out = torch.scatter_reduce(x * x, 0, g, s * s, reduce='sum')", "[\"N\", \"M\"]", "xs"},
      {"out = torch.scatter(x * x, 0, q, s * s)", "[\"N\", \"M\"]", "xs"},
      {"out = torch.index_add(x * x, 0, i, s * s, alpha=3)", "[\"N\", \"M\"]", "xs"},
      {"out = torch.index_put(x * x, (p,), s * s)", "[\"N\", \"M\"]", "xs"},
      {"out = torch.index_put(x * x, (n,), s * s, accumulate=True)", "[\"N\", \"M\"]", "xs"},
      {"out = torch.scatter_reduce(x * x, 0, g, s * s, reduce='amax')", "[\"N\", \"M\"]", "xs"},
      {"out = torch.scatter_reduce(x * x, 0, g, s * s, reduce='amin')", "[\"N\", \"M\"]", "xs"},
      {"out = torch.scatter_reduce(x * x, 0, g, s * s, reduce='mean')", "[\"N\", \"M\"]", "xs"},
      {"out = torch.scatter_reduce(x * x, 0, g, s * s, reduce='prod')", "[\"N\", \"M\"]", "xs"},
      {"out = torch.scatter_reduce(x * x, 0, g, s * s, reduce='amax', include_self=False)",
       "[\"N\", \"M\"]", "xs"},
      {"out = torch.scatter_reduce(x * x, 0, g, s * s, reduce='mean', include_self=False)",
       "[\"N\", \"M\"]", "xs"},
      {"out = torch.scatter_reduce(x * x, 0, g, s * s, reduce='prod', include_self=False)",
       "[\"N\", \"M\"]", "xs"},
      {"out = torch.scatter_reduce(x * x, 0, g, s * s, reduce='sum', include_self=False)",
       "[\"N\", \"M\"]", "xs"},
      {"out = (x * x)[:, l]", "[\"N\", \"N\"]", "x"},
      {"out = (x * x)[:, j]", "[\"N\", \"M\", 1]", "x"},
      {"out = torch.stack([x * x, x], dim=0)[:, n, j]", "[2, \"M\", \"N\"]", "x"},
      {"out = torch.stack([x * x, x], dim=2)[n, j]", "[\"M\", \"N\", 2]", "x"},
      {"out = F.cross_entropy(x * x, l, ignore_index=-1)", "[]", "x"},
      {"out = F.cross_entropy(x * x, l, ignore_index=-1, label_smoothing=0.25, reduction='sum')",
       "[]", "x"},
      {"out = F.nll_loss(x * x, l, ignore_index=-1, reduction='none')", "[\"N\"]", "x"},
  };
  definition::Binding binding;
  binding.symbols = {{"N", 4}, {"M", 3}};
  for (const Form &form : forms) {
    auto op = operatorOf(form);
    ASSERT_TRUE(op);
    std::vector<std::string> by;
    for (const char *name = form.by; *name != '\0'; ++name) {
      by.emplace_back(1, *name);
    }
    auto backward = definition::backwardOf(*op, by);
    ASSERT_TRUE(backward) << form.body << "\n" << render(backward.error());
    for (uint64_t seed = 1; seed <= 3; ++seed) {
      auto check = checkGradient(*op, *backward, binding, seed, runtime::defaultPool());
      ASSERT_TRUE(check) << form.body << "\n" << render(check.error()) << backward->text;
      EXPECT_EQ(check->failure, "") << form.body << "\n" << backward->text;
      EXPECT_GT(check->compared, 0);
    }
  }
}

TEST(IndexingGradient, OfALossGoesThroughItsPicksAlone) { // and not through what has their type
  auto op = operatorOf({"out = F.cross_entropy(x, l, ignore_index=-1)", "[]", ""});
  ASSERT_TRUE(op);
  auto backward = definition::backwardOf(*op, {"x"});
  ASSERT_TRUE(backward) << render(backward.error());
  EXPECT_EQ(backward->text.find("F.pad"), std::string::npos) << backward->text;
}

TEST(IndexingGradient, OfThePaddingRowIsNothing) {
  auto op = operatorOf({"out = F.embedding(i, x * x, padding_idx=2)", "[\"N\", \"M\"]", ""});
  ASSERT_TRUE(op);
  auto backward = definition::backwardOf(*op, {"x"});
  ASSERT_TRUE(backward) << render(backward.error());
  EXPECT_NE(backward->text.find("== 2, 0"), std::string::npos) << backward->text;
  op = operatorOf({"out = F.embedding(i, x * x, padding_idx=-1)", "[\"N\", \"M\"]", ""});
  ASSERT_TRUE(op);
  backward = definition::backwardOf(*op, {"x"});
  ASSERT_TRUE(backward) << render(backward.error());
  EXPECT_NE(backward->text.find("== N - 1, 0"), std::string::npos) << backward->text;
}

/// Gradients by w and y of w[place] · y for each y, all of which lie behind the row's elements; in
/// front of w stands 5, and what comes from outside is y as well.
std::string ofSearch(const std::string &call, int64_t length, std::string *text = nullptr) {
  Diagnostics diags;
  auto op = definition::parseOperator(
      "t.toml",
      "[operator]\nname = \"t\"\nsummary = \"s\"\ndtypes = [\"float32\"]\nbody = \"\"\"\n"
      "out = F.pad(w, (1, 0), value=5.0)[" +
          call +
          "] * y\n\"\"\"\n[inputs.x]\nshape = [\"N\"]\n[inputs.w]\nshape = [\"N\"]\n"
          "[inputs.y]\nshape = [\"M\"]\n[outputs.out]\nshape = [\"M\"]\n"
          "[performance]\ncases = [{ N = 4, M = 3 }]\n",
      diags);
  EXPECT_TRUE(op) << diags.render();
  auto backward = definition::backwardOf(*op, {"w", "y"});
  EXPECT_TRUE(backward) << render(backward.error());
  if (!op || !backward) {
    return "";
  }
  if (text) {
    *text = backward->text;
  }
  std::vector<Tensor> inputs;
  for (const definition::Parameter &parameter : backward->op.parameters) {
    const bool isOfRow = parameter.name == "x" || parameter.name == "w";
    const std::vector<double> values = parameter.name == "x" ? std::vector<double>{1, 2, 3, 4}
                                       : isOfRow             ? std::vector<double>{10, 20, 30, 40}
                                                             : std::vector<double>{6, 7, 8};
    const auto count = isOfRow ? length : 3;
    inputs.push_back(make({count}, {values.begin(), values.begin() + count}, DType::F32));
  }
  auto baseline = runGraph(backward->op, inputs, runtime::defaultPool());
  auto reference = runReference(backward->op, inputs, DType::F32, Rounding::OncePerResult,
                                runtime::defaultPool());
  EXPECT_TRUE(baseline) << render(baseline.error());
  EXPECT_TRUE(reference) << render(reference.error());
  if (!baseline || !reference) {
    return "";
  }
  std::string all;
  for (size_t i = 0; i < reference->size(); ++i) {
    EXPECT_EQ(list((*reference)[i].values), list((*baseline)[i]));
    for (double value : list((*reference)[i].values)) {
      all += fmt::format("{} ", value);
    }
    all += "| ";
  }
  return all;
}

TEST(IndexingGradient, SearchesInAnEmptyRowFindNothing) {
  for (const std::string call : {"torch.searchsorted(x, y)", "torch.bucketize(y, x, right=True)",
                                 "torch.searchsorted(x[None], y[None], side=\"right\")[0]"}) {
    std::string text;
    EXPECT_EQ(ofSearch(call, 4, &text), "0 0 0 149 | 240 280 320 | ") << text;
    EXPECT_EQ(ofSearch(call, 0), "| 30 35 40 | ") << text;
    EXPECT_NE(text.find("torch.searchsorted("), std::string::npos) << text;
  }
}

} // namespace
} // namespace nereid::eager
