// SPDX-License-Identifier: Apache-2.0
// A form of a case's reference as a peer of its kernel. Who generates kernels makes them; here is
// what they are asked and what they give.
#pragma once

#include "lib/bench/measurement/Measurement.h"
#include "lib/launch/CaseReference.h"
#include "lib/launch/PreparedKernel.h"

namespace nereid::bench {

struct FormRequest {
  launch::ReferenceForm form = launch::ReferenceForm::Compiled;
  launch::FormOperator what;
  const launch::Execution &execution;
  const Machine &chip;               ///< that the form runs on
  runtime::Device *device = nullptr; ///< null: this processor
};

struct FormPeer {
  TimedLaunch timed;                   ///< named as the form
  std::function<std::string()> verify; ///< runs it once: what is wrong, "" = nothing
};

/// E0423 for a graph where there is none; E0607 and what the generator and the compiler say.
using FormMaker = std::function<Result<FormPeer>(FormRequest)>;

} // namespace nereid::bench
