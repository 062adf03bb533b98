#include "judge/gradients.h"
#include "base/allocate.h"
#include "metrics/storage.h"
#include <math.h>

const char *gradient_name(size_t which)
{
    static const char *const names[GRADIENTS] = {"dx", "dgamma", "dbeta"};
    return names[which];
}

static int class_of(double value)
{
    return isfinite(value) ? 0 : isnan(value) ? 1 : value > 0 ? 2 : 3;
}

/* Sums over all elements of one gradient. */
typedef struct gradient_sums {
    double errors, exacts; /* of squares */
    uint64_t right, finite;
} gradient_sums;

static void add_element(ln_type type, const ln_gradient *exact, const void *given, size_t i,
                        double row_ulp, gradient_sums *sums, gradient_errors *found)
{
    double value = storage_load(type, given, i), right = storage_load(type, exact->rounded, i);
    double off = fabs(value - exact->exact[i]);
    found->elements++;
    if (class_of(value) != class_of(right)) {
        found->mismatches++;
        return;
    }
    sums->right += value == right || isnan(right);
    if (!isfinite(right))
        return;
    sums->finite++;
    sums->errors += off * off;
    sums->exacts += exact->exact[i] * exact->exact[i];
    if (exact->exact[i] != 0)
        found->ulp_max = fmax(found->ulp_max, off / ln_ulp(type, exact->exact[i]));
    found->row_ulp_max = fmax(found->row_ulp_max, off / row_ulp);
}

static void measure_gradient(ln_type type, const ln_gradient *exact, const void *given, size_t rows,
                             size_t length, gradient_errors *found)
{
    gradient_sums sums = {0};
    double worst = -1;
    uint64_t wrong = 0;
    for (size_t row = 0; row < rows; row++) {
        double largest = 0;
        for (size_t i = row * length; i < (row + 1) * length; i++)
            if (isfinite(exact->exact[i]))
                largest = fmax(largest, fabs(exact->exact[i]));
        for (size_t i = row * length; i < (row + 1) * length; i++) {
            add_element(type, exact, given, i, ln_ulp(type, largest), &sums, found);
            bool worse = wrong == 0 && (found->mismatches > 0 || found->row_ulp_max > worst);
            if (!worse)
                continue;
            found->worst_row = row;
            found->worst_column = i - row * length;
            worst = found->row_ulp_max;
            wrong = found->mismatches;
        }
    }
    found->correctly_rounded = (double)sums.right / (double)found->elements;
    if (sums.exacts > 0)
        found->rel_l2 = sqrt(sums.errors / sums.exacts);
}

void judge_gradients(const ln_problem *problem, const ln_tensors *tensors, const void *dy,
                     const void *const given[GRADIENTS], gradient_errors found[GRADIENTS])
{
    ln_affine affine = problem->convention.affine;
    size_t parameters = ln_parameter_elements(affine, problem->hidden);
    ln_gradients right = {0};
    ln_gradient *all[GRADIENTS] = {&right.dx, &right.dgamma, &right.dbeta};
    bool has[GRADIENTS] = {given[0] != NULL, given[1] && ln_has_gamma(affine),
                           given[2] && ln_has_beta(affine)};
    for (size_t i = 0; i < GRADIENTS; i++) {
        size_t elements = i ? parameters : problem->rows * problem->hidden;
        found[i] = (gradient_errors){NAN, NAN, NAN, NAN, 0, 0, 0, 0};
        if (!has[i])
            continue;
        all[i]->rounded = allocate(elements * dtype_size(i ? problem->param : problem->storage));
        all[i]->exact = allocate(elements * sizeof *all[i]->exact);
    }
    if (!ln_backward(&problem->convention, problem->storage, problem->param, problem->rows,
                     problem->hidden, tensors->x, dy, tensors->gamma, &right))
        memory_is_out(problem->hidden);
    for (size_t i = 0; i < GRADIENTS; i++) {
        if (has[i])
            measure_gradient(i ? problem->param : problem->storage, all[i], given[i],
                             i ? 1 : problem->rows, i ? parameters : problem->hidden, &found[i]);
        free(all[i]->rounded);
        free(all[i]->exact);
    }
}
