/* The public headers as C++17. */
#include "header_test.c"
