// SPDX-License-Identifier: Apache-2.0
// `nereid import MODEL.onnx`: nodes of a model as a definition, which the other commands take.
#include "lib/cli/Command.h"
#include "lib/cli/models/ModelInput.h"
#include "lib/importer/body/ImportNodes.h"
#include "lib/importer/body/Names.h"
#include "lib/importer/shapes/Inference.h"
#include "lib/support/AtomicFile.h"

#include <CLI/CLI.hpp>
#include <fmt/format.h>
#include <nlohmann/json.hpp>

#include <filesystem>
#include <memory>

namespace nereid::cli {
namespace {

struct Options {
  std::string model, nodes, output, name;
  std::vector<std::string> sizes;
};

std::string nameFor(const Options &options) {
  const std::filesystem::path path = options.output.empty() ? options.model : options.output;
  return options.name.empty() ? importer::identifierOf(path.stem().string()) : options.name;
}

void importModel(const Options &options, Session &session) {
  const std::string name = nameFor(options);
  if (importer::identifierOf(name) != name) {
    return session.fail(
        makeError("E0013", fmt::format("'{}' cannot be the name of an operator", name))
            .withHelp("--name with letters, digits and '_', which is no word of Python or C++"));
  }
  Diagnostics diags;
  auto sizes = readSizes(options.sizes);
  if (!sizes) {
    return session.fail(sizes.error());
  }
  auto model = importer::readModel(options.model, diags);
  if (!model) {
    return session.fail(diags);
  }
  // Names of sizes stay: checked against a copy that has them bound.
  importer::Model bound = *model;
  if (auto known = importer::bindSizes(bound, *sizes); !known) {
    return session.fail(known.error());
  }
  (void)importer::bindSizes(*model, {});
  importer::inferShapes(*model, diags);
  if (diags.hasErrors()) {
    return session.fail(diags);
  }
  auto nodes = importer::selectNodes(*model, options.nodes);
  if (!nodes) {
    return session.fail(nodes.error());
  }
  auto definition = importer::importNodes(*model, *nodes, name, *sizes, diags);
  if (!definition) {
    diags.add(definition.error());
    return session.fail(diags);
  }
  const std::string path = options.output.empty() ? name + ".toml" : options.output;
  if (auto written = writeFileAtomically(path, definition->text); !written) {
    return session.fail(written.error());
  }
  if (session.json) {
    const nlohmann::ordered_json json = {
        {"definition", path}, {"operator", name}, {"nodes", nodes->size()}};
    fmt::print("{}\n", json.dump(2));
    return;
  }
  fmt::print("{}: {} of {} nodes of {}\nNext: nereid develop {}\n", path, nodes->size(),
             model->nodes.size(), options.model, path);
}

} // namespace

void addImport(CLI::App &app, Session &session) {
  auto options = std::make_shared<Options>();
  CLI::App *command =
      app.add_subcommand("import", "nodes of an ONNX model as the definition of an operator");
  command->add_option("model", options->model, "MODEL.onnx")->required();
  command
      ->add_option("--nodes", options->nodes,
                   "FIRST..LAST, or NODE,NODE…: numbers or names; default: all")
      ->type_name("NODES");
  command->add_option("--name", options->name, "of the operator; default: that of the file");
  command
      ->add_option("--size", options->sizes,
                   "of a dimension that the model leaves open, for the case that is timed, NAME=N; "
                   "may be repeated")
      ->allow_extra_args(false)
      ->type_name("NAME=N");
  command->add_option("-o,--output", options->output, "DEF.toml; default: the operator's name");
  command->callback([options, &session] { importModel(*options, session); });
}

} // namespace nereid::cli
