// SPDX-License-Identifier: Apache-2.0
// The kernels of the shipped operators and of definitions that use all that kernels are made of,
// byte for byte as in unittests/generator/golden/. A change of the text is meant or an error: after
// one that is meant,
//   NEREID_RENEW_GOLDEN=1 build/bin/generator_test --gtest_filter='*Golden*'
// writes the files anew, and what they compute is tested in unittests/develop.
#include "unittests/generator/Making.h"

#include <cstdlib>
#include <fstream>
#include <sstream>

namespace nereid::generator {
namespace {

constexpr const char *rows = "[inputs.x]\nshape = [\"...\", \"D\"]\n";
constexpr const char *images = "[inputs.x]\nshape = [\"N\", \"C\", \"H\", \"W\"]\n"
                               "[inputs.b]\nshape = [\"C\", 1, 1]\n";
constexpr const char *integers = "\"int32\", \"int64\", \"int8\", \"uint8\"";

struct Sample {
  std::string name, body, inputs, outShape, dtypes = "\"float32\", \"float16\", \"float64\"",
                                            outDtype = "";
};

const std::vector<Sample> &samples() {
  static const std::vector<Sample> list = {
      {"unary",
       "out = -torch.abs(torch.floor(x)) + torch.sqrt(x) * torch.exp(x) - torch.log(x) / "
       "torch.sin(x) ** torch.cos(x) + torch.tanh(x) * torch.erf(x) - torch.expm1(x) * (x - "
       "torch.log1p(x)) / torch.sigmoid(x)",
       rows, "\"...\", \"D\""},
      {"activations",
       "a = F.gelu(x) + F.gelu(x, approximate='tanh') - F.silu(x) * F.mish(x)\n"
       "b = F.softplus(a) + F.hardswish(x) - F.hardsigmoid(a) * F.elu(x)\n"
       "out = F.leaky_relu(b, 0.2) + torch.ceil(a) - torch.floor(b) * torch.square(x)",
       rows, "\"...\", \"D\""},
      {"conditions",
       "a = (x > y) & (x < 2.5) | ~(x == y)\n"
       "out = torch.where(a, x - (y - 1.0), torch.maximum(x, y)) * torch.clamp(x, -1.0, 1.0) + "
       "torch.isnan(x) * torch.minimum(x, -y)",
       inputXY, "\"...\", \"D\""},
      {"tiles", "out = (x - (b - 1.5)) * (x + b) / (x * b) - -2.0 / (b - 1.0)", images,
       "\"N\", \"C\", \"H\", \"W\""},
      {"moments",
       "m = torch.mean(x, dim=-1, keepdim=True)\nv = torch.var(x, dim=-1, correction=0, "
       "keepdim=True)\nout = (x - m) * torch.rsqrt(v + 1e-05)",
       rows, "\"...\", \"D\""},
      {"extremes",
       "out = torch.amax(x, dim=-1) - torch.amin(torch.where(x > 0.0, x, 1.0), dim=-1) + "
       "torch.sum(x > 0.5, dim=-1)",
       rows, "\"...\"", "\"float32\", \"bfloat16\""},
      {"log_softmax", "out = F.log_softmax(x, dim=-1)", rows, "\"...\", \"D\""},
      {"image_sums", "out = torch.sum(x * b, dim=(-2, -1), keepdim=True)", images,
       "\"N\", \"C\", 1, 1"},
      {"whole", "out = (x + y) * 3 - (x & y) | (x ^ ~y)", inputXY, "\"...\", \"D\"", integers},
      {"whole_sums", "out = torch.sum(x, dim=-1) + torch.amax(x, dim=-1) - torch.amin(x, dim=-1)",
       rows, "\"...\"", integers, "int64"},
      {"quotients", "out = x / y + torch.sqrt(x)", inputXY, "\"...\", \"D\"", integers, "float32"},
  };
  return list;
}

void expectGolden(const std::string &name, const definition::Operator &op) {
  const std::string path = NEREID_SOURCE_DIR "/unittests/generator/golden/" + name + ".py";
  std::string text;
  for (const std::string &kernel : kernelsOf(op).program.kernels) {
    text += (text.empty() ? "" : "\n\n") + kernel;
  }
  if (std::getenv("NEREID_RENEW_GOLDEN")) {
    std::ofstream(path) << text;
  }
  std::ifstream file(path);
  std::ostringstream golden;
  golden << file.rdbuf();
  EXPECT_EQ(text, golden.str()) << path;
}

class ShippedGolden : public testing::TestWithParam<std::string> {};
INSTANTIATE_TEST_SUITE_P(All, ShippedGolden,
                         testing::Values("bias_gelu", "bias_relu", "broadcast_add", "layer_norm",
                                         "mask_add", "scale_shift", "softmax"),
                         [](const auto &info) { return info.param; });
TEST_P(ShippedGolden, KernelsAreAsTheyWere) { expectGolden(GetParam(), shipped(GetParam())); }

TEST(Golden, KernelsAreAsTheyWere) {
  for (const Sample &sample : samples()) {
    expectGolden("sample_" + sample.name,
                 made(sample.body, sample.inputs, sample.outShape, sample.dtypes, sample.outDtype));
  }
}

} // namespace
} // namespace nereid::generator
