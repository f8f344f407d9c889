// SPDX-License-Identifier: Apache-2.0
// Runs programs as kernels, see RunProgram.h.
#include "unittests/generator/template/RunProgram.h"

#include "lib/check/Check.h"
#include "lib/pipeline/Compiler.h"
#include "lib/targets/Targets.h"
#include "runtime/ThreadPool.h"

namespace nereid::generator {
namespace {

using runtime::Tensor;

class Runner {
public:
  Runner(Program &program, const EvaluationInput &input, const RunOptions &options)
      : program(program), input(input), options(options) {}

  Result<std::map<std::string, std::vector<double>>> run() {
    auto made = makeKernels(program, "t");
    if (!made) {
      return made.error();
    }
    text = moduleText(made->kernels);
    auto read = tableFromJson("table", toJson(made->table)); // the file is all a launch needs
    if (!read || *read != made->table) {
      return makeError("E0611", "the table changes on its way through a file");
    }
    for (LaunchEntry &entry : read->kernels) {
      change(entry);
    }
    std::map<std::string, int64_t> sizes;
    for (size_t i = 0; i < read->symbols.size(); ++i) {
      sizes[read->symbols[i]] = input.sizes.at(i);
    }
    for (size_t i = 0; i < read->strides.size(); ++i) {
      sizes[read->strides[i].name] = input.sizes.at(read->symbols.size() + i);
    }
    auto launches = bindLaunch(*read, sizes, options.site, chosenForms(*read));
    auto elements = bindWorkspaces(*read, sizes, options.site, chosenForms(*read));
    if (!launches || !elements) {
      return failed(launches ? elements.error() : launches.error());
    }
    for (size_t i = 0; i < elements->size(); ++i) {
      workspaces[read->workspaces[i].name] = (*elements)[i];
    }
    makeTensors();
    for (size_t i = 0; i < launches->size(); ++i) {
      if ((*launches)[i].programs == 0) {
        continue;
      }
      if (Status status = launch(read->kernels[i], (*launches)[i]); !status) {
        return failed(status.error());
      }
    }
    std::map<std::string, std::vector<double>> results;
    for (const auto &[name, tensor] : tensors) {
      for (int64_t at = 0; at < tensor.elementCount(); ++at) {
        results[name].push_back(tensor.at(at));
      }
    }
    return results;
  }

private:
  /// Which of several forms the options want.
  ChosenValues chosenForms(const LaunchTable &table) const {
    ChosenValues chosen = options.chosen;
    for (const LaunchChoice &one : table.choices) {
      if (one.kind == LaunchChoice::Kind::Held && options.isLooped) {
        chosen.emplace(one.name, 0);
      } else if (one.name.ends_with(".SPLIT") && (options.isLooped || options.isSplit)) {
        chosen.emplace(one.name, options.isSplit);
      } else if (one.name.ends_with(".PERSISTENT") && options.isPersistent) {
        chosen.emplace(one.name, 1);
      } else if (one.name.ends_with(".STREAM_K") && options.isStreamed) {
        chosen.emplace(one.name, 1);
      }
    }
    return chosen;
  }

  void change(LaunchEntry &entry) const {
    const bool isLooped = entry.function.ends_with("_looped_kernel");
    for (NamedExpression &one : entry.constexprs) {
      const bool isWhole = (one.name == "BLOCK_R" && !isLooped) || one.name == "BLOCK_P" ||
                           one.name.starts_with("BLOCK_D") || one.name == "BLOCK_E" ||
                           one.name == "BLOCK_S" || one.name == "BLOCK_B" ||
                           one.name == "num_warps" || one.name == onDeviceName;
      if (one.name == "WIDE") {
        one.value = options.isWide ? "1" : one.value;
      } else if (one.name == "BLOCK_M" || one.name == "BLOCK_N" || one.name == "BLOCK_K") {
        one.value = options.hasSmallBlocks ? "16" : one.value; // the least
      } else if (options.hasSmallBlocks && !isWhole) {
        one.value = one.name == "BLOCK_Y" || one.name == "BLOCK_R" ? "4" : "2";
      }
    }
  }

  Diagnostic failed(Diagnostic error) const {
    error.message = render(error) + "\n" + text;
    return error;
  }

  void makeTensors() {
    const std::vector<int64_t> symbols = *program.space.symbols.bind(input.sizes);
    for (const Buffer &buffer : program.buffers) {
      if (buffer.base) {
        continue;
      }
      int64_t count = 1;
      for (size_t dim = 0; dim < buffer.sizes.size(); ++dim) {
        count +=
            (*buffer.sizes[dim].evaluate(symbols) - 1) * *buffer.strides[dim].evaluate(symbols);
      }
      if (auto workspace = workspaces.find(buffer.name); workspace != workspaces.end()) {
        count = workspace->second;
      }
      Tensor tensor = Tensor::empty({count}, buffer.dtype);
      tensor.poison();
      auto given = input.memory.find(buffer.name);
      for (int64_t at = 0; given != input.memory.end() && at < count; ++at) {
        tensor.set(at, given->second.at(static_cast<size_t>(at)));
      }
      if (given == input.memory.end()) {
        empty.insert(buffer.name);
      }
      tensors[buffer.name] = std::move(tensor);
    }
  }

  Status launch(const LaunchEntry &entry, const BoundLaunch &bound) {
    std::vector<runtime::ArgumentValue> values;
    std::set<std::string> emptyTensors;
    size_t size = 0;
    for (const LaunchArgument &argument : entry.arguments) {
      if (argument.kind == StageArgument::Kind::Memory) {
        values.emplace_back(&tensors.at(argument.value));
        if (empty.contains(argument.value)) {
          emptyTensors.insert(argument.name);
        }
      } else if (argument.kind == StageArgument::Kind::Number) {
        const double number = input.parameters.at(argument.value);
        values.emplace_back(isFloat(argument.dtype)
                                ? runtime::ArgumentValue(number)
                                : runtime::ArgumentValue(static_cast<int64_t>(number)));
      } else {
        values.emplace_back(bound.sizes[size++]);
      }
    }
    pipeline::CompileInput source{"t.py", bound.function, bound.signature, text};
    const runtime::Grid grid{bound.programs, 1, 1};
    Diagnostics diags;
    if (options.on == RunOn::Interpreter) {
      auto finding = check::firstFinding(source, grid, values, emptyTensors);
      // What an earlier kernel has written, a later one may read.
      for (const LaunchArgument &argument : entry.arguments) {
        empty.erase(argument.kind == StageArgument::Kind::Memory ? argument.value : "");
      }
      return !finding                 ? Status(finding.error())
             : !finding->text.empty() ? Status(makeError("E0390", finding->text))
                                      : Status(Done{});
    }
    static const bool isRegistered = (registerTargets(), true);
    auto kernel =
        isRegistered ? pipeline::compileKernel(source, {.useCache = false}, diags) : std::nullopt;
    if (!kernel) {
      return makeError("E0390", diags.render());
    }
    const runtime::LaunchError error =
        runtime::launch(*kernel, grid, values, runtime::defaultPool());
    return error ? Status(makeError(error.code, error.message)) : Status(Done{});
  }

  Program &program;
  const EvaluationInput &input;
  const RunOptions options;
  std::string text;
  std::map<std::string, Tensor> tensors;
  std::map<std::string, int64_t> workspaces; ///< their elements
  std::set<std::string> empty;               ///< buffers without contents
};

} // namespace

Result<std::map<std::string, std::vector<double>>>
run(Program &program, const EvaluationInput &input, const RunOptions &options) {
  return Runner(program, input, options).run();
}

} // namespace nereid::generator
