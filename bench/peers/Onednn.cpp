// SPDX-License-Identifier: Apache-2.0
// oneDNN as a peer of pointwise and normalising kernels, of products of float32, bfloat16 and
// int8, and of convolutions (lib/measure/peers/PeerLibrary.h).
#include "bench/peers/Onednn.h"
#include "runtime/elements/DType.h"

#include <cstdio>
#include <memory>
#include <optional>

using nereid::DType;
using nereid::onednn::attribute;

double nereid::onednn::attribute(const nereid_peer_request &request, std::string_view name,
                                 double otherwise) {
  for (size_t i = 0; i < request.attributeCount; ++i) {
    if (name == request.attributes[i].name) {
      return request.attributes[i].value;
    }
  }
  return otherwise;
}

namespace {

using dnnl::memory;

std::optional<memory::data_type> typeOf(int dtype) {
  switch (static_cast<DType>(dtype)) {
  case DType::F32:
    return memory::data_type::f32;
  case DType::BF16:
    return memory::data_type::bf16;
  case DType::I8:
    return memory::data_type::s8;
  case DType::I32:
    return memory::data_type::s32;
  default:
    return std::nullopt;
  }
}

/// Row-major with all dimensions but the last joined.
std::optional<memory::desc> rowsOf(const nereid_peer_tensor &tensor) {
  auto type = typeOf(tensor.dtype);
  if (!type || tensor.rank < 1) {
    return std::nullopt;
  }
  int64_t rows = 1;
  for (int i = 0; i + 1 < tensor.rank; ++i) {
    rows *= tensor.shape[i];
  }
  const int64_t columns = tensor.shape[tensor.rank - 1];
  return memory::desc({rows, columns}, *type, {columns, 1});
}

bool isLastDimension(const nereid_peer_request &request) {
  const double dim = attribute(request, "dim", -1);
  return dim == -1 || dim == request.inputs[0].rank - 1;
}

void addArgument(nereid_peer &peer, int which, const memory::desc &desc, void *data) {
  peer.steps.back().arguments.insert_or_assign(which, memory(desc, peer.engine, data));
}

/// Softmax and pointwise functions: one input, one output alike.
void addRows(nereid_peer &peer, const nereid_peer_request &request, const memory::desc &rows) {
  addArgument(peer, DNNL_ARG_SRC, rows, request.inputs[0].data);
  addArgument(peer, DNNL_ARG_DST, rows, request.output.data);
}

bool addPointwise(nereid_peer &peer, const nereid_peer_request &request, const memory::desc &rows,
                  dnnl::algorithm algorithm) {
  dnnl::eltwise_forward::desc desc(dnnl::prop_kind::forward_inference, algorithm, rows, 0.0F, 0.0F);
  peer.steps.back().primitive = dnnl::eltwise_forward({desc, peer.engine});
  addRows(peer, request, rows);
  return true;
}

bool addLayerNorm(nereid_peer &peer, const nereid_peer_request &request, const memory::desc &rows) {
  const auto epsilon = static_cast<float>(attribute(request, "eps", 1e-5));
  for (size_t i : {1, 2}) {
    if (request.inputs[i].dtype != static_cast<int>(DType::F32) ||
        request.inputs[i].shape[request.inputs[i].rank - 1] != rows.dims()[1]) {
      return false;
    }
  }
  dnnl::layer_normalization_forward::desc desc(dnnl::prop_kind::forward_inference, rows, epsilon,
                                               dnnl::normalization_flags::use_scale |
                                                   dnnl::normalization_flags::use_shift);
  peer.steps.back().primitive = dnnl::layer_normalization_forward({desc, peer.engine});
  addRows(peer, request, rows);
  const memory::desc line({rows.dims()[1]}, memory::data_type::f32, memory::format_tag::a);
  addArgument(peer, DNNL_ARG_SCALE, line, request.inputs[1].data);
  addArgument(peer, DNNL_ARG_SHIFT, line, request.inputs[2].data);
  return true;
}

bool addProduct(nereid_peer &peer, const nereid_peer_request &request) {
  auto a = rowsOf(request.inputs[0]), b = rowsOf(request.inputs[1]), c = rowsOf(request.output);
  if (!a || !b || !c || request.inputs[0].rank != 2 || request.inputs[1].rank != 2) {
    return false;
  }
  peer.steps.back().primitive = dnnl::matmul({dnnl::matmul::desc(*a, *b, *c), peer.engine});
  addArgument(peer, DNNL_ARG_SRC, *a, request.inputs[0].data);
  addArgument(peer, DNNL_ARG_WEIGHTS, *b, request.inputs[1].data);
  addArgument(peer, DNNL_ARG_DST, *c, request.output.data);
  return true;
}

bool addOperation(nereid_peer &peer, const nereid_peer_request &request) {
  const std::string_view operation = request.operation;
  if (operation == "conv2d") {
    return nereid::onednn::addConvolution(peer, request);
  }
  if (operation == "scaled_dot_product_attention") {
    return nereid::onednn::addAttention(peer, request);
  }
  if (operation == "scaled_dot_product_attention_backward") {
    return nereid::onednn::addAttentionGradients(peer, request);
  }
  peer.steps.emplace_back();
  if ((operation == "matmul" || operation == "mm") && request.inputCount == 2) {
    return addProduct(peer, request);
  }
  auto rows = request.inputCount > 0 ? rowsOf(request.inputs[0]) : std::nullopt;
  if (!rows || request.output.dtype != request.inputs[0].dtype) {
    return false;
  }
  if (operation == "layer_norm" && request.inputCount == 3) {
    return addLayerNorm(peer, request, *rows);
  }
  if (request.inputCount != 1) {
    return false;
  }
  if (operation == "softmax" && isLastDimension(request)) {
    dnnl::softmax_forward::desc desc(dnnl::prop_kind::forward_inference, *rows, 1);
    peer.steps.back().primitive = dnnl::softmax_forward({desc, peer.engine});
    addRows(peer, request, *rows);
    return true;
  }
  if (operation == "log_softmax" && isLastDimension(request)) {
    dnnl::logsoftmax_forward::desc desc(dnnl::prop_kind::forward_inference, *rows, 1);
    peer.steps.back().primitive = dnnl::logsoftmax_forward({desc, peer.engine});
    addRows(peer, request, *rows);
    return true;
  }
  if (operation == "gelu") {
    return addPointwise(peer, request, *rows, dnnl::algorithm::eltwise_gelu_erf);
  }
  if (operation == "relu") {
    return addPointwise(peer, request, *rows, dnnl::algorithm::eltwise_relu);
  }
  return false;
}

} // namespace

#define NEREID_EXPORT extern "C" __attribute__((visibility("default")))

NEREID_EXPORT nereid_peer *nereid_peer_open(const nereid_peer_request *request) {
  try {
    auto peer = std::make_unique<nereid_peer>();
    peer->engine = dnnl::engine(dnnl::engine::kind::cpu, 0);
    peer->stream = dnnl::stream(peer->engine);
    if (!addOperation(*peer, *request)) {
      return nullptr;
    }
    std::snprintf(request->name, 64, "oneDNN");
    return peer.release();
  } catch (const dnnl::error &) { // a type or shape that the library does not have
    return nullptr;
  }
}

NEREID_EXPORT void nereid_peer_run(nereid_peer *peer) { peer->run(); }

NEREID_EXPORT void nereid_peer_close(nereid_peer *peer) { delete peer; }
