# Tests of src/program: lowering, counts, gradients, notation.
set(model_fixture ${CMAKE_SOURCE_DIR}/tests/support/model_fixture.c)
set(program_fixture ${CMAKE_SOURCE_DIR}/tests/support/program_fixture.c ${model_fixture})

ridge_test(unit program_lower LAYER program SOURCES ${program_fixture})
ridge_test(unit program_counts LAYER program SOURCES ${program_fixture} TIMEOUT 120)
ridge_test(unit program_parse LAYER program SOURCES ${program_fixture})
ridge_test(unit program_backward LAYER program SOURCES ${program_fixture})
ridge_test(unit program_resize LAYER program SOURCES ${program_fixture})
ridge_test(unit program_faults LAYER program SOURCES ${program_fixture})
ridge_test(unit operation_count LAYER program SOURCES ${program_fixture})
ridge_test(property program_laws LAYER program SOURCES ${program_fixture} TIMEOUT 120)
ridge_fuzz(program LAYER program)
ridge_fuzz(lowering LAYER program)

# Gradients against finite differences, by the machine that runs partitioned programs.
set(gradient_machine ${program_fixture})
foreach(noun mesh_part mesh_machine mesh_kernels mesh_mixers mesh_experts seeded)
    list(APPEND gradient_machine ${CMAKE_SOURCE_DIR}/tests/support/${noun}.c)
endforeach()
ridge_test(diff gradient_values LAYER shard SOURCES ${gradient_machine} TIMEOUT 120)
