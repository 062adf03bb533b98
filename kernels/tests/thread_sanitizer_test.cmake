# The pool's tests under clang's ThreadSanitizer, with the library's own sources and no other
# library. By hand:
#   clang -fsanitize=thread -g -O1 -I kernels/include -I kernels/dispatch
#       -I kernels/tests/substitute kernels/dispatch/pool.c kernels/tests/pool_test.c kernels/tests/test_main.c -lm -pthread -o pool_test && ./pool_test
# The whole library goes the same way: configure it with -DLNBENCH_KERNELS_ONLY=ON
# -DCMAKE_C_COMPILER=clang -DCMAKE_C_FLAGS=-fsanitize=thread, and run ctest -R kernels.
#   cmake -DSOURCE=... -DWORK=... -P thread_sanitizer_test.cmake
find_program(CLANG NAMES clang clang-14 clang-15 clang-16)
file(MAKE_DIRECTORY ${WORK})
file(WRITE ${WORK}/empty.c "int main(void) { return 0; }\n")
if(CLANG)
    execute_process(COMMAND ${CLANG} -fsanitize=thread empty.c -o empty WORKING_DIRECTORY ${WORK}
        RESULT_VARIABLE missing OUTPUT_QUIET ERROR_QUIET)
endif()
if(NOT CLANG OR missing)
    message("skipped: no clang with ThreadSanitizer's runtime (Debian: clang, libclang-rt-14-dev)")
    return()
endif()
execute_process(COMMAND ${CLANG} -std=c17 -fsanitize=thread -g -O1 -D_GNU_SOURCE
    -I${SOURCE}/include -I${SOURCE}/dispatch -I${SOURCE}/tests/substitute
    ${SOURCE}/dispatch/pool.c ${SOURCE}/tests/pool_test.c ${SOURCE}/tests/test_main.c
    -lm -pthread -o pool_test WORKING_DIRECTORY ${WORK} RESULT_VARIABLE failed)
if(failed)
    message(FATAL_ERROR "the pool does not build with -fsanitize=thread")
endif()
execute_process(
    COMMAND ${CMAKE_COMMAND} -E env "TSAN_OPTIONS=halt_on_error=1 die_after_fork=0" ./pool_test
    WORKING_DIRECTORY ${WORK} RESULT_VARIABLE failed)
if(failed)
    message(FATAL_ERROR "ThreadSanitizer or a check failed: ${failed}")
endif()
