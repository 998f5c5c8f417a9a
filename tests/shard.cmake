# Tests of src/shard.
set(mesh_arrays ${CMAKE_SOURCE_DIR}/tests/support/mesh_arrays.c
                ${CMAKE_SOURCE_DIR}/tests/support/seeded_expr.c
                ${CMAKE_SOURCE_DIR}/tests/support/seeded.c)

ridge_test(unit expr LAYER shard)
ridge_test(unit strategy LAYER shard)
ridge_test(property strategy_values LAYER shard SOURCES ${mesh_arrays})
ridge_test(property reshard_laws LAYER shard SOURCES ${mesh_arrays})
ridge_test(diff strategy_brute LAYER shard SOURCES ${mesh_arrays})
ridge_test(golden published_sharding LAYER shard SOURCES ${mesh_arrays})
ridge_fuzz(expr LAYER shard)

# Partitioned programs, run on a mesh that is simulated in one process.
set(mesh_machine)
foreach(noun mesh_part mesh_machine mesh_kernels mesh_mixers mesh_experts seeded_program
             seeded partition_compare model_fixture)
    list(APPEND mesh_machine ${CMAKE_SOURCE_DIR}/tests/support/${noun}.c)
endforeach()

ridge_test(property partition_numeric LAYER shard SOURCES ${mesh_machine} TIMEOUT 120)
ridge_test(property parallelism_numeric LAYER shard SOURCES ${mesh_machine} TIMEOUT 120)
ridge_test(property partition_laws LAYER shard SOURCES ${mesh_machine})
ridge_test(diff backward_differences LAYER shard SOURCES ${mesh_machine})
ridge_test(unit partition LAYER shard
           SOURCES ${CMAKE_SOURCE_DIR}/tests/support/model_fixture.c)
ridge_test(unit pipeline LAYER shard
           SOURCES ${CMAKE_SOURCE_DIR}/tests/support/model_fixture.c)
ridge_fuzz(partition LAYER shard)
