// SPDX-License-Identifier: Apache-2.0
// What the stages of an operator print: tables, the verdict, or one JSON object with --json.
#pragma once

#include "lib/cli/Command.h"
#include "lib/develop/Develop.h"

#include <nlohmann/json.hpp>

namespace nereid::cli {

/// Each prints nothing where its stage did not run, or where --json was asked for.
void printInterfaces(const develop::Development &development, const Session &session);
void printAccuracy(const develop::Development &development, const Session &session);
void printPrediction(const develop::Development &development, const Session &session);
/// Which form of the operator is to be used, by the mode and its threshold.
void printChoices(const develop::Development &development, const Session &session);
void printPerformance(const develop::Development &development, const Session &session);
/// What all of it comes to, one line.
void printVerdict(const develop::Development &development, const Session &session);
void printRounds(const develop::Development &development, const Session &session);
/// How long each stage took, and where the folder is.
void printShares(const develop::Development &development, const Session &session);
/// All of it as --json prints it. `against`: null, or what a comparison with an earlier file found.
nlohmann::ordered_json developmentJson(const develop::Development &development,
                                       const nlohmann::ordered_json &against,
                                       const Session &session);

} // namespace nereid::cli
