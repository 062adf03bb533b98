#include "domain/promise.h"
#include "domain/operation.h"
#include <math.h>
#include <string.h>

enum { CLASSES = LN_ACCURACY_EXACT + 1, TYPES = LN_F16 + 1 };

static const struct {
    const char *name; /* of a call: "library_", this, types */
    double row_ulp[TYPES];
} promises[CLASSES] = {
    [LN_ACCURACY_FAST] = {"library_fast_",
                          {[LN_F32] = 16, [LN_F64] = 32, [LN_F16] = 0.52, [LN_BF16] = 0.51}},
    [LN_ACCURACY_ACCURATE] = {"library_accurate_",
                              {[LN_F32] = 2, [LN_F64] = 2, [LN_F16] = 0.51, [LN_BF16] = 0.51}},
    [LN_ACCURACY_REPRODUCIBLE] = {"library_reproducible_", {0}},
    [LN_ACCURACY_EXACT] = {"library_exact_", {[LN_F32] = 0.5, [LN_F16] = 0.5, [LN_BF16] = 0.5}},
};

bool call_class(const kernel_facts *kernel, ln_accuracy *accuracy)
{
    bool found = false;
    for (int class = 0; class < CLASSES && strcmp(kernel->role, KERNEL_ROLE_CALL) == 0; class ++)
        if (strncmp(kernel->name, promises[class].name, strlen(promises[class].name)) == 0) {
            *accuracy = (ln_accuracy) class;
            found = true;
        }
    return found;
}

bool promise_covers(ln_accuracy accuracy, const char *family)
{
    bool squares_fit = strcmp(family, "huge") != 0 && strcmp(family, "overflow") != 0;
    return squares_fit || accuracy == LN_ACCURACY_ACCURATE || accuracy == LN_ACCURACY_EXACT;
}

static bool is_of_pytorch(const ln_convention *convention)
{
    return convention->ddof == 0 && convention->eps_place == LN_EPS_VAR && convention->eps == 1e-5;
}

double promised_row_ulp(ln_accuracy accuracy, ln_type storage, const ln_convention *convention)
{
    const operation *what = operations[convention->operation];
    double row_ulp = promises[accuracy].row_ulp[storage];
    bool held = accuracy != LN_ACCURACY_FAST
                    ? !what->rounds_between || !what->rounds_between(convention)
                    : is_of_pytorch(convention);
    return held && row_ulp > 0 ? row_ulp : INFINITY;
}
