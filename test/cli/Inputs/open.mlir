// Functions with open sizes, conversions and indices, which unittests/linalg and import-linalg.test import.
#all = affine_map<(d0, d1) -> (d0, d1)>
#columns = affine_map<(d0, d1) -> (d1)>
#rows = affine_map<(d0, d1) -> (d0)>
#one = affine_map<(d0) -> (d0)>

func.func @half_sum(%x: tensor<?x?xf16>) -> tensor<?xf32> {
  %c0 = arith.constant 0 : index
  %n = tensor.dim %x, %c0 : tensor<?x?xf16>
  %zero = arith.constant 0.0 : f32
  %e = tensor.empty(%n) : tensor<?xf32>
  %s = linalg.fill ins(%zero : f32) outs(%e : tensor<?xf32>) -> tensor<?xf32>
  %y = linalg.generic {indexing_maps = [#all, #rows], iterator_types = ["parallel", "reduction"]}
      ins(%x : tensor<?x?xf16>) outs(%s : tensor<?xf32>) {
  ^bb0(%one: f16, %sofar: f32):
    %w = arith.extf %one : f16 to f32
    %q = arith.mulf %w, %w : f32
    %m = arith.addf %sofar, %q : f32
    linalg.yield %m : f32
  } -> tensor<?xf32>
  return %y : tensor<?xf32>
}

func.func @mean_rows(%x: tensor<?x?xf32>) -> tensor<?xf32> {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %n = tensor.dim %x, %c0 : tensor<?x?xf32>
  %m = tensor.dim %x, %c1 : tensor<?x?xf32>
  %mi = arith.index_cast %m : index to i64
  %mf = arith.sitofp %mi : i64 to f32
  %zero = arith.constant 0.0 : f32
  %e = tensor.empty(%n) : tensor<?xf32>
  %s = linalg.fill ins(%zero : f32) outs(%e : tensor<?xf32>) -> tensor<?xf32>
  %t = linalg.generic {indexing_maps = [#all, #rows], iterator_types = ["parallel", "reduction"]}
      ins(%x : tensor<?x?xf32>) outs(%s : tensor<?xf32>) {
  ^bb0(%one: f32, %sofar: f32):
    %m1 = arith.addf %sofar, %one : f32
    linalg.yield %m1 : f32
  } -> tensor<?xf32>
  %y = linalg.generic {indexing_maps = [#one, #one], iterator_types = ["parallel"]}
      ins(%t : tensor<?xf32>) outs(%e : tensor<?xf32>) {
  ^bb0(%one: f32, %o: f32):
    %d = arith.divf %one, %mf : f32
    linalg.yield %d : f32
  } -> tensor<?xf32>
  return %y : tensor<?xf32>
}

func.func @causal(%x: tensor<?x?xf32>) -> tensor<?x?xf32> {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %n = tensor.dim %x, %c0 : tensor<?x?xf32>
  %m = tensor.dim %x, %c1 : tensor<?x?xf32>
  %low = arith.constant 0xFF800000 : f32
  %e = tensor.empty(%n, %m) : tensor<?x?xf32>
  %y = linalg.generic {indexing_maps = [#all, #all], iterator_types = ["parallel", "parallel"]}
      ins(%x : tensor<?x?xf32>) outs(%e : tensor<?x?xf32>) {
  ^bb0(%one: f32, %o: f32):
    %i = linalg.index 0 : index
    %j = linalg.index 1 : index
    %c = arith.cmpi ult, %i, %j : index
    %r = arith.select %c, %low, %one : f32
    linalg.yield %r : f32
  } -> tensor<?x?xf32>
  return %y : tensor<?x?xf32>
}

func.func @positions(%x: tensor<?x?xf32>) -> tensor<?x?xf32> {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %n = tensor.dim %x, %c0 : tensor<?x?xf32>
  %m = tensor.dim %x, %c1 : tensor<?x?xf32>
  %e = tensor.empty(%n, %m) : tensor<?x?xf32>
  %three = arith.constant 3 : index
  %y = linalg.generic {indexing_maps = [#all], iterator_types = ["parallel", "parallel"]}
      outs(%e : tensor<?x?xf32>) {
  ^bb0(%o: f32):
    %j = linalg.index 1 : index
    %q = arith.remui %j, %three : index
    %p = arith.divui %j, %three : index
    %s = arith.muli %p, %three : index
    %t = arith.subi %s, %q : index
    %i = arith.index_cast %t : index to i32
    %f = arith.sitofp %i : i32 to f32
    linalg.yield %f : f32
  } -> tensor<?x?xf32>
  return %y : tensor<?x?xf32>
}

func.func @quantised(%x: tensor<4x?xi8>, %w: tensor<?x5xi8>, %f: tensor<5xf32>) -> tensor<4x5xf32> {
  %z = arith.constant 0 : i32
  %e = tensor.empty() : tensor<4x5xi32>
  %s = linalg.fill ins(%z : i32) outs(%e : tensor<4x5xi32>) -> tensor<4x5xi32>
  %p = linalg.matmul ins(%x, %w : tensor<4x?xi8>, tensor<?x5xi8>) outs(%s : tensor<4x5xi32>) -> tensor<4x5xi32>
  %e2 = tensor.empty() : tensor<4x5xf32>
  %y = linalg.generic {indexing_maps = [#all, #columns, #all], iterator_types = ["parallel", "parallel"]}
      ins(%p, %f : tensor<4x5xi32>, tensor<5xf32>) outs(%e2 : tensor<4x5xf32>) {
  ^bb0(%one: i32, %g: f32, %o: f32):
    %r = arith.sitofp %one : i32 to f32
    %q = arith.mulf %r, %g : f32
    linalg.yield %q : f32
  } -> tensor<4x5xf32>
  return %y : tensor<4x5xf32>
}

func.func @half_product(%x: tensor<?x?xf16>, %w: tensor<?x?xf16>, %c: tensor<?x?xf32>) -> tensor<?x?xf32> {
  %p = linalg.matmul ins(%x, %w : tensor<?x?xf16>, tensor<?x?xf16>) outs(%c : tensor<?x?xf32>) -> tensor<?x?xf32>
  return %p : tensor<?x?xf32>
}

func.func @unsigned(%x: tensor<?xi8>) -> tensor<?xf32> {
  %c0 = arith.constant 0 : index
  %n = tensor.dim %x, %c0 : tensor<?xi8>
  %e = tensor.empty(%n) : tensor<?xf32>
  %y = linalg.generic {indexing_maps = [#one, #one], iterator_types = ["parallel"]}
      ins(%x : tensor<?xi8>) outs(%e : tensor<?xf32>) {
  ^bb0(%one: i8, %o: f32):
    %a = arith.uitofp %one : i8 to f32
    %b = arith.extui %one : i8 to i32
    %c = arith.extsi %one : i8 to i32
    %d = arith.subi %b, %c : i32
    %f = arith.sitofp %d : i32 to f32
    %g = arith.addf %a, %f : f32
    linalg.yield %g : f32
  } -> tensor<?xf32>
  return %y : tensor<?xf32>
}

func.func @bits(%x: tensor<?xi32>) -> tensor<?xi32> {
  %true = arith.constant true
  %c0 = arith.constant 0 : index
  %n = tensor.dim %x, %c0 : tensor<?xi32>
  %e = tensor.empty(%n) : tensor<?xi32>
  %k = arith.constant 10 : i32
  %seven = arith.constant 7 : i32
  %mseven = arith.constant -7 : i32
  %y = linalg.generic {indexing_maps = [#one, #one], iterator_types = ["parallel"]}
      ins(%x : tensor<?xi32>) outs(%e : tensor<?xi32>) {
  ^bb0(%one: i32, %o: i32):
    %b = arith.trunci %one : i32 to i1
    %s = arith.extsi %b : i1 to i32
    %u = arith.extui %b : i1 to i32
    %g = arith.cmpi sgt, %one, %seven : i32
    %ng = arith.xori %g, %true : i1
    %sum = arith.addi %b, %ng : i1
    %both = arith.andi %sum, %true : i1
    %w = arith.select %both, %seven, %mseven : i32
    %t = arith.muli %u, %k : i32
    %d = arith.addi %s, %t : i32
    %r = arith.addi %d, %w : i32
    linalg.yield %r : i32
  } -> tensor<?xi32>
  return %y : tensor<?xi32>
}

func.func @whole(%x: tensor<?xf32>) -> tensor<?xi8> {
  %c0 = arith.constant 0 : index
  %n = tensor.dim %x, %c0 : tensor<?xf32>
  %e = tensor.empty(%n) : tensor<?xi8>
  %k = arith.constant 100.0 : f32
  %y = linalg.generic {indexing_maps = [#one, #one], iterator_types = ["parallel"]}
      ins(%x : tensor<?xf32>) outs(%e : tensor<?xi8>) {
  ^bb0(%one: f32, %o: i8):
    %t = arith.mulf %one, %k : f32
    %b = arith.fptosi %t : f32 to i32
    %r = arith.trunci %b : i32 to i8
    linalg.yield %r : i8
  } -> tensor<?xi8>
  return %y : tensor<?xi8>
}

func.func @narrow(%x: tensor<?xf32>) -> tensor<?xf16> {
  %c0 = arith.constant 0 : index
  %n = tensor.dim %x, %c0 : tensor<?xf32>
  %e = tensor.empty(%n) : tensor<?xf16>
  %h = arith.constant 0.333 : f32
  %hh = arith.truncf %h : f32 to f16
  %y = linalg.generic {indexing_maps = [#one, #one], iterator_types = ["parallel"]}
      ins(%x : tensor<?xf32>) outs(%e : tensor<?xf16>) {
  ^bb0(%one: f32, %o: f16):
    %t = arith.truncf %one : f32 to f16
    %r = arith.mulf %t, %hh : f16
    linalg.yield %r : f16
  } -> tensor<?xf16>
  return %y : tensor<?xf16>
}

func.func @divisions(%x: tensor<?xi32>) -> tensor<?xi32> {
  %c0 = arith.constant 0 : index
  %n = tensor.dim %x, %c0 : tensor<?xi32>
  %e = tensor.empty(%n) : tensor<?xi32>
  %k = arith.constant 7 : i32
  %h = arith.constant 100 : i32
  %t = arith.constant 10000 : i32
  %y = linalg.generic {indexing_maps = [#one, #one], iterator_types = ["parallel"]}
      ins(%x : tensor<?xi32>) outs(%e : tensor<?xi32>) {
  ^bb0(%one: i32, %o: i32):
    %a = arith.divsi %one, %k : i32
    %b = arith.remsi %one, %k : i32
    %c = arith.floordivsi %one, %k : i32
    %d = arith.ceildivsi %one, %k : i32
    %b1 = arith.muli %b, %h : i32
    %c1 = arith.muli %c, %t : i32
    %d1 = arith.subi %d, %b1 : i32
    %a1 = arith.addi %a, %c1 : i32
    %r = arith.addi %a1, %d1 : i32
    linalg.yield %r : i32
  } -> tensor<?xi32>
  return %y : tensor<?xi32>
}

func.func @integer_sums(%x: tensor<?x?xi8>, %s: tensor<?xi32>) -> tensor<?xi32> {
  %y = linalg.generic {indexing_maps = [#all, #columns], iterator_types = ["reduction", "parallel"]}
      ins(%x : tensor<?x?xi8>) outs(%s : tensor<?xi32>) {
  ^bb0(%one: i8, %sofar: i32):
    %w = arith.extsi %one : i8 to i32
    %i = linalg.index 0 : index
    %ii = arith.index_cast %i : index to i32
    %p = arith.muli %w, %ii : i32
    %m = arith.addi %p, %sofar : i32
    linalg.yield %m : i32
  } -> tensor<?xi32>
  return %y : tensor<?xi32>
}

func.func @tied(%x: tensor<?x?xf32>, %b: tensor<?xf32>, %w: tensor<7x?xf32>) -> tensor<?x?xf32> {
  %e = tensor.empty() : tensor<7x4xf32>
  %c = tensor.cast %e : tensor<7x4xf32> to tensor<?x?xf32>
  %y = linalg.generic {indexing_maps = [#all, #columns, #all], iterator_types = ["parallel", "parallel"]}
      ins(%x, %b : tensor<?x?xf32>, tensor<?xf32>) outs(%c : tensor<?x?xf32>) {
  ^bb0(%one: f32, %g: f32, %o: f32):
    %q = arith.mulf %one, %g : f32
    linalg.yield %q : f32
  } -> tensor<?x?xf32>
  %z = linalg.add ins(%y, %w : tensor<?x?xf32>, tensor<7x?xf32>) outs(%c : tensor<?x?xf32>) -> tensor<?x?xf32>
  return %z : tensor<?x?xf32>
}

func.func @given_size(%x: tensor<?xf32>, %n: index) -> (tensor<?xf32>, tensor<?xi32>) {
  %e = tensor.empty(%n) : tensor<?xf32>
  %ni = arith.index_cast %n : index to i32
  %nf = arith.sitofp %ni : i32 to f32
  %y = linalg.generic {indexing_maps = [#one, #one], iterator_types = ["parallel"]}
      ins(%x : tensor<?xf32>) outs(%e : tensor<?xf32>) {
  ^bb0(%one: f32, %o: f32):
    %i = linalg.index 0 : index
    %ii = arith.index_cast %i : index to i64
    %f = arith.uitofp %ii : i64 to f32
    %g = arith.divf %f, %nf : f32
    %r = arith.mulf %one, %g : f32
    linalg.yield %r : f32
  } -> tensor<?xf32>
  %five = arith.constant 5 : i32
  %ei = tensor.empty(%n) : tensor<?xi32>
  %fives = linalg.fill ins(%five : i32) outs(%ei : tensor<?xi32>) -> tensor<?xi32>
  return %y, %fives : tensor<?xf32>, tensor<?xi32>
}

func.func @outer(%b: tensor<?xf32>, %x: tensor<?x?xf32>) -> tensor<?x?xf32> {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %n = tensor.dim %x, %c0 : tensor<?x?xf32>
  %m = tensor.dim %b, %c0 : tensor<?xf32>
  %e = tensor.empty(%n, %m) : tensor<?x?xf32>
  %y = linalg.generic {indexing_maps = [#columns, #all], iterator_types = ["parallel", "parallel"]}
      ins(%b : tensor<?xf32>) outs(%e : tensor<?x?xf32>) {
  ^bb0(%one: f32, %o: f32):
    %r = arith.negf %one : f32
    linalg.yield %r : f32
  } -> tensor<?x?xf32>
  return %y : tensor<?x?xf32>
}

func.func @weights(%x: tensor<?xi1>, %y: tensor<?xi64>) -> tensor<?xf64> {
  %c0 = arith.constant 0 : index
  %n = tensor.dim %x, %c0 : tensor<?xi1>
  %e = tensor.empty(%n) : tensor<?xf64>
  %r = linalg.generic {indexing_maps = [#one, #one, #one], iterator_types = ["parallel"]}
      ins(%x, %y : tensor<?xi1>, tensor<?xi64>) outs(%e : tensor<?xf64>) {
  ^bb0(%a: i1, %b: i64, %o: f64):
    %s = arith.sitofp %a : i1 to f64
    %t = arith.sitofp %b : i64 to f64
    %u = arith.uitofp %a : i1 to f64
    %v = arith.mulf %s, %t : f64
    %w = arith.addf %v, %u : f64
    linalg.yield %w : f64
  } -> tensor<?xf64>
  return %r : tensor<?xf64>
}

func.func @argument_of_index(%x: tensor<?xindex>) -> tensor<?xindex> {
  %c0 = arith.constant 0 : index
  %n = tensor.dim %x, %c0 : tensor<?xindex>
  %e = tensor.empty(%n) : tensor<?xindex>
  %r = linalg.generic {indexing_maps = [#one, #one], iterator_types = ["parallel"]}
      ins(%x : tensor<?xindex>) outs(%e : tensor<?xindex>) {
  ^bb0(%a: index, %o: index):
    %i = linalg.index 0 : index
    %s = arith.maxsi %a, %i : index
    linalg.yield %s : index
  } -> tensor<?xindex>
  return %r : tensor<?xindex>
}

func.func @total(%x: tensor<?x?xbf16>) -> tensor<f32> {
  %zero = arith.constant 1.0 : f32
  %e = tensor.empty() : tensor<f32>
  %s = linalg.fill ins(%zero : f32) outs(%e : tensor<f32>) -> tensor<f32>
  %y = linalg.generic {indexing_maps = [#all, affine_map<(d0, d1) -> ()>], iterator_types = ["reduction", "reduction"]}
      ins(%x : tensor<?x?xbf16>) outs(%s : tensor<f32>) {
  ^bb0(%one: bf16, %sofar: f32):
    %w = arith.extf %one : bf16 to f32
    %m = arith.addf %sofar, %w : f32
    linalg.yield %m : f32
  } -> tensor<f32>
  return %y : tensor<f32>
}

// Refused.
func.func @lost(%x: tensor<?xf32>, %n: index) -> tensor<?x?xf32> {
  %c0 = arith.constant 0 : index
  %m = tensor.dim %x, %c0 : tensor<?xf32>
  %e = tensor.empty(%m, %n) : tensor<?x?xf32>
  %y = linalg.generic {indexing_maps = [#rows, #all], iterator_types = ["parallel", "parallel"]}
      ins(%x : tensor<?xf32>) outs(%e : tensor<?x?xf32>) {
  ^bb0(%one: f32, %o: f32):
    linalg.yield %one : f32
  } -> tensor<?x?xf32>
  return %y : tensor<?x?xf32>
}
func.func @computed(%x: tensor<?xf32>) -> tensor<?x?xf32> {
  %c0 = arith.constant 0 : index
  %m = tensor.dim %x, %c0 : tensor<?xf32>
  %n = arith.addi %m, %m : index
  %e = tensor.empty(%m, %n) : tensor<?x?xf32>
  %y = linalg.generic {indexing_maps = [#rows, #all], iterator_types = ["parallel", "parallel"]}
      ins(%x : tensor<?xf32>) outs(%e : tensor<?x?xf32>) {
  ^bb0(%one: f32, %o: f32):
    %i = linalg.index 1 : index
    linalg.yield %one : f32
  } -> tensor<?x?xf32>
  return %y : tensor<?x?xf32>
}
func.func @clash(%x: tensor<4xf32>, %y: tensor<5xf32>) -> tensor<?xf32> {
  %a = tensor.cast %x : tensor<4xf32> to tensor<?xf32>
  %b = tensor.cast %y : tensor<5xf32> to tensor<?xf32>
  %z = linalg.add ins(%a, %b : tensor<?xf32>, tensor<?xf32>) outs(%a : tensor<?xf32>) -> tensor<?xf32>
  return %z : tensor<?xf32>
}
func.func @unsigned_order(%x: tensor<?xi32>) -> tensor<?xi1> {
  %c0 = arith.constant 0 : index
  %m = tensor.dim %x, %c0 : tensor<?xi32>
  %e = tensor.empty(%m) : tensor<?xi1>
  %k = arith.constant 5 : i32
  %y = linalg.generic {indexing_maps = [#one, #one], iterator_types = ["parallel"]}
      ins(%x : tensor<?xi32>) outs(%e : tensor<?xi1>) {
  ^bb0(%one: i32, %o: i1):
    %i = arith.cmpi ult, %one, %k : i32
    linalg.yield %i : i1
  } -> tensor<?xi1>
  return %y : tensor<?xi1>
}
func.func @toward_zero(%x: tensor<?xf32>) -> tensor<?xf16> {
  %c0 = arith.constant 0 : index
  %m = tensor.dim %x, %c0 : tensor<?xf32>
  %e = tensor.empty(%m) : tensor<?xf16>
  %y = linalg.generic {indexing_maps = [#one, #one], iterator_types = ["parallel"]}
      ins(%x : tensor<?xf32>) outs(%e : tensor<?xf16>) {
  ^bb0(%one: f32, %o: f16):
    %i = arith.truncf %one toward_zero : f32 to f16
    linalg.yield %i : f16
  } -> tensor<?xf16>
  return %y : tensor<?xf16>
}
func.func @wide_unsigned(%x: tensor<?xi64>) -> tensor<?xf32> {
  %c0 = arith.constant 0 : index
  %m = tensor.dim %x, %c0 : tensor<?xi64>
  %e = tensor.empty(%m) : tensor<?xf32>
  %y = linalg.generic {indexing_maps = [#one, #one], iterator_types = ["parallel"]}
      ins(%x : tensor<?xi64>) outs(%e : tensor<?xf32>) {
  ^bb0(%one: i64, %o: f32):
    %i = arith.uitofp %one : i64 to f32
    linalg.yield %i : f32
  } -> tensor<?xf32>
  return %y : tensor<?xf32>
}
func.func @narrow_product(%x: tensor<?x?xf32>, %w: tensor<?x?xf32>, %c: tensor<?x?xf16>) -> tensor<?x?xf16> {
  %p = linalg.matmul ins(%x, %w : tensor<?x?xf32>, tensor<?x?xf32>) outs(%c : tensor<?x?xf16>) -> tensor<?x?xf16>
  return %p : tensor<?x?xf16>
}
