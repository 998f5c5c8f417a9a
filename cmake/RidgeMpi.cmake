# What src/execute makes ranks of: sums and copies for this CPU, MPI where it is.
include(CheckCCompilerFlag)
list(FILTER RIDGE_EXECUTE_SOURCES EXCLUDE REGEX
     "/comm_(mpi|combine|stream)[a-z0-9_]*\\.c$")

# comm_combine.c is compiled once for each instruction set; one unit must not be
# optimised with another's. Optimised in every build, so that tests run it at full width.
function(ridge_combine isa)
    add_library(ridge_combine_${isa} OBJECT ${CMAKE_SOURCE_DIR}/src/execute/ranks/comm_combine.c)
    target_link_libraries(ridge_combine_${isa} PRIVATE ridge_flags)
    target_include_directories(ridge_combine_${isa}
                               PRIVATE ${CMAKE_SOURCE_DIR}/src/execute/kernels)
    target_compile_definitions(ridge_combine_${isa} PRIVATE RIDGE__ISA=${isa})
    target_compile_options(ridge_combine_${isa} PRIVATE -O3 ${ARGN})
    set_target_properties(ridge_combine_${isa} PROPERTIES INTERPROCEDURAL_OPTIMIZATION
                                                          OFF)
    list(APPEND RIDGE_EXECUTE_SOURCES $<TARGET_OBJECTS:ridge_combine_${isa}>)
    set(RIDGE_EXECUTE_SOURCES ${RIDGE_EXECUTE_SOURCES} PARENT_SCOPE)
endfunction()

check_c_compiler_flag(-march=x86-64-v4 RIDGE_HAS_X86_64_V4)
set(execute_folder ${CMAKE_SOURCE_DIR}/src/execute/ranks)
ridge_combine(base)
if(RIDGE_HAS_X86_64_V4 AND CMAKE_SYSTEM_PROCESSOR MATCHES "x86_64|AMD64")
    ridge_combine(v3 -march=x86-64-v3)
    ridge_combine(v4 -march=x86-64-v4 -mprefer-vector-width=512)
    list(APPEND RIDGE_EXECUTE_SOURCES ${execute_folder}/comm_combine_cpuid.c
         ${execute_folder}/comm_stream_sse2.c)
else()
    list(APPEND RIDGE_EXECUTE_SOURCES ${execute_folder}/comm_combine_single.c
         ${execute_folder}/comm_stream_plain.c)
endif()

# Open MPI's headers and library; its C++ bindings are not used.
option(RIDGE_MPI "Run ranks on MPI too, where Open MPI is found" ON)
set(RIDGE_HAS_MPI OFF CACHE INTERNAL "ranks run on MPI too")
if(RIDGE_MPI)
    pkg_check_modules(OMPI IMPORTED_TARGET ompi-c)
endif()
if(RIDGE_MPI AND OMPI_FOUND)
    set(RIDGE_HAS_MPI ON CACHE INTERNAL "ranks run on MPI too")
    file(GLOB mpi_sources CONFIGURE_DEPENDS ${execute_folder}/comm_mpi*.c)
    list(APPEND RIDGE_EXECUTE_SOURCES ${mpi_sources})
    list(APPEND RIDGE_EXECUTE_LIBRARIES PkgConfig::OMPI)
    list(FILTER RIDGE_EXECUTE_SOURCES EXCLUDE REGEX "/comm_no_mpi\\.c$")
else()
    list(APPEND RIDGE_EXECUTE_SOURCES ${execute_folder}/comm_no_mpi.c)
endif()
