// SPDX-License-Identifier: Apache-2.0
// Tables of launches as JSON, see Table.h.
#include "lib/generator/launch/Table.h"

#include <nlohmann/json.hpp>

namespace nereid::generator {
namespace {

using Json = nlohmann::ordered_json;

constexpr std::string_view kinds[] = {"memory", "number", "size"};
constexpr std::string_view choiceKinds[] = {"block", "form", "held", "order", "option"};
constexpr std::string_view shares[] = {"each", "walked", "dealt", "joined"};
constexpr std::string_view forms[] = {"grid", "point", "whole", "looped"};

Json pairs(const std::vector<NamedExpression> &list) {
  Json result = Json::array();
  for (const NamedExpression &one : list) {
    result.push_back({{"name", one.name}, {"value", one.value}});
  }
  return result;
}

std::vector<NamedExpression> pairsFrom(const Json &list) {
  std::vector<NamedExpression> result;
  for (const Json &one : list) {
    result.push_back({one.at("name"), one.at("value")});
  }
  return result;
}

DType dtypeFrom(const Json &name) {
  std::optional<DType> dtype = parseDType(name.get<std::string>());
  if (!dtype) {
    throw Json::other_error::create(600, "unknown type " + name.dump(), nullptr);
  }
  return *dtype;
}

/// The enumerator of this name.
template <typename Enum, size_t count>
Enum enumerator(const std::string_view (&names)[count], const Json &name) {
  for (size_t i = 0; i < count; ++i) {
    if (name == names[i]) {
      return static_cast<Enum>(i);
    }
  }
  throw Json::other_error::create(601, "unknown kind " + name.dump(), nullptr);
}

Json choicesJson(const std::vector<LaunchChoice> &choices) {
  Json result = Json::array();
  for (const LaunchChoice &one : choices) {
    result.push_back({{"kind", choiceKinds[static_cast<size_t>(one.kind)]},
                      {"name", one.name},
                      {"constant", one.constant},
                      {"rule", one.rule},
                      {"least", one.least},
                      {"most", one.most},
                      {"naive", one.naive}});
  }
  return result;
}

std::vector<LaunchChoice> choicesFrom(const Json &list) {
  std::vector<LaunchChoice> result;
  for (const Json &one : list) {
    result.push_back({enumerator<LaunchChoice::Kind>(choiceKinds, one.at("kind")), one.at("name"),
                      one.at("constant"), one.at("rule"), one.at("least"), one.at("most"),
                      one.at("naive")});
  }
  return result;
}

Json dimsJson(const std::vector<LaunchDim> &dims) {
  Json result = Json::array();
  for (const LaunchDim &one : dims) {
    result.push_back({{"form", forms[static_cast<size_t>(one.form)]},
                      {"block", one.block},
                      {"group", one.group},
                      {"extent", one.extent}});
  }
  return result;
}

std::vector<LaunchDim> dimsFrom(const Json &list) {
  std::vector<LaunchDim> result;
  for (const Json &one : list) {
    result.push_back({enumerator<DimForm>(forms, one.at("form")), one.at("block"), one.at("group"),
                      one.at("extent")});
  }
  return result;
}

Json accessesJson(const std::vector<TileAccess> &accesses) {
  Json result = Json::array();
  for (const TileAccess &one : accesses) {
    result.push_back({{"bytes", one.bytes}, {"store", one.isStore}, {"dims", one.dims}});
    if (one.contiguous) {
      result.back()["contiguous"] = *one.contiguous;
    }
    if (one.walks > 1) {
      result.back()["walks"] = one.walks;
    }
  }
  return result;
}

std::vector<TileAccess> accessesFrom(const Json &list) {
  std::vector<TileAccess> result;
  for (const Json &one : list) {
    TileAccess access{one.at("bytes"), one.at("store"), one.at("dims").get<std::set<size_t>>(), {}};
    access.walks = one.value("walks", int64_t{1});
    if (one.contains("contiguous")) {
      access.contiguous = one.at("contiguous").get<size_t>();
    }
    result.push_back(std::move(access));
  }
  return result;
}

} // namespace

std::string toJson(const LaunchTable &table) {
  Json json = {{"dtype", kernelName(table.dtype)},
               {"symbols", table.symbols},
               {"derived", pairs(table.derived)}};
  json["strides"] = Json::array();
  for (const TableStride &one : table.strides) {
    json["strides"].push_back(
        {{"name", one.name}, {"buffer", one.buffer}, {"value", one.value}, {"dims", one.dims}});
  }
  json["workspaces"] = Json::array();
  for (const Workspace &one : table.workspaces) {
    json["workspaces"].push_back(
        {{"name", one.name}, {"dtype", kernelName(one.dtype)}, {"elements", one.elements}});
  }
  json["kernels"] = Json::array();
  for (const LaunchEntry &one : table.kernels) {
    Json arguments = Json::array();
    for (const LaunchArgument &argument : one.arguments) {
      arguments.push_back({{"kind", kinds[static_cast<size_t>(argument.kind)]},
                           {"name", argument.name},
                           {"dtype", kernelName(argument.dtype)},
                           {"value", argument.value}});
    }
    json["kernels"].push_back({{"function", one.function},
                               {"arguments", std::move(arguments)},
                               {"constexprs", pairs(one.constexprs)},
                               {"grid", one.grid},
                               {"role", one.role},
                               {"choices", choicesJson(one.choices)},
                               {"dims", dimsJson(one.dims)},
                               {"accesses", accessesJson(one.accesses)}});
    if (!one.tiles.empty()) {
      json["kernels"].back()["share"] = shares[static_cast<size_t>(one.share)];
      json["kernels"].back()["tiles"] = one.tiles;
    }
  }
  json["choices"] = choicesJson(table.choices);
  return json.dump(2) + "\n";
}

Result<LaunchTable> tableFromJson(const std::string &path, const std::string &text) {
  try {
    const Json json = Json::parse(text);
    LaunchTable table;
    table.dtype = dtypeFrom(json.at("dtype"));
    table.symbols = json.at("symbols").get<std::vector<std::string>>();
    table.derived = pairsFrom(json.at("derived"));
    for (const Json &one : json.at("strides")) {
      table.strides.push_back(
          {one.at("name"), one.at("buffer"), one.at("value"), one.at("dims").get<size_t>()});
    }
    for (const Json &one : json.at("workspaces")) {
      table.workspaces.push_back({one.at("name"), dtypeFrom(one.at("dtype")), one.at("elements")});
    }
    for (const Json &one : json.at("kernels")) {
      LaunchEntry entry{one.at("function"),
                        {},
                        pairsFrom(one.at("constexprs")),
                        one.at("grid"),
                        one.at("role"),
                        choicesFrom(one.at("choices")),
                        dimsFrom(one.at("dims")),
                        accessesFrom(one.at("accesses"))};
      if (one.contains("tiles")) {
        entry.share = enumerator<TileShare>(shares, one.at("share"));
        entry.tiles = one.at("tiles");
      }
      for (const Json &argument : one.at("arguments")) {
        entry.arguments.push_back({enumerator<StageArgument::Kind>(kinds, argument.at("kind")),
                                   argument.at("name"), dtypeFrom(argument.at("dtype")),
                                   argument.at("value")});
      }
      table.kernels.push_back(std::move(entry));
    }
    table.choices = choicesFrom(json.at("choices"));
    return table;
  } catch (const Json::exception &problem) {
    Diagnostic error = makeError("E0611", std::string("no launch table: ") + problem.what());
    error.file = path;
    return error;
  }
}

} // namespace nereid::generator
