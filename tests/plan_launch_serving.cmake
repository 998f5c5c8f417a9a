# Launch configurations of serving engines.
set(server_fixture ${CMAKE_SOURCE_DIR}/tests/support/train_fixture.c
                   ${CMAKE_SOURCE_DIR}/tests/support/model_fixture.c
                   ${CMAKE_SOURCE_DIR}/tests/support/server_fixture.c)
ridge_test(unit server_launch LAYER plan SOURCES ${server_fixture})
ridge_test(unit server_halves LAYER plan SOURCES ${server_fixture})
ridge_test(unit server_options LAYER plan SOURCES ${server_fixture})
ridge_test(unit server_shards LAYER plan SOURCES ${server_fixture})
ridge_fuzz(server LAYER plan)
