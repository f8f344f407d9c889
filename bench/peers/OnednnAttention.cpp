// SPDX-License-Identifier: Apache-2.0
// Attention without fusion, as operations of oneDNN with the scores in memory between them: a
// product that scales, the addition of a mask where there is one, the softmax, a product. The mask
// is a pass of its own because oneDNN has no vector code for it behind a product.
#include "bench/peers/Onednn.h"
#include "runtime/DType.h"

#include <limits>

namespace nereid::onednn {

using dnnl::memory;

static memory::desc descriptor(const nereid_peer_tensor &tensor) {
  memory::dims sizes(tensor.shape, tensor.shape + 3);
  return memory::desc(sizes, memory::data_type::f32, memory::format_tag::abc);
}

/// What is added to the scores of every head: zero where a query sees a key.
static void fillMask(float *mask, int64_t rows, int64_t columns, bool isCausal, int64_t window) {
  for (int64_t row = 0; row < rows; ++row) {
    for (int64_t column = 0; column < columns; ++column) {
      const bool isEarlier = column <= row;
      const bool isNear = window == 0 || (column > row - window && column < row + window);
      mask[row * columns + column] =
          (isEarlier || !isCausal) && isNear ? 0.0F : -std::numeric_limits<float>::infinity();
    }
  }
}

bool addAttention(nereid_peer &peer, const nereid_peer_request &request) {
  if (request.inputCount != 3) {
    return false;
  }
  for (size_t i = 0; i < 3; ++i) {
    if (request.inputs[i].rank != 3 || request.inputs[i].dtype != static_cast<int>(DType::F32)) {
      return false;
    }
  }
  const memory::desc rows = descriptor(request.inputs[0]), output = descriptor(request.output);
  const memory::desc keys = descriptor(request.inputs[1]).permute_axes({0, 2, 1});
  const memory::desc values = descriptor(request.inputs[2]);
  const memory::dims sizes = {rows.dims()[0], rows.dims()[1], keys.dims()[2]};
  const memory::desc scores(sizes, memory::data_type::f32, memory::format_tag::abc);
  memory q(rows, peer.engine, request.inputs[0].data);
  memory k(keys, peer.engine, request.inputs[1].data);
  memory v(values, peer.engine, request.inputs[2].data);
  memory out(output, peer.engine, request.output.data), between(scores, peer.engine);

  dnnl::primitive_attr scaled;
  scaled.set_output_scales(0, {static_cast<float>(attribute(request, "scale", 1))});
  dnnl::matmul first({dnnl::matmul::desc(rows, keys, scores), scaled, peer.engine});
  peer.steps = {{first, {{DNNL_ARG_SRC, q}, {DNNL_ARG_WEIGHTS, k}, {DNNL_ARG_DST, between}}}};

  const bool isCausal = attribute(request, "is_causal", 0) != 0;
  const auto window = static_cast<int64_t>(attribute(request, "window", 0));
  if (isCausal || window > 0) {
    const memory::desc shared({1, sizes[1], sizes[2]}, memory::data_type::f32,
                              memory::format_tag::abc);
    memory mask(shared, peer.engine);
    fillMask(static_cast<float *>(mask.get_data_handle()), sizes[1], sizes[2], isCausal, window);
    dnnl::binary::desc added(dnnl::algorithm::binary_add, scores, shared, scores);
    peer.steps.push_back(
        {dnnl::binary({added, peer.engine}),
         {{DNNL_ARG_SRC_0, between}, {DNNL_ARG_SRC_1, mask}, {DNNL_ARG_DST, between}}});
  }

  dnnl::softmax_forward softmax(
      {dnnl::softmax_forward::desc(dnnl::prop_kind::forward_inference, scores, 2), peer.engine});
  peer.steps.push_back({softmax, {{DNNL_ARG_SRC, between}, {DNNL_ARG_DST, between}}});
  dnnl::matmul second({dnnl::matmul::desc(scores, values, output), peer.engine});
  peer.steps.push_back(
      {second, {{DNNL_ARG_SRC, between}, {DNNL_ARG_WEIGHTS, v}, {DNNL_ARG_DST, out}}});
  return true;
}

} // namespace nereid::onednn
