// SPDX-License-Identifier: Apache-2.0
// Conditions are those of torch.nn.functional.conv2d.
#include "lib/definition/operations/Convolution.h"

#include "lib/definition/operations/Infer.h"
#include "lib/definition/operations/Shape.h"
#include "lib/definition/operations/SizeAlgebra.h"

#include <fmt/format.h>

#include <algorithm>

namespace nereid::definition {
namespace {

const char *const sideNames[2] = {"height", "width"};

/// A number for both sides, or one for each; `otherwise` when the attribute is not there.
Result<std::array<int64_t, 2>> pairOf(const Node &node, const std::string &name, int64_t otherwise,
                                      int64_t least) {
  auto found = node.attributes.find(name);
  std::vector<int64_t> list = {otherwise};
  if (found != node.attributes.end()) {
    const Attribute &value = found->second;
    const auto *one = std::get_if<int64_t>(&value);
    const auto *many = std::get_if<std::vector<int64_t>>(&value);
    list = one ? std::vector<int64_t>{*one} : many ? *many : std::vector<int64_t>{};
  }
  bool fits = (list.size() == 1 || list.size() == 2) &&
              *std::min_element(list.begin(), list.end()) >= least;
  if (!fits) {
    return makeError("E0608", fmt::format("'{}' of '{}' expects one integer or two of at least {}, "
                                          "but got {}",
                                          name, node.op, least, sizesText(list)))
        .withHelp("write one number for both sides, or (height, width)");
  }
  return std::array<int64_t, 2>{list.front(), list.back()};
}

/// The three or four named dimensions, a missing batch as 1; nothing when the rank is another one.
std::optional<SymbolicShape> batched(const SymbolicShape &shape) {
  bool isOpen = !shape.empty() && shape[0].isRest();
  if (isOpen || (shape.size() != 3 && shape.size() != 4)) {
    return std::nullopt;
  }
  SymbolicShape out = shape;
  if (shape.size() == 3) {
    out.insert(out.begin(), Dim{"", 1});
  }
  return out;
}

SymbolicShape constants(std::span<const int64_t> sizes) {
  SymbolicShape shape;
  for (int64_t size : sizes) {
    shape.push_back(Dim{"", size});
  }
  return shape;
}

Diagnostic misfit(const std::string &message, const std::string &help) {
  return makeError("E0604", message).withHelp(help);
}

/// Padding of one side and the result's size for constant sizes.
Result<Window> windowOf(const ConvolutionAttributes &attributes, size_t side, int64_t size,
                        int64_t kernel) {
  Window window;
  window.size = size;
  window.kernel = kernel;
  window.stride = attributes.stride[side];
  window.dilation = attributes.dilation[side];
  int64_t reach = window.dilation * (kernel - 1);
  // An odd sum leaves the larger part behind, as PyTorch does.
  window.before = attributes.isSame ? reach / 2 : attributes.padding[side];
  window.after = attributes.isSame ? reach - reach / 2 : attributes.padding[side];
  int64_t room = size + window.before + window.after - reach - 1;
  if (kernel < 1 || room < 0) {
    return misfit(
        fmt::format("the {} of conv2d's input with padding is {}, but its kernel reaches over {}",
                    sideNames[side], size + window.before + window.after, reach + 1),
        "use a larger input, more padding, or a smaller kernel or dilation");
  }
  window.result = room / window.stride + 1;
  return window;
}

/// One spatial dimension of the result.
Result<Dim> resultDim(const ConvolutionAttributes &attributes, size_t side, const Dim &size,
                      const Dim &kernel) {
  if (attributes.isSame) {
    return size;
  }
  if (kernel.symbol.empty() && size.symbol.empty()) {
    Result<Window> window = windowOf(attributes, side, size.constant, kernel.constant);
    return window ? Result<Dim>(Dim{"", window->result}) : Result<Dim>(window.error());
  }
  const SizePolynomial reach = (SizePolynomial::of(kernel) - 1) * attributes.dilation[side];
  const SizePolynomial room =
      SizePolynomial::of(size) + 2 * attributes.padding[side] - reach - 1; // a constraint says >= 0
  return (room.floorDivide(attributes.stride[side]) + 1).dim();
}

Status checkChannels(const ConvolutionAttributes &attributes, const Node &input,
                     const Node &weight) {
  const Dim &channels = input.shape[input.shape.size() - 3];
  const Dim &features = weight.shape[0], &taken = weight.shape[1];
  bool isNumeric = channels.symbol.empty() && taken.symbol.empty();
  bool fits = attributes.groups == 1
                  ? channels == taken
                  : isNumeric && channels.constant == taken.constant * attributes.groups;
  if (!fits) {
    return misfit(fmt::format("'conv2d' expects groups * weight.shape[1] channels, but got {} in "
                              "'{}' {} and {} * {} from '{}' {}",
                              text({channels}), shownName(input), text(input.shape),
                              attributes.groups, text({taken}), shownName(weight),
                              text(weight.shape)),
                  attributes.groups == 1
                      ? "weight is [features, channels / groups, kernel height, kernel width]"
                      : "with groups, channels are given as numbers");
  }
  if (features.symbol.empty() ? features.constant % attributes.groups != 0
                              : attributes.groups != 1) {
    return misfit(fmt::format("'conv2d' expects features that {} groups divide, but got {}",
                              attributes.groups, text({features})),
                  "give the features as a multiple of groups");
  }
  return Done{};
}

} // namespace

Result<ConvolutionAttributes> convolutionAttributes(const Node &node) {
  ConvolutionAttributes out;
  auto stride = pairOf(node, "stride", 1, 1), dilation = pairOf(node, "dilation", 1, 1);
  if (!stride || !dilation) {
    return !stride ? stride.error() : dilation.error();
  }
  out.stride = *stride;
  out.dilation = *dilation;
  out.groups = integerAttribute(node, "groups", 1);
  if (out.groups < 1) {
    return makeError("E0608", fmt::format("'groups' of 'conv2d' expects an integer of at least 1, "
                                          "but got {}",
                                          out.groups));
  }
  std::string word = stringAttribute(node, "padding", "");
  if (word == "same" || word == "valid") {
    out.isSame = word == "same";
    if (out.isSame && (out.stride[0] != 1 || out.stride[1] != 1)) {
      return makeError("E0608", fmt::format("padding=\"same\" of 'conv2d' expects stride 1, but "
                                            "got {}",
                                            sizesText(out.stride)))
          .withHelp("give the padding as numbers");
    }
    return out;
  }
  if (!word.empty()) {
    return makeError("E0608", fmt::format("'padding' of 'conv2d' expects \"same\", \"valid\" or "
                                          "numbers, but got \"{}\"",
                                          word));
  }
  auto padding = pairOf(node, "padding", 0, 0);
  if (!padding) {
    return padding.error();
  }
  out.padding = *padding;
  return out;
}

Result<ConvolutionSizes> convolutionSizes(const Node &node, std::span<const int64_t> input,
                                          std::span<const int64_t> weight) {
  Node left, right, none;
  left.shape = constants(input);
  right.shape = constants(weight);
  left.name = "input";
  right.name = "weight";
  if (Result<SymbolicShape> checked = convolutionShape(node, left, right, none); !checked) {
    return checked.error();
  }
  ConvolutionAttributes attributes = *convolutionAttributes(node);
  SymbolicShape whole = *batched(left.shape);
  ConvolutionSizes sizes;
  sizes.hasBatch = input.size() == 4;
  sizes.batch = whole[0].constant;
  sizes.channels = whole[1].constant;
  sizes.features = weight[0];
  sizes.groups = attributes.groups;
  Result<Window> height = windowOf(attributes, 0, whole[2].constant, weight[2]);
  Result<Window> width = windowOf(attributes, 1, whole[3].constant, weight[3]);
  if (!height || !width) {
    return !height ? height.error() : width.error();
  }
  sizes.height = *height;
  sizes.width = *width;
  return sizes;
}

Result<SymbolicShape> convolutionShape(const Node &node, const Node &input, const Node &weight,
                                       const Node &bias) {
  Result<ConvolutionAttributes> attributes = convolutionAttributes(node);
  if (!attributes) {
    return attributes.error();
  }
  std::optional<SymbolicShape> image = batched(input.shape);
  bool isFilter = weight.shape.size() == 4 && !weight.shape[0].isRest();
  if (!image || !isFilter) {
    return misfit(fmt::format("'conv2d' expects an input of 3 or 4 dimensions and a weight of 4, "
                              "but got '{}' {} and '{}' {}",
                              shownName(input), text(input.shape), shownName(weight),
                              text(weight.shape)),
                  "input is [batch, channels, height, width], weight [features, channels / groups, "
                  "kernel height, kernel width]");
  }
  if (Status fits = checkChannels(*attributes, input, weight); !fits) {
    return fits.error();
  }
  bool isNumber = bias.op == "constant" || bias.op == "scalar" || bias.op.empty();
  if (!isNumber && bias.shape != SymbolicShape{weight.shape[0]}) {
    return misfit(fmt::format("'conv2d' expects a bias of shape {}, but got '{}' {}",
                              text({weight.shape[0]}), shownName(bias), text(bias.shape)),
                  "a bias has one element for each feature");
  }
  SymbolicShape out = input.shape;
  size_t channelsAt = out.size() - 3;
  out[channelsAt] = weight.shape[0];
  for (size_t side = 0; side < 2; ++side) {
    Result<Dim> dim = resultDim(*attributes, side, (*image)[2 + side], weight.shape[2 + side]);
    if (!dim) {
      return dim.error();
    }
    out[channelsAt + 1 + side] = *dim;
  }
  return out;
}

} // namespace nereid::definition
