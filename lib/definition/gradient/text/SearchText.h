// SPDX-License-Identifier: Apache-2.0
// Searches in sorted rows, which the reader writes out in steps, as the call that they were: in a
// gradient they are read anew, with what an empty row gives, which no body can say of the steps.
#pragma once

#include "lib/definition/Graph.h"

#include <optional>
#include <string>

namespace nereid::definition {

/// A search by its operands, numbers of nodes.
struct SearchCall {
  int row = 0, values = 0;
  bool isBehindEqual = false;
};

/// The search whose result the node is, where its row may be empty (reader/written/Searches.cpp).
std::optional<SearchCall> searchOf(const Operator &op, int number);

/// "torch.searchsorted(row, values, right=True, out_int32=True)"
std::string searchText(const SearchCall &call, const std::string &row, const std::string &values);

} // namespace nereid::definition
