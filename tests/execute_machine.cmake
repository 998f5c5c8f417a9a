# The machine: programs on ranks against the simulated mesh.
set(machine_support)
foreach(noun mesh_part mesh_machine mesh_kernels mesh_mixers mesh_experts seeded
             model_fixture)
    list(APPEND machine_support ${CMAKE_SOURCE_DIR}/tests/support/${noun}.c)
endforeach()
ridge_test(property machine_numeric LAYER execute SOURCES ${machine_support} TIMEOUT 120)
ridge_test(unit learning_rate LAYER execute)
ridge_test(unit update_rules LAYER execute
           SOURCES ${CMAKE_SOURCE_DIR}/tests/support/model_fixture.c
                   ${CMAKE_SOURCE_DIR}/tests/support/own_folder.c)
set(layout_support ${CMAKE_SOURCE_DIR}/tests/support/model_fixture.c
                   ${CMAKE_SOURCE_DIR}/tests/support/layout_runs.c)
ridge_test(diff run_layouts LAYER execute SOURCES ${layout_support} TIMEOUT 240)
ridge_test(diff run_arithmetics LAYER execute SOURCES ${layout_support} TIMEOUT 240)
ridge_test(diff run_recurrent LAYER execute SOURCES ${layout_support} TIMEOUT 240)
