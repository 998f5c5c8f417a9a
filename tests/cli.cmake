ridge_test(unit args LAYER cli)
ridge_test(unit verb_table LAYER cli)

# What the program writes, read by other readers: XML, JSON, shells; and hostile files,
# which are refused soon, for which sanitizers get more time.
set(refusal_s 2)
if(CMAKE_C_FLAGS MATCHES "-fsanitize")
    set(refusal_s 10)
endif()
foreach(noun markup shell hostile)
    add_test(NAME unit.${noun}
             COMMAND ${Python3_EXECUTABLE} -B ${CMAKE_SOURCE_DIR}/tests/unit/test_${noun}.py
                     --ridge $<TARGET_FILE:ridge> --chart $<TARGET_FILE:test_unit_chart> --refusal-s ${refusal_s})
    set_tests_properties(unit.${noun} PROPERTIES TIMEOUT 120 LABELS "unit;quick")
endforeach()
