# Writes build_info.h if it changed: the commit and state of the source tree at this build.
#     cmake -DSOURCE=... -DTEMPLATE=... -DOUTPUT=... -P build_info.cmake
# The template already has the values that are known at configure time; commit and dirty are added here.
set(LNBENCH_GIT_COMMIT "unknown")
set(LNBENCH_GIT_DIRTY "unknown")
# safe.directory=* allows a tree that belongs to another user (containers): git runs nothing from it.
set(git git -c safe.directory=* -C ${SOURCE})
execute_process(COMMAND ${git} rev-parse --show-toplevel
                OUTPUT_VARIABLE top RESULT_VARIABLE failed ERROR_QUIET
                OUTPUT_STRIP_TRAILING_WHITESPACE)
get_filename_component(source "${SOURCE}" REALPATH)
# If the tree was unpacked inside another project's repository, that repository's commit is not ours.
if("${failed}" STREQUAL "0" AND "${top}" STREQUAL "${source}")
    execute_process(COMMAND ${git} rev-parse HEAD OUTPUT_VARIABLE commit RESULT_VARIABLE failed
                    ERROR_QUIET OUTPUT_STRIP_TRAILING_WHITESPACE)
    if("${failed}" STREQUAL "0")
        set(LNBENCH_GIT_COMMIT "${commit}")
    endif()
    execute_process(COMMAND ${git} --no-optional-locks status --porcelain --untracked-files=no
                    OUTPUT_VARIABLE changes RESULT_VARIABLE failed ERROR_QUIET)
    if("${failed}" STREQUAL "0" AND changes STREQUAL "")
        set(LNBENCH_GIT_DIRTY "no")
    elseif("${failed}" STREQUAL "0")
        set(LNBENCH_GIT_DIRTY "yes")
    endif()
endif()
configure_file(${TEMPLATE} ${OUTPUT} @ONLY)
