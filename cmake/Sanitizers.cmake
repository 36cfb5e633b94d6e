# Times that tests allow a program, as multiples of those without sanitizers: for C++ and Python tests and for the limits of CTest.
set(REMATCH_TEST_TIME_SCALE 1)
if(REMATCH_SANITIZE)
  set(REMATCH_TEST_TIME_SCALE 6)
  add_compile_options(-fsanitize=${REMATCH_SANITIZE} -fno-omit-frame-pointer -g1)
  add_link_options(-fsanitize=${REMATCH_SANITIZE})
endif()
