# Kernels of the CPU for src/execute. kernel_*.c are compiled once for each instruction
# set, as an object library with -march and RIDGE__ISA of its own; the device chooses at
# run time. The products go to oneDNN where it is there.
include(CheckCCompilerFlag)
include(CheckCSourceCompiles)

file(GLOB kernel_sources CONFIGURE_DEPENDS ${CMAKE_SOURCE_DIR}/src/execute/kernels/kernel_*.c)
list(FILTER kernel_sources EXCLUDE REGEX "/kernel_choice_[a-z]*\\.c$")
# Their numbers are held to a float64 reference, not to one order of rounding; so they
# may be contracted. They are optimised in every build: tests run them at full width.
set(kernel_flags -O3 -ffp-contract=fast -fopenmp-simd -fno-math-errno
                 -fno-trapping-math)
if(CMAKE_C_COMPILER_ID MATCHES Clang)
    # With a sanitizer's checks in it a loop may stay scalar: as well.
    list(APPEND kernel_flags -Wno-pass-failed)
endif()
set_source_files_properties(${kernel_sources} PROPERTIES COMPILE_OPTIONS
                                                         "${kernel_flags}")

ridge_layer_folders(execute execute_folders)

function(ridge_kernels isa)
    add_library(ridge_kernels_${isa} OBJECT ${kernel_sources})
    target_link_libraries(ridge_kernels_${isa} PRIVATE ridge_flags)
    target_include_directories(ridge_kernels_${isa}
                               PRIVATE ${execute_folders})
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
         ${CMAKE_SOURCE_DIR}/src/execute/kernels/kernel_choice_cpuid.c)
else()
    list(APPEND RIDGE_EXECUTE_SOURCES
         ${CMAKE_SOURCE_DIR}/src/execute/kernels/kernel_choice_single.c)
endif()

# oneDNN (version 2, whose interface the third changed) is called from the team's
# threads, one thread a call. It can be told to start none of its own if it was built with
# GNU's OpenMP, or without threads.
option(RIDGE_DNNL "Use oneDNN for matrix products where it is installed" ON)
list(FILTER RIDGE_EXECUTE_SOURCES EXCLUDE REGEX "/gemm_dnnl[a-z_]*\\.c$")
find_path(RIDGE_DNNL_INCLUDE dnnl.h)
find_library(RIDGE_DNNL_LIBRARY dnnl)
find_library(RIDGE_OPENMP_LIBRARY NAMES gomp libgomp.so.1)
mark_as_advanced(RIDGE_DNNL_INCLUDE RIDGE_DNNL_LIBRARY RIDGE_OPENMP_LIBRARY)

function(ridge_dnnl_check runtime result)
    set(CMAKE_REQUIRED_INCLUDES ${RIDGE_DNNL_INCLUDE})
    check_c_source_compiles(
        "#include <dnnl.h>
        _Static_assert(DNNL_VERSION_MAJOR == 2, \"\");
        _Static_assert(DNNL_CPU_RUNTIME == DNNL_RUNTIME_${runtime}, \"\");
        int main(void) { return 0; }"
        ${result})
    set(${result} ${${result}} PARENT_SCOPE)
endfunction()

set(RIDGE_GEMM_SOURCES gemm_plain.c)
if(RIDGE_DNNL AND RIDGE_DNNL_INCLUDE AND RIDGE_DNNL_LIBRARY)
    ridge_dnnl_check(SEQ RIDGE_DNNL_IS_SINGLE)
    ridge_dnnl_check(OMP RIDGE_DNNL_IS_OPENMP)
    if(RIDGE_DNNL_IS_SINGLE)
        set(RIDGE_GEMM_SOURCES gemm_dnnl.c gemm_dnnl_single.c)
        list(APPEND RIDGE_EXECUTE_LIBRARIES ${RIDGE_DNNL_LIBRARY})
    elseif(RIDGE_DNNL_IS_OPENMP AND RIDGE_OPENMP_LIBRARY)
        set(RIDGE_GEMM_SOURCES gemm_dnnl.c gemm_dnnl_openmp.c)
        list(APPEND RIDGE_EXECUTE_LIBRARIES ${RIDGE_DNNL_LIBRARY}
             ${RIDGE_OPENMP_LIBRARY})
    endif()
endif()
message(STATUS "Matrix products: ${RIDGE_GEMM_SOURCES}")
list(TRANSFORM RIDGE_GEMM_SOURCES PREPEND ${CMAKE_SOURCE_DIR}/src/execute/device/)
list(APPEND RIDGE_EXECUTE_SOURCES ${RIDGE_GEMM_SOURCES})
