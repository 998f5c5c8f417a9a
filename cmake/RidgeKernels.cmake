# Kernels of the CPU for src/execute. kernel_*.c are compiled once for each instruction
# set, as an object library with -march and RIDGE__ISA of its own; the device chooses at
# run time. The products go to oneDNN where it is there.
include(CheckCCompilerFlag)

file(GLOB kernel_sources CONFIGURE_DEPENDS ${CMAKE_SOURCE_DIR}/src/execute/kernel_*.c)
list(FILTER kernel_sources EXCLUDE REGEX "/kernel_choice_[a-z]*\\.c$")
# Their numbers are held to a float64 reference, not to one order of rounding; so they
# may be contracted. They are optimised in every build: tests run them at full width.
set_source_files_properties(
    ${kernel_sources}
    PROPERTIES
        COMPILE_OPTIONS
        "-O3;-ffp-contract=fast;-fopenmp-simd;-fno-math-errno;-fno-trapping-math")

function(ridge_kernels isa)
    add_library(ridge_kernels_${isa} OBJECT ${kernel_sources})
    target_link_libraries(ridge_kernels_${isa} PRIVATE ridge_flags)
    target_include_directories(ridge_kernels_${isa}
                               PRIVATE ${CMAKE_SOURCE_DIR}/src/execute)
    target_compile_definitions(ridge_kernels_${isa} PRIVATE RIDGE__ISA=${isa})
    target_compile_options(ridge_kernels_${isa} PRIVATE ${ARGN})
    # One unit must not be optimised with another's instruction set.
    set_target_properties(ridge_kernels_${isa} PROPERTIES INTERPROCEDURAL_OPTIMIZATION
                                                          OFF)
    list(APPEND RIDGE_EXECUTE_SOURCES $<TARGET_OBJECTS:ridge_kernels_${isa}>)
    set(RIDGE_EXECUTE_SOURCES ${RIDGE_EXECUTE_SOURCES} PARENT_SCOPE)
endfunction()

check_c_compiler_flag(-march=x86-64-v4 RIDGE_HAS_X86_64_V4)
ridge_kernels(base)
if(RIDGE_HAS_X86_64_V4 AND CMAKE_SYSTEM_PROCESSOR MATCHES "x86_64|AMD64")
    ridge_kernels(v3 -march=x86-64-v3)
    ridge_kernels(v4 -march=x86-64-v4 -mprefer-vector-width=512)
    list(APPEND RIDGE_EXECUTE_SOURCES
         ${CMAKE_SOURCE_DIR}/src/execute/kernel_choice_cpuid.c)
else()
    list(APPEND RIDGE_EXECUTE_SOURCES
         ${CMAKE_SOURCE_DIR}/src/execute/kernel_choice_single.c)
endif()

list(APPEND RIDGE_EXECUTE_SOURCES ${CMAKE_SOURCE_DIR}/src/execute/gemm_plain.c)
