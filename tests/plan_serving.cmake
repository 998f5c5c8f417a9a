# Tests of src/plan/serving.
set(serving_fixture ${train_fixture} ${CMAKE_SOURCE_DIR}/tests/support/serving_fixture.c)

ridge_test(property serving_laws LAYER plan SOURCES ${serving_fixture} TIMEOUT 120)
ridge_test(unit serving_memory LAYER plan SOURCES ${serving_fixture})
ridge_test(property serving_layouts LAYER plan SOURCES ${serving_fixture} TIMEOUT 120)
ridge_test(unit serving_step LAYER plan SOURCES ${serving_fixture})
ridge_test(unit serving_kernels LAYER plan SOURCES ${serving_fixture})
ridge_test(unit serving_tables LAYER plan SOURCES ${serving_fixture})
ridge_test(unit serving_overlap LAYER plan SOURCES ${serving_fixture})
ridge_test(unit serving_copies LAYER plan SOURCES ${serving_fixture})
ridge_test(diff serving_shared LAYER plan SOURCES ${serving_fixture} TIMEOUT 60)
