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

def KeepsElements : NativeOpTrait<"KeepsElements"> {
  let cppNamespace = "::nereid::tile::OpTrait";
}

def Nvidia_ConvertLayoutOp : Op<Nvidia_Dialect, "convert_layout", [Pure, SameOperandsAndResultType,
    KeepsElements]> {
  let summary = "the same tile, held by other threads";
  let description = [{ The layouts are those of the operand and of the result. }];
  let arguments = (ins AnyRankedTensor:$source);
  let results = (outs AnyRankedTensor:$result);
  let assemblyFormat = "$source attr-dict `:` type($result)";
}

def Nvidia_ExchangeOp : Op<Nvidia_Dialect, "exchange", [Pure, SameOperandsAndResultType]> {
  let summary = "each element is the one a power of two away, up or down, along an axis";
  let description = [{
    At position p along `axis` stands what was at `p ^ distance`: a step of a sorting network. The
    layouts of operand and result are equal.
  }];
  let arguments = (ins AnyRankedTensor:$source,
                       ConfinedAttr<I64Attr, [IntNonNegative]>:$axis,
                       ConfinedAttr<I64Attr, [IntPositive]>:$distance);
  let results = (outs AnyRankedTensor:$result);
  let assemblyFormat = "$source `axis` $axis `distance` $distance attr-dict `:` type($result)";
}

def Nvidia_ReadAgainOp : Op<Nvidia_Dialect, "read_again", [Pure, SameOperandsAndResultType]> {
  let summary = "the tile of a load that is held in shared memory";
  let description = [{
    Each thread reads what it has copied itself. The load has the attribute `nvidia.held`; its uses
    are all of this kind, in its own block or within its operations.
  }];
  let arguments = (ins AnyRankedTensor:$source);
  let results = (outs AnyRankedTensor:$result);
  let hasVerifier = 1;
  let assemblyFormat = "$source attr-dict `:` type($result)";
}

// ---- copies that go on while the program computes ----
//
// A loop's copies lie in shared memory, in as many slots as there are turns under way. A slot has
// the tile's bytes, the first one begins at byte `place`, and SharedTile.h says where an element
// lies in it. Copies that one thread makes between two commits are a group; groups end in order.

def Nvidia_BeginCopiesOp : Op<Nvidia_Dialect, "begin_copies", [
    MemoryEffects<[MemRead, MemWrite]>]> {
  let summary = "all threads are done with what lay in shared memory, which belongs to slots now";
  let description = [{ Until nvidia.end_copies. }];
  let assemblyFormat = "attr-dict";
}

def Nvidia_AsyncCopyOp : Op<Nvidia_Dialect, "async_copy", [AttrSizedOperandSegments,
    MemoryEffects<[MemRead, MemWrite]>]> {
  let summary = "begin to copy elements from memory into a slot";
  let description = [{
    As tile.load of a matrix of elements of 8 or 16 bits, whose elements without `other` are zero where the
    mask is false. Nothing is copied unless `guard` is true. `fastest` is the dimension that memory
    runs along.
  }];
  let arguments = (ins AnyRankedTensor:$pointer, Optional<AnyRankedTensor>:$mask,
                       Optional<AnyRankedTensor>:$other, I1:$guard, I32:$slot,
                       ConfinedAttr<I64Attr, [IntNonNegative]>:$place,
                       ConfinedAttr<I64Attr, [IntNonNegative, IntMaxValue<1>]>:$fastest);
  let assemblyFormat = [{
    $pointer (`mask` $mask^ `:` type($mask))? (`other` $other^ `:` type($other))? `when` $guard
    `into` $slot attr-dict `:` type($pointer)
  }];
}

def Nvidia_StoreCopyOp : Op<Nvidia_Dialect, "store_copy", [
    MemoryEffects<[MemRead, MemWrite]>]> {
  let summary = "put a tile that threads hold into a slot";
  let description = [{
    The tile is a matrix of 16-bit elements. Others see it behind the next nvidia.wait_copies.
    `fastest` is the dimension that the slot runs along.
  }];
  let arguments = (ins AnyRankedTensor:$source, I32:$slot,
                       ConfinedAttr<I64Attr, [IntNonNegative]>:$place,
                       ConfinedAttr<I64Attr, [IntNonNegative, IntMaxValue<1>]>:$fastest);
  let assemblyFormat = "$source `into` $slot attr-dict `:` type($source)";
}

def Nvidia_TurnCopyOp : Op<Nvidia_Dialect, "turn_copy", [MemoryEffects<[MemRead, MemWrite]>]> {
  let summary = "copy a slot's tile of bytes into a slot that runs along the other dimension";
  let description = [{
    From the slots that begin at `place` to those that begin at `to`, in which others see it behind
    the next nvidia.wait_copies. `fastest` is the dimension that the first one runs along.
  }];
  let arguments = (ins I32:$slot, TypeAttrOf<AnyRankedTensor>:$tile,
                       ConfinedAttr<I64Attr, [IntNonNegative]>:$place,
                       ConfinedAttr<I64Attr, [IntNonNegative]>:$to,
                       ConfinedAttr<I64Attr, [IntNonNegative, IntMaxValue<1>]>:$fastest);
  let assemblyFormat = "$slot `of` $tile attr-dict";
}

def Nvidia_CommitCopiesOp : Op<Nvidia_Dialect, "commit_copies", [
    MemoryEffects<[MemRead, MemWrite]>]> {
  let summary = "the copies begun since the last commit are a group";
  let assemblyFormat = "attr-dict";
}

def Nvidia_WaitCopiesOp : Op<Nvidia_Dialect, "wait_copies", [MemoryEffects<[MemRead, MemWrite]>]> {
  let summary = "all threads wait until their groups but the last few have ended";
  let description = [{
    Every thread then sees what the others copied, and with `for_warpgroups` so do the products of
    warpgroups, which read shared memory by themselves.
  }];
  let arguments = (ins ConfinedAttr<I64Attr, [IntNonNegative]>:$pending,
                       UnitAttr:$for_warpgroups);
  let assemblyFormat = "$pending attr-dict";
}

def Nvidia_EndCopiesOp : Op<Nvidia_Dialect, "end_copies", [MemoryEffects<[MemRead, MemWrite]>]> {
  let summary = "all threads wait until no copies are under way, and are done with the slots";
  let assemblyFormat = "attr-dict";
}

def Nvidia_ReadCopyOp : Op<Nvidia_Dialect, "read_copy", [MemoryEffects<[MemRead]>]> {
  let summary = "an operand of a product, out of a slot";
  let description = [{
    `fastest` counts dimensions of the tile in the slot. `transposed`: the result is its transpose.
    The result has one user, a tile.dot.
  }];
  let arguments = (ins I32:$slot, ConfinedAttr<I64Attr, [IntNonNegative]>:$place,
                       ConfinedAttr<I64Attr, [IntNonNegative, IntMaxValue<1>]>:$fastest,
                       UnitAttr:$transposed);
  let results = (outs AnyRankedTensor:$result);
  let assemblyFormat = "$slot attr-dict `:` type($result)";
}

// ---- products of warpgroups ----

def Nvidia_WaitProductsOp : Op<Nvidia_Dialect, "wait_products", [
    MemoryEffects<[MemRead, MemWrite]>]> {
  let summary = "a warp waits until its deferred products but the last few have ended";
  let description = [{ It no longer reads the operands of those then. }];
  let arguments = (ins ConfinedAttr<I64Attr, [IntNonNegative]>:$pending);
  let assemblyFormat = "$pending attr-dict";
}

def Nvidia_AwaitProductOp : Op<Nvidia_Dialect, "await_product", [
    MemoryEffects<[MemRead, MemWrite]>, SameOperandsAndResultType]> {
  let summary = "the tile when all deferred products have ended, of which it is a result";
  let arguments = (ins AnyRankedTensor:$source);
  let results = (outs AnyRankedTensor:$result);
  let assemblyFormat = "$source attr-dict `:` type($result)";
}

def Nvidia_OpaqueOp : Op<Nvidia_Dialect, "opaque", [MemoryEffects<[MemWrite]>,
                                                    SameOperandsAndResultType]> {
  let summary = "the same integer, of which no later step knows where it comes from";
  let description = [{ Keeps what is seldom needed from being computed ahead. }];
  let arguments = (ins I32:$source);
  let results = (outs I32:$result);
  let assemblyFormat = "$source attr-dict `:` type($result)";
}

#endif
