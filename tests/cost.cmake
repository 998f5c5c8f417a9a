# Tests of src/cost.
set(network_build ${CMAKE_SOURCE_DIR}/tests/support/network_build.c)

ridge_test(unit streaming_softmax LAYER cost)
ridge_test(unit collective LAYER cost SOURCES ${network_build})
ridge_test(unit message_route LAYER cost SOURCES ${network_build})
ridge_test(property collective_laws LAYER cost SOURCES ${network_build})
ridge_test(diff link_load LAYER cost SOURCES ${network_build})
ridge_test(golden published_collectives LAYER cost SOURCES ${network_build})

ridge_test(unit matmul_cost LAYER cost)
ridge_test(unit matmul_shape LAYER cost)
ridge_test(unit attention_cost LAYER cost)
ridge_test(unit stream_cost LAYER cost)
ridge_test(unit measured_range LAYER cost)
ridge_test(unit measured_rate LAYER cost)
ridge_test(unit critical LAYER cost)
ridge_test(unit einsum LAYER cost)
ridge_test(unit operation LAYER cost)
ridge_test(unit roofline LAYER cost)
ridge_test(property op_cost LAYER cost)
ridge_test(golden published_rooflines LAYER cost)
ridge_fuzz(einsum LAYER cost)
ridge_test(unit call_cost LAYER cost)
ridge_test(unit comm_library LAYER cost SOURCES ${network_build})
ridge_test(unit strategy_cost LAYER cost SOURCES ${network_build})

set(program_build ${CMAKE_SOURCE_DIR}/tests/support/program_build.c)
set(layout_build ${CMAKE_SOURCE_DIR}/tests/support/layout_build.c
                 ${CMAKE_SOURCE_DIR}/tests/support/model_fixture.c)
ridge_test(unit operation_time LAYER cost SOURCES ${program_build} ${network_build})
ridge_test(unit timeline LAYER cost SOURCES ${program_build} ${network_build})
ridge_test(unit timeline_trace LAYER cost SOURCES ${program_build} ${network_build})
add_test(NAME unit.timeline_trace_json
         COMMAND ${Python3_EXECUTABLE} -B ${CMAKE_SOURCE_DIR}/tests/unit/test_timeline_trace.py
                 ${CMAKE_BINARY_DIR}/tests)
set_tests_properties(unit.timeline_trace PROPERTIES FIXTURES_SETUP timeline_trace)
set_tests_properties(unit.timeline_trace_json PROPERTIES FIXTURES_REQUIRED timeline_trace
                                                         TIMEOUT 60 LABELS "unit;quick")
ridge_test(property timeline_laws LAYER cost
           SOURCES ${layout_build} ${network_build} ${CMAKE_SOURCE_DIR}/tests/support/seeded.c)
ridge_test(diff timeline_closed LAYER cost SOURCES ${layout_build})
ridge_test(golden published_gpu_layouts LAYER cost)
