// SPDX-License-Identifier: Apache-2.0
// Launches and copies of the CPU, kept to be run again one after the other.
#pragma once

#include "runtime/Graph.h"
#include "runtime/ThreadPool.h"

#include <functional>
#include <vector>

namespace nereid::runtime {

class HostGraph final : public Graph {
public:
  using Call = std::function<LaunchError(ThreadPool &)>;
  using Graph::Graph;

  void add(Call call) { calls.push_back(std::move(call)); }
  /// All calls in their order, up to the first that fails.
  LaunchError run(ThreadPool &pool) const {
    for (const Call &call : calls) {
      if (LaunchError failed = call(pool)) {
        return failed;
      }
    }
    return {};
  }

private:
  LaunchError queue(Stream &) override { return run(defaultPool()); }

  std::vector<Call> calls;
};

} // namespace nereid::runtime
