# Cross-compiles for 64-bit ARM with Debian's gcc-aarch64-linux-gnu; the programs run under qemu-user. The libraries
# are those of Debian's arm64, installed next to the host's (dpkg --add-architecture arm64) or unpacked below
# LNBENCH_AARCH64_ROOT: docs/install.md.
set(CMAKE_SYSTEM_NAME Linux)
set(CMAKE_SYSTEM_PROCESSOR aarch64)
set(CMAKE_C_COMPILER aarch64-linux-gnu-gcc)
find_program(aarch64_cxx aarch64-linux-gnu-g++) # a separate package; the kernels do not need it
if(aarch64_cxx)
    set(CMAKE_CXX_COMPILER ${aarch64_cxx})
endif()

set(LNBENCH_AARCH64_ROOT / CACHE PATH "Where usr/lib/aarch64-linux-gnu lies")
list(APPEND CMAKE_TRY_COMPILE_PLATFORM_VARIABLES LNBENCH_AARCH64_ROOT)
set(CMAKE_LIBRARY_ARCHITECTURE aarch64-linux-gnu)
set(CMAKE_FIND_ROOT_PATH /usr/aarch64-linux-gnu ${LNBENCH_AARCH64_ROOT})
set(CMAKE_FIND_ROOT_PATH_MODE_PROGRAM NEVER)
set(CMAKE_FIND_ROOT_PATH_MODE_LIBRARY ONLY)
set(CMAKE_FIND_ROOT_PATH_MODE_INCLUDE ONLY)
set(ENV{PKG_CONFIG_LIBDIR} ${LNBENCH_AARCH64_ROOT}/usr/lib/aarch64-linux-gnu/pkgconfig)
if(NOT LNBENCH_AARCH64_ROOT STREQUAL "/") # for "/", compiler and linker look there anyway
    set(ENV{PKG_CONFIG_SYSROOT_DIR} ${LNBENCH_AARCH64_ROOT})
    foreach(language C CXX)
        set(CMAKE_${language}_FLAGS_INIT
            "-isystem ${LNBENCH_AARCH64_ROOT}/usr/include/aarch64-linux-gnu")
    endforeach()
    foreach(kind EXE SHARED MODULE)
        set(CMAKE_${kind}_LINKER_FLAGS_INIT
            "-Wl,-rpath-link,${LNBENCH_AARCH64_ROOT}/usr/lib/aarch64-linux-gnu")
    endforeach()
endif()

# The loader and the C library come with the libraries, or else with the compiler.
set(aarch64_loader /usr/aarch64-linux-gnu)
if(EXISTS ${LNBENCH_AARCH64_ROOT}/lib/ld-linux-aarch64.so.1)
    set(aarch64_loader ${LNBENCH_AARCH64_ROOT})
endif()
set(CMAKE_CROSSCOMPILING_EMULATOR qemu-aarch64 -L ${aarch64_loader})
