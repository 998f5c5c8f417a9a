# Tests of src/model: the arithmetic of models and the catalogue.
set(model_fixture ${CMAKE_SOURCE_DIR}/tests/support/model_fixture.c)

ridge_test(unit flops LAYER model SOURCES ${model_fixture})
ridge_test(unit convention LAYER model SOURCES ${model_fixture})
ridge_test(unit activation LAYER model SOURCES ${model_fixture})
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

# The reader of configs, its counts against published ones, and its fuzz target.
ridge_test(unit config LAYER model SOURCES ${model_fixture})
ridge_test(unit config_error LAYER model SOURCES ${model_fixture})
ridge_test(unit config_quant LAYER model SOURCES ${model_fixture})
ridge_test(golden published_parameters LAYER model SOURCES ${model_fixture})
ridge_fuzz(config LAYER model)
