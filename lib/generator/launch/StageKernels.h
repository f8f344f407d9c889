// SPDX-License-Identifier: Apache-2.0
// The kernels of one stage of a program, and what they are called in schedules.
#pragma once

#include "lib/generator/fuse/split/Split.h"
#include "lib/generator/template/StageKernel.h"

namespace nereid::generator {

/// Names of stages in schedules: what their template is called, and a number from the second on.
class Roles {
public:
  std::string next(const std::string &role) {
    const int count = ++counts[role];
    return count == 1 ? role : role + std::to_string(count);
  }

private:
  std::map<std::string, int> counts;
};

/// What the stage's template is called; one of `split` may join parts for its rows.
std::string roleOf(const Program &program, const std::vector<Store> &stores,
                   const Split *split = nullptr);

/// The kernels of stores that one kernel can make, as `role` in schedules: of reductions whose
/// extent is not known, both forms; of a stage of `split` that reads its parts once, the loop.
Result<std::vector<StageKernel>> kernelsOf(Program &program, const std::string &name,
                                           const std::vector<Store> &stores,
                                           const std::string &role, const Split *split = nullptr);

/// Both have to hold.
void addCondition(std::string &all, const std::string &one);

} // namespace nereid::generator
