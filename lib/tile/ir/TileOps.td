// SPDX-License-Identifier: Apache-2.0
// Operations of the `tile` dialect. Every precondition has a label (dot_c3) that stands in the
// verifier beside the check and in the name of its negative test.

#ifndef NEREID_TILE_OPS
#define NEREID_TILE_OPS

include "lib/tile/ir/TileBase.td"
include "mlir/Interfaces/InferTypeOpInterface.td"
include "mlir/Interfaces/SideEffectInterfaces.td"
include "mlir/Interfaces/ControlFlowInterfaces.td"

// Preconditions of every operation: tile_c1: each tensor has a static shape with no dimension of 0;
// tile_c2: elements are i1, i8, i16, i32, i64, index, f8E4M3FN, f8E5M2, f8E4M3FNUZ,
// f8E5M2FNUZ, f16, bf16, f32, f64 or pointers. arith.truncf to an 8-bit float saturates: what lies
// beyond the largest finite number, infinities included, becomes that number; NaN stays NaN.
def Tile_WellFormedTiles : NativeOpTrait<"WellFormedTiles"> {
  let cppNamespace = "::nereid::tile::OpTrait";
}

class Tile_Op<string opName, list<Trait> traits = []>
    : Op<Tile_Dialect, opName, !listconcat(traits, [Tile_WellFormedTiles])>;

def Tile_ScalarOrTensor : AnyTypeOf<[AnyInteger, AnyFloat, Index, Tile_PtrType, AnyRankedTensor]>;

// ---- where am I ----

def Tile_ProgramIdOp : Tile_Op<"program_id", [Pure]> {
  let summary = "index of this program instance along one axis of the grid";
  let description = [{ **Preconditions** program_id_c1: axis is 0, 1 or 2. }];
  let arguments = (ins I32Attr:$axis);
  let results = (outs I32:$result);
  let assemblyFormat = "$axis attr-dict";
  let hasVerifier = 1;
}

def Tile_NumProgramsOp : Tile_Op<"num_programs", [Pure]> {
  let summary = "size of the grid along one axis";
  let description = [{ **Preconditions** num_programs_c1: axis is 0, 1 or 2. }];
  let arguments = (ins I32Attr:$axis);
  let results = (outs I32:$result);
  let assemblyFormat = "$axis attr-dict";
  let hasVerifier = 1;
}

// ---- making and reshaping tiles ----

def Tile_MakeRangeOp : Tile_Op<"make_range", [Pure]> {
  let summary = "consecutive 32-bit integers start, start+1, …, end-1";
  let description = [{ **Preconditions** make_range_c1: end > start; make_range_c2: the result is
    tensor<(end-start) x i32>. }];
  let arguments = (ins I32Attr:$start, I32Attr:$end);
  let results = (outs AnyRankedTensor:$result);
  let assemblyFormat = "$start `to` $end attr-dict `:` type($result)";
  let hasVerifier = 1;
}

def Tile_SplatOp : Tile_Op<"splat", [Pure]> {
  let summary = "a tile whose elements all equal one scalar";
  let description = [{ **Preconditions** splat_c1: the element type of the result is the type of
    the operand, which is a scalar. }];
  let arguments = (ins Tile_ScalarOrTensor:$source);
  let results = (outs AnyRankedTensor:$result);
  let assemblyFormat = "$source attr-dict `:` type($source) `->` type($result)";
  let hasVerifier = 1;
  let hasFolder = 1;
}

def Tile_UnsplatOp : Tile_Op<"unsplat", [Pure]> {
  let summary = "the only element of a tile that has one element";
  let description = [{ **Preconditions** unsplat_c1: the operand has one element; unsplat_c2: the
    result is its element type. }];
  let arguments = (ins AnyRankedTensor:$source);
  let results = (outs AnyType:$result);
  let assemblyFormat = "$source attr-dict `:` type($source) `->` type($result)";
  let hasVerifier = 1;
  let hasFolder = 1;
}

def Tile_ExpandDimsOp : Tile_Op<"expand_dims", [Pure]> {
  let summary = "insert a dimension of size 1 before position axis";
  let description = [{ **Preconditions** expand_dims_c1: 0 <= axis <= rank; expand_dims_c2: the
    result shape is the operand's with 1 inserted at axis, same element type. }];
  let arguments = (ins AnyRankedTensor:$source, I32Attr:$axis);
  let results = (outs AnyRankedTensor:$result);
  let assemblyFormat = "$source `,` $axis attr-dict `:` type($source) `->` type($result)";
  let hasVerifier = 1;
  let hasFolder = 1;
  let hasCanonicalizer = 1;
}

def Tile_BroadcastOp : Tile_Op<"broadcast", [Pure]> {
  let summary = "repeat dimensions of size 1 up to the result's size";
  let description = [{ **Preconditions** broadcast_c1: equal ranks and element types;
    broadcast_c2: each dimension is equal, or 1 in the operand. }];
  let arguments = (ins AnyRankedTensor:$source);
  let results = (outs AnyRankedTensor:$result);
  let assemblyFormat = "$source attr-dict `:` type($source) `->` type($result)";
  let hasVerifier = 1;
  let hasFolder = 1;
  let hasCanonicalizer = 1;
}

def Tile_ReshapeOp : Tile_Op<"reshape", [Pure]> {
  let summary = "the same elements in row-major order under another shape";
  let description = [{ **Preconditions** reshape_c1: equal element counts and types. }];
  let arguments = (ins AnyRankedTensor:$source);
  let results = (outs AnyRankedTensor:$result);
  let assemblyFormat = "$source attr-dict `:` type($source) `->` type($result)";
  let hasVerifier = 1;
  let hasFolder = 1;
  let hasCanonicalizer = 1;
}

def Tile_TransOp : Tile_Op<"trans", [Pure]> {
  let summary = "permute dimensions: result dimension i is operand dimension order[i]";
  let description = [{ **Preconditions** trans_c1: order is a permutation of 0..rank-1; trans_c2:
    the result shape is the permuted shape, same element type. }];
  let arguments = (ins AnyRankedTensor:$source, DenseI32ArrayAttr:$order);
  let results = (outs AnyRankedTensor:$result);
  let assemblyFormat = "$source `,` $order attr-dict `:` type($source) `->` type($result)";
  let hasVerifier = 1;
  let hasFolder = 1;
  let hasCanonicalizer = 1;
}

def Tile_JoinOp : Tile_Op<"join", [Pure, AllTypesMatch<["left", "right"]>]> {
  let summary = "two tiles side by side in a new last dimension of size 2";
  let description = [{ **Preconditions** join_c1: the result is the operands' type with a last
    dimension of 2. }];
  let arguments = (ins AnyRankedTensor:$left, AnyRankedTensor:$right);
  let results = (outs AnyRankedTensor:$result);
  let assemblyFormat = "$left `,` $right attr-dict `:` type($left) `->` type($result)";
  let hasVerifier = 1;
}

def Tile_SplitOp : Tile_Op<"split", [Pure]> {
  let summary = "the two halves of a tile whose last dimension is 2";
  let description = [{ **Preconditions** split_c1: the source is the left result's type with a last
    dimension of 2; split_c2: both results have one type. }];
  let arguments = (ins AnyRankedTensor:$source);
  let results = (outs AnyRankedTensor:$left, AnyRankedTensor:$right);
  let assemblyFormat = "$source attr-dict `:` type($source) `->` type($left) `,` type($right)";
  let hasVerifier = 1;
}

// ---- addresses and memory ----

def Tile_AddPtrOp : Tile_Op<"addptr", [Pure, AllTypesMatch<["pointer", "result"]>]> {
  let summary = "address moved by a number of elements";
  let description = [{
    The offset is a signed integer of any width, counted in elements of the pointee.
    **Preconditions** addptr_c1: pointer and offset are both scalars or both tensors of one shape;
    addptr_c2: the result type is the pointer type; addptr_c3: the pointer is an address or a tile
    of addresses, the offset an integer or a tile of integers.
  }];
  let arguments = (ins Tile_ScalarOrTensor:$pointer, Tile_ScalarOrTensor:$offset);
  let results = (outs Tile_ScalarOrTensor:$result);
  let assemblyFormat = "$pointer `,` $offset attr-dict `:` type($pointer) `,` type($offset)";
  let hasVerifier = 1;
  let hasFolder = 1;
  let hasCanonicalizer = 1;
}

def Tile_LoadOp : Tile_Op<"load", [AttrSizedOperandSegments,
    DeclareOpInterfaceMethods<MemoryEffectsOpInterface>]> {
  let summary = "read elements from memory";
  let description = [{
    Elements whose mask is false are not read and give `other`, or an undefined value without it.
    Reads what the program's stores and atomics in front of it left, where they go through the same
    argument (docs/memory.md).
    **Preconditions** load_c1: the result has the pointer's shape and pointee type; load_c2: the
    mask has the pointer's shape and type i1; load_c3: other has the result's type; load_c4: other
    needs a mask; load_c5: the pointer is an address or a tile of addresses.
  }];
  let arguments = (ins Tile_ScalarOrTensor:$pointer, Optional<Tile_ScalarOrTensor>:$mask,
                       Optional<Tile_ScalarOrTensor>:$other,
                       DefaultValuedAttr<Tile_CacheModifier, "CacheModifier::None">:$cache,
                       DefaultValuedAttr<Tile_EvictionPolicy, "EvictionPolicy::Normal">:$evict,
                       UnitAttr:$isVolatile);
  let results = (outs Tile_ScalarOrTensor:$result);
  let assemblyFormat = [{
    $pointer (`mask` $mask^ `:` type($mask))? (`other` $other^ `:` type($other))?
    attr-dict `:` type($pointer) `->` type($result)
  }];
  let hasVerifier = 1;
  let hasCanonicalizer = 1;
}

def Tile_StoreOp : Tile_Op<"store", [DeclareOpInterfaceMethods<MemoryEffectsOpInterface>]> {
  let summary = "write elements to memory";
  let description = [{
    Elements whose mask is false are not written. Of several elements at one address, one is
    written; which one is open. Comes behind the program's loads in front of it, and before those
    behind it, where they go through the same argument (docs/memory.md).
    **Preconditions** store_c1: the value has the pointer's shape and pointee type; store_c2: the
    mask has the pointer's shape and type i1; store_c3: the pointer is an address or a tile of
    addresses.
  }];
  let arguments = (ins Tile_ScalarOrTensor:$pointer, Tile_ScalarOrTensor:$value,
                       Optional<Tile_ScalarOrTensor>:$mask,
                       DefaultValuedAttr<Tile_CacheModifier, "CacheModifier::None">:$cache,
                       DefaultValuedAttr<Tile_EvictionPolicy, "EvictionPolicy::Normal">:$evict);
  let assemblyFormat = [{
    $pointer `,` $value (`mask` $mask^ `:` type($mask))?
    attr-dict `:` type($pointer) `,` type($value)
  }];
  let hasVerifier = 1;
  let hasCanonicalizer = 1;
}

def Tile_PtrToIntOp : Tile_Op<"ptr_to_int", [Pure]> {
  let summary = "address as a 64-bit integer";
  let description = [{ **Preconditions** ptr_to_int_c1: equal shapes;
    ptr_to_int_c2: addresses on the left, i64 on the right. }];
  let arguments = (ins Tile_ScalarOrTensor:$source);
  let results = (outs Tile_ScalarOrTensor:$result);
  let assemblyFormat = "$source attr-dict `:` type($source) `->` type($result)";
  let hasVerifier = 1;
}

def Tile_IntToPtrOp : Tile_Op<"int_to_ptr", [Pure]> {
  let summary = "64-bit integer as an address";
  let description = [{ **Preconditions** int_to_ptr_c1: equal shapes;
    int_to_ptr_c2: i64 on the left, addresses on the right. }];
  let arguments = (ins Tile_ScalarOrTensor:$source);
  let results = (outs Tile_ScalarOrTensor:$result);
  let assemblyFormat = "$source attr-dict `:` type($source) `->` type($result)";
  let hasVerifier = 1;
}

def Tile_PtrCastOp : Tile_Op<"ptr_cast", [Pure]> {
  let summary = "the same address with another pointee type";
  let description = [{ **Preconditions** ptr_cast_c1: pointers of equal shape on both sides. }];
  let arguments = (ins Tile_ScalarOrTensor:$source);
  let results = (outs Tile_ScalarOrTensor:$result);
  let assemblyFormat = "$source attr-dict `:` type($source) `->` type($result)";
  let hasVerifier = 1;
  let hasFolder = 1;
}

// ---- blocks of an array ----

include "lib/tile/ir/TileDescriptorOps.td"

// ---- element by element ----

class Tile_NumericExtremumOp<string name>
    : Tile_Op<name, !listconcat([Pure, Commutative, SameOperandsAndResultType],
                                ElementwiseMappable.traits)> {
  let arguments = (ins FloatLike:$left, FloatLike:$right);
  let results = (outs FloatLike:$result);
  let assemblyFormat = "$left `,` $right attr-dict `:` type($result)";
  let hasFolder = 1;
}

def Tile_MaxNumOp : Tile_NumericExtremumOp<"maxnum"> {
  let summary = "the larger number; of a number and a NaN, the number";
  let description = [{
    maxNum of IEEE 754-2008. Why not arith.maxnumf: MLIR 19 folds it to x for -inf and to NaN for a
    NaN beside a number. arith.maxnumf becomes this operation in `tile-simplify`.
  }];
}

def Tile_MinNumOp : Tile_NumericExtremumOp<"minnum"> {
  let summary = "the smaller number; of a number and a NaN, the number";
  let description = [{ minNum of IEEE 754-2008; see tile.maxnum. }];
}

// ---- across elements ----

def Tile_ReduceOp : Tile_Op<"reduce", [SameVariadicOperandSize, RecursiveMemoryEffects,
    SingleBlockImplicitTerminator<"CombineReturnOp">]> {
  let summary = "combine all elements along one axis";
  let description = [{
    The region takes two groups of scalars (first one element of each source, then another) and
    returns their combination; it must be associative and commutative, the order is free. A rank-1
    source gives scalars, otherwise the axis is removed.
    **Preconditions** reduce_c1: at least one source, all of one shape; reduce_c2: 0 <= axis < rank;
    reduce_c3: result i is source i without the axis; reduce_c4: the region takes and returns the
    element types.
  }];
  let arguments = (ins Variadic<AnyRankedTensor>:$sources, I32Attr:$axis);
  let results = (outs Variadic<Tile_ScalarOrTensor>:$results);
  let regions = (region SizedRegion<1>:$combine);
  let assemblyFormat = [{
    $sources `axis` $axis $combine attr-dict `:` functional-type($sources, $results)
  }];
  let hasVerifier = 1;
}

def Tile_ScanOp : Tile_Op<"scan", [SameVariadicOperandSize, RecursiveMemoryEffects,
    SingleBlockImplicitTerminator<"CombineReturnOp">]> {
  let summary = "running combination along one axis, each element included";
  let description = [{
    The region is that of reduce and must be associative; it need not be commutative: its first
    group is the combination of what comes earlier in the order of the scan, its second the later
    elements. With `reverse` the order is from the last element to the first.
    **Preconditions** scan_c1: at least one source, all of one shape; scan_c2: 0 <= axis < rank;
    scan_c3: result i has the type of source i; scan_c4: the region takes and returns the element
    types.
  }];
  let arguments = (ins Variadic<AnyRankedTensor>:$sources, I32Attr:$axis, UnitAttr:$reverse);
  let results = (outs Variadic<AnyRankedTensor>:$results);
  let regions = (region SizedRegion<1>:$combine);
  let assemblyFormat = [{
    $sources `axis` $axis (`reverse` $reverse^)? $combine attr-dict `:`
    functional-type($sources, $results)
  }];
  let hasVerifier = 1;
}

def Tile_CombineReturnOp : Tile_Op<"combine_return",
    [ParentOneOf<["ReduceOp", "ScanOp"]>, Pure, Terminator, ReturnLike]> {
  let summary = "result of combining two elements";
  let arguments = (ins Variadic<AnyType>:$values);
  let assemblyFormat = "($values^ `:` type($values))? attr-dict";
  let builders = [OpBuilder<(ins)>];
}

def Tile_DotOp : Tile_Op<"dot", [Pure, AllTypesMatch<["c", "result"]>]> {
  let summary = "matrix product plus accumulator: a·b + c";
  let description = [{
    Accumulates in the accumulator's type. float32 operands are read exactly unless
    inputPrecision says otherwise.
    **Preconditions** dot_c1: a, b and c have rank 2, or rank 3 with one batch size; dot_c2: a and
    b have one element type; dot_c3: a.shape[1] == b.shape[0]; dot_c4: c is MxN and the result has
    c's type; dot_c5: a, b and c are all floats, or all integers.
  }];
  let arguments = (ins AnyRankedTensor:$a, AnyRankedTensor:$b, AnyRankedTensor:$c,
    DefaultValuedAttr<Tile_InputPrecision, "InputPrecision::IEEE">:$inputPrecision);
  let results = (outs AnyRankedTensor:$result);
  let assemblyFormat = [{
    $a `,` $b `,` $c attr-dict `:` type($a) `,` type($b) `->` type($result)
  }];
  let hasVerifier = 1;
}

def Tile_GatherOp : Tile_Op<"gather", [Pure]> {
  let summary = "elements of a tile, picked along one axis by an index tile";
  let description = [{
    result[i0, .., ik, ..] = source[i0, .., index[i0, .., ik, ..], ..] with the index at `axis`. An
    index outside the source's size along the axis gives an undefined element.
    **Preconditions** gather_c1: 0 <= axis < rank; gather_c2: source and index have one rank and
    equal sizes in every dimension but axis; gather_c3: the index has integers; gather_c4: the
    result has the index's shape and the source's element type.
  }];
  let arguments = (ins AnyRankedTensor:$source, AnyRankedTensor:$index, I32Attr:$axis);
  let results = (outs AnyRankedTensor:$result);
  let assemblyFormat = [{
    $source `[` $index `]` `axis` $axis attr-dict `:` type($source) `,` type($index) `->`
    type($result)
  }];
  let hasVerifier = 1;
}

def Tile_HistogramOp : Tile_Op<"histogram", [Pure]> {
  let summary = "how often each of the numbers 0 .. bins-1 occurs";
  let description = [{
    Elements outside 0 .. bins-1 and those whose mask is false are not counted.
    **Preconditions** histogram_c1: the source is a tile of rank 1 of integers; histogram_c2: the
    mask has the source's shape and type i1; histogram_c3: the result is tensor<bins x i32>.
  }];
  let arguments = (ins AnyRankedTensor:$source, Optional<AnyRankedTensor>:$mask);
  let results = (outs AnyRankedTensor:$result);
  let assemblyFormat = [{
    $source (`mask` $mask^ `:` type($mask))? attr-dict `:` type($source) `->` type($result)
  }];
  let hasVerifier = 1;
}

// ---- between program instances ----

def Tile_AtomicRMWOp : Tile_Op<"atomic_rmw", [AllTypesMatch<["value", "result"]>,
    DeclareOpInterfaceMethods<MemoryEffectsOpInterface>]> {
  let summary = "read, combine with a value and write back in one step; gives what was read";
  let description = [{
    Elements whose mask is false are not touched and give an undefined value. The elements of one
    operation are combined in any order, those at one address each for itself. `sem` says what else
    of the program is ordered, `scope` for whom (docs/memory.md).
    **Preconditions** atomic_rmw_c1: the value has the pointer's shape and pointee type;
    atomic_rmw_c2: the mask has the pointer's shape and type i1; atomic_rmw_c3: the pointer is an
    address or a tile of addresses; atomic_rmw_c4: fadd, fmax and fmin take floats; add, and, or,
    xor, max, min, umax and umin integers; xchg either.
  }];
  let arguments = (ins Tile_AtomicKind:$kind, Tile_ScalarOrTensor:$pointer,
                       Tile_ScalarOrTensor:$value, Optional<Tile_ScalarOrTensor>:$mask,
                       DefaultValuedAttr<Tile_MemorySemantics, "MemorySemantics::AcquireRelease">:$sem,
                       DefaultValuedAttr<Tile_MemoryScope, "MemoryScope::GPU">:$scope);
  let results = (outs Tile_ScalarOrTensor:$result);
  let assemblyFormat = [{
    $kind $pointer `,` $value (`mask` $mask^ `:` type($mask))?
    attr-dict `:` type($pointer) `,` type($value)
  }];
  let hasVerifier = 1;
}

def Tile_AtomicCASOp : Tile_Op<"atomic_cas", [AllTypesMatch<["compare", "value", "result"]>,
    DeclareOpInterfaceMethods<MemoryEffectsOpInterface>]> {
  let summary = "write a value where memory equals another, in one step; gives what was read";
  let description = [{
    Compares bits.
    **Preconditions** atomic_cas_c1: the value has the pointer's shape and pointee type;
    atomic_cas_c2: the pointer is an address or a tile of addresses.
  }];
  let arguments = (ins Tile_ScalarOrTensor:$pointer, Tile_ScalarOrTensor:$compare,
                       Tile_ScalarOrTensor:$value,
                       DefaultValuedAttr<Tile_MemorySemantics, "MemorySemantics::AcquireRelease">:$sem,
                       DefaultValuedAttr<Tile_MemoryScope, "MemoryScope::GPU">:$scope);
  let results = (outs Tile_ScalarOrTensor:$result);
  let assemblyFormat = [{
    $pointer `,` $compare `,` $value attr-dict `:` type($pointer) `,` type($value)
  }];
  let hasVerifier = 1;
}

def Tile_BarrierOp : Tile_Op<"barrier", [MemoryEffects<[MemRead, MemWrite]>]> {
  let summary = "order what this program read and wrote before what it reads and writes behind";
  let description = [{
    Whatever arguments the accesses go through, see docs/memory.md. Orders nothing between programs.
  }];
  let assemblyFormat = "attr-dict";
}

// ---- what only some targets have ----

def Tile_InlineAsmOp : Tile_Op<"inline_asm", [DeclareOpInterfaceMethods<MemoryEffectsOpInterface>]> {
  let summary = "a target's assembly applied to every element, or to packs of elements";
  let description = [{
    **Preconditions** inline_asm_c1: at least one result; inline_asm_c2: operands and results have
    one shape; inline_asm_c3: pack >= 1.
  }];
  let arguments = (ins StrAttr:$text, StrAttr:$constraints, I32Attr:$pack, UnitAttr:$isPure,
                       Variadic<Tile_ScalarOrTensor>:$operands);
  let results = (outs Variadic<Tile_ScalarOrTensor>:$results);
  let assemblyFormat = [{
    $text $constraints `pack` $pack `(` $operands `)` attr-dict `:`
    functional-type($operands, $results)
  }];
  let hasVerifier = 1;
}

// ---- what holds ----

def Tile_AssumeOp : Tile_Op<"assume", [MemoryEffects<[MemWrite]>]> {
  let summary = "a condition that every element of is true, whoever launches the kernel";
  let description = [{
    Analyses may build upon it; nothing is computed. Where an element is false the kernel's meaning
    is undefined, which `nereid check` reports.
    **Preconditions** assume_c1: the condition is i1 or a tensor of i1.
  }];
  let arguments = (ins Tile_ScalarOrTensor:$condition);
  let assemblyFormat = "$condition attr-dict `:` type($condition)";
  let hasVerifier = 1;
}

// ---- talking to the user ----

def Tile_PrintOp : Tile_Op<"print", [MemoryEffects<[MemWrite]>]> {
  let summary = "write values to standard output, with the program id";
  let arguments = (ins StrAttr:$prefix, BoolAttr:$hex, Variadic<Tile_ScalarOrTensor>:$values);
  let assemblyFormat = "$prefix $hex ($values^ `:` type($values))? attr-dict";
}

def Tile_AssertOp : Tile_Op<"assert", [MemoryEffects<[MemWrite]>]> {
  let summary = "stop the launch with a message when any element is false";
  let description = [{ **Preconditions** assert_c1: the condition is i1 or a tensor of i1. }];
  let arguments = (ins Tile_ScalarOrTensor:$condition, StrAttr:$message);
  let assemblyFormat = "$condition `,` $message attr-dict `:` type($condition)";
  let hasVerifier = 1;
  let hasCanonicalizer = 1;
}

#endif
