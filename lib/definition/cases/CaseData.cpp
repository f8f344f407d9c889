// SPDX-License-Identifier: Apache-2.0
#include "lib/definition/cases/CaseData.h"

#include "lib/definition/Tolerance.h"
#include "runtime/elements/ElementBlocks.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <cstring>
#include <limits>
#include <vector>

namespace nereid::definition {
namespace {

using runtime::Tensor;

constexpr double infinity = std::numeric_limits<double>::infinity();
/// Of the pairs of a row that cancel, at most.
constexpr double cancellingMagnitude = 1000;
/// Normal numbers above it are as rare as one in fifteen thousand, and taken for it.
constexpr double largestNormal = 4;
/// How far a last number that stands out is above the others of its row, at least and at most: from
/// where their exponentials count to where they vanish beside its own in float32.
constexpr double leastAbove = 3, mostAbove = 20;

/// 1 for 0; the ends of the type's range for -1 and 1, with a logarithm that is linear between.
double magnitudeAt(double range, DType dtype) {
  const double end = range < 0
                         ? smallestNormal(dtype) * (2 * unitRoundoff(dtype)) // not 0 of float64
                         : largestFinite(dtype) / (2.5 * largestNormal);
  return std::pow(end, std::fabs(range));
}

/// A row, or a tensor without dimensions. It is read at once, and written when it is done with.
class Row {
public:
  const int64_t number, length;

  Row(const Tensor &tensor, int64_t number, int64_t length)
      : number(number), length(length), tensor(tensor), values(static_cast<size_t>(length)) {
    forEachPiece([&](int64_t first, int count, double *piece) {
      runtime::readBlock(tensor, first, count, piece);
    });
  }
  DType dtype() const { return tensor.dtype(); }
  bool isOnlyOne() const { return tensor.elementCount() == length; }
  double at(int64_t i) const { return values[static_cast<size_t>(i)]; }
  void set(int64_t i, double value) { values[static_cast<size_t>(i)] = value; }
  void write() {
    forEachPiece([&](int64_t first, int count, double *piece) {
      runtime::writeBlock(tensor, first, count, piece);
    });
  }

private:
  template <typename Visit> void forEachPiece(Visit visit) {
    for (int64_t i = 0; i < length; i += runtime::blockElements) {
      const auto count = static_cast<int>(std::min<int64_t>(runtime::blockElements, length - i));
      visit(number * length + i, count, values.data() + i);
    }
  }

  const Tensor &tensor;
  std::vector<double> values;
};

/// Often where a kernel would look to tell a row by one element: its first and its last one. The
/// first row's is the first element of the tensor; an only row's in the turn of NaN alone.
int64_t specialPlace(const Row &row, int turn, uint64_t seed) {
  const uint64_t hash = hashed(seed + static_cast<uint64_t>(turn), row.number);
  const bool isInFront = row.number == 0 && (!row.isOnlyOne() || turn == nanFirst);
  if (isInFront || hash % 4 == 0) {
    return 0;
  }
  return hash % 4 == 1 ? row.length - 1
                       : static_cast<int64_t>((hash >> 2) % static_cast<uint64_t>(row.length));
}

void fillSpecial(Row &row, int turn, uint64_t seed) {
  const int64_t place = specialPlace(row, turn, seed);
  switch ((row.number + turn) % specialTurns) {
  case 0:
    return row.set(place, infinity);
  case 1:
    return row.set(place, -infinity);
  case 2:
    return row.set(place, std::numeric_limits<double>::quiet_NaN());
  default:
    row.set(place, -0.0);
    row.set(row.length - 1 - place, 0.0);
  }
}

/// A row that rises; the last numbers of two rows of three stand out.
void fillSorted(Row &row, uint64_t seed) {
  for (int64_t i = 0; i < row.length; ++i) {
    row.set(i, largestNormal * (2 * static_cast<double>(i) / static_cast<double>(row.length) - 1));
  }
  if ((static_cast<uint64_t>(row.number) + seed) % 3 != 0) {
    // Steps of the golden ratio: the distances of few rows lie evenly between the ends.
    const double first = static_cast<double>(hashed(seed, 0) >> 11) * 0x1p-53;
    const double place = first + 0.6180339887498949 * static_cast<double>(row.number);
    const double part = place - std::floor(place);
    row.set(row.length - 1, largestNormal + leastAbove + part * (mostAbove - leastAbove));
  }
}

bool isOfNormalNumbers(const Data &data) {
  return data.kind != DataKind::Zeros && (data.kind != DataKind::Ones || data.range != 0) &&
         data.kind != DataKind::SortedRows;
}

void fillRow(Row &row, const Data &data, uint64_t seed) {
  const DType dtype = row.dtype();
  const double first = row.at(0), magnitude = magnitudeAt(data.range, dtype);
  if (data.kind == DataKind::Special) {
    return fillSpecial(row, data.turn, data.places != 0 ? data.places : seed);
  }
  if (data.kind == DataKind::SortedRows) {
    return fillSorted(row, seed);
  }
  for (int64_t i = 0; i < row.length; ++i) {
    const double value = std::clamp(row.at(i), -largestNormal, largestNormal);
    const uint64_t hash = hashed(seed, row.number * row.length + i);
    const bool isSecond = i % 2 == 1;
    switch (data.kind) {
    case DataKind::Normal:
    case DataKind::Special:
    case DataKind::SortedRows:
      return;
    case DataKind::Scaled:
      row.set(i, value * magnitude);
      break;
    case DataKind::Decades: {
      const double part = static_cast<double>(hash >> 11) * 0x1p-52 - 1; // from -1 to 1
      row.set(i, value * magnitudeAt(part * std::fabs(data.range), dtype));
      break;
    }
    case DataKind::Negative:
      row.set(i, hash % 3 == 0 ? 0 : -std::fabs(value));
      break;
    case DataKind::Zeros:
      row.set(i, hash % 2 == 0 ? 0.0 : -0.0);
      break;
    case DataKind::Ones:
      row.set(i, data.range == 0 ? 1 : (1 + value * data.range) * (hash % 2 == 0 ? 1 : -1));
      break;
    case DataKind::ConstantRows:
      row.set(i, first);
      break;
    case DataKind::Cancelling:
      row.set(i, isSecond ? -row.at(i - 1) : std::pow(cancellingMagnitude, data.range) * value);
      break;
    }
  }
}

} // namespace

uint64_t hashed(uint64_t seed, int64_t number) {
  uint64_t state = seed * 0x9E3779B97F4A7C15U + static_cast<uint64_t>(number);
  state = (state ^ (state >> 30)) * 0xBF58476D1CE4E5B9U;
  state = (state ^ (state >> 27)) * 0x94D049BB133111EBU;
  return state ^ (state >> 31);
}

std::string_view name(DataKind kind, DType dtype) {
  if (!isFloat(dtype) && kind == DataKind::Special) {
    return dtype == DType::Bool ? "bools" : "ends of the range";
  }
  switch (kind) {
  case DataKind::Normal:
    return "normal values";
  case DataKind::Scaled:
    return "scaled values";
  case DataKind::Decades:
    return "values of all magnitudes";
  case DataKind::Special:
    return "infinities and NaN";
  case DataKind::Negative:
    return "zeros and negative values";
  case DataKind::Zeros:
    return "zeros";
  case DataKind::Ones:
    return "ones";
  case DataKind::ConstantRows:
    return "constant rows";
  case DataKind::SortedRows:
    return "sorted rows";
  case DataKind::Cancelling:
    return "cancelling values";
  }
  return "";
}

std::string name(const Data &data, DType dtype) {
  std::string text(name(data.kind, dtype));
  if (!isFloat(dtype)) {
    return text;
  }
  if (data.kind == DataKind::Ones && data.range != 0) {
    text = "values near 1";
  } else if (data.kind == DataKind::Scaled) {
    text += fmt::format(" of {:.0e} in float32", magnitudeAt(data.range, DType::F32));
  } else if (data.kind == DataKind::Decades) {
    text += fmt::format(" from {:.0e} to {:.0e} in float32",
                        magnitudeAt(-std::fabs(data.range), DType::F32),
                        magnitudeAt(std::fabs(data.range), DType::F32));
  }
  return text;
}

/// As stored: rounding may leave the range again, which its inner numbers do not.
static void setFitted(const Tensor &tensor, int64_t i, const ValueRange &allowed) {
  tensor.set(i, allowed.fitted(tensor.at(i)));
  const double stored = tensor.at(i);
  if (!std::isnan(stored) && !allowed.contains(stored)) {
    tensor.set(i, allowed.fitted(allowed.fitted(1)));
  }
}

void fillData(const Tensor &tensor, const Data &data, uint64_t seed, const ValueRange &allowed,
              const Tensor *normal) {
  const DType dtype = tensor.dtype();
  if (!isFloat(dtype)) {
    return fillIntegerData(tensor, data, seed, allowed);
  }
  if (isOfNormalNumbers(data) && normal != nullptr) {
    std::memcpy(tensor.data(), normal->data(), tensor.byteCount());
  } else if (isOfNormalNumbers(data)) {
    runtime::fillNormal(tensor, seed);
  }
  const int64_t count = tensor.elementCount();
  const int64_t length = tensor.shape().empty() ? 1 : tensor.shape().back();
  for (int64_t row = 0; data.kind != DataKind::Normal && row * length < count; ++row) {
    Row one(tensor, row, length);
    fillRow(one, data, seed);
    one.write();
  }
  for (int64_t i = 0; !allowed.isEverything() && i < count; ++i) {
    setFitted(tensor, i, allowed);
  }
}

} // namespace nereid::definition
