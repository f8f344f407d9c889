// SPDX-License-Identifier: Apache-2.0
// Operators in C++. nereid::Operator, which is called by name or by definition, is in
// definition.hpp, and comes with nereid.hpp. Here is what the launcher of every generated operator,
// `<op>_kernel.hpp`, is built on: the schedules of `<op>_triton.py`, read from that file so that a
// change of block sizes touches it alone, and a launch that is made ready once and run as often as
// wanted. Operators of several kernels have a step for each, and compute block sizes and grids
// themselves. C++17, over nereid.hpp.
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

/// A kernel and its block sizes; switches are 0 and 1.
struct Schedule {
  std::string kernel;
  std::vector<std::pair<std::string, int64_t>> constants;
  std::string form = "launches"; ///< or "graph", "eager": what `--mode` chose for these sizes

  /// 1 when the kernel has no such constant.
  int64_t get(const std::string &name) const {
    for (const auto &[known, value] : constants) {
      if (known == name) {
        return value;
      }
    }
    return 1;
  }
};

/// The kernels of an operator, of which it has flat, tiles and none else, tiles alone, or rows and
/// loopedRows; null = none. They decide how sizes are cut for which the table has no schedule.
struct OperatorKernels {
  const char *flat = nullptr, *tiles = nullptr, *rows = nullptr, *loopedRows = nullptr;
  int64_t widestRow = 0; ///< columns up to which a row is one tile

  Schedule byRule(int64_t rowCount, int64_t width, bool isLarge) const {
    const auto most = [](int64_t a, int64_t b) { return a > b ? a : b; };
    const int64_t powerOfRows = roundedUp(rowCount), blockElements = 16384;
    const int64_t streaming = isLarge;
    if (flat) {
      return {flat, {{"BLOCK", blockElements}, {"STREAMING", streaming}}};
    }
    if (tiles) {
      width = std::min<int64_t>(most(width, 16), 4096);
      const int64_t height = most(std::min(blockElements / width, powerOfRows), 1);
      return {tiles,
              {{"BLOCK_M", height}, {"BLOCK_N", width}, {"GRID_2D", 1}, {"STREAMING", streaming}}};
    }
    if (width > widestRow) {
      return {loopedRows, {{"ROWS", 1}, {"BLOCK_N", 4096}, {"STREAMING", streaming}}};
    }
    const int64_t count = most(std::min(blockElements / width, powerOfRows), 1);
    return {rows, {{"ROWS", count}, {"BLOCK_N", most(width, 16)}, {"STREAMING", streaming}}};
  }
  static int64_t roundedUp(int64_t value) { return nextPowerOf2(value); }
};

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
  /// Also True and False.
  int64_t number() {
    if (word == "True" || word == "False") {
      return taken() == "True" ? 1 : 0;
    }
    if (word.empty() || word.size() > 18 || word.find_first_not_of("0123456789") != word.npos) {
      refuseWord("a number");
    }
    return std::stoll(taken());
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

/// CACHE_BYTES, SCHEDULES and FORMS of an operator's Python file.
class ScheduleTable {
public:
  ScheduleTable(std::string path, const OperatorKernels &kernels)
      : sourcePath(std::move(path)), kernels(kernels) {
    std::ifstream file(sourcePath);
    if (!file) {
      throw Error(NEREID_ERROR_FILE, "cannot read '" + sourcePath + "'");
    }
    const std::string text{std::istreambuf_iterator<char>(file), {}};
    detail::PythonWords cache(sourcePath, text, "CACHE_BYTES");
    cacheBytes = cache.isPresent() ? cache.number() : cacheBytes;
    detail::PythonWords words(sourcePath, text, "SCHEDULES");
    if (words.isPresent()) {
      words.expect("{");
      while (!words.take("}")) {
        readEntry(words);
      }
    }
    detail::PythonWords formWords(sourcePath, text, "FORMS");
    if (formWords.isPresent()) {
      formWords.expect("{");
      while (!formWords.take("}")) {
        const Class sizes = readClass(formWords);
        forms[sizes] = formWords.quoted({"launches", "graph", "eager"});
        formWords.take(",");
      }
    }
  }

  const std::string &path() const { return sourcePath; }

  /// That of the sizes' class, or by rule when it has none; `bytes` of all tensors together.
  Schedule find(DType dtype, int64_t rows, int64_t columns, size_t bytes) const {
    const bool isLarge = bytes > static_cast<size_t>(cacheBytes);
    const int64_t width = OperatorKernels::roundedUp(columns);
    const Class sizes = {nereid::name(dtype), width, isLarge};
    const auto found = entries.find(sizes);
    Schedule schedule =
        found != entries.end() ? found->second : kernels.byRule(rows, width, isLarge);
    schedule.form = form(dtype, columns, bytes);
    return schedule;
  }

  /// What `--mode` chose for these sizes.
  std::string form(DType dtype, int64_t columns, size_t bytes) const {
    const auto found = forms.find({nereid::name(dtype), OperatorKernels::roundedUp(columns),
                                   bytes > static_cast<size_t>(cacheBytes)});
    return found != forms.end() ? found->second : "launches";
  }

private:
  /// Type, columns up to, whether the tensors are larger than the cache.
  using Class = std::tuple<std::string, int64_t, bool>;

  /// "(torch.float32, 1024, False):"
  static Class readClass(detail::PythonWords &words) {
    for (const char *word : {"(", "torch", "."}) {
      words.expect(word);
    }
    const std::string type = words.name();
    words.expect(",");
    const int64_t columns = words.number();
    words.expect(",");
    const bool isLarge = words.number() != 0;
    words.take(",");
    words.expect(")");
    words.expect(":");
    return {type, columns, isLarge};
  }

  /// "(torch.float32, 1024, False): (layer_norm_rows, dict(ROWS=4, BLOCK_N=1024)),"
  void readEntry(detail::PythonWords &words) {
    const Class sizes = readClass(words);
    words.expect("(");
    Schedule schedule;
    schedule.kernel = words.name();
    for (const char *word : {",", "dict", "("}) {
      words.expect(word);
    }
    while (!words.take(")")) {
      const std::string constant = words.name();
      words.expect("=");
      schedule.constants.emplace_back(constant, words.number());
      words.take(",");
    }
    words.take(",");
    words.expect(")");
    words.take(",");
    entries[sizes] = std::move(schedule);
  }

  std::string sourcePath;
  OperatorKernels kernels;
  int64_t cacheBytes = 32 << 20;
  std::map<Class, Schedule> entries;
  std::map<Class, std::string> forms;
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
  Grid grid{0};

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
  void addWhole(const std::string &name, double value) {
    declare(name, "i64");
    arguments.emplace_back(static_cast<int64_t>(value));
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
  /// After all arguments of an operator's only kernel.
  void prepare(const ScheduleTable &table, const Schedule &schedule, bool isWide) {
    std::vector<std::pair<std::string, int64_t>> constants = schedule.constants;
    constants.emplace_back("WIDE", isWide ? 1 : 0);
    addStep(table.path(), schedule.kernel, constants, grid);
    chosenForm = schedule.form;
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
