# Strategies and partitioned programs run on ranks.
set(run_shard_support)
foreach(noun seeded_expr seeded)
    list(APPEND run_shard_support ${CMAKE_SOURCE_DIR}/tests/support/${noun}.c)
endforeach()
ridge_test(property strategy_run_values LAYER execute SOURCES ${run_shard_support}
           TIMEOUT 120)
ridge_test(unit strategy_run LAYER execute
           SOURCES ${CMAKE_SOURCE_DIR}/tests/support/model_fixture.c)
ridge_test(unit partition_run LAYER execute
           SOURCES ${CMAKE_SOURCE_DIR}/tests/support/model_fixture.c)
