// SPDX-License-Identifier: Apache-2.0
// Functions that operations.def writes out in others, and operations whose bound is that of their
// formula: baseline and reference against PyTorch's definitions, written here with the C library,
// among them NaN, infinities and both zeros. A row of the table of calls is what a function needs.
#include "unittests/eager/Values.h"

#include "lib/eager/reference/Reference.h"

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
