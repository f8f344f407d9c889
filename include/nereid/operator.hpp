// SPDX-License-Identifier: Apache-2.0
// Operators in C++. nereid::Operator, which is called by name or by definition, is in
// definition.hpp, and comes with nereid.hpp. Here is what the launcher of every generated operator,
// `<op>_kernel.hpp`, is built on: what was found for sizes, read from `<op>_triton.py` so that a
// change of block sizes touches that file alone, and a launch that is made ready once and run as
// often as wanted, with a step for each kernel. C++17, over nereid.hpp.
#pragma once

#include "nereid/nereid.hpp"

#include <algorithm>
#include <cctype>
#include <cstdint>
#include <fstream>
#include <iterator>
#include <limits>
#include <map>
#include <memory>
#include <mutex>
#include <optional>
#include <string>
#include <thread>
#include <tuple>
#include <utility>
#include <vector>

namespace nereid {
inline namespace v0 {

inline int64_t product(const Sizes &sizes) {
  int64_t result = 1;
  for (int64_t size : sizes) {
    result *= size;
  }
  return result;
}

/// Integers as the kernel language's host side has them.
inline int64_t nextPowerOf2(int64_t value) {
  int64_t power = 1;
  while (power < value) {
    power *= 2;
  }
  return power;
}
inline int64_t quotientRoundedDown(int64_t value, int64_t by) {
  return value / by - (value % by != 0 && (value < 0) != (by < 0) ? 1 : 0);
}
inline int64_t remainderRoundedDown(int64_t value, int64_t by) {
  return value - quotientRoundedDown(value, by) * by;
}
inline int64_t magnitude(int64_t value) { return value < 0 ? -value : value; }

namespace detail {
/// Words and signs of Python source from the assignment to a name on; comments are skipped.
class PythonWords {
public:
  PythonWords(std::string filePath, const std::string &source, const std::string &name)
      : path(std::move(filePath)), text(source) {
    const size_t found = ("\n" + text).find("\n" + name + " = ");
    at = found == std::string::npos ? text.size() : found + name.size() + 3;
    isThere = found != std::string::npos;
    advance();
  }
  bool isPresent() const { return isThere; }
  bool take(const std::string &wanted) {
    if (word != wanted) {
      return false;
    }
    advance();
    return true;
  }
  void expect(const std::string &wanted) {
    if (!take(wanted)) {
      refuseWord("'" + wanted + "'");
    }
  }
  std::string name() {
    if (!isPartOfWord(word[0])) {
      refuseWord("a name");
    }
    return taken();
  }
  int64_t number() {
    if (word.empty() || word.size() > 18 || word.find_first_not_of("0123456789") != word.npos) {
      refuseWord("a number");
    }
    return std::stoll(taken());
  }

  /// Names with dots, between quotes.
  std::string quotedName() {
    const std::string quote = word == "'" ? "'" : "\"";
    expect(quote);
    std::string found = name();
    while (take(".")) {
      found += "." + name();
    }
    expect(quote);
    return found;
  }
  /// One of these, between quotes.
  std::string quoted(const std::vector<std::string> &allowed) {
    const std::string quote = word == "'" ? "'" : "\"";
    expect(quote);
    if (std::find(allowed.begin(), allowed.end(), word) == allowed.end()) {
      std::string list;
      for (const std::string &one : allowed) {
        list += (list.empty() ? "'" : ", '") + one + "'";
      }
      refuseWord("one of " + list);
    }
    std::string found = taken();
    expect(quote);
    return found;
  }

private:
  static bool isPartOfWord(char c) {
    return std::isalnum(static_cast<unsigned char>(c)) != 0 || c == '_';
  }
  std::string taken() {
    std::string former = word;
    advance();
    return former;
  }
  void advance() {
    while (at < text.size() &&
           (std::isspace(static_cast<unsigned char>(text[at])) != 0 || text[at] == '#')) {
      at = text[at] == '#' ? std::min(text.find('\n', at), text.size()) : at + 1;
    }
    const size_t begin = at;
    while (at < text.size() && isPartOfWord(text[at])) {
      ++at;
    }
    at += at == begin && at < text.size() ? 1 : 0;
    word = text.substr(begin, at - begin);
  }
  [[noreturn]] void refuseWord(const std::string &expected) const {
    const auto line = std::count(text.begin(), text.begin() + static_cast<long>(at), '\n') + 1;
    throw Error(NEREID_ERROR_FILE, path + ":" + std::to_string(line) + ": the table expects " +
                                       expected + ", but got '" + word + "'");
  }

  std::string path, text, word;
  size_t at = 0;
  bool isThere = false;
};
} // namespace detail

/// What rounds and modes found for one type and sizes.
class Tuning {
public:
  /// Of a choice; the launcher's rule decides those that nothing was found for.
  int64_t get(const std::string &choice, int64_t byRule) const {
    for (const auto &[known, value] : values) {
      if (known == choice) {
        return value;
      }
    }
    return byRule;
  }
  /// "launches", "graph" or "eager".
  const std::string &form() const { return chosenForm; }

private:
  friend class TuningTable;
  std::vector<std::pair<std::string, int64_t>> values;
  std::string chosenForm = "launches";
};

/// SCHEDULES and FORMS of an operator's Python file.
class TuningTable {
public:
  explicit TuningTable(std::string path) : sourcePath(std::move(path)) {
    std::ifstream file(sourcePath);
    if (!file) {
      throw Error(NEREID_ERROR_FILE, "cannot read '" + sourcePath + "'");
    }
    const std::string text{std::istreambuf_iterator<char>(file), {}};
    detail::PythonWords words(sourcePath, text, "SCHEDULES");
    if (words.isPresent()) {
      words.expect("{");
      while (!words.take("}")) {
        Tuning &one = entries[readClass(words)];
        words.expect("{");
        while (!words.take("}")) {
          const std::string choice = words.quotedName();
          words.expect(":");
          one.values.emplace_back(choice, words.number());
          words.take(",");
        }
        words.take(",");
      }
    }
    detail::PythonWords forms(sourcePath, text, "FORMS");
    if (forms.isPresent()) {
      forms.expect("{");
      while (!forms.take("}")) {
        Tuning &one = entries[readClass(forms)];
        one.chosenForm = forms.quoted({"launches", "graph", "eager"});
        forms.take(",");
      }
    }
  }

  const std::string &path() const { return sourcePath; }

  /// Of the class of the sizes, each rounded up to a power of two.
  Tuning find(DType dtype, std::vector<int64_t> sizes) const {
    for (int64_t &size : sizes) {
      size = nextPowerOf2(size);
    }
    const auto found = entries.find({nereid::name(dtype), sizes});
    return found != entries.end() ? found->second : Tuning();
  }

private:
  using Class = std::pair<std::string, std::vector<int64_t>>;

  /// "(torch.float32, 1024, 64):"
  static Class readClass(detail::PythonWords &words) {
    for (const char *word : {"(", "torch", "."}) {
      words.expect(word);
    }
    Class sizes{words.name(), {}};
    while (!words.take(")")) {
      words.expect(",");
      if (words.take(")")) {
        break;
      }
      sizes.second.push_back(words.number());
    }
    words.expect(":");
    return sizes;
  }

  std::string sourcePath;
  std::map<Class, Tuning> entries;
};

/// One launch made ready, on the device that its tensors lie on: run() as often as wanted while the
/// tensors live. An operator's own Launch checks and adds its arguments. Where `--mode` chose the
/// graph for these sizes, the launch is recorded once and replayed; the host has no graphs.
class OperatorLaunch {
public:
  /// Done when it returns.
  void run() const {
    if (graph) {
      stream->launch(*graph);
      stream->synchronize();
      return;
    }
    for (const Step &step : steps) {
      step.kernel->launch(step.grid, step.arguments);
    }
  }
  /// In the stream's order, for the caller to wait for.
  void queue(const Stream &wanted) const {
    if (graph) {
      wanted.launch(*graph);
      return;
    }
    for (const Step &step : steps) {
      wanted.launch(*step.kernel, step.grid, step.arguments);
    }
  }
  /// "launches", "graph" or "eager", as `--mode` chose it for these sizes; of the eager form, which
  /// is not here, the kernel stands in the place.
  const std::string &form() const { return chosenForm; }
  /// Whether run() and queue() replay a recorded launch.
  bool isReplayed() const { return graph.has_value(); }

protected:
  /// Also in memory that the launch does not write, which is that of `written`.
  const Tensor &contiguous(const Tensor &tensor, const std::vector<Tensor> &written = {}) {
    return keptUnless(!tensor.isContiguous(), tensor, written);
  }
  /// The tensor where its rows, the last `dims` dimensions, lie in even steps and have no gaps
  /// inside, in memory that the launch does not write; else a copy.
  const Tensor &withRows(const Tensor &tensor, size_t dims,
                         const std::vector<Tensor> &written = {}) {
    return keptUnless(rowStride(tensor, dims, 0) < 0, tensor, written);
  }
  /// Elements from row to row; of a contiguous tensor `length`. -1: there is no such step.
  static int64_t rowStride(const Tensor &tensor, size_t dims, int64_t length) {
    if (tensor.isContiguous()) {
      return length;
    }
    const std::vector<int64_t> sizes = tensor.shape(), strides = tensor.strides();
    int64_t inside = 1, rows = 1, stride = -1;
    for (size_t dim = sizes.size(); dim-- > 0;) {
      if (sizes[dim] == 1) {
        continue;
      }
      const bool isInside = dim + dims >= sizes.size();
      stride = isInside || stride >= 0 ? stride : strides[dim];
      if (strides[dim] != (isInside ? inside : stride * rows) || strides[dim] < 0) {
        return -1;
      }
      (isInside ? inside : rows) *= sizes[dim];
    }
    return stride < 0 ? length : stride;
  }
  void addTensor(const std::string &name, DType type, const Tensor &tensor) {
    device = device.empty() ? tensor.device() : device;
    const bool isAligned = reinterpret_cast<uintptr_t>(tensor.data()) % 16 == 0;
    declare(name, std::string("*") + kernelType(type) + (isAligned ? ":16" : ""));
    arguments.emplace_back(tensor);
  }
  void addSize(const std::string &name, int64_t value) {
    const bool isWide = value > std::numeric_limits<int32_t>::max();
    declare(name, std::string(isWide ? "i64" : "i32") + (value % 16 == 0 ? ":16" : ""));
    arguments.emplace_back(value);
  }
  void addNumber(const std::string &name, bool isDouble, double value) {
    declare(name, isDouble ? "fp64" : "fp32");
    arguments.emplace_back(value);
  }
  void addWhole(const std::string &name, int64_t value) {
    declare(name, "i64");
    arguments.emplace_back(value);
  }
  /// Memory that one step leaves to the next, where the tensors of the call lie.
  Tensor workspace(int64_t elements, DType type, const Tensor &beside) {
    kept.push_back(Tensor::empty({elements}, type, beside.device()));
    return kept.back();
  }
  /// How many programs run at a time where the tensor lies; of devices the order of magnitude. It
  /// decides about blocks.
  static int64_t processorsOf(const Tensor &tensor) {
    return tensor.isOnHost() ? std::max<int64_t>(1, std::thread::hardware_concurrency()) : 132;
  }
  /// After all arguments of a kernel, which it takes; a grid of no program is no step. Compiled
  /// kernels are kept for the life of the program.
  void addStep(const std::string &path, const std::string &function,
               const std::vector<std::pair<std::string, int64_t>> &constants, Grid programs) {
    for (const auto &[name, value] : constants) {
      declare(name, std::to_string(value));
    }
    if (programs.sizes[0] * programs.sizes[1] * programs.sizes[2] > 0) {
      steps.push_back({loaded(path, function), programs, std::move(arguments)});
    }
    arguments.clear();
    signature.clear();
  }
  /// After all steps: what `--mode` chose for these sizes.
  void takeForm(const std::string &form) {
    chosenForm = form;
    if (chosenForm == "graph" && !isOnHost() && !steps.empty()) {
      stream.emplace(device);
      graph.emplace(stream->capture([this] {
        for (const Step &step : steps) {
          stream->launch(*step.kernel, step.grid, step.arguments);
        }
      }));
    }
  }

private:
  const Tensor &keptUnless(bool isCopied, const Tensor &tensor,
                           const std::vector<Tensor> &written) {
    for (const Tensor &each : written) {
      isCopied = isCopied || detail::overlap(tensor, each);
    }
    kept.push_back(isCopied ? tensor.to(tensor.dtype()) : tensor);
    return kept.back();
  }

  struct Step {
    std::shared_ptr<Kernel> kernel;
    Grid grid;
    std::vector<Argument> arguments;
  };

  bool isOnHost() const { return device == Tensor::hostDevice(); }
  /// The kernel for the arguments that are declared.
  std::shared_ptr<Kernel> loaded(const std::string &path, const std::string &function) const {
    static std::mutex guard;
    using Key = std::tuple<std::string, std::string, std::string, std::string>;
    static std::map<Key, std::shared_ptr<Kernel>> all;
    std::lock_guard<std::mutex> lock(guard);
    std::shared_ptr<Kernel> &known = all[{path, function, signature, device}];
    if (!known) {
      known =
          std::make_shared<Kernel>(isOnHost() ? Kernel::load(path, function, signature)
                                              : Kernel::loadOn(device, path, function, signature));
    }
    return known;
  }
  void declare(const std::string &name, const std::string &type) {
    signature += (signature.empty() ? "" : ", ") + name + "=" + type;
  }
  /// Name of a type in the kernel language.
  static const char *kernelType(DType type) {
    constexpr const char *names[] = {"i1",   "i8",      "i16",   "i32",     "i64",      "u8",
                                     "u16",  "u32",     "u64",   "fp16",    "bf16",     "fp32",
                                     "fp64", "fp8e4nv", "fp8e5", "fp8e4b8", "fp8e5b16", "fp8e4b15"};
    return names[static_cast<size_t>(type)];
  }

  std::vector<Tensor> kept;
  std::vector<Argument> arguments;
  std::string signature, device, chosenForm = "launches";
  std::vector<Step> steps;
  std::optional<Stream> stream; ///< that recorded the graph
  std::optional<Graph> graph;
};

} // namespace v0
} // namespace nereid
