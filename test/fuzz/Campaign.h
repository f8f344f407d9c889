// SPDX-License-Identifier: Apache-2.0
// A run of many programs: worker processes that take one seed after the other, so that a program
// which crashes the compiler ends one of them and is named by its seed.
#pragma once

#include "test/fuzz/Judge.h"

namespace nereid::fuzz {

struct CampaignOptions {
  std::string engine = "cpu"; ///< as Engine::start knows it
  uint64_t seed = 1;
  int64_t count = 1000;
  int64_t workers = 1;
  int64_t mostFailures = 20;
  std::string folder = "fuzz"; ///< of programs that fail
  std::string only;            ///< programs with a class whose text contains this
  bool printsPrograms = false, printsTable = false;
};

/// Programs of which a run must have drawn every class.
inline constexpr int64_t enoughPrograms = 20000;

/// Exit status: 0 when all agree and, of enough programs, every class was drawn.
int runCampaign(const CampaignOptions &options);

} // namespace nereid::fuzz
