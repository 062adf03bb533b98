/* Prints a hash of the results of each kernel that runs here; the hashes are the same on every machine and with every
 * compiler. aarch64_test compares the lines of the scalar kernels on two architectures.
 *
 *     print_bits [ISA]     ISA: only kernels of this ISA, such as scalar */
#include "layernorm_plugin.h"
#include "oracle.h"

#include <stdio.h>
#include <string.h>

enum { ROWS = 8, LARGEST = 300, CONVENTIONS = 40 };

static double x_values[ROWS * LARGEST], gamma_values[LARGEST], beta_values[LARGEST];
static double x[ROWS * LARGEST], y[ROWS * LARGEST], gammas[LARGEST], betas[LARGEST]; /* any type */

/* FNV-1a over the numbers of y; all NaNs count as one. */
static uint64_t hash_rows(uint64_t hash, ln_type type, size_t count)
{
    for (size_t i = 0; i < count; i++) {
        double value = element_get(type, y, i);
        uint64_t word = 1;
        if (value == value)
            memcpy(&word, &value, sizeof(word));
        hash = (hash ^ word) * 1099511628211u;
    }
    return hash;
}

static void fill(const ln_kernel *kernel, size_t hidden)
{
    numbers draws = {hidden};
    for (size_t i = 0; i < ROWS * hidden; i++)
        x_values[i] = numbers_normal(&draws) + (i / hidden == 1 ? 1e4 : 0.25);
    for (size_t i = 0; i < hidden; i++) {
        gamma_values[i] = numbers_normal(&draws);
        beta_values[i] = numbers_normal(&draws);
    }
    elements_store(kernel->storage, x, x_values, ROWS * hidden);
    elements_store(kernel->param, gammas, gamma_values, hidden);
    elements_store(kernel->param, betas, beta_values, hidden);
}

static void print_kernel(const ln_kernel *kernel)
{
    uint64_t hash = 14695981039346656037u;
    for (size_t hidden = 1; hidden <= LARGEST; hidden += hidden < 70 ? 1 : 23) {
        fill(kernel, hidden);
        for (int c = 0; c < CONVENTIONS; c++) {
            const ln_eps_place place = (ln_eps_place)(c / 2 % 4);
            const ln_problem problem = {.rows = ROWS,
                                        .hidden = hidden,
                                        .storage = kernel->storage,
                                        .param = kernel->param,
                                        .convention = {.ddof = c % 2,
                                                       .eps_place = place,
                                                       .eps = place == LN_EPS_NONE ? 0 : 1e-5,
                                                       .affine = (ln_affine)(c / 8)}};
            const ln_tensors tensors = {.x = x, .gamma = gammas, .beta = betas, .y = y};
            if (kernel->supports(&problem))
                return;
            kernel->run(&problem, &tensors);
            hash = hash_rows(hash, kernel->storage, ROWS * hidden);
        }
    }
    printf("%s %016llx\n", kernel->name, (unsigned long long)hash);
}

int main(int count, char **words)
{
    const ln_plugin_table *plugin = ln_plugin();
    for (size_t i = 0; i < plugin->count; i++) {
        const ln_kernel *kernel = &plugin->kernels[i];
        bool is_call = kernel->traits & LN_TRAIT_OWN_THREADS; /* it uses one of the others */
        if (!is_call && (count < 2 || strcmp(kernel->isa, words[1]) == 0))
            print_kernel(kernel);
    }
    return 0;
}
