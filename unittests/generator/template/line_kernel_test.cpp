// SPDX-License-Identifier: Apache-2.0
// Kernels of scans, sorted lines and positions against the reference: whole lines, lines in blocks,
// by the interpreter with every access checked and in part on the CPU.
#include "lib/generator/lower/Lower.h"
#include "lib/generator/normalise/Normalise.h"
#include "unittests/generator/lower/Chain.h"
#include "unittests/generator/template/Expect.h"

#include <gtest/gtest.h>

namespace nereid::generator {
namespace {

/// Sorted lines in blocks have blocks of their own size: LinesBeyondATile runs them.
bool runs(const std::string &body, const RunOptions &option) {
  const bool isSorted =
      body.find("sort") != std::string::npos || body.find("topk") != std::string::npos ||
      body.find("median") != std::string::npos || body.find("kthvalue") != std::string::npos;
  return !isSorted || !option.isLooped;
}

const std::vector<RunOptions> &interpreted() {
  static const std::vector<RunOptions> all = {{RunOn::Interpreter, true, false, false},
                                              {RunOn::Interpreter, true, true, true}};
  return all;
}

struct Line {
  const char *name, *body;
  bool isOfFloats = false, isWidened = false, isPosition = false;
  bool isOfOne = false; ///< the line becomes one element, or k of them
};

const Line lines[] = {
    {"cumsum", "out = torch.cumsum(x, dim={})", false, true},
    {"cumprod", "out = torch.cumprod(x, dim={})", false, true},
    {"logcumsumexp", "out = torch.logcumsumexp(x, dim={})", true},
    {"cummax", "out, _ = torch.cummax(x, dim={})"},
    {"cummax_indices", "_, out = torch.cummax(x, dim={})", false, false, true},
    {"cummin", "out = torch.cummin(x, dim={}).values"},
    {"cummin_indices", "out = torch.cummin(x, dim={}).indices", false, false, true},
    {"sort", "out = torch.sort(x, dim={})[0]"},
    {"sort_descending", "out, _ = torch.sort(x, dim={}, descending=True)"},
    {"argsort", "out = torch.argsort(x, dim={})", false, false, true},
    {"argsort_descending", "out = torch.argsort(x, dim={}, descending=True)", false, false, true},
    {"topk", "out, _ = torch.topk(x, 2, dim={})", false, false, false, true},
    {"topk_smallest", "_, out = torch.topk(x, 2, dim={}, largest=False)", false, false, true, true},
};

/// x: [B, N, M], along the dimension.
void expectLine(const Line &line, int dim, const std::vector<int64_t> &shape, DType dtype,
                const std::vector<RunOptions> &options) {
  if (line.isOfFloats && !isFloat(dtype)) {
    return;
  }
  std::vector<std::string> names = {"\"B\"", "\"N\"", "\"M\""};
  std::string constraints;
  if (line.isOfOne) {
    if (shape[static_cast<size_t>(dim)] < 2) {
      return;
    }
    constraints = "constraints = [\"" + names[static_cast<size_t>(dim)].substr(1, 1) + " >= 2\"]\n";
    names[static_cast<size_t>(dim)] = "2";
  }
  std::string body = line.body;
  body.replace(body.find("{}"), 2, std::to_string(dim));
  const Sample sample{body,
                      "[inputs.x]\nshape = [\"B\", \"N\", \"M\"]\n",
                      names[0] + ", " + names[1] + ", " + names[2],
                      {shape},
                      shape};
  const bool isWidened = line.isPosition || (line.isWidened && !isFloat(dtype));
  const definition::Operator op =
      made(body, constraints + sample.inputs, sample.outShape,
           "\"" + std::string(torchName(dtype)) + "\"", isWidened ? "int64" : "");
  for (const RunOptions &option : options) {
    SCOPED_TRACE(std::string(option.isLooped ? "in blocks" : "whole"));
    if (runs(sample.body, option)) {
      expectReference(op, sample, dtype, option);
    }
  }
}

class LineKernel : public testing::TestWithParam<Line> {};
INSTANTIATE_TEST_SUITE_P(All, LineKernel, testing::ValuesIn(lines),
                         [](const auto &info) { return std::string(info.param.name); });

TEST_P(LineKernel, IsTheReference) {
  for (int dim = 0; dim < 3; ++dim) {
    expectLine(GetParam(), dim, {3, 5, 9}, DType::F32, interpreted());
  }
  for (DType dtype : {DType::F64, DType::F16, DType::I8, DType::U8, DType::I32, DType::I64}) {
    expectLine(GetParam(), 2, {2, 2, 9}, dtype, interpreted());
  }
}

TEST_P(LineKernel, LengthsBesidePowersOfTwo) {
  for (int64_t length : {1, 2, 3, 4, 7, 8, 17}) {
    expectLine(GetParam(), 2, {1, 2, length}, DType::F32, interpreted());
  }
}

TEST_P(LineKernel, IsTheReferenceOnTheCpu) {
  const std::vector<RunOptions> blocks = {{RunOn::Cpu, false, false, false},
                                          {RunOn::Cpu, true, false, true}};
  expectLine(GetParam(), 1, {3, 70, 5}, DType::F32, blocks);
  expectLine(GetParam(), 2, {2, 2, 33}, DType::I64, blocks);
}

/// With the blocks that a launch takes: a scan's loops, a sort's blocks and ranks.
TEST_P(LineKernel, LinesBeyondATile) {
  const std::vector<RunOptions> own = {{RunOn::Cpu, false, false, false}};
  if (std::string(GetParam().name) == "cumprod") {
    return; // leaves the range, where nothing can be verified
  }
  expectLine(GetParam(), 2, {1, 2, 4097}, DType::F32, own);
  expectLine(GetParam(), 1, {1, 9000, 2}, DType::F64, own);
}

/// With those of a device: shorter blocks, of few lines that a tile could hold as well.
TEST_P(LineKernel, LinesOfADevice) {
  const std::vector<RunOptions> own = {
      {RunOn::Cpu, false, false, false, false, {}, LaunchSite{132, true}}};
  if (std::string(GetParam().name) == "cumprod") {
    return;
  }
  expectLine(GetParam(), 2, {1, 2, 5000}, DType::F32, own);
  expectLine(GetParam(), 2, {1, 2, 1500}, DType::I64, own);
  expectLine(GetParam(), 1, {1, 1025, 2}, DType::F64, own);
}

/// All of them are in the last block, which is not a whole one.
TEST(LineKernels, SeveralAreChosenOfOneBlock) {
  const definition::Operator op = made("_, out = torch.topk(x, 4, dim=0, largest=False)",
                                       "constraints = [\"N >= 4\"]\n[inputs.x]\nshape = [\"N\"]\n",
                                       "4", "\"float32\"", "int64");
  auto program = lower(op, DType::F32);
  ASSERT_TRUE(bool(program));
  normalise(*program);
  constexpr int64_t count = 5 * 1024 + 7;
  EvaluationInput input{{count}, {}, {}};
  for (int64_t i = 0; i < count; ++i) {
    input.memory["x"].push_back(static_cast<double>(-i));
  }
  RunOptions own;
  own.hasSmallBlocks = false;
  auto memory = run(*program, input, own);
  ASSERT_TRUE(bool(memory)) << memory.error().message;
  for (int64_t i = 0; i < 4; ++i) {
    EXPECT_EQ(memory->at("out")[static_cast<size_t>(i)], static_cast<double>(count - 1 - i));
  }
}

struct OneOf {
  const char *name, *body;
  bool isPosition = false, isOfFloats = false;
};
const OneOf onesOf[] = {
    {"argmax", "out = torch.argmax(x, dim=-1)", true},
    {"argmin", "out = x.argmin(dim=-1)", true},
    {"max", "out = torch.max(x, dim=-1).values"},
    {"max_indices", "_, out = x.max(-1)", true},
    {"min", "out, where = torch.min(x, -1)"},
    {"median", "out = torch.median(x, dim=-1).values"},
    {"median_indices", "out = torch.median(x, dim=-1).indices", true},
    {"kthvalue", "out = torch.kthvalue(x, 2).values"},
    {"kthvalue_indices", "_, out = torch.kthvalue(x, 2)", true},
};
class OneOfLine : public testing::TestWithParam<OneOf> {};
INSTANTIATE_TEST_SUITE_P(All, OneOfLine, testing::ValuesIn(onesOf),
                         [](const auto &info) { return std::string(info.param.name); });

TEST_P(OneOfLine, IsTheReference) {
  for (DType dtype : {DType::F32, DType::F64, DType::BF16, DType::I16, DType::I64}) {
    for (int64_t length : {2, 3, 8, 9, 40}) {
      const Sample sample{GetParam().body,
                          "constraints = [\"M >= 2\"]\n[inputs.x]\nshape = [\"N\", \"M\"]\n",
                          "\"N\"",
                          {{5, length}},
                          {5, length}};
      const definition::Operator op =
          made(sample.body, sample.inputs, "\"N\"", "\"" + std::string(torchName(dtype)) + "\"",
               GetParam().isPosition ? "int64" : "");
      for (const RunOptions &option : interpreted()) {
        if (runs(sample.body, option)) {
          expectReference(op, sample, dtype, option);
        }
      }
      expectReference(op, sample, dtype, {RunOn::Cpu, false, false, false});
    }
  }
}

/// What comes before lines and behind them.
TEST(LineKernels, BesideOtherOperations) {
  const std::vector<std::string> bodies = {
      "out = torch.cumsum(torch.softmax(x, dim=-1), dim=-1)",
      "out = torch.cumsum(x * 2 + 1, dim=0) / 3",
      "out = torch.cumsum(torch.cumsum(x, dim=0), dim=1)",
      "out = x - torch.cummax(x, dim=-1).values",
      "out = torch.sort(x * 2 + 1, dim=-1).values * x",
      "out = torch.sort(torch.sort(x, dim=0).values, dim=1).values",
      "out = torch.cumsum(x - x.mean(dim=0, keepdim=True), dim=1)",
      "values, _ = torch.sort(x, dim=-1, descending=True)\nout = torch.cumsum(values, dim=-1)",
      "a, b = x + 1, x * 2\nout = torch.cumsum(a, dim=-1) + b",
  };
  for (const std::string &body : bodies) {
    const Sample sample{
        body, "[inputs.x]\nshape = [\"N\", \"M\"]\n", "\"N\", \"M\"", {{5, 9}}, {5, 9}};
    const definition::Operator op = made(body, sample.inputs, sample.outShape, "\"float32\"");
    for (const RunOptions &option : interpreted()) {
      if (runs(sample.body, option)) {
        expectReference(op, sample, DType::F32, option);
      }
    }
    expectReference(op, sample, DType::F32, {RunOn::Cpu, false, false, false});
  }
}

/// A dimension of one element is known to be sorted and summed.
TEST(LineKernels, LinesOfOneElement) {
  for (const auto &[body, shape] : std::vector<std::pair<std::string, std::string>>{
           {"out = torch.sort(x, dim=0).values", "1, \"M\""},
           {"out = torch.cumsum(torch.sort(x * 2, dim=0).values, dim=0)", "1, \"M\""},
           {"out = torch.topk(x, 1, dim=0).values", "1, \"M\""},
           {"out = torch.median(x, dim=0).values", "\"M\""},
           {"out = torch.kthvalue(x, 1, dim=0, keepdim=True).values", "1, \"M\""},
           {"out = x + torch.argsort(x, dim=0)", "1, \"M\""},
           // of which nothing is asked but its shape
           {"out = x + torch.argsort(torch.cumsum(x, dim=1), dim=0)", "1, \"M\""}}) {
    const Sample sample{body, "[inputs.x]\nshape = [1, \"M\"]\n", shape, {{1, 9}}, {9}};
    const definition::Operator op = made(body, sample.inputs, shape, "\"float32\"");
    for (const RunOptions &option : interpreted()) {
      expectReference(op, sample, DType::F32, option);
    }
  }
}

} // namespace
} // namespace nereid::generator
