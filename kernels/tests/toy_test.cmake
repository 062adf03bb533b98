# Adds a toy statistics, schedule and ISA, a line of the table and a file each, to a copy of the tree with few
# kernels. They do what two_pass, plain and scalar do, so their bits are those of two_pass_f32_scalar.
#   cmake -DSOURCE=<project> -DWORK=... -DGENERATOR=... -DCOMPILER=... -P toy_test.cmake
include(${CMAKE_CURRENT_LIST_DIR}/run.cmake)

file(REMOVE_RECURSE ${WORK})
file(COPY ${SOURCE}/CMakeLists.txt ${SOURCE}/cmake ${SOURCE}/kernels DESTINATION ${WORK}/tree)
set(kernels ${WORK}/tree/kernels)

# The table's parts, and of its kernels a few.
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
