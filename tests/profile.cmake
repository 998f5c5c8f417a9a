# Tests of src/profile: traces. Those of HLO are in profile_hlo.cmake.
set(trace_text ${CMAKE_SOURCE_DIR}/tests/support/trace_text.c
               ${CMAKE_SOURCE_DIR}/tests/support/own_folder.c)

ridge_test(unit instant LAYER profile)
ridge_test(unit json_scan LAYER profile)
ridge_test(unit op_class LAYER profile)
ridge_test(unit chrome_reader LAYER profile SOURCES ${trace_text})
ridge_test(unit profile_steps LAYER profile SOURCES ${trace_text})
ridge_test(unit xplane_reader LAYER profile SOURCES ${trace_text})
ridge_test(unit xprof_table LAYER profile SOURCES ${trace_text})
ridge_fuzz(chrome_trace LAYER profile)
ridge_fuzz(xplane LAYER profile)
ridge_fuzz(nsys LAYER profile)
ridge_test(property profile_laws LAYER profile
           SOURCES ${trace_text} ${CMAKE_SOURCE_DIR}/tests/support/seeded.c)
ridge_test(unit profile_roofline LAYER profile SOURCES ${trace_text})
