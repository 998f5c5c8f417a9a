# Tests of src/model: the arithmetic of models and the catalogue.
set(model_fixture ${CMAKE_SOURCE_DIR}/tests/support/model_fixture.c)

ridge_test(unit routing LAYER model)
ridge_test(unit flops LAYER model SOURCES ${model_fixture})
ridge_test(unit scores_length LAYER model SOURCES ${model_fixture})
ridge_test(unit convention LAYER model SOURCES ${model_fixture})
ridge_test(unit activation LAYER model SOURCES ${model_fixture})
ridge_test(unit scaling_law LAYER model)
ridge_test(unit kv LAYER model SOURCES ${model_fixture})
ridge_test(unit tp LAYER model SOURCES ${model_fixture})
ridge_test(unit safetensors LAYER model SOURCES ${model_fixture})
ridge_test(unit checkpoint LAYER model SOURCES ${model_fixture})
ridge_test(unit model_library LAYER model SOURCES ${model_fixture})
ridge_test(unit model_catalogue LAYER model SOURCES ${model_fixture})
ridge_test(unit model_faults LAYER model SOURCES ${model_fixture})
ridge_test(unit published_transformer LAYER model SOURCES ${model_fixture})
ridge_test(property model_laws LAYER model SOURCES ${model_fixture})
ridge_fuzz(safetensors LAYER model)
ridge_fuzz(index LAYER model)
ridge_fuzz(scaling LAYER model)

# The reader of configs, its counts against published ones, and its fuzz target.
ridge_test(unit config LAYER model SOURCES ${model_fixture})
ridge_test(unit config_error LAYER model SOURCES ${model_fixture})
ridge_test(unit config_quant LAYER model SOURCES ${model_fixture})
ridge_test(unit config_widths LAYER model SOURCES ${model_fixture})
ridge_test(golden published_parameters LAYER model SOURCES ${model_fixture})
ridge_fuzz(config LAYER model)

# Headers of GGUF.
ridge_test(unit gguf LAYER model)
target_compile_definitions(test_unit_gguf
                           PRIVATE SUPPORT_DIR="${CMAKE_SOURCE_DIR}/tests/support")
ridge_fuzz(gguf LAYER model)
