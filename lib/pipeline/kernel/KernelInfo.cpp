// SPDX-License-Identifier: Apache-2.0
#include "lib/pipeline/kernel/KernelInfo.h"

#include <nlohmann/json.hpp>

namespace nereid::pipeline {
namespace {

using runtime::ArgumentKind;
using Json = nlohmann::ordered_json;

constexpr std::pair<ArgumentKind, const char *> kindNames[] = {
    {ArgumentKind::Pointer, "pointer"},
    {ArgumentKind::Integer, "integer"},
    {ArgumentKind::Float, "float"},
    {ArgumentKind::Descriptor, "descriptor"},
};

/// Fields are looked up without exceptions: a damaged text must read as nothing.
template <class T> bool take(const Json &object, const char *name, T &value) {
  auto found = object.find(name);
  if (found == object.end()) {
    return false;
  }
  if constexpr (std::is_same_v<T, std::string>) {
    if (!found->is_string()) {
      return false;
    }
    value = found->template get_ref<const std::string &>();
  } else if constexpr (std::is_same_v<T, bool>) {
    if (!found->is_boolean()) {
      return false;
    }
    value = found->template get<bool>();
  } else {
    if (!found->is_number_integer()) {
      return false;
    }
    value = found->template get<T>();
  }
  return true;
}

bool takeArgument(const Json &object, runtime::ArgumentInfo &argument) {
  std::string kind, dtype;
  if (!object.is_object() || !take(object, "name", argument.name) || !take(object, "kind", kind) ||
      !take(object, "dtype", dtype) || !take(object, "divisibility", argument.divisibility)) {
    return false;
  }
  argument.isWritten = !object.contains("read_only");
  std::optional<DType> type = parseDType(dtype);
  for (const auto &[value, name] : kindNames) {
    if (kind == name && type) {
      argument.kind = value;
      argument.dtype = *type;
      return value != ArgumentKind::Descriptor ||
             (take(object, "rank", argument.rank) && argument.rank > 0);
    }
  }
  return false;
}

} // namespace

std::string toJson(const runtime::KernelInfo &info) {
  Json arguments = Json::array();
  for (const runtime::ArgumentInfo &argument : info.arguments) {
    const char *kind = kindNames[static_cast<int>(argument.kind)].second;
    arguments.push_back({{"name", argument.name},
                         {"kind", kind},
                         {"dtype", std::string(kernelName(argument.dtype))},
                         {"divisibility", argument.divisibility}});
    if (argument.kind == ArgumentKind::Descriptor) {
      arguments.back()["rank"] = argument.rank;
    }
    if (!argument.isWritten) {
      arguments.back()["read_only"] = true;
    }
  }
  Json object = {{"name", info.name},
                 {"arguments", arguments},
                 {"scratch_bytes", info.scratchBytes},
                 {"is_blocking", info.isBlocking},
                 {"takes_ranges", info.takesRanges},
                 {"adds_floats", info.addsFloats},
                 {"features", info.features},
                 {"signature", info.signature}};
  if (info.threads != 0) {
    object["threads"] = info.threads;
  }
  if (info.blocks != 1) {
    object["blocks"] = info.blocks;
  }
  if (info.waits) {
    object["waits"] = true;
  }
  return object.dump(-1, ' ', false, Json::error_handler_t::replace);
}

std::optional<runtime::KernelInfo> kernelInfoFromJson(std::string_view text) {
  Json object = Json::parse(text, nullptr, /*allow_exceptions=*/false);
  runtime::KernelInfo info;
  if (!object.is_object() || !take(object, "name", info.name) ||
      !take(object, "scratch_bytes", info.scratchBytes) ||
      !take(object, "is_blocking", info.isBlocking) ||
      !take(object, "takes_ranges", info.takesRanges) ||
      !take(object, "adds_floats", info.addsFloats) || !take(object, "features", info.features) ||
      !take(object, "signature", info.signature) ||
      (object.contains("threads") && !take(object, "threads", info.threads)) ||
      (object.contains("blocks") && !take(object, "blocks", info.blocks)) ||
      (object.contains("waits") && !take(object, "waits", info.waits))) {
    return std::nullopt;
  }
  auto arguments = object.find("arguments");
  if (arguments == object.end() || !arguments->is_array()) {
    return std::nullopt;
  }
  for (const Json &entry : *arguments) {
    runtime::ArgumentInfo argument;
    if (!takeArgument(entry, argument)) {
      return std::nullopt;
    }
    info.arguments.push_back(std::move(argument));
  }
  return info;
}

} // namespace nereid::pipeline
