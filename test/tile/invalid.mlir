// One violation of each precondition; the name of the function is the label in the verifier.
// RUN: tile-opt %s --split-input-file --verify-diagnostics

func.func @tile_c1_dynamic_size(%x: f32) {
  // expected-error @+1 {{expects static shapes with positive sizes, but got 'tensor<?xf32>'}}
  %0 = tile.splat %x : f32 -> tensor<?xf32>
  return
}

// -----

func.func @tile_c1_empty(%x: f32) {
  // expected-error @+1 {{expects static shapes with positive sizes, but got 'tensor<4x0xf32>'}}
  %0 = tile.splat %x : f32 -> tensor<4x0xf32>
  return
}

// -----

func.func @tile_c2_element_type(%x: i128) {
  // expected-error @+1 {{expects elements i1, i8, i16, i32, i64, index, f8E4M3FN, f8E5M2, f8E4M3FNUZ, f8E5M2FNUZ, f16, bf16, f32, f64 or !tile.ptr, but got 'i128'}}
  %0 = tile.splat %x : i128 -> tensor<4xi128>
  return
}

// -----

func.func @program_id_c1_axis() {
  // expected-error @+1 {{expects axis 0, 1 or 2, but got 3}}
  %0 = tile.program_id 3
  return
}

// -----

func.func @num_programs_c1_axis() {
  // expected-error @+1 {{expects axis 0, 1 or 2, but got -1}}
  %0 = tile.num_programs -1
  return
}

// -----

func.func @make_range_c1_end_before_start() {
  // expected-error @+1 {{expects end > start, but got 4 to 4}}
  %0 = tile.make_range 4 to 4 : tensor<1xi32>
  return
}

// -----

func.func @make_range_c2_size() {
  // expected-error @+1 {{expects result tensor<4xi32>, but got 'tensor<5xi32>'}}
  %0 = tile.make_range 0 to 4 : tensor<5xi32>
  return
}

// -----

func.func @make_range_c2_type() {
  // expected-error @+1 {{expects result tensor<4xi32>, but got 'tensor<4xi64>'}}
  %0 = tile.make_range 0 to 4 : tensor<4xi64>
  return
}

// -----

func.func @make_range_c2_full_span() {
  // expected-error @+1 {{expects result tensor<4294967295xi32>, but got 'tensor<4xi32>'}}
  %0 = tile.make_range -2147483648 to 2147483647 : tensor<4xi32>
  return
}

// -----

func.func @splat_c1_element_type(%x: f32) {
  // expected-error @+1 {{expects a scalar of the result's element type 'f16', but got 'f32'}}
  %0 = tile.splat %x : f32 -> tensor<4xf16>
  return
}

// -----

func.func @splat_c1_tile(%x: tensor<4xf32>) {
  // expected-error @+1 {{expects a scalar of the result's element type 'f32', but got 'tensor<4xf32>'}}
  %0 = tile.splat %x : tensor<4xf32> -> tensor<4xf32>
  return
}

// -----

func.func @unsplat_c1_several(%x: tensor<2xf32>) {
  // expected-error @+1 {{expects a tile of one element, but got 'tensor<2xf32>'}}
  %0 = tile.unsplat %x : tensor<2xf32> -> f32
  return
}

// -----

func.func @unsplat_c2_type(%x: tensor<1xf32>) {
  // expected-error @+1 {{expects result type 'f32', but got 'f64'}}
  %0 = tile.unsplat %x : tensor<1xf32> -> f64
  return
}

// -----

func.func @expand_dims_c1_axis(%x: tensor<4xf32>) {
  // expected-error @+1 {{expects an axis between 0 and 1, but got 2}}
  %0 = tile.expand_dims %x, 2 : tensor<4xf32> -> tensor<4x1xf32>
  return
}

// -----

func.func @expand_dims_c1_negative(%x: tensor<4xf32>) {
  // expected-error @+1 {{expects an axis between 0 and 1, but got -1}}
  %0 = tile.expand_dims %x, -1 : tensor<4xf32> -> tensor<4x1xf32>
  return
}

// -----

func.func @expand_dims_c2_shape(%x: tensor<4xf32>) {
  // expected-error @+1 {{expects result 'tensor<1x4xf32>', but got 'tensor<4x1xf32>'}}
  %0 = tile.expand_dims %x, 0 : tensor<4xf32> -> tensor<4x1xf32>
  return
}

// -----

func.func @broadcast_c1_rank(%x: tensor<4xf32>) {
  // expected-error @+1 {{expects equal ranks and element types, but got 'tensor<4xf32>' and 'tensor<2x4xf32>'}}
  %0 = tile.broadcast %x : tensor<4xf32> -> tensor<2x4xf32>
  return
}

// -----

func.func @broadcast_c1_element_type(%x: tensor<1xf32>) {
  // expected-error @+1 {{expects equal ranks and element types, but got 'tensor<1xf32>' and 'tensor<4xi32>'}}
  %0 = tile.broadcast %x : tensor<1xf32> -> tensor<4xi32>
  return
}

// -----

func.func @broadcast_c2_size(%x: tensor<2x4xf32>) {
  // expected-error @+1 {{expects size 1 or 8 in dimension 1, but got 4}}
  %0 = tile.broadcast %x : tensor<2x4xf32> -> tensor<2x8xf32>
  return
}

// -----

func.func @reshape_c1_count(%x: tensor<2x4xf32>) {
  // expected-error @+1 {{expects equal element counts and types, but got 'tensor<2x4xf32>' and 'tensor<9xf32>'}}
  %0 = tile.reshape %x : tensor<2x4xf32> -> tensor<9xf32>
  return
}

// -----

func.func @reshape_c1_element_type(%x: tensor<2x4xf32>) {
  // expected-error @+1 {{expects equal element counts and types, but got 'tensor<2x4xf32>' and 'tensor<8xi32>'}}
  %0 = tile.reshape %x : tensor<2x4xf32> -> tensor<8xi32>
  return
}

// -----

func.func @trans_c1_repeated(%x: tensor<2x4xf32>) {
  // expected-error @+1 {{expects order to be a permutation of 0..1, but got [1, 1]}}
  %0 = tile.trans %x, [1, 1] : tensor<2x4xf32> -> tensor<4x4xf32>
  return
}

// -----

func.func @trans_c1_length(%x: tensor<2x4xf32>) {
  // expected-error @+1 {{expects order to be a permutation of 0..1, but got [0]}}
  %0 = tile.trans %x, [0] : tensor<2x4xf32> -> tensor<2x4xf32>
  return
}

// -----

func.func @trans_c1_outside(%x: tensor<2x4xf32>) {
  // expected-error @+1 {{expects order to be a permutation of 0..1, but got [0, -7]}}
  %0 = tile.trans %x, [0, -7] : tensor<2x4xf32> -> tensor<2x4xf32>
  return
}

// -----

func.func @trans_c2_shape(%x: tensor<2x4xf32>) {
  // expected-error @+1 {{expects result 'tensor<4x2xf32>', but got 'tensor<2x4xf32>'}}
  %0 = tile.trans %x, [1, 0] : tensor<2x4xf32> -> tensor<2x4xf32>
  return
}

// -----

func.func @addptr_c1_shape(%p: tensor<4x!tile.ptr<f32>>, %o: i32) {
  // expected-error @+1 {{expects pointer and offset of one shape, but got 'tensor<4x!tile.ptr<f32>>' and 'i32'}}
  %0 = tile.addptr %p, %o : tensor<4x!tile.ptr<f32>>, i32
  return
}

// -----

func.func @addptr_c2_result(%p: !tile.ptr<f32>, %o: i32) {
  // expected-error @+1 {{failed to verify that all of {pointer, result} have same type}}
  %0 = "tile.addptr"(%p, %o) : (!tile.ptr<f32>, i32) -> !tile.ptr<f16>
  return
}

// -----

func.func @addptr_c3_float_offset(%p: !tile.ptr<f32>, %o: f32) {
  // expected-error @+1 {{expects addresses and integers, but got '!tile.ptr<f32>' and 'f32'}}
  %0 = tile.addptr %p, %o : !tile.ptr<f32>, f32
  return
}

// -----

func.func @addptr_c3_no_pointer(%p: i64, %o: i32) {
  // expected-error @+1 {{expects addresses and integers, but got 'i64' and 'i32'}}
  %0 = tile.addptr %p, %o : i64, i32
  return
}

// -----

func.func @load_c1_pointee(%p: !tile.ptr<f32>) {
  // expected-error @+1 {{expects result 'f32', but got 'f16'}}
  %0 = tile.load %p : !tile.ptr<f32> -> f16
  return
}

// -----

func.func @load_c1_shape(%p: tensor<4x!tile.ptr<f32>>) {
  // expected-error @+1 {{expects result 'tensor<4xf32>', but got 'tensor<8xf32>'}}
  %0 = tile.load %p : tensor<4x!tile.ptr<f32>> -> tensor<8xf32>
  return
}

// -----

func.func @load_c2_mask_shape(%p: tensor<4x!tile.ptr<f32>>, %m: i1) {
  // expected-error @+1 {{expects mask 'tensor<4xi1>', but got 'i1'}}
  %0 = tile.load %p mask %m : i1 : tensor<4x!tile.ptr<f32>> -> tensor<4xf32>
  return
}

// -----

func.func @load_c2_mask_type(%p: !tile.ptr<f32>, %m: i8) {
  // expected-error @+1 {{expects mask 'i1', but got 'i8'}}
  %0 = tile.load %p mask %m : i8 : !tile.ptr<f32> -> f32
  return
}

// -----

func.func @load_c3_other_type(%p: !tile.ptr<f32>, %m: i1, %o: f16) {
  // expected-error @+1 {{expects 'other' of the result's type 'f32', but got 'f16'}}
  %0 = tile.load %p mask %m : i1 other %o : f16 : !tile.ptr<f32> -> f32
  return
}

// -----

func.func @load_c4_other_alone(%p: !tile.ptr<f32>, %o: f32) {
  // expected-error @+1 {{expects a mask beside 'other', but got none}}
  %0 = tile.load %p other %o : f32 : !tile.ptr<f32> -> f32
  return
}

// -----

func.func @load_c5_no_pointer(%p: i64) {
  // expected-error @+1 {{expects addresses, but got 'i64'}}
  %0 = tile.load %p : i64 -> f32
  return
}

// -----

func.func @store_c1_value(%p: !tile.ptr<f32>, %v: f64) {
  // expected-error @+1 {{expects value 'f32', but got 'f64'}}
  tile.store %p, %v : !tile.ptr<f32>, f64
  return
}

// -----

func.func @store_c2_mask(%p: !tile.ptr<f32>, %v: f32, %m: tensor<1xi1>) {
  // expected-error @+1 {{expects mask 'i1', but got 'tensor<1xi1>'}}
  tile.store %p, %v mask %m : tensor<1xi1> : !tile.ptr<f32>, f32
  return
}

// -----

func.func @store_c3_no_pointer(%p: f32, %v: f32) {
  // expected-error @+1 {{expects addresses, but got 'f32'}}
  tile.store %p, %v : f32, f32
  return
}

// -----

func.func @ptr_to_int_c1_shape(%p: !tile.ptr<f32>) {
  // expected-error @+1 {{expects equal shapes, but got '!tile.ptr<f32>' and 'tensor<1xi64>'}}
  %0 = tile.ptr_to_int %p : !tile.ptr<f32> -> tensor<1xi64>
  return
}

// -----

func.func @ptr_to_int_c2_width(%p: !tile.ptr<f32>) {
  // expected-error @+1 {{expects addresses to i64, but got '!tile.ptr<f32>' to 'i32'}}
  %0 = tile.ptr_to_int %p : !tile.ptr<f32> -> i32
  return
}

// -----

func.func @int_to_ptr_c1_shape(%n: i64) {
  // expected-error @+1 {{expects equal shapes, but got 'i64' and 'tensor<1x!tile.ptr<f32>>'}}
  %0 = tile.int_to_ptr %n : i64 -> tensor<1x!tile.ptr<f32>>
  return
}

// -----

func.func @int_to_ptr_c2_width(%n: i32) {
  // expected-error @+1 {{expects i64 to addresses, but got 'i32' to '!tile.ptr<f32>'}}
  %0 = tile.int_to_ptr %n : i32 -> !tile.ptr<f32>
  return
}

// -----

func.func @ptr_cast_c1_no_pointer(%n: i64) {
  // expected-error @+1 {{expects addresses of equal shape, but got 'i64' and '!tile.ptr<f32>'}}
  %0 = tile.ptr_cast %n : i64 -> !tile.ptr<f32>
  return
}

// -----

func.func @reduce_c1_no_source() {
  // expected-error @+1 {{expects at least one source, but got none}}
  tile.reduce axis 0 {
    tile.combine_return
  } : () -> ()
  return
}

// -----

func.func @reduce_c1_shapes(%x: tensor<4xf32>, %y: tensor<5xf32>) {
  // expected-error @+1 {{expects sources of one shape, but got 'tensor<4xf32>' and 'tensor<5xf32>'}}
  %0:2 = tile.reduce %x, %y axis 0 {
  ^bb0(%a: f32, %b: f32, %c: f32, %d: f32):
    tile.combine_return %a, %b : f32, f32
  } : (tensor<4xf32>, tensor<5xf32>) -> (f32, f32)
  return
}

// -----

func.func @reduce_c2_axis(%x: tensor<4xf32>) {
  // expected-error @+1 {{expects an axis between 0 and 0, but got 1}}
  %0 = tile.reduce %x axis 1 {
  ^bb0(%a: f32, %b: f32):
    tile.combine_return %a : f32
  } : (tensor<4xf32>) -> f32
  return
}

// -----

func.func @reduce_c3_scalar(%x: tensor<4xf32>) {
  // expected-error @+1 {{expects result 'f32', but got 'tensor<1xf32>'}}
  %0 = tile.reduce %x axis 0 {
  ^bb0(%a: f32, %b: f32):
    tile.combine_return %a : f32
  } : (tensor<4xf32>) -> tensor<1xf32>
  return
}

// -----

func.func @reduce_c3_shape(%x: tensor<2x4xf32>) {
  // expected-error @+1 {{expects result 'tensor<4xf32>', but got 'tensor<2xf32>'}}
  %0 = tile.reduce %x axis 0 {
  ^bb0(%a: f32, %b: f32):
    tile.combine_return %a : f32
  } : (tensor<2x4xf32>) -> tensor<2xf32>
  return
}

// -----

func.func @reduce_c3_count(%x: tensor<4xf32>) {
  // expected-error @+1 {{expects 1 results, but got 2}}
  %0:2 = tile.reduce %x axis 0 {
  ^bb0(%a: f32, %b: f32):
    tile.combine_return %a : f32
  } : (tensor<4xf32>) -> (f32, f32)
  return
}

// -----

func.func @reduce_c4_argument_count(%x: tensor<4xf32>) {
  // expected-error @+1 {{expects 2 region arguments, but got 1}}
  %0 = tile.reduce %x axis 0 {
  ^bb0(%a: f32):
    tile.combine_return %a : f32
  } : (tensor<4xf32>) -> f32
  return
}

// -----

func.func @reduce_c4_argument_type(%x: tensor<4xf32>) {
  // expected-error @+1 {{expects region argument 1 of type 'f32', but got 'f64'}}
  %0 = tile.reduce %x axis 0 {
  ^bb0(%a: f32, %b: f64):
    tile.combine_return %a : f32
  } : (tensor<4xf32>) -> f32
  return
}

// -----

func.func @reduce_c4_return_count(%x: tensor<4xf32>) {
  // expected-error @+1 {{expects the region to return 1 values, but got 0}}
  %0 = tile.reduce %x axis 0 {
  ^bb0(%a: f32, %b: f32):
    tile.combine_return
  } : (tensor<4xf32>) -> f32
  return
}

// -----

func.func @reduce_c4_return_type(%x: tensor<4xf32>, %y: i32) {
  // expected-error @+1 {{expects the region to return 'f32' as value 0, but got 'i32'}}
  %0 = tile.reduce %x axis 0 {
  ^bb0(%a: f32, %b: f32):
    tile.combine_return %y : i32
  } : (tensor<4xf32>) -> f32
  return
}

// -----

func.func @dot_c1_rank(%a: tensor<16xf32>, %b: tensor<16x16xf32>, %c: tensor<16x16xf32>) {
  // expected-error @+1 {{expects rank 2, or rank 3 with one batch size, but got 'tensor<16xf32>', 'tensor<16x16xf32>' and 'tensor<16x16xf32>'}}
  %0 = tile.dot %a, %b, %c : tensor<16xf32>, tensor<16x16xf32> -> tensor<16x16xf32>
  return
}

// -----

func.func @dot_c1_batch(%a: tensor<2x4x4xf32>, %b: tensor<3x4x4xf32>, %c: tensor<2x4x4xf32>) {
  // expected-error @+1 {{expects rank 2, or rank 3 with one batch size, but got 'tensor<2x4x4xf32>', 'tensor<3x4x4xf32>' and 'tensor<2x4x4xf32>'}}
  %0 = tile.dot %a, %b, %c : tensor<2x4x4xf32>, tensor<3x4x4xf32> -> tensor<2x4x4xf32>
  return
}

// -----

func.func @dot_c2_element_types(%a: tensor<4x4xf16>, %b: tensor<4x4xbf16>, %c: tensor<4x4xf32>) {
  // expected-error @+1 {{expects a and b of one element type, but got 'f16' and 'bf16'}}
  %0 = tile.dot %a, %b, %c : tensor<4x4xf16>, tensor<4x4xbf16> -> tensor<4x4xf32>
  return
}

// -----

func.func @dot_c3_k_mismatch(%a: tensor<16x32xf16>, %b: tensor<64x8xf16>, %c: tensor<16x8xf32>) {
  // expected-error @+1 {{expects a.shape[1] == b.shape[0], but got 32 and 64}}
  %0 = tile.dot %a, %b, %c : tensor<16x32xf16>, tensor<64x8xf16> -> tensor<16x8xf32>
  return
}

// -----

func.func @dot_c4_rows(%a: tensor<16x32xf16>, %b: tensor<32x8xf16>, %c: tensor<8x8xf32>) {
  // expected-error @+1 {{expects c of 16x8, but got 'tensor<8x8xf32>'}}
  %0 = tile.dot %a, %b, %c : tensor<16x32xf16>, tensor<32x8xf16> -> tensor<8x8xf32>
  return
}

// -----

func.func @dot_c4_columns(%a: tensor<16x32xf16>, %b: tensor<32x8xf16>, %c: tensor<16x16xf32>) {
  // expected-error @+1 {{expects c of 16x8, but got 'tensor<16x16xf32>'}}
  %0 = tile.dot %a, %b, %c : tensor<16x32xf16>, tensor<32x8xf16> -> tensor<16x16xf32>
  return
}

// -----

func.func @dot_c5_mixed(%a: tensor<4x4xi8>, %b: tensor<4x4xi8>, %c: tensor<4x4xf32>) {
  // expected-error @+1 {{expects all floats or all integers, but got 'i8' and 'f32'}}
  %0 = tile.dot %a, %b, %c : tensor<4x4xi8>, tensor<4x4xi8> -> tensor<4x4xf32>
  return
}

// -----

func.func @assert_c1_type(%n: i32) {
  // expected-error @+1 {{expects a condition of i1, but got 'i32'}}
  tile.assert %n, "n" : i32
  return
}
