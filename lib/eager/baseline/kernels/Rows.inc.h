// SPDX-License-Identifier: Apache-2.0
// Reductions and what is normalised by them, row by row; products.
// Part of Kernels.inc.h, inside of its namespace.

/// Vector sums of blocks, added up in double.
template <class T> double sumOf(const T *in, int64_t n) {
  constexpr int64_t block = 4096;
  double total = 0;
  for (int64_t begin = 0; begin < n; begin += block) {
    int64_t count = n - begin < block ? n - begin : block;
    total += static_cast<double>(Values<T>(in + begin, count).sum());
  }
  return total;
}

template <class T> Accumulator reduceRow(OpId op, const T *in, int64_t n) {
  Values<T> x(in, n);
  switch (op) {
  case OpId::amax:
    return {static_cast<double>(x.template maxCoeff<Eigen::PropagateNaN>()), 0, n};
  case OpId::amin:
    return {static_cast<double>(x.template minCoeff<Eigen::PropagateNaN>()), 0, n};
  case OpId::prod: {
    double product = 1;
    for (int64_t i = 0; i < n; ++i) {
      product *= static_cast<double>(in[i]);
    }
    return {product, 0, n};
  }
  case OpId::var: {
    double mean = sumOf(in, n) / static_cast<double>(n);
    double squares = static_cast<double>((x - static_cast<T>(mean)).square().sum());
    return {mean, squares, n};
  }
  default:
    return {sumOf(in, n), 0, n};
  }
}

template <class T> void accumulateColumns(OpId op, const T *in, T *state, int64_t n) {
  Operand<T> operands[2] = {{state, false}, {in, false}};
  switch (op) {
  case OpId::amax:
    return maximumLoop<T>(operands, state, n);
  case OpId::amin:
    return minimumLoop<T>(operands, state, n);
  case OpId::prod:
    return mulLoop<T>(operands, state, n);
  default:
    return addLoop<T>(operands, state, n);
  }
}

template <class T> void accumulateSquares(const T *in, const T *mean, T *squares, int64_t n) {
  NEREID_INDEPENDENT
  for (int64_t i = 0; i < n; ++i) {
    T deviation = in[i] - mean[i];
    squares[i] += deviation * deviation;
  }
}

template <class T> void softmaxRow(const T *in, T *out, int64_t n, bool logarithm) {
  T maximum = Values<T>(in, n).template maxCoeff<Eigen::PropagateNaN>();
  double total = exponential(in, logarithm ? nullptr : out, n, maximum);
  if (logarithm) {
    T shift = static_cast<T>(::log(total));
    NEREID_INDEPENDENT
    for (int64_t i = 0; i < n; ++i) {
      out[i] = in[i] - maximum - shift;
    }
    return;
  }
  T scale = static_cast<T>(1 / total);
  NEREID_INDEPENDENT
  for (int64_t i = 0; i < n; ++i) {
    out[i] *= scale;
  }
}

template <class T>
void scaleRow(const T *in, T shift, T scale, const T *weight, const T *bias, T *out, int64_t n) {
  NEREID_INDEPENDENT
  for (int64_t i = 0; i < n; ++i) {
    T y = (in[i] - shift) * scale;
    y = weight ? y * weight[i] : y;
    out[i] = bias ? y + bias[i] : y;
  }
}

template <class T>
void layerNormRow(const T *in, const T *weight, const T *bias, T eps, T *out, int64_t n) {
  Accumulator moments = reduceRow(OpId::var, in, n);
  double variance = moments.squares / static_cast<double>(n);
  T scale = static_cast<T>(1 / ::sqrt(variance + static_cast<double>(eps)));
  scaleRow(in, static_cast<T>(moments.value), scale, weight, bias, out, n);
}

template <class T> void rmsNormRow(const T *in, const T *weight, T eps, T *out, int64_t n) {
  double power = static_cast<double>(Values<T>(in, n).square().sum()) / static_cast<double>(n);
  T scale = static_cast<T>(1 / ::sqrt(power + static_cast<double>(eps)));
  scaleRow<T>(in, T(0), scale, weight, nullptr, out, n);
}

template <class T>
void multiply(const T *a, int64_t aStride, const T *b, int64_t bStride, T *c, int64_t cStride,
              int64_t m, int64_t n, int64_t k) {
  using Matrix = Eigen::Matrix<T, Eigen::Dynamic, Eigen::Dynamic, Eigen::RowMajor>;
  using Strided = Eigen::OuterStride<>;
  Eigen::Map<const Matrix, 0, Strided> left(a, m, k, Strided(aStride));
  Eigen::Map<const Matrix, 0, Strided> right(b, k, n, Strided(bStride));
  Eigen::Map<Matrix, 0, Strided> product(c, m, n, Strided(cStride));
  if (k == 0) {
    product.setZero();
  } else {
    product.noalias() = left * right;
  }
}
