// SPDX-License-Identifier: Apache-2.0
#include "lib/cli/models/AnalyzeReport.h"

#include "lib/report/Table.h"

#include <fmt/format.h>
#include <fmt/ranges.h>
#include <nlohmann/json.hpp>

#include <algorithm>
#include <map>

namespace nereid::cli {

using importer::FusionGroup;
using importer::Model;
using importer::Node;
using importer::NodeCost;
using importer::OperatorKind;
using report::formatBytes;
using report::formatCount;
using report::formatPercent;
using report::formatSeconds;

namespace {

/// Nodes of one operator together.
struct OperatorSum {
  size_t nodes = 0;
  OperatorKind kind = OperatorKind::Free;
  definition::Work work;
  double seconds = 0;
};

struct Sums {
  std::map<std::string, OperatorSum> operators;
  definition::Work work;
  double seconds = 0, fusedSeconds = 0, fusedBytes = 0;
  double parameterBytes = 0, parameters = 0;
  DType type = DType::F32; ///< that most operations are in
};

void add(definition::Work &sum, const definition::Work &work) {
  sum.bytesRead += work.bytesRead;
  sum.bytesWritten += work.bytesWritten;
  sum.flops += work.flops;
}

Sums sumsOf(const ModelAnalysis &analysis) {
  Sums sums;
  std::map<DType, double> flopsOf;
  for (size_t i = 0; i < analysis.costs.size(); ++i) {
    const NodeCost &cost = analysis.costs[i];
    OperatorSum &sum = sums.operators[analysis.model.nodes[i].op];
    sum.kind = cost.kind;
    ++sum.nodes;
    add(sum.work, cost.work);
    add(sums.work, cost.work);
    sum.seconds += cost.seconds;
    sums.seconds += cost.seconds;
    flopsOf[cost.type] += cost.work.flops;
  }
  double most = 0;
  for (const auto &[type, flops] : flopsOf) {
    sums.type = flops > most ? type : sums.type;
    most = std::max(most, flops);
  }
  sums.fusedSeconds = sums.seconds;
  sums.fusedBytes = sums.work.bytes();
  for (const FusionGroup &group : analysis.fusions) {
    sums.fusedSeconds -= group.secondsApart - group.secondsFused;
    sums.fusedBytes -= group.savedBytes();
  }
  for (const auto &[name, tensor] : analysis.model.initialisers) {
    sums.parameters += static_cast<double>(tensor.count());
    sums.parameterBytes += static_cast<double>(tensor.count()) * tensor.type.bytes();
  }
  return sums;
}

/// FLOP per byte at which arithmetic and memory take equally long.
double ridgeOf(const Machine &chip, DType type) { return chip.peakFor(type) / chip.copyBandwidth; }

std::string intensityText(const definition::Work &work) {
  return work.bytes() > 0 ? fmt::format("{:.2f}", work.intensity()) : "-";
}

std::string nodeName(const Node &node) {
  return fmt::format("{} {}", node.number, node.name.empty() ? node.outputs[0] : node.name);
}

std::string shapesOf(const Model &model, const std::vector<std::string> &names) {
  std::vector<std::string> shapes;
  for (const std::string &name : names) {
    const importer::Value *value = name.empty() ? nullptr : model.value(name);
    shapes.push_back(value && value->shape ? importer::text(*value->shape) : "?");
  }
  return fmt::format("{}", fmt::join(shapes, " "));
}

std::string headText(const ModelAnalysis &analysis, const Sums &sums) {
  const Model &model = analysis.model;
  std::string text = fmt::format("{}: {} nodes, operator set {}{}, {} parameters ({})\n",
                                 model.path, model.nodes.size(), model.opset,
                                 model.producer.empty() ? "" : ", by " + model.producer,
                                 formatCount(sums.parameters), formatBytes(sums.parameterBytes));
  for (const importer::Value &input : model.inputs) {
    text += fmt::format("  input  {} {} {}\n", input.name, importer::text(*input.shape),
                        input.type.name());
  }
  for (const std::string &name : model.outputs) {
    const importer::Value *value = model.value(name);
    text += fmt::format("  output {} {} {}\n", name,
                        value && value->shape ? importer::text(*value->shape) : "?",
                        value ? value->type.name() : "");
  }
  return text;
}

std::string operatorTable(const Sums &sums) {
  std::vector<std::pair<std::string, OperatorSum>> rows(sums.operators.begin(),
                                                        sums.operators.end());
  std::stable_sort(rows.begin(), rows.end(), [](const auto &a, const auto &b) {
    return a.second.seconds > b.second.seconds;
  });
  report::Table table({"operator", "kind", ">nodes", ">FLOP", ">read", ">written", ">FLOP/B",
                       ">expected", ">share"});
  auto addRow = [&](const std::string &name, const OperatorSum &sum) {
    table.add({name, std::string(kindName(sum.kind)), std::to_string(sum.nodes),
               formatCount(sum.work.flops), formatBytes(sum.work.bytesRead),
               formatBytes(sum.work.bytesWritten), intensityText(sum.work),
               formatSeconds(sum.seconds),
               sums.seconds > 0 ? formatPercent(sum.seconds / sums.seconds) : "-"});
  };
  OperatorSum all;
  for (const auto &[name, sum] : rows) {
    addRow(name, sum);
    all.nodes += sum.nodes;
  }
  table.add({"all", "", std::to_string(all.nodes), formatCount(sums.work.flops),
             formatBytes(sums.work.bytesRead), formatBytes(sums.work.bytesWritten),
             intensityText(sums.work), formatSeconds(sums.seconds), ""});
  return table.text();
}

/// Nodes that the same limit holds back, those that take longest first.
std::vector<size_t> longest(const ModelAnalysis &analysis, bool isMemoryBound, int top) {
  std::vector<size_t> nodes;
  for (size_t i = 0; i < analysis.costs.size(); ++i) {
    const NodeCost &cost = analysis.costs[i];
    if (cost.seconds > 0 && cost.isMemoryBound() == isMemoryBound) {
      nodes.push_back(i);
    }
  }
  std::stable_sort(nodes.begin(), nodes.end(), [&](size_t a, size_t b) {
    return analysis.costs[a].seconds > analysis.costs[b].seconds;
  });
  nodes.resize(std::min(nodes.size(), static_cast<size_t>(top)));
  return nodes;
}

std::string nodeTable(const ModelAnalysis &analysis, const std::vector<size_t> &nodes,
                      const Sums &sums) {
  report::Table table({"node", "operator", "inputs", "result", ">FLOP", ">bytes", ">FLOP/B",
                       ">expected", ">share"});
  for (size_t i : nodes) {
    const Node &node = analysis.model.nodes[i];
    const NodeCost &cost = analysis.costs[i];
    table.add({nodeName(node), node.op, shapesOf(analysis.model, node.inputs),
               shapesOf(analysis.model, node.outputs), formatCount(cost.work.flops),
               formatBytes(cost.work.bytes()), intensityText(cost.work),
               formatSeconds(cost.seconds),
               sums.seconds > 0 ? formatPercent(cost.seconds / sums.seconds) : "-"});
  }
  return table.text();
}

std::string fusionText(const ModelAnalysis &analysis, int top, const Sums &sums) {
  if (analysis.fusions.empty()) {
    return "\nFusion: no nodes that one kernel could compute\n";
  }
  report::Table table(
      {"nodes", "operators", ">saved", ">apart", ">together", ">expected gain", "because of"});
  for (size_t i = 0; i < analysis.fusions.size() && i < static_cast<size_t>(top); ++i) {
    const FusionGroup &group = analysis.fusions[i];
    const Node &first = analysis.model.nodes[group.nodes.front()];
    const Node &last = analysis.model.nodes[group.nodes.back()];
    table.add({fmt::format("{}..{}", first.number, last.number), describe(analysis.model, group),
               formatBytes(group.savedBytes()), formatSeconds(group.secondsApart),
               formatSeconds(group.secondsFused),
               report::formatRatio(group.secondsApart / group.secondsFused),
               std::string(text(group.reason))});
  }
  return fmt::format(
      "\nFusion: {} groups of nodes that one kernel could compute{}\n{}"
      "All of them: {} of {} less, {} instead of {} ({})\n",
      analysis.fusions.size(),
      analysis.fusions.size() > static_cast<size_t>(top)
          ? fmt::format(", the {} that gain most", top)
          : "",
      table.text(), formatBytes(sums.work.bytes() - sums.fusedBytes),
      formatBytes(sums.work.bytes()), formatSeconds(sums.fusedSeconds), formatSeconds(sums.seconds),
      sums.fusedSeconds > 0 ? report::formatRatio(sums.seconds / sums.fusedSeconds) : "-");
}

nlohmann::ordered_json workJson(const definition::Work &work) {
  return {{"flops", work.flops},
          {"bytes_read", work.bytesRead},
          {"bytes_written", work.bytesWritten},
          {"intensity", work.intensity()}};
}

nlohmann::ordered_json nodeJson(const ModelAnalysis &analysis, size_t i) {
  const Node &node = analysis.model.nodes[i];
  const NodeCost &cost = analysis.costs[i];
  const importer::Value *result = analysis.model.value(node.outputs[0]);
  double parameterBytes = 0;
  for (const std::string &input : node.inputs) {
    parameterBytes += analysis.model.initialiser(input) ? bytesOf(analysis.model, input) : 0;
  }
  nlohmann::ordered_json json = {{"node", node.number},
                                 {"name", node.name},
                                 {"operator", node.op},
                                 {"kind", kindName(cost.kind)},
                                 {"type", result ? result->type.name() : ""},
                                 {"inputs", shapesOf(analysis.model, node.inputs)},
                                 {"outputs", shapesOf(analysis.model, node.outputs)},
                                 {"parameter_bytes", parameterBytes}};
  json.update(workJson(cost.work));
  json["expected_seconds"] = cost.seconds;
  json["bound"] = cost.seconds <= 0 ? "" : cost.isMemoryBound() ? "memory" : "compute";
  return json;
}

} // namespace

std::string analysisText(const ModelAnalysis &analysis, int top, bool listsNodes) {
  const Sums sums = sumsOf(analysis);
  const Machine &chip = analysis.chip;
  std::string text = headText(analysis, sums) + "\n" + operatorTable(sums);
  text += fmt::format("\nRidge of {}: {:.1f} FLOP/B in {}, {} and {}; a launch for each node\n",
                      chip.name, ridgeOf(chip, sums.type), torchName(sums.type),
                      report::formatFlops(chip.peakFor(sums.type)),
                      report::formatRate(chip.copyBandwidth));
  for (const bool isMemoryBound : {false, true}) {
    const auto nodes = longest(analysis, isMemoryBound, top);
    const char *title = isMemoryBound ? "Memory-bound" : "Compute-bound";
    text += nodes.empty() ? fmt::format("\n{}: none\n", title)
                          : fmt::format("\n{}, the {} that take longest\n{}", title, nodes.size(),
                                        nodeTable(analysis, nodes, sums));
  }
  text += fusionText(analysis, top, sums);
  if (listsNodes) {
    std::vector<size_t> all(analysis.costs.size());
    for (size_t i = 0; i < all.size(); ++i) {
      all[i] = i;
    }
    text += "\nNodes\n" + nodeTable(analysis, all, sums);
  }
  return text;
}

std::string analysisJson(const ModelAnalysis &analysis, int top) {
  const Sums sums = sumsOf(analysis);
  const Model &model = analysis.model;
  nlohmann::ordered_json json = {{"model", model.path},
                                 {"producer", model.producer},
                                 {"operator_set", model.opset},
                                 {"chip", analysis.chip.name},
                                 {"ridge", ridgeOf(analysis.chip, sums.type)},
                                 {"ridge_type", torchName(sums.type)},
                                 {"parameters", sums.parameters},
                                 {"parameter_bytes", sums.parameterBytes}};
  json["all"] = workJson(sums.work);
  json["all"]["expected_seconds"] = sums.seconds;
  json["all"]["fused_bytes"] = sums.fusedBytes;
  json["all"]["fused_expected_seconds"] = sums.fusedSeconds;
  for (const auto &[name, sum] : sums.operators) {
    nlohmann::ordered_json row = {
        {"operator", name}, {"kind", kindName(sum.kind)}, {"nodes", sum.nodes}};
    row.update(workJson(sum.work));
    row["expected_seconds"] = sum.seconds;
    json["operators"].push_back(std::move(row));
  }
  for (const bool isMemoryBound : {false, true}) {
    auto &list = json[isMemoryBound ? "memory_bound" : "compute_bound"];
    list = nlohmann::ordered_json::array();
    for (size_t i : longest(analysis, isMemoryBound, top)) {
      list.push_back(model.nodes[i].number);
    }
  }
  json["fusions"] = nlohmann::ordered_json::array();
  for (const FusionGroup &group : analysis.fusions) {
    std::vector<int64_t> numbers;
    for (size_t i : group.nodes) {
      numbers.push_back(model.nodes[i].number);
    }
    json["fusions"].push_back({{"nodes", numbers},
                               {"operators", describe(model, group)},
                               {"reason", text(group.reason)},
                               {"saved_bytes", group.savedBytes()},
                               {"seconds_apart", group.secondsApart},
                               {"seconds_fused", group.secondsFused}});
  }
  json["nodes"] = nlohmann::ordered_json::array();
  for (size_t i = 0; i < model.nodes.size(); ++i) {
    json["nodes"].push_back(nodeJson(analysis, i));
  }
  return json.dump(2, ' ', false, nlohmann::ordered_json::error_handler_t::replace) + "\n";
}

} // namespace nereid::cli
