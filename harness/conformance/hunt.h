/* The search for the rows on which a kernel is worst: hill climbing over the bits of a row, with
 * restarts.
 *
 *     hunt_state hunt = {.settings = settings, .judge = judge, .kernel = kernel};
 *     hunt_begin(&hunt);
 *     for (uint64_t k = 0; k < HUNT_RESTARTS; k++)
 *         hunt_climb(&hunt, k);
 *     hunt_save(&hunt, "complete", path);
 *     hunt_free(&hunt);
 *
 * A restart depends on the settings and its number alone.
 */
#ifndef LNBENCH_HUNT_H
#define LNBENCH_HUNT_H

#include "conformance/conformance.h"
#include "inputs/worst.h"

enum { HUNT_RESTARTS = 54, HUNT_FINDS = 8 };

typedef struct hunt_settings {
    char kernel[NAME_MAX_LENGTH];
    char convention[CONVENTION_MAX_LENGTH]; /* its label */
    ln_type storage, param;                 /* the kernel's */
    size_t hidden;
    uint64_t seed;
    double seconds; /* 0: HUNT_RESTARTS climbs; else as many as the seconds allow */
} hunt_settings;

typedef struct hunt_state {
    hunt_settings settings;
    ln_convention convention;
    row_judge *judge;
    const kernel_entry *kernel;
    arena memory;
    operation_call call;         /* its parameters */
    worst_row finds[HUNT_FINDS]; /* gravest first */
    size_t find_count;
    uint64_t done;            /* climbs */
    uint64_t rows;            /* tried */
    double until;             /* when to stop, on the monotonic clock; 0: never */
    bool cut;                 /* the last restarts were stopped before their end */
    bool interrupted;         /* by the user */
    const char *reproducible; /* the kernel's class (domain/reproducible.h); NULL: not known */
} hunt_state;

/* Parameters from the seed. */
void hunt_begin(hunt_state *hunt);
/* The best row of a climb goes into the finds. Stops early where time is up or the user interrupts (then `cut`
 * is set). A kernel that fails is a find; one that does not take the problem at all ends the program (7). */
void hunt_climb(hunt_state *hunt, uint64_t number);
void hunt_free(hunt_state *hunt);

/* The file: the command as a comment, then the finds: failures first, then wrong classes, then by score,
 * then by restart. Two hunts with the same settings make the same bytes. `state`: "complete", "running"
 * or "interrupted". */
void hunt_save(const hunt_state *hunt, const char *state, const char *path);

/* Changes a row of finite numbers of a type in a few small ways, drawn from a counter; it stays
 * finite. */
typedef struct hunt_random {
    uint64_t seed, restart, counter;
    uint32_t words[4];
    unsigned left;
} hunt_random;
uint32_t hunt_draw(hunt_random *random);
void hunt_mutate(hunt_random *random, ln_type type, void *x, size_t hidden);

#endif
