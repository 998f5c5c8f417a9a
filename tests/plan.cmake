# Tests of src/plan.
set(train_fixture ${CMAKE_SOURCE_DIR}/tests/support/train_fixture.c
                  ${CMAKE_SOURCE_DIR}/tests/support/model_fixture.c)

foreach(noun thresholds knobs precision train_check)
    ridge_test(unit ${noun} LAYER plan SOURCES ${train_fixture})
endforeach()
ridge_test(diff train_brute LAYER plan SOURCES ${train_fixture} TIMEOUT 300)
set(published_row ${CMAKE_SOURCE_DIR}/tests/support/published_row.c)
ridge_test(golden training_cases LAYER plan SOURCES ${train_fixture} ${published_row})
ridge_test(golden training_gpu_cases LAYER plan
           SOURCES ${train_fixture} ${published_row}
                   ${CMAKE_SOURCE_DIR}/tests/support/network_build.c)
