// RUN: tile-opt --split-input-file --verify-diagnostics %s

func.func @scan_c2_axis(%x: tensor<4xf32>) {
  // expected-error @+1 {{expects an axis between 0 and 0, but got 1}}
  %0 = tile.scan %x axis 1 {
  ^bb0(%l: f32, %r: f32):
    tile.combine_return %l : f32
  } : (tensor<4xf32>) -> tensor<4xf32>
  return
}

// -----

func.func @scan_c1_none() {
  // expected-error @+1 {{expects at least one source, but got none}}
  "tile.scan"() <{axis = 0 : i32}> ({
    tile.combine_return
  }) : () -> ()
  return
}

// -----

func.func @scan_c3_type(%x: tensor<4xf32>) {
  // expected-error @+1 {{expects result 'tensor<4xf32>', but got 'tensor<2xf32>'}}
  %0 = tile.scan %x axis 0 {
  ^bb0(%l: f32, %r: f32):
    tile.combine_return %l : f32
  } : (tensor<4xf32>) -> tensor<2xf32>
  return
}

// -----

func.func @scan_c4_arguments(%x: tensor<4xf32>) {
  // expected-error @+1 {{expects 2 region arguments, but got 1}}
  %0 = tile.scan %x axis 0 {
  ^bb0(%l: f32):
    tile.combine_return %l : f32
  } : (tensor<4xf32>) -> tensor<4xf32>
  return
}

// -----

func.func @join_c1(%x: tensor<4xf32>) {
  // expected-error @+1 {{expects 'tensor<4x2xf32>' beside 'tensor<4xf32>', but got 'tensor<8xf32>'}}
  %0 = tile.join %x, %x : tensor<4xf32> -> tensor<8xf32>
  return
}

// -----

func.func @split_c1(%x: tensor<4x4xf32>) {
  // expected-error @+1 {{expects 'tensor<4x2xf32>' beside 'tensor<4xf32>', but got 'tensor<4x4xf32>'}}
  %0, %1 = tile.split %x : tensor<4x4xf32> -> tensor<4xf32>, tensor<4xf32>
  return
}

// -----

func.func @split_c2(%x: tensor<4x2xf32>) {
  // expected-error @+1 {{expects results of one type, but got 'tensor<4xf32>' and 'tensor<2xf32>'}}
  %0, %1 = tile.split %x : tensor<4x2xf32> -> tensor<4xf32>, tensor<2xf32>
  return
}

// -----

func.func @gather_c1(%x: tensor<4xf32>, %i: tensor<4xi32>) {
  // expected-error @+1 {{expects an axis between 0 and 0, but got -1}}
  %0 = tile.gather %x[%i] axis -1 : tensor<4xf32>, tensor<4xi32> -> tensor<4xf32>
  return
}

// -----

func.func @gather_c2(%x: tensor<4x4xf32>, %i: tensor<2x4xi32>) {
  // expected-error @+1 {{expects source and index to differ in dimension 1 only}}
  %0 = tile.gather %x[%i] axis 1 : tensor<4x4xf32>, tensor<2x4xi32> -> tensor<2x4xf32>
  return
}

// -----

func.func @gather_c3(%x: tensor<4xf32>) {
  // expected-error @+1 {{expects an index of integers, but got 'tensor<4xf32>'}}
  %0 = tile.gather %x[%x] axis 0 : tensor<4xf32>, tensor<4xf32> -> tensor<4xf32>
  return
}

// -----

func.func @gather_c4(%x: tensor<4xf32>, %i: tensor<4xi32>) {
  // expected-error @+1 {{expects result 'tensor<4xf32>', but got 'tensor<4xi32>'}}
  %0 = tile.gather %x[%i] axis 0 : tensor<4xf32>, tensor<4xi32> -> tensor<4xi32>
  return
}

// -----

func.func @histogram_c1(%x: tensor<4xf32>) {
  // expected-error @+1 {{expects a source of rank 1 of integers, but got 'tensor<4xf32>'}}
  %0 = tile.histogram %x : tensor<4xf32> -> tensor<4xi32>
  return
}

// -----

func.func @histogram_c2(%x: tensor<4xi32>, %m: tensor<2xi1>) {
  // expected-error @+1 {{expects mask 'tensor<4xi1>', but got 'tensor<2xi1>'}}
  %0 = tile.histogram %x mask %m : tensor<2xi1> : tensor<4xi32> -> tensor<4xi32>
  return
}

// -----

func.func @histogram_c3(%x: tensor<4xi32>) {
  // expected-error @+1 {{expects a result of rank 1 of i32, but got 'tensor<4xi64>'}}
  %0 = tile.histogram %x : tensor<4xi32> -> tensor<4xi64>
  return
}

// -----

func.func @atomic_rmw_c1(%p: !tile.ptr<i32>, %v: f32) {
  // expected-error @+1 {{expects a value of type 'i32', but got 'f32'}}
  %0 = tile.atomic_rmw xchg %p, %v : !tile.ptr<i32>, f32
  return
}

// -----

func.func @atomic_rmw_c2(%p: tensor<4x!tile.ptr<i32>>, %v: tensor<4xi32>, %m: i1) {
  // expected-error @+1 {{expects mask 'tensor<4xi1>', but got 'i1'}}
  %0 = tile.atomic_rmw add %p, %v mask %m : i1 : tensor<4x!tile.ptr<i32>>, tensor<4xi32>
  return
}

// -----

func.func @atomic_rmw_c3(%p: i64, %v: i32) {
  // expected-error @+1 {{expects addresses, but got 'i64'}}
  %0 = tile.atomic_rmw add %p, %v : i64, i32
  return
}

// -----

func.func @atomic_rmw_c4(%p: !tile.ptr<i32>, %v: i32) {
  // expected-error @+1 {{expects floats for fadd, but got 'i32'}}
  %0 = tile.atomic_rmw fadd %p, %v : !tile.ptr<i32>, i32
  return
}

// -----

func.func @atomic_cas_c1(%p: !tile.ptr<i32>, %v: i64) {
  // expected-error @+1 {{expects a value of type 'i32', but got 'i64'}}
  %0 = tile.atomic_cas %p, %v, %v : !tile.ptr<i32>, i64
  return
}

// -----

func.func @atomic_cas_c2(%p: i64, %v: i64) {
  // expected-error @+1 {{expects addresses, but got 'i64'}}
  %0 = tile.atomic_cas %p, %v, %v : i64, i64
  return
}

// -----

func.func @inline_asm_c1(%v: i32) {
  // expected-error @+1 {{expects at least one result, but got none}}
  tile.inline_asm "" "" pack 1 (%v) : (i32) -> ()
  return
}

// -----

func.func @inline_asm_c2(%v: tensor<4xi32>) {
  // expected-error @+1 {{expects operands and results of one shape}}
  %0 = tile.inline_asm "" "=r,r" pack 1 (%v) : (tensor<4xi32>) -> tensor<8xi32>
  return
}

// -----

func.func @inline_asm_c3(%v: i32) {
  // expected-error @+1 {{expects pack >= 1, but got 0}}
  %0 = tile.inline_asm "" "=r,r" pack 0 (%v) : (i32) -> i32
  return
}

// -----

func.func @assume_c1_condition(%n: i32) {
  // expected-error @+1 {{expects a condition of i1, but got 'i32'}}
  tile.assume %n : i32
  return
}
