# Generated sources, listed in ek_generated_sources:
#   embedded_sources.cc  the device code and its headers as text, for the run-time compilers
#   embedded_page.cc     the parts of the report's page, and the chart library
#   embedded_tunings.cc  the tunings that ship with the library
#   host_sources.cc      digests of host sources, by which a tuning knows its variant
#   version.cc           version and commit; looked at in every build, rewritten only on a change

set(ek_generated_dir "${PROJECT_BINARY_DIR}/generated")
set(ek_generated_sources "${ek_generated_dir}/embedded_sources.cc"
  "${ek_generated_dir}/embedded_page.cc" "${ek_generated_dir}/embedded_tunings.cc"
  "${ek_generated_dir}/host_sources.cc" "${ek_generated_dir}/version.cc")

add_executable(einkorn_embed "${PROJECT_SOURCE_DIR}/tools/embed.cc")
target_link_libraries(einkorn_embed PRIVATE einkorn_options)

file(GLOB_RECURSE ek_embedded CONFIGURE_DEPENDS RELATIVE "${PROJECT_SOURCE_DIR}"
  "${PROJECT_SOURCE_DIR}/src/cuda/device/*.h" "${PROJECT_SOURCE_DIR}/src/cuda/device/*.cuh"
  "${PROJECT_SOURCE_DIR}/ops/*.cu" "${PROJECT_SOURCE_DIR}/ops/*.cuh"
  # Parameter blocks, shared by host and device code.
  "${PROJECT_SOURCE_DIR}/ops/*params.h")
# Embeds files into <generated>/<name>.cc. `files` are paths below the root; `others` are lines
# "<path>\t<file>" for files elsewhere. See tools/embed.cc for the rest.
function(ek_embed name files others header namespace function)
  list(SORT files)
  list(JOIN files "\n" lines)
  list(JOIN others "\n" other_lines)
  file(CONFIGURE OUTPUT "${ek_generated_dir}/${name}.txt" CONTENT "@lines@\n@other_lines@\n" @ONLY)
  list(TRANSFORM files PREPEND "${PROJECT_SOURCE_DIR}/")
  list(TRANSFORM others REPLACE "^.*\t" "")
  add_custom_command(
    OUTPUT "${ek_generated_dir}/${name}.cc"
    COMMAND einkorn_embed "${PROJECT_SOURCE_DIR}" "${ek_generated_dir}/${name}.txt"
            "${ek_generated_dir}/${name}.cc" "${header}" "${namespace}" "${function}" ${ARGN}
    DEPENDS einkorn_embed "${ek_generated_dir}/${name}.txt" ${files} ${others}
    COMMENT "Embedding ${name}"
    VERBATIM)
endfunction()

ek_embed(embedded_sources "${ek_embedded}" "" "src/jit/embedded.h" jit embedded_sources)

file(GLOB ek_page CONFIGURE_DEPENDS RELATIVE "${PROJECT_SOURCE_DIR}"
  "${PROJECT_SOURCE_DIR}/src/report/page/*")
ek_embed(embedded_page "${ek_page}" "src/report/page/d3.min.js\t${EK_d3_FILE}"
  "src/report/page.h" report page_files)

file(GLOB ek_tunings CONFIGURE_DEPENDS RELATIVE "${PROJECT_SOURCE_DIR}"
  "${PROJECT_SOURCE_DIR}/ops/*/*/tunings/*.json")
ek_embed(embedded_tunings "${ek_tunings}" "" "src/trials/embedded.h" trials embedded_tunings)

file(GLOB_RECURSE ek_host_sources CONFIGURE_DEPENDS RELATIVE "${PROJECT_SOURCE_DIR}"
  "${PROJECT_SOURCE_DIR}/ops/*.cc" "${PROJECT_SOURCE_DIR}/ops/*.h"
  "${PROJECT_SOURCE_DIR}/src/cpu/*.cc" "${PROJECT_SOURCE_DIR}/src/cpu/*.h")
ek_embed(host_sources "${ek_host_sources}" "" "src/trials/embedded.h" trials host_source_digests
  digests)

add_custom_target(einkorn_version
  COMMAND "${CMAKE_COMMAND}" "-DROOT=${PROJECT_SOURCE_DIR}" "-DVERSION=${PROJECT_VERSION}"
          "-DOUTPUT=${ek_generated_dir}/version.cc" -P "${PROJECT_SOURCE_DIR}/cmake/version.cmake"
  BYPRODUCTS "${ek_generated_dir}/version.cc"
  COMMENT "Looking at the commit"
  VERBATIM)
