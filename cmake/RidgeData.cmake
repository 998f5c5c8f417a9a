# ridge_embed(target symbol FOLDERS chips systems)
#
# Turns data/<folder>/*.json into one generated C file with the table `symbol`
# (a ridge_embedded_set), so that the program needs no file system.
function(ridge_embed target symbol)
    cmake_parse_arguments(ARG "" "" "FOLDERS" ${ARGN})
    set(files)
    foreach(folder ${ARG_FOLDERS})
        file(GLOB found CONFIGURE_DEPENDS ${CMAKE_SOURCE_DIR}/data/${folder}/*.json)
        list(APPEND files ${found})
    endforeach()
    set(generated ${CMAKE_CURRENT_BINARY_DIR}/${symbol}.c)
    add_custom_command(
        OUTPUT ${generated}
        COMMAND ${Python3_EXECUTABLE} ${CMAKE_SOURCE_DIR}/tools/embed_data.py --symbol
                ${symbol} --root ${CMAKE_SOURCE_DIR}/data --out ${generated} ${files}
        DEPENDS ${files} ${CMAKE_SOURCE_DIR}/tools/embed_data.py
        COMMENT "Embedding data/${ARG_FOLDERS}"
        VERBATIM)
    target_sources(${target} PRIVATE ${generated})
endfunction()
