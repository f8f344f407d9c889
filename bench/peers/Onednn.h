// SPDX-License-Identifier: Apache-2.0
// What the parts of the oneDNN peer share: primitives run one after another on the request's
// tensors (lib/measure/peers/PeerLibrary.h).
#pragma once

#include "lib/measure/peers/PeerLibrary.h"

#include <oneapi/dnnl/dnnl.hpp>

#include <string_view>
#include <unordered_map>
#include <vector>

struct nereid_peer {
  struct Step {
    dnnl::primitive primitive;
    std::unordered_map<int, dnnl::memory> arguments;
  };
  dnnl::engine engine;
  dnnl::stream stream;
  std::vector<Step> steps;

  void run() {
    for (Step &step : steps) {
      step.primitive.execute(stream, step.arguments);
    }
    stream.wait();
  }
};

namespace nereid::onednn {

double attribute(const nereid_peer_request &request, std::string_view name, double otherwise);

/// conv2d(x, w[, bias], stride=, padding=, dilation=, groups=, relu=, channels_last=,
/// features_last=) in float32. Tensors are as in PyTorch, but with channels_last x is [N, H, W, C],
/// and with features_last, which channels_last implies, w is [KH, KW, C / groups, F]; w of five
/// dimensions is [panels, KH, KW, C, F / panels]. The weights are laid out as the library likes
/// them when the peer is opened. Images are read and written in
/// the request's layout, directly or through the library's own: the quicker one.
bool addConvolution(nereid_peer &peer, const nereid_peer_request &request);

/// scaled_dot_product_attention(q, k, v, scale=, is_causal=, window=) in float32 on tensors [heads,
/// N, D]; with a window a query sees the keys less than so far away.
bool addAttention(nereid_peer &peer, const nereid_peer_request &request);

/// scaled_dot_product_attention_backward(q, k, v, dout, …) in the same way: the output is the
/// gradient of q, those of k and v are computed too.
bool addAttentionGradients(nereid_peer &peer, const nereid_peer_request &request);

} // namespace nereid::onednn
