// SPDX-License-Identifier: Apache-2.0
// The inner loops for x86-64-v2; flags.cmake compiles this file for it.
#define NEREID_EAGER_ISA v2
#include "lib/eager/baseline/kernels/Kernels.inc.h"
