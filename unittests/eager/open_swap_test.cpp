// SPDX-License-Identifier: Apache-2.0
// Dimensions swapped behind "...", however many it stands for: reference, baseline and the call
// that generated C++ makes, against the elements at their places.
#include "unittests/eager/Values.h"

#include "lib/eager/reference/Reference.h"

#include <fmt/format.h>

#include <array>

namespace nereid::eager {
namespace {

/// x: [..., I, J, K] of […, 2, 3, 4], and the places from the end that each of the result's last
/// three dimensions comes from.
struct Swap {
  const char *call, *shape;
  std::array<size_t, 3> from;
};

const Swap swaps[] = {
    {"x.mT", "'I', 'K', 'J'", {0, 2, 1}},
    {"x.transpose(-1, -2)", "'I', 'K', 'J'", {0, 2, 1}},
    {"x.swapaxes(-3, -1)", "'K', 'J', 'I'", {2, 1, 0}},
    {"torch.transpose(x, -3, -2)", "'J', 'I', 'K'", {1, 0, 2}},
    {"x.transpose(-3, -1).mT", "'K', 'I', 'J'", {2, 0, 1}},
    {"torch.einsum('...ijk->...jki', x)", "'J', 'K', 'I'", {1, 2, 0}},
    {"torch.einsum('...ijk->...kij', x)", "'K', 'I', 'J'", {2, 0, 1}},
};

TEST(OpenSwap, MovesElementsToTheirPlaces) {
  constexpr std::array<int64_t, 3> sizes = {2, 3, 4};
  for (const Swap &swap : swaps) {
    Diagnostics diags;
    const auto op = definition::parseOperator(
        "s.toml",
        fmt::format(
            "[operator]\nname = 't'\nsummary = 's'\ndtypes = ['float32']\nbody = \"\"\"\nout = "
            "{} * 1\n\"\"\"\n[inputs.x]\nshape = ['...', 'I', 'J', 'K']\n[outputs.out]\nshape = "
            "['...', {}]\n[performance]\ncases = [{{ '...' = [2], I = 2, J = 3, K = 4 }}]\n",
            swap.call, swap.shape),
        diags);
    ASSERT_TRUE(op) << swap.call << diags.render();
    for (const std::vector<int64_t> &leading :
         {std::vector<int64_t>{}, {5}, {0}, {2, 3}, {2, 1, 3}}) {
      SCOPED_TRACE(fmt::format("{} of {} leading dimensions", swap.call, leading.size()));
      std::vector<int64_t> shape = leading, turned = leading;
      for (size_t i = 0; i < 3; ++i) {
        shape.push_back(sizes[i]);
        turned.push_back(sizes[swap.from[i]]);
      }
      Tensor x = Tensor::empty(shape, DType::F32);
      runtime::fillNormal(x, 5);
      auto reference =
          runReference(*op, {{x}}, DType::F32, Rounding::OncePerResult, runtime::defaultPool());
      ASSERT_TRUE(reference) << render(reference.error());
      auto baseline = runGraph(*op, {{x}}, runtime::defaultPool());
      ASSERT_TRUE(baseline) << render(baseline.error());
      ASSERT_EQ((*reference)[0].values.shape(), turned);
      ASSERT_EQ((*baseline)[0].shape(), turned);
      const std::array<int64_t, 3> strides = {12, 4, 1};
      for (int64_t i = 0; i < x.elementCount(); ++i) {
        int64_t rest = i, from = 0;
        for (size_t d = 3; d-- > 0;) {
          from += rest % sizes[swap.from[d]] * strides[swap.from[d]];
          rest /= sizes[swap.from[d]];
        }
        EXPECT_EQ((*reference)[0].values.at(i), x.at(rest * 24 + from)) << i;
        EXPECT_EQ((*baseline)[0].at(i), x.at(rest * 24 + from)) << i;
      }
    }
  }
}

TEST(OpenSwap, IsCalledByGeneratedFiles) {
  const Tensor x = make({2, 2, 3}, {1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12});
  const std::vector<int64_t> last = {-1, -2};
  EXPECT_EQ(list(call("permute", {x}, {{"dims", last}, {"trailing", true}})),
            (std::vector<double>{1, 4, 2, 5, 3, 6, 7, 10, 8, 11, 9, 12}));
  EXPECT_EQ(errorOf("permute", {x}, {{"dims", last}}), "E0604");
  EXPECT_EQ(errorOf("permute", {x}, {{"dims", int64_t{-1}}, {"trailing", true}}), "E0604");
  EXPECT_EQ(errorOf("permute", {x}, {{"dims", last}, {"trailing", int64_t{1}}}), "E0608");
  EXPECT_EQ(errorOf("permute", {x}, {{"dims", std::vector<int64_t>{-1, -1}}, {"trailing", true}}),
            "E0604");
}

TEST(OpenSwap, OfWhatMayNotBeThereIsRefused) {
  for (const char *call : {"x.transpose(0, 1)", "x.transpose(-1, -3)", "x.transpose(-1, 0)", "x.T",
                           "x.t()", "torch.permute(x, (-1, -2))"}) {
    Diagnostics diags;
    EXPECT_FALSE(definition::parseOperator(
        "s.toml",
        fmt::format(
            "[operator]\nname = 't'\nsummary = 's'\ndtypes = ['float32']\nbody = \"out = {} * 1\"\n"
            "[inputs.x]\nshape = ['...', 'I', 'J']\n[outputs.out]\nshape = ['...', 'J', 'I']\n"
            "[performance]\ncases = [{{ '...' = [2], I = 2, J = 3 }}]\n",
            call),
        diags))
        << call;
    ASSERT_FALSE(diags.all().empty());
    EXPECT_EQ(diags.all()[0].code, "E0604") << call << diags.render();
  }
}

} // namespace
} // namespace nereid::eager
