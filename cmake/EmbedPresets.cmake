# rematch_embed_presets(FOLDER HEADER): every FOLDER/*.json as a name and a raw string in one generated header.
function(rematch_embed_presets folder header)
  file(GLOB presets CONFIGURE_DEPENDS ${folder}/*.json)
  set(rows "")
  foreach(preset IN LISTS presets)
    get_filename_component(name ${preset} NAME_WE)
    file(READ ${preset} text)
    string(APPEND rows "    {\"${name}\", R\"json(${text})json\"},\n")
    set_property(DIRECTORY APPEND PROPERTY CMAKE_CONFIGURE_DEPENDS ${preset})
  endforeach()
  list(LENGTH presets count)
  file(CONFIGURE OUTPUT ${header} CONTENT "#pragma once

#include <array>
#include <utility>

namespace rematch::models {

inline constexpr std::array<std::pair<const char*, const char*>, ${count}> kPresetTexts = {{
${rows}}};

}  // namespace rematch::models
" @ONLY)
endfunction()
