# rematch_python_test(NAME [LABELS label...] [TIMEOUT seconds] [PROCESSORS n])
# One unittest file NAME.py of the current folder as one test. A file whose tests were all skipped counts as skipped, with its reasons.
find_program(REMATCH_TEST_PYTHON NAMES python3 PATHS /usr/bin NO_DEFAULT_PATH)
find_program(REMATCH_TEST_PYTHON NAMES python3 REQUIRED)

function(rematch_python_test name)
  cmake_parse_arguments(arg "" "TIMEOUT;PROCESSORS" "LABELS" ${ARGN})
  if(NOT arg_TIMEOUT)
    set(arg_TIMEOUT 60)
  endif()
  math(EXPR arg_TIMEOUT "${arg_TIMEOUT} * ${REMATCH_TEST_TIME_SCALE}")
  if(NOT arg_PROCESSORS)
    set(arg_PROCESSORS 1)
  endif()
  cmake_path(RELATIVE_PATH CMAKE_CURRENT_SOURCE_DIR BASE_DIRECTORY ${PROJECT_SOURCE_DIR}/tests OUTPUT_VARIABLE folder)
  add_test(NAME ${folder}.${name}
           COMMAND ${REMATCH_TEST_PYTHON} -B ${PROJECT_SOURCE_DIR}/tests/support/run_unittest.py ${CMAKE_CURRENT_SOURCE_DIR}/${name}.py)
  set_tests_properties(${folder}.${name} PROPERTIES
    LABELS "${arg_LABELS}" TIMEOUT ${arg_TIMEOUT} PROCESSORS ${arg_PROCESSORS} SKIP_RETURN_CODE 77
    ENVIRONMENT "REMATCH_SOURCE_DIR=${PROJECT_SOURCE_DIR};REMATCH_BIN_DIR=${CMAKE_BINARY_DIR}/bin;REMATCH_TEST_TIME_SCALE=${REMATCH_TEST_TIME_SCALE}")
endfunction()
