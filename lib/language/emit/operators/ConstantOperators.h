// SPDX-License-Identifier: Apache-2.0
// Operators on constants, with Python's results: floor division and modulo round toward minus
// infinity, `/` is exact division, sequences concatenate and repeat.
#pragma once

#include "lib/language/emit/report/Reporter.h"

namespace nereid::language::emit {

class ConstantOperators {
public:
  explicit ConstantOperators(Reporter &report) : report(report) {}

  Value binary(const std::string &op, const Value &a, const Value &b);
  Value compare(const std::string &op, const Value &a, const Value &b);
  Value unary(const std::string &op, const Value &a);

private:
  Value reals(const std::string &op, double a, double b);
  Value power(Integer a, Integer b);
  Value wholes(const std::string &op, Integer a, Integer b);
  Value sequences(const std::string &op, const Value &a, const Value &b);

  Reporter &report;
};

} // namespace nereid::language::emit
