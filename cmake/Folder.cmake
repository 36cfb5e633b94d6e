# rematch_folder(NAME [LINK target...] [EXCLUDE file...]): one OBJECT library of all *.cpp in the current folder.
# An OBJECT library keeps members that only a registrar refers to; a STATIC library would drop them.
function(rematch_folder name)
  cmake_parse_arguments(arg "" "" "LINK;EXCLUDE" ${ARGN})
  file(GLOB sources CONFIGURE_DEPENDS ${CMAKE_CURRENT_SOURCE_DIR}/*.cpp)
  foreach(excluded IN LISTS arg_EXCLUDE)
    list(REMOVE_ITEM sources ${CMAKE_CURRENT_SOURCE_DIR}/${excluded})
  endforeach()
  add_library(${name} OBJECT ${sources})
  target_include_directories(${name} PUBLIC ${PROJECT_SOURCE_DIR})
  target_link_libraries(${name} PUBLIC ${arg_LINK} PRIVATE rematch_warnings)
endfunction()

# rematch_link(TARGET FOLDER...): link the objects of the named folders, and use what they use.
function(rematch_link target)
  foreach(folder IN LISTS ARGN)
    target_sources(${target} PRIVATE $<TARGET_OBJECTS:${folder}>)
    target_link_libraries(${target} PRIVATE ${folder})
  endforeach()
endfunction()
