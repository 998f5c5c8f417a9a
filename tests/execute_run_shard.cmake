# Strategies and partitioned programs run on ranks.
set(run_shard_support)
foreach(noun seeded_expr seeded)
    list(APPEND run_shard_support ${CMAKE_SOURCE_DIR}/tests/support/${noun}.c)
endforeach()
ridge_test(property strategy_run_values LAYER execute SOURCES ${run_shard_support}
           TIMEOUT 300)
ridge_test(unit strategy_run LAYER execute
           SOURCES ${CMAKE_SOURCE_DIR}/tests/support/model_fixture.c)
ridge_test(unit partition_run LAYER execute
           SOURCES ${CMAKE_SOURCE_DIR}/tests/support/model_fixture.c)
ridge_test(unit comm_order LAYER execute SOURCES ${comm_sources})

# The program itself under mpirun: its exit code says whether the numbers are right.
if(RIDGE_HAS_MPI AND MPIRUN AND NOT CMAKE_C_FLAGS MATCHES "fsanitize=thread")
    ridge_mpi_test(unit.comm_order_mpi 4 $<TARGET_FILE:test_unit_comm_order> mpi)
    ridge_mpi_test(unit.strategy_run_mpi 4 $<TARGET_FILE:ridge> shard
                   "A[I@x,J] * B[J@y,K] -> C[I@x,K]" --mesh x=2,y=2
                   --dims I=130,J=57,K=101 --run --all --overlap)
    ridge_mpi_test(unit.partition_run_mpi 2 $<TARGET_FILE:ridge> shard --program
                   ${CMAKE_SOURCE_DIR}/tests/golden/shard/programs/small.program
                   --mesh tp=2 --lay "wq[N@tp] wk[K@tp] wv[K@tp] wo[N@tp] w1[F@tp] w2[F@tp]" --run)
    # What Open MPI leaves behind is told apart only in tests that keep its libraries.
    set_property(TEST unit.strategy_run_mpi unit.partition_run_mpi APPEND
                 PROPERTY ENVIRONMENT ASAN_OPTIONS=detect_leaks=0)
endif()
