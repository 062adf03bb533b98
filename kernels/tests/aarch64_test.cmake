# Cross-builds the library and its tests for aarch64 and runs them under qemu; then compares the bits
# that the scalar kernels give there with those they give here.
#   cmake -DSOURCE=<project> -DWORK=... -DGENERATOR=... -DPRINT_BITS=<program of this build>
#         -P aarch64_test.cmake
# Says "skipped: <why>" and stops where the tools are missing (CTest: SKIP_REGULAR_EXPRESSION).
foreach(tool IN ITEMS aarch64-linux-gnu-gcc qemu-aarch64)
    find_program(found_${tool} ${tool})
    if(NOT found_${tool})
        message("skipped: no ${tool}")
        return()
    endif()
endforeach()

include(${CMAKE_CURRENT_LIST_DIR}/run.cmake)

# An earlier cache may be of another generator.
file(REMOVE_RECURSE ${WORK}/CMakeCache.txt ${WORK}/CMakeFiles)
run(${CMAKE_COMMAND} -G ${GENERATOR} -S ${SOURCE} -B ${WORK} -DLNBENCH_KERNELS_ONLY=ON
    -DCMAKE_TOOLCHAIN_FILE=${SOURCE}/cmake/aarch64-linux-gnu.cmake)
run(${CMAKE_COMMAND} --build ${WORK} -j2)
# There is no ISA to disable, and what was planted is found here.
set(others)
if(NOT DEFINED ENV{LNBENCH_FULL})
    set(others -E "_without_avx512|_scalar$|_planted|disabled_isas")
endif()
run(${CMAKE_COMMAND} -E env LN_UNDER_QEMU=1 ${CMAKE_CTEST_COMMAND} --test-dir ${WORK} --output-on-failure
    ${others})

execute_process(COMMAND ${PRINT_BITS} OUTPUT_VARIABLE here RESULT_VARIABLE failed_here)
execute_process(COMMAND qemu-aarch64 -L /usr/aarch64-linux-gnu ${WORK}/bin/print_bits
    OUTPUT_VARIABLE there RESULT_VARIABLE failed_there)
string(REGEX MATCHALL "[^\n]*_scalar[^\n]*" here "${here}")
string(REGEX MATCHALL "[^\n]*_scalar[^\n]*" there "${there}")
if(failed_here OR failed_there OR NOT here OR NOT here STREQUAL there)
    message(FATAL_ERROR "the scalar kernels' bits differ:\n here  ${here}\n there ${there}")
endif()
