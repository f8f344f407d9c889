// SPDX-License-Identifier: Apache-2.0
// A run beside an earlier one of the same machine: the earlier file, judged before anything is
// measured, and the verdict on what is measured then.
#pragma once

#include "lib/bench/Row.h"
#include "lib/measure/statistics/Gate.h"

#include <functional>
#include <optional>
#include <string>
#include <vector>

namespace nereid::bench {

/// The row as a result file has it. `typeOrKernel` tells cases of one name apart.
measure::RecordedCase recordedCase(const Row &row, const std::string &typeOrKernel);

/// Results of this process on this machine, as a file would have them.
measure::ResultFile resultsNow(const std::string &subject,
                               std::vector<measure::RecordedCase> cases);

/// The earlier file, if one is named, without the cases that nobody asks for now; refused when
/// nothing is left, or when it is of something else than `subject`, of another machine or of
/// another number of threads than this process would measure with (E0704).
Result<std::optional<measure::ResultFile>>
openEarlier(const std::string &path, const std::string &subject,
            const std::function<bool(const std::string &name)> &isAsked);

/// Judges the cases of now. What seems slower is measured again by `measureAgain`, which gets the
/// names of those cases, and must be slower again.
Result<measure::GateResult> judgeAgainst(
    const measure::ResultFile &before, std::vector<measure::RecordedCase> now,
    const std::function<std::vector<measure::RecordedCase>(const std::vector<std::string> &)>
        &measureAgain);

} // namespace nereid::bench
