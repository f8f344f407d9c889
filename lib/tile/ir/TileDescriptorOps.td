// SPDX-License-Identifier: Apache-2.0
// Operations of the `tile` dialect on descriptors: blocks of an array in memory. Included by
// TileOps.td, which has what all operations share.

def Tile_MakeDescriptorOp : Tile_Op<"make_descriptor", [Pure, AttrSizedOperandSegments]> {
  let summary = "describe an array by its first element's address, its sizes and its strides";
  let description = [{
    Sizes and strides count elements. A size below the block's is allowed, and so is one of 0 or
    less: then every element lies outside.
    **Preconditions** make_descriptor_c1: the base is the address of an element of the descriptor;
    make_descriptor_c2: one size and one stride for each dimension; make_descriptor_c3: only floats
    are padded with NaN.
    **Example**
    ```
    %d = tile.make_descriptor %p, [%m, %n], [%s, %one] : !tile.ptr<f16> -> !tile.descriptor<128x64xf16>
    ```
  }];
  let arguments = (ins Tile_PtrType:$base, Variadic<I64>:$sizes, Variadic<I64>:$strides,
                       DefaultValuedAttr<Tile_Padding, "Padding::Zero">:$padding);
  let results = (outs Tile_DescriptorType:$result);
  let assemblyFormat = [{
    $base `,` `[` $sizes `]` `,` `[` $strides `]` attr-dict `:` qualified(type($base)) `->` qualified(type($result))
  }];
  let hasVerifier = 1;
}

def Tile_DescriptorLoadOp : Tile_Op<"descriptor_load", [MemoryEffects<[MemRead]>]> {
  let summary = "read a block";
  let description = [{
    Element (i, j, …) of the result is the array's at offsets + (i, j, …), or the padding.
    **Preconditions** descriptor_load_c1: one offset for each dimension; descriptor_load_c2: the
    result is a block of the descriptor.
  }];
  let arguments = (ins Tile_DescriptorType:$descriptor, Variadic<I64>:$offsets);
  let results = (outs AnyRankedTensor:$result);
  let assemblyFormat = [{
    $descriptor `[` $offsets `]` attr-dict `:` qualified(type($descriptor)) `->` type($result)
  }];
  let hasVerifier = 1;
}

def Tile_DescriptorStoreOp : Tile_Op<"descriptor_store", [MemoryEffects<[MemWrite]>]> {
  let summary = "write a block";
  let description = [{
    **Preconditions** descriptor_store_c1: one offset for each dimension; descriptor_store_c2: the
    value is a block of the descriptor.
  }];
  let arguments = (ins Tile_DescriptorType:$descriptor, Variadic<I64>:$offsets,
                       AnyRankedTensor:$value);
  let assemblyFormat = [{
    $descriptor `[` $offsets `]` `,` $value attr-dict `:` qualified(type($descriptor)) `,` type($value)
  }];
  let hasVerifier = 1;
}

def Tile_DescriptorGatherOp : Tile_Op<"descriptor_gather", [MemoryEffects<[MemRead]>]> {
  let summary = "read rows picked by a tile of row numbers";
  let description = [{
    Element (i, j) of the result is the array's at (rows[i], column + j), or the padding.
    **Preconditions** descriptor_gather_c1: the descriptor has blocks of one row: 1xN;
    descriptor_gather_c2: the rows are a tile of rank 1 of signed integers; descriptor_gather_c3:
    the result is a tile of as many rows of N elements.
  }];
  let arguments = (ins Tile_DescriptorType:$descriptor, AnyRankedTensor:$rows, I64:$column);
  let results = (outs AnyRankedTensor:$result);
  let assemblyFormat = [{
    $descriptor `[` $rows `,` $column `]` attr-dict `:` qualified(type($descriptor)) `,` type($rows) `->`
    type($result)
  }];
  let hasVerifier = 1;
}

def Tile_DescriptorScatterOp : Tile_Op<"descriptor_scatter", [MemoryEffects<[MemWrite]>]> {
  let summary = "write rows picked by a tile of row numbers";
  let description = [{
    Of a row that is picked twice the elements hold one of the values written.
    **Preconditions** descriptor_scatter_c1: the descriptor has blocks of one row: 1xN;
    descriptor_scatter_c2: the rows are a tile of rank 1 of signed integers;
    descriptor_scatter_c3: the value is a tile of as many rows of N elements.
  }];
  let arguments = (ins Tile_DescriptorType:$descriptor, AnyRankedTensor:$rows, I64:$column,
                       AnyRankedTensor:$value);
  let assemblyFormat = [{
    $descriptor `[` $rows `,` $column `]` `,` $value attr-dict `:` qualified(type($descriptor)) `,`
    type($rows) `,` type($value)
  }];
  let hasVerifier = 1;
}

def Tile_DescriptorReduceOp : Tile_Op<"descriptor_reduce", [MemoryEffects<[MemRead, MemWrite]>]> {
  let summary = "combine a block with what is in memory, each element in one step";
  let description = [{
    As tile.atomic_rmw does, with relaxed order.
    **Preconditions** descriptor_reduce_c1: one offset for each dimension; descriptor_reduce_c2: the
    value is a block of the descriptor; descriptor_reduce_c3: the kind is one for the elements, as
    in atomic_rmw_c4, and not xchg.
  }];
  let arguments = (ins Tile_AtomicKind:$kind, Tile_DescriptorType:$descriptor,
                       Variadic<I64>:$offsets, AnyRankedTensor:$value);
  let assemblyFormat = [{
    $kind $descriptor `[` $offsets `]` `,` $value attr-dict `:` qualified(type($descriptor)) `,` type($value)
  }];
  let hasVerifier = 1;
}
