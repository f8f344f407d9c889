// SPDX-License-Identifier: Apache-2.0
// SCHEDULES of an operator's `<op>_triton.py`, which a person may have edited: what is written
// there holds, for `nereid verify` and `bench` as for the wrappers that ask it.
#pragma once

#include "lib/generator/Schedule.h"
#include "lib/generator/programs/ProgramOperator.h"

namespace nereid::generator {

struct WrittenSchedule {
  CaseClass caseClass;
  Schedule schedule;
};

/// Of the file's text, in its order; none where it has no SCHEDULES. E0612 at what is no choice of
/// the operator's, no value of it that is legal, or no class of its cases.
Result<std::vector<WrittenSchedule>>
writtenSchedules(const std::string &path, const std::string &text, const ProgramOperator &program);

} // namespace nereid::generator
