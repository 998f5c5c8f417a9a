# Tests of the CPU's device: its threads, its memory, products, movers and kernels.
ridge_test(unit team LAYER execute)
ridge_test(unit device_memory LAYER execute)
if(EXISTS ${CMAKE_CURRENT_SOURCE_DIR}/execute_kernels_math.cmake)
    include(execute_kernels_math.cmake)
endif()
