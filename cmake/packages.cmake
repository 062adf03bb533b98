# `cpack` makes Debian packages from a build of the preset `packages` (docs/install.md). Each install()
# belongs to one component, and each component is a package; debian/stage.cmake completes them.
set(CPACK_GENERATOR DEB)
set(CPACK_PACKAGE_CONTACT "lnbench maintainers <maintainers@lnbench.example>" CACHE STRING
    "Maintainer of the packages, with an address")
set(CPACK_PACKAGE_DESCRIPTION_SUMMARY "") # each package has its own
set(CPACK_PACKAGING_INSTALL_PREFIX /usr)
set(CPACK_STRIP_FILES ON)
set(CPACK_DEB_COMPONENT_INSTALL ON)
set(CPACK_DEBIAN_FILE_NAME DEB-DEFAULT)
set(CPACK_DEBIAN_PACKAGE_RELEASE 1)
set(CPACK_DEBIAN_PACKAGE_SOURCE lnbench)
set(CPACK_DEBIAN_PACKAGE_CONTROL_STRICT_PERMISSION ON)
set(CPACK_DEBIAN_COMPRESSION_TYPE xz)
set(CPACK_PRE_BUILD_SCRIPTS ${CMAKE_CURRENT_LIST_DIR}/debian/stage.cmake)
set(CPACK_LNBENCH_PREFIX ${CMAKE_INSTALL_PREFIX})
set(CPACK_LNBENCH_PROGRAMS ${CMAKE_RUNTIME_OUTPUT_DIRECTORY})
set(CPACK_LNBENCH_CHANGELOG ${PROJECT_BINARY_DIR}/debian/changelog)
set(CPACK_COMPONENTS_ALL)

# The first line of a description is its summary; `depends` is added to the output of dpkg-shlibdeps.
function(debian_package component package section depends description)
    string(TOUPPER ${component} name)
    set(CPACK_COMPONENTS_ALL ${CPACK_COMPONENTS_ALL} ${component} PARENT_SCOPE)
    set(CPACK_COMPONENT_${name}_DESCRIPTION "${description}" PARENT_SCOPE)
    set(CPACK_DEBIAN_${name}_PACKAGE_NAME ${package} PARENT_SCOPE)
    set(CPACK_DEBIAN_${name}_PACKAGE_SECTION ${section} PARENT_SCOPE)
    set(CPACK_DEBIAN_${name}_PACKAGE_DEPENDS "${depends}" PARENT_SCOPE)
endfunction()

set(version ${PROJECT_VERSION}-${CPACK_DEBIAN_PACKAGE_RELEASE})
string(TIMESTAMP date "%a, %d %b %Y %H:%M:%S +0000" UTC) # of SOURCE_DATE_EPOCH, if it is set
configure_file(${CMAKE_CURRENT_LIST_DIR}/debian/changelog.in ${CPACK_LNBENCH_CHANGELOG} @ONLY)
get_target_property(layernorm_abi layernorm SOVERSION)
get_target_property(lnjudge_abi lnjudge SOVERSION)
get_target_property(hayai_abi hayai SOVERSION)
set(CPACK_LNBENCH_LIBLAYERNORM_ABI ${layernorm_abi})
set(CPACK_LNBENCH_LIBLNJUDGE_ABI ${lnjudge_abi})
set(CPACK_LNBENCH_HAYAI-RUNTIME_ABI ${hayai_abi})

debian_package(lnbench lnbench devel "liblayernorm${layernorm_abi} (= ${version})"
"benchmark and accuracy harness for LayerNorm kernels
Measures LayerNorm kernels, compares every output with a certified reference
and draws the charts. Speed and error come from the same binary, the same
inputs and the same run.")
set(CPACK_DEBIAN_LNBENCH_PACKAGE_RECOMMENDS "gnuplot-nox | gnuplot, fonts-liberation")
debian_package(liblayernorm liblayernorm${layernorm_abi} libs ""
"LayerNorm kernels for f32, f64, bf16 and f16
Layer Normalization under every convention that people use: divisor N or N-1,
eps in the variance, on the standard deviation or on the quotient. A kernel is
chosen for the processor, the shape and the accuracy that was asked for.")
debian_package(liblayernorm-dev liblayernorm-dev libdevel
"liblayernorm${layernorm_abi} (= ${version})"
"LayerNorm kernels, development files
Layer Normalization under every convention that people use.

This package has the headers, the static library, the CMake package and the
pkg-config file.")
debian_package(liblnjudge liblnjudge${lnjudge_abi} libs ""
"judge of LayerNorm implementations
The certified reference of lnbench as a library: correctly rounded LayerNorm
and its gradients, errors of results made elsewhere, checks of a function, and
which convention made an output.")
debian_package(liblnjudge-dev liblnjudge-dev libdevel
"liblnjudge${lnjudge_abi} (= ${version}), liblayernorm-dev (= ${version})"
"judge of LayerNorm implementations, development files
The certified reference of lnbench as a library.

This package has the header, the man page, the CMake package and the
pkg-config file.")
debian_package(hayai-runtime libhayai${hayai_abi} libs ""
"Google Benchmark from C
A C API over Google Benchmark, with its own report formats, interleaved
repetitions and errors as values.")
debian_package(hayai libhayai-dev libdevel
"libhayai${hayai_abi} (= ${version})"
"Google Benchmark from C, development files
A C API over Google Benchmark.

This package has the headers, the documentation, the CMake package and the
pkg-config file.")
include(CPack)
if(LNBENCH_TESTS)
    add_subdirectory(cmake/tests)
endif()
