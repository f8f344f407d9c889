// SPDX-License-Identifier: Apache-2.0
// Nereid's C++17 interface: a header over nereid.h, nothing else to link. Failures are thrown as
// nereid::Error.
//
//   auto kernel = nereid::Kernel::load("vector_add.py", "add_kernel",
//                                      "*fp32, *fp32, *fp32, i32, 1024");
//   kernel.launch({nereid::cdiv(n, 1024)}, x, y, out, n);
#pragma once

#include "nereid/nereid.h"

#include <cmath>
#include <cstdint>
#include <cstdio>
#include <exception>
#include <functional>
#include <memory>
#include <stdexcept>
#include <string>
#include <type_traits>
#include <utility>
#include <variant>
#include <vector>

namespace nereid {
inline namespace v0 {

/// What a failed call says: what() is the full text, code() is "E0206" or empty.
class Error : public std::runtime_error {
public:
  Error(nereid_status status, const std::string &text, std::string code = "")
      : std::runtime_error(text), statusValue(status), codeText(std::move(code)) {}
  nereid_status status() const { return statusValue; }
  const std::string &code() const { return codeText; }

private:
  nereid_status statusValue;
  std::string codeText;
};

inline void check(nereid_status status) {
  if (status != NEREID_OK) {
    throw Error(status, nereid_last_error(), nereid_last_error_code());
  }
}

namespace detail {
/// The text as C reads it; one with a zero byte would end there unnoticed.
inline const char *cText(const std::string &text) {
  if (text.find('\0') != std::string::npos) {
    throw Error(NEREID_ERROR_ARGUMENT, "expects a text without zero bytes", "E0031");
  }
  return text.c_str();
}
/// Null for an empty text, which is one that was left out.
inline const char *cTextOrNull(const std::string &text) {
  return text.empty() ? nullptr : cText(text);
}
} // namespace detail

/// How many pieces of `size` cover `count`.
inline int64_t cdiv(int64_t count, int64_t size) { return (count + size - 1) / size; }

enum class DType {
  Bool,
  I8,
  I16,
  I32,
  I64,
  U8,
  U16,
  U32,
  U64,
  F16,
  BF16,
  F32,
  F64,
  F8E4M3FN,
  F8E5M2,
  F8E4M3FNUZ,
  F8E5M2FNUZ,
  F8E4B15
};

/// "float32"
inline const char *name(DType type) { return nereid_dtype_name(static_cast<nereid_dtype>(type)); }
inline size_t sizeInBytes(DType type) {
  return nereid_dtype_bytes(static_cast<nereid_dtype>(type));
}

/// Neither integers nor truth values.
inline bool isFloat(DType type) { return type >= DType::F16; }

/// DType of a C++ element type; float16, bfloat16 and the 8-bit floats have none and
/// are named by hand.
template <class T> constexpr DType dtypeOf() {
  static_assert(std::is_arithmetic_v<T>, "expects an arithmetic element type");
  if constexpr (std::is_same_v<T, bool>) {
    return DType::Bool;
  } else if constexpr (std::is_floating_point_v<T>) {
    static_assert(sizeof(T) == 4 || sizeof(T) == 8, "expects float or double");
    return sizeof(T) == 4 ? DType::F32 : DType::F64;
  } else {
    constexpr int log2Bytes = sizeof(T) == 1 ? 0 : sizeof(T) == 2 ? 1 : sizeof(T) == 4 ? 2 : 3;
    constexpr DType first = std::is_signed_v<T> ? DType::I8 : DType::U8;
    return static_cast<DType>(static_cast<int>(first) + log2Bytes);
  }
}

/// A strided tensor, in host memory unless it is made on another device. A shared handle: copying
/// the object copies no elements.
class Tensor {
public:
  /// Contiguous and uninitialised.
  static Tensor empty(const std::vector<int64_t> &shape, DType dtype) {
    nereid_tensor *made = nullptr;
    check(nereid_tensor_create(shape.data(), static_cast<int>(shape.size()),
                               static_cast<nereid_dtype>(dtype), &made));
    return Tensor(made);
  }
  /// In the memory of a device: "cpu", or with a number, "cpu:0".
  static Tensor empty(const std::vector<int64_t> &shape, DType dtype, const std::string &device) {
    nereid_tensor *made = nullptr;
    check(nereid_tensor_create_on(detail::cText(device), shape.data(),
                                  static_cast<int>(shape.size()), static_cast<nereid_dtype>(dtype),
                                  &made));
    return Tensor(made);
  }
  /// In host memory that copies of the device's streams need not stage.
  static Tensor emptyPinned(const std::vector<int64_t> &shape, DType dtype,
                            const std::string &device) {
    nereid_tensor *made = nullptr;
    check(nereid_tensor_create_pinned(detail::cText(device), shape.data(),
                                      static_cast<int>(shape.size()),
                                      static_cast<nereid_dtype>(dtype), &made));
    return Tensor(made);
  }
  /// A tensor without dimensions that holds one value.
  static Tensor scalar(double value, DType dtype) {
    Tensor tensor = empty({}, dtype);
    tensor.set(0, value);
    return tensor;
  }
  /// Memory the caller keeps alive; strides in elements, empty = contiguous.
  static Tensor borrow(void *data, const std::vector<int64_t> &shape, DType dtype,
                       const std::vector<int64_t> &strides = {}) {
    nereid_tensor *made = nullptr;
    check(nereid_tensor_borrow(data, shape.data(), stridesOrNull(shape, strides),
                               static_cast<int>(shape.size()), static_cast<nereid_dtype>(dtype),
                               &made));
    return Tensor(made);
  }
  /// The elements of a vector, which must outlive the tensor and keep its size; shape empty = one
  /// dimension.
  template <class T> static Tensor borrow(std::vector<T> &data, std::vector<int64_t> shape = {}) {
    static_assert(!std::is_same_v<T, bool>, "std::vector<bool> has no elements in memory");
    if (shape.empty()) {
      shape = {static_cast<int64_t>(data.size())};
    }
    Tensor tensor = borrow(data.data(), shape, dtypeOf<T>());
    if (tensor.elementCount() != static_cast<int64_t>(data.size())) {
      throw Error(NEREID_ERROR_ARGUMENT, "expects a vector of " +
                                             std::to_string(tensor.elementCount()) +
                                             " elements, but got " + std::to_string(data.size()));
    }
    return tensor;
  }
  /// Takes `managed` over; its deleter runs when the last handle and view are gone.
  static Tensor fromDlpack(DLManagedTensor *managed) {
    nereid_tensor *made = nullptr;
    check(nereid_tensor_from_dlpack(managed, &made));
    return Tensor(made);
  }
  /// A NumPy .npy file.
  static Tensor load(const std::string &path) {
    nereid_tensor *made = nullptr;
    check(nereid_tensor_load(detail::cText(path), &made));
    return Tensor(made);
  }
  /// Takes ownership of a handle of the C interface.
  explicit Tensor(nereid_tensor *owned) : handle(owned, &nereid_tensor_free) {}

  /// Shares the memory; the receiver calls the deleter.
  DLManagedTensor *toDlpack() const {
    DLManagedTensor *managed = nullptr;
    check(nereid_tensor_to_dlpack(get(), &managed));
    return managed;
  }
  void save(const std::string &path) const {
    check(nereid_tensor_save(get(), detail::cText(path)));
  }
  /// A contiguous copy, also in the same type.
  Tensor to(DType dtype) const {
    nereid_tensor *made = nullptr;
    check(nereid_tensor_convert(get(), static_cast<nereid_dtype>(dtype), &made));
    return Tensor(made);
  }
  /// A part that shares this tensor's memory; it starts `offset` elements after the first one.
  Tensor view(int64_t offset, const std::vector<int64_t> &shape,
              const std::vector<int64_t> &strides = {}) const {
    nereid_tensor *made = nullptr;
    check(nereid_tensor_view(get(), offset, shape.data(), stridesOrNull(shape, strides),
                             static_cast<int>(shape.size()), &made));
    return Tensor(made);
  }

  nereid_tensor *get() const { return handle.get(); }
  /// "cpu:0"
  std::string device() const { return nereid_tensor_device(get()); }
  bool isOnHost() const { return device() == hostDevice(); }
  static const std::string &hostDevice() {
    static const std::string host = empty({0}, DType::U8).device();
    return host;
  }
  /// An address of the device.
  void *data() const { return nereid_tensor_data(get()); }
  template <class T> T *as() const { return static_cast<T *>(data()); }
  DType dtype() const { return static_cast<DType>(nereid_tensor_dtype(get())); }
  std::vector<int64_t> shape() const {
    const int64_t *sizes = nereid_tensor_shape(get());
    return std::vector<int64_t>(sizes, sizes + nereid_tensor_rank(get()));
  }
  /// In elements.
  std::vector<int64_t> strides() const {
    const int64_t *steps = nereid_tensor_strides(get());
    return std::vector<int64_t>(steps, steps + nereid_tensor_rank(get()));
  }
  bool isContiguous() const { return nereid_tensor_is_contiguous(get()) != 0; }
  int64_t elementCount() const { return nereid_tensor_element_count(get()); }
  size_t byteCount() const { return static_cast<size_t>(elementCount()) * sizeInBytes(dtype()); }
  /// Element number `index` in row-major order.
  double at(int64_t index) const { return nereid_tensor_get(get(), index); }
  void set(int64_t index, double value) const { nereid_tensor_set(get(), index, value); }

  /// NaN, or bytes 0xCD: what a kernel does not write reads as wrong.
  void poison() const { check(nereid_tensor_poison(get())); }
  void fill(double value) const { check(nereid_tensor_fill(get(), value)); }
  void fillNormal(uint64_t seed) const { check(nereid_tensor_fill_normal(get(), seed)); }
  void fillUniform(uint64_t seed, double low, double high) const {
    check(nereid_tensor_fill_uniform(get(), seed, low, high));
  }
  /// Integers in [low, high).
  void fillIntegers(uint64_t seed, int64_t low, int64_t high) const {
    check(nereid_tensor_fill_integers(get(), seed, low, high));
  }

private:
  static const int64_t *stridesOrNull(const std::vector<int64_t> &shape,
                                      const std::vector<int64_t> &strides) {
    if (!strides.empty() && strides.size() != shape.size()) {
      throw Error(NEREID_ERROR_ARGUMENT, "expects " + std::to_string(shape.size()) +
                                             " strides, one for each dimension, but got " +
                                             std::to_string(strides.size()));
    }
    return strides.empty() ? nullptr : strides.data();
  }
  std::shared_ptr<nereid_tensor> handle;
};

/// Sizes, of a tensor or of some of its dimensions.
using Sizes = std::vector<int64_t>;

inline Sizes joined(Sizes leading, const Sizes &trailing) {
  leading.insert(leading.end(), trailing.begin(), trailing.end());
  return leading;
}

namespace detail {
inline std::string sizesText(const Sizes &sizes) {
  std::string text = "[";
  for (int64_t size : sizes) {
    text += (text.size() > 1 ? ", " : "") + std::to_string(size);
  }
  return text + "]";
}

[[noreturn]] inline void refuse(const std::string &name, const std::string &expected,
                                const std::string &actual) {
  throw Error(NEREID_ERROR_ARGUMENT, "'" + name + "' expects " + expected + ", but got " + actual);
}

inline std::string dimensionsText(size_t count) {
  return std::to_string(count) + (count == 1 ? " dimension" : " dimensions");
}
} // namespace detail

/// What functions ask of the tensors they are given. Each throws an Error (NEREID_ERROR_ARGUMENT)
/// that names the tensor, what was expected and what was given.
inline void expectRank(const std::string &name, const Tensor &tensor, size_t rank) {
  if (tensor.shape().size() != rank) {
    detail::refuse(name, detail::dimensionsText(rank), detail::sizesText(tensor.shape()));
  }
}
inline void expectRankAtLeast(const std::string &name, const Tensor &tensor, size_t rank) {
  if (tensor.shape().size() < rank) {
    detail::refuse(name, "at least " + detail::dimensionsText(rank),
                   detail::sizesText(tensor.shape()));
  }
}
/// Of a tensor that is written where it lies.
inline void expectContiguous(const std::string &name, const Tensor &tensor) {
  if (!tensor.isContiguous()) {
    detail::refuse(name, "contiguous memory, which the result is written to",
                   "strides " + detail::sizesText(tensor.strides()));
  }
}
namespace detail {
/// From the first to behind the last byte of a tensor that has elements, gaps between them
/// included.
inline std::pair<const char *, const char *> extentOf(const Tensor &tensor) {
  const auto size = static_cast<int64_t>(sizeInBytes(tensor.dtype()));
  const std::vector<int64_t> sizes = tensor.shape(), strides = tensor.strides();
  const char *first = tensor.as<char>(), *last = first;
  for (size_t dim = 0; dim < sizes.size(); ++dim) {
    (strides[dim] < 0 ? first : last) += (sizes[dim] - 1) * strides[dim] * size;
  }
  return {first, last + size};
}
inline bool overlap(const Tensor &a, const Tensor &b) {
  if (a.elementCount() == 0 || b.elementCount() == 0) {
    return false;
  }
  const auto one = extentOf(a), other = extentOf(b);
  return one.first < other.second && other.first < one.second;
}
} // namespace detail
/// Of two tensors that are written.
inline void expectApart(const std::string &name, const Tensor &tensor, const std::string &otherName,
                        const Tensor &other) {
  if (detail::overlap(tensor, other)) {
    detail::refuse(name, "memory of its own", "that of '" + otherName + "', which is written too");
  }
}
inline void expectShape(const std::string &name, const Tensor &tensor, const Sizes &expected) {
  if (tensor.shape() != expected) {
    detail::refuse(name, "shape " + detail::sizesText(expected), detail::sizesText(tensor.shape()));
  }
}
inline void expectType(const std::string &name, const Tensor &tensor,
                       const std::vector<DType> &allowed) {
  std::string list;
  for (DType type : allowed) {
    if (tensor.dtype() == type) {
      return;
    }
    list += (list.empty() ? "" : " or ") + std::string(nereid::name(type));
  }
  detail::refuse(name, "type " + list, nereid::name(tensor.dtype()));
}
/// A condition of function `name`, with its text.
inline void expectThat(bool holds, const std::string &name, const std::string &condition) {
  if (!holds) {
    throw Error(NEREID_ERROR_ARGUMENT, "'" + name + "' expects " + condition);
  }
}
/// Dimension counted from the end, 1 = last.
inline int64_t sizeFromEnd(const std::string &name, const Tensor &tensor, size_t fromEnd) {
  expectRankAtLeast(name, tensor, fromEnd);
  const Sizes shape = tensor.shape();
  return shape[shape.size() - fromEnd];
}
/// All dimensions but the last `count`.
inline Sizes leadingSizes(const std::string &name, const Tensor &tensor, size_t count) {
  expectRankAtLeast(name, tensor, count);
  Sizes shape = tensor.shape();
  shape.resize(shape.size() - count);
  return shape;
}

/// One argument of a launch, made implicitly from a tensor, an integer or a floating-point number.
class Argument {
public:
  Argument(const Tensor &tensor) {
    raw.kind = NEREID_ARGUMENT_TENSOR;
    raw.value.tensor = tensor.get();
  }
  template <class T, std::enable_if_t<std::is_arithmetic_v<T>, int> = 0> Argument(T value) {
    if constexpr (std::is_floating_point_v<T>) {
      raw.kind = NEREID_ARGUMENT_FLOAT;
      raw.value.number = static_cast<double>(value);
    } else {
      raw.kind = NEREID_ARGUMENT_INTEGER;
      raw.value.integer = static_cast<int64_t>(value);
    }
  }
  /// A DLTensor or DLManagedTensor of a DLPack version before 1.0, read during the launch only.
  static Argument dlpack(const void *tensor) {
    Argument argument(0);
    argument.raw.kind = NEREID_ARGUMENT_DLPACK;
    argument.raw.value.dlpack = tensor;
    return argument;
  }
  const nereid_argument &get() const { return raw; }

private:
  nereid_argument raw;
};

/// Sizes not given are 1.
struct Grid {
  int64_t sizes[3];
  Grid(int64_t x, int64_t y = 1, int64_t z = 1) : sizes{x, y, z} {}
};

/// Also looks for the modules that kernels import in this folder, from now on.
inline void addImportPath(const std::string &folder) {
  check(nereid_import_path_add(detail::cText(folder)));
}

/// A compiled kernel. A shared handle.
class Kernel {
public:
  /// function empty = the only kernel of the file; target empty = this machine's CPU.
  static Kernel load(const std::string &path, const std::string &function,
                     const std::string &signature, const std::string &target = "") {
    nereid_kernel *made = nullptr;
    check(nereid_kernel_load(detail::cText(path), detail::cTextOrNull(function),
                             detail::cText(signature), detail::cTextOrNull(target), &made));
    return Kernel(made);
  }
  static Kernel loadSource(const std::string &source, const std::string &function,
                           const std::string &signature, const std::string &target = "") {
    nereid_kernel *made = nullptr;
    check(nereid_kernel_load_source(detail::cText(source), "<source>",
                                    detail::cTextOrNull(function), detail::cText(signature),
                                    detail::cTextOrNull(target), &made));
    return Kernel(made);
  }
  /// The same on a device; target empty = compiled for it.
  static Kernel loadOn(const std::string &device, const std::string &path,
                       const std::string &function, const std::string &signature,
                       const std::string &target = "") {
    nereid_kernel *made = nullptr;
    check(nereid_kernel_load_on(detail::cText(device), detail::cText(path),
                                detail::cTextOrNull(function), detail::cText(signature),
                                detail::cTextOrNull(target), &made));
    return Kernel(made);
  }
  static Kernel loadSourceOn(const std::string &device, const std::string &source,
                             const std::string &function, const std::string &signature,
                             const std::string &target = "") {
    nereid_kernel *made = nullptr;
    check(nereid_kernel_load_source_on(detail::cText(device), detail::cText(source), "<source>",
                                       detail::cTextOrNull(function), detail::cText(signature),
                                       detail::cTextOrNull(target), &made));
    return Kernel(made);
  }
  explicit Kernel(nereid_kernel *owned) : handle(owned, &nereid_kernel_free) {}

  /// kernel.launch({programs}, x, y, n); waits until all program instances are done.
  template <class... Arguments> void launch(Grid grid, const Arguments &...arguments) const {
    if constexpr (sizeof...(Arguments) == 0) {
      check(nereid_kernel_launch(get(), grid.sizes, nullptr, 0));
    } else {
      const nereid_argument raw[] = {Argument(arguments).get()...};
      check(nereid_kernel_launch(get(), grid.sizes, raw, sizeof...(Arguments)));
    }
  }
  void launch(Grid grid, const std::vector<Argument> &arguments) const {
    std::vector<nereid_argument> raw;
    for (const Argument &argument : arguments) {
      raw.push_back(argument.get());
    }
    check(nereid_kernel_launch(get(), grid.sizes, raw.data(), raw.size()));
  }

  nereid_kernel *get() const { return handle.get(); }
  std::string name() const { return nereid_kernel_name(get()); }
  std::string signature() const { return nereid_kernel_signature(get()); }

private:
  std::shared_ptr<nereid_kernel> handle;
};

/// A point in a stream. A shared handle.
class Event {
public:
  explicit Event(nereid_event *owned) : handle(owned, &nereid_event_free) {}
  /// Nanoseconds from `start` to this event of the same device, after waiting for both.
  double nanosSince(const Event &start) const {
    double nanos = 0;
    check(nereid_event_elapsed(start.get(), get(), &nanos));
    return nanos;
  }
  nereid_event *get() const { return handle.get(); }

private:
  std::shared_ptr<nereid_event> handle;
};

/// Work of a stream, to be queued again and again as a whole: see Stream::capture.
class Graph {
public:
  nereid_graph *get() const { return handle.get(); }

private:
  friend class Stream;
  explicit Graph(nereid_graph *owned) : handle(owned, &nereid_graph_free) {}

  std::shared_ptr<nereid_graph> handle;
};

/// Copies and launches of a device, done in order: at once on the CPU, by synchronize() elsewhere.
/// Until then host memory must stay as it is, tensors and kernels must live. Nothing orders two
/// streams but waitFor(). A shared handle, of which the last one waits.
class Stream {
public:
  explicit Stream(const std::string &device) {
    nereid_stream *made = nullptr;
    check(nereid_stream_create(detail::cText(device), &made));
    handle.reset(made, &nereid_stream_free);
  }
  /// A stream of another library on the device, by its handle; it stays that library's.
  static Stream wrap(const std::string &device, void *handle) {
    nereid_stream *made = nullptr;
    check(nereid_stream_wrap(detail::cText(device), handle, &made));
    return Stream(made);
  }
  /// All elements of a contiguous tensor of the device, from and to host memory.
  void copyIn(const Tensor &tensor, const void *from) const {
    check(nereid_stream_copy_in(get(), tensor.get(), from, tensor.byteCount()));
  }
  void copyOut(const Tensor &tensor, void *to) const {
    check(nereid_stream_copy_out(get(), tensor.get(), to, tensor.byteCount()));
  }
  /// stream.launch(kernel, {programs}, x, y, n)
  template <class... Arguments>
  void launch(const Kernel &kernel, Grid grid, const Arguments &...arguments) const {
    const nereid_argument raw[] = {Argument(arguments).get()..., Argument(0).get()};
    check(nereid_stream_launch(get(), kernel.get(), grid.sizes, raw, sizeof...(Arguments)));
  }
  void launch(const Kernel &kernel, Grid grid, const std::vector<Argument> &arguments) const {
    std::vector<nereid_argument> raw;
    for (const Argument &argument : arguments) {
      raw.push_back(argument.get());
    }
    check(nereid_stream_launch(get(), kernel.get(), grid.sizes, raw.data(), raw.size()));
  }
  Event record() const {
    nereid_event *made = nullptr;
    check(nereid_stream_record(get(), &made));
    return Event(made);
  }
  /// What queue() launches and copies on this stream, of which nothing runs:
  /// auto graph = stream.capture([&] { stream.launch(kernel, {programs}, x, y, n); });
  /// When it throws, the capture ends, and the stream is as before.
  template <class Queue> Graph capture(const Queue &queue) const {
    check(nereid_stream_begin_capture(get()));
    struct Ending {
      nereid_stream *stream;
      nereid_graph *graph = nullptr;
      ~Ending() {
        if (stream && nereid_stream_end_capture(stream, &graph) == NEREID_OK) {
          nereid_graph_free(graph);
        }
      }
    } ending{get()};
    queue();
    ending.stream = nullptr;
    nereid_graph *made = nullptr;
    check(nereid_stream_end_capture(get(), &made));
    return Graph(made);
  }
  /// All of a graph of this device. Tensors and host memory that it names must live.
  void launch(const Graph &graph) const { check(nereid_graph_launch(graph.get(), get())); }
  /// What is queued from here on begins when the event's stream has come to its point.
  void waitFor(const Event &event) const { check(nereid_stream_wait(get(), event.get())); }
  void synchronize() const { check(nereid_stream_synchronize(get())); }
  nereid_stream *get() const { return handle.get(); }

private:
  explicit Stream(nereid_stream *owned) : handle(owned, &nereid_stream_free) {}

  std::shared_ptr<nereid_stream> handle;
};

/// Value of an attribute: true, -1, 1e-5, "tanh" or a list of integers.
class Attribute {
public:
  using Value = std::variant<bool, int64_t, double, std::string, std::vector<int64_t>>;
  Attribute(bool flag) : value(flag) {}
  template <class T, std::enable_if_t<std::is_integral_v<T> && !std::is_same_v<T, bool>, int> = 0>
  Attribute(T integer) : value(static_cast<int64_t>(integer)) {}
  Attribute(double number) : value(number) {}
  Attribute(const char *text) : value(std::string(text)) {}
  Attribute(std::string text) : value(std::move(text)) {}
  Attribute(std::vector<int64_t> list) : value(std::move(list)) {}
  const Value &get() const { return value; }

private:
  Value value;
};

/// {{"dim", -1}, {"keepdim", true}}
using Attributes = std::vector<std::pair<std::string, Attribute>>;

namespace detail {
inline std::string jsonText(const std::string &text) {
  std::string out = "\"";
  for (char c : text) {
    if (c == '"' || c == '\\') {
      out += '\\';
      out += c;
    } else if (static_cast<unsigned char>(c) < 0x20) {
      char code[8];
      std::snprintf(code, sizeof code, "\\u%04x", c);
      out += code;
    } else {
      out += c;
    }
  }
  return out + '"';
}

/// JSON knows no infinities and no NaN: they travel as "inf", "-inf" and "nan".
inline std::string jsonText(double value) {
  if (std::isnan(value)) {
    return "\"nan\"";
  }
  if (std::isinf(value)) {
    return value > 0 ? "\"inf\"" : "\"-inf\"";
  }
  char digits[40];
  std::snprintf(digits, sizeof digits, "%.17g", value);
  const std::string text = digits;
  return text.find_first_of(".e") == std::string::npos ? text + ".0" : text;
}

inline std::string jsonText(const Attribute &attribute) {
  const Attribute::Value &value = attribute.get();
  if (const bool *flag = std::get_if<bool>(&value)) {
    return *flag ? "true" : "false";
  }
  if (const int64_t *integer = std::get_if<int64_t>(&value)) {
    return std::to_string(*integer);
  }
  if (const double *number = std::get_if<double>(&value)) {
    return jsonText(*number);
  }
  if (const std::string *text = std::get_if<std::string>(&value)) {
    return jsonText(*text);
  }
  std::string out = "[";
  for (int64_t item : std::get<std::vector<int64_t>>(value)) {
    out += (out.size() > 1 ? ", " : "") + std::to_string(item);
  }
  return out + "]";
}

inline std::string jsonText(const Attributes &attributes) {
  std::string out = "{";
  for (const auto &[key, value] : attributes) {
    out += (out.size() > 1 ? ", " : "") + jsonText(key) + ": " + jsonText(value);
  }
  return out + "}";
}
} // namespace detail

/// One PyTorch-named operation at once on whole tensors: eager("mean", {x}, {{"dim", -1}}).
inline Tensor eager(const std::string &operation, const std::vector<Tensor> &inputs,
                    const Attributes &attributes = {}) {
  std::vector<const nereid_tensor *> handles;
  for (const Tensor &input : inputs) {
    handles.push_back(input.get());
  }
  nereid_tensor *made = nullptr;
  check(nereid_eager(detail::cText(operation), handles.data(), handles.size(),
                     detail::jsonText(attributes).c_str(), &made));
  return Tensor(made);
}

/// An operand of eager() that takes the type of the tensors it meets.
inline Tensor number(double value) { return Tensor::scalar(value, DType::F64); }
/// Likewise, and one that leaves integers what they are.
inline Tensor wholeNumber(int64_t value) {
  Tensor tensor = Tensor::empty({}, DType::I64);
  *static_cast<int64_t *>(tensor.data()) = value;
  return tensor;
}
/// Gives memory back after the last use, as a framework does.
inline void release(Tensor &tensor) { tensor = number(0); }

struct Comparison {
  bool passed;
  double maxAbsolute, maxRelative, meanAbsolute;
  int64_t mismatches, firstMismatch; ///< firstMismatch -1 = none
  double actual, expected;           ///< at the first mismatch
};

/// |actual - expected| <= absolute + relative * |expected|, for every element; throws when the
/// shapes differ.
inline Comparison compare(const Tensor &actual, const Tensor &expected, double relative,
                          double absolute) {
  nereid_comparison raw{};
  check(nereid_compare(actual.get(), expected.get(), relative, absolute, &raw));
  return {raw.agrees != 0,
          raw.max_absolute_error,
          raw.max_relative_error,
          raw.mean_absolute_error,
          raw.mismatches,
          raw.first_mismatch,
          raw.actual,
          raw.expected};
}

struct Timing {
  double medianNanos, p90Nanos, p99Nanos;
  double rsd; ///< relative standard deviation, 0.05 = 5 %
  int samples;
  double meanNanos, minimumNanos;
  bool isNoisy; ///< rsd stayed above 5 %, or p90 above 1.5 times the median
};

struct PairTiming {
  Timing first, second;
  double speedup; ///< first.medianNanos / second.medianNanos
  double pValue;  ///< Mann-Whitney U
  bool isNoisy;   ///< a relative deviation stayed above 5 %
};

struct TimeOptions {
  int minimumSamples = 0;             ///< 20 at least, whatever is asked
  double budgetSeconds = 0;           ///< 0 = 5
  std::function<void()> beforeSample; ///< not timed, e.g. poisons the outputs
  bool coldCaches = false; ///< the processor's caches are emptied before each sample, one run then
};

namespace detail {
/// A callable as a callback; what it throws is kept.
struct TimedCall {
  const std::function<void()> *body;
  std::exception_ptr *failure;
  static int run(void *context) {
    const TimedCall *call = static_cast<const TimedCall *>(context);
    try {
      (*call->body)();
      return 0;
    } catch (...) {
      *call->failure = std::current_exception();
      return 1;
    }
  }
};

/// `before` must live as long as what is returned.
inline nereid_time_options rawOptions(const TimeOptions &options, TimedCall &before) {
  nereid_time_options raw{};
  raw.minimum_samples = options.minimumSamples;
  raw.budget_seconds = options.budgetSeconds;
  raw.before_sample = options.beforeSample ? &TimedCall::run : nullptr;
  raw.context = &before;
  raw.cold_caches = options.coldCaches ? 1 : 0;
  return raw;
}

inline Timing timingOf(const nereid_samples &samples) {
  return {samples.median_nanos,       samples.p90_nanos,    samples.p99_nanos,
          samples.relative_deviation, samples.count,        samples.mean_nanos,
          samples.minimum_nanos,      samples.is_noisy != 0};
}
} // namespace detail

/// Times any callable: warmed up until two runs agree, then 20 samples at least, more while they
/// scatter and the budget lasts; quick runs are repeated within a sample. What it queues on a
/// device it also waits for (Stream::synchronize). An exception of its comes through.
///
///   const nereid::Timing timing = nereid::timeOne([&] { softmax.into({y}, x); });
inline Timing timeOne(const std::function<void()> &body, const TimeOptions &options = {}) {
  std::exception_ptr failure;
  detail::TimedCall call{&body, &failure}, before{&options.beforeSample, &failure};
  const nereid_time_options raw = detail::rawOptions(options, before);
  nereid_samples result{};
  const nereid_status status = nereid_time(&detail::TimedCall::run, &call, &raw, &result);
  if (failure) {
    std::rethrow_exception(failure);
  }
  check(status);
  return detail::timingOf(result);
}

/// Times two versions alternately in one run; an exception of theirs comes through.
inline PairTiming timePair(const std::function<void()> &first, const std::function<void()> &second,
                           const TimeOptions &options = {}) {
  std::exception_ptr failure;
  detail::TimedCall a{&first, &failure}, b{&second, &failure},
      before{&options.beforeSample, &failure};
  const nereid_time_options raw = detail::rawOptions(options, before);
  nereid_time_pair_result result{};
  const nereid_status status =
      nereid_time_pair(&detail::TimedCall::run, &a, &detail::TimedCall::run, &b, &raw, &result);
  if (failure) {
    std::rethrow_exception(failure);
  }
  check(status);
  return {detail::timingOf(result.first), detail::timingOf(result.second), result.speedup,
          result.probability, result.is_noisy != 0};
}

/// Bytes per second a large copy reaches on this machine, calibrated; 0 when it cannot be told.
inline double copyBandwidth() {
  double bytesPerSecond = 0;
  return nereid_copy_bandwidth(&bytesPerSecond) == NEREID_OK ? bytesPerSecond : 0;
}

inline int threadCount() { return nereid_thread_count(); }
inline void setThreadCount(int threads) { check(nereid_set_thread_count(threads)); }

} // namespace v0
} // namespace nereid

#include "nereid/definition.hpp"
#include "nereid/differentiable.hpp"
