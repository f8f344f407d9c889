// SPDX-License-Identifier: Apache-2.0
// oneDNN's convolution as a peer, with bias and ReLU fused.
#include "bench/peers/Onednn.h"
#include "runtime/elements/DType.h"

#include <algorithm>
#include <chrono>
#include <limits>

namespace nereid::onednn {
namespace {

using dnnl::convolution_forward;
using dnnl::memory;
using Tag = memory::format_tag;

struct Problem {
  memory::dims input, weights, bias, output;
  memory::desc inputDesc, weightsDesc, outputDesc; ///< as the request's tensors lie in memory
  memory::dims stride, padding, dilation;          ///< oneDNN's dilation is 0 for none
  bool hasBias = false, hasRelu = false;
  std::vector<float> unpacked; ///< weights that came in panels
};

memory::dims pair(double number) {
  return {static_cast<int64_t>(number), static_cast<int64_t>(number)};
}

bool isFloatOfRank(const nereid_peer_tensor &tensor, int rank) {
  return tensor.dtype == static_cast<int>(DType::F32) && tensor.rank == rank;
}

/// [first, second / groups...] with a leading dimension for the groups.
memory::dims grouped(const memory::dims &weights, int64_t groups) {
  memory::dims out = weights;
  if (groups > 1) {
    out[0] /= groups;
    out.insert(out.begin(), groups);
  }
  return out;
}

memory::desc weightsIn(const memory::dims &sizes, bool featuresLast) {
  // [G,] F, C, H, W; in memory that, or H, W, C, all features.
  const bool hasGroups = sizes.size() == 5;
  const size_t f = hasGroups ? 1 : 0;
  memory::dims strides(sizes.size());
  const int64_t features = sizes[f] * (hasGroups ? sizes[0] : 1);
  const int64_t c = sizes[f + 1], h = sizes[f + 2], w = sizes[f + 3];
  if (featuresLast) {
    strides[f] = 1;
    strides[f + 1] = features;
    strides[f + 3] = features * c;
    strides[f + 2] = features * c * w;
  } else {
    strides[f + 3] = 1;
    strides[f + 2] = w;
    strides[f + 1] = w * h;
    strides[f] = w * h * c;
  }
  if (hasGroups) {
    strides[0] = strides[f] * sizes[f];
  }
  return memory::desc(sizes, memory::data_type::f32, strides);
}

/// [panels, H, W, C, features of a panel] as [F, C, H, W].
std::vector<float> unpack(const nereid_peer_tensor &weights, memory::dims &sizes) {
  const int64_t panels = weights.shape[0], taps = weights.shape[1] * weights.shape[2];
  const int64_t channels = weights.shape[3], width = weights.shape[4];
  sizes = {panels * width, channels, weights.shape[1], weights.shape[2]};
  const auto *from = static_cast<const float *>(weights.data);
  std::vector<float> to(static_cast<size_t>(panels * width * channels * taps));
  for (int64_t f = 0; f < panels * width; ++f) {
    for (int64_t i = 0; i < channels * taps; ++i) {
      const int64_t tap = i % taps, channel = i / taps;
      const int64_t row = (f / width * taps + tap) * channels + channel;
      to[static_cast<size_t>(f * channels * taps + i)] = from[row * width + f % width];
    }
  }
  return to;
}

bool readProblem(const nereid_peer_request &request, Problem &problem) {
  const auto groups = static_cast<int64_t>(attribute(request, "groups", 1));
  if (request.inputCount < 2 || request.inputCount > 3 || !isFloatOfRank(request.inputs[0], 4) ||
      !isFloatOfRank(request.output, 4)) {
    return false;
  }
  const bool isPacked = isFloatOfRank(request.inputs[1], 5) && groups == 1;
  if (!isPacked && !isFloatOfRank(request.inputs[1], 4)) {
    return false;
  }
  const int64_t *x = request.inputs[0].shape, *w = request.inputs[1].shape;
  const int64_t *y = request.output.shape;
  const bool last = attribute(request, "channels_last", 0) != 0;
  const bool featuresLast = !isPacked && attribute(request, "features_last", last ? 1 : 0) != 0;
  if (last) {
    problem.input = {x[0], x[3], x[1], x[2]};
    problem.output = {y[0], y[3], y[1], y[2]};
  } else {
    problem.input = {x, x + 4};
    problem.output = {y, y + 4};
  }
  if (isPacked) {
    problem.unpacked = unpack(request.inputs[1], problem.weights);
  } else {
    problem.weights = featuresLast ? memory::dims{w[3], w[2], w[0], w[1]} : memory::dims{w, w + 4};
  }
  problem.bias = {problem.weights[0]};
  problem.weights = grouped(problem.weights, groups);
  const Tag tag = last ? Tag::nhwc : Tag::nchw;
  problem.inputDesc = memory::desc(problem.input, memory::data_type::f32, tag);
  problem.outputDesc = memory::desc(problem.output, memory::data_type::f32, tag);
  problem.weightsDesc = weightsIn(problem.weights, featuresLast);
  problem.stride = pair(attribute(request, "stride", 1));
  problem.padding = pair(attribute(request, "padding", 0));
  problem.dilation = pair(attribute(request, "dilation", 1) - 1);
  problem.hasBias = request.inputCount == 3;
  problem.hasRelu = attribute(request, "relu", 0) != 0;
  return !problem.hasBias || isFloatOfRank(request.inputs[2], 1);
}

convolution_forward::primitive_desc describe(const nereid_peer &peer, const Problem &problem,
                                             const memory::desc &input,
                                             const memory::desc &output) {
  const memory::desc weights(problem.weights, memory::data_type::f32, Tag::any);
  const memory::desc bias(problem.bias, memory::data_type::f32, Tag::x);
  const auto kind = dnnl::prop_kind::forward_inference;
  const auto algorithm = dnnl::algorithm::convolution_direct;
  auto desc =
      problem.hasBias
          ? convolution_forward::desc(kind, algorithm, input, weights, bias, output, problem.stride,
                                      problem.dilation, problem.padding, problem.padding)
          : convolution_forward::desc(kind, algorithm, input, weights, output, problem.stride,
                                      problem.dilation, problem.padding, problem.padding);
  dnnl::primitive_attr attributes;
  if (problem.hasRelu) {
    dnnl::post_ops after;
    after.append_eltwise(1.0F, dnnl::algorithm::eltwise_relu, 0.0F, 0.0F);
    attributes.set_post_ops(after);
  }
  return {desc, attributes, peer.engine};
}

void addReorder(std::vector<nereid_peer::Step> &steps, memory from, memory to) {
  steps.push_back({dnnl::reorder(from, to), {{DNNL_ARG_FROM, from}, {DNNL_ARG_TO, to}}});
}

/// The convolution on images in the request's layout, or, `isFree`, in the library's choice.
std::vector<nereid_peer::Step> stepsFor(nereid_peer &peer, const Problem &problem,
                                        const nereid_peer_request &request, bool isFree) {
  auto anyOf = [](const memory::dims &sizes) {
    return memory::desc(sizes, memory::data_type::f32, Tag::any);
  };
  auto primitive = describe(peer, problem, isFree ? anyOf(problem.input) : problem.inputDesc,
                            isFree ? anyOf(problem.output) : problem.outputDesc);
  memory x(problem.inputDesc, peer.engine, request.inputs[0].data);
  memory y(problem.outputDesc, peer.engine, request.output.data);
  memory given(problem.weightsDesc, peer.engine,
               problem.unpacked.empty() ? request.inputs[1].data
                                        : const_cast<float *>(problem.unpacked.data()));
  memory weights(primitive.weights_desc(), peer.engine);
  dnnl::reorder(given, weights).execute(peer.stream, given, weights);
  std::vector<nereid_peer::Step> steps;
  const bool reordersInput = primitive.src_desc() != problem.inputDesc;
  const bool reordersOutput = primitive.dst_desc() != problem.outputDesc;
  memory from = reordersInput ? memory(primitive.src_desc(), peer.engine) : x;
  memory to = reordersOutput ? memory(primitive.dst_desc(), peer.engine) : y;
  if (reordersInput) {
    addReorder(steps, x, from);
  }
  nereid_peer::Step step{convolution_forward(primitive),
                         {{DNNL_ARG_SRC, from}, {DNNL_ARG_WEIGHTS, weights}, {DNNL_ARG_DST, to}}};
  if (problem.hasBias) {
    step.arguments.insert_or_assign(
        DNNL_ARG_BIAS, memory(primitive.bias_desc(), peer.engine, request.inputs[2].data));
  }
  steps.push_back(std::move(step));
  if (reordersOutput) {
    addReorder(steps, to, y);
  }
  peer.stream.wait();
  return steps;
}

double shortestRun(nereid_peer &peer) {
  double best = std::numeric_limits<double>::infinity();
  for (int i = 0; i < 10; ++i) {
    const auto begin = std::chrono::steady_clock::now();
    peer.run();
    const std::chrono::duration<double> seconds = std::chrono::steady_clock::now() - begin;
    best = std::min(best, seconds.count());
  }
  return best;
}

} // namespace

bool addConvolution(nereid_peer &peer, const nereid_peer_request &request) {
  Problem problem;
  if (!readProblem(request, problem)) {
    return false;
  }
  std::vector<nereid_peer::Step> best;
  double bestSeconds = std::numeric_limits<double>::infinity();
  for (bool isFree : {false, true}) {
    peer.steps = stepsFor(peer, problem, request, isFree);
    const double seconds = shortestRun(peer);
    if (seconds < bestSeconds) {
      bestSeconds = seconds;
      best = peer.steps;
    }
  }
  peer.steps = std::move(best);
  return true;
}

} // namespace nereid::onednn
