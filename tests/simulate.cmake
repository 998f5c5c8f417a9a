# Tests of src/simulate.
set(pipeline_build ${CMAKE_SOURCE_DIR}/tests/support/pipeline_build.c
                   ${CMAKE_SOURCE_DIR}/tests/support/seeded.c)
ridge_test(unit pipeline_schedule LAYER simulate SOURCES ${pipeline_build})
ridge_test(unit pipeline_play LAYER simulate SOURCES ${pipeline_build})
ridge_test(property pipeline_laws LAYER simulate SOURCES ${pipeline_build})
ridge_test(diff pipeline_times LAYER simulate SOURCES ${pipeline_build})
set(step_build ${pipeline_build} ${CMAKE_SOURCE_DIR}/tests/support/step_build.c)
ridge_test(unit chance LAYER simulate)
ridge_test(unit failure_play LAYER simulate)
ridge_test(property step_laws LAYER simulate SOURCES ${step_build})
