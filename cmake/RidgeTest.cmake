# ridge_test(unit slice LAYER hardware [SOURCES more.c] [TIMEOUT s])
#
# Builds tests/<kind>/test_<noun>.c with cmocka, linked with that layer and what it may
# use, as ctest <kind>.<noun>.
function(ridge_test kind noun)
    cmake_parse_arguments(ARG "" "LAYER;TIMEOUT" "SOURCES;ARGS" ${ARGN})
    if(NOT ARG_TIMEOUT)
        set(ARG_TIMEOUT 60)
    endif()
    set(target test_${kind}_${noun})
    add_executable(${target} ${CMAKE_SOURCE_DIR}/tests/${kind}/test_${noun}.c
                             ${ARG_SOURCES})
    ridge_layer_folders(${ARG_LAYER} folders)
    target_include_directories(${target} PRIVATE ${CMAKE_SOURCE_DIR}/tests/support ${folders})
    target_compile_definitions(
        ${target} PRIVATE RIDGE_TEST_DIR="${CMAKE_SOURCE_DIR}/tests"
                          RIDGE_DATA_DIR="${CMAKE_SOURCE_DIR}/data"
                          RIDGE_BUILD_DIR="${CMAKE_BINARY_DIR}")
    target_link_libraries(${target} PRIVATE ridge_test_support ridge_${ARG_LAYER}
                                            ${CMOCKA_LIBRARIES})
    add_test(NAME ${kind}.${noun} COMMAND ${target} ${ARG_ARGS})
    set_tests_properties(
        ${kind}.${noun}
        PROPERTIES TIMEOUT ${ARG_TIMEOUT} LABELS "${kind};quick" ENVIRONMENT
                   TSAN_OPTIONS=suppressions=${CMAKE_SOURCE_DIR}/tests/support/dnnl.supp)
endfunction()

# All fuzz programs: cmake --build build/fuzz --target ridge_fuzzers
add_custom_target(ridge_fuzzers)

# ridge_fuzz(json LAYER base)
#
# tests/fuzz/fuzz_<noun>.c holds LLVMFuzzerTestOneInput. With RIDGE_FUZZ it becomes a
# libFuzzer program fuzz_<noun>; otherwise it is linked with replay_main.c and ctest
# fuzz.<noun> runs it over tests/fuzz/corpus/<noun>. AS OTHER: fuzz_<other>.c over a
# corpus of its own.
function(ridge_fuzz noun)
    cmake_parse_arguments(ARG "" "LAYER;AS" "SOURCES" ${ARGN})
    if(NOT ARG_AS)
        set(ARG_AS ${noun})
    endif()
    set(corpus ${CMAKE_SOURCE_DIR}/tests/fuzz/corpus/${noun})
    set(source ${CMAKE_SOURCE_DIR}/tests/fuzz/fuzz_${ARG_AS}.c)
    if(RIDGE_FUZZ)
        add_executable(fuzz_${noun} ${source} ${ARG_SOURCES})
        target_link_options(fuzz_${noun} PRIVATE -fsanitize=fuzzer,address,undefined)
    else()
        add_executable(fuzz_${noun} ${source} ${ARG_SOURCES}
                                    ${CMAKE_SOURCE_DIR}/tests/fuzz/replay_main.c)
        add_test(NAME fuzz.${noun} COMMAND fuzz_${noun} ${corpus})
        set_tests_properties(fuzz.${noun} PROPERTIES TIMEOUT 120 LABELS "fuzz;quick")
    endif()
    add_dependencies(ridge_fuzzers fuzz_${noun})
    ridge_layer_folders(${ARG_LAYER} folders)
    target_include_directories(fuzz_${noun} PRIVATE ${folders})
    target_link_libraries(fuzz_${noun} PRIVATE ridge_${ARG_LAYER})
endfunction()
