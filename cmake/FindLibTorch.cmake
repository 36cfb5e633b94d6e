# LibTorch as imported targets: LibTorch::cpu, and LibTorch::cuda under WITH_CUDA.
# The wheel's own CMake package demands a CUDA toolkit even for CPU work, so this module looks for the files itself.
# Looked at, in order: REMATCH_TORCH_ROOT, CMAKE_PREFIX_PATH, the torch that python3 imports, the cache folder that scripts/setup fills.
set(_hints ${REMATCH_TORCH_ROOT} ${CMAKE_PREFIX_PATH})
if(NOT REMATCH_TORCH_ROOT)
  find_program(REMATCH_PYTHON NAMES python3)
  if(REMATCH_PYTHON)
    execute_process(COMMAND ${REMATCH_PYTHON} -c "import importlib.util as u; print(u.find_spec('torch').submodule_search_locations[0])"
                    OUTPUT_VARIABLE _python_torch OUTPUT_STRIP_TRAILING_WHITESPACE ERROR_QUIET)
    list(APPEND _hints ${_python_torch})
  endif()
  if(DEFINED ENV{XDG_CACHE_HOME})
    set(_cache $ENV{XDG_CACHE_HOME})
  else()
    set(_cache $ENV{HOME}/.cache)
  endif()
  list(APPEND _hints ${_cache}/rematch/torch-2.11.0-cpu)
endif()

find_path(LibTorch_INCLUDE_DIR ATen/core/Tensor.h HINTS ${_hints} PATH_SUFFIXES include torch/include NO_DEFAULT_PATH)
find_library(LibTorch_CPU_LIBRARY torch_cpu HINTS ${_hints} PATH_SUFFIXES lib torch/lib NO_DEFAULT_PATH)
find_library(LibTorch_C10_LIBRARY c10 HINTS ${_hints} PATH_SUFFIXES lib torch/lib NO_DEFAULT_PATH)
if(LibTorch_INCLUDE_DIR)
  # Older releases have the numbers in the API's header, newer ones in a header of their own.
  foreach(_header torch/headeronly/version.h torch/csrc/api/include/torch/version.h)
    if(NOT _version AND EXISTS ${LibTorch_INCLUDE_DIR}/${_header})
      file(STRINGS ${LibTorch_INCLUDE_DIR}/${_header} _version REGEX "define TORCH_VERSION_M")
    endif()
  endforeach()
  string(REGEX REPLACE ".*TORCH_VERSION_MAJOR ([0-9]+).*TORCH_VERSION_MINOR ([0-9]+).*" "\\1.\\2" LibTorch_VERSION "${_version}")
endif()

include(FindPackageHandleStandardArgs)
find_package_handle_standard_args(LibTorch REQUIRED_VARS LibTorch_CPU_LIBRARY LibTorch_C10_LIBRARY LibTorch_INCLUDE_DIR
                                  VERSION_VAR LibTorch_VERSION
                                  REASON_FAILURE_MESSAGE "Run scripts/setup, or give -DREMATCH_TORCH_ROOT=<folder that holds torch/>")

if(LibTorch_FOUND AND NOT TARGET LibTorch::cpu)
  get_filename_component(LibTorch_LIBRARY_DIR ${LibTorch_CPU_LIBRARY} DIRECTORY)
  get_filename_component(_site ${LibTorch_LIBRARY_DIR}/../.. ABSOLUTE)
  file(GLOB _nvidia_library_dirs ${_site}/nvidia/*/lib)
  add_library(LibTorch::cpu INTERFACE IMPORTED GLOBAL)
  target_include_directories(LibTorch::cpu SYSTEM INTERFACE ${LibTorch_INCLUDE_DIR}
                                                           ${LibTorch_INCLUDE_DIR}/torch/csrc/api/include)
  target_link_libraries(LibTorch::cpu INTERFACE ${LibTorch_CPU_LIBRARY} ${LibTorch_C10_LIBRARY})
  # libtorch_cpu needs libraries of the wheel's nvidia folders at link time and at run time.
  foreach(_dir IN LISTS _nvidia_library_dirs)
    target_link_options(LibTorch::cpu INTERFACE -Wl,-rpath-link,${_dir})
  endforeach()
  set(LibTorch_RUNTIME_DIRS ${LibTorch_LIBRARY_DIR} ${_nvidia_library_dirs})

  find_library(LibTorch_CUDA_LIBRARY torch_cuda HINTS ${LibTorch_LIBRARY_DIR} NO_DEFAULT_PATH)
  find_library(LibTorch_C10_CUDA_LIBRARY c10_cuda HINTS ${LibTorch_LIBRARY_DIR} NO_DEFAULT_PATH)
  if(LibTorch_CUDA_LIBRARY AND LibTorch_C10_CUDA_LIBRARY)
    add_library(LibTorch::cuda INTERFACE IMPORTED GLOBAL)
    target_link_libraries(LibTorch::cuda INTERFACE LibTorch::cpu -Wl,--no-as-needed ${LibTorch_CUDA_LIBRARY} -Wl,--as-needed
                                                   ${LibTorch_C10_CUDA_LIBRARY})
    # Where the full set of CUDA libraries is not installed, the program still links; it needs them to run.
    target_link_options(LibTorch::cuda INTERFACE -Wl,--allow-shlib-undefined)
  endif()
endif()
