# Tests of src/profile/hlo.
ridge_test(unit memory_table LAYER profile)
ridge_test(unit hlo_shape LAYER profile)
ridge_test(unit hlo_text LAYER profile)
ridge_test(unit hlo_groups LAYER profile)
ridge_test(unit hlo_mlir LAYER profile)
ridge_test(unit hlo_study LAYER profile
           SOURCES ${CMAKE_SOURCE_DIR}/tests/support/network_build.c)
ridge_test(unit hlo_products LAYER profile
           SOURCES ${CMAKE_SOURCE_DIR}/tests/support/network_build.c)
ridge_fuzz(hlo_text LAYER profile)
ridge_fuzz(hlo_mlir LAYER profile AS hlo_text)
ridge_fuzz(hlo_proto LAYER profile)
ridge_test(diff hlo_partition LAYER profile
           SOURCES ${CMAKE_SOURCE_DIR}/tests/support/hlo_machine.c
                   ${CMAKE_SOURCE_DIR}/tests/support/hlo_machine_map.c
                   ${CMAKE_SOURCE_DIR}/tests/support/hlo_machine_part.c
                   ${CMAKE_SOURCE_DIR}/tests/support/hlo_machine_sum.c
                   ${CMAKE_SOURCE_DIR}/tests/support/hlo_sharded.c
                   ${CMAKE_SOURCE_DIR}/tests/support/seeded.c)
