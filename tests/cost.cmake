# Tests of src/cost.
set(network_build ${CMAKE_SOURCE_DIR}/tests/support/network_build.c)

ridge_test(unit collective LAYER cost SOURCES ${network_build})
ridge_test(property collective_laws LAYER cost SOURCES ${network_build})
ridge_test(diff link_load LAYER cost SOURCES ${network_build})
ridge_test(golden published_collectives LAYER cost SOURCES ${network_build})

ridge_test(unit matmul_cost LAYER cost)
ridge_test(unit matmul_shape LAYER cost)
ridge_test(unit attention_cost LAYER cost)
ridge_test(unit stream_cost LAYER cost)
ridge_test(unit critical LAYER cost)
ridge_test(unit einsum LAYER cost)
ridge_test(unit operation LAYER cost)
ridge_test(unit roofline LAYER cost)
ridge_test(property op_cost LAYER cost)
ridge_test(golden published_rooflines LAYER cost)
ridge_fuzz(einsum LAYER cost)
