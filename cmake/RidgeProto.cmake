# ridge_proto(result src/profile/hlo_reading/hlo.proto)
#
# The messages of a .proto as C of protobuf-c, generated in the build tree; the sources to
# add are put in `result`, and their folder may then be included.
find_program(RIDGE_PROTOC_C protoc-c REQUIRED)

function(ridge_proto result file)
    get_filename_component(noun ${file} NAME_WE)
    get_filename_component(folder ${file} DIRECTORY)
    set(out ${CMAKE_BINARY_DIR}/proto)
    file(MAKE_DIRECTORY ${out})
    add_custom_command(
        OUTPUT ${out}/${noun}.pb-c.c ${out}/${noun}.pb-c.h
        COMMAND ${RIDGE_PROTOC_C} --proto_path=${folder} --c_out=${out} ${file}
        DEPENDS ${file}
        COMMENT "Generating ${noun}.pb-c.c"
        VERBATIM)
    # Not our code, so not our warnings.
    set_source_files_properties(${out}/${noun}.pb-c.c PROPERTIES COMPILE_OPTIONS "-w")
    set(${result} ${out}/${noun}.pb-c.c ${out}/${noun}.pb-c.h PARENT_SCOPE)
endfunction()
