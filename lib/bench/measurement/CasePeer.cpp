// SPDX-License-Identifier: Apache-2.0
#include "lib/bench/measurement/CasePeer.h"

#include "lib/bench/measurement/PeerCall.h"
#include "lib/eager/Compare.h"
#include "lib/measure/PeakMemory.h"

namespace nereid::bench {

using launch::KernelArguments;
using launch::KernelCase;

std::optional<measure::Peer> peerOf(const KernelCase &one, const KernelArguments &arguments) {
  const auto &expressions = one.peer.empty() ? one.reference : one.peer;
  if (expressions.size() != 1) {
    return std::nullopt;
  }
  const auto &[output, expression] = *expressions.begin();
  auto call = parsePeerCall(expression);
  auto tensor = arguments.tensors.find(output);
  if (!call || tensor == arguments.tensors.end()) {
    return std::nullopt;
  }
  return measure::findPeer(*call, arguments.tensors, tensor->second);
}

Result<eager::Comparison> compareWithPeer(const KernelCase &one, const measure::Peer &peer,
                                          const KernelArguments &arguments) {
  peer.run();
  const runtime::Tensor &actual = arguments.tensors.at(one.peer.begin()->first);
  return eager::compare(actual, peer.output, one.tolerance ? one.tolerance->relative : 0,
                        one.tolerance ? one.tolerance->absolute : 0);
}

std::optional<uint64_t> memoryOfPeer(const KernelCase &one, const KernelArguments &arguments) {
  uint64_t output = 0;
  auto growth = measure::peakGrowth([&] {
    if (auto peer = peerOf(one, arguments)) {
      output = peer->output.byteCount();
      peer->run();
    }
  });
  return growth && *growth > output ? *growth - output : growth ? std::optional(0) : std::nullopt;
}

} // namespace nereid::bench
