# MPI for src/execute: comm_mpi.c where Open MPI is, comm_no_mpi.c otherwise.
list(APPEND RIDGE_EXECUTE_SOURCES ${CMAKE_SOURCE_DIR}/src/execute/comm_no_mpi.c)
