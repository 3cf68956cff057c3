# libeinkorn_python: the whole library and the command, with functions of tvm-ffi's C interface that
# the Python package calls. It needs no Python to build: the interface is C, and tvm-ffi's own
# library is opened at run time.

file(GLOB ek_python_sources CONFIGURE_DEPENDS "${PROJECT_SOURCE_DIR}/python/native/*.cc")
add_library(einkorn_python SHARED ${ek_python_sources})
target_link_libraries(einkorn_python PRIVATE einkorn_command einkorn_internal)
ek_precompile(einkorn_python)
set_target_properties(einkorn_python PROPERTIES
  LINK_LIBRARY_OVERRIDE "WHOLE_ARCHIVE,einkorn"
  CXX_VISIBILITY_PRESET hidden
  LIBRARY_OUTPUT_DIRECTORY "${PROJECT_BINARY_DIR}/lib")
add_dependencies(einkorn_python einkorn_jit_worker)
