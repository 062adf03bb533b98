# Cross-builds the library and its tests for aarch64 and runs them under qemu.
#   cmake -DSOURCE=<project> -DWORK=... -P aarch64_test.cmake
# Says "skipped: <why>" and stops where the tools are missing (CTest: SKIP_REGULAR_EXPRESSION).
foreach(tool IN ITEMS aarch64-linux-gnu-gcc qemu-aarch64)
    find_program(found_${tool} ${tool})
    if(NOT found_${tool})
        message("skipped: no ${tool}")
        return()
    endif()
endforeach()

function(run)
    execute_process(COMMAND ${ARGN} RESULT_VARIABLE result OUTPUT_VARIABLE output ERROR_VARIABLE output)
    if(NOT result EQUAL 0)
        list(JOIN ARGN " " line)
        message(FATAL_ERROR "${line}: ${result}\n${output}")
    endif()
endfunction()

run(${CMAKE_COMMAND} -S ${SOURCE} -B ${WORK} -DLNBENCH_KERNELS_ONLY=ON
    -DCMAKE_TOOLCHAIN_FILE=${SOURCE}/cmake/aarch64-linux-gnu.cmake)
run(${CMAKE_COMMAND} --build ${WORK} -j2)
run(${CMAKE_CTEST_COMMAND} --test-dir ${WORK} --output-on-failure)
