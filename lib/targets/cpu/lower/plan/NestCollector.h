// SPDX-License-Identifier: Apache-2.0
// Collects the roots of a block into nests, in program order. The lowering builds its nests by it,
// and cpu-pipeline-rows asks it in advance which nest a delayed store would join.
#pragma once

#include "lib/targets/cpu/lower/plan/FusionPlan.h"

#include <functional>
#include <string_view>

namespace nereid::cpu {

class NestCollector {
public:
  /// Told of each nest's roots when it is complete; the collector is empty then.
  using Build = std::function<void(llvm::ArrayRef<FusionRoot>)>;
  NestCollector(const FusionPlan &plan, Build build)
      : plan(plan), pending(plan), build(std::move(build)) {}

  const GroupState &group() const { return pending; }
  /// Completes the nest collected so far, if there is one.
  void flush();
  /// A store or a reduction.
  void add(const FusionRoot &root);
  /// The tile to be materialised wants a nest of its own.
  bool isAlone(mlir::Value tile) const;
  /// Completes the nest that a tile to be materialised cannot join; `addMaterialised` then adds it.
  void makeRoomFor(mlir::Value tile);
  void addMaterialised(const FusionRoot &root);
  /// Adds a delayed store to the nest in front of it, which must be the one that overwrites what
  /// the store reads, or come before that one when the store is the first part. Says why it cannot;
  /// nothing when it has.
  std::string_view addDelayedStore(const FusionRoot &root);
  /// Completes the nest when a scalar operation needs a result of it or must not be moved in front.
  void flushBefore(mlir::Operation &scalar);

private:
  const FusionPlan &plan;
  GroupState pending;
  Build build;
};

} // namespace nereid::cpu
