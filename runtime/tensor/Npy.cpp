// SPDX-License-Identifier: Apache-2.0
// Tensors in NumPy's .npy files: magic, version, header length, header text, elements. What the
// header says is compared with the file's length before memory is asked for.
#include "runtime/elements/ElementBlocks.h"
#include "runtime/tensor/FileIo.h"
#include "runtime/tensor/NpyHeader.h"
#include "runtime/tensor/Tensor.h"

#include <cerrno>
#include <cstring>
#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

namespace nereid::runtime {
namespace {

constexpr char magic[6] = {'\x93', 'N', 'U', 'M', 'P', 'Y'};
constexpr uint32_t maxHeaderBytes = 1 << 20;

struct File {
  int descriptor;
  ~File() {
    if (descriptor >= 0) {
      ::close(descriptor);
    }
  }
  bool read(void *into, uint64_t bytes) const {
    uint8_t *place = static_cast<uint8_t *>(into);
    while (bytes > 0) {
      const ssize_t got = ::read(descriptor, place, bytes);
      if (got < 0 && errno == EINTR) {
        continue;
      }
      if (got <= 0) {
        return false;
      }
      place += got;
      bytes -= static_cast<uint64_t>(got);
    }
    return true;
  }
};

std::string refuse(const std::string &path, const std::string &reason) {
  return "cannot read '" + path + "': " + reason;
}

/// Reverses the dimensions' memory order: NumPy's "Fortran" order.
std::vector<int64_t> columnMajorSteps(const std::vector<int64_t> &shape) {
  std::vector<int64_t> steps(shape.size());
  int64_t step = 1;
  for (size_t dim = 0; dim < shape.size(); ++dim) {
    steps[dim] = step;
    step *= shape[dim];
  }
  return steps;
}

std::variant<Tensor, std::string> readElements(const std::string &path, const File &file,
                                               const NpyHeader &header, uint64_t bytesLeft) {
  const Tensor shape = Tensor::borrow(nullptr, header.shape, header.dtype);
  const uint64_t elements = static_cast<uint64_t>(shape.elementCount());
  const uint64_t elementBytes = sizeInBytes(header.dtype);
  if (elements > bytesLeft / elementBytes || elements * elementBytes != bytesLeft) {
    return refuse(path, "its shape asks for " + std::to_string(elements) + " elements of " +
                            std::to_string(elementBytes) + " bytes, but " +
                            std::to_string(bytesLeft) + " bytes follow the header");
  }
  Tensor tensor = Tensor::empty(header.shape, header.dtype);
  if (!tensor.isValid()) {
    return refuse(path, "no memory for " + std::to_string(bytesLeft) + " bytes");
  }
  if (!file.read(tensor.data(), bytesLeft)) {
    return refuse(path, "it became shorter while it was read");
  }
  if (!header.isFortranOrder || tensor.elementCount() == 0) {
    return tensor;
  }
  return tensor.view(0, header.shape, columnMajorSteps(header.shape));
}

} // namespace

std::variant<Tensor, std::string> loadNpy(const std::string &path) {
  const File file{::open(path.c_str(), O_RDONLY | O_CLOEXEC | O_NONBLOCK)};
  if (file.descriptor < 0) {
    return refuse(path, std::strerror(errno));
  }
  struct stat status{};
  if (::fstat(file.descriptor, &status) != 0 || !S_ISREG(status.st_mode)) {
    return refuse(path, "it is no regular file");
  }
  uint8_t start[8];
  if (!file.read(start, sizeof start) || std::memcmp(start, magic, sizeof magic) != 0) {
    return refuse(path, "it is no .npy file");
  }
  const int version = start[6];
  if (version != 1 && version != 2) {
    return refuse(path, "expects .npy version 1 or 2, but got " + std::to_string(version));
  }
  uint32_t headerBytes = 0;
  const uint64_t lengthBytes = version == 1 ? 2 : 4;
  if (!file.read(&headerBytes, lengthBytes) || headerBytes > maxHeaderBytes) {
    return refuse(path, "its header is longer than the file or than 1 MiB");
  }
  std::string text(headerBytes, '\0');
  if (!file.read(text.data(), text.size())) {
    return refuse(path, "it ends within its header");
  }
  const std::variant<NpyHeader, std::string> header = parseNpyHeader(text);
  if (const std::string *problem = std::get_if<std::string>(&header)) {
    return refuse(path, *problem);
  }
  const uint64_t before = sizeof start + lengthBytes + headerBytes;
  const uint64_t size = static_cast<uint64_t>(status.st_size);
  return readElements(path, file, std::get<NpyHeader>(header), size > before ? size - before : 0);
}

std::string saveNpy(const Tensor &given, const std::string &path) {
  const std::variant<Tensor, LaunchError> found = given.onHost();
  if (const LaunchError *error = std::get_if<LaunchError>(&found)) {
    return "cannot write '" + path + "': " + error->message;
  }
  const Tensor &tensor = std::get<Tensor>(found);
  const std::string_view descriptor = npyDescriptor(tensor.dtype());
  if (descriptor.empty()) {
    return "cannot write '" + path + "': .npy files have no type '" +
           std::string(torchName(tensor.dtype())) + "'; convert to float32 first";
  }
  if (!tensor.isValid()) {
    return "cannot write '" + path + "': the tensor has no memory";
  }
  const Tensor dense = tensor.isContiguous() ? tensor : tensor.to(tensor.dtype());
  if (!dense.isValid()) {
    return "cannot write '" + path + "': no memory for a contiguous copy";
  }
  std::string shape;
  for (int64_t size : tensor.shape()) {
    shape += std::to_string(size) + ", ";
  }
  if (tensor.shape().size() > 1) {
    shape.resize(shape.size() - 2);
  } else if (!shape.empty()) {
    shape.pop_back();
  }
  std::string text = "{'descr': '" + std::string(descriptor) +
                     "', 'fortran_order': False, 'shape': (" + shape + "), }";
  // The elements start at a multiple of 64 bytes; the header ends with a newline.
  constexpr size_t prefixBytes = 10;
  text.append(63 - (prefixBytes + text.size()) % 64, ' ');
  text += '\n';
  uint8_t prefix[prefixBytes];
  std::memcpy(prefix, magic, sizeof magic);
  prefix[6] = 1;
  prefix[7] = 0;
  prefix[8] = static_cast<uint8_t>(text.size() & 0xFF);
  prefix[9] = static_cast<uint8_t>(text.size() >> 8);
  const std::span<const uint8_t> pieces[] = {
      prefix,
      {reinterpret_cast<const uint8_t *>(text.data()), text.size()},
      {dense.as<const uint8_t>(), dense.byteCount()}};
  return replaceFile(path, pieces);
}

} // namespace nereid::runtime
