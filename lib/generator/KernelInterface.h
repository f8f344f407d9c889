// SPDX-License-Identifier: Apache-2.0
// The parameters of a generated kernel and the index arithmetic behind them, defined once for the
// Triton source, the Python wrapper, the C++ companions and LaunchPlan.
#pragma once

#include "lib/generator/LaunchPlan.h"

namespace nereid::generator {

/// The product of the groups after `group`: what the row (or column) number is divided by to get
/// the position along `group`.
SizeProduct innerOf(const std::vector<SizeProduct> &groups, size_t group);
std::string sizeName(const SizeProduct &size); ///< "size_H_Q"
std::string pointerName(const Operand &operand);
std::string rowStrideName(const Operand &operand);
std::string groupStrideName(const Operand &operand, const SizeProduct &group);

/// One term of an operand's offset that moves along some groups only:
/// ((index // inner) % size) * stride; no division when inner is empty, no remainder for the
/// outermost group.
struct OffsetTerm {
  size_t group = 0;
  SizeProduct inner, size;
  bool needsDivision = false, needsRemainder = false;
  std::string stride;
};
std::vector<OffsetTerm> offsetTerms(const Operand &operand, const std::vector<SizeProduct> &groups,
                                    const std::vector<bool> &presence);

/// Among integers a number without a fraction is an int64; elsewhere numbers are floats.
bool isPassedWhole(const FusedOperator &fused, const definition::Parameter &number);

/// Rows need the general form: some groups, but not all.
bool hasGeneralRows(const Operand &operand);
bool hasGeneralColumns(const Operand &operand);

} // namespace nereid::generator
