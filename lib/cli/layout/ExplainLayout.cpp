// SPDX-License-Identifier: Apache-2.0
// `nereid explain-layout`: which thread holds which element of a kernel's tiles, in which bank of
// shared memory it lies; the same of a layout that is written by hand.
#include "lib/cli/Command.h"
#include "lib/cli/layout/LayoutReport.h"
#include "lib/cli/process/StandardStreams.h"
#include "lib/launch/KernelReference.h"
#include "lib/layout/LayoutText.h"
#include "lib/pipeline/Compiler.h"

#include <CLI/CLI.hpp>
#include <fmt/format.h>
#include <nlohmann/json.hpp>

#include <set>

namespace nereid::cli {
namespace {

struct Options {
  std::string kernel, signature, target, chip;
  std::string layout, shape, places;
  int64_t elementBytes = 4;
  LayoutReportOptions report;
};

Result<HandLayout> readHand(const Options &options) {
  auto shape = layout::parseShape(options.shape);
  if (!shape) {
    return shape.error();
  }
  auto layout = layout::parseLayout(options.layout, *shape);
  if (!layout) {
    return layout.error();
  }
  auto places = options.places.empty()
                    ? Result(layout::rowMajorPlaces(*shape, options.elementBytes))
                    : layout::parsePlaces(options.places, *shape);
  if (!places) {
    return places.error();
  }
  return HandLayout{std::move(*layout), options.elementBytes, std::move(*places)};
}

void explainHand(const Options &options, Session &session) {
  auto hand = readHand(options);
  if (!hand) {
    return session.fail(hand.error());
  }
  fmt::print("{}", session.json ? handJson(*hand).dump(2) + "\n"
                                : handText(*hand, options.report.corner));
}

/// A line of the source at which no tile is made, with those where some are.
std::optional<Diagnostic> lineWithoutTiles(const pipeline::TileLayouts &layouts, int line) {
  std::set<int> lines;
  for (const pipeline::TileValue &value : layouts.values) {
    lines.insert(value.place.line);
  }
  for (const pipeline::SharedAccess &access : layouts.accesses) {
    lines.insert(access.place.line);
  }
  lines.erase(0);
  if (line == 0 || lines.contains(line)) {
    return std::nullopt;
  }
  const std::string where = fmt::format("{}", fmt::join(lines, ", "));
  return makeError("E0013",
                   fmt::format("--line: '{}' has no tile at line {}", layouts.kernel, line))
      .withHelp(lines.empty() ? "all its values are scalars" : "there are tiles at lines " + where);
}

void explainKernel(const Options &options, Session &session) {
  const launch::KernelReference file = launch::parseKernelReference(options.kernel);
  const pipeline::CompileInput input{.path = file.path,
                                     .function = file.function,
                                     .signature = options.signature,
                                     .importPaths = session.importPaths};
  pipeline::CompileOptions compile;
  compile.target = options.target;
  compile.chip = options.chip;
  compile.layouts = true;
  Diagnostics diags;
  auto output = pipeline::compile(input, compile, diags);
  if (!output) {
    return session.fail(diags);
  }
  printWarnings(diags);
  if (auto nothing = lineWithoutTiles(output->layouts, options.report.line)) {
    return session.fail(*nothing);
  }
  fmt::print("{}", session.json ? layoutsJson(output->layouts, options.report.line).dump(2) + "\n"
                                : layoutsText(output->layouts, options.report));
}

/// What goes with a kernel, and what with a layout by hand.
std::optional<Diagnostic> misusedOption(const Options &options, const CLI::App &command) {
  const bool isHand = !options.layout.empty();
  if (isHand == !options.kernel.empty()) {
    return makeError("E0013", "explain-layout takes either a kernel or --layout")
        .withHelp("nereid explain-layout FILE.py --signature \"…\" --target …, or "
                  "--layout \"registers 1 2, lanes 4 8 16 32 64\" --shape 128");
  }
  const std::vector<std::string> ofKernel = {"--signature", "--target", "--chip", "--line",
                                             "--import-path"};
  const std::vector<std::string> ofHand = {"--shape", "--places", "--element-bytes"};
  for (const std::string &name : isHand ? ofKernel : ofHand) {
    if (command.count(name) > 0) {
      return makeError("E0013", fmt::format("{} goes with {}", name,
                                            isHand ? "a kernel, not with --layout"
                                                   : "--layout, not with a kernel"));
    }
  }
  const char *missing = isHand                   ? (options.shape.empty() ? "--shape" : nullptr)
                        : options.target.empty() ? "--target"
                                                 : nullptr;
  if (missing) {
    return makeError("E0013", fmt::format("explain-layout needs {}", missing))
        .withHelp(isHand ? "--shape 64x32 says which tile the layout is of"
                         : "name the target, of whose threads the layouts are");
  }
  return std::nullopt;
}

} // namespace

void addExplainLayout(CLI::App &app, Session &session) {
  auto options = std::make_shared<Options>();
  CLI::App *command = app.add_subcommand(
      "explain-layout", "which thread of a GPU's program holds which element of a kernel's tiles, "
                        "and in which bank of shared memory it lies");
  command->add_option("kernel", options->kernel, "FILE.py[:function]");
  command->add_option("--signature,-s", options->signature, "types, e.g. \"*fp32:16, i32, 1024\"");
  command->add_option("--target", options->target, "whose threads: nvidia:sm_90a");
  command->add_option("--chip", options->chip, chipHelp);
  command->add_option("--line", options->report.line, "only what stands at this line of the source")
      ->check(CLI::Range(1, 1 << 30));
  command->add_option("--rows", options->report.corner.rows, "of a tile that pictures show")
      ->check(CLI::Range(1, 1024))
      ->capture_default_str();
  command->add_option("--columns", options->report.corner.columns, "of a tile that pictures show")
      ->check(CLI::Range(1, 1024))
      ->capture_default_str();
  command->add_option("--layout", options->layout,
                      "instead of a kernel: a layout by hand, \"registers 1 2, lanes 4 8 16 32 64, "
                      "warps 128 256\", or as --to prints it");
  command->add_option("--shape", options->shape, "of the tile of --layout, e.g. 16x32");
  command->add_option("--element-bytes", options->elementBytes, "of its elements in shared memory")
      ->check(CLI::IsMember({1, 2, 4, 8}))
      ->capture_default_str();
  command->add_option("--places", options->places,
                      "the byte for each bit of an element's number, if not row by row: a swizzle");
  addImportPaths(*command, session);
  command->callback([options, command, &session] {
    if (auto misused = misusedOption(*options, *command)) {
      return session.fail(*misused);
    }
    options->layout.empty() ? explainKernel(*options, session) : explainHand(*options, session);
  });
}

} // namespace nereid::cli
