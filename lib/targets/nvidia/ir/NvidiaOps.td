// SPDX-License-Identifier: Apache-2.0
// What the phase `tile-nvidia` adds to tile IR: who holds which elements of a tile, and the moves
// between threads that follow from it.

#ifndef NEREID_NVIDIA_OPS
#define NEREID_NVIDIA_OPS

include "mlir/IR/OpBase.td"
include "mlir/IR/AttrTypeBase.td"
include "mlir/Interfaces/InferTypeOpInterface.td"
include "mlir/Interfaces/SideEffectInterfaces.td"

def Nvidia_Dialect : Dialect {
  let name = "nvidia";
  let cppNamespace = "::nereid::nvidia";
  let summary = "tiles spread over the threads of a program";
  let useDefaultAttributePrinterParser = 1;
  let hasOperationAttrVerify = 1;
}

def Nvidia_LayoutAttr : AttrDef<Nvidia_Dialect, "Layout"> {
  let mnemonic = "layout";
  let summary = "which thread holds which elements of a tile";
  let description = [{
    The bases of layout::LinearLayout (lib/layout/LinearLayout.h); the shape is the tile's.
    `#nvidia.layout<registers = [1, 2], lanes = [4, 8, 16, 32, 64], warps = [128, 256]>`
  }];
  let parameters = (ins OptionalArrayRefParameter<"int64_t">:$registers,
                        OptionalArrayRefParameter<"int64_t">:$lanes,
                        OptionalArrayRefParameter<"int64_t">:$warps);
  let assemblyFormat = [{
    `<` `registers` `=` `[` (`]`) : ($registers^ `]`)? `,` `lanes` `=` `[` (`]`) : ($lanes^ `]`)? `,`
    `warps` `=` `[` (`]`) : ($warps^ `]`)? `>`
  }];
}

def Nvidia_ConvertLayoutOp : Op<Nvidia_Dialect, "convert_layout", [Pure, SameOperandsAndResultType]> {
  let summary = "the same tile, held by other threads";
  let description = [{ The layouts are those of the operand and of the result. }];
  let arguments = (ins AnyRankedTensor:$source);
  let results = (outs AnyRankedTensor:$result);
  let assemblyFormat = "$source attr-dict `:` type($result)";
}

#endif
