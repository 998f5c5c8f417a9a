# Compiler flags in one place: every target links ridge_flags.
set(CMAKE_C_STANDARD 17)
set(CMAKE_C_STANDARD_REQUIRED ON)
set(CMAKE_C_EXTENSIONS OFF)
set(CMAKE_EXPORT_COMPILE_COMMANDS ON)
set(CMAKE_POSITION_INDEPENDENT_CODE ON)

add_library(ridge_flags INTERFACE)
target_compile_definitions(ridge_flags INTERFACE _POSIX_C_SOURCE=200809L)
target_include_directories(ridge_flags INTERFACE ${CMAKE_SOURCE_DIR}/include)
target_compile_options(
    ridge_flags
    INTERFACE -Wall
              -Wextra
              -Wpedantic
              -Wshadow
              -Wconversion
              -Wdouble-promotion
              -Wvla
              -Wundef
              -Wformat=2
              -Wcast-qual
              -Wwrite-strings
              -Wstrict-prototypes
              -Wmissing-prototypes
              -Wswitch-enum
              -ffp-contract=off)
target_link_libraries(ridge_flags INTERFACE m)
