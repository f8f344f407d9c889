// SPDX-License-Identifier: Apache-2.0
// Functions that operations.def writes out in others, and operations whose bound is that of their
// formula: baseline and reference against PyTorch's definitions, written here with the C library,
// among them NaN, infinities and both zeros. A row of the table of calls is what a function needs.
#include "unittests/eager/Values.h"

#include "lib/definition/operations/Operations.h"
#include "lib/eager/reference/Reference.h"

#include <algorithm>
#include <cmath>
#include <functional>
#include <limits>

namespace nereid::eager {
namespace {

using Numbers = std::vector<double>;

constexpr double inf = std::numeric_limits<double>::infinity();
constexpr double nan = std::numeric_limits<double>::quiet_NaN();
constexpr int64_t rows = 3, columns = 5, count = rows * columns;

/// A call on x, y, z, all [3, 5], whose elements are numbers unless `x` and `y` say others.
struct Call {
  const char *name, *body, *shape;
  std::function<double(const double *x, const double *y, const double *z, int64_t i)> expected;
  Numbers x = {}, y = {};
};

double normalBelow(double x) { return 0.5 * std::erfc(-x / std::sqrt(2.0)); }

/// exp(x^2) erfc(x): from 5 on by the continued fraction.
double scaledErfc(double x) {
  if (!(x > 5)) {
    return std::exp(x * x) * std::erfc(x);
  }
  double below = x;
  for (int k = 60; k > 0; --k) {
    below = x + k / 2.0 / below;
  }
  return 1 / (std::sqrt(M_PI) * below);
}

double lengthOf(const double *x, const double *y, double eps) {
  double sum = 0;
  for (int64_t k = 0; k < columns; ++k) {
    sum += (x[k] - y[k] + eps) * (x[k] - y[k] + eps);
  }
  return std::sqrt(sum);
}

double productOf(const double *x, const double *y) {
  double sum = 0;
  for (int64_t k = 0; k < columns; ++k) {
    sum += x[k] * y[k];
  }
  return sum;
}

double cosineOf(const double *x, const double *y, double eps) {
  return productOf(x, y) /
         (std::max(std::sqrt(productOf(x, x)), eps) * std::max(std::sqrt(productOf(y, y)), eps));
}

double meanOf(const double *x) {
  double sum = 0;
  for (int64_t k = 0; k < columns; ++k) {
    sum += x[k];
  }
  return sum / columns;
}

/// Of rows a and b, divided by `by`.
double covarianceOf(const double *a, const double *b, double by) {
  double sum = 0;
  for (int64_t k = 0; k < columns; ++k) {
    sum += (a[k] - meanOf(a)) * (b[k] - meanOf(b));
  }
  return sum / by;
}

double cosineLoss(const double *x, const double *y, double target, double margin) {
  const double alike =
      productOf(x, y) / std::sqrt((productOf(x, x) + 1e-12) * (productOf(y, y) + 1e-12));
  return target == 1 ? 1 - alike : target == -1 ? std::max(0.0, alike - margin) : 0;
}

const Numbers ends = {nan, inf, -inf, 0.0, -0.0, 1, -1, 0.5, -0.5, 30, -30, 2, -2, 1e-3, -1e-3};
const Numbers tails = {nan, inf, -inf, 0.0, -0.0, 1, -1, 1e5, -7, 30, -2.5, 5.5, -1e-3, 0.7, 1e300};
const Numbers gaps = {1, nan, 3, nan, 5, nan, nan, nan, nan, nan, inf, 1, nan, 2, 3};
const Numbers signs = {1, -1, 0, 1, -1, -1, 1, 0, 1, -1, 1, 1, -1, -1, 0};
const Numbers counts = {0, 1, 2, 3, 4, 5, 0, 1, 7, 9, 0.5, 1.5, 2.5, 20, 0};

double nanSum(const double *x, double &present) {
  double sum = 0;
  present = 0;
  for (int64_t k = 0; k < columns; ++k) {
    sum += std::isnan(x[k]) ? 0 : x[k];
    present += std::isnan(x[k]) ? 0 : 1;
  }
  return sum;
}

double rateLoss(double rate, double target) {
  const double term = target * std::log(target) - target + 0.5 * std::log(2 * M_PI * target);
  return rate - target * std::log(rate + 1e-8) + (target > 1 ? term : 0);
}

double gaussian(double x, double y, double var, double eps) {
  const double spread = std::max(var, eps);
  return 0.5 * (std::log(spread) + (x - y) * (x - y) / spread);
}

#define NEREID_EACH(EXPRESSION)                                                                    \
  [](const double *x, const double *y, const double *z, int64_t i) -> double {                     \
    (void)x, (void)y, (void)z;                                                                     \
    return EXPRESSION;                                                                             \
  }

const std::vector<Call> &calls() {
  static const std::vector<Call> table = {
      {"deg2rad", "torch.deg2rad(x)", "'N','D'", NEREID_EACH(x[i] * M_PI / 180), ends},
      {"rad2deg", "torch.rad2deg(x)", "'N','D'", NEREID_EACH(x[i] * 180 / M_PI), ends},
      {"frac", "torch.frac(x)", "'N','D'", NEREID_EACH(x[i] - std::trunc(x[i])), ends},
      {"ndtr", "torch.special.ndtr(x)", "'N','D'", NEREID_EACH(normalBelow(x[i])), ends},
      {"erfcx", "torch.special.erfcx(x)", "'N','D'", NEREID_EACH(scaledErfc(x[i])), tails},
      {"log_ndtr", "1e8 * torch.special.log_ndtr(x)", "'N','D'",
       NEREID_EACH(1e8 * (x[i] < -1 ? std::log(0.5 * scaledErfc(-x[i] / std::sqrt(2.0))) - x[i] * x[i] / 2
                             : std::log1p(-normalBelow(-x[i])))),
       tails},
      {"gammaln", "torch.special.gammaln(x)", "'N','D'", NEREID_EACH(std::lgamma(x[i])), counts},
      {"multigammaln", "torch.special.multigammaln(x * x + 1.5, 3)", "'N','D'",
       NEREID_EACH(1.5 * std::log(M_PI) + std::lgamma(x[i] * x[i] + 1.5) +
                   std::lgamma(x[i] * x[i] + 1) + std::lgamma(x[i] * x[i] + 0.5))},
      {"clamp_min", "torch.clamp_min(x, y)", "'N','D'",
       NEREID_EACH(std::isnan(x[i]) || std::isnan(y[i]) ? nan : std::max(x[i], y[i])), ends, gaps},
      {"clamp_max", "x.clamp_max(0.5)", "'N','D'",
       NEREID_EACH(std::isnan(x[i]) ? nan : std::min(x[i], 0.5)), ends},
      {"glu", "F.glu(x[:, :4])", "'N',2",
       [](const double *x, const double *, const double *, int64_t i) {
         const double *row = x + i / 2 * columns + i % 2;
         return row[0] / (1 + std::exp(-row[2]));
       },
       ends},
      {"glu_of_rows", "F.glu(x[:2], dim=0)", "1,'D'",
       NEREID_EACH(x[i] / (1 + std::exp(-x[i + columns])))},
      {"trapezoid", "torch.trapezoid(x)", "'N'",
       [](const double *x, const double *, const double *, int64_t i) {
         double sum = 0;
         for (int64_t k = i * columns; k + 1 < (i + 1) * columns; ++k) {
           sum += (x[k] + x[k + 1]) / 2;
         }
         return sum;
       }},
      {"trapezoid_dx", "torch.trapezoid(x, dx=0.25, dim=0)", "'D'",
       NEREID_EACH(0.25 * (x[i] / 2 + x[i + columns] + x[i + 2 * columns] / 2))},
      {"trapezoid_of_places", "torch.trapezoid(x, y[0])", "'N'",
       [](const double *x, const double *y, const double *, int64_t i) {
         double sum = 0;
         for (int64_t k = 0; k + 1 < columns; ++k) {
           sum += (y[k + 1] - y[k]) * (x[i * columns + k] + x[i * columns + k + 1]) / 2;
         }
         return sum;
       }},
      {"trapezoid_of_columns", "torch.trapezoid(x, y, dim=0)", "'D'",
       [](const double *x, const double *y, const double *, int64_t i) {
         double sum = 0;
         for (int64_t k = i; k + columns < count; k += columns) {
           sum += (y[k + columns] - y[k]) * (x[k] + x[k + columns]) / 2;
         }
         return sum;
       }},
      {"sinc", "torch.sinc(x)", "'N','D'",
       NEREID_EACH(x[i] == 0 ? 1 : std::sin(M_PI * x[i]) / (M_PI * x[i])), ends},
      {"xlog1py", "torch.special.xlog1py(x, y)", "'N','D'",
       NEREID_EACH(std::isnan(y[i]) ? y[i] : x[i] == 0 ? 0 : x[i] * std::log1p(y[i])),
       {0, 0, 0, 0, -0.0, nan, 1, 1, -1, 2, 0.5, inf, -inf, 0, 3},
       {nan, inf, -1, -2, 3, 1, nan, -1, inf, 1e-10, 5, 1, 1, 0, -2}},
      {"float_power", "torch.float_power(x, y)", "'N','D'", NEREID_EACH(std::pow(x[i], y[i])), ends,
       counts},
      {"float_power_number", "torch.float_power(x, 2)", "'N','D'", NEREID_EACH(x[i] * x[i]), ends},
      {"ldexp", "torch.ldexp(x, y)", "'N','D'", NEREID_EACH(x[i] * std::exp2(y[i])), ends, counts},
      {"nansum", "torch.nansum(x, dim=-1)", "'N'",
       [](const double *x, const double *, const double *, int64_t i) {
         double present = 0;
         return nanSum(x + i * columns, present);
       },
       gaps},
      {"nansum_of_all", "torch.nansum(x, dim=(0, 1), keepdim=True)", "1,1",
       NEREID_EACH((void(i), inf)), gaps},
      {"nanmean", "torch.nanmean(x, dim=1, keepdim=True)", "'N',1",
       [](const double *x, const double *, const double *, int64_t i) {
         double present = 0;
         const double sum = nanSum(x + i * columns, present);
         return sum / present;
       },
       gaps},
      {"vector_norm", "torch.linalg.vector_norm(x, dim=-1)", "'N'",
       NEREID_EACH(std::sqrt(productOf(x + i * columns, x + i * columns)))},
      {"dist", "torch.dist(x[0], y[0])", "", NEREID_EACH((void(i), lengthOf(x, y, 0)))},
      {"cdist", "torch.cdist(x, y)", "'N','N'",
       NEREID_EACH(lengthOf(x + i / rows * columns, y + i % rows * columns, 0))},
      {"addr", "torch.addr(x, y[:, 0], z[0], beta=0.5, alpha=-2)", "'N','D'",
       NEREID_EACH(0.5 * x[i] - 2 * y[i / columns * columns] * z[i % columns])},
      {"addr_without", "torch.addr(x, y[:, 0], z[0], beta=0)", "'N','D'",
       NEREID_EACH(y[i / columns * columns] * z[i % columns]), ends},
      {"addbmm", "torch.addbmm(x[:, :N], y[None], torch.permute(z, (1, 0))[None], alpha=3)",
       "'N','N'",
       NEREID_EACH(x[i / rows * columns + i % rows] +
                   3 * productOf(y + i / rows * columns, z + i % rows * columns))},
      {"trace", "torch.trace(x)", "", NEREID_EACH((void(i), x[0] + x[6] + x[12])),
       {1, nan, inf, nan, 0, nan, -2, nan, -inf, 0, nan, nan, 4, nan, 0}},
      {"cov", "torch.cov(x)", "'N','N'",
       NEREID_EACH(covarianceOf(x + i / rows * columns, x + i % rows * columns, columns - 1))},
      {"cov_corrected", "torch.cov(x, correction=0)", "'N','N'",
       NEREID_EACH(covarianceOf(x + i / rows * columns, x + i % rows * columns, columns))},
      {"corrcoef", "torch.corrcoef(x)", "'N','N'",
       [](const double *x, const double *, const double *, int64_t i) {
         const double *a = x + i / rows * columns, *b = x + i % rows * columns;
         return covarianceOf(a, b, 1) / std::sqrt(covarianceOf(a, a, 1) * covarianceOf(b, b, 1));
       }},
      {"kl_div", "F.kl_div(x, y * y, reduction='none')", "'N','D'",
       NEREID_EACH(y[i] == 0 ? 0 : y[i] * y[i] * (std::log(y[i] * y[i]) - x[i])), {}, signs},
      {"kl_div_log", "F.kl_div(x, y, reduction='none', log_target=True)", "'N','D'",
       NEREID_EACH(std::exp(y[i]) * (y[i] - x[i]))},
      {"kl_div_batchmean", "F.kl_div(x, y, reduction='batchmean', log_target=True)", "",
       [](const double *x, const double *y, const double *, int64_t) {
         double sum = 0;
         for (int64_t k = 0; k < count; ++k) {
           sum += std::exp(y[k]) * (y[k] - x[k]);
         }
         return sum / rows;
       }},
      {"poisson_nll_loss", "F.poisson_nll_loss(x, y, reduction='none')", "'N','D'",
       NEREID_EACH(std::exp(x[i]) - y[i] * x[i]), {}, counts},
      {"poisson_nll_loss_full",
       "F.poisson_nll_loss(x * x, y, log_input=False, full=True, reduction='none')", "'N','D'",
       NEREID_EACH(rateLoss(x[i] * x[i], y[i])), {}, counts},
      {"hinge_embedding_loss", "F.hinge_embedding_loss(x, y, margin=0.5, reduction='none')",
       "'N','D'",
       NEREID_EACH((y[i] != 1 ? std::max(0.0, 0.5 - x[i]) : 0) + (y[i] != -1 ? x[i] : 0)), {},
       signs},
      {"triplet_margin_loss", "F.triplet_margin_loss(x, y, z, margin=0.5, reduction='none')", "'N'",
       NEREID_EACH(std::max(0.0, 0.5 + lengthOf(x + i * columns, y + i * columns, 1e-6) -
                                     lengthOf(x + i * columns, z + i * columns, 1e-6)))},
      {"triplet_margin_loss_swap", "F.triplet_margin_loss(x, y, z, swap=True, reduction='none')",
       "'N'",
       NEREID_EACH(std::max(0.0, 1 + lengthOf(x + i * columns, y + i * columns, 1e-6) -
                                     std::min(lengthOf(x + i * columns, z + i * columns, 1e-6),
                                              lengthOf(y + i * columns, z + i * columns, 1e-6))))},
      {"cosine_embedding_loss",
       "F.cosine_embedding_loss(x, z, y[:, 0], margin=0.1, reduction='none')", "'N'",
       NEREID_EACH(cosineLoss(x + i * columns, z + i * columns, y[i * columns], 0.1)), {}, signs},
      {"multilabel_soft_margin_loss", "F.multilabel_soft_margin_loss(x, y, reduction='none')",
       "'N'",
       [](const double *x, const double *y, const double *, int64_t i) {
         double sum = 0;
         for (int64_t k = i * columns; k < (i + 1) * columns; ++k) {
           sum += y[k] * std::log1p(std::exp(-x[k])) + (1 - y[k]) * std::log1p(std::exp(x[k]));
         }
         return sum / columns;
       }},
      {"gaussian_nll_loss", "F.gaussian_nll_loss(x, z, y, eps=0.25, reduction='none')", "'N','D'",
       NEREID_EACH(gaussian(x[i], z[i], y[i], 0.25)), {}, counts},
      {"gaussian_nll_loss_full", "F.gaussian_nll_loss(x, z, y, full=True, reduction='none')",
       "'N','D'", NEREID_EACH(gaussian(x[i], z[i], y[i], 1e-6) + 0.5 * std::log(2 * M_PI)), {},
       counts},
      {"signbit", "torch.signbit(x).to(x.dtype)", "'N','D'", NEREID_EACH(std::signbit(x[i])), ends},
      {"isposinf", "torch.isposinf(x).to(x.dtype)", "'N','D'", NEREID_EACH(x[i] == inf), ends},
      {"isneginf", "torch.isneginf(x).to(x.dtype)", "'N','D'", NEREID_EACH(x[i] == -inf), ends},
      {"isclose", "torch.isclose(x, y, rtol=0.01).to(x.dtype)", "'N','D'",
       NEREID_EACH(x[i] == y[i] || (std::isfinite(x[i] - y[i]) &&
                                    std::fabs(x[i] - y[i]) <= 1e-8 + 0.01 * std::fabs(y[i]))),
       ends,
       {nan, inf, inf, -0.0, 1e-9, 1.009, -1, 0.6, -0.5, nan, -30.3, inf, -2, 0, -1e-3}},
      {"isclose_nan", "torch.isclose(x, y, equal_nan=True).to(x.dtype)", "'N','D'",
       NEREID_EACH(x[i] == y[i] || (std::isnan(x[i]) && std::isnan(y[i]))), ends,
       {nan, nan, inf, 0, 0, 1, 1, nan, -0.5, 3, -3, 2, 2, 1, -1}},
      {"take", "torch.take(x, y.to(torch.int64))", "'N','D'",
       NEREID_EACH(x[static_cast<int64_t>(y[i])]), ends,
       {0, 14, 3, 7, 7, 1, 2, 13, 12, 11, 10, 9, 8, 6, 5}},
      {"any", "torch.any(x, dim=0).to(x.dtype)", "'D'",
       NEREID_EACH(x[i] != 0 || x[i + columns] != 0 || x[i + 2 * columns] != 0),
       {0, -0.0, nan, 0, inf, 0, 0, 0, 1e-300, 0, -0.0, 0, 0, 0, 0}},
      {"all", "torch.all(x, dim=0).to(x.dtype)", "'D'",
       NEREID_EACH(x[i] != 0 && x[i + columns] != 0 && x[i + 2 * columns] != 0),
       {1, -0.0, nan, 0, inf, 1, 0, nan, 1e-300, 2, -1, 0, nan, 0, 0}},
      {"count_nonzero", "torch.count_nonzero(x, dim=0).to(x.dtype)", "'D'",
       NEREID_EACH((x[i] != 0) + (x[i + columns] != 0) + (x[i + 2 * columns] != 0)),
       {1, -0.0, nan, 0, inf, 1, 0, nan, 1e-300, 2, -1, 0, nan, 0, 0}},
      {"pairwise_distance", "F.pairwise_distance(x, y, eps=0.5)", "'N'",
       NEREID_EACH(lengthOf(x + i * columns, y + i * columns, 0.5))},
      {"cosine_similarity", "F.cosine_similarity(x, y, dim=-1)", "'N'",
       NEREID_EACH(cosineOf(x + i * columns, y + i * columns, 1e-8))},
      {"cosine_similarity_of_short", "F.cosine_similarity(x, y, dim=1, eps=100)", "'N'",
       NEREID_EACH(productOf(x + i * columns, y + i * columns) / 1e4)},
      {"normalize", "F.normalize(x)", "'N','D'",
       NEREID_EACH(x[i] / std::sqrt(productOf(x + i / columns * columns, x + i / columns * columns)))},
      {"normalize_of_short", "F.normalize(x, dim=1, eps=100)", "'N','D'", NEREID_EACH(x[i] / 100)},
      {"softmin", "F.softmin(x, dim=0)", "'N','D'",
       NEREID_EACH(std::exp(-x[i]) / (std::exp(-x[i % columns]) + std::exp(-x[i % columns + columns]) +
                                      std::exp(-x[i % columns + 2 * columns])))},
      {"zeros_like", "torch.zeros_like(x)", "'N','D'", NEREID_EACH((void(i), 0.0)), ends},
      {"outer", "torch.outer(x[0], y[:, 0])", "'D','N'", NEREID_EACH(x[i / rows] * y[i % rows * columns])},
      {"linear", "F.linear(x, y, z[0, :N])", "'N','N'",
       NEREID_EACH(productOf(x + i / rows * columns, y + i % rows * columns) + z[i % rows])},
      {"addmm", "torch.addmm(x[:, :N], x, torch.permute(y, (1, 0)), beta=2, alpha=-3)", "'N','N'",
       NEREID_EACH(2 * x[i / rows * columns + i % rows] -
                   3 * productOf(x + i / rows * columns, y + i % rows * columns))},
      {"addmm_without", "torch.addmm(z[:, :N] / 0, x, torch.permute(y, (1, 0)), beta=0)", "'N','N'",
       NEREID_EACH(productOf(x + i / rows * columns, y + i % rows * columns))},
      {"baddbmm", "torch.baddbmm(z[None, :, :N], x[None], torch.permute(y, (1, 0))[None], beta=0.5)",
       "1,'N','N'",
       NEREID_EACH(0.5 * z[i / rows * columns + i % rows] +
                   productOf(x + i / rows * columns, y + i % rows * columns))},
      {"addmv", "torch.addmv(z[:, 0], x, y[0], alpha=4)", "'N'",
       NEREID_EACH(z[i * columns] + 4 * productOf(x + i * columns, y))},
      {"_int_mm",
       "torch._int_mm(x.to(torch.int8), torch.permute(y, (1, 0)).to(torch.int8)).to(x.dtype)",
       "'N','N'", NEREID_EACH(productOf(x + i / rows * columns, y + i % rows * columns)), signs,
       {3, 0, -128, 127, 5, -7, 100, 2, 0, 1, 11, -12, 13, -14, 15}},
      {"shape", "x * x.shape[1] + x.size(-2)", "'N','D'", NEREID_EACH(x[i] * columns + rows)},
  };
  return table;
}

class FunctionTest : public testing::TestWithParam<Call> {};
INSTANTIATE_TEST_SUITE_P(All, FunctionTest, testing::ValuesIn(calls()),
                         [](const auto &info) { return std::string(info.param.name); });

TEST_P(FunctionTest, IsWhatPyTorchSays) {
  const Call &one = GetParam();
  Diagnostics diags;
  const auto op = definition::parseOperator(
      "t.toml",
      std::string("[operator]\nname='t'\nsummary='s'\ndtypes=['float64']\nbody=\"out = ") +
          one.body + "\"\n[inputs.x]\nshape=['N','D']\n[inputs.y]\nshape=['N','D']\n" +
          "[inputs.z]\nshape=['N','D']\n[outputs.out]\nshape=[" + one.shape +
          "]\n[performance]\ncases=[{N=3,D=5}]\n",
      diags);
  ASSERT_TRUE(op) << diags.render();
  std::vector<Tensor> in;
  for (const Numbers *values : {&one.x, &one.y, static_cast<const Numbers *>(nullptr)}) {
    Tensor tensor = Tensor::empty({rows, columns}, DType::F64);
    runtime::fillNormal(tensor, 5 + in.size());
    in.push_back(values && !values->empty() ? make({rows, columns}, *values, DType::F64) : tensor);
  }
  const Numbers x = list(in[0]), y = list(in[1]), z = list(in[2]);
  auto computed = runGraph(*op, in, runtime::defaultPool());
  ASSERT_TRUE(computed) << render(computed.error());
  auto reference =
      runReference(*op, in, DType::F64, Rounding::OncePerResult, runtime::defaultPool());
  ASSERT_TRUE(reference) << render(reference.error());
  for (int64_t i = 0; i < (*computed)[0].elementCount(); ++i) {
    const double expected = one.expected(x.data(), y.data(), z.data(), i);
    for (double got : {(*computed)[0].at(i), (*reference)[0].values.at(i)}) {
      if (std::isfinite(expected)) {
        EXPECT_NEAR(got, expected, 1e-12 * (1 + std::fabs(expected))) << i;
      } else {
        EXPECT_TRUE(got == expected || (std::isnan(got) && std::isnan(expected)))
            << i << ": expects " << expected << ", but got " << got;
      }
    }
  }
}

/// No other test computes what a function of others should be: the reference takes its formula.
TEST(FunctionTable, EveryFunctionHasARow) {
  for (const std::string &name : definition::functionNames()) {
    const bool isFormula = !definition::findFunction(name)->forms.empty();
    EXPECT_TRUE(!isFormula || std::any_of(calls().begin(), calls().end(),
                                          [&](const Call &call) {
                                            return std::string(call.body).find(name + "(") !=
                                                   std::string::npos;
                                          }))
        << name << " has no row in functions_test.cpp: a call, and what PyTorch computes of it";
  }
}

/// What a newcomer writes by mistake is named where it stands.
TEST(FunctionErrors, NameWhatIsWrong) {
  const std::pair<const char *, const char *> wrong[] = {
      {"torch.nansun(x)", "E0603"},
      {"torch.nansum()", "E0608"},
      {"torch.nansum(x, 0, False, 3)", "E0608"},
      {"torch.nansum(x, dim=2)", "E0604"},
      {"torch.nansum(x, axis=0)", "E0608"},
      {"F.kl_div(x, y, reduction='avg')", "E0608"},
      {"F.poisson_nll_loss(x, y, full=y)", "E0608"},
      {"F.gaussian_nll_loss(x, y)", "E0608"},
      {"torch.cov(x, y)", "E0608"},
      {"torch.trace(x, y)", "E0608"},
      {"torch.addbmm(x, y, y)", "E0604"},
      {"torch.take(x, y)", "E0608"},
      {"x.shape[2] * x", "E0604"},
  };
  for (const auto &[body, code] : wrong) {
    Diagnostics diags;
    const auto op = definition::parseOperator(
        "t.toml",
        std::string("[operator]\nname='t'\nsummary='s'\ndtypes=['float32']\nbody=\"out = ") + body +
            "\"\n[inputs.x]\nshape=['N','D']\n[inputs.y]\nshape=['N','D']\n[outputs.out]\n"
            "shape=[]\n[performance]\ncases=[{N=3,D=5}]\n",
        diags);
    EXPECT_FALSE(op) << body;
    ASSERT_FALSE(diags.all().empty()) << body;
    EXPECT_EQ(diags.all().front().code, code) << body << "\n" << diags.render();
  }
}

} // namespace
} // namespace nereid::eager
