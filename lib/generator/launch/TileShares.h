// SPDX-License-Identifier: Apache-2.0
// Other kernels for the tiles of a product's kernel (template/StageKernel.h: TileShare), of which a
// launch takes some by two choices:
//
//   contract.PERSISTENT  programs that stay on the processors walk over all tiles
//   contract.STREAM_K    the loops over k of the last wave of tiles are dealt evenly to all
//                        programs; counts more than the other one
//
// The rules take neither.
#pragma once

#include "lib/generator/launch/Table.h"

namespace nereid::generator {

struct TileShares {
  std::vector<StageKernel> kernels;
  std::vector<LaunchChoice> choices;
  std::map<BufferId, std::string> conditions; ///< under which a workspace is needed at all
};

/// Of the stores' `kernel`, which is then launched for what the others leave; none where it is no
/// product's. `name`: of it without its ending. The program gets workspaces.
Result<TileShares> tileSharesOf(Program &program, const std::string &name,
                                const std::vector<Store> &stores, StageKernel &kernel);

} // namespace nereid::generator
