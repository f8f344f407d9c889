// SPDX-License-Identifier: Apache-2.0
// Nodes that go over an image by windows, as expressions.
#include "lib/importer/body/Expressions.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <cmath>

namespace nereid::importer {
namespace {

using Integers = std::vector<int64_t>;

/// Kernel, stride and the like of an image of 1 to 3 dimensions.
class Window {
public:
  Window(Expressions &e, Integers kernel) : e(e), kernel(std::move(kernel)) {
    const size_t rank = e.shape(0).size();
    count = rank > 2 ? rank - 2 : 0;
    if (count < 1 || count > 3) {
      Expressions::fail(
          fmt::format("goes over an image of {} dimensions, and definitions know 1 to 3", count));
    }
    strides = listOf("strides", count, 1);
    dilations = listOf("dilations", count, 1);
    findPads();
  }

  /// Whether the function itself pads by it.
  bool isEven() const { return low == high && !isBeyondHalf; }
  /// Pools take paddings of half a window at most; an image that is padded before has any.
  void limitToHalf() {
    for (size_t i = 0; i < count; ++i) {
      isBeyondHalf = isBeyondHalf || 2 * low[i] > kernel[i];
    }
  }
  /// The image, with what paddings that differ between its sides add.
  std::string image(const char *value) const { return padded(e.tensor(0), value); }
  std::string padded(const std::string &image, const char *value) const {
    if (isEven()) {
      return image;
    }
    Integers order;
    for (size_t i = count; i-- > 0;) {
      order.insert(order.end(), {low[i], high[i]});
    }
    return fmt::format("F.pad({}, ({}), value={})", image, fmt::join(order, ", "), value);
  }
  std::string padding() const { return tupleText(isEven() ? low : Integers(count, 0)); }

  Integers listOf(const char *name, size_t length, int64_t otherwise) const {
    const auto *given = e.of().integers(name);
    return given && given->size() == length ? *given : Integers(length, otherwise);
  }

  size_t count = 0;
  Integers strides, dilations, low, high;

private:
  void findPads() {
    const std::string automatic = e.of().word("auto_pad", "NOTSET");
    const Integers pads = listOf("pads", 2 * count, 0);
    low = Integers(count, 0);
    high = Integers(count, 0);
    for (size_t i = 0; automatic != "VALID" && i < count; ++i) {
      low[i] = pads[i];
      high[i] = pads[i + count];
      if (!automatic.starts_with("SAME")) {
        continue;
      }
      const Dim &dim = e.shape(0)[i + 2];
      const int64_t reach = dilations[i] * (kernel[i] - 1) + 1;
      if (!dim.isSize() && strides[i] != 1) {
        Expressions::fail("pads its image by what depends on a size that is open");
      }
      const int64_t size = dim.isSize() ? dim.size : 1;
      const int64_t results = (size + strides[i] - 1) / strides[i];
      const int64_t all = std::max<int64_t>((results - 1) * strides[i] + reach - size, 0);
      low[i] = automatic == "SAME_UPPER" ? all / 2 : all - all / 2;
      high[i] = all - low[i];
    }
    for (size_t i = 0; i < count; ++i) {
      if (low[i] < 0 || high[i] < 0) {
        Expressions::fail("cuts something off by negative paddings");
      }
    }
  }

  Expressions &e;
  Integers kernel;
  bool isBeyondHalf = false;
};

/// The sizes of the weights behind their channels.
Integers kernelOf(Expressions &e) {
  Integers kernel;
  const Shape &weight = e.shape(1);
  for (size_t i = 2; i < weight.size(); ++i) {
    if (!weight[i].isSize()) {
      Expressions::fail("has weights of open sizes");
    }
    kernel.push_back(weight[i].size);
  }
  if (weight.size() != e.shape(0).size()) {
    Expressions::fail("has weights of other dimensions than its image");
  }
  return kernel;
}

std::string conv(Expressions &e) {
  const Window window(e, kernelOf(e));
  const std::string x = window.image("0.0"), weight = e.tensor(1);
  return fmt::format("F.conv{}d({}, {}, {}, stride={}, padding={}, dilation={}, groups={})",
                     window.count, x, weight, e.of().hasInput(2) ? e.tensor(2) : "None",
                     tupleText(window.strides), window.padding(), tupleText(window.dilations),
                     e.of().integer("group", 1));
}

/// Products of integers in floats that have their sums exactly: 255 * 255 fits 258 times into 2^24.
std::string convInteger(Expressions &e) {
  const Window window(e, kernelOf(e));
  int64_t terms = 1;
  for (size_t i = 1; i < e.shape(1).size(); ++i) {
    const int64_t size = e.shape(1)[i].size;
    terms = size < 0 || terms > 258 ? 259 : terms * size;
  }
  const std::string type = terms <= 258 ? "torch.float32" : "torch.float64";
  e.useAll();
  auto side = [&](size_t input, size_t zero, const char *name) {
    std::string text = fmt::format("{}.to({})", e.tensor(input), type);
    if (e.of().hasInput(zero)) {
      std::string of = e.tensor(zero);
      if (!e.isNumber(zero)) {
        if (input != 1 || e.shape(zero).size() != 1) {
          Expressions::fail("has a zero for each channel of its image");
        }
        Shape each(e.shape(1).size(), {1, ""});
        each[0] = e.shape(zero)[0];
        of = fmt::format("torch.reshape({}, {})", of, e.shapeText(each));
      }
      text = fmt::format("{} - {}.to({})", text, of, type);
    }
    return e.step(name, text);
  };
  const std::string x = side(0, 2, "x"), weight = side(1, 3, "w");
  return fmt::format("F.conv{}d({}, {}, None, stride={}, padding={}, dilation={}, groups={})"
                     ".to(torch.int32)",
                     window.count, window.padded(x, "0.0"), weight, tupleText(window.strides),
                     window.padding(), tupleText(window.dilations), e.of().integer("group", 1));
}

std::string convTranspose(Expressions &e) {
  if (e.of().integers("output_shape") || e.of().word("auto_pad", "NOTSET").starts_with("SAME")) {
    Expressions::fail("finds its paddings from the sizes of the result");
  }
  const Window window(e, kernelOf(e));
  if (!window.isEven()) {
    Expressions::fail("cuts more off one side of the image than off the other");
  }
  const std::string x = e.tensor(0), weight = e.tensor(1);
  return fmt::format("F.conv_transpose{}d({}, {}, {}, stride={}, padding={}, output_padding={}, "
                     "groups={}, dilation={})",
                     window.count, x, weight, e.of().hasInput(2) ? e.tensor(2) : "None",
                     tupleText(window.strides), window.padding(),
                     tupleText(window.listOf("output_padding", window.count, 0)),
                     e.of().integer("group", 1), tupleText(window.dilations));
}

Window poolWindow(Expressions &e) {
  const auto *kernel = e.of().integers("kernel_shape");
  if (!kernel || kernel->size() + 2 != e.shape(0).size()) {
    Expressions::fail("expects a window of as many dimensions as its image");
  }
  Window window(e, *kernel);
  window.limitToHalf();
  return window;
}

std::string maxPool(Expressions &e) {
  if (e.of().integer("storage_order", 0) != 0) {
    Expressions::fail("counts places by columns");
  }
  const Window window = poolWindow(e);
  const auto dtype = e.type(0).dtype();
  if (!window.isEven() && (!dtype || !isFloat(*dtype))) {
    Expressions::fail("pads an image of integers by more on one side than the other");
  }
  return fmt::format("F.max_pool{}d({}, {}, stride={}, padding={}, dilation={}{})", window.count,
                     window.image("float(\"-inf\")"), tupleText(*e.of().integers("kernel_shape")),
                     tupleText(window.strides), window.padding(), tupleText(window.dilations),
                     e.of().integer("ceil_mode", 0) != 0 ? ", ceil_mode=True" : "");
}

/// Sums over windows whose elements lie apart: a convolution by ones, each channel by itself.
class ApartSums {
public:
  ApartSums(Expressions &e, const Window &window)
      : e(e), window(window), kernel(*e.of().integers("kernel_shape")), behind(window.count, 0) {
    const bool isCut = e.of().integer("ceil_mode", 0) != 0;
    for (size_t i = 0; i < window.count; ++i) {
      const Dim &from = e.shape(0)[i + 2], &to = e.resultShape()[i + 2];
      if (isCut && (!from.isSize() || !to.isSize())) {
        Expressions::fail("may cut off windows of an image whose size is open");
      }
      const int64_t reach = window.dilations[i] * (kernel[i] - 1) + 1;
      // The last window may lie beyond the padding.
      behind[i] = isCut ? std::max<int64_t>((to.size - 1) * window.strides[i] + reach - from.size -
                                                window.low[i] - window.high[i],
                                            0)
                        : 0;
    }
  }

  /// The image's channels, each an image of one.
  std::string planes() const {
    return fmt::format("torch.reshape({}, {})", e.tensor(0), planesText(e.shape(0)));
  }
  /// How many elements of each window count: those of the image, or of the padding as well.
  std::string counts(bool hasPadding) const {
    Shape one = e.shape(0);
    one[0] = one[1] = {1, ""};
    const std::string ones =
        fmt::format("torch.ones({}, dtype={})", e.shapeText(one), typeText(e.type(0)));
    return sums(ones, hasPadding ? "1.0" : "0.0");
  }
  std::string sums(const std::string &image, const char *padding) const {
    Shape ones(window.count + 2, {1, ""});
    for (size_t i = 0; i < window.count; ++i) {
      ones[i + 2] = {kernel[i], ""};
    }
    return fmt::format("F.conv{}d({}, torch.ones({}, dtype={}), None, stride={}, dilation={})",
                       window.count,
                       padded(padded(image, window.low, window.high, padding),
                              Integers(window.count, 0), behind, "0.0"),
                       e.shapeText(ones), typeText(e.type(0)), tupleText(window.strides),
                       tupleText(window.dilations));
  }
  std::string asResult(const std::string &text) const {
    return fmt::format("torch.reshape({}, {})", text, e.shapeText(e.resultShape()));
  }

private:
  std::string planesText(const Shape &shape) const {
    std::string text = fmt::format("({}, 1", e.productText(shape, 0, 2));
    for (size_t i = 2; i < shape.size(); ++i) {
      text += ", " + e.sizeText(shape[i]);
    }
    return text + ")";
  }
  static std::string padded(const std::string &image, const Integers &low, const Integers &high,
                            const char *value) {
    Integers order;
    for (size_t i = low.size(); i-- > 0;) {
      order.insert(order.end(), {low[i], high[i]});
    }
    const bool isPadded =
        std::any_of(order.begin(), order.end(), [](int64_t one) { return one > 0; });
    return isPadded ? fmt::format("F.pad({}, ({}), value={})", image, fmt::join(order, ", "), value)
                    : image;
  }

  Expressions &e;
  const Window &window;
  Integers kernel, behind;
};

std::string averagePool(Expressions &e) {
  const Window window = poolWindow(e);
  const bool countsPadding = e.of().integer("count_include_pad", 0) != 0;
  if (window.dilations != Integers(window.count, 1)) {
    const ApartSums apart(e, window);
    return apart.asResult(
        fmt::format("{} / {}", apart.sums(apart.planes(), "0.0"), apart.counts(countsPadding)));
  }
  auto means = [&](const std::string &image, bool counts) {
    return fmt::format("F.avg_pool{}d({}, {}, stride={}, padding={}{}{})", window.count, image,
                       tupleText(*e.of().integers("kernel_shape")), tupleText(window.strides),
                       window.padding(),
                       e.of().integer("ceil_mode", 0) != 0 ? ", ceil_mode=True" : "",
                       counts ? "" : ", count_include_pad=False");
  };
  if (window.isEven() || countsPadding) {
    return means(window.image("0.0"), countsPadding);
  }
  // The share of each window that lies in the image takes the padding out of its mean.
  Shape one = e.shape(0);
  one[0] = one[1] = {1, ""};
  const std::string inside =
      fmt::format("torch.ones({}, dtype={})", e.shapeText(one), typeText(e.type(0)));
  return fmt::format("{} / {}", means(window.image("0.0"), true),
                     means(window.padded(inside, "0.0"), true));
}

std::string powersOf(const std::string &x, int64_t order) {
  return order == 1   ? fmt::format("torch.abs({})", x)
         : order == 2 ? fmt::format("torch.square({})", x)
                      : fmt::format("torch.abs({}) ** {}.0", x, order);
}
std::string rootOf(const std::string &sum, int64_t order) {
  return order == 1   ? sum
         : order == 2 ? fmt::format("torch.sqrt({})", sum)
                      : fmt::format("({}) ** (1.0 / {}.0)", sum, order);
}

/// The root of a sum of powers.
std::string lpPool(Expressions &e) {
  const Window window = poolWindow(e);
  const int64_t order = e.of().integer("p", 2);
  const bool isCut = e.of().integer("ceil_mode", 0) != 0;
  if (window.dilations != Integers(window.count, 1) || (isCut && window.count == 1)) {
    const ApartSums apart(e, window);
    return apart.asResult(rootOf(apart.sums(powersOf(apart.planes(), order), "0.0"), order));
  }
  const Integers &kernel = *e.of().integers("kernel_shape");
  std::string sum =
      fmt::format("F.avg_pool{}d({}, {}, stride={}, padding={}{}", window.count,
                  powersOf(window.image("0.0"), order), tupleText(kernel),
                  tupleText(window.strides), window.padding(), isCut ? ", ceil_mode=True" : "");
  sum += window.count == 1 ? fmt::format(") * {}.0", kernel[0]) : ", divisor_override=1)";
  return rootOf(sum, order);
}

} // namespace

const RuleTable &windowRules() {
  static const RuleTable rules = {
      {"averagePool", averagePool},     {"conv", conv},     {"convInteger", convInteger},
      {"convTranspose", convTranspose}, {"lpPool", lpPool}, {"maxPool", maxPool},
  };
  return rules;
}

} // namespace nereid::importer
