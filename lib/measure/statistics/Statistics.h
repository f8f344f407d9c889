// SPDX-License-Identifier: Apache-2.0
// Order statistics and tests for timing samples: robust ones only, since timings are skewed and
// have outliers. Pure functions; the clock lives in Timer.h.
#pragma once

#include <vector>

namespace nereid::measure {

struct Summary {
  int count = 0;
  double median = 0, p90 = 0, p99 = 0, minimum = 0, maximum = 0;
  double interquartileRange = 0;
  /// Outliers left out: mean, sample standard deviation, and that over the mean.
  double mean = 0, deviation = 0, relativeDeviation = 0;
  int outliers = 0; ///< outside [q1 - 1.5 IQR, q3 + 1.5 IQR]
};

/// Linear interpolation between order statistics (rank p·(n-1)); p in [0, 1]; empty gives 0.
double percentile(std::vector<double> samples, double p);
Summary summarize(const std::vector<double> &samples);

/// Two-sided Mann–Whitney U test that two sets of samples come from one distribution: exact for
/// small sets without ties (both up to 20), else normal approximation with tie and continuity
/// correction. Mann and Whitney 1947.
struct MannWhitney {
  double u = 0; ///< of the first set: pairs in which it is the larger, ties counting half
  double pValue = 1;
};
MannWhitney mannWhitney(const std::vector<double> &first, const std::vector<double> &second);

/// Ratio of medians first/second with a 95 % bootstrap interval (seeded: reproducible).
struct RatioInterval {
  double ratio = 0, low = 0, high = 0;
};
RatioInterval ratioOfMedians(const std::vector<double> &first, const std::vector<double> &second,
                             unsigned seed = 1);

/// Median of first[i] / second[i] over samples taken in turns: what slows both for a while, as
/// another tenant does, leaves it unchanged. Surplus samples are ignored; empty gives 0.
double medianRatio(const std::vector<double> &first, const std::vector<double> &second);

double geometricMean(const std::vector<double> &values);

} // namespace nereid::measure
