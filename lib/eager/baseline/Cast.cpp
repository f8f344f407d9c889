// SPDX-License-Identifier: Apache-2.0
// Pieces go through a buffer of float, double or int64, whichever has all that both types keep.
#include "lib/eager/baseline/Cast.h"

#include "lib/eager/baseline/Staging.h"

#include <algorithm>
#include <cmath>
#include <type_traits>

namespace nereid::eager {
namespace {

using runtime::Tensor;

constexpr int64_t grain = 32768;

/// Without its fraction; what no 64 bits hold is open, and 0 here.
template <class Real> int64_t wholeOf(Real value) {
  constexpr auto end = static_cast<Real>(0x1p63);
  return value >= -end && value < end ? static_cast<int64_t>(value) : 0;
}

template <class Real> void storeWhole(const Real *in, void *base, DType type, int64_t n) {
  if (type == DType::U64) { // its upper half is beyond int64
    auto *out = static_cast<uint64_t *>(base);
    for (int64_t i = 0; i < n; ++i) {
      const bool isUpper = in[i] >= static_cast<Real>(0x1p63) && in[i] < static_cast<Real>(0x1p64);
      out[i] = isUpper ? static_cast<uint64_t>(in[i]) : static_cast<uint64_t>(wholeOf(in[i]));
    }
    return;
  }
  withInteger(type, [&](auto zero) {
    auto *out = static_cast<decltype(zero) *>(base);
    for (int64_t i = 0; i < n; ++i) {
      out[i] = static_cast<decltype(zero)>(wholeOf(in[i]));
    }
  });
}

/// One piece by way of `Real`.
template <class Real>
void throughReal(const char *from, DType given, void *to, DType wanted, int64_t n) {
  Real values[stageElements];
  gather<Real>(from, given, 1, values, n);
  if (isFloat(wanted) || wanted == DType::Bool) {
    scatter<Real>(values, to, wanted, n);
  } else {
    storeWhole(values, to, wanted, n);
  }
}

void throughWhole(const char *from, DType given, void *to, DType wanted, int64_t n) {
  int64_t values[stageElements]; // of uint64 its bits
  gather<int64_t>(from, given, 1, values, n);
  if (wanted == DType::Bool) {
    scatter<int64_t>(values, to, wanted, n);
  } else if (!isFloat(wanted)) {
    withInteger(wanted, [&](auto zero) {
      auto *out = static_cast<decltype(zero) *>(to);
      for (int64_t i = 0; i < n; ++i) {
        out[i] = static_cast<decltype(zero)>(values[i]);
      }
    });
  } else if (wanted == DType::F64) {
    auto *out = static_cast<double *>(to);
    for (int64_t i = 0; i < n; ++i) {
      out[i] = given == DType::U64 ? static_cast<double>(static_cast<uint64_t>(values[i]))
                                   : static_cast<double>(values[i]);
    }
  } else {
    float numbers[stageElements];
    for (int64_t i = 0; i < n; ++i) {
      numbers[i] = given == DType::U64 ? static_cast<float>(static_cast<uint64_t>(values[i]))
                                       : static_cast<float>(values[i]);
    }
    scatter<float>(numbers, to, wanted, n);
  }
}

} // namespace

void runCast(const Tensor &in, const Tensor &out, runtime::ThreadPool &pool) {
  if (out.elementCount() == 0) {
    return;
  }
  const Tensor from = in.isContiguous() ? in : in.to(in.dtype());
  const DType given = in.dtype(), wanted = out.dtype();
  const bool isDouble = given == DType::F64 || wanted == DType::F64;
  const bool toShort = isFloat(wanted) && wanted != DType::F64;
  pool.parallelFor(out.elementCount(), grain, [&](int64_t begin, int64_t end, int) {
    for (int64_t at = begin; at < end; at += stageElements) {
      const int64_t n = std::min(stageElements, end - at);
      const char *piece = elementAt(from.data(), given, at);
      void *to = const_cast<char *>(elementAt(out.data(), wanted, at));
      if (!isFloat(given)) {
        throughWhole(piece, given, to, wanted, n);
      } else if (isDouble && !toShort) {
        throughReal<double>(piece, given, to, wanted, n);
      } else {
        throughReal<float>(piece, given, to, wanted, n);
      }
    }
  });
}

} // namespace nereid::eager
