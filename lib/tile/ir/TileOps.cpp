// SPDX-License-Identifier: Apache-2.0
#include "lib/tile/ir/Tile.h"
#define GET_OP_CLASSES
#include "lib/tile/ir/TileOps.cpp.inc"
