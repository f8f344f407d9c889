// SPDX-License-Identifier: Apache-2.0
// Attention without fusion, as operations of oneDNN with the scores in memory between them: a
// product that scales, the addition of a mask where there is one, the softmax, a product. The mask
// is a pass of its own because oneDNN has no vector code for it behind a product. Its gradients
// take the weights as the forward pass has left them, and neither scores nor mask again.
#include "bench/peers/Onednn.h"
#include "runtime/elements/DType.h"

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

namespace {

/// Tensors [heads, rows, columns] of one request, and products of them.
class Chain {
public:
  Chain(nereid_peer &peer, const nereid_peer_request &request) : peer(peer), request(request) {}

  memory input(size_t index) const {
    return memory(descriptor(request.inputs[index]), peer.engine, request.inputs[index].data);
  }
  memory output() const {
    return memory(descriptor(request.output), peer.engine, request.output.data);
  }
  memory make(const memory::dims &sizes) const {
    return memory({sizes, memory::data_type::f32, memory::format_tag::abc}, peer.engine);
  }
  static memory transposed(const memory &tensor) {
    return memory(tensor.get_desc().permute_axes({0, 2, 1}), tensor.get_engine(),
                  tensor.get_data_handle());
  }
  void multiply(const memory &a, const memory &b, const memory &c, float scale = 1) {
    dnnl::primitive_attr scaled;
    scaled.set_output_scales(0, {scale});
    dnnl::matmul::desc desc(a.get_desc(), b.get_desc(), c.get_desc());
    peer.steps.push_back({dnnl::matmul({desc, scaled, peer.engine}),
                          {{DNNL_ARG_SRC, a}, {DNNL_ARG_WEIGHTS, b}, {DNNL_ARG_DST, c}}});
  }

  /// The weights of every query in `scores`.
  dnnl::softmax_forward::primitive_desc addWeights(const memory &scores) {
    const float scale = static_cast<float>(attribute(request, "scale", 1));
    multiply(input(0), transposed(input(1)), scores, scale);
    addMask(scores);
    dnnl::softmax_forward::primitive_desc softmax(
        {dnnl::prop_kind::forward_training, scores.get_desc(), 2}, peer.engine);
    peer.steps.push_back(
        {dnnl::softmax_forward(softmax), {{DNNL_ARG_SRC, scores}, {DNNL_ARG_DST, scores}}});
    return softmax;
  }

private:
  void addMask(const memory &scores) {
    const bool isCausal = attribute(request, "is_causal", 0) != 0;
    const auto window = static_cast<int64_t>(attribute(request, "window", 0));
    if (!isCausal && window == 0) {
      return;
    }
    const memory::dims sizes = scores.get_desc().dims();
    memory mask = make({1, sizes[1], sizes[2]});
    fillMask(static_cast<float *>(mask.get_data_handle()), sizes[1], sizes[2], isCausal, window);
    dnnl::binary::desc added(dnnl::algorithm::binary_add, scores.get_desc(), mask.get_desc(),
                             scores.get_desc());
    peer.steps.push_back(
        {dnnl::binary({added, peer.engine}),
         {{DNNL_ARG_SRC_0, scores}, {DNNL_ARG_SRC_1, mask}, {DNNL_ARG_DST, scores}}});
  }

  nereid_peer &peer;
  const nereid_peer_request &request;
};

bool areHeads(const nereid_peer_request &request, size_t count) {
  bool fits = request.inputCount == count;
  for (size_t i = 0; fits && i < count; ++i) {
    fits = request.inputs[i].rank == 3 && request.inputs[i].dtype == static_cast<int>(DType::F32);
  }
  return fits;
}

memory::dims scoreSizes(const nereid_peer_request &request) {
  const int64_t *q = request.inputs[0].shape, *k = request.inputs[1].shape;
  return {q[0], q[1], k[1]};
}

} // namespace

bool addAttention(nereid_peer &peer, const nereid_peer_request &request) {
  if (!areHeads(request, 3)) {
    return false;
  }
  Chain chain(peer, request);
  memory scores = chain.make(scoreSizes(request));
  chain.addWeights(scores);
  chain.multiply(scores, chain.input(2), chain.output());
  return true;
}

bool addAttentionGradients(nereid_peer &peer, const nereid_peer_request &request) {
  if (!areHeads(request, 4)) {
    return false;
  }
  Chain chain(peer, request);
  memory weights = chain.make(scoreSizes(request)), between = chain.make(scoreSizes(request));
  auto softmax = chain.addWeights(weights);
  peer.run(); // the forward pass has been
  peer.steps.clear();
  memory q = chain.input(0), k = chain.input(1), v = chain.input(2), gradient = chain.input(3);
  const float scale = static_cast<float>(attribute(request, "scale", 1));
  chain.multiply(Chain::transposed(weights), gradient, chain.make(v.get_desc().dims()));
  chain.multiply(gradient, Chain::transposed(v), between);
  dnnl::softmax_backward::desc desc(between.get_desc(), weights.get_desc(), 2);
  peer.steps.push_back(
      {dnnl::softmax_backward({desc, peer.engine, softmax}),
       {{DNNL_ARG_DST, weights}, {DNNL_ARG_DIFF_DST, between}, {DNNL_ARG_DIFF_SRC, between}}});
  chain.multiply(between, k, chain.output(), scale);
  chain.multiply(Chain::transposed(between), q, chain.make(k.get_desc().dims()), scale);
  return true;
}

} // namespace nereid::onednn
