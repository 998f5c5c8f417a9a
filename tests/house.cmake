# The rules of the house as tests: ctest <kind>.<noun> for each tools/check_<noun>.py,
# and a test that each check can fail.
function(ridge_check kind noun)
    add_test(NAME ${kind}.${noun} COMMAND ${Python3_EXECUTABLE} -B
                                          ${CMAKE_SOURCE_DIR}/tools/check_${noun}.py ${ARGN})
    set_tests_properties(${kind}.${noun} PROPERTIES TIMEOUT 60 LABELS "${kind};quick"
                                                    SKIP_RETURN_CODE 77)
endfunction()

ridge_check(arch circles --build ${CMAKE_BINARY_DIR})
ridge_check(arch includes)
ridge_check(arch layers)
ridge_check(arch tree)
ridge_check(lint banned)
ridge_check(lint format)
ridge_check(lint sizes)
ridge_check(lint sources)
ridge_check(lint words)
if(EXISTS ${CMAKE_SOURCE_DIR}/tools/check_data.py)
    ridge_check(lint data)
endif()

add_test(NAME unit.tools COMMAND ${Python3_EXECUTABLE} -B
                                 ${CMAKE_SOURCE_DIR}/tests/unit/test_tools.py)
set_tests_properties(unit.tools PROPERTIES TIMEOUT 60 LABELS "unit;quick")
add_test(NAME unit.data_check COMMAND ${Python3_EXECUTABLE} -B
                                      ${CMAKE_SOURCE_DIR}/tests/unit/test_data_check.py)
set_tests_properties(unit.data_check PROPERTIES TIMEOUT 60 LABELS "unit;quick")

# Commands in, bytes out: tests/golden/<verb>/<case>/{cmd,out,err,code}.
if(TARGET ridge)
    file(GLOB cases CONFIGURE_DEPENDS ${CMAKE_SOURCE_DIR}/tests/golden/*/*/cmd)
    foreach(cmd ${cases})
        get_filename_component(folder ${cmd} DIRECTORY)
        file(RELATIVE_PATH case ${CMAKE_SOURCE_DIR}/tests/golden ${folder})
        string(REPLACE "/" "." name ${case})
        add_test(NAME golden.${name}
                 COMMAND ${Python3_EXECUTABLE} -B ${CMAKE_SOURCE_DIR}/tools/golden.py --ridge
                         $<TARGET_FILE:ridge> ${case})
        set_tests_properties(golden.${name} PROPERTIES TIMEOUT 60 LABELS "golden;quick")
    endforeach()
    add_test(NAME docs.man_pages COMMAND ${Python3_EXECUTABLE} -B ${CMAKE_SOURCE_DIR}/tools/man_pages.py
                                         --ridge $<TARGET_FILE:ridge>)
    set_tests_properties(docs.man_pages PROPERTIES TIMEOUT 120 LABELS "docs;quick")

    # The commands that README, tour and guide show, with their outputs.
    file(GLOB pages CONFIGURE_DEPENDS RELATIVE ${CMAKE_SOURCE_DIR} ${CMAKE_SOURCE_DIR}/README.md
         ${CMAKE_SOURCE_DIR}/docs/guide/*.md ${CMAKE_SOURCE_DIR}/docs/tour/*.md)
    foreach(page ${pages})
        get_filename_component(name ${page} NAME_WE)
        if(page MATCHES "docs/(guide|tour)/")
            set(name ${CMAKE_MATCH_1}_${name})
        endif()
        add_test(NAME docs.${name}
                 COMMAND ${Python3_EXECUTABLE} -B ${CMAKE_SOURCE_DIR}/tools/readme_output.py
                         --ridge $<TARGET_FILE:ridge> ${page})
        set_tests_properties(docs.${name} PROPERTIES TIMEOUT 240 LABELS "docs;quick")
    endforeach()
endif()
