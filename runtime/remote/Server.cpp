// SPDX-License-Identifier: Apache-2.0
#include "runtime/remote/Server.h"

#include "runtime/ThreadPool.h"
#include "runtime/cpu/CpuFeatures.h"
#include "runtime/remote/Arguments.h"

#include <map>

namespace nereid::runtime::remote {
namespace {

class Server {
public:
  Server(int input, int output) : input(input), output(output) {}

  int run() {
    if (!greet()) {
      return 1;
    }
    while (std::optional<std::vector<uint8_t>> content = receiveMessage(input)) {
      MessageReader message(*content);
      MessageWriter answer;
      switch (static_cast<Request>(message.number())) {
      case Request::Load:
        load(message, answer);
        break;
      case Request::Launch:
        launchOne(message, answer);
        break;
      case Request::Unload:
        kernels.erase(message.number());
        continue; // without an answer
      default:
        return 1;
      }
      if (!sendMessage(output, answer.content())) {
        return 1;
      }
    }
    return 0;
  }

private:
  bool greet() {
    MessageWriter message;
    message.text(greeting);
    message.text(cpuArchitecture());
    const std::vector<std::string> features = presentCpuFeatures();
    message.number(features.size());
    for (const std::string &feature : features) {
      message.text(feature);
    }
    return sendMessage(output, message.content());
  }

  /// Answer: code and message, both empty when it is loaded, and the kernel's number.
  void load(MessageReader &message, MessageWriter &answer) {
    Kernel kernel;
    kernel.info = readKernelInfo(message);
    const std::span<const uint8_t> object = message.bytes();
    const LaunchError error = message.failed()
                                  ? LaunchError{"E0414", "the message with the kernel is damaged"}
                                  : loadInto(kernel, object);
    answer.text(error.code);
    answer.text(error.message);
    answer.number(error ? 0 : lastNumber + 1);
    if (!error) {
      kernels.emplace(++lastNumber, std::move(kernel));
    }
  }

  LaunchError loadInto(Kernel &kernel, std::span<const uint8_t> object) {
    const std::string named = "kernel '" + kernel.info.name + "' ";
    std::string missing;
    for (const std::string &feature : missingCpuFeatures(kernel.info.features)) {
      missing += (missing.empty() ? "'" : ", '") + feature + "'";
    }
    if (!missing.empty()) {
      return {"E0305", named + "needs " + missing + ", which this " +
                           std::string(cpuArchitecture()) + " machine lacks"};
    }
    auto loaded = loadObject(object);
    if (const LaunchError *error = std::get_if<LaunchError>(&loaded)) {
      // What was received is damaged: that is no bug of this program.
      return {error->code == "E0390" ? "E0408" : error->code,
              named + "cannot be loaded: " + error->message};
    }
    kernel.code = std::get<std::shared_ptr<Module>>(std::move(loaded));
    kernel.entry = reinterpret_cast<KernelEntry>(kernel.code->symbol(kernel.info.name));
    return kernel.entry ? LaunchError{}
                        : LaunchError{"E0408", named + "is not in the object that has its code"};
  }

  /// Answer: code and message of the LaunchError, then the regions' content.
  void launchOne(MessageReader &message, MessageWriter &answer) {
    const auto found = kernels.find(message.number());
    Grid grid;
    for (int64_t &size : grid) {
      size = static_cast<int64_t>(message.number());
    }
    ReceivedArguments arguments;
    LaunchError error;
    const std::string problem = readArguments(message, arguments);
    if (found == kernels.end()) {
      error = {"E0408", "the runner has no such kernel"};
    } else if (!problem.empty()) {
      error = {"E0506", problem};
    } else {
      error = launch(found->second, grid, arguments.values, defaultPool());
    }
    answer.text(error.code);
    answer.text(error.message);
    answer.number(arguments.regions.size());
    for (const Region &region : arguments.regions) {
      answer.bytes({region.data, region.bytes});
    }
  }

  int input, output;
  std::map<uint64_t, Kernel> kernels;
  uint64_t lastNumber = 0;
};

} // namespace

int serve(int input, int output) { return Server(input, output).run(); }

} // namespace nereid::runtime::remote
