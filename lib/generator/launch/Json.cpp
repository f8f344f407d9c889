// SPDX-License-Identifier: Apache-2.0
// Tables of launches as JSON, see Table.h.
#include "lib/generator/launch/Table.h"

#include <nlohmann/json.hpp>

namespace nereid::generator {
namespace {

using Json = nlohmann::ordered_json;

constexpr std::string_view kinds[] = {"memory", "number", "size"};

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

StageArgument::Kind kindFrom(const Json &name) {
  for (size_t i = 0; i < std::size(kinds); ++i) {
    if (name == kinds[i]) {
      return static_cast<StageArgument::Kind>(i);
    }
  }
  throw Json::other_error::create(601, "unknown kind " + name.dump(), nullptr);
}

} // namespace

std::string toJson(const LaunchTable &table) {
  Json json = {{"symbols", table.symbols}, {"derived", pairs(table.derived)}};
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
                               {"grid", one.grid}});
  }
  return json.dump(2) + "\n";
}

Result<LaunchTable> tableFromJson(const std::string &path, const std::string &text) {
  try {
    const Json json = Json::parse(text);
    LaunchTable table;
    table.symbols = json.at("symbols").get<std::vector<std::string>>();
    table.derived = pairsFrom(json.at("derived"));
    for (const Json &one : json.at("workspaces")) {
      table.workspaces.push_back({one.at("name"), dtypeFrom(one.at("dtype")), one.at("elements")});
    }
    for (const Json &one : json.at("kernels")) {
      LaunchEntry entry{one.at("function"), {}, pairsFrom(one.at("constexprs")), one.at("grid")};
      for (const Json &argument : one.at("arguments")) {
        entry.arguments.push_back({kindFrom(argument.at("kind")), argument.at("name"),
                                   dtypeFrom(argument.at("dtype")), argument.at("value")});
      }
      table.kernels.push_back(std::move(entry));
    }
    return table;
  } catch (const Json::exception &problem) {
    Diagnostic error = makeError("E0611", std::string("no launch table: ") + problem.what());
    error.file = path;
    return error;
  }
}

} // namespace nereid::generator
