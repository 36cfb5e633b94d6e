add_library(rematch_warnings INTERFACE)
target_compile_options(rematch_warnings INTERFACE -Wall -Wextra -Wshadow -Wconversion -Wno-sign-conversion -Wnon-virtual-dtor
                       # designated initializers leave out what has a default on purpose
                       -Wno-missing-field-initializers
                       # g++ 12 sees overlaps in "x" + std::to_string(n) that are not there (GCC bug 105651)
                       -Wno-restrict)
if(REMATCH_WERROR)
  target_compile_options(rematch_warnings INTERFACE -Werror)
endif()
