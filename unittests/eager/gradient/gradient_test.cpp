// SPDX-License-Identifier: Apache-2.0
// Backward operators, made from definitions, against finite differences: each derivative of
// operations.def, broadcasting, reductions and the shipped operators; and that a wrong one is
// found.
#include "unittests/eager/Values.h"

#include "lib/definition/gradient/rules/Derivatives.h"
#include "lib/definition/operations/Operations.h"
#include "lib/eager/gradient/GradientCheck.h"

#include <fmt/format.h>

#include <algorithm>
#include <filesystem>
#include <set>

namespace nereid::eager {
namespace {

using definition::Backward;
using definition::Binding;

Operator parsed(const std::string &body, const std::string &inputs, const std::string &shape) {
  const std::string text = "[operator]\nname = \"t\"\nsummary = \"s\"\ndtypes = [\"float32\"]\n"
                           "body = \"\"\"\n" +
                           body + "\n\"\"\"\n" + inputs + "[outputs.out]\nshape = [" + shape +
                           "]\n[performance]\ncases = [{ N = 3, M = 5 }]\n";
  Diagnostics diags;
  auto op = definition::parseOperator("t.toml", text, diags);
  EXPECT_TRUE(op) << body << "\n" << diags.render();
  return op ? *op : Operator();
}

Binding sizes() {
  Binding binding;
  binding.symbols = {{"N", 3}, {"M", 5}};
  return binding;
}

/// Text of what is wrong with the gradient of the operator; "" = nothing.
std::string wrongIn(const Operator &op, const Binding &binding = sizes()) {
  auto backward = definition::backwardOf(op);
  if (!backward) {
    return render(backward.error());
  }
  for (uint64_t seed = 1; seed <= 3; ++seed) {
    auto check = checkGradient(op, *backward, binding, seed, runtime::defaultPool());
    if (!check || !check->failure.empty()) {
      return (check ? check->failure : render(check.error())) + "\n" + backward->text;
    }
    EXPECT_GT(check->compared, 0);
  }
  return "";
}

constexpr const char *matrix = "[inputs.x]\nshape = [\"N\", \"M\"]\n";
constexpr const char *two =
    "[inputs.x]\nshape = [\"N\", \"M\"]\n[inputs.y]\nshape = [\"N\", \"M\"]\n";
constexpr const char *row = "[inputs.x]\nshape = [\"N\", \"M\"]\n[inputs.y]\nshape = [\"M\"]\n";

// ---- each row ----

/// How an operation is called on x and y, where x alone is not enough.
const std::map<std::string, std::string> &calls() {
  static const std::map<std::string, std::string> table = {
      {"sqrt", "torch.sqrt(torch.abs(x * y) + 0.5)"},
      {"rsqrt", "torch.rsqrt(torch.abs(x * y) + 0.5)"},
      {"log", "torch.log(torch.abs(x * y) + 0.5)"},
      {"log2", "torch.log2(torch.abs(x * y) + 0.5)"},
      {"log1p", "torch.log1p(torch.abs(x * y))"},
      {"reciprocal", "torch.reciprocal(torch.abs(x * y) + 0.5)"},
      {"leaky_relu", "F.leaky_relu(x * y, 0.2)"},
      {"elu", "F.elu(x * y, 1.5)"},
      {"pow", "(torch.abs(x * y) + 0.5) ** y"},
      {"div", "x / (torch.abs(y) + 0.5)"},
      {"where", "torch.where(x > y, x * 3, y * y)"},
      {"masked_fill", "torch.masked_fill(x * y, x > 0, 2.5)"},
      {"clamp", "torch.clamp(x * y, -0.5, 0.75)"},
      {"gelu approximate=tanh", "F.gelu(x * y, approximate=\"tanh\")"},
      {"layer_norm", "F.layer_norm(x, (M,), y, y)"},
      {"rms_norm", "F.rms_norm(x, (M,), y)"},
      {"softmax", "F.softmax(x * y, dim=-1)"},
      {"log_softmax", "F.log_softmax(x * y, dim=0)"},
      {"logsumexp", "torch.logsumexp(x, dim=-1, keepdim=True) * y"},
      {"sqrt norm", "torch.norm(x * y, dim=-1, keepdim=True) * y"},
      {"pow norm", "torch.norm(x * y, p=3, dim=-1, keepdim=True) * y"},
      {"log10", "torch.log10(torch.abs(x * y) + 0.5)"},
      {"tan", "torch.tan(torch.tanh(x * y))"},
      {"asin", "torch.asin(0.9 * torch.tanh(x * y))"},
      {"acos", "torch.acos(0.9 * torch.tanh(x * y))"},
      {"acosh", "torch.acosh(torch.abs(x * y) + 1.5)"},
      {"atanh", "torch.atanh(0.9 * torch.tanh(x * y))"},
      {"erfinv", "torch.erfinv(0.9 * torch.tanh(x * y))"},
      {"lgamma", "torch.lgamma(torch.abs(x * y) + 0.5)"},
      {"digamma", "torch.digamma(torch.abs(x * y) + 0.5)"},
      {"polygamma n=0", "torch.polygamma(0, torch.abs(x * y) + 0.5)"},
      {"polygamma n=1", "torch.polygamma(1, torch.abs(x * y) + 0.5)"},
      {"polygamma n=2", "torch.polygamma(2, torch.abs(x * y) + 0.5)"},
      {"logit", "torch.logit(torch.sigmoid(x * y), 0.2)"},
      {"entr", "torch.special.entr(torch.abs(x * y) + 0.5)"},
      {"nan_to_num", "torch.nan_to_num(x * y, 0.0, 1e30, -1e30)"},
      {"prelu", "F.prelu(x * x * x, y)"},
      {"copysign", "torch.copysign(x, 1.0) * y"},
      {"hardshrink", "F.hardshrink(x * y * 3, 0.2)"},
      {"threshold", "F.threshold(x * y, 0.3, 2.0)"},
      {"remainder", "torch.remainder(x, torch.abs(y) + 0.5)"},
      {"fmod", "torch.fmod(x, torch.abs(y) + 0.5)"},
      {"addcmul", "torch.addcmul(x, y, x * y, value=0.5)"},
      {"addcdiv", "torch.addcdiv(x, y, torch.abs(x) + 0.5, value=0.5)"},
      {"lerp", "torch.lerp(x, y, x * y)"},
      {"clamp min", "torch.clamp(x, y, y + 1)"},
      {"clamp max", "torch.clamp(x, y - 1, y)"},
      {"l1_loss", "F.l1_loss(x, y, reduction=\"none\")"},
      {"mse_loss", "F.mse_loss(x, y, reduction=\"none\")"},
      {"huber_loss", "F.huber_loss(x, y, reduction=\"none\", delta=0.7)"},
      {"smooth_l1_loss", "F.smooth_l1_loss(x, y, reduction=\"none\", beta=0.7)"},
      {"gaussian_nll_loss", "F.gaussian_nll_loss(x, y, x * x + 0.5, reduction=\"none\")"},
      {"soft_margin_loss", "F.soft_margin_loss(x, y, reduction=\"none\")"},
      {"margin_ranking_loss", "F.margin_ranking_loss(x, y, x * y, margin=0.2, reduction=\"none\")"},
      {"binary_cross_entropy",
       "F.binary_cross_entropy(torch.sigmoid(x), torch.sigmoid(y), reduction=\"none\")"},
      {"binary_cross_entropy_with_logits",
       "F.binary_cross_entropy_with_logits(x, y, reduction=\"none\")"},
  };
  return table;
}

class DerivativeRow : public testing::TestWithParam<std::string> {};
INSTANTIATE_TEST_SUITE_P(
    All, DerivativeRow, testing::ValuesIn(definition::allDerivatives()), [](const auto &info) {
      std::string name = info.param;
      std::replace_if(name.begin(), name.end(), [](char c) { return !std::isalnum(c); }, '_');
      return name;
    });

TEST_P(DerivativeRow, IsWhatDifferencesSay) {
  const std::string name = GetParam().substr(0, GetParam().find(' '));
  const std::string when = GetParam().substr(GetParam().rfind(' ') + 1);
  const definition::Operation &operation = *definition::findOperation(name);
  auto found = calls().find(calls().contains(name + " " + when) ? name + " " + when : name);
  std::string call = found == calls().end() ? "" : found->second;
  const bool isReduction = operation.kind == definition::OperationKind::Reduction;
  if (call.empty()) {
    const bool isScan = operation.kind == definition::OperationKind::Scan;
    call = isReduction ? fmt::format("torch.{}(x * y, dim=-1, keepdim=True) * y", name)
           : isScan    ? fmt::format("torch.{}(x * y, dim=-1) * y", name)
           : operation.operandCount() == 2 ? fmt::format("torch.{}(x * 2.0, y * y)", name)
                                           : fmt::format("torch.{}(x * y)", name);
  }
  const bool isNorm = name == "layer_norm" || name == "rms_norm" || name == "prelu";
  const Operator op = parsed("out = " + call, isNorm ? row : two, "\"N\", \"M\"");
  EXPECT_EQ(wrongIn(op), "") << call;
}

// ---- shapes ----

TEST(Gradient, IsSummedOverWhatIsBroadcast) {
  EXPECT_EQ(wrongIn(parsed("out = x * y + torch.exp(y)", row, "\"N\", \"M\"")), "");
  EXPECT_EQ(wrongIn(parsed("out = y * x",
                           "[inputs.x]\nshape = [\"N\", 1]\n[inputs.y]\nshape = "
                           "[\"M\"]\n",
                           "\"N\", \"M\"")),
            "");
  EXPECT_EQ(wrongIn(parsed("out = x * s",
                           "[inputs.x]\nshape = [\"N\", \"M\"]\n[inputs.s]\nshape "
                           "= []\n",
                           "\"N\", \"M\"")),
            "");
}

TEST(Gradient, OfReductions) {
  for (const char *name : {"sum", "mean", "amax", "amin", "var", "std"}) {
    const std::string call = "out = torch." + std::string(name);
    EXPECT_EQ(wrongIn(parsed(call + "(x, dim=-1)", matrix, "\"N\"")), "") << name;
    EXPECT_EQ(wrongIn(parsed(call + "(x, dim=0)", matrix, "\"M\"")), "") << name;
    EXPECT_EQ(wrongIn(parsed(call + "(x)", matrix, "")), "") << name;
    EXPECT_EQ(wrongIn(parsed(call + "(x, dim=(0, 1), keepdim=True)", matrix, "1, 1")), "") << name;
    EXPECT_EQ(
        wrongIn(parsed("t = torch." + std::string(name) + "(x * y, dim=-1)\nout = torch.exp(t) * t",
                       two, "\"N\"")),
        "")
        << name;
  }
  EXPECT_EQ(wrongIn(parsed("out = torch.var(x, dim=-1, correction=0)", matrix, "\"N\"")), "");
  EXPECT_EQ(wrongIn(parsed("out = torch.logsumexp(x * y, dim=(0, 1))", two, "")), "");
  EXPECT_EQ(wrongIn(parsed("out = torch.logsumexp(x * y, dim=0)", two, "\"M\"")), "");
}

TEST(Gradient, OfWhatIsUsedSeveralTimes) {
  EXPECT_EQ(wrongIn(parsed("a = x * y\nb = torch.tanh(a)\nc = a + b * a\nout = c * b - x", two,
                           "\"N\", \"M\"")),
            "");
  EXPECT_EQ(wrongIn(parsed("out = x + x", matrix, "\"N\", \"M\"")), "");
  EXPECT_EQ(wrongIn(parsed("a = x * 2\na = a * a\nout = a * torch.unsqueeze(a.sum(-1), -1)", matrix,
                           "\"N\", \"M\"")),
            "");
  EXPECT_EQ(wrongIn(parsed("out = x * (M - 2) / math.sqrt(N) + 1 - -y", two, "\"N\", \"M\"")), "");
  // x's gradient is a share of y's.
  EXPECT_EQ(wrongIn(parsed("a = x + y\nout = a * a + y", two, "\"N\", \"M\"")), "");
}

TEST(Gradient, OfConversionsAndWrittenParts) {
  EXPECT_EQ(
      wrongIn(parsed("out = (x.clone() * y).to(torch.float64).to(x.dtype)", two, "\"N\", \"M\"")),
      "");
  EXPECT_EQ(wrongIn(parsed("out = x * y\nout[:, 0] = 0\nout[1:, 1::2] *= y[1:, 1::2]", two,
                           "\"N\", \"M\"")),
            "");
}

TEST(Gradient, GoesBackInTheTypeOfWhatWasPromoted) {
  const std::string half = "[inputs.x]\nshape = [\"N\", \"M\"]\n"
                           "[inputs.w]\nshape = [\"M\"]\ndtype = \"float16\"\n";
  for (const char *body : {"out = x * w", "out = x * w.float() + torch.exp(w)",
                           "out = torch.where(x > 0, x, w) / (w * w + 1)"}) {
    const Operator op = parsed(body, half, "\"N\", \"M\"");
    EXPECT_EQ(wrongIn(op), "") << body;
    const auto backward = definition::backwardOf(op);
    ASSERT_TRUE(backward) << body << "\n" << render(backward.error());
    const std::vector<DType> types = definition::nodeDtypes(backward->op, DType::F32);
    EXPECT_EQ(types[static_cast<size_t>(backward->op.outputs[0])], DType::F32);
    EXPECT_EQ(types[static_cast<size_t>(backward->op.outputs[1])], DType::F16);
  }
  // Summed before it is rounded, as PyTorch does.
  const auto backward = definition::backwardOf(parsed("out = x * w", half, "\"N\", \"M\""));
  ASSERT_TRUE(backward);
  EXPECT_LT(backward->text.find("torch.sum("), backward->text.find(".to(torch.float16)"));
}

TEST(Gradient, OfShippedOperators) {
  std::set<std::string> open;
  for (const auto &entry : std::filesystem::directory_iterator(NEREID_SOURCE_DIR "/operators")) {
    if (entry.path().extension() != ".toml") { // a folder of others
      continue;
    }
    Diagnostics diags;
    auto op = definition::loadOperator(entry.path().string(), diags);
    ASSERT_TRUE(op) << diags.render();
    Binding binding;
    binding.rest = {2};
    for (const std::string &symbol : definition::symbolsOf(*op)) {
      binding.symbols[symbol] = 4;
    }
    auto backward = definition::backwardOf(*op);
    if (!backward) {
      EXPECT_EQ(backward.error().code, "E0620");
      open.insert(op->name);
      continue;
    }
    EXPECT_EQ(wrongIn(*op, binding), "") << op->name;
    binding.rest = {}; // nothing is summed
    EXPECT_EQ(wrongIn(*op, binding), "") << op->name;
    binding.rest = {2, 3};
    EXPECT_EQ(wrongIn(*op, binding), "") << op->name;
  }
  for (const char *name : {"softmax", "layer_norm", "bias_gelu"}) {
    EXPECT_FALSE(open.contains(name)) << name;
  }
}

TEST(Gradient, OfPowersOfNumbers) {
  EXPECT_EQ(wrongIn(parsed("out = 2.0 ** x + x ** 3 + x ** 0 + torch.abs(x) ** 2.5", matrix,
                           "\"N\", \"M\"")),
            "");
}

TEST(Gradient, GoesAroundWhatIsRounded) {
  EXPECT_EQ(wrongIn(parsed("out = (x - torch.floor(x)) * y", two, "\"N\", \"M\"")), "");
}

TEST(Gradient, OfWhatIsOpened) { // through the lowering
  EXPECT_EQ(wrongIn(parsed("out = torch.tanh_backward(x, y) * y", two, "\"N\", \"M\"")), "");
  EXPECT_EQ(wrongIn(parsed("out = torch.sinh(x) + torch.softplus_backward(x, y, 1.5, 20.0)", two,
                           "\"N\", \"M\"")),
            "");
}

TEST(Gradient, IsComparedWhereTheOperatorIsDefined) {
  for (const char *call : {"torch.sqrt(x * y)", "torch.log(x) + y", "(x * y) ** 2.5",
                           "torch.var(x * y, dim=-1, keepdim=True) + torch.rsqrt(x)"}) {
    EXPECT_EQ(wrongIn(parsed(std::string("out = ") + call, two, "\"N\", \"M\"")), "") << call;
  }
}

// ---- what is wrong ----

TEST(Gradient, AWrongOneIsFound) {
  const Operator op = parsed("out = torch.tanh(x * y)", two, "\"N\", \"M\"");
  auto backward = definition::backwardOf(op);
  ASSERT_TRUE(bool(backward)) << render(backward.error());
  for (const auto &[from, to] : std::vector<std::pair<std::string, std::string>>{
           {"1 - out * out", "1 - out"}, {"* y", "* x"}}) {
    Backward wrong = *backward;
    const size_t at = wrong.text.find(from);
    ASSERT_NE(at, std::string::npos) << wrong.text;
    wrong.text.replace(at, from.size(), to);
    Diagnostics diags;
    auto read = definition::parseOperator("t.toml", wrong.text, diags);
    ASSERT_TRUE(read) << diags.render();
    wrong.op = *read;
    auto check = checkGradient(op, wrong, sizes(), 1, runtime::defaultPool());
    ASSERT_TRUE(bool(check));
    EXPECT_NE(check->failure, "") << wrong.text;
  }
}

TEST(Gradient, WhatHasNoneIsRefused) {
  auto code = [](const Operator &op, const std::vector<std::string> &by = {}) {
    auto backward = definition::backwardOf(op, by);
    return backward ? "" : backward.error().code + ": " + backward.error().message;
  };
  EXPECT_EQ(code(parsed("out = torch.floor(x)", matrix, "\"N\", \"M\"")),
            "E0620: no output of 't' depends on 'x'");
  EXPECT_EQ(code(parsed("out = x * 2", matrix, "\"N\", \"M\""), {"z"}),
            "E0620: 't' has no float tensor 'z' to differentiate by");
  const Operator ofOne = parsed("out = torch.copysign(x, y)", two, "\"N\", \"M\"");
  EXPECT_EQ(code(ofOne, {"x", "y"}), "E0620: no output of 't' depends on 'y'");
  EXPECT_EQ(code(ofOne, {"x"}), "");
}

TEST(Gradient, AnInputThatNoOutputDependsOnHasNone) {
  const Operator op = parsed("out = torch.copysign(x, y)", two, "\"N\", \"M\"");
  auto backward = definition::backwardOf(op);
  ASSERT_TRUE(bool(backward)) << render(backward.error());
  ASSERT_EQ(backward->op.outputNames, std::vector<std::string>{"grad_x"});
  EXPECT_EQ(backward->differentiated, std::vector<int>{0});
  EXPECT_EQ(wrongIn(op), "");
}

/// A loss is written without its reduction where the gradient reads it.
TEST(Gradient, OfTheLossOfEachElementTimesAnother) {
  for (const char *loss :
       {"F.l1_loss(x, y, reduction=\"none\")", "F.mse_loss(x, y, reduction=\"none\")",
        "F.huber_loss(x, y, reduction=\"none\", delta=0.5)",
        "F.smooth_l1_loss(x, y, beta=0.5, reduction=\"none\")",
        "F.soft_margin_loss(x, y, reduction=\"none\")",
        "F.binary_cross_entropy(torch.sigmoid(x), y, reduction=\"none\")",
        "F.binary_cross_entropy_with_logits(x, y, reduction=\"none\", pos_weight=torch.exp(y))",
        "F.margin_ranking_loss(x, y, x * y, margin=0.5, reduction=\"none\")"}) {
    EXPECT_EQ(wrongIn(parsed("out = torch.sigmoid(x) * " + std::string(loss), two, "\"N\", \"M\"")),
              "");
  }
}

/// Beside a sum of 2^40 nothing of the others is left.
TEST(Gradient, ElementsOfAllMagnitudesAreCompared) {
  const Operator op =
      parsed("out = torch.sin(x) * 2.0 ** (40 * torch.floor(y))", two, "\"N\", \"M\"");
  EXPECT_EQ(wrongIn(op), "");
}

} // namespace
} // namespace nereid::eager
