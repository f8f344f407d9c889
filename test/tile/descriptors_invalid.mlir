// One violation of each precondition; the name of the function is the label in the verifier.
// RUN: tile-opt %s --split-input-file --verify-diagnostics

// expected-error @+1 {{a descriptor expects at least one dimension and positive sizes}}
func.func private @descriptor_c1_no_dimension(!tile.descriptor<f32>)

// -----

// expected-error @+1 {{a descriptor expects at least one dimension and positive sizes}}
func.func private @descriptor_c1_empty(!tile.descriptor<4x0xf32>)

// -----

// expected-error @+1 {{a descriptor expects numbers as elements, but got '!tile.ptr<f32>'}}
func.func private @descriptor_c2_addresses(!tile.descriptor<4x!tile.ptr<f32>>)

// -----

// expected-error @+1 {{a descriptor expects numbers as elements, but got 'i7'}}
func.func private @descriptor_c2_integer(!tile.descriptor<4xi7>)

// -----

func.func @make_descriptor_c1_element(%p: !tile.ptr<f16>, %n: i64) {
  // expected-error @+1 {{expects the address of 'f32', but got '!tile.ptr<f16>'}}
  %d = tile.make_descriptor %p, [%n], [%n] : !tile.ptr<f16> -> !tile.descriptor<4xf32>
  return
}

// -----

func.func @make_descriptor_c2_strides(%p: !tile.ptr<f32>, %n: i64) {
  // expected-error @+1 {{expects 2 sizes and strides, but got 2 and 1}}
  %d = tile.make_descriptor %p, [%n, %n], [%n] : !tile.ptr<f32> -> !tile.descriptor<4x4xf32>
  return
}

// -----

func.func @make_descriptor_c3_padding(%p: !tile.ptr<i32>, %n: i64) {
  // expected-error @+1 {{expects floats to pad with NaN, but got 'i32'}}
  %d = tile.make_descriptor %p, [%n], [%n] {padding = 1 : i32} : !tile.ptr<i32> -> !tile.descriptor<4xi32>
  return
}

// -----

func.func @descriptor_load_c1_offsets(%d: !tile.descriptor<4x4xf32>, %n: i64) {
  // expected-error @+1 {{expects 2 offsets, but got 1}}
  %x = tile.descriptor_load %d[%n] : !tile.descriptor<4x4xf32> -> tensor<4x4xf32>
  return
}

// -----

func.func @descriptor_load_c2_result(%d: !tile.descriptor<4x4xf32>, %n: i64) {
  // expected-error @+1 {{expects a tile 'tensor<4x4xf32>', but got 'tensor<4x8xf32>'}}
  %x = tile.descriptor_load %d[%n, %n] : !tile.descriptor<4x4xf32> -> tensor<4x8xf32>
  return
}

// -----

func.func @descriptor_store_c1_offsets(%d: !tile.descriptor<4xf32>, %n: i64, %x: tensor<4xf32>) {
  // expected-error @+1 {{expects 1 offsets, but got 2}}
  tile.descriptor_store %d[%n, %n], %x : !tile.descriptor<4xf32>, tensor<4xf32>
  return
}

// -----

func.func @descriptor_store_c2_value(%d: !tile.descriptor<4xf32>, %n: i64, %x: tensor<4xf16>) {
  // expected-error @+1 {{expects a tile 'tensor<4xf32>', but got 'tensor<4xf16>'}}
  tile.descriptor_store %d[%n], %x : !tile.descriptor<4xf32>, tensor<4xf16>
  return
}

// -----

func.func @descriptor_gather_c1_block(%d: !tile.descriptor<2x4xf32>, %rows: tensor<8xi32>, %n: i64) {
  // expected-error @+1 {{expects a descriptor with blocks of one row, but got '!tile.descriptor<2x4xf32>'}}
  %x = tile.descriptor_gather %d[%rows, %n] : !tile.descriptor<2x4xf32>, tensor<8xi32> -> tensor<8x4xf32>
  return
}

// -----

func.func @descriptor_gather_c2_rows(%d: !tile.descriptor<1x4xf32>, %rows: tensor<8xf32>, %n: i64) {
  // expected-error @+1 {{expects rows as a tile of rank 1 of integers, but got 'tensor<8xf32>'}}
  %x = tile.descriptor_gather %d[%rows, %n] : !tile.descriptor<1x4xf32>, tensor<8xf32> -> tensor<8x4xf32>
  return
}

// -----

func.func @descriptor_gather_c3_result(%d: !tile.descriptor<1x4xf32>, %rows: tensor<8xi32>, %n: i64) {
  // expected-error @+1 {{expects a tile 'tensor<8x4xf32>', but got 'tensor<4x8xf32>'}}
  %x = tile.descriptor_gather %d[%rows, %n] : !tile.descriptor<1x4xf32>, tensor<8xi32> -> tensor<4x8xf32>
  return
}

// -----

func.func @descriptor_scatter_c1_block(%d: !tile.descriptor<4xf32>, %rows: tensor<8xi32>, %n: i64, %x: tensor<8x4xf32>) {
  // expected-error @+1 {{expects a descriptor with blocks of one row, but got '!tile.descriptor<4xf32>'}}
  tile.descriptor_scatter %d[%rows, %n], %x : !tile.descriptor<4xf32>, tensor<8xi32>, tensor<8x4xf32>
  return
}

// -----

func.func @descriptor_scatter_c2_rows(%d: !tile.descriptor<1x4xf32>, %rows: tensor<8x1xi32>, %n: i64, %x: tensor<8x4xf32>) {
  // expected-error @+1 {{expects rows as a tile of rank 1 of integers, but got 'tensor<8x1xi32>'}}
  tile.descriptor_scatter %d[%rows, %n], %x : !tile.descriptor<1x4xf32>, tensor<8x1xi32>, tensor<8x4xf32>
  return
}

// -----

func.func @descriptor_scatter_c3_value(%d: !tile.descriptor<1x4xf32>, %rows: tensor<8xi32>, %n: i64, %x: tensor<8x4xi32>) {
  // expected-error @+1 {{expects a tile 'tensor<8x4xf32>', but got 'tensor<8x4xi32>'}}
  tile.descriptor_scatter %d[%rows, %n], %x : !tile.descriptor<1x4xf32>, tensor<8xi32>, tensor<8x4xi32>
  return
}

// -----

func.func @descriptor_reduce_c1_offsets(%d: !tile.descriptor<4xi32>, %x: tensor<4xi32>) {
  // expected-error @+1 {{expects 1 offsets, but got 0}}
  tile.descriptor_reduce add %d[], %x : !tile.descriptor<4xi32>, tensor<4xi32>
  return
}

// -----

func.func @descriptor_reduce_c2_value(%d: !tile.descriptor<4xi32>, %n: i64, %x: tensor<8xi32>) {
  // expected-error @+1 {{expects a tile 'tensor<4xi32>', but got 'tensor<8xi32>'}}
  tile.descriptor_reduce add %d[%n], %x : !tile.descriptor<4xi32>, tensor<8xi32>
  return
}

// -----

func.func @descriptor_reduce_c3_kind(%d: !tile.descriptor<4xf32>, %n: i64, %x: tensor<4xf32>) {
  // expected-error @+1 {{expects a kind for elements of 'f32', but got add}}
  tile.descriptor_reduce add %d[%n], %x : !tile.descriptor<4xf32>, tensor<4xf32>
  return
}

// -----

func.func @descriptor_reduce_c3_exchange(%d: !tile.descriptor<4xi32>, %n: i64, %x: tensor<4xi32>) {
  // expected-error @+1 {{expects a kind for elements of 'i32', but got xchg}}
  tile.descriptor_reduce xchg %d[%n], %x : !tile.descriptor<4xi32>, tensor<4xi32>
  return
}
