/* How far conventions lie apart: which are compared, and the chart. */
#ifndef LNBENCH_DISTANCE_H
#define LNBENCH_DISTANCE_H

#include "base/output.h"
#include "exact/apart.h"
#include "domain/case.h"
#include "base/words.h"
#include <stdio.h>

/* What is easily taken for a convention: the other divisor, eps at each other place, none. */
typedef enum neighbour_kind {
    NEIGHBOUR_DIVISOR,
    NEIGHBOUR_VAR,
    NEIGHBOUR_STD,
    NEIGHBOUR_QUOTIENT,
    NEIGHBOUR_NO_EPS,
    NEIGHBOUR_KINDS,
} neighbour_kind;

extern const char *const neighbour_names[NEIGHBOUR_KINDS]; /* "other divisor", "eps@var", ... */

/* False where the convention is its own neighbour of that kind (or has no eps to put there). */
bool neighbour_of(const ln_convention *own, neighbour_kind kind, ln_convention *neighbour);

/* Divisor and eps the same: the affine form makes no distance. */
bool same_normalisation(const ln_convention *a, const ln_convention *b);

/* The conventions named, or every preset; those that differ in the affine form alone once, under
 * all their names ("torch = torch-nobias = tinyllm"). */
typedef struct distance_list {
    ln_convention *conventions;
    char (*names)[DETAIL_MAX_LENGTH];
    size_t count;
} distance_list;

bool distance_list_make(const word_list *named, distance_list *list, error *err);
void distance_list_free(distance_list *list);

/* One list of the conventions that differ from this in one thing: its neighbours and, with a tenth
 * of its eps, one more; of a convention without eps: those with 1e-5 at each place. Named by what
 * differs. */
void distance_list_neighbours(const ln_convention *own, distance_list *list);

/* Draws distance.svg and distance.png into `directory` (made where it is missing), with their TSV
 * under directory/data: how far the others lie from `own`, over hidden at this std, and over std at
 * this hidden; prints their paths (charts_draw_alone). */
bool distance_chart(const ln_convention *own, const distance_list *others, size_t hidden, float std,
                    const char *directory, const output_file *out, error *err);

#endif
