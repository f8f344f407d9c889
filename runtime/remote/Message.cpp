// SPDX-License-Identifier: Apache-2.0
#include "runtime/remote/Message.h"

#include <bit>
#include <cerrno>
#include <cstring>
#include <sys/socket.h>
#include <unistd.h>

namespace nereid::runtime::remote {
namespace {

static_assert(std::endian::native == std::endian::little, "messages are little-endian");

constexpr uint64_t longestMessage = uint64_t{1} << 36;

bool sendAll(int descriptor, const uint8_t *data, size_t bytes) {
  while (bytes > 0) {
    // A runner writes into a pipe as well; only a socket can be told not to raise SIGPIPE.
    ssize_t done = ::send(descriptor, data, bytes, MSG_NOSIGNAL);
    if (done < 0 && errno == ENOTSOCK) {
      done = ::write(descriptor, data, bytes);
    }
    if (done < 0 && errno == EINTR) {
      continue;
    }
    if (done <= 0) {
      return false;
    }
    data += done;
    bytes -= static_cast<size_t>(done);
  }
  return true;
}

bool receiveAll(int descriptor, uint8_t *data, size_t bytes) {
  while (bytes > 0) {
    const ssize_t done = ::read(descriptor, data, bytes);
    if (done < 0 && errno == EINTR) {
      continue;
    }
    if (done <= 0) {
      return false;
    }
    data += done;
    bytes -= static_cast<size_t>(done);
  }
  return true;
}

} // namespace

void MessageWriter::number(uint64_t value) {
  const auto *data = reinterpret_cast<const uint8_t *>(&value);
  buffer.insert(buffer.end(), data, data + sizeof value);
}

void MessageWriter::bytes(std::span<const uint8_t> value) {
  number(value.size());
  buffer.insert(buffer.end(), value.begin(), value.end());
}

uint64_t MessageReader::number() {
  uint64_t value = 0;
  if (hasFailed || rest.size() < sizeof value) {
    hasFailed = true;
    return 0;
  }
  std::memcpy(&value, rest.data(), sizeof value);
  rest = rest.subspan(sizeof value);
  return value;
}

uint64_t MessageReader::count() {
  const uint64_t value = number();
  if (value > rest.size()) {
    hasFailed = true;
    return 0;
  }
  return value;
}

std::span<const uint8_t> MessageReader::bytes() {
  const uint64_t size = count();
  const std::span<const uint8_t> value = rest.first(size);
  rest = rest.subspan(size);
  return value;
}

std::string MessageReader::text() {
  const std::span<const uint8_t> value = bytes();
  return {value.begin(), value.end()};
}

bool sendMessage(int descriptor, std::span<const uint8_t> content) {
  const uint64_t size = content.size();
  return sendAll(descriptor, reinterpret_cast<const uint8_t *>(&size), sizeof size) &&
         sendAll(descriptor, content.data(), content.size());
}

std::optional<std::vector<uint8_t>> receiveMessage(int descriptor) {
  uint64_t size = 0;
  if (!receiveAll(descriptor, reinterpret_cast<uint8_t *>(&size), sizeof size) ||
      size > longestMessage) {
    return std::nullopt;
  }
  std::vector<uint8_t> content(size);
  if (!receiveAll(descriptor, content.data(), content.size())) {
    return std::nullopt;
  }
  return content;
}

void writeKernelInfo(MessageWriter &message, const KernelInfo &info) {
  message.text(info.name);
  message.text(info.features);
  message.text(info.signature);
  message.number(info.scratchBytes);
  message.number(info.threads);
  message.number(info.isBlocking);
  message.number(info.takesRanges);
  message.number(info.addsFloats);
  message.number(info.arguments.size());
  for (const ArgumentInfo &argument : info.arguments) {
    message.text(argument.name);
    message.number(static_cast<uint64_t>(argument.kind));
    message.number(static_cast<uint64_t>(argument.dtype));
    message.number(static_cast<uint64_t>(argument.divisibility));
    message.number(static_cast<uint64_t>(argument.rank));
  }
}

KernelInfo readKernelInfo(MessageReader &message) {
  KernelInfo info;
  info.name = message.text();
  info.features = message.text();
  info.signature = message.text();
  info.scratchBytes = message.number();
  info.threads = static_cast<uint32_t>(message.number());
  info.isBlocking = message.number() != 0;
  info.takesRanges = message.number() != 0;
  info.addsFloats = message.number() != 0;
  for (uint64_t left = message.count(); left > 0 && !message.failed(); --left) {
    ArgumentInfo argument;
    argument.name = message.text();
    argument.kind = static_cast<ArgumentKind>(message.number() & 3);
    argument.dtype = static_cast<DType>(message.number() % dtypeCount);
    argument.divisibility = static_cast<int64_t>(message.number());
    argument.rank = static_cast<int64_t>(message.number());
    info.arguments.push_back(std::move(argument));
  }
  return info;
}

} // namespace nereid::runtime::remote
