# Tests of src/plan.
set(train_fixture ${CMAKE_SOURCE_DIR}/tests/support/train_fixture.c
                  ${CMAKE_SOURCE_DIR}/tests/support/model_fixture.c)

ridge_test(unit thresholds LAYER plan SOURCES ${train_fixture})
ridge_test(unit knobs LAYER plan SOURCES ${train_fixture})
ridge_test(unit precision LAYER plan SOURCES ${train_fixture})
ridge_test(unit plan_file LAYER plan SOURCES ${train_fixture})
ridge_test(unit train_check LAYER plan SOURCES ${train_fixture})
ridge_test(unit train_price LAYER plan SOURCES ${train_fixture})
ridge_test(unit validation_summary LAYER plan SOURCES ${train_fixture})
ridge_test(unit stack_time LAYER plan SOURCES ${train_fixture})
ridge_test(unit train_explain LAYER plan SOURCES ${train_fixture})
ridge_test(unit reasons LAYER plan SOURCES ${train_fixture})
ridge_test(unit step_program LAYER plan SOURCES ${train_fixture})
ridge_test(unit train_step LAYER plan SOURCES ${train_fixture})

ridge_test(unit goodput LAYER plan)
ridge_test(unit run_cost LAYER plan SOURCES ${train_fixture})
ridge_test(unit offer_choice LAYER plan SOURCES ${train_fixture} TIMEOUT 120)
ridge_test(unit scaling_sweep LAYER plan SOURCES ${train_fixture})
ridge_test(unit sizing_budget LAYER plan SOURCES ${train_fixture})
ridge_test(property goodput_laws LAYER plan SOURCES ${CMAKE_SOURCE_DIR}/tests/support/seeded.c)

ridge_test(property train_laws LAYER plan SOURCES ${train_fixture} TIMEOUT 120)
ridge_test(diff layout_timeline LAYER plan SOURCES ${train_fixture})
ridge_test(diff step_played LAYER plan SOURCES ${train_fixture})
ridge_test(diff fleet_deal LAYER plan SOURCES ${train_fixture})
ridge_test(diff fleet_brute LAYER plan SOURCES ${train_fixture} TIMEOUT 600)
ridge_test(diff train_brute LAYER plan SOURCES ${train_fixture} TIMEOUT 600)
set(published_row ${CMAKE_SOURCE_DIR}/tests/support/published_row.c)
ridge_test(golden training_cases LAYER plan SOURCES ${train_fixture} ${published_row})
ridge_test(golden serving_cases LAYER plan SOURCES ${train_fixture} ${published_row})
ridge_test(golden training_gpu_cases LAYER plan
           SOURCES ${train_fixture} ${published_row}
                   ${CMAKE_SOURCE_DIR}/tests/support/network_build.c)
ridge_fuzz(plan LAYER plan)
ridge_fuzz(knobs LAYER plan)
ridge_fuzz(sweep LAYER plan)

ridge_test(unit measured_csv LAYER plan)
ridge_test(unit measured_op LAYER plan)
ridge_test(unit error_summary LAYER plan)
ridge_fuzz(measured LAYER plan)
ridge_test(unit served_run LAYER plan SOURCES ${train_fixture})
ridge_fuzz(served LAYER plan)
ridge_test(diff chain_brute LAYER plan)
ridge_test(property chain_values LAYER plan
           SOURCES ${CMAKE_SOURCE_DIR}/tests/support/mesh_arrays.c
                   ${CMAKE_SOURCE_DIR}/tests/support/seeded.c)

set(launch_fixture ${train_fixture} ${CMAKE_SOURCE_DIR}/tests/support/launch_fixture.c)
ridge_test(unit launch_megatron LAYER plan SOURCES ${launch_fixture})
ridge_test(unit launch_maxtext LAYER plan SOURCES ${launch_fixture})
ridge_test(unit launch_torchtitan LAYER plan SOURCES ${launch_fixture})
ridge_test(unit launch_export LAYER plan SOURCES ${launch_fixture})
ridge_test(unit launch_names LAYER plan SOURCES ${launch_fixture})
ridge_fuzz(launch LAYER plan)

set(service_fixture ${train_fixture} ${CMAKE_SOURCE_DIR}/tests/support/invented_server.c)
ridge_test(diff service_brute LAYER plan SOURCES ${service_fixture} TIMEOUT 120)
