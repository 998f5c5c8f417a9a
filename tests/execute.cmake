# Tests of src/execute: what each part declares.
foreach(part comm kernels text machine run run_shard calibrate cuda)
    if(EXISTS ${CMAKE_CURRENT_SOURCE_DIR}/execute_${part}.cmake)
        include(execute_${part}.cmake)
    endif()
endforeach()
