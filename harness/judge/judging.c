#include "judge/judging.h"

#define OPERATION(KIND, name) extern const operation_judging name##_judging;
#include "domain/operations.def"
#undef OPERATION

#define OPERATION(KIND, name) [LN_OPERATION_##KIND] = &name##_judging,
const operation_judging *const judgings[] = {
#include "domain/operations.def"
};
