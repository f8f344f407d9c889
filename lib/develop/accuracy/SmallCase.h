// SPDX-License-Identifier: Apache-2.0
// A case that fails, made small: the same data and layout with the smallest sizes that still fail,
// so that a person can look at all of its elements. It has a name of its own, by which it is run
// again: "odd 5x129, made small to D=33,N=1".
#pragma once

#include "lib/definition/cases/CaseGrid.h"

#include <functional>
#include <optional>
#include <string>

namespace nereid::develop {

/// Each size in turn, the largest first, to 1 or by halves to where it no longer fails, until none
/// gets smaller. A failure that comes and goes with a size is small, and not always the smallest.
/// `fails` is asked at most `mostTries` times.
definition::Binding smallestFailing(const definition::Binding &sizes,
                                    const std::function<bool(const definition::Binding &)> &fails,
                                    int mostTries = 80);

/// The name of a case with other sizes, and both taken apart again; nothing of a name that is none.
std::string smallName(const std::string &name, const definition::Binding &sizes);
struct SmallName {
  std::string name;
  definition::Binding sizes;
};
std::optional<SmallName> readSmallName(const std::string &name);

} // namespace nereid::develop
