# Tests of src/base.
set(seeded ${CMAKE_SOURCE_DIR}/tests/support/seeded.c)

ridge_test(unit arena LAYER base)
ridge_test(unit ctx LAYER base)
ridge_test(unit str LAYER base)
ridge_test(unit nearest LAYER base)
ridge_test(unit number LAYER base SOURCES ${seeded})
ridge_test(unit format LAYER base)
ridge_test(unit json LAYER base)
ridge_test(unit json_place LAYER base)
ridge_test(unit yaml LAYER base)
ridge_test(unit json_build LAYER base)
ridge_test(unit file LAYER base)
ridge_test(unit stream LAYER base)
ridge_test(unit table LAYER base)
ridge_test(unit progress LAYER base)
ridge_test(unit parallel LAYER base)
ridge_test(property json_laws LAYER base
           SOURCES ${seeded} ${CMAKE_SOURCE_DIR}/tests/support/random_json.c)
ridge_test(property number_laws LAYER base SOURCES ${seeded})
ridge_fuzz(json LAYER base)
ridge_fuzz(number LAYER base)
ridge_fuzz(yaml LAYER base)
ridge_fuzz(unpacked LAYER base)

# Documents as Python's json writes them, read by a program that prints them back.
add_executable(json_echo ${CMAKE_SOURCE_DIR}/tests/diff/json_echo.c)
target_link_libraries(json_echo PRIVATE ridge_base)
add_test(NAME diff.json_python
         COMMAND ${Python3_EXECUTABLE} -B ${CMAKE_SOURCE_DIR}/tests/diff/json_python.py
                 --echo $<TARGET_FILE:json_echo> --folder
                 ${CMAKE_BINARY_DIR}/json_python.dir)
set_tests_properties(diff.json_python PROPERTIES TIMEOUT 120 LABELS "diff;quick")

# Memory that runs out, from here up to the search; it links the layers above.
ridge_test(unit faults LAYER plan TIMEOUT 180
           SOURCES ${CMAKE_SOURCE_DIR}/tests/support/train_fixture.c
                   ${CMAKE_SOURCE_DIR}/tests/support/model_fixture.c)
