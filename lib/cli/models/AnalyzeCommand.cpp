// SPDX-License-Identifier: Apache-2.0
// `nereid analyze MODEL.onnx`: what a model consists of, what each node moves and computes, what
// holds it back on a chip, and what fusing would gain.
#include "lib/cli/Command.h"
#include "lib/cli/models/AnalyzeReport.h"
#include "lib/cli/models/ModelInput.h"
#include "lib/document/CostModel.h"
#include "lib/importer/shapes/Inference.h"
#include "lib/measure/peaks/ThisChip.h"

#include <CLI/CLI.hpp>
#include <fmt/format.h>

#include <memory>

namespace nereid::cli {
namespace {

struct Options {
  std::string model, chip;
  std::vector<std::string> sizes;
  int top = 5;
  bool listsNodes = false;
};

/// Of the file, or this machine's.
Result<Machine> chipFor(const std::string &file) {
  if (file.empty()) {
    return measure::thisChip();
  }
  auto chip = loadMachine(file);
  if (!chip) {
    return chip;
  }
  const auto &architecture = chip->architecture;
  chip->isDevice =
      architecture != "x86-64" && architecture != "aarch64" && architecture != "riscv64";
  if (!document::hasModel(*chip)) {
    return makeError("E0701", fmt::format("'{}' has no rates of memory and arithmetic, which "
                                          "expected times need",
                                          file))
        .withHelp("name a descriptor with rates, or leave --chip out for this machine's");
  }
  return chip;
}

void analyze(const Options &options, Session &session) {
  Diagnostics diags;
  auto model = loadModel(options.model, options.sizes, diags);
  if (!model) {
    return session.fail(diags);
  }
  if (auto open = importer::findOpenSize(*model)) {
    return session.fail(*open);
  }
  ModelAnalysis analysis;
  analysis.costs = importer::countCosts(*model, diags);
  if (diags.hasErrors()) {
    return session.fail(diags);
  }
  auto chip = chipFor(options.chip);
  if (!chip) {
    return session.fail(chip.error());
  }
  analysis.chip = importer::chipOfModels(std::move(*chip));
  addSeconds(analysis.chip, analysis.costs);
  analysis.fusions = importer::findFusions(*model, analysis.costs);
  addSeconds(analysis.chip, analysis.costs, analysis.fusions);
  analysis.model = std::move(*model);
  fmt::print("{}", session.json ? analysisJson(analysis, options.top)
                                : analysisText(analysis, options.top, options.listsNodes));
}

} // namespace

void addAnalyze(CLI::App &app, Session &session) {
  auto options = std::make_shared<Options>();
  CLI::App *command = app.add_subcommand(
      "analyze", "an ONNX model: operators, operations, bytes, limits, what fusing would gain");
  command->add_option("model", options->model, "MODEL.onnx")->required();
  command->add_option("--chip", options->chip, "descriptor of the chip; default: this machine");
  command
      ->add_option("--size", options->sizes,
                   "of a dimension that the model leaves open, NAME=N; "
                   "may be repeated")
      ->allow_extra_args(false)
      ->type_name("NAME=N");
  command->add_option("--top", options->top, "length of each list of nodes; default: 5")
      ->check(CLI::Range(0, 1000000))
      ->type_name("N");
  command->add_flag("--nodes", options->listsNodes, "and every node of the model");
  command->callback([options, &session] { analyze(*options, session); });
}

} // namespace nereid::cli
