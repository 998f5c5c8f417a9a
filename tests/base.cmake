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
