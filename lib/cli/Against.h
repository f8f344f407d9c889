// SPDX-License-Identifier: Apache-2.0
// `nereid bench --against FILE`: the earlier file, judged before anything is measured, and what the
// comparison comes to. With a result file in place of something to measure, two files are compared.
#pragma once

#include "lib/cli/Command.h"
#include "lib/measure/Gate.h"

#include <nlohmann/json.hpp>

#include <functional>
#include <optional>
#include <string>
#include <vector>

namespace nereid::cli {

/// The input is a result file, not something to measure.
bool isResultFile(const std::string &input);
/// Fails with E0013 without an earlier file.
void runCompareFiles(const std::string &now, const std::string &before, Session &session);

/// The earlier file, if one is named, without the cases that nobody asks for now; refused when
/// nothing is left, or when it is of something else than `subject`, of another machine or of
/// another number of threads than this process would measure with.
Result<std::optional<measure::ResultFile>>
openEarlier(const std::string &path, const std::string &subject,
            const std::function<bool(const std::string &name)> &isAsked);

/// Judges the results of now. What seems slower is measured again by `measureAgain`, which gets the
/// names of those cases and returns results as JSON, and must be slower again.
Result<measure::GateResult> judgeAgainst(
    const measure::ResultFile &before, const nlohmann::ordered_json &now,
    const std::function<nlohmann::ordered_json(const std::vector<std::string> &)> &measureAgain);

/// Table and summary; exit status 1 when a case is slower or failed. In JSON the caller prints.
void reportGate(const measure::GateResult &result, Session &session);

} // namespace nereid::cli
