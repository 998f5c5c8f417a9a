func.func @f(%arg0: tensor<8x8xf32>) -> (tensor<8x8xf32> {sdy.sharding = #sdy.sharding<@m, [{"a"}, {?}]>}) {
sdy.mesh @m = <["a"=2]>
}
