# ridge_layer(cost SOURCES chip_time.c USES base hardware)
#
# One static library per layer, ridge_<name>, that links the layers it may use and no
# others: a call upwards does not link. Its public headers, <name>.h and <name>_*.h, must
# compile alone.
# The folders of a layer's sources: its own, and those in it.
function(ridge_layer_folders name result)
    file(GLOB found CONFIGURE_DEPENDS LIST_DIRECTORIES true ${CMAKE_SOURCE_DIR}/src/${name}/*)
    set(folders ${CMAKE_SOURCE_DIR}/src/${name})
    foreach(path ${found})
        if(IS_DIRECTORY ${path})
            list(APPEND folders ${path})
        endif()
    endforeach()
    set(${result} ${folders} PARENT_SCOPE)
endfunction()

function(ridge_layer name)
    cmake_parse_arguments(ARG "" "" "SOURCES;USES;LIBRARIES" ${ARGN})
    add_library(ridge_${name} STATIC ${ARG_SOURCES})
    ridge_layer_folders(${name} folders)
    target_include_directories(ridge_${name} PRIVATE ${folders})
    target_link_libraries(ridge_${name} PUBLIC ridge_flags)
    foreach(used ${ARG_USES})
        target_link_libraries(ridge_${name} PUBLIC ridge_${used})
    endforeach()
    target_link_libraries(ridge_${name} PRIVATE ${ARG_LIBRARIES})
    file(GLOB headers CONFIGURE_DEPENDS ${CMAKE_SOURCE_DIR}/include/ridge/${name}.h
         ${CMAKE_SOURCE_DIR}/include/ridge/${name}_*.h)
    if(headers)
        target_sources(ridge_${name} PUBLIC FILE_SET HEADERS BASE_DIRS
                                            ${CMAKE_SOURCE_DIR}/include FILES ${headers})
        set_target_properties(ridge_${name} PROPERTIES VERIFY_INTERFACE_HEADER_SETS ON)
    endif()
endfunction()
