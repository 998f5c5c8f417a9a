ridge_test(unit args LAYER cli)
ridge_test(unit verb_table LAYER cli)

# What the program writes, read by other readers: XML, JSON, shells; and hostile files.
foreach(noun markup shell hostile)
    add_test(NAME unit.${noun}
             COMMAND ${Python3_EXECUTABLE} -B ${CMAKE_SOURCE_DIR}/tests/unit/test_${noun}.py
                     --ridge $<TARGET_FILE:ridge> --chart $<TARGET_FILE:test_unit_chart>)
    set_tests_properties(unit.${noun} PROPERTIES TIMEOUT 120 LABELS "unit;quick")
endforeach()
