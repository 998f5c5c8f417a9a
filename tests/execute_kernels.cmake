# Tests of the CPU's device: its threads, its memory, products, movers and kernels.
set(dense_arrays ${CMAKE_CURRENT_SOURCE_DIR}/support/dense_arrays.c
                 ${CMAKE_CURRENT_SOURCE_DIR}/support/seeded.c)
ridge_test(unit team LAYER execute)
ridge_test(unit device_memory LAYER execute)
ridge_test(unit kernel_normal LAYER execute)
ridge_test(unit gemm LAYER execute SOURCES ${dense_arrays} TIMEOUT 180)
ridge_test(unit grouped_gemm LAYER execute SOURCES ${dense_arrays})
ridge_test(unit array_movers LAYER execute SOURCES ${dense_arrays})
if(EXISTS ${CMAKE_CURRENT_SOURCE_DIR}/execute_kernels_math.cmake)
    include(execute_kernels_math.cmake)
endif()
