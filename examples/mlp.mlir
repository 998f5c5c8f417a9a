module @jit_mlp attributes {mhlo.num_partitions = 8 : i32, mhlo.num_replicas = 1 : i32} {
  sdy.mesh @mesh = <["data"=2, "model"=4]>
  func.func public @main(%arg0: tensor<8x512x4096xbf16> {sdy.sharding = #sdy.sharding<@mesh, [{"data"}, {}, {}]>}, %arg1: tensor<4096x16384xbf16> {sdy.sharding = #sdy.sharding<@mesh, [{}, {"model"}]>}, %arg2: tensor<16384x4096xbf16> {sdy.sharding = #sdy.sharding<@mesh, [{"model"}, {}]>}) -> (tensor<8x512x4096xbf16> {sdy.sharding = #sdy.sharding<@mesh, [{"data"}, {}, {}]>}) {
    %0 = stablehlo.dot_general %arg0, %arg1, contracting_dims = [2] x [0], precision = [DEFAULT, DEFAULT] : (tensor<8x512x4096xbf16>, tensor<4096x16384xbf16>) -> tensor<8x512x16384xbf16>
    %cst = stablehlo.constant dense<0.000000e+00> : tensor<bf16>
    %1 = stablehlo.broadcast_in_dim %cst, dims = [] : (tensor<bf16>) -> tensor<8x512x16384xbf16>
    %2 = stablehlo.maximum %0, %1 : tensor<8x512x16384xbf16>
    %3 = stablehlo.dot_general %2, %arg2, contracting_dims = [2] x [0], precision = [DEFAULT, DEFAULT] : (tensor<8x512x16384xbf16>, tensor<16384x4096xbf16>) -> tensor<8x512x4096xbf16>
    %4 = stablehlo.add %arg0, %3 : tensor<8x512x4096xbf16>
    return %4 : tensor<8x512x4096xbf16>
  }
}
