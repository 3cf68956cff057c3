# Two generated sources, listed in ek_generated_sources:
#   embedded_sources.cc  the device code and its headers as text, for the run-time compilers
#   version.cc           version and commit; looked at in every build, rewritten only on a change

set(ek_generated_dir "${PROJECT_BINARY_DIR}/generated")
set(ek_generated_sources "${ek_generated_dir}/embedded_sources.cc" "${ek_generated_dir}/version.cc")

add_executable(einkorn_embed "${PROJECT_SOURCE_DIR}/tools/embed.cc")
target_link_libraries(einkorn_embed PRIVATE einkorn_options)

file(GLOB_RECURSE ek_embedded CONFIGURE_DEPENDS RELATIVE "${PROJECT_SOURCE_DIR}"
  "${PROJECT_SOURCE_DIR}/src/cuda/device/*.h" "${PROJECT_SOURCE_DIR}/src/cuda/device/*.cuh"
  "${PROJECT_SOURCE_DIR}/ops/*.cu" "${PROJECT_SOURCE_DIR}/ops/*.cuh"
  # Parameter blocks, shared by host and device code.
  "${PROJECT_SOURCE_DIR}/ops/params.h")
list(SORT ek_embedded)
list(JOIN ek_embedded "\n" ek_embedded_lines)
file(CONFIGURE OUTPUT "${ek_generated_dir}/embedded_sources.txt" CONTENT "@ek_embedded_lines@\n" @ONLY)
list(TRANSFORM ek_embedded PREPEND "${PROJECT_SOURCE_DIR}/" OUTPUT_VARIABLE ek_embedded_paths)
add_custom_command(
  OUTPUT "${ek_generated_dir}/embedded_sources.cc"
  COMMAND einkorn_embed "${PROJECT_SOURCE_DIR}" "${ek_generated_dir}/embedded_sources.txt"
          "${ek_generated_dir}/embedded_sources.cc"
  DEPENDS einkorn_embed "${ek_generated_dir}/embedded_sources.txt" ${ek_embedded_paths}
  COMMENT "Embedding device sources"
  VERBATIM)

add_custom_target(einkorn_version
  COMMAND "${CMAKE_COMMAND}" "-DROOT=${PROJECT_SOURCE_DIR}" "-DVERSION=${PROJECT_VERSION}"
          "-DOUTPUT=${ek_generated_dir}/version.cc" -P "${PROJECT_SOURCE_DIR}/cmake/version.cmake"
  BYPRODUCTS "${ek_generated_dir}/version.cc"
  COMMENT "Looking at the commit"
  VERBATIM)
