// SPDX-License-Identifier: Apache-2.0
// Reads arguments that have to be constants: an integer, a flag, a string, a shape, a type. E0203
// says which argument expects one (`what`), and what stands there.
#pragma once

#include "lib/language/emit/report/Reporter.h"

namespace nereid::language::emit {

class ConstantReader {
public:
  explicit ConstantReader(Reporter &report) : report(report) {}

  std::optional<int64_t> integer(const Value &value, const std::string &what);
  std::optional<bool> flag(const Value &value, const std::string &what);
  std::optional<std::string> string(const Value &value, const std::string &what);
  std::optional<Shape> shape(const Value &value, const std::string &what);
  std::optional<ElementType> type(const Value &value, const std::string &what);
  /// The integers of a range whose bounds are constants. False after an error.
  bool rangeItems(const Value &range, std::vector<Value> &items);

private:
  void expect(const std::string &what, const std::string &kind, const Value &value);

  Reporter &report;
};

} // namespace nereid::language::emit
