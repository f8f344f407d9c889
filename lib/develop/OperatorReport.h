// SPDX-License-Identifier: Apache-2.0
// `report.md` of an operator's folder: what its stages of accuracy and performance came to, for
// people. It says what `nereid develop --json` says; counts and speed-up are those of a
// row of summary.md.
#pragma once

#include <nlohmann/json.hpp>

#include <string>
#include <vector>

namespace nereid::develop {

struct ReportedOperator {
  std::string name;
  std::string target;                 ///< --target
  std::string chip;                   ///< that the kernels are for
  std::string date;                   ///< "" = not known
  double targetSpeedup = 1;           ///< of the definition
  nlohmann::ordered_json accuracy;    ///< rows, see accuracyJson
  nlohmann::ordered_json performance; ///< rows, see performanceJson; null: it was not measured
  std::vector<std::string> criteria;  ///< a line each
};

std::string operatorReport(const ReportedOperator &reported);

} // namespace nereid::develop
