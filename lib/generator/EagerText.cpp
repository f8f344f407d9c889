// SPDX-License-Identifier: Apache-2.0
#include "lib/generator/EagerText.h"

#include "lib/definition/gradient/text/BodyText.h"
#include "lib/definition/operations/Operations.h"
#include "lib/definition/operations/ReductionPairs.h"
#include "lib/definition/reader/Reassigned.h"
#include "lib/generator/python/CreationText.h"
#include "lib/generator/python/WrapperText.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <array>
#include <cctype>
#include <set>

namespace nereid::generator {
namespace {

bool isOfPath(char c) {
  return std::isalnum(static_cast<unsigned char>(c)) != 0 || c == '_' || c == '.';
}

template <size_t N>
bool isOneOf(const std::array<std::string_view, N> &list, std::string_view wanted) {
  return std::find(list.begin(), list.end(), wanted) != list.end();
}

/// Where a definition says nothing of the module, or another one than PyTorch has.
std::string pathInPyTorch(const std::string &path) {
  static constexpr std::array<std::string_view, 5> modules = {"", "torch", "F", "nn.functional",
                                                              "torch.nn.functional"};
  /// Functions that the reader of bodies writes out itself.
  static const std::set<std::string_view> further = {"einsum",
                                                     "transpose",
                                                     "swapaxes",
                                                     "swapdims",
                                                     "t",
                                                     "narrow",
                                                     "select",
                                                     "flip",
                                                     "fliplr",
                                                     "flipud",
                                                     "concat",
                                                     "concatenate",
                                                     "stack",
                                                     "roll",
                                                     "diff",
                                                     "rot90",
                                                     "reshape",
                                                     "flatten",
                                                     "unflatten",
                                                     "broadcast_to",
                                                     "tile",
                                                     "tril",
                                                     "triu",
                                                     "squeeze",
                                                     "unsqueeze",
                                                     "repeat_interleave",
                                                     "cross_entropy",
                                                     "nll_loss",
                                                     "arange",
                                                     "full",
                                                     "zeros",
                                                     "ones",
                                                     "eye",
                                                     "linspace",
                                                     "scalar_tensor",
                                                     "tensor",
                                                     "full_like",
                                                     "zeros_like",
                                                     "ones_like",
                                                     "index_select",
                                                     "meshgrid",
                                                     "broadcast_tensors",
                                                     "take_along_dim"};
  const size_t dot = path.rfind('.');
  const std::string module = dot == std::string::npos ? "" : path.substr(0, dot);
  const std::string name = dot == std::string::npos ? path : path.substr(dot + 1);
  if (path.starts_with(".") || !isOneOf(modules, module)) {
    return path;
  }
  if (name.ends_with("_") && definition::hasInPlaceForm(name.substr(0, name.size() - 1))) {
    return "torch.ops.aten." + name; // torch itself has methods of most of them alone
  }
  const definition::Operation *operation = definition::findOperation(name);
  const bool isOfPyTorch = operation || definition::findFunction(name) ||
                           definition::findPair(name) || definition::findReductionPair(name) ||
                           further.contains(name);
  if (module.empty() && !isOfPyTorch) {
    return path; // Python's own, or a function of the body
  }
  return definition::moduleOf(name) + "." + (operation ? operation->name : name);
}

/// PyTorch takes tensors alone; definitions take numbers, too.
constexpr std::array<std::string_view, 13> ofTensors = {
    "maximum",   "minimum",    "fmax",        "fmin",       "atan2",       "hypot", "heaviside",
    "logaddexp", "logaddexp2", "logical_and", "logical_or", "logical_xor", "prelu"};

/// Some call gives a number to such a function.
bool needsTensors(const CalledOperator &called) {
  const auto &nodes = called.op.nodes;
  return std::any_of(nodes.begin(), nodes.end(), [&](const definition::Node &node) {
    return isOneOf(ofTensors, node.op) &&
           std::any_of(node.inputs.begin(), node.inputs.end(), [&](int input) {
             return definition::isNumber(nodes[static_cast<size_t>(input)]);
           });
  });
}

/// "torch.maximum(x, 0)" becomes "_of_tensors(torch.maximum, x, 0)".
void wrapCalls(std::string &line) {
  for (std::string_view name : ofTensors) {
    for (const char *module : {"torch.", "F."}) {
      const std::string call = module + std::string(name) + "(";
      for (size_t at = 0; (at = line.find(call, at)) != std::string::npos;) {
        const std::string wrapped = "_of_tensors(" + call.substr(0, call.size() - 1) + ", ";
        line.replace(at, call.size(), wrapped);
        at += wrapped.size();
      }
    }
  }
}

/// PyTorch's rms_norm takes the type's epsilon where a definition takes a number: "F.rms_norm(x,
/// [D])" becomes "F.rms_norm(x, [D], eps=1e-06)".
void giveEpsilon(std::string &line) {
  const std::string call = "F.rms_norm(";
  const definition::Operation *operation = definition::findOperation("rms_norm");
  for (size_t at = 0; (at = line.find(call, at)) != std::string::npos;) {
    at += call.size();
    int depth = 1, commas = 0;
    size_t end = at;
    for (; end < line.size() && depth > 0; ++end) {
      const char one = line[end];
      depth += one == '(' || one == '[' ? 1 : one == ')' || one == ']' ? -1 : 0;
      commas += depth == 1 && one == ',' ? 1 : 0;
    }
    const std::string arguments = line.substr(at, end - 1 - at);
    const bool isGiven = commas >= 3 || arguments.find("eps=") != std::string::npos ||
                         arguments.find("eps =") != std::string::npos;
    if (!isGiven && depth == 0) {
      line.insert(end - 1, ", eps=" + operation->arguments.back().defaultText);
    }
  }
}

/// PyTorch's own computes e^z, which leaves the range of float32 from z = 89 on.
bool takeStableLoss(std::string &line) {
  return replaceCall(line, "F.soft_margin_loss", "_soft_margin_loss");
}

bool takeIntProduct(std::string &line) { return replaceCall(line, "torch._int_mm", "_int_mm"); }

/// PyTorch multiplies matrices of integers on CPUs alone.
bool takeIntegerProduct(std::string &line, const definition::Operator &op) {
  const bool isOfIntegers = std::none_of(op.dtypes.begin(), op.dtypes.end(), isFloat);
  return isOfIntegers && replaceCall(line, "torch.matmul", "_matmul");
}

constexpr const char *integerProduct = R"(def _matmul(a, b):
    """PyTorch has products of integers on CPUs alone."""
    return torch.matmul(a.cpu(), b.cpu()).to(a.device)


)";

constexpr const char *intProduct = R"(def _int_mm(a, b):
    """int8 by int8 in int32; PyTorch's own takes some sizes alone on GPUs."""
    if not a.is_cuda:
        return torch._int_mm(a, b)
    if a.shape[0] > 16 and a.shape[1] % 8 == 0 and b.shape[1] % 8 == 0 and a.shape[1] > 0:
        return torch._int_mm(a.contiguous(), b.contiguous())
    return (a.double() @ b.double()).to(torch.int32)


)";

} // namespace

bool replaceCall(std::string &line, std::string_view call, std::string_view name) {
  const std::string from = fmt::format("{}(", call), to = fmt::format("{}(", name);
  bool isFound = false;
  for (size_t at = 0; (at = line.find(from, at)) != std::string::npos; at += to.size()) {
    line.replace(at, from.size(), to);
    isFound = true;
  }
  return isFound;
}

/// The text with what `replaced` gives for each name and path of names, "x" and "torch.exp"; it is
/// told where the path ends in the text.
template <typename Replaced>
static std::string withPaths(const std::string &text, const Replaced &replaced) {
  std::string out;
  for (size_t at = 0; at < text.size();) {
    if (!isOfPath(text[at])) {
      out += text[at++];
      continue;
    }
    size_t end = at;
    while (end < text.size() && isOfPath(text[end])) {
      ++end;
    }
    out += replaced(text.substr(at, end - at), end);
    at = end;
  }
  return out;
}

std::string withModules(const std::string &line) {
  return withPaths(line, [&](const std::string &path, size_t end) {
    const bool isName = std::isdigit(static_cast<unsigned char>(path[0])) == 0;
    const size_t next = line.find_first_not_of(' ', end);
    const bool isCall = isName && next != std::string::npos && line[next] == '(';
    return isCall ? pathInPyTorch(path) : path;
  });
}

std::string withWholeModules(std::string file) {
  const std::string import = "import torch.nn.functional as F\n";
  if (const size_t at = file.find(import); at != std::string::npos) {
    file.replace(at, import.size(), "import torch.nn.functional\n");
  }
  return withPaths(file, [](const std::string &path, size_t /*end*/) {
    return path.starts_with("F.") ? "torch.nn.functional." + path.substr(2) : path;
  });
}

/// What PyTorch may answer with a view of an input, or with the input itself; not what is written
/// into an argument.
static bool mayBeView(const CalledOperator &called, const Operand &result, size_t output) {
  using Kind = definition::OperationKind;
  const definition::Node &node = called.op.nodes[static_cast<size_t>(called.op.outputs[output])];
  const definition::Operation *operation = definition::findOperation(node.op);
  const bool isOwn = !result.memory.empty() || takesDevice(called);
  const bool keepsElements =
      definition::isLeaf(node) ||
      (operation && (operation->kind == Kind::View || operation->kind == Kind::Indexing ||
                     operation->result == definition::ResultType::Cast));
  return keepsElements && !isOwn;
}

static constexpr const char *ownFunction = R"(def _own(result, *inputs):
    """Results are memory of their own, in order, where PyTorch's may be views of inputs."""
    memory = result.untyped_storage().data_ptr()
    if any(memory == each.untyped_storage().data_ptr() for each in inputs):
        return result.clone(memory_format=torch.contiguous_format)
    return result.contiguous()


)";

std::string eagerHelpers(const CalledOperator &called) {
  const std::vector<std::string> written = bodyLines(called.op);
  const bool hasIntProduct =
      std::any_of(written.begin(), written.end(), [](const std::string &line) {
        std::string changed = withModules(line);
        return takeIntProduct(changed);
      });
  const bool hasIntegerProduct =
      std::any_of(written.begin(), written.end(), [&](const std::string &line) {
        std::string changed = withModules(line);
        return takeIntegerProduct(changed, called.op);
      });
  std::string text = hasIntProduct ? intProduct : "";
  const std::vector<std::string> results = eagerResults(called);
  const bool hasOwn = std::any_of(results.begin(), results.end(), [](const std::string &each) {
    return each.starts_with("_own(");
  });
  text += hasOwn ? ownFunction : "";
  text += hasIntegerProduct ? integerProduct : "";
  text += needsTensors(called) ? R"(def _of_tensors(function, *operands):
    """A call of a function that PyTorch has for tensors alone, some operands being numbers."""
    device = [each.device for each in operands if isinstance(each, torch.Tensor)][0]
    return function(*(torch.as_tensor(each, device=device) for each in operands))


)"
                               : "";
  text += creationHelpers(eagerBody(called));
  for (const std::string &line : bodyLines(called.op)) {
    std::string changed = withModules(line);
    if (takeStableLoss(changed)) {
      return text + R"(def _soft_margin_loss(input, target, reduction="mean"):
    """log(1 + e^z); PyTorch's own e^z leaves the range of numbers for large z."""
    losses = torch.logaddexp(-target * input, torch.zeros_like(input))
    return {"none": lambda: losses, "mean": losses.mean, "sum": losses.sum}[reduction]()


)";
    }
  }
  return text;
}

std::vector<std::string> eagerBody(const CalledOperator &called) {
  std::vector<std::string> lines;
  const SizeNames names(called);
  for (const SizeNames::Step &step : names.steps) {
    if (!step.isRest) {
      const Operand &operand = called.operands[static_cast<size_t>(step.operand)];
      const definition::Dim &dim = *(operand.shape.end() - step.fromEnd);
      lines.push_back(fmt::format("{} = {}.shape[-{}]", dim.symbol, operand.name, step.fromEnd));
    }
  }
  for (const std::string &input : definition::reassignedInputs(called.op)) {
    lines.push_back(fmt::format("{0}_given = {0}", input));
  }
  for (const std::string &line : bodyLines(called.op)) {
    lines.push_back(withModules(line));
    giveEpsilon(lines.back());
    takeStableLoss(lines.back());
    takeIntProduct(lines.back());
    takeIntegerProduct(lines.back(), called.op);
    if (needsTensors(called)) {
      wrapCalls(lines.back());
    }
  }
  placeCreations(lines, leadDevice(called));
  return lines;
}

std::vector<std::string> eagerResults(const CalledOperator &called) {
  const std::string own = leadDtype(called);
  std::string read;
  for (const Operand &operand : called.operands) {
    read += operand.isOutput ? "" : (read.empty() ? "" : ", ") + operand.name;
  }
  std::map<std::string, std::string> given; // the body calls other values by these names
  for (const std::string &input : definition::reassignedInputs(called.op)) {
    given[input] = input + "_given";
  }
  std::vector<std::string> results;
  size_t number = 0;
  for (const Operand &operand : called.operands) {
    if (operand.isOutput) {
      const std::string type = operand.fixedDtype ? torchType(*operand.fixedDtype) : own;
      const std::string result = fmt::format("{}.to({})", operand.name, type);
      results.push_back(definition::withNames(
          mayBeView(called, operand, number++) ? fmt::format("_own({}, {})", result, read) : result,
          given));
    }
  }
  return results;
}

std::string eagerFunction(const CalledOperator &called) {
  std::string parameters;
  for (const CallParameter &parameter : callParameters(called)) {
    parameters += (parameters.empty() ? "" : ", ") + parameter.name;
  }
  std::string text = eagerHelpers(called) + fmt::format("def _eager({}):\n", parameters);
  text += "    \"\"\"The definition by PyTorch's own operations.\"\"\"\n";
  for (const std::string &line : eagerBody(called)) {
    text += "    " + line + "\n";
  }
  return text + fmt::format("    return {}\n\n\n", fmt::join(eagerResults(called), ", "));
}

} // namespace nereid::generator
