# Reads isa.def and kernels.def. Writes a small C file with the parts of each kernel that is
# built, and kernel_table.h for the library and lnbench.
include(CheckCSourceCompiles)

# Sets ${result} to the fields of all lines of a file that begin with `macro(`: lists separated by |.
function(read_lines result file macro fields)
    set_property(DIRECTORY APPEND PROPERTY CMAKE_CONFIGURE_DEPENDS ${file})
    file(STRINGS ${file} lines REGEX "^${macro}\\(")
    set(rows)
    foreach(line IN LISTS lines)
        string(REGEX REPLACE "^${macro}\\((.*)\\)$" "\\1" row "${line}")
        string(REPLACE ", " "|" row "${row}")
        string(REGEX MATCHALL "\\|" commas "${row}")
        list(LENGTH commas count)
        math(EXPR count "${count} + 1")
        if(NOT count EQUAL fields OR NOT row MATCHES "^[a-z0-9_| ]+$")
            message(FATAL_ERROR "${file}: cannot read '${line}': ${macro} has ${fields} fields of "
                "small letters, digits, _ and spaces")
        endif()
        list(APPEND rows ${row})
    endforeach()
    set(${result} "${rows}" PARENT_SCOPE)
endfunction()

# Sets LN_ISAS, and for each ISA LN_ISA_<name>_{LABEL,BYTES,FMA,UNROLL,FLAGS,CPU,PRESENT}.
function(read_isa_table file)
    set_property(DIRECTORY APPEND PROPERTY CMAKE_CONFIGURE_DEPENDS ${file})
    file(STRINGS ${file} lines REGEX "^LN_ISA\\(")
    set(names)
    foreach(line IN LISTS lines)
        if(NOT line MATCHES "^LN_ISA\\(([a-z0-9_]+), \"([^\"]*)\", ([0-9]+), ([01]), ([0-9]+), \"([^\"]*)\", (.*), ([^,]*)\\)$")
            message(FATAL_ERROR "${file}: cannot read '${line}'")
        endif()
        set(name ${CMAKE_MATCH_1})
        list(APPEND names ${name})
        set(LN_ISA_${name}_LABEL "${CMAKE_MATCH_2}" PARENT_SCOPE)
        set(LN_ISA_${name}_BYTES ${CMAKE_MATCH_3} PARENT_SCOPE)
        set(LN_ISA_${name}_FMA ${CMAKE_MATCH_4} PARENT_SCOPE)
        set(LN_ISA_${name}_UNROLL ${CMAKE_MATCH_5} PARENT_SCOPE)
        set(LN_ISA_${name}_FLAGS "${CMAKE_MATCH_6}" PARENT_SCOPE)
        set(LN_ISA_${name}_CPU "${CMAKE_MATCH_7}" PARENT_SCOPE)
        set(target "${CMAKE_MATCH_8}")
        set(CMAKE_REQUIRED_FLAGS "${CMAKE_MATCH_6}")
        check_c_source_compiles("
            #if !(${target})
            #error not of this architecture
            #endif
            int main(void) { return 0; }" LN_TARGET_HAS_${name})
        set(LN_ISA_${name}_PRESENT ${LN_TARGET_HAS_${name}} PARENT_SCOPE)
    endforeach()
    set(LN_ISAS ${names} PARENT_SCOPE)
endfunction()

# Reads the lines of one kind of part: sets LN_<K>_<P> to the fields of part P of kind K, and LN_<K>_PARTS to the
# names of all parts.
macro(read_parts file kind fields)
    read_lines(part_lines ${file} LN_${kind} ${fields})
    set(LN_${kind}_PARTS)
    foreach(part_line IN LISTS part_lines)
        string(REPLACE "|" ";" part_fields "${part_line}")
        list(GET part_fields 0 part)
        list(APPEND LN_${kind}_PARTS ${part})
        set(LN_${kind}_${part} ${part_fields})
    endforeach()
endmacro()

# Sets ${result} to the kernel's name: all parts that are not the defaults.
function(kernel_name result statistics apply schedule storage param accumulator isa unroll)
    set(parts ${statistics})
    if(NOT apply MATCHES "^(direct|scaled)$")
        list(APPEND parts ${apply})
    endif()
    if(NOT schedule STREQUAL "plain")
        list(APPEND parts ${schedule})
    endif()
    list(APPEND parts ${storage})
    if(NOT param STREQUAL storage)
        list(APPEND parts param_${param})
    endif()
    set(usual_accumulator ${storage})
    if(storage MATCHES "16$")
        set(usual_accumulator f32)
    endif()
    list(GET LN_APPLY_${apply} 2 wide)
    if(wide EQUAL 3)
        set(usual_accumulator f64)
    endif()
    if(NOT accumulator STREQUAL usual_accumulator)
        list(APPEND parts acc_${accumulator})
    endif()
    list(APPEND parts ${isa})
    if(NOT unroll EQUAL LN_ISA_${isa}_UNROLL)
        list(APPEND parts u${unroll})
    endif()
    list(JOIN parts "_" name)
    set(${result} ${name} PARENT_SCOPE)
endfunction()

# The compiler's header of intrinsics takes a third of the compile time of a small kernel, so gcc precompiles it
# once for each set of flags. (ccache does not cache files that use such a header.)
get_filename_component(LN_REAL_COMPILER "${CMAKE_C_COMPILER}" REALPATH)
set(LN_PRECOMPILED FALSE)
if(CMAKE_C_COMPILER_ID STREQUAL "GNU" AND NOT CMAKE_C_COMPILER_LAUNCHER AND NOT LN_REAL_COMPILER MATCHES "ccache")
    set(LN_PRECOMPILED TRUE)
endif()

# Makes the kernel in `path` use intrinsics precompiled with the flags of layernorm_objects and its own.
# If the flags differ nevertheless, gcc reads the header itself.
function(precompile_intrinsics directory path flags)
    string(MD5 header "${flags}")
    string(SUBSTRING ${header} 0 8 header)
    set(header ${directory}/intrinsics_${header}.h)
    get_property(known DIRECTORY PROPERTY LN_PRECOMPILED_HEADERS)
    if(NOT header IN_LIST known)
        set_property(DIRECTORY APPEND PROPERTY LN_PRECOMPILED_HEADERS ${header})
        file(CONFIGURE OUTPUT ${header} CONTENT "#if __has_include(<immintrin.h>)
#include <immintrin.h>
#elif __has_include(<arm_neon.h>)
#include <arm_neon.h>
#endif
")
        string(TOUPPER "${CMAKE_BUILD_TYPE}" type)
        separate_arguments(common UNIX_COMMAND "${CMAKE_C_FLAGS} ${CMAKE_C_FLAGS_${type}}")
        add_custom_command(OUTPUT ${header}.gch DEPENDS ${header}
            COMMAND ${CMAKE_C_COMPILER} ${common} -fPIC "$<TARGET_PROPERTY:layernorm_objects,COMPILE_OPTIONS>"
                    -std=c17 "${flags}" -x c-header ${header} -o ${header}.gch
            COMMENT "Precompiling intrinsics" COMMAND_EXPAND_LISTS VERBATIM)
        set(LN_KERNEL_SOURCES ${LN_KERNEL_SOURCES} ${header}.gch PARENT_SCOPE)
    endif()
    set_property(SOURCE ${path} APPEND PROPERTY COMPILE_OPTIONS -include ${header})
    set_property(SOURCE ${path} APPEND PROPERTY OBJECT_DEPENDS ${header}.gch)
endfunction()

# Writes the C file of the kernel that the caller's variables describe.
function(write_kernel_source directory)
    foreach(part IN ITEMS statistics/${statistics} apply/${apply_file} schedule/${schedule_file}
            lane/${isa})
        if(NOT EXISTS ${CMAKE_CURRENT_SOURCE_DIR}/${part}.h)
            message(FATAL_ERROR "kernels.def: ${name}: there is no kernels/${part}.h")
        endif()
    endforeach()
    set(path ${directory}/${name}.kernel.c)
    file(CONFIGURE OUTPUT ${path} @ONLY CONTENT "/* From the line of ${name} in kernels.def. */
#define LN_NAME ${name}
#define LN_ITEM ${item}
#define LN_ACCUMULATOR ${sums}
#define LN_LANE_FILE \"lane/${isa}.h\"
#define LN_STORAGE ${storage}
#define LN_PARAM ${param}
#define LN_STATISTICS_FILE \"statistics/${statistics}.h\"
#define LN_APPLY_FILE \"apply/${apply_file}.h\"
#define LN_SCHEDULE_FILE \"schedule/${schedule_file}.h\"
#define LN_LANES ${lanes}
#define LN_UNROLL ${unroll}
#define LN_FMA ${fma}
#define LN_CHUNK ${chunk}
#define LN_TILE ${tile}
#define LN_PIVOT ${pivot}
#define LN_NONTEMPORAL ${nontemporal}
#include \"kernel.h\"
")
    separate_arguments(flags UNIX_COMMAND "${LN_ISA_${isa}_FLAGS}")
    if(wide EQUAL 2 OR (isa STREQUAL "scalar" AND storage MATCHES "16$")) # as fast, and shorter
        list(APPEND flags "$<$<CONFIG:Release>:-O2>")
    elseif(CMAKE_C_COMPILER_ID STREQUAL "GNU" AND NOT isa STREQUAL "scalar") # no slower, and a tenth shorter
        list(APPEND flags "$<$<CONFIG:Release>:-fno-unswitch-loops>")
    endif()
    set_source_files_properties(${path} PROPERTIES COMPILE_OPTIONS "${flags}")
    if(LN_PRECOMPILED AND LN_ISA_${isa}_BYTES GREATER 0)
        precompile_intrinsics(${directory} ${path} "${flags}")
    endif()
    set(LN_KERNEL_SOURCES ${LN_KERNEL_SOURCES} ${path} PARENT_SCOPE)
endfunction()

# Writes a file for each kernel in the table `file`, and sets LN_KERNEL_SOURCES to these files.
function(read_kernel_table file directory)
    read_parts(${file} STATISTICS 7)
    read_parts(${file} APPLY 3)
    read_parts(${file} SCHEDULE 3)
    read_lines(kernel_lines ${file} LN_KERNEL 9)
    set(LN_KERNEL_SOURCES)
    set(names)
    set(rows_layernorm "")
    set(rows_rmsnorm "")
    set(bounds "")
    foreach(line IN LISTS kernel_lines)
        string(REPLACE "|" ";" fields "${line}")
        list(POP_FRONT fields role statistics apply schedule storage param accumulator isas unroll)
        if(NOT role MATCHES "^(textbook|tuned)$")
            message(FATAL_ERROR "${file}: '${line}': invalid role '${role}' (choose textbook or tuned)")
        endif()
        if(NOT statistics IN_LIST LN_STATISTICS_PARTS)
            message(FATAL_ERROR "${file}: '${line}': no LN_STATISTICS line '${statistics}'")
        elseif(NOT apply IN_LIST LN_APPLY_PARTS)
            message(FATAL_ERROR "${file}: '${line}': no LN_APPLY line '${apply}'")
        elseif(NOT schedule IN_LIST LN_SCHEDULE_PARTS)
            message(FATAL_ERROR "${file}: '${line}': no LN_SCHEDULE line '${schedule}'")
        endif()
        list(SUBLIST LN_STATISTICS_${statistics} 1 6 facts)
        list(POP_FRONT facts operation chunk tile pivot fused same_bits)
        list(SUBLIST LN_APPLY_${apply} 1 2 facts)
        list(POP_FRONT facts apply_file wide)
        list(SUBLIST LN_SCHEDULE_${schedule} 1 2 facts)
        list(POP_FRONT facts schedule_file nontemporal)
        # Kernels for 16-bit storage compute in f32, others in the storage type.
        set(item ${storage})
        set(sums ${accumulator})
        if(wide EQUAL 2)
            set(item f64)
            set(sums f64)
        elseif(wide EQUAL 1)
            set(item ${accumulator})
        elseif(storage MATCHES "16$")
            set(item f32)
        endif()
        string(REPLACE " " ";" isas "${isas}")
        foreach(isa IN LISTS isas)
            if(NOT isa IN_LIST LN_ISAS)
                message(FATAL_ERROR "${file}: '${line}': no ISA '${isa}' in isa.def (${LN_ISAS})")
            endif()
            set(fma 0)
            if(fused AND LN_ISA_${isa}_FMA)
                set(fma 1)
            endif()
            set(lanes 1)
            if(LN_ISA_${isa}_BYTES GREATER 0)
                string(REGEX MATCH "[0-9]+" bits ${item})
                math(EXPR lanes "${LN_ISA_${isa}_BYTES} * 8 / ${bits}")
            endif()
            kernel_name(name ${statistics} ${apply} ${schedule} ${storage} ${param} ${accumulator} ${isa} ${unroll})
            string(LENGTH ${name} length)
            if(name IN_LIST names)
                message(FATAL_ERROR "${file}: two lines make ${name}")
            elseif(length GREATER 48)
                message(FATAL_ERROR "${file}: ${name} has ${length} letters; 48 are allowed")
            endif()
            list(APPEND names ${name})
            string(APPEND bounds " \\\n    row(${name}, ${statistics}, ${apply_file}, ${storage}, ${item}, ${sums}, ${lanes}, ${unroll}, ${chunk}, ${tile}, ${fma})")
            set(kind absent)
            if(LN_ISA_${isa}_PRESENT)
                set(kind present)
                write_kernel_source(${directory})
            endif()
            set(rounded_last 0)
            if(wide EQUAL 3)
                set(rounded_last 1)
            endif()
            string(APPEND rows_${operation} " \\\n    ${kind}(${name}, ${role}, ${statistics}, ${apply}, ${schedule}, ${storage}, ${param}, ${accumulator}, ${isa}, ${unroll}, ${fma}, ${nontemporal}, ${same_bits}, ${rounded_last})")
        endforeach()
    endforeach()
    set(isas "")
    foreach(isa IN LISTS LN_ISAS)
        set(cpu "${LN_ISA_${isa}_CPU}")
        if(NOT LN_ISA_${isa}_PRESENT)
            set(cpu 0)
        endif()
        string(APPEND isas " \\\n    row(${isa}, \"${LN_ISA_${isa}_LABEL}\", ${cpu}, ${LN_ISA_${isa}_BYTES})")
    endforeach()
    file(CONFIGURE OUTPUT ${directory}/kernel_table.h @ONLY CONTENT "/* From isa.def and kernels.def. */
#define LN_ISA_TABLE(row)${isas}
#define LN_KERNEL_TABLE(present, absent)${rows_layernorm}
#define LN_RMS_KERNEL_TABLE(present, absent)${rows_rmsnorm}
#define LN_BOUND_TABLE(row)${bounds}
")
    set(LN_KERNEL_SOURCES ${LN_KERNEL_SOURCES} PARENT_SCOPE)
endfunction()
