# The web page in a real browser, built first (about two minutes on two cores). Skipped
# where emcc, node, npm or Chromium is missing; the output says which.
add_test(NAME web.page COMMAND ${CMAKE_SOURCE_DIR}/scripts/web-check)
set_tests_properties(web.page PROPERTIES TIMEOUT 900 LABELS "web;quick" SKIP_RETURN_CODE 77
                                         RESOURCE_LOCK web COST 1000
                                         ENVIRONMENT RIDGE=$<TARGET_FILE:ridge>)
