# Tests of src/plan/serving.
set(serving_fixture ${train_fixture} ${CMAKE_SOURCE_DIR}/tests/support/serving_fixture.c)

ridge_test(property serving_laws LAYER plan SOURCES ${serving_fixture} TIMEOUT 120)
