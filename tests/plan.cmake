# Tests of src/plan.
set(train_fixture ${CMAKE_SOURCE_DIR}/tests/support/train_fixture.c
                  ${CMAKE_SOURCE_DIR}/tests/support/model_fixture.c)

ridge_test(diff train_brute LAYER plan SOURCES ${train_fixture} TIMEOUT 300)
