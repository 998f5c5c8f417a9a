# Tests of src/simulate/requests.
set(serving_build ${CMAKE_SOURCE_DIR}/tests/support/serving_build.c
                  ${CMAKE_SOURCE_DIR}/tests/support/seeded.c)
ridge_test(unit speed_table LAYER simulate)
ridge_test(unit latency_sketch LAYER simulate)
ridge_test(unit page_cache LAYER simulate)
ridge_test(unit request_file LAYER simulate SOURCES ${CMAKE_SOURCE_DIR}/tests/support/own_folder.c)
ridge_test(unit request_stream LAYER simulate)
set(serving_listed ${serving_build} ${CMAKE_SOURCE_DIR}/tests/support/listed_requests.c)
ridge_test(unit engine_rules LAYER simulate SOURCES ${serving_listed})
ridge_test(unit serving_play LAYER simulate SOURCES ${serving_listed})
ridge_test(diff serving_steps LAYER simulate SOURCES ${serving_build})
ridge_fuzz(requests LAYER simulate)
ridge_test(unit service_deploy LAYER plan)
