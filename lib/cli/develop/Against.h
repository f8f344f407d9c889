// SPDX-License-Identifier: Apache-2.0
// What `nereid bench --against FILE` prints of the comparison. With a result file in place of
// something to measure, two files are compared.
#pragma once

#include "lib/cli/Command.h"
#include "lib/measure/statistics/Gate.h"

#include <string>

namespace nereid::cli {

/// The input is a result file, not something to measure.
bool isResultFile(const std::string &input);
/// Fails with E0013 without an earlier file.
void runCompareFiles(const std::string &now, const std::string &before, Session &session);

/// Table and summary; exit status 1 when a case is slower or failed. In JSON the caller prints.
void reportGate(const measure::GateResult &result, Session &session);

} // namespace nereid::cli
