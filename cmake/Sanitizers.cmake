if(REMATCH_SANITIZE)
  add_compile_options(-fsanitize=${REMATCH_SANITIZE} -fno-omit-frame-pointer -g1)
  add_link_options(-fsanitize=${REMATCH_SANITIZE})
endif()
