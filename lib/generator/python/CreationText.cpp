// SPDX-License-Identifier: Apache-2.0
#include "lib/generator/python/CreationText.h"

#include "lib/definition/operations/Operations.h"
#include "lib/definition/operations/SizeExpression.h"
#include "lib/definition/operations/indices/Creation.h"
#include "lib/generator/EagerText.h"
#include "lib/generator/python/WrapperText.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cctype>

namespace nereid::generator {
namespace {

using definition::Node;
using definition::Operator;

/// Whose device and type everything has: the first one of the operator's type, or the first.
std::string leadOf(const Operator &op) {
  std::string first;
  for (const definition::Parameter &parameter : op.parameters) {
    if (parameter.isScalar) {
      continue;
    }
    if (!parameter.fixedDtype) {
      return parameter.name;
    }
    first = first.empty() ? parameter.name : first;
  }
  return first;
}

std::string shapeText(const definition::SymbolicShape &shape, const Operator &op) {
  std::string list;
  for (const definition::Dim &dim : shape) {
    if (!dim.isRest()) {
      list += definition::text({dim});
      list.erase(list.rfind(']'));
      list.erase(list.rfind('['), 1);
      list += ", ";
      continue;
    }
    for (const definition::Parameter &parameter : op.parameters) {
      if (!parameter.shape.empty() && parameter.shape[0].isRest()) {
        list += fmt::format("*{0}.shape[: {0}.dim() - {1}], ", parameter.name,
                            parameter.shape.size() - 1);
        break;
      }
    }
  }
  return "(" + list + ")";
}

std::string dtypeText(const Node &node, const std::string &lead) {
  const std::string name = definition::stringAttribute(node, "dtype", "default");
  if (lead.empty() && (name == "operator" || name == "default")) {
    return name == "operator" ? "_t.stored" : "torch.float32";
  }
  return name == "operator" ? lead + ".dtype"
         : name == "default"
             ? fmt::format("(torch.float64 if {}.dtype == torch.float64 else torch.float32)", lead)
             : "torch." + name;
}

std::string numberOf(const Node &number) {
  if (number.op == "scalar") {
    return number.name;
  }
  if (definition::isSize(number)) {
    return definition::sizeText(number);
  }
  return number.attributes.contains("integer")
             ? std::to_string(definition::integerAttribute(number, "integer", 0))
             : pythonNumber(definition::constantValue(number));
}

/// PyTorch's functions that make a tensor on a device, which a body leaves open.
constexpr std::array<std::string_view, 8> makers = {
    "arange", "full", "zeros", "ones", "eye", "linspace", "scalar_tensor", "tensor"};
/// Functions with a seed; those that take sizes alone want a device. PyTorch has methods of the
/// name that ends with "_", which take no seed.
struct Seeded {
  std::string_view name;
  bool takesSizes;
  std::string_view text;
};
constexpr std::array<Seeded, 16> seeded = {{
    {"rand", true, R"(def _random_rand(device, *size, seed, offset=0, **others):
    size = size[0] if size and isinstance(size[0], (tuple, list, torch.Size)) else size
    return _uniform(_random_bits(others.get("size", size), device, seed, offset)[0])
)"},
    {"randn", true, R"(def _random_randn(device, *size, seed, offset=0, **others):
    size = size[0] if size and isinstance(size[0], (tuple, list, torch.Size)) else size
    return _normal(_random_bits(others.get("size", size), device, seed, offset))
)"},
    {"rand_like", false, R"(def _random_rand_like(input, seed, offset=0, **others):
    return _uniform(_random_bits(input.shape, input.device, seed, offset)[0], input.dtype)
)"},
    {"randn_like", false, R"(def _random_randn_like(input, seed, offset=0, **others):
    return _normal(_random_bits(input.shape, input.device, seed, offset), input.dtype)
)"},
    {"normal", true,
     R"(def _random_normal(device, mean=0, std=1, size=None, *, seed, offset=0, **others):
    if size is None:
        size = (mean if isinstance(mean, torch.Tensor) else std).shape
    return mean + std * _normal(_random_bits(size, device, seed, offset))
)"},
    {"uniform", false, R"(def _random_uniform(input, low=0, high=1, *, seed, offset=0, **others):
    first = _uniform(_random_bits(input.shape, input.device, seed, offset)[0], input.dtype)
    return low * (1 - first) + high * first
)"},
    {"exponential", false, R"(def _random_exponential(input, lambd=1, *, seed, offset=0, **others):
    first = _uniform(_random_bits(input.shape, input.device, seed, offset)[0], input.dtype)
    return -torch.log1p(-first) / lambd
)"},
    {"bernoulli", false, R"(def _random_bernoulli(input, p=None, *, seed, offset=0, **others):
    first = _uniform(_random_bits(input.shape, input.device, seed, offset)[0], input.dtype)
    return (first < (input if p is None else p)).to(input.dtype)
)"},
    {"dropout", false,
     R"(def _random_dropout(input, p=0.5, training=True, *, seed, offset=0, **others):
    first = _uniform(_random_bits(input.shape, input.device, seed, offset)[0], input.dtype)
    return torch.where(first >= p, input / (1 - p), 0) if training else input
)"},
    {"rrelu", false,
     R"(def _random_rrelu(input, lower=0.125, upper=1 / 3, training=True, *, seed, offset=0, **others):
    first = _uniform(_random_bits(input.shape, input.device, seed, offset)[0], input.dtype)
    slope = lower * (1 - first) + upper * first if training else (lower + upper) / 2
    return torch.where(input <= 0, input * slope, input)
)"},
    {"poisson", false, R"(def _random_poisson(input, seed, offset=0, **others):
    rate = input.to(torch.promote_types(input.dtype, torch.float32))
    number = _uniform(_random_bits(rate.shape, rate.device, seed, offset)[0]).to(rate.dtype)
    small = torch.where(rate < 16, rate, 0)
    term = torch.exp(-small)
    below, counted = term, (number >= term).to(rate.dtype)
    for k in range(1, 48):
        term = term * small * (1 / k)
        counted, below = counted + ((number >= below + term) & (below + term > below)), below + term
    large = torch.where(rate < 16, 16, rate)
    width = 0.931 + 2.53 * torch.sqrt(large)
    tilt, scale = 0.02483 * width - 0.059, 1.1239 + 1.1328 / (width - 3.4)
    drawn = torch.zeros_like(rate)
    is_open = torch.ones_like(rate, dtype=torch.bool)
    for trial in range(8):
        words = _random_bits(rate.shape, rate.device, seed, offset, trial // 2)[trial % 2 * 2 :]
        across, up = _uniform(words[0]).to(rate.dtype) - 0.5, _uniform(words[1]).to(rate.dtype)
        away = 0.5 - across.abs()
        k = torch.floor((2 * tilt / away + width) * across + large + 0.43)
        n = k.clamp(min=1)
        log_p = n * (torch.log1p((large - n) / n) - (large - n) / n) - 0.5 * torch.log(6.283185307179586 * n)
        log_p = log_p - (1 / 12 - (1 / 360 - 1 / 1260 / n**2) / n**2) / n
        log_p = torch.where(k < 1, -large, log_p)
        is_taken = (away >= 0.07) & (up <= 0.9277 - 3.6224 / (width - 2))
        is_taken |= torch.log(up * scale / (tilt / away**2 + width)) <= log_p
        is_taken &= ~((k < 0) | ((away < 0.013) & (up > away)))
        drawn = torch.where(is_open, k, drawn)
        is_open = is_open & ~is_taken
    return torch.where(rate < 16, counted, drawn).to(input.dtype)
)"},
    {"randint", true, R"(def _random_randint(device, low, high, size, *, seed, offset=0, **others):
    return _random_bits(size, device, seed, offset)[0] % (high - low) + low
)"},
    {"exponential_", false, R"(def _random_exponential_(input, lambd=1, *, seed, offset=0):
    first = _uniform(_random_bits(input.shape, input.device, seed, offset)[0], input.dtype)
    return input.copy_(-torch.log1p(-first) / lambd)
)"},
    {"normal_", false, R"(def _random_normal_(input, mean=0, std=1, *, seed, offset=0):
    return input.copy_(mean + std * _normal(_random_bits(input.shape, input.device, seed, offset), input.dtype))
)"},
    {"uniform_", false, R"(def _random_uniform_(input, low=0, high=1, *, seed, offset=0):
    first = _uniform(_random_bits(input.shape, input.device, seed, offset)[0], input.dtype)
    drawn = (low * (1 - first) + high * first).to(input.dtype)
    return input.copy_(torch.where(drawn < high, drawn, low))
)"},
    {"bernoulli_", false, R"(def _random_bernoulli_(input, p=0.5, *, seed, offset=0):
    first = _uniform(_random_bits(input.shape, input.device, seed, offset)[0], input.dtype)
    return input.copy_(first < p)
)"},
}};

constexpr std::string_view bits = R"(def _random_bits(shape, device, seed, offset, block=0):
    """Four words of Philox4x32-10 for each element: its number, offset and block are the counter."""
    mask = 0xFFFFFFFF
    index = torch.arange(math.prod(shape), device=device).reshape(tuple(shape))
    seed = int(seed)
    c = [index & mask, (index >> 32) & mask, torch.full_like(index, int(offset)), torch.full_like(index, block)]
    for i in range(10):
        a, b = c[0] * 0xD2511F53, c[2] * 0xCD9E8D57
        first, second = (seed + i * 0x9E3779B9) & mask, ((seed >> 32) + i * 0xBB67AE85) & mask
        c = [((b >> 32) & mask) ^ c[1] ^ first, b & mask, ((a >> 32) & mask) ^ c[3] ^ second, a & mask]
    return c


def _uniform(word, dtype=None):
    """In float64 beside tensors of that type, else in PyTorch's default."""
    numbers = torch.where(word > 0x7FFFFFFF, 0xFFFFFFFF - word, word)
    return (numbers.to(dtype) if dtype == torch.float64 else numbers) * 4.6566127342e-10


def _normal(words, dtype=None):
    first, second = _uniform(words[0], dtype), _uniform(words[1], dtype)
    return torch.sqrt(-2.0 * torch.log(first.clamp(min=1e-7))) * torch.cos(6.283185307179586 * second)
)";

bool isOfPath(char c) {
  return std::isalnum(static_cast<unsigned char>(c)) != 0 || c == '_' || c == '.';
}

const Seeded *seededNamed(std::string_view name) {
  auto found = std::find_if(seeded.begin(), seeded.end(),
                            [&](const Seeded &each) { return each.name == name; });
  return found == seeded.end() ? nullptr : &*found;
}

bool isMaker(std::string_view name) {
  return std::find(makers.begin(), makers.end(), name) != makers.end();
}

/// The call that stands for `path(`, or "" where it stays.
std::string placed(const std::string &path, const std::string &device,
                   const std::vector<std::string> &defined) {
  const size_t dot = path.rfind('.');
  const std::string module = dot == std::string::npos ? "" : path.substr(0, dot);
  const std::string name = dot == std::string::npos ? path : path.substr(dot + 1);
  const bool isDefined = std::find(defined.begin(), defined.end(), path) != defined.end();
  if (name.ends_with("_") && seededNamed(name)) {
    return fmt::format("_random_{}({}", name, module.starts_with("torch") ? "" : module + ", ");
  }
  if ((!module.empty() && module != "torch" && module != "F" && module != "torch.nn.functional" &&
       module != "torch.ops.aten") ||
      isDefined) {
    return "";
  }
  if (name == "one_hot") {
    return "F.one_hot(";
  }
  if (const Seeded *form = seededNamed(name)) {
    return fmt::format("_random_{}({}", name, form->takesSizes ? device + ", " : "");
  }
  return isMaker(name) ? fmt::format("_made({}, torch.{}, ", device, name) : "";
}

} // namespace

std::string createdStep(const Node &node, const Operator &op) {
  const std::string lead = leadOf(op), shape = shapeText(node.shape, op);
  const std::string device = lead.empty() ? "DEVICE" : lead + ".device";
  if (node.op == "arange") {
    return fmt::format("_t.tensor(torch.arange(math.prod({0}), device={1}).reshape({0}))", shape,
                       device);
  }
  return fmt::format("_t.made(torch.full({}, {}, dtype=torch.float64, device={}), {})", shape,
                     numberOf(op.nodes[static_cast<size_t>(node.inputs[0])]), device,
                     dtypeText(node, lead));
}

void placeCreations(std::vector<std::string> &lines, const std::string &device) {
  std::vector<std::string> defined;
  for (const std::string &line : lines) {
    if (line.starts_with("def ")) {
      defined.push_back(line.substr(4, line.find('(') - 4));
    }
  }
  for (std::string &line : lines) {
    std::string text;
    for (size_t at = 0; at < line.size();) {
      size_t end = at;
      while (end < line.size() && isOfPath(line[end])) {
        ++end;
      }
      if (end == at) {
        text += line[at++];
        continue;
      }
      const std::string path = line.substr(at, end - at);
      const bool isCall = end < line.size() && line[end] == '(' && !path.starts_with(".");
      const std::string call = isCall ? placed(path, device, defined) : "";
      text += call.empty() ? path : call;
      at = call.empty() ? end : end + 1;
    }
    line = std::move(text);
  }
}

std::string creationHelpers(const std::vector<std::string> &lines) {
  auto isCalled = [&](const std::string &name) {
    return std::any_of(lines.begin(), lines.end(), [&](const std::string &line) {
      return line.find(name + "(") != std::string::npos;
    });
  };
  std::string text;
  if (isCalled("_made")) {
    text += R"(def _made(device, function, *sizes, **options):
    """A tensor that is made of sizes and numbers, where the call's tensors are."""
    options.setdefault("device", device)
    return function(*sizes, **options)


)";
  }
  std::string calls;
  for (const Seeded &form : seeded) {
    calls += isCalled(fmt::format("_random_{}", form.name)) ? std::string(form.text) + "\n\n" : "";
  }
  return text + (calls.empty() ? "" : std::string(bits) + "\n\n" + calls);
}

} // namespace nereid::generator
