# Tests of the CPU's kernels but for products and copies: each against float64.
set(kernel_support ${CMAKE_CURRENT_SOURCE_DIR}/support/kernel_fixture.c
                   ${CMAKE_CURRENT_SOURCE_DIR}/support/kernel_reference.c
                   ${CMAKE_CURRENT_SOURCE_DIR}/support/seeded.c)
ridge_test(unit kernel_attention LAYER execute SOURCES ${kernel_support} TIMEOUT 120)
ridge_test(unit kernel_norm LAYER execute SOURCES ${kernel_support} TIMEOUT 120)
ridge_test(unit kernel_elementwise LAYER execute SOURCES ${kernel_support} TIMEOUT 120)
ridge_test(unit kernel_loss LAYER execute SOURCES ${kernel_support} TIMEOUT 120)
ridge_test(unit kernel_tokens LAYER execute SOURCES ${kernel_support} TIMEOUT 120)
ridge_test(unit kernel_experts LAYER execute SOURCES ${kernel_support} TIMEOUT 120)
ridge_test(unit kernel_update LAYER execute SOURCES ${kernel_support} TIMEOUT 120)
ridge_test(unit whole_gates LAYER execute SOURCES ${kernel_support} TIMEOUT 120)
ridge_test(unit kernel_sinks LAYER execute SOURCES ${kernel_support} TIMEOUT 120)
ridge_test(unit kernel_recurrence LAYER execute SOURCES ${kernel_support} TIMEOUT 120)
ridge_test(diff kernel_gradients LAYER execute SOURCES ${kernel_support} TIMEOUT 120)
