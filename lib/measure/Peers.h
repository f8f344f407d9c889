// SPDX-License-Identifier: Apache-2.0
// The strongest libraries that may be installed, as peers of a kernel in the same run. Found at run
// time with dlopen, so that the program needs none of them; a missing one is simply no peer.
#pragma once

#include "runtime/Tensor.h"

#include <functional>
#include <map>
#include <optional>
#include <string>

namespace nereid::measure {

struct Peer {
  std::string name; ///< "OpenBLAS"
  std::function<void()> run;
};

/// A peer that computes `expression` ("matmul(a, b)", "a @ b") on these tensors into memory of its
/// own; nothing when no installed library has it for these types.
std::optional<Peer> findPeer(const std::string &expression,
                             const std::map<std::string, runtime::Tensor> &tensors);

} // namespace nereid::measure
