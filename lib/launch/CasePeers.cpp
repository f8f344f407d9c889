// SPDX-License-Identifier: Apache-2.0
#include "lib/launch/CasePeers.h"

#include "lib/launch/KernelReference.h"

#include <fmt/format.h>

#include <algorithm>

namespace nereid::launch {
namespace {

constexpr const char *form = "'FILE:function', such as 'gelu.cu:gelu'";
constexpr ReferenceForm forms[] = {ReferenceForm::Eager, ReferenceForm::Compiled,
                                   ReferenceForm::Graph};

std::optional<ReferenceForm> formOf(std::string_view name) {
  const auto *found = std::find_if(std::begin(forms), std::end(forms),
                                   [&](ReferenceForm one) { return formName(one) == name; });
  return found == std::end(forms) ? std::nullopt : std::optional(*found);
}

std::string readForm(ReferenceForm asked, KernelCase &result) {
  result.forms.push_back(asked);
  return !result.reference.empty()
             ? ""
             : fmt::format("has the peer '{}', a form of its reference, but no 'reference'",
                           formName(asked));
}

bool isName(std::string_view text) {
  const auto isLetter = [](unsigned char c) { return std::isalnum(c) != 0 || c == '_'; };
  return !text.empty() && std::isdigit(static_cast<unsigned char>(text[0])) == 0 &&
         std::all_of(text.begin(), text.end(), isLetter);
}

std::string readSource(const std::string &text, const std::string &folder, ForeignPeer &peer) {
  const KernelReference reference = parseKernelReference(text);
  if (!isName(reference.function) || reference.path.empty()) {
    return fmt::format("expects a 'peer' of the form {}, or one of eager, compiled and graph, but "
                       "got '{}'",
                       form, text);
  }
  peer.path = folder + "/" + reference.path;
  peer.function = reference.function;
  return "";
}

/// A text or an integer.
std::optional<std::string> expressionOf(const toml::node &node) {
  if (auto text = node.value<std::string>()) {
    return text;
  }
  const auto integer = node.value_exact<int64_t>();
  return integer ? std::optional(std::to_string(*integer)) : std::nullopt;
}

std::optional<std::vector<std::string>> textsOf(const toml::node &node) {
  std::vector<std::string> texts;
  for (size_t i = 0; node.is_array() && i < node.as_array()->size(); ++i) {
    auto text = (*node.as_array())[i].value<std::string>();
    if (!text) {
      return std::nullopt;
    }
    texts.push_back(std::move(*text));
  }
  return node.is_array() ? std::optional(std::move(texts)) : std::nullopt;
}

std::string readShapes(const toml::node &node, ForeignPeer &peer) {
  const toml::table *table = node.as_table();
  if (!table) {
    return "expects a table for 'shapes' of its peer";
  }
  for (const auto &[name, value] : *table) {
    const auto text = expressionOf(value);
    if (!text) {
      return fmt::format("expects a text such as \"m, n\" for the shape of '{}'", name.str());
    }
    peer.shapes[std::string(name.str())] = *text;
  }
  return "";
}

/// One key of a peer's table.
std::string readKey(std::string_view key, const toml::node &value, const std::string &folder,
                    ForeignPeer &peer) {
  if (key == "source") {
    return readSource(value.value_or(std::string()), folder, peer);
  }
  if (key == "shapes") {
    return readShapes(value, peer);
  }
  for (const auto &[name, list] :
       {std::pair("args", &peer.arguments), std::pair("flags", &peer.flags)}) {
    if (key == name) {
      auto texts = textsOf(value);
      *list = texts.value_or(*list);
      return texts ? "" : fmt::format("expects a list of texts for '{}' of its peer", name);
    }
  }
  for (const auto &[name, place] :
       {std::pair("grid", &peer.grid), std::pair("threads", &peer.threads)}) {
    if (key == name) {
      auto text = expressionOf(value);
      *place = text.value_or("");
      return text ? "" : fmt::format("expects a text for '{}' of its peer", name);
    }
  }
  return fmt::format("has a peer with the key '{}', which is none of source, args, grid, threads, "
                     "shapes and flags",
                     key);
}

std::string readOne(const toml::node &node, const std::string &folder, KernelCase &result) {
  ForeignPeer peer;
  if (const auto text = node.value<std::string>()) {
    if (const auto asked = formOf(*text)) {
      return readForm(*asked, result);
    }
    std::string wrong = readSource(*text, folder, peer);
    result.foreignPeers.push_back(std::move(peer));
    return wrong;
  }
  const toml::table *table = node.as_table();
  if (!table) {
    return fmt::format("expects a 'peer' of the form {}, or a table", form);
  }
  const toml::node *source = table->get("source");
  // An output may have that name, and an operation for it is a call or a product.
  const bool isOperation =
      source && source->value_or(std::string()).find_first_of("(@") != std::string::npos;
  if (!source || isOperation) {
    for (const auto &[output, call] : *table) {
      result.peer[std::string(output.str())] = call.value_or(std::string());
    }
    return "";
  }
  for (const auto &[key, value] : *table) {
    if (std::string wrong = readKey(key.str(), value, folder, peer); !wrong.empty()) {
      return wrong;
    }
  }
  result.foreignPeers.push_back(std::move(peer));
  return "";
}

} // namespace

std::string readPeers(toml::node_view<const toml::node> node, const std::string &folder,
                      KernelCase &result) {
  if (!node) {
    return "";
  }
  const toml::array *list = node.as_array();
  if (!list) {
    return readOne(*node.node(), folder, result);
  }
  for (const toml::node &one : *list) {
    if (std::string wrong = readOne(one, folder, result); !wrong.empty()) {
      return wrong;
    }
  }
  return "";
}

} // namespace nereid::launch
