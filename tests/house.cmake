# Tests of the house itself: what may include what, the installed package, and "an algorithm is one file".
add_test(NAME rooms COMMAND ${PROJECT_SOURCE_DIR}/tools/check-rooms ${PROJECT_SOURCE_DIR})
add_test(NAME rooms_refuse
         COMMAND python3 ${CMAKE_CURRENT_LIST_DIR}/rooms_test.py ${PROJECT_SOURCE_DIR}/tools/check-rooms)
set_tests_properties(rooms rooms_refuse PROPERTIES LABELS house TIMEOUT 60)

# The two below build a tree of their own, for which a sanitizer has nothing to add.
if(NOT CIRCOLL_SANITIZE AND CIRCOLL_INSTALL)
  add_test(NAME consumer COMMAND ${CMAKE_CURRENT_LIST_DIR}/consumer/run.sh ${PROJECT_BINARY_DIR}
                                 ${PROJECT_BINARY_DIR}/consumer ${CMAKE_CXX_COMPILER} ${CMAKE_C_COMPILER})
  set_tests_properties(consumer PROPERTIES LABELS house TIMEOUT 600)
  add_test(NAME fixture_algorithm COMMAND ${CMAKE_CURRENT_LIST_DIR}/fixture/run.sh ${PROJECT_SOURCE_DIR}
                                          ${PROJECT_BINARY_DIR} ${CMAKE_CXX_COMPILER} ${CMAKE_C_COMPILER}
                                          "${CMAKE_BUILD_TYPE}")
  set_tests_properties(fixture_algorithm PROPERTIES LABELS house TIMEOUT 1200 PROCESSORS 2)
endif()
