// Functions that test/cli/import-linalg.test imports.
#all = affine_map<(d0, d1) -> (d0, d1)>
#columns = affine_map<(d0, d1) -> (d1)>
#rows = affine_map<(d0, d1) -> (d0)>
#turned = affine_map<(d0, d1) -> (d1, d0)>

func.func @bias_relu(%x: tensor<24x40xf32>, %b: tensor<40xf32>) -> tensor<24x40xf32> {
  %zero = arith.constant 0.0 : f32
  %empty = tensor.empty() : tensor<24x40xf32>
  %y = linalg.generic {indexing_maps = [#all, #columns, #all],
                       iterator_types = ["parallel", "parallel"]}
      ins(%x, %b : tensor<24x40xf32>, tensor<40xf32>) outs(%empty : tensor<24x40xf32>) {
  ^bb0(%one: f32, %bias: f32, %out: f32):
    %sum = arith.addf %one, %bias : f32
    %negative = arith.cmpf olt, %sum, %zero : f32
    %positive = arith.select %negative, %zero, %sum : f32
    linalg.yield %positive : f32
  } -> tensor<24x40xf32>
  return %y : tensor<24x40xf32>
}

func.func @softmax_rows(%x: tensor<24x40xf32>) -> tensor<24x40xf32> {
  %least = arith.constant 0xFF800000 : f32
  %zero = arith.constant 0.0 : f32
  %row = tensor.empty() : tensor<24xf32>
  %whole = tensor.empty() : tensor<24x40xf32>
  %start = linalg.fill ins(%least : f32) outs(%row : tensor<24xf32>) -> tensor<24xf32>
  %max = linalg.generic {indexing_maps = [#all, #rows], iterator_types = ["parallel", "reduction"]}
      ins(%x : tensor<24x40xf32>) outs(%start : tensor<24xf32>) {
  ^bb0(%one: f32, %so_far: f32):
    %larger = arith.maximumf %one, %so_far : f32
    linalg.yield %larger : f32
  } -> tensor<24xf32>
  %e = linalg.generic {indexing_maps = [#all, #rows, #all],
                       iterator_types = ["parallel", "parallel"]}
      ins(%x, %max : tensor<24x40xf32>, tensor<24xf32>) outs(%whole : tensor<24x40xf32>) {
  ^bb0(%one: f32, %top: f32, %out: f32):
    %less = arith.subf %one, %top : f32
    %power = math.exp %less : f32
    linalg.yield %power : f32
  } -> tensor<24x40xf32>
  %nothing = linalg.fill ins(%zero : f32) outs(%row : tensor<24xf32>) -> tensor<24xf32>
  %sum = linalg.generic {indexing_maps = [#all, #rows], iterator_types = ["parallel", "reduction"]}
      ins(%e : tensor<24x40xf32>) outs(%nothing : tensor<24xf32>) {
  ^bb0(%one: f32, %so_far: f32):
    %more = arith.addf %so_far, %one : f32
    linalg.yield %more : f32
  } -> tensor<24xf32>
  %y = linalg.generic {indexing_maps = [#all, #rows, #all],
                       iterator_types = ["parallel", "parallel"]}
      ins(%e, %sum : tensor<24x40xf32>, tensor<24xf32>) outs(%whole : tensor<24x40xf32>) {
  ^bb0(%one: f32, %all: f32, %out: f32):
    %share = arith.divf %one, %all : f32
    linalg.yield %share : f32
  } -> tensor<24x40xf32>
  return %y : tensor<24x40xf32>
}

func.func @layer(%x: tensor<8x16xf32>, %w: tensor<16x32xf32>, %c: tensor<8x32xf32>) -> tensor<8x32xf32> {
  %p = linalg.matmul ins(%x, %w : tensor<8x16xf32>, tensor<16x32xf32>)
      outs(%c : tensor<8x32xf32>) -> tensor<8x32xf32>
  %e = tensor.empty() : tensor<8x32xf32>
  %y = linalg.exp ins(%p : tensor<8x32xf32>) outs(%e : tensor<8x32xf32>) -> tensor<8x32xf32>
  %z = linalg.add ins(%y, %c : tensor<8x32xf32>, tensor<8x32xf32>)
      outs(%e : tensor<8x32xf32>) -> tensor<8x32xf32>
  return %z : tensor<8x32xf32>
}

func.func @turned(%x: tensor<40x24xf32>, %b: tensor<24x40xf32>) -> tensor<24x40xf32> {
  %e = tensor.empty() : tensor<24x40xf32>
  %y = linalg.generic {indexing_maps = [#turned, #all, #all],
                       iterator_types = ["parallel", "parallel"]}
      ins(%x, %b : tensor<40x24xf32>, tensor<24x40xf32>) outs(%e : tensor<24x40xf32>) {
  ^bb0(%one: f32, %other: f32, %out: f32):
    %sum = arith.mulf %one, %other : f32
    linalg.yield %sum : f32
  } -> tensor<24x40xf32>
  return %y : tensor<24x40xf32>
}

func.func @unset(%x: tensor<24x40xf32>) -> tensor<24xf32> {
  %e = tensor.empty() : tensor<24xf32>
  %y = linalg.generic {indexing_maps = [#all, #rows], iterator_types = ["parallel", "reduction"]}
      ins(%x : tensor<24x40xf32>) outs(%e : tensor<24xf32>) {
  ^bb0(%one: f32, %so_far: f32):
    %more = arith.addf %so_far, %one : f32
    linalg.yield %more : f32
  } -> tensor<24xf32>
  return %y : tensor<24xf32>
}

func.func @difference(%x: tensor<24x40xf32>, %s: tensor<24xf32>) -> tensor<24xf32> {
  %y = linalg.generic {indexing_maps = [#all, #rows], iterator_types = ["parallel", "reduction"]}
      ins(%x : tensor<24x40xf32>) outs(%s : tensor<24xf32>) {
  ^bb0(%one: f32, %so_far: f32):
    %less = arith.subf %so_far, %one : f32
    linalg.yield %less : f32
  } -> tensor<24xf32>
  return %y : tensor<24xf32>
}

func.func @spread(%b: tensor<40xf32>) -> tensor<40x40xf32> {
  %e = tensor.empty() : tensor<40x40xf32>
  %y = linalg.generic {indexing_maps = [#columns, #all], iterator_types = ["parallel", "parallel"]}
      ins(%b : tensor<40xf32>) outs(%e : tensor<40x40xf32>) {
  ^bb0(%one: f32, %out: f32):
    %less = arith.negf %one : f32
    linalg.yield %less : f32
  } -> tensor<40x40xf32>
  return %y : tensor<40x40xf32>
}

func.func @doubling(%b: tensor<40xf32>) -> tensor<40xf32> {
  %e = tensor.empty() : tensor<40xf32>
  %y = linalg.generic {indexing_maps = [affine_map<(d0) -> (d0)>, affine_map<(d0) -> (d0)>],
                       iterator_types = ["parallel"]}
      ins(%b : tensor<40xf32>) outs(%e : tensor<40xf32>) {
  ^bb0(%v0: f32, %out: f32):
    %v1 = arith.mulf %v0, %v0 : f32
    %v2 = arith.mulf %v1, %v1 : f32
    %v3 = arith.mulf %v2, %v2 : f32
    %v4 = arith.mulf %v3, %v3 : f32
    %v5 = arith.mulf %v4, %v4 : f32
    %v6 = arith.mulf %v5, %v5 : f32
    %v7 = arith.mulf %v6, %v6 : f32
    %v8 = arith.mulf %v7, %v7 : f32
    %v9 = arith.mulf %v8, %v8 : f32
    %v10 = arith.mulf %v9, %v9 : f32
    %v11 = arith.mulf %v10, %v10 : f32
    %v12 = arith.mulf %v11, %v11 : f32
    %v13 = arith.mulf %v12, %v12 : f32
    %v14 = arith.mulf %v13, %v13 : f32
    %v15 = arith.mulf %v14, %v14 : f32
    %v16 = arith.mulf %v15, %v15 : f32
    %v17 = arith.mulf %v16, %v16 : f32
    %v18 = arith.mulf %v17, %v17 : f32
    %v19 = arith.mulf %v18, %v18 : f32
    %v20 = arith.mulf %v19, %v19 : f32
    %v21 = arith.mulf %v20, %v20 : f32
    %v22 = arith.mulf %v21, %v21 : f32
    %v23 = arith.mulf %v22, %v22 : f32
    %v24 = arith.mulf %v23, %v23 : f32
    %v25 = arith.mulf %v24, %v24 : f32
    %v26 = arith.mulf %v25, %v25 : f32
    %v27 = arith.mulf %v26, %v26 : f32
    %v28 = arith.mulf %v27, %v27 : f32
    %v29 = arith.mulf %v28, %v28 : f32
    %v30 = arith.mulf %v29, %v29 : f32
    %v31 = arith.mulf %v30, %v30 : f32
    %v32 = arith.mulf %v31, %v31 : f32
    %v33 = arith.mulf %v32, %v32 : f32
    %v34 = arith.mulf %v33, %v33 : f32
    %v35 = arith.mulf %v34, %v34 : f32
    %v36 = arith.mulf %v35, %v35 : f32
    %v37 = arith.mulf %v36, %v36 : f32
    %v38 = arith.mulf %v37, %v37 : f32
    %v39 = arith.mulf %v38, %v38 : f32
    %v40 = arith.mulf %v39, %v39 : f32
    linalg.yield %v40 : f32
  } -> tensor<40xf32>
  return %y : tensor<40xf32>
}
