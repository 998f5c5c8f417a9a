# The C libraries that layers use, compiled for the browser from the sources that
# scripts/web-sources fetched: under the names that pkg-config gives them elsewhere.
set(RIDGE_WEB_SOURCES ${CMAKE_SOURCE_DIR}/build/sources CACHE PATH
    "Folder with jansson, libyaml, zlib, libzstd and protobuf-c")
if(NOT EXISTS ${RIDGE_WEB_SOURCES}/jansson)
    message(FATAL_ERROR "${RIDGE_WEB_SOURCES} lacks the libraries: run "
                        "scripts/web-sources ${RIDGE_WEB_SOURCES}")
endif()

# emcc starts Python for each file, which takes as long as compiling it. It also tells
# what it would have clang do; where that is Debian's clang, clang is called.
execute_process(COMMAND ${CMAKE_C_COMPILER} --cflags OUTPUT_VARIABLE web_flags
                OUTPUT_STRIP_TRAILING_WHITESPACE RESULT_VARIABLE web_fault)
find_program(RIDGE_WEB_CLANG clang-14)
if(RIDGE_WEB_CLANG AND web_fault EQUAL 0)
    set(CMAKE_C_COMPILE_OBJECT
        "${RIDGE_WEB_CLANG} ${web_flags} <DEFINES> <INCLUDES> <FLAGS> -o <OBJECT> -c <SOURCE>")
endif()

# ridge_web_library(JANSSON FOLDER jansson INCLUDE src SOURCES src/*.c DEFINE X=1)
function(ridge_web_library name)
    cmake_parse_arguments(ARG "" "FOLDER" "INCLUDE;SOURCES;DEFINE" ${ARGN})
    set(folder ${RIDGE_WEB_SOURCES}/${ARG_FOLDER})
    list(TRANSFORM ARG_SOURCES PREPEND ${folder}/)
    list(TRANSFORM ARG_INCLUDE PREPEND ${folder}/)
    file(GLOB sources CONFIGURE_DEPENDS ${ARG_SOURCES})
    add_library(web_${ARG_FOLDER} STATIC ${sources})
    target_include_directories(web_${ARG_FOLDER} SYSTEM PUBLIC ${ARG_INCLUDE})
    target_compile_definitions(web_${ARG_FOLDER} PRIVATE ${ARG_DEFINE})
    target_compile_options(web_${ARG_FOLDER} PRIVATE -w) # not our code, not our warnings
    add_library(PkgConfig::${name} ALIAS web_${ARG_FOLDER})
endfunction()

# jansson's configuration for Android asks nothing of the system.
ridge_web_library(JANSSON FOLDER jansson INCLUDE src android SOURCES src/*.c
                  DEFINE HAVE_STDINT_H=1)
file(WRITE ${CMAKE_BINARY_DIR}/jansson/jansson_private_config.h
     "#include <stdint.h>\n#define INITIAL_HASHTABLE_ORDER 3\n")
target_include_directories(web_jansson PRIVATE ${CMAKE_BINARY_DIR}/jansson)
ridge_web_library(YAML FOLDER libyaml INCLUDE include SOURCES src/*.c
                  DEFINE YAML_VERSION_MAJOR=0 YAML_VERSION_MINOR=2 YAML_VERSION_PATCH=5
                         YAML_VERSION_STRING="0.2.5")
ridge_web_library(ZLIB FOLDER zlib INCLUDE .
                  SOURCES adler32.c crc32.c inffast.c inflate.c inftrees.c zutil.c)
ridge_web_library(ZSTD FOLDER libzstd INCLUDE lib SOURCES lib/common/*.c lib/decompress/*.c
                  DEFINE ZSTD_DISABLE_ASM=1)
ridge_web_library(PROTOBUF_C FOLDER protobuf-c INCLUDE . SOURCES protobuf-c/protobuf-c.c)

# INFINITY is a float in musl's headers, and is meant as a double.
target_compile_options(ridge_flags INTERFACE -Wno-double-promotion)
