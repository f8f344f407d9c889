// SPDX-License-Identifier: Apache-2.0
// Kernels that share tiles, see TileShares.h.
#include "lib/generator/launch/TileShares.h"

#include "lib/generator/program/Names.h"
#include "lib/generator/template/Contract.h"

#include <fmt/format.h>

namespace nereid::generator {
namespace {

/// A sum that one turn of the loop makes cannot be dealt to several programs.
constexpr int64_t leastDealt = 64;

class Sharing {
public:
  Sharing(Program &program, const std::string &name, const std::vector<Store> &stores,
          StageKernel &kernel, std::vector<Contraction> contractions)
      : program(program), name(name), stores(stores), kernel(kernel),
        contractions(std::move(contractions)) {}

  Result<TileShares> run() {
    const std::string own = kernel.condition.empty() ? "" : kernel.condition + "*";
    const std::string walks = choose("PERSISTENT");
    const bool mayBeDealt =
        !program.space.symbols.isAtMost(extentOf({"", "", contractions[0].k}, program), leastDealt);
    const std::string deals = mayBeDealt ? choose("STREAM_K") : "0";
    kernel.hasOtherShares = true;
    kernel.condition = fmt::format("{}({} <= {})", own, walks, deals);
    Status added =
        add("persistent", TileShare::Walked, fmt::format("{}({} > {})", own, walks, deals));
    if (mayBeDealt) {
      kernel.lastDealtIf = deals;
      for (const Contraction &each : contractions) {
        parts.push_back(workspace(sumOf(each)));
        made.conditions[parts.back()] = own + deals;
      }
      added = added ? add("stream", TileShare::Dealt, own + deals) : added;
      added = added ? add("join", TileShare::Joined, own + deals) : added;
    }
    if (!added) {
      return added.error();
    }
    return std::move(made);
  }

private:
  /// A choice of this name, as a variable of expressions.
  std::string choose(const std::string &form) {
    made.choices.push_back(formChoice(kernel.role + "." + form, "0"));
    return choiceVariable(made.choices.back().name);
  }

  Status add(const std::string &word, TileShare share, std::string condition) {
    auto one = emitContract(program, fmt::format("{}_{}_kernel", name, word), stores, contractions,
                            share, parts);
    if (!one) {
      return one.error();
    }
    one->role = kernel.role;
    one->hasOtherShares = true;
    one->condition = std::move(condition);
    one->left = share == TileShare::Dealt ? parts : std::vector<BufferId>();
    made.kernels.push_back(std::move(*one));
    return Done{};
  }

  /// As large as the launch table says.
  BufferId workspace(DType dtype) {
    Buffer buffer;
    buffer.name = freeName(program, "sums");
    buffer.dtype = dtype;
    buffer.role = BufferRole::Temporary;
    buffer.sizes = {1};
    buffer.strides = {1};
    return program.add(std::move(buffer));
  }

  Program &program;
  const std::string &name;
  const std::vector<Store> &stores;
  StageKernel &kernel;
  const std::vector<Contraction> contractions;
  std::vector<BufferId> parts;
  TileShares made;
};

} // namespace

Result<TileShares> tileSharesOf(Program &program, const std::string &name,
                                const std::vector<Store> &stores, StageKernel &kernel) {
  std::vector<Contraction> found = contractionsOf(program, stores);
  return found.empty() ? Result<TileShares>(TileShares())
                       : Sharing(program, name, stores, kernel, std::move(found)).run();
}

} // namespace nereid::generator
