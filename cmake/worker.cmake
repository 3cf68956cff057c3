# einkorn_jit_worker: the process in which NVRTC compiles (src/jit/worker_pool.h). It lies in
# <build>/lib, which is where programs of this build look for it.

add_executable(einkorn_jit_worker "${PROJECT_SOURCE_DIR}/tools/jit_worker.cc")
target_link_libraries(einkorn_jit_worker PRIVATE einkorn_internal)
set_target_properties(einkorn_jit_worker PROPERTIES
  RUNTIME_OUTPUT_DIRECTORY "${PROJECT_BINARY_DIR}/lib")
# Not linked by anybody, so asked for by those who start it.
if(TARGET einkorn_cli)
  add_dependencies(einkorn_cli einkorn_jit_worker)
endif()
