/* What tests of the reference's answers share. */
#ifndef REFERENCE_FIXTURE_H
#define REFERENCE_FIXTURE_H

#include "../../kernels/tests/test_list.h"
#include "certify/reference.h"

/* Of all tests of a program. */
static ln_reference *reference;

static inline int set_up(void **state)
{
    (void)state;
    reference = ln_reference_create();
    return reference == NULL;
}

static inline int tear_down(void **state)
{
    (void)state;
    ln_reference_destroy(reference);
    return 0;
}

/* To the bit. */
static inline void same(double got, double wanted)
{
    if (memcmp(&got, &wanted, sizeof got) != 0) {
        fail_msg("got %a, wanted %a", got, wanted);
    }
}

#endif
