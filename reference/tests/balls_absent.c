/* Without Arb there is no third voice. */
#include "balls.h"

const char *balls_version(void)
{
    return NULL;
}

ball_set *balls_create(void)
{
    return NULL;
}

void balls_destroy(ball_set *balls)
{
    (void)balls;
}

void balls_take(ball_set *balls, const ln_convention *convention, size_t hidden, ln_type type,
                const void *x)
{
    (void)balls, (void)convention, (void)hidden, (void)type, (void)x;
}

balls_verdict balls_judge(ball_set *balls, double x, double gamma, double beta, audit_claim claim)
{
    (void)balls, (void)x, (void)gamma, (void)beta, (void)claim;
    return BALLS_UNDECIDED;
}
