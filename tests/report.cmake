ridge_test(unit chart LAYER report)
ridge_test(unit chart_axis LAYER report)
ridge_test(unit html_page LAYER report)
ridge_test(property chart_frame LAYER report)
ridge_test(unit roofline_report LAYER report)
ridge_test(unit collective_report LAYER report
           SOURCES ${CMAKE_SOURCE_DIR}/tests/support/network_build.c)
ridge_test(unit report_memory LAYER report)
