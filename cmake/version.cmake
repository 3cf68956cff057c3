# Script mode: fills src/core/version.cc.in. Expects ROOT, VERSION and OUTPUT.
# A source tree without git or without history (an archive) has the commit "unknown".

set(COMMIT "unknown")
find_program(git git)
if(git AND EXISTS "${ROOT}/.git")
  execute_process(COMMAND "${git}" describe --always --dirty --abbrev=12 --exclude=*
    WORKING_DIRECTORY "${ROOT}" OUTPUT_VARIABLE described RESULT_VARIABLE failed
    OUTPUT_STRIP_TRAILING_WHITESPACE ERROR_QUIET)
  if(NOT failed)
    set(COMMIT "${described}")
  endif()
endif()
# Leaves the file alone when its content would not change.
configure_file("${ROOT}/src/core/version.cc.in" "${OUTPUT}" @ONLY)
