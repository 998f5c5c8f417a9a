# Tests of text and files: tokenizers, token data, weights of others, checkpoints.
set(text_support ${CMAKE_CURRENT_SOURCE_DIR}/support/own_folder.c
                 ${CMAKE_CURRENT_SOURCE_DIR}/support/seeded.c)
set(tokenizer_support ${text_support} ${CMAKE_CURRENT_SOURCE_DIR}/support/tokenizer_build.c)
set(weights_support ${text_support} ${CMAKE_CURRENT_SOURCE_DIR}/support/weights_build.c)

ridge_test(unit tokenizer LAYER execute SOURCES ${tokenizer_support})
ridge_test(unit tokenizer_error LAYER execute SOURCES ${tokenizer_support})
ridge_test(unit tokenizer_words LAYER execute SOURCES ${tokenizer_support})
ridge_test(property tokenizer_laws LAYER execute SOURCES ${tokenizer_support})
ridge_test(unit token_data LAYER execute SOURCES ${text_support})
ridge_test(unit weight_source LAYER execute SOURCES ${weights_support})
ridge_test(unit gpt2_weights LAYER execute
           SOURCES ${weights_support} ${CMAKE_CURRENT_SOURCE_DIR}/support/model_fixture.c)
ridge_test(unit llama_weights LAYER execute SOURCES ${weights_support})
ridge_test(unit olmo2_weights LAYER execute SOURCES ${weights_support}
           ${CMAKE_CURRENT_SOURCE_DIR}/support/double_layers.c)
ridge_test(unit recurrent_weights LAYER execute SOURCES ${weights_support}
           ${CMAKE_CURRENT_SOURCE_DIR}/support/double_layers.c)
ridge_test(unit llama2c_checkpoint LAYER execute SOURCES ${text_support})
ridge_test(unit numerics LAYER execute SOURCES ${text_support})
ridge_test(unit checkpoint_write LAYER execute SOURCES ${text_support})
ridge_test(unit text_faults LAYER execute SOURCES ${tokenizer_support}
           ${CMAKE_CURRENT_SOURCE_DIR}/support/weights_build.c)
ridge_test(property checkpoint_laws LAYER execute SOURCES ${text_support})
ridge_test(property stored_copy LAYER execute SOURCES ${text_support})

ridge_fuzz(tokenizer LAYER execute)
ridge_fuzz(llama2c LAYER execute)
ridge_fuzz(checkpoint LAYER execute)
ridge_fuzz(numerics LAYER execute)
