// SPDX-License-Identifier: Apache-2.0
// The strongest libraries that may be installed, as peers of a kernel in the same run. Found at run
// time with dlopen, so that the program needs none of them; a missing one is simply no peer.
#pragma once

#include "runtime/tensor/Tensor.h"

#include <functional>
#include <map>
#include <optional>
#include <string>
#include <vector>

namespace nereid::measure {

/// "topk(x, k=8)": PyTorch's name of the operation, the tensors, and numbers.
struct PeerCall {
  std::string operation;
  std::vector<std::string> inputs;
  std::map<std::string, double> attributes;
};

struct Peer {
  std::string name; ///< "OpenBLAS"
  std::function<void()> run;
  runtime::Tensor output; ///< memory of its own
};

/// One of the libraries that peers come from.
struct PeerSource {
  std::string name; ///< "oneDNN"
  bool isThere = false;
  std::string state; ///< where it was found, or what was looked for and how to get it
};
std::vector<PeerSource> peerSources();

/// A peer that computes `call` on these tensors into a tensor like `output`, which starts as a copy
/// of it (an operation may add to it); nothing when no installed library has it for these types.
std::optional<Peer> findPeer(const PeerCall &call,
                             const std::map<std::string, runtime::Tensor> &tensors,
                             const runtime::Tensor &output);

} // namespace nereid::measure
