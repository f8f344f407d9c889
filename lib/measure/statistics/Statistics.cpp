// SPDX-License-Identifier: Apache-2.0
#include "lib/measure/statistics/Statistics.h"

#include <algorithm>
#include <cmath>
#include <random>

namespace nereid::measure {

namespace {

double sortedPercentile(const std::vector<double> &sorted, double p) {
  if (sorted.empty()) {
    return 0;
  }
  double rank = p * static_cast<double>(sorted.size() - 1);
  auto below = static_cast<size_t>(rank);
  size_t above = std::min(below + 1, sorted.size() - 1);
  double fraction = rank - static_cast<double>(below);
  return sorted[below] + fraction * (sorted[above] - sorted[below]);
}

/// P(U <= u) for sizes m and n without ties, by counting arrangements: the number with statistic k
/// satisfies f(m, n, k) = f(m-1, n, k-n) + f(m, n-1, k).
double exactLowerTail(int m, int n, double u) {
  int cells = m * n + 1;
  // counts[j][k]: arrangements of i firsts and j seconds with statistic k, for the current i.
  std::vector<std::vector<double>> counts(n + 1, std::vector<double>(cells, 0));
  for (int j = 0; j <= n; ++j) {
    counts[j][0] = 1;
  }
  for (int i = 1; i <= m; ++i) {
    std::vector<std::vector<double>> next(n + 1, std::vector<double>(cells, 0));
    next[0][0] = 1;
    for (int j = 1; j <= n; ++j) {
      for (int k = 0; k <= i * j; ++k) {
        next[j][k] = next[j - 1][k] + (k >= j ? counts[j][k - j] : 0);
      }
    }
    counts = std::move(next);
  }
  double total = 0, below = 0;
  for (int k = 0; k < cells; ++k) {
    total += counts[n][k];
    if (k <= u) {
      below += counts[n][k];
    }
  }
  return below / total;
}

} // namespace

double percentile(std::vector<double> samples, double p) {
  std::sort(samples.begin(), samples.end());
  return sortedPercentile(samples, p);
}

Summary summarize(const std::vector<double> &samples) {
  Summary result;
  result.count = static_cast<int>(samples.size());
  if (samples.empty()) {
    return result;
  }
  std::vector<double> sorted = samples;
  std::sort(sorted.begin(), sorted.end());
  result.median = sortedPercentile(sorted, 0.5);
  result.p90 = sortedPercentile(sorted, 0.9);
  result.p99 = sortedPercentile(sorted, 0.99);
  result.minimum = sorted.front();
  result.maximum = sorted.back();
  double q1 = sortedPercentile(sorted, 0.25), q3 = sortedPercentile(sorted, 0.75);
  result.interquartileRange = q3 - q1;
  double low = q1 - 1.5 * (q3 - q1), high = q3 + 1.5 * (q3 - q1);
  double sum = 0, squares = 0;
  int kept = 0;
  for (double sample : sorted) {
    if (sample < low || sample > high) {
      ++result.outliers;
      continue;
    }
    ++kept;
    sum += sample;
    squares += sample * sample;
  }
  result.mean = sum / kept;
  if (kept > 1) {
    double variance = std::max(0.0, (squares - sum * sum / kept) / (kept - 1));
    result.deviation = std::sqrt(variance);
    result.relativeDeviation = result.mean > 0 ? result.deviation / result.mean : 0;
  }
  return result;
}

MannWhitney mannWhitney(const std::vector<double> &first, const std::vector<double> &second) {
  MannWhitney result;
  size_t m = first.size(), n = second.size();
  if (m == 0 || n == 0) {
    return result;
  }
  struct Ranked {
    double value;
    bool isFirst;
  };
  std::vector<Ranked> all;
  for (double value : first) {
    all.push_back({value, true});
  }
  for (double value : second) {
    all.push_back({value, false});
  }
  std::sort(all.begin(), all.end(), [](auto &a, auto &b) { return a.value < b.value; });
  double rankSum = 0, tieTerm = 0;
  for (size_t i = 0; i < all.size();) {
    size_t j = i;
    while (j < all.size() && all[j].value == all[i].value) {
      ++j;
    }
    double rank = (static_cast<double>(i + 1) + static_cast<double>(j)) / 2;
    for (size_t k = i; k < j; ++k) {
      rankSum += all[k].isFirst ? rank : 0;
    }
    auto ties = static_cast<double>(j - i);
    tieTerm += ties * ties * ties - ties;
    i = j;
  }
  auto dm = static_cast<double>(m), dn = static_cast<double>(n), total = dm + dn;
  result.u = rankSum - dm * (dm + 1) / 2;
  if (tieTerm == 0 && m <= 20 && n <= 20) {
    double smaller = std::min(result.u, dm * dn - result.u);
    result.pValue =
        std::min(1.0, 2 * exactLowerTail(static_cast<int>(m), static_cast<int>(n), smaller));
    return result;
  }
  double variance = dm * dn / 12 * (total + 1 - tieTerm / (total * (total - 1)));
  if (variance <= 0) {
    return result;
  }
  double distance = std::max(0.0, std::fabs(result.u - dm * dn / 2) - 0.5);
  result.pValue = std::erfc(distance / std::sqrt(2 * variance));
  return result;
}

RatioInterval ratioOfMedians(const std::vector<double> &first, const std::vector<double> &second,
                             unsigned seed) {
  RatioInterval result;
  double denominator = percentile(second, 0.5);
  if (first.empty() || denominator <= 0) {
    return result;
  }
  result.ratio = percentile(first, 0.5) / denominator;
  std::mt19937 random(seed);
  auto resample = [&](const std::vector<double> &samples) {
    std::uniform_int_distribution<size_t> pick(0, samples.size() - 1);
    std::vector<double> drawn(samples.size());
    for (double &value : drawn) {
      value = samples[pick(random)];
    }
    return percentile(std::move(drawn), 0.5);
  };
  std::vector<double> ratios(1000);
  for (double &ratio : ratios) {
    double below = resample(second);
    ratio = below > 0 ? resample(first) / below : 0;
  }
  result.low = percentile(ratios, 0.025);
  result.high = percentile(ratios, 0.975);
  return result;
}

double medianRatio(const std::vector<double> &first, const std::vector<double> &second) {
  std::vector<double> ratios;
  for (size_t i = 0; i < std::min(first.size(), second.size()); ++i) {
    ratios.push_back(first[i] / second[i]);
  }
  return percentile(std::move(ratios), 0.5);
}

double geometricMean(const std::vector<double> &values) {
  if (values.empty()) {
    return 0;
  }
  double sum = 0;
  for (double value : values) {
    if (value <= 0) {
      return 0;
    }
    sum += std::log(value);
  }
  return std::exp(sum / static_cast<double>(values.size()));
}

} // namespace nereid::measure
