// SPDX-License-Identifier: Apache-2.0
// What a program and its runner on another machine send each other: messages of 8-byte
// little-endian numbers and byte strings, each behind its length. Nothing that is read is believed.
#pragma once

#include "runtime/Kernel.h"

#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

namespace nereid::runtime::remote {

/// First text of a runner's greeting; another version means another form of messages, or of what a
/// kernel's entry is called with.
inline constexpr std::string_view greeting = "nereid-runner 5";

enum class Request : uint64_t { Load = 1, Launch = 2, Unload = 3 };

class MessageWriter {
public:
  void number(uint64_t value);
  void text(std::string_view value) {
    bytes({reinterpret_cast<const uint8_t *>(value.data()), value.size()});
  }
  void bytes(std::span<const uint8_t> value);
  std::span<const uint8_t> content() const { return buffer; }

private:
  std::vector<uint8_t> buffer;
};

/// After an attempt to read more than there is everything reads as 0 or empty, and failed() is
/// true.
class MessageReader {
public:
  explicit MessageReader(std::span<const uint8_t> content) : rest(content) {}
  uint64_t number();
  /// A number that counts things of at least one byte each in the rest of the message.
  uint64_t count();
  std::string text();
  std::span<const uint8_t> bytes();
  bool failed() const { return hasFailed; }

private:
  std::span<const uint8_t> rest;
  bool hasFailed = false;
};

/// False when the other side is gone.
bool sendMessage(int descriptor, std::span<const uint8_t> content);
/// Nothing when the other side is gone or sends something impossible.
std::optional<std::vector<uint8_t>> receiveMessage(int descriptor);

void writeKernelInfo(MessageWriter &message, const KernelInfo &info);
/// Check failed() of the reader behind it.
KernelInfo readKernelInfo(MessageReader &message);

} // namespace nereid::runtime::remote
