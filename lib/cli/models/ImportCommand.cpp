// SPDX-License-Identifier: Apache-2.0
// `nereid import`: nodes of an ONNX model, or a function of MLIR's linalg, as a definition, which
// the other commands take.
#include "lib/cli/Command.h"
#include "lib/cli/models/ModelInput.h"
#include "lib/importer/body/ImportNodes.h"
#include "lib/importer/body/Names.h"
#include "lib/importer/linalg/ImportLinalg.h"
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

void finish(const Options &options, const importer::ImportedDefinition &definition,
            const std::string &what, size_t nodes, Session &session) {
  const std::string path = options.output.empty() ? definition.name + ".toml" : options.output;
  if (auto written = writeFileAtomically(path, definition.text); !written) {
    return session.fail(written.error());
  }
  if (session.json) {
    const nlohmann::ordered_json json = {
        {"definition", path}, {"operator", definition.name}, {"nodes", nodes}};
    fmt::print("{}\n", json.dump(2));
    return;
  }
  fmt::print("{}: {}\nNext: nereid develop {}\n", path, what, path);
}

/// A function of a file of MLIR.
void importMlir(const Options &options, const std::string &name, Session &session) {
  auto sizes = readSizes(options.sizes);
  if (!sizes) {
    return session.fail(sizes.error());
  }
  auto text = readTextFile(options.model);
  if (!text) {
    return session.fail(text.error());
  }
  Diagnostics diags;
  auto definition =
      importer::importLinalg(options.model, *text, options.nodes, name, *sizes, diags);
  if (!definition) {
    diags.add(definition.error());
    return session.fail(diags);
  }
  finish(options, *definition, "a function of " + options.model, 1, session);
}

void importModel(const Options &options, Session &session) {
  const std::string name = nameFor(options);
  if (importer::identifierOf(name) != name) {
    return session.fail(
        makeError("E0013", fmt::format("'{}' cannot be the name of an operator", name))
            .withHelp("--name with letters, digits and '_', which is no word of Python or C++"));
  }
  if (std::filesystem::path(options.model).extension() == ".mlir") {
    return importMlir(options, name, session);
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
  finish(options, *definition,
         fmt::format("{} of {} nodes of {}", nodes->size(), model->nodes.size(), options.model),
         nodes->size(), session);
}

} // namespace

void addImport(CLI::App &app, Session &session) {
  auto options = std::make_shared<Options>();
  CLI::App *command = app.add_subcommand(
      "import",
      "nodes of an ONNX model, or a function of linalg, as the definition of an operator");
  command->add_option("model", options->model, "MODEL.onnx, or FILE.mlir with linalg on tensors")
      ->required();
  command
      ->add_option("--nodes", options->nodes,
                   "FIRST..LAST, or NODE,NODE…: numbers or names; default: all. Of MLIR: the "
                   "function's name")
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
