/* Functions for all peers: the conventions that other libraries support, and the text of a version. */
#ifndef LAYERNORM_PEER_H
#define LAYERNORM_PEER_H

#include <layernorm_plugin.h>
#include <stdio.h>

/* Returns NULL if a convention is one of torch.nn.LayerNorm, else the reason. These have a biased variance, eps in the
 * variance, and no affine step, a vector gamma, or both vectors; no library supports more. */
static inline const char *peer_refuses_convention(const ln_convention *convention)
{
    if (convention->ddof != 0)
        return "it divides only by N (ddof 0)";
    if (convention->eps_place != LN_EPS_VAR && convention->eps_place != LN_EPS_NONE)
        return "it adds eps only to the variance";
    switch (convention->affine) {
    case LN_AFFINE_NONE:
    case LN_AFFINE_GAMMA:
    case LN_AFFINE_VECTOR:
        return NULL;
    case LN_AFFINE_SCALAR:
        return "its gamma and beta are vectors, not scalars";
    case LN_AFFINE_GAMMA1:
        return "it multiplies by gamma, not by 1 + gamma";
    }
    return "it does not know this affine form";
}

/* The same for torch.nn.RMSNorm. */
static inline const char *peer_refuses_rms(const ln_convention *convention)
{
    if (convention->root || convention->cast)
        return "it rounds only y";
    if (convention->eps_place != LN_EPS_VAR && convention->eps_place != LN_EPS_NONE)
        return "it adds eps only to the mean square";
    return convention->weight == LN_RMS_WEIGHT || convention->weight == LN_RMS_WEIGHT_NONE
               ? NULL
               : "it multiplies by w, not by 1 + w";
}

static inline int peer_has_gamma(const ln_problem *problem)
{
    return ln_has_gamma(problem->convention.affine);
}

static inline int peer_has_beta(const ln_problem *problem)
{
    return problem->convention.affine == LN_AFFINE_VECTOR;
}

static inline size_t peer_stride(size_t stride, size_t hidden)
{
    return stride ? stride : hidden;
}

static inline int peer_is_dense(const ln_problem *problem)
{
    return peer_stride(problem->x_stride, problem->hidden) == problem->hidden &&
           peer_stride(problem->y_stride, problem->hidden) == problem->hidden;
}

/* The first minor version of each year. The last entry has year 0: not known. */
typedef struct peer_release {
    int major, minor, year;
} peer_release;

/* Writes a version such as "oneDNN 2.6.3 (2022)", with the year of the minor version. */
static inline void peer_version(char *text, size_t size, const char *name, int major, int minor,
                                int patch, const peer_release *releases)
{
    const peer_release *at = releases;
    int year = 0, length = snprintf(text, size, "%s %d.%d.%d", name, major, minor, patch);
    for (; major > at->major || (major == at->major && minor >= at->minor); at++)
        if ((year = at->year) == 0)
            break;
    if (year && length > 0 && (size_t)length < size)
        snprintf(text + length, size - (size_t)length, " (%d)", year);
}

#endif
