# Tests of src/plan/speculation.
set(speculation_fixture ${CMAKE_SOURCE_DIR}/tests/support/train_fixture.c
                        ${CMAKE_SOURCE_DIR}/tests/support/model_fixture.c
                        ${CMAKE_SOURCE_DIR}/tests/support/serving_fixture.c)
ridge_test(unit speculation LAYER plan SOURCES ${speculation_fixture})
ridge_test(unit speculation_study LAYER plan SOURCES ${speculation_fixture})
ridge_test(diff speculation_tree LAYER plan SOURCES ${CMAKE_SOURCE_DIR}/tests/support/seeded.c)
ridge_test(property speculation_rules LAYER plan SOURCES ${CMAKE_SOURCE_DIR}/tests/support/seeded.c)
ridge_fuzz(speculation LAYER plan)
