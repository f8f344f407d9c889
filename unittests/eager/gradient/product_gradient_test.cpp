// SPDX-License-Identifier: Apache-2.0
// Backward operators of products and convolutions against finite differences: vectors, matrices,
// batches, broadcast factors, and all attributes of conv2d.
#include "unittests/eager/gradient/Gradients.h"

namespace nereid::eager {
namespace {

TEST(ProductGradient, OfMatmul) {
  const Definition forms[] = {
      {"out = a @ b", {"a: N, K", "b: K, M"}, "N, M", "", {}},
      {"out = torch.dot(a, b)", {"a: K", "b: K"}, "", "", {}},
      {"out = torch.mv(a, b)", {"a: N, K", "b: K"}, "N", "", {}},
      {"out = a @ b", {"a: K", "b: K, M"}, "M", "", {}},
      {"out = a @ b", {"a: K", "b: N, K, M"}, "N, M", "", {}},
      {"out = a @ b", {"a: N, M, K", "b: K"}, "N, M", "", {}},
      {"out = torch.bmm(a, b)", {"a: N, M, K", "b: N, K, 2"}, "N, M, 2", "", {}},
      {"out = a @ b", {"a: N, M, K", "b: K, 2"}, "N, M, 2", "", {}},
      {"out = a @ b", {"a: 2, N, M, K", "b: N, K, 3"}, "2, N, M, 3", "", {}},
      {"out = a @ b", {"a: 2, 1, M, K", "b: N, K, 3"}, "2, N, M, 3", "", {}},
      {"out = a @ b", {"a: M, K", "b: N, K, 3"}, "N, M, 3", "", {}},
      {"out = a @ a.mT", {"a: N, M, K"}, "N, M, M", "", {}},
      {"out = a @ b", {"a: ..., M, K", "b: K, 2"}, "..., M, 2", "", {}},
      {"out = a @ b", {"a: ..., M, K", "b: ..., K, 2"}, "..., M, 2", "", {}},
      {"out = (a @ b).sum(dim=-1)", {"a: N, K", "b: K, M"}, "N", "", {}},
  };
  for (const Definition &form : forms) {
    definition::Binding binding = smallSizes();
    binding.rest = {2};
    EXPECT_EQ(wrongIn(operatorOf(form), {}, binding), "") << form.body;
  }
}

TEST(ProductGradient, OfWhatIsWrittenInProducts) {
  const Definition forms[] = {
      {"out = F.linear(x, w, b)", {"x: N, K", "w: M, K", "b: M"}, "N, M", "", {}},
      {"out = F.linear(x, w)", {"x: 2, N, K", "w: M, K"}, "2, N, M", "", {}},
      {"out = torch.addmm(c, a, b, beta=0.5, alpha=2)",
       {"c: M", "a: N, K", "b: K, M"},
       "N, M",
       "",
       {}},
      {"out = torch.baddbmm(c, a, b)",
       {"c: N, 1, 2", "a: N, M, K", "b: N, K, 2"},
       "N, M, 2",
       "",
       {}},
      {"out = torch.addmv(c, a, b)", {"c: N", "a: N, K", "b: K"}, "N", "", {}},
      {"out = torch.outer(a, b)", {"a: N", "b: M"}, "N, M", "", {}},
      {"out = torch.einsum(\"bik,bkj->bij\", a, b)",
       {"a: N, M, K", "b: N, K, 2"},
       "N, M, 2",
       "",
       {}},
      {"out = torch.einsum(\"ik,kj,jl->li\", a, b, c)",
       {"a: N, K", "b: K, M", "c: M, 2"},
       "2, N",
       "",
       {}},
      {"out = torch.einsum(\"nkm,bkm->nb\", a, b)", {"a: N, K, M", "b: 2, K, M"}, "N, 2", "", {}},
      {"out = torch.einsum(\"ij,j->i\", a, b)", {"a: N, M", "b: M"}, "N", "", {}},
  };
  for (const Definition &form : forms) {
    EXPECT_EQ(wrongWith(form), "") << form.body;
  }
}

TEST(ProductGradient, OfAttention) {
  const std::string plain = "out = F.softmax(q @ k.mT / math.sqrt(K), dim=-1) @ v";
  EXPECT_EQ(wrongWith({plain, {"q: 2, M, K", "k: 2, N, K", "v: 2, N, 3"}, "2, M, 3", "", {}}), "");
  const std::string grouped =
      "out = F.softmax(q @ k.unsqueeze(2).permute(0, 1, 2, 4, 3) / math.sqrt(K), dim=-1) @ "
      "v.unsqueeze(2)";
  EXPECT_EQ(wrongWith({grouped,
                       {"q: 2, 1, 2, M, K", "k: 2, 1, N, K", "v: 2, 1, N, 3"},
                       "2, 1, 2, M, 3",
                       "",
                       {}}),
            "");
}

std::string conv(const std::string &arguments, const std::string &image, const std::string &weight,
                 const std::string &result, const std::string &bias = "") {
  Definition form{"out = F.conv2d(x, w" + std::string(bias.empty() ? "" : ", b") + arguments + ")",
                  {"x: " + image, "w: " + weight},
                  result,
                  "",
                  {}};
  if (!bias.empty()) {
    form.inputs.push_back("b: " + bias);
  }
  return wrongWith(form);
}

TEST(ProductGradient, OfConvolution) {
  EXPECT_EQ(conv(", padding=\"same\"", "2, N, M, K", "2, N, 3, 3", "2, 2, M, K", "2"), "");
  EXPECT_EQ(conv(", padding=1", "2, N, M, K", "2, N, 3, 3", "2, 2, M, K"), "");
  EXPECT_EQ(conv(", padding=\"same\"", "2, 3, 5, 6", "2, 3, 2, 4", "2, 2, 5, 6"), "");
  EXPECT_EQ(conv("", "2, 3, 5, 6", "2, 3, 3, 2", "2, 2, 3, 5", "2"), "");
  EXPECT_EQ(conv(", stride=2, padding=1", "2, 3, 6, 7", "4, 3, 3, 3", "2, 4, 3, 4"), "");
  EXPECT_EQ(conv(", stride=(3, 2), padding=(2, 1), dilation=(1, 2)", "2, 3, 9, 10", "4, 3, 3, 2",
                 "2, 4, 4, 5"),
            "");
  EXPECT_EQ(conv(", stride=2, padding=3", "1, 2, 4, 4", "1, 2, 2, 2", "1, 1, 5, 5"), "");
  EXPECT_EQ(conv(", padding=1, groups=2", "2, 4, 5, 4", "6, 2, 3, 3", "2, 6, 5, 4", "6"), "");
  EXPECT_EQ(conv(", padding=\"same\", groups=4", "2, 4, M, K", "4, 1, 3, 3", "2, 4, M, K"), "");
  EXPECT_EQ(conv(", stride=2, groups=2", "3, 4, 6, 6", "2, 2, 3, 3", "3, 2, 2, 2"), "");
  EXPECT_EQ(conv(", padding=1", "3, 6, 5", "2, 3, 3, 3", "2, 6, 5", "2"), ""); // no batch
  EXPECT_EQ(conv("", "2, 3, 5, 6", "2, 3, 1, 1", "2, 2, 5, 6"), "");
}

TEST(ProductGradient, OfConvolutionOfNamedSizesThatChange) {
  EXPECT_EQ(conv("", "2, 3, M, K", "2, 3, 3, 2", "2, 2, M - 2, K - 1"), "");
  EXPECT_EQ(conv(", padding=2, dilation=(1, 2)", "2, 3, M, K", "2, 3, 3, 2", "2, 2, M + 2, K + 2"),
            "");
  EXPECT_EQ(conv(", stride=2, padding=1, groups=2", "2, 4, M, K", "6, 2, 3, 3",
                 "2, 6, (M - 1) // 2 + 1, (K - 1) // 2 + 1"),
            "");
  EXPECT_EQ(conv(", stride=(3, 2)", "2, 3, M, K", "4, 3, 2, 1",
                 "2, 4, (M - 2) // 3 + 1, (K - 1) // 2 + 1"),
            "");
}

TEST(ProductGradient, OfTransposedConvolution) {
  const std::vector<Definition> forms = {
      {"out = F.conv_transpose2d(x, w)",
       {"x: 2, 3, M, K", "w: 3, 2, 2, 3"},
       "2, 2, M + 1, K + 2",
       "",
       {}},
      {"out = F.conv_transpose2d(x, w, b, stride=2, padding=1, output_padding=1)",
       {"x: 2, 3, M, K", "w: 3, 2, 3, 3", "b: 2"},
       "2, 2, 2 * M, 2 * K",
       "",
       {}},
      {"out = F.conv_transpose2d(x, w, stride=(2, 3), padding=(2, 0), groups=2)",
       {"x: 2, 4, 4, 5", "w: 4, 3, 3, 2"},
       "2, 6, 5, 14",
       "",
       {}},
      {"out = F.conv_transpose1d(x, w, stride=3, dilation=2)",
       {"x: 2, 3, M", "w: 3, 2, 2"},
       "2, 2, 3 * M",
       "",
       {}},
  };
  for (const Definition &form : forms) {
    EXPECT_EQ(wrongWith(form), "") << form.body;
  }
}

} // namespace
} // namespace nereid::eager
