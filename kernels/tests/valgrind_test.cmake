# The kernels' memory_test under valgrind, on the ISAs that valgrind knows: it stops on AVX-512.
#   cmake -DTEST=<memory_test> -P valgrind_test.cmake
# Says "skipped: <why>" and stops where there is no valgrind (CTest: SKIP_REGULAR_EXPRESSION).
find_program(VALGRIND valgrind)
if(NOT VALGRIND)
    message("skipped: no valgrind")
    return()
endif()
execute_process(
    COMMAND ${CMAKE_COMMAND} -E env LN_DISABLE_ISA=avx512
            ${VALGRIND} --quiet --leak-check=full --error-exitcode=9 ${TEST}
    RESULT_VARIABLE failed)
if(failed)
    message(FATAL_ERROR "valgrind or a check failed: ${failed}")
endif()
