# CUDA for src/execute: device_cuda*.c, device_cuda_*.cu and comm_nccl*.c where nvcc,
# cuBLASLt and NCCL are; device_no_cuda.c otherwise. RIDGE_CUDA: AUTO takes what is
# there, ON fails without, OFF leaves it.
#
# nvcc is run by rules of our own instead of as a language of CMake's: the flags of C
# (warnings, sanitizers, LTO) then stay C's, and no link needs the C++ library. cudart is
# linked, statically; cuBLASLt and NCCL are opened at run time, by name or where they are
# now, so that a program that asks for no GPU starts as fast as without them.
set(RIDGE_CUDA AUTO CACHE STRING "The CUDA engine: AUTO, ON or OFF")
set_property(CACHE RIDGE_CUDA PROPERTY STRINGS AUTO ON OFF)
set(RIDGE_CUDA_ARCHITECTURES "80;90" CACHE STRING
    "GPUs to compile for; the last one also as PTX, for later ones")

list(FILTER RIDGE_EXECUTE_SOURCES EXCLUDE REGEX
     "/(device_cuda|device_no_cuda|comm_nccl)[a-z_]*\\.c$")

# The name that the loader knows a library by: libnccl.so.2 of libnccl.so.
function(ridge_cuda_name file result)
    get_filename_component(real ${file} REALPATH)
    get_filename_component(name ${real} NAME)
    string(REGEX REPLACE "(\\.so\\.[0-9]+).*" "\\1" name ${name})
    set(${result} ${name} PARENT_SCOPE)
endfunction()

set(RIDGE_HAS_CUDA OFF)
set(ridge_cuda_lacks)
if(RIDGE_CUDA)
    find_package(CUDAToolkit 11.4 QUIET)
    find_program(RIDGE_NVCC nvcc HINTS ${CUDAToolkit_BIN_DIR} PATHS /usr/local/cuda/bin)
    find_path(RIDGE_NCCL_INCLUDE nccl.h HINTS ${CUDAToolkit_INCLUDE_DIRS})
    find_library(RIDGE_NCCL nccl HINTS ${CUDAToolkit_LIBRARY_DIR})
    find_library(RIDGE_CUBLASLT cublasLt HINTS ${CUDAToolkit_LIBRARY_DIR})
    if(NOT CUDAToolkit_FOUND OR NOT RIDGE_NVCC OR NOT TARGET CUDA::cudart_static)
        list(APPEND ridge_cuda_lacks "the CUDA toolkit (11.4 or later)")
    endif()
    if(NOT RIDGE_CUBLASLT)
        list(APPEND ridge_cuda_lacks cuBLASLt)
    endif()
    if(NOT RIDGE_NCCL OR NOT RIDGE_NCCL_INCLUDE)
        list(APPEND ridge_cuda_lacks NCCL)
    endif()
    list(JOIN ridge_cuda_lacks ", " ridge_cuda_lacks)
    if(ridge_cuda_lacks STREQUAL "")
        set(RIDGE_HAS_CUDA ON)
    elseif(NOT RIDGE_CUDA STREQUAL "AUTO")
        message(FATAL_ERROR "RIDGE_CUDA is ${RIDGE_CUDA}, but this is missing: "
                            "${ridge_cuda_lacks}")
    endif()
endif()

set(ridge_cuda_flags -std=c++17 -O3 -I${CMAKE_SOURCE_DIR}/include
    -I${CMAKE_SOURCE_DIR}/src/execute/device
    -I${CMAKE_SOURCE_DIR}/src/execute/ranks
    -Xcompiler=-fPIC,-Wall,-Wextra,-fno-exceptions,-fno-rtti,-fno-threadsafe-statics)
if(CMAKE_COMPILE_WARNING_AS_ERROR)
    list(APPEND ridge_cuda_flags -Werror=all-warnings -Xcompiler=-Werror)
endif()
# Debug builds keep to PTX, which the driver compiles when a GPU first runs it: most of
# nvcc's time goes into machine code.
list(GET RIDGE_CUDA_ARCHITECTURES 0 ridge_cuda_ptx)
if(NOT CMAKE_BUILD_TYPE STREQUAL "Debug")
    foreach(architecture ${RIDGE_CUDA_ARCHITECTURES})
        list(APPEND ridge_cuda_flags
             -gencode=arch=compute_${architecture},code=sm_${architecture})
        set(ridge_cuda_ptx ${architecture})
    endforeach()
endif()
list(APPEND ridge_cuda_flags
     -gencode=arch=compute_${ridge_cuda_ptx},code=compute_${ridge_cuda_ptx})

# One .cu file to an object that any C link takes.
function(ridge_cuda_object source)
    get_filename_component(noun ${source} NAME_WE)
    set(object ${CMAKE_CURRENT_BINARY_DIR}/${noun}.cu.o)
    add_custom_command(
        OUTPUT ${object}
        COMMAND ${CMAKE_C_COMPILER_LAUNCHER} ${RIDGE_NVCC} ${ridge_cuda_flags} -MD -MF
                ${object}.d -MT ${object} -c ${source} -o ${object}
        DEPENDS ${source}
        DEPFILE ${object}.d
        COMMENT "Building CUDA object ${noun}.cu.o"
        VERBATIM)
    set_source_files_properties(${object} PROPERTIES EXTERNAL_OBJECT ON GENERATED ON)
    list(APPEND RIDGE_EXECUTE_SOURCES ${object})
    set(RIDGE_EXECUTE_SOURCES ${RIDGE_EXECUTE_SOURCES} PARENT_SCOPE)
endfunction()

if(RIDGE_HAS_CUDA)
    file(GLOB ridge_cuda_kernels CONFIGURE_DEPENDS
         ${CMAKE_SOURCE_DIR}/src/execute/device/device_cuda_*.cu)
    foreach(source ${ridge_cuda_kernels})
        ridge_cuda_object(${source})
    endforeach()
    file(GLOB ridge_cuda_sources CONFIGURE_DEPENDS
         ${CMAKE_SOURCE_DIR}/src/execute/device/device_cuda*.c
         ${CMAKE_SOURCE_DIR}/src/execute/ranks/comm_nccl*.c)
    ridge_cuda_name(${RIDGE_CUBLASLT} cublaslt_name)
    ridge_cuda_name(${RIDGE_NCCL} nccl_name)
    set_source_files_properties(
        ${CMAKE_SOURCE_DIR}/src/execute/device/device_cuda_library.c
        PROPERTIES COMPILE_DEFINITIONS
                   "RIDGE_CUBLASLT_NAME=\"${cublaslt_name}\";RIDGE_CUBLASLT_FILE=\"${RIDGE_CUBLASLT}\";RIDGE_NCCL_NAME=\"${nccl_name}\";RIDGE_NCCL_FILE=\"${RIDGE_NCCL}\"")
    add_library(ridge_cuda_headers INTERFACE)
    target_include_directories(ridge_cuda_headers SYSTEM INTERFACE
                               ${CUDAToolkit_INCLUDE_DIRS} ${RIDGE_NCCL_INCLUDE})
    list(APPEND RIDGE_EXECUTE_SOURCES ${ridge_cuda_sources})
    list(APPEND RIDGE_EXECUTE_LIBRARIES ridge_cuda_headers CUDA::cudart_static
         ${CMAKE_DL_LIBS})
    message(STATUS "CUDA engine: ${RIDGE_NVCC} ${CUDAToolkit_VERSION}, ${RIDGE_NCCL}")
else()
    list(APPEND RIDGE_EXECUTE_SOURCES ${CMAKE_SOURCE_DIR}/src/execute/device/device_no_cuda.c)
    message(STATUS "CUDA engine: none (RIDGE_CUDA=${RIDGE_CUDA}; "
                   "missing: ${ridge_cuda_lacks})")
endif()
