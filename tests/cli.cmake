ridge_test(unit answer LAYER cli)
ridge_test(unit args LAYER cli)
ridge_test(unit verb_table LAYER cli)

# What the program writes, read by other readers, and what hostile files make of it:
# tests/unit/test_<noun>.py --ridge PROGRAM.
function(ridge_program_test noun)
    add_test(NAME unit.${noun}
             COMMAND ${Python3_EXECUTABLE} -B ${CMAKE_SOURCE_DIR}/tests/unit/test_${noun}.py
                     --ridge $<TARGET_FILE:ridge> ${ARGN})
    set_tests_properties(unit.${noun} PROPERTIES TIMEOUT 120 LABELS "unit;quick")
endfunction()

ridge_program_test(markup --chart $<TARGET_FILE:test_unit_chart>)
ridge_program_test(help_examples)
ridge_program_test(shell)
ridge_program_test(step_trace)
ridge_program_test(export)
ridge_program_test(nsys_reader)
ridge_program_test(profile_cli)
ridge_program_test(serving_export)
ridge_program_test(speculation_cli)

add_test(NAME unit.install
         COMMAND ${Python3_EXECUTABLE} -B ${CMAKE_SOURCE_DIR}/tests/unit/test_install.py --build
                 ${CMAKE_BINARY_DIR} --cc ${CMAKE_C_COMPILER} --cflags=${CMAKE_C_FLAGS})
set_tests_properties(unit.install PROPERTIES TIMEOUT 120 LABELS "unit;quick")

# The Python package; a sanitised library wants its runtime loaded first.
set(preload)
if(CMAKE_C_FLAGS MATCHES "-fsanitize=address" AND CMAKE_C_COMPILER_ID STREQUAL "GNU")
    execute_process(COMMAND ${CMAKE_C_COMPILER} -print-file-name=libasan.so
                    OUTPUT_VARIABLE preload OUTPUT_STRIP_TRAILING_WHITESPACE)
endif()
if(preload OR NOT CMAKE_C_FLAGS MATCHES "-fsanitize")
    add_test(NAME unit.python
             COMMAND ${Python3_EXECUTABLE} -B ${CMAKE_SOURCE_DIR}/tests/unit/test_python.py
                     --library $<TARGET_FILE:libridge> --preload=${preload})
    set_tests_properties(unit.python PROPERTIES TIMEOUT 120 LABELS "unit;quick")
endif()
add_test(NAME docs.python_verbs
         COMMAND ${Python3_EXECUTABLE} -B ${CMAKE_SOURCE_DIR}/tools/python_verbs.py --ridge
                 $<TARGET_FILE:ridge>)
set_tests_properties(docs.python_verbs PROPERTIES TIMEOUT 60 LABELS "docs;quick")

# Training and generation, on threads and under mpirun.
set(mpirun)
if(RIDGE_HAS_MPI)
    find_program(RIDGE_MPIRUN mpirun)
    mark_as_advanced(RIDGE_MPIRUN)
    if(RIDGE_MPIRUN)
        set(mpirun --mpirun ${RIDGE_MPIRUN})
    endif()
endif()
ridge_program_test(run_cli ${mpirun})
set_tests_properties(unit.run_cli PROPERTIES TIMEOUT 300)

ridge_program_test(calibrate)
set_tests_properties(unit.calibrate PROPERTIES TIMEOUT 300)

# Hostile files are refused soon; sanitizers get more time.
set(refusal_s 2)
if(CMAKE_C_FLAGS MATCHES "-fsanitize")
    set(refusal_s 10)
endif()
ridge_program_test(hostile --refusal-s ${refusal_s})

# Samples of measurements, predicted no worse than recorded; and that worse would fail.
add_test(NAME golden.accuracy
         COMMAND ${Python3_EXECUTABLE} -B ${CMAKE_SOURCE_DIR}/tools/accuracy.py --ridge
                 $<TARGET_FILE:ridge>)
set_tests_properties(golden.accuracy PROPERTIES TIMEOUT 120 LABELS "golden;quick")
ridge_program_test(accuracy)
if(TARGET PkgConfig::MICROHTTPD)
    ridge_test(unit page_server LAYER cli)
endif()
