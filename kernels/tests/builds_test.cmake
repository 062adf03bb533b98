# Tests that need other builds or tools than this build. Each prints "skipped: <why>" and stops if its tools are
# missing (CTest: SKIP_REGULAR_EXPRESSION).
#   cmake -DTEST=aarch64 -DSOURCE=<project> -DWORK=... -DGENERATOR=... -DPRINT_BITS=<program of this build>
#   cmake -DTEST=install -DBUILD=... -DSOURCE=<kernels> -DWORK=... -DGENERATOR=... -DCOMPILER=... -DHAS_PKG_CONFIG=...
#   cmake -DTEST=toy -DSOURCE=<project> -DWORK=... -DGENERATOR=... -DCOMPILER=...
#   cmake -DTEST=thread_sanitizer -DSOURCE=<kernels> -DWORK=...
#   cmake -DTEST=valgrind -DMEMORY_TEST=<memory_test>
#         ... -P builds_test.cmake

# run(COMMAND...): runs a command, which must succeed.
function(run)
    execute_process(COMMAND ${ARGN} RESULT_VARIABLE result OUTPUT_VARIABLE output ERROR_VARIABLE output)
    if(NOT result EQUAL 0)
        list(JOIN ARGN " " line)
        message(FATAL_ERROR "${line}: ${result}\n${output}")
    endif()
endfunction()

# Cross-builds the library and its tests for aarch64 and runs them under qemu; then compares the bits
# of the scalar kernels there and here.
function(test_aarch64)
    foreach(tool IN ITEMS aarch64-linux-gnu-gcc qemu-aarch64)
        find_program(found_${tool} ${tool})
        if(NOT found_${tool})
            message("skipped: no ${tool}")
            return()
        endif()
    endforeach()

    # An old cache may belong to another generator.
    file(REMOVE_RECURSE ${WORK}/CMakeCache.txt ${WORK}/CMakeFiles)
    run(${CMAKE_COMMAND} -G ${GENERATOR} -S ${SOURCE} -B ${WORK} -DLNBENCH_KERNELS_ONLY=ON
        -DCMAKE_TOOLCHAIN_FILE=${SOURCE}/cmake/aarch64-linux-gnu.cmake)
    run(${CMAKE_COMMAND} --build ${WORK} -j2)
    # There is no ISA to disable.
    set(others)
    if(NOT DEFINED ENV{LNBENCH_FULL})
        set(others -E "_without_avx512|_scalar$|disabled_isas")
    endif()
    run(${CMAKE_COMMAND} -E env LN_UNDER_QEMU=1 ${CMAKE_CTEST_COMMAND} --test-dir ${WORK} --output-on-failure
        ${others})

    execute_process(COMMAND ${PRINT_BITS} scalar OUTPUT_VARIABLE here RESULT_VARIABLE failed_here)
    execute_process(COMMAND qemu-aarch64 -L /usr/aarch64-linux-gnu ${WORK}/bin/print_bits scalar
        OUTPUT_VARIABLE there RESULT_VARIABLE failed_there)
    if(failed_here OR failed_there OR NOT here OR NOT here STREQUAL there)
        message(FATAL_ERROR "the scalar kernels' bits differ:\n here  ${here}\n there ${there}")
    endif()
endfunction()

# Installs the library into an empty folder, then builds and runs a program that uses it.
function(test_install)
    file(REMOVE_RECURSE ${WORK})

    foreach(component liblayernorm liblayernorm-dev)
        run(${CMAKE_COMMAND} --install ${BUILD} --prefix ${WORK}/prefix --component ${component})
    endforeach()
    set(common -G ${GENERATOR} -S ${SOURCE}/tests/consumer -DCMAKE_C_COMPILER=${COMPILER})
    run(${CMAKE_COMMAND} ${common} -B ${WORK}/package -DCMAKE_PREFIX_PATH=${WORK}/prefix)
    run(${CMAKE_COMMAND} --build ${WORK}/package)
    run(${WORK}/package/consumer)
    run(${WORK}/package/consumer_static)
    if(HAS_PKG_CONFIG)
        file(GLOB_RECURSE pc ${WORK}/prefix/layernorm.pc)
        get_filename_component(pc ${pc} DIRECTORY)
        run(${CMAKE_COMMAND} -E env PKG_CONFIG_PATH=${pc} ${CMAKE_COMMAND} ${common}
            -B ${WORK}/pkg-config -DCONSUMER_PKG_CONFIG=ON)
        run(${CMAKE_COMMAND} --build ${WORK}/pkg-config)
        get_filename_component(libraries ${pc} DIRECTORY)
        run(${CMAKE_COMMAND} -E env LD_LIBRARY_PATH=${libraries} ${WORK}/pkg-config/consumer)
    endif()
endfunction()

# Adds a toy statistics, schedule and ISA, a line of the table and a file each, to a copy of the tree with few
# kernels. They are copies of two_pass, plain and scalar, so their bits are those of two_pass_f32_scalar.
function(test_toy)
    file(REMOVE_RECURSE ${WORK})
    file(COPY ${SOURCE}/CMakeLists.txt ${SOURCE}/cmake ${SOURCE}/kernels DESTINATION ${WORK}/tree)
    set(kernels ${WORK}/tree/kernels)

    # The new table has all parts but only a few kernels.
    file(READ ${kernels}/table/kernels.def table)
    string(REGEX REPLACE "\nLN_KERNEL\\([^\n]*" "" table "${table}")
    foreach(line IN ITEMS
            "LN_STATISTICS(toy, layernorm, 0, 0, 0, 1, 0)"
            "LN_SCHEDULE(toy, toy, 0)"
            "LN_KERNEL(textbook, two_pass, direct, plain, f32, f32, f32, scalar, 4)"
            "LN_KERNEL(textbook, toy, direct, plain, f32, f32, f32, scalar, 4)"
            "LN_KERNEL(tuned, two_pass, direct, toy, f32, f32, f32, scalar, 4)"
            "LN_KERNEL(tuned, two_pass, direct, plain, f32, f32, f32, toy, 4)"
            "LN_KERNEL(tuned, toy, direct, toy, f32, f32, f32, toy, 4)"
            "LN_KERNEL(textbook, rms, scaled, plain, f32, f32, f32, scalar, 4)")
        string(APPEND table "${line}\n")
    endforeach()
    file(WRITE ${kernels}/table/kernels.def "${table}")
    file(APPEND ${kernels}/table/isa.def "LN_ISA(toy, \"a toy\", 0, 0, 4, \"\", 1, 1)\n")
    configure_file(${kernels}/statistics/two_pass.h ${kernels}/statistics/toy.h COPYONLY)
    file(APPEND ${kernels}/bounds/bounds.h "#define ln_moments_toy ln_moments_two_pass\n")
    configure_file(${kernels}/schedule/plain.h ${kernels}/schedule/toy.h COPYONLY)
    configure_file(${kernels}/lane/scalar.h ${kernels}/lane/toy.h COPYONLY)

    run(${CMAKE_COMMAND} -G ${GENERATOR} -S ${WORK}/tree -B ${WORK}/build -DLNBENCH_KERNELS_ONLY=ON
        -DCMAKE_BUILD_TYPE=Release -DCMAKE_C_COMPILER=${COMPILER})
    run(${CMAKE_COMMAND} --build ${WORK}/build --target print_bits -j2)
    execute_process(COMMAND ${WORK}/build/bin/print_bits OUTPUT_VARIABLE found RESULT_VARIABLE failed)
    if(failed OR NOT found MATCHES "two_pass_f32_scalar ([0-9a-f]+)\n")
        message(FATAL_ERROR "two_pass_f32_scalar is not there:\n${found}")
    endif()
    set(bits ${CMAKE_MATCH_1})
    foreach(toy IN ITEMS toy_f32_scalar two_pass_toy_f32_scalar two_pass_f32_toy toy_toy_f32_toy)
        if(NOT "\n${found}" MATCHES "\n${toy} ${bits}\n")
            message(FATAL_ERROR "${toy} is not there, or computes other bits:\n${found}")
        endif()
    endforeach()
endfunction()

# The pool's tests under clang's ThreadSanitizer, with the library's own sources and no other
# library. By hand:
#   clang -fsanitize=thread -g -O1 -I kernels/include -I kernels/dispatch
#       -I kernels/tests/substitute kernels/dispatch/pool.c kernels/tests/pool_test.c kernels/tests/test_main.c -lm -pthread -o pool_test && ./pool_test
# The whole library can be tested likewise: configure it with -DLNBENCH_KERNELS_ONLY=ON
# -DCMAKE_C_COMPILER=clang -DCMAKE_C_FLAGS=-fsanitize=thread, and run ctest -R kernels.
function(test_thread_sanitizer)
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
    run(${CLANG} -std=c17 -fsanitize=thread -g -O1 -D_GNU_SOURCE
        -I${SOURCE}/include -I${SOURCE}/dispatch -I${SOURCE}/tests/substitute
        ${SOURCE}/dispatch/pool.c ${SOURCE}/tests/pool_test.c ${SOURCE}/tests/test_main.c
        -lm -pthread -o ${WORK}/pool_test)
    run(${CMAKE_COMMAND} -E env "TSAN_OPTIONS=halt_on_error=1 die_after_fork=0" ${WORK}/pool_test)
endfunction()

# Runs memory_test under valgrind on the ISAs that valgrind supports, which do not include AVX-512.
function(test_valgrind)
    find_program(VALGRIND valgrind)
    if(NOT VALGRIND)
        message("skipped: no valgrind")
        return()
    endif()
    run(${CMAKE_COMMAND} -E env LN_DISABLE_ISA=avx512
        ${VALGRIND} --quiet --leak-check=full --error-exitcode=9 ${MEMORY_TEST})
endfunction()

cmake_language(CALL test_${TEST})
