# Writes build_info.h, where it changed: what the source tree is at this build.
#     cmake -DSOURCE=... -DTEMPLATE=... -DOUTPUT=... -P build_info.cmake
# What is known at configure time already stands in the template; commit and dirty are added here.
set(LNBENCH_GIT_COMMIT "unknown")
set(LNBENCH_GIT_DIRTY "unknown")
# A tree that belongs to somebody else (containers) may be asked too: nothing of it is run.
set(git git -c safe.directory=* -C ${SOURCE})
execute_process(COMMAND ${git} rev-parse --show-toplevel
                OUTPUT_VARIABLE top RESULT_VARIABLE failed ERROR_QUIET
                OUTPUT_STRIP_TRAILING_WHITESPACE)
get_filename_component(source "${SOURCE}" REALPATH)
# Unpacked inside another project's repository, the commit there says nothing about us.
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
