#include "domain/operation.h"

#define OPERATION(KIND, name) extern const operation name##_operation;
#include "domain/operations.def"
#undef OPERATION

#define OPERATION(KIND, name) [LN_OPERATION_##KIND] = &name##_operation,
const operation *const operations[] = {
#include "domain/operations.def"
    NULL};

const size_t operation_count = sizeof operations / sizeof *operations - 1;
