# mold where there is one: links against LibTorch drop from seconds to less than one.
find_program(REMATCH_MOLD mold)
if(REMATCH_MOLD)
  add_link_options(-fuse-ld=mold)
endif()
# The trainer's identity is the linker's hash of its content.
add_link_options(-Wl,--build-id=sha1)
