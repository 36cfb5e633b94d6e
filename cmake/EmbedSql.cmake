# rematch_embed_sql(TARGET FOLDER): the numbered migrations of FOLDER (0001_*.sql, 0002_*.sql, ...) become a source of TARGET that defines
# rematch::store::embedded_migrations(); see orchestrator/store/migrations.h.
function(rematch_embed_sql target folder)
  file(GLOB files CONFIGURE_DEPENDS ${folder}/*.sql)
  list(SORT files)
  set(rows "")
  set(expected 1)
  foreach(file IN LISTS files)
    get_filename_component(name ${file} NAME)
    string(REGEX MATCH "^[0-9][0-9][0-9][0-9]" number "${name}")
    string(REGEX REPLACE "^0+" "" version "${number}")
    if(NOT version EQUAL expected)
      message(FATAL_ERROR "${folder}: migration ${expected} was expected, ${name} was found; number them 0001, 0002, ... without gaps")
    endif()
    math(EXPR expected "${expected} + 1")
    file(READ ${file} text)
    string(APPEND rows "    {${version}, R\"sql(${text})sql\"},\n")
    set_property(DIRECTORY APPEND PROPERTY CMAKE_CONFIGURE_DEPENDS ${file})
  endforeach()
  set(generated ${CMAKE_CURRENT_BINARY_DIR}/embedded_migrations.cpp)
  file(CONFIGURE OUTPUT ${generated} @ONLY CONTENT [[// Generated from schemas/sql by cmake/EmbedSql.cmake.
#include "orchestrator/store/migrations.h"

namespace rematch::store {

std::vector<Migration> embedded_migrations() {
  return {
@rows@  };
}

}  // namespace rematch::store
]])
  target_sources(${target} PRIVATE ${generated})
endfunction()
