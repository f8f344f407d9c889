// SPDX-License-Identifier: Apache-2.0
#include "lib/generator/python/ResultText.h"

#include "lib/generator/python/WrapperText.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>

namespace nereid::generator {
namespace {

constexpr size_t indentation = 4, lineLength = 100;

constexpr const char *overlapFunction = R"(def _overlap(a, b):
    """Whether an element of one may lie between those of the other."""

    def end(tensor):
        last = sum([(size - 1) * step for size, step in zip(tensor.shape, tensor.stride())])
        return tensor.data_ptr() + (last + 1) * tensor.element_size()

    return a.numel() > 0 and b.numel() > 0 and a.data_ptr() < end(b) and b.data_ptr() < end(a)


)";

std::vector<const Operand *> ownResults(const CalledOperator &called) {
  std::vector<const Operand *> list;
  for (const Operand &operand : called.operands) {
    if (operand.isOutput && operand.memory.empty()) {
      list.push_back(&operand);
    }
  }
  return list;
}

std::string givenName(const Operand &operand) { return operand.name + "_given"; }

std::string tuple(const std::vector<std::string> &items) {
  return fmt::format("({}{}", fmt::join(items, ", "), items.size() == 1 ? ",)" : ")");
}

/// What a given result has to be like, "(1, D), x.dtype, x.device", and what it may not be part of,
/// "(x, bias), (out_given,)".
struct Expected {
  std::string like, others;
};

Expected expected(const CalledOperator &called, const SizeNames &names, size_t number) {
  const std::vector<const Operand *> results = ownResults(called);
  const Operand &operand = *results[number];
  std::vector<std::string> read, written;
  for (const Operand &each : called.operands) {
    if (!each.isOutput) {
      (called.writtenTo(each.name) ? written : read).push_back(each.name);
    }
  }
  for (size_t i = 0; i < number; ++i) {
    written.push_back(givenName(*results[i]));
  }
  return {fmt::format("{}, {}, {}", shapeTuple(operand.shape, names),
                      operand.fixedDtype ? torchType(*operand.fixedDtype) : leadDtype(called),
                      leadDevice(called)),
          tuple(read) + (written.empty() ? "" : ", " + tuple(written))};
}

std::vector<std::string> lines(const CalledOperator &called, const SizeNames &names,
                               bool isWrapper) {
  std::vector<std::string> list;
  const std::vector<const Operand *> results = ownResults(called);
  for (size_t i = 0; i < results.size(); ++i) {
    const std::string &name = results[i]->name;
    list.push_back(fmt::format("{} = {}", givenName(*results[i]), name));
    const std::string call = isWrapper ? name + " = _result" : "_expect_result";
    const Expected asked = expected(called, names, i);
    const std::string first =
        fmt::format("\"{}\", {}, {}", name, givenName(*results[i]), asked.like);
    const std::string whole = fmt::format("{}({}, {})", call, first, asked.others);
    list.push_back(
        whole.size() + indentation <= lineLength
            ? whole
            : fmt::format("{}(\n        {},\n        {},\n    )", call, first, asked.others));
  }
  return list;
}

} // namespace

std::string resultParameters(const CalledOperator &called) {
  std::string list;
  for (const Operand *operand : ownResults(called)) {
    list += (list.empty() ? ", *, " : ", ") + operand->name + ": torch.Tensor = None";
  }
  return list;
}

std::string resultFunctions(const CalledOperator &called, bool isWrapper) {
  const bool hasOwn = !ownResults(called).empty();
  const auto written = std::count_if(called.operands.begin(), called.operands.end(),
                                     [](const Operand &each) { return !each.memory.empty(); });
  std::string text = hasOwn || written > 1 ? overlapFunction : "";
  if (!hasOwn) {
    return text;
  }
  text += R"(def _expect_result(name, given, shape, dtype, device, inputs, results=()):
    """A tensor for a result may be an input, the very same one, and lies over nothing else."""
    if given is None:
        return
    _check(name, given, tuple(shape), (dtype,))
    device = torch.empty(0, device=device).device
    assert given.device == device, f"{name} expects {device}, got {given.device}"
    for other in inputs:
        is_same = other.data_ptr() == given.data_ptr() and other.stride() == given.stride()
        is_same = is_same and other.shape == given.shape and other.dtype == given.dtype
        assert is_same or not _overlap(given, other), f"{name} lies over part of an input"
    for other in results:
        assert other is None or not _overlap(given, other), f"{name} lies over another result"


)";
  if (isWrapper) {
    text += R"(def _result(name, given, shape, dtype, device, inputs, results=()):
    """Memory that a kernel can write: the caller's, or new one."""
    _expect_result(name, given, shape, dtype, device, inputs, results)
    is_read = given is not None and any([_overlap(given, each) for each in inputs])
    if given is None or is_read or not given.is_contiguous():
        return torch.empty(shape, dtype=dtype, device=device)
    return given


)";
  }
  return text + R"(def _returned(result, given):
    return result if given is None or given is result else given.copy_(result)


)";
}

std::vector<std::string> takenResults(const CalledOperator &called, const SizeNames &names) {
  return lines(called, names, true);
}

std::vector<std::string> checkedResults(const CalledOperator &called, const SizeNames &names) {
  return lines(called, names, false);
}

std::string returnedResults(const CalledOperator &called, const std::vector<std::string> &values) {
  std::vector<std::string> list;
  for (const Operand &operand : called.operands) {
    if (operand.isOutput) {
      const std::string &value = values[list.size()];
      list.push_back(operand.memory.empty()
                         ? fmt::format("_returned({}, {})", value, givenName(operand))
                         : value);
    }
  }
  const std::string whole = fmt::format("{}", fmt::join(list, ", "));
  return whole.size() + 2 * indentation + sizeof("return") <= lineLength
             ? whole
             : fmt::format("(\n        {}\n    )", fmt::join(list, ",\n        "));
}

} // namespace nereid::generator
