# Tests of the CUDA engine. Kernels and collectives have the tests that those of the CPU
# have, twice: on a GPU, where the build has CUDA (skipped where none is found), and
# everywhere on support/cuda, which runs a GPU's blocks on the CPU.
include(CheckLanguage)
ridge_layer_folders(execute execute_test_folders)
check_language(CXX)
set(cuda_emulator ${CMAKE_CURRENT_SOURCE_DIR}/support/cuda)
set(cuda_fixture ${CMAKE_CURRENT_SOURCE_DIR}/support/kernel_fixture_cuda.c
                 ${CMAKE_CURRENT_SOURCE_DIR}/support/kernel_reference.c
                 ${CMAKE_CURRENT_SOURCE_DIR}/support/seeded.c)

# A test with its own sources on the emulation.
function(ridge_cuda_emulated_test noun)
    if(NOT CMAKE_CXX_COMPILER)
        return()
    endif()
    set(target test_emulated_${noun})
    add_executable(${target} ${CMAKE_CURRENT_SOURCE_DIR}/unit/test_${noun}.c ${ARGN}
                             $<TARGET_OBJECTS:ridge_cuda_emulated>)
    target_include_directories(${target} BEFORE PRIVATE ${cuda_emulator})
    set_target_properties(${target} PROPERTIES LINKER_LANGUAGE C)
    target_link_libraries(${target} PRIVATE stdc++)
    # It is slow, and the same in every run.
    target_compile_definitions(${target} PRIVATE RIDGE_TEST_ROUNDS=2 RIDGE_TEST_REPEATS=0)
    ridge_cuda_target(${target} unit.${noun}_emulated)
endfunction()

# The same on a GPU.
function(ridge_cuda_gpu_test noun)
    if(NOT TARGET ridge_cuda_headers)
        return()
    endif()
    set(target test_gpu_${noun})
    add_executable(${target} ${CMAKE_CURRENT_SOURCE_DIR}/unit/test_${noun}.c ${ARGN})
    target_link_libraries(${target} PRIVATE ridge_cuda_headers)
    target_compile_definitions(${target} PRIVATE RIDGE_TEST_ROUNDS=1000
                                                 RIDGE_TEST_REPEATS=2)
    ridge_cuda_target(${target} unit.${noun}_gpu)
endfunction()

# What every test of this file is built with.
function(ridge_cuda_target target name)
    target_include_directories(${target} PRIVATE ${CMAKE_CURRENT_SOURCE_DIR}/support
                                                 ${execute_test_folders})
    target_link_libraries(${target} PRIVATE ridge_test_support ridge_execute
                                            Threads::Threads ${CMOCKA_LIBRARIES})
    add_test(NAME ${name} COMMAND ${target})
    set_tests_properties(${name} PROPERTIES TIMEOUT 120 LABELS "unit;quick;cuda")
endfunction()

if(CMAKE_CXX_COMPILER)
    enable_language(CXX)
    file(GLOB cuda_kernels CONFIGURE_DEPENDS ${CMAKE_SOURCE_DIR}/src/execute/device/device_cuda_*.cu)
    file(GLOB cuda_sources CONFIGURE_DEPENDS ${CMAKE_SOURCE_DIR}/src/execute/device/device_cuda*.c
         ${CMAKE_SOURCE_DIR}/src/execute/ranks/comm_nccl*.c)
    list(FILTER cuda_sources EXCLUDE REGEX device_cuda_library)
    file(GLOB cuda_emulation CONFIGURE_DEPENDS ${cuda_emulator}/*.cpp)
    list(APPEND cuda_emulation ${CMAKE_CURRENT_SOURCE_DIR}/support/cuda_calls.c)
    set_source_files_properties(${cuda_kernels} PROPERTIES LANGUAGE CXX COMPILE_OPTIONS
                                                           "-x;c++;-Wno-unknown-pragmas")
    add_library(ridge_cuda_emulated OBJECT ${cuda_kernels} ${cuda_sources}
                                           ${cuda_emulation})
    target_include_directories(
        ridge_cuda_emulated PRIVATE ${cuda_emulator} ${execute_test_folders})
    target_compile_features(ridge_cuda_emulated PRIVATE cxx_std_17)
    target_include_directories(ridge_cuda_emulated PRIVATE ${CMAKE_SOURCE_DIR}/include)
    target_compile_definitions(ridge_cuda_emulated PRIVATE _POSIX_C_SOURCE=200809L)
    # AddressSanitizer, if the C code has it, watches the ends of kernels' arrays;
    # ThreadSanitizer does not follow the contexts of a block.
    string(REGEX MATCHALL "-fsanitize=address[a-z,]*" cuda_sanitizers "${CMAKE_C_FLAGS}")
    target_compile_options(ridge_cuda_emulated PRIVATE
        "$<$<COMPILE_LANGUAGE:CXX>:-O1;-Wall;-Wextra;${cuda_sanitizers}>")
    if(CMAKE_C_FLAGS MATCHES "-fsanitize=thread")
        set_source_files_properties(
            ${cuda_emulator}/cuda_emulator.cpp ${cuda_emulator}/nccl_emulator.cpp
            PROPERTIES COMPILE_OPTIONS -fsanitize=thread)
    endif()
endif()

# The device against the CPU's, and how ranks fail.
set(cuda_support ${CMAKE_CURRENT_SOURCE_DIR}/support)
ridge_test(unit cuda_device LAYER execute SOURCES ${cuda_support}/seeded.c)
ridge_cuda_emulated_test(cuda_device ${cuda_support}/seeded.c)
set(cuda_ranks ${cuda_support}/comm_runs_cuda.c ${cuda_support}/comm_cases.c
               ${cuda_support}/comm_faults.c ${cuda_support}/seeded.c)
ridge_cuda_emulated_test(nccl ${cuda_ranks} ${cuda_support}/comm_data.c)
ridge_cuda_emulated_test(comm_collectives ${cuda_ranks} ${cuda_support}/comm_data.c)
if(TARGET ridge_cuda_headers)
    ridge_test(unit nccl LAYER execute SOURCES ${cuda_ranks}
               ${cuda_support}/comm_data_cuda.c)
    target_link_libraries(test_unit_nccl PRIVATE ridge_cuda_headers)
    ridge_cuda_gpu_test(comm_collectives ${cuda_ranks}
                        ${cuda_support}/comm_data_cuda.c)
endif()

# Kernels against double precision.
foreach(noun kernel_attention kernel_elementwise kernel_experts kernel_loss kernel_norm
             kernel_tokens kernel_update kernel_sinks)
    ridge_cuda_emulated_test(${noun} ${cuda_fixture})
    ridge_cuda_gpu_test(${noun} ${cuda_fixture})
endforeach()
