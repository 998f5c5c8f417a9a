# CUDA for src/execute: device_cuda.cu and comm_nccl.c where nvcc, cuBLASLt and NCCL are.
list(APPEND RIDGE_EXECUTE_SOURCES ${CMAKE_SOURCE_DIR}/src/execute/device_no_cuda.c)
