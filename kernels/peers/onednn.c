/* oneDNN's layer normalization as a plugin, by its C API (2.x and 3.x), and from 3.9 on its RMSNorm.
 *
 * onednn_f32, onednn_bf16_param_f32: the timed code is only dnnl_primitive_execute(); the primitive and its memory
 * objects are made by prepare().
 *
 * onednn_call_f32: the timed code is that of a program that keeps nothing between calls: descriptors, the primitive
 * (from oneDNN's own cache), memory objects, execution.
 *
 * onednn_rms_f32, onednn_rms_bf16_param_f32: the same with dnnl_rms_norm.
 *
 * Mean and variance are two passes over the row, in code that is generated for the CPU and the row's length. In
 * inference oneDNN gives neither mean nor rstd; gamma and beta are f32 for all types of rows. */
#include "peer.h"

#include <oneapi/dnnl/dnnl.h>
#include <stdlib.h>

enum { TENSORS = 4 }; /* x, y, gamma or the weight, beta */

/* A problem of either operation. */
typedef struct norm_layer {
    size_t rows, hidden;
    dnnl_data_type_t type; /* of x and y */
    float eps;
    unsigned flags;
} norm_layer;

static norm_layer layer_of(const ln_problem *problem)
{
    return (norm_layer){problem->rows, problem->hidden,
                        problem->storage == LN_BF16 ? dnnl_bf16 : dnnl_f32,
                        (float)problem->convention.eps,
                        (peer_has_gamma(problem) ? (unsigned)dnnl_use_scale : 0u) |
                            (peer_has_beta(problem) ? (unsigned)dnnl_use_shift : 0u)};
}

/* One engine and stream for the process, made when they are first needed. */
static dnnl_engine_t engine;
static dnnl_stream_t stream;

static int begin(void)
{
    if (!engine && dnnl_engine_create(&engine, dnnl_cpu, 0) != dnnl_success)
        engine = NULL;
    if (engine && !stream &&
        dnnl_stream_create(&stream, engine, dnnl_stream_default_flags) != dnnl_success)
        stream = NULL;
    return stream != NULL;
}

/* In version 3 descriptions of tensors are opaque, and a primitive's description is made in one step. */
typedef dnnl_memory_desc_t description;
#if DNNL_VERSION_MAJOR >= 3
typedef const_dnnl_memory_desc_t description_in;
#define DESCRIPTION_IN(described) (described)

static dnnl_status_t describe_tensor(description *described, int axes, const dnnl_dims_t sizes,
                                     dnnl_data_type_t type, dnnl_format_tag_t tag)
{
    return dnnl_memory_desc_create_with_tag(described, axes, sizes, type, tag);
}

static void forget_description(description *described)
{
    dnnl_memory_desc_destroy(*described);
}

static dnnl_status_t describe_layer(dnnl_primitive_desc_t *described, description_in rows,
                                    float eps, unsigned flags)
{
    return dnnl_layer_normalization_forward_primitive_desc_create(
        described, engine, dnnl_forward_inference, rows, rows, NULL, eps, flags, NULL);
}
#else
typedef const dnnl_memory_desc_t *description_in;
#define DESCRIPTION_IN(described) (&(described))

static dnnl_status_t describe_tensor(description *described, int axes, const dnnl_dims_t sizes,
                                     dnnl_data_type_t type, dnnl_format_tag_t tag)
{
    return dnnl_memory_desc_init_by_tag(described, axes, sizes, type, tag);
}

static void forget_description(description *described)
{
    (void)described;
}

static dnnl_status_t describe_layer(dnnl_primitive_desc_t *described, description_in rows,
                                    float eps, unsigned flags)
{
    dnnl_layer_normalization_desc_t layer;
    dnnl_status_t status = dnnl_layer_normalization_forward_desc_init(
        &layer, dnnl_forward_inference, rows, NULL, eps, flags);
    return status == dnnl_success
               ? dnnl_primitive_desc_create(described, &layer, NULL, engine, NULL)
               : status;
}
#endif

/* Makes the description of the rows, which x and y share. */
static dnnl_status_t describe_rows(const norm_layer *layer, description *rows)
{
    const dnnl_dims_t sizes = {(dnnl_dim_t)layer->rows, (dnnl_dim_t)layer->hidden};
    return describe_tensor(rows, 2, sizes, layer->type, dnnl_ab);
}

static dnnl_status_t describe(const norm_layer *layer, dnnl_primitive_desc_t *described)
{
    description rows;
    if (!begin() || describe_rows(layer, &rows) != dnnl_success)
        return dnnl_runtime_error;
    dnnl_status_t status =
        describe_layer(described, DESCRIPTION_IN(rows), layer->eps, layer->flags);
    forget_description(&rows);
    return status;
}

/* Returns the reason why a layer is not supported; NULL: it is. oneDNN decides, except for rows that are not dense,
 * which it accepts but computes wrongly (2.6.3: five elements in rows of thirteen). */
static const char *refuses(const norm_layer *layer, int is_dense)
{
    if (!is_dense)
        return "its rows lie one behind the other";
    dnnl_primitive_desc_t described;
    dnnl_status_t status = describe(layer, &described);
    if (status == dnnl_success)
        dnnl_primitive_desc_destroy(described);
    return status == dnnl_success         ? NULL
           : status == dnnl_unimplemented ? "oneDNN has no implementation of it for this CPU"
                                          : "oneDNN refuses its description";
}

static const char *supports(const ln_problem *problem)
{
    const char *reason = peer_refuses_convention(&problem->convention);
    const norm_layer layer = layer_of(problem);
    return reason ? reason : refuses(&layer, peer_is_dense(problem));
}

typedef struct prepared {
    norm_layer layer;
    dnnl_primitive_t primitive;
    int count;
    dnnl_exec_arg_t arguments[TENSORS];
    void *pointers[TENSORS];
} prepared;

static void forget(prepared *ready)
{
    for (int i = 0; i < ready->count; i++)
        dnnl_memory_destroy(ready->arguments[i].memory);
    if (ready->primitive)
        dnnl_primitive_destroy(ready->primitive);
    ready->count = 0;
    ready->primitive = NULL;
}

static int add_tensor(prepared *ready, int argument, const description *described)
{
    dnnl_exec_arg_t *added = &ready->arguments[ready->count];
    if (dnnl_memory_create(&added->memory, DESCRIPTION_IN(*described), engine, DNNL_MEMORY_NONE) !=
        dnnl_success)
        return 0;
    added->arg = argument;
    ready->pointers[ready->count++] = NULL;
    return 1;
}

static int create_primitive(prepared *ready)
{
    dnnl_primitive_desc_t described;
    if (describe(&ready->layer, &described) != dnnl_success)
        return 0;
    dnnl_status_t status = dnnl_primitive_create(&ready->primitive, described);
    dnnl_primitive_desc_destroy(described);
    if (status != dnnl_success)
        ready->primitive = NULL;
    return status == dnnl_success;
}

/* Makes everything that does not depend on the tensors' addresses. */
static int make_primitive(prepared *ready, const norm_layer *layer)
{
    const dnnl_dims_t sizes = {(dnnl_dim_t)layer->hidden};
    description rows, parameter;
    *ready = (struct prepared){.layer = *layer};
    if (describe_rows(layer, &rows) != dnnl_success)
        return 0;
    int made = 0;
    if (describe_tensor(&parameter, 1, sizes, dnnl_f32, dnnl_a) == dnnl_success) {
        made =
            create_primitive(ready) && add_tensor(ready, DNNL_ARG_SRC, &rows) &&
            add_tensor(ready, DNNL_ARG_DST, &rows) &&
            (!(layer->flags & dnnl_use_scale) || add_tensor(ready, DNNL_ARG_SCALE, &parameter)) &&
            (!(layer->flags & dnnl_use_shift) || add_tensor(ready, DNNL_ARG_SHIFT, &parameter));
        forget_description(&parameter);
    }
    forget_description(&rows);
    if (!made)
        forget(ready);
    return made;
}

/* oneDNN's pointers are not const, but it writes only to y. */
static void execute(prepared *ready, const void *const pointers[TENSORS])
{
    for (int i = 0; i < ready->count; i++) {
        void *pointer = (void *)(uintptr_t)pointers[i];
        if (pointer == ready->pointers[i])
            continue;
        dnnl_memory_set_data_handle(ready->arguments[i].memory, pointer);
        ready->pointers[i] = pointer;
    }
    dnnl_primitive_execute(ready->primitive, stream, ready->count, ready->arguments);
    dnnl_stream_wait(stream);
}

static int prepare_layer(const norm_layer *layer, void **state)
{
    prepared *ready = malloc(sizeof *ready);
    if (ready && make_primitive(ready, layer)) {
        *state = ready;
        return 0;
    }
    free(ready);
    return 1;
}

static int prepare_layernorm(const ln_problem *problem, void **state)
{
    const norm_layer layer = layer_of(problem);
    return prepare_layer(&layer, state);
}

static void release(void *state)
{
    forget(state);
    free(state);
}

static void run_prepared(const void *state, const ln_tensors *tensors)
{
    const void *const pointers[TENSORS] = {tensors->x, tensors->y, tensors->gamma, tensors->beta};
    execute((prepared *)(uintptr_t)state, pointers);
}

/* There is no prepare(), so the state is the problem itself. */
static void run_call(const void *state, const ln_tensors *tensors)
{
    const norm_layer layer = layer_of(state);
    prepared once;
    if (!make_primitive(&once, &layer))
        return;
    run_prepared(&once, tensors);
    forget(&once);
}

/* Debian's oneDNN uses GNU's OpenMP, and the omp.h of another compiler may declare another one. The number of threads
 * of a primitive is that at its creation. */
#if DNNL_CPU_THREADING_RUNTIME == DNNL_RUNTIME_OMP
extern void omp_set_num_threads(int threads);
#endif

static int set_threads(unsigned threads)
{
#if DNNL_CPU_THREADING_RUNTIME == DNNL_RUNTIME_OMP
    omp_set_num_threads((int)threads);
    return 0;
#else
    return threads == 1 && DNNL_CPU_THREADING_RUNTIME == DNNL_RUNTIME_SEQ ? 0 : 1;
#endif
}

#define ONEDNN(name_, storage_)                                                                    \
    .name = name_, .statistics = "onednn", .apply = "", .schedule = "", .isa = "any",              \
    .storage = storage_, .param = LN_F32, .accumulator = LN_F32, .traits = LN_TRAIT_NO_RESIDUAL

#if DNNL_VERSION_MAJOR > 3 || (DNNL_VERSION_MAJOR == 3 && DNNL_VERSION_MINOR >= 9)
#define HAS_RMSNORM 1
static norm_layer layer_of_rms(const ln_problem *problem)
{
    const unsigned scale = problem->convention.weight == LN_RMS_WEIGHT ? dnnl_use_scale : 0;
    return (norm_layer){problem->rows, problem->hidden,
                        problem->storage == LN_BF16 ? dnnl_bf16 : dnnl_f32,
                        (float)problem->convention.eps, (unsigned)dnnl_rms_norm | scale};
}

static const char *rms_supports(const ln_problem *problem)
{
    const char *reason = peer_refuses_rms(&problem->convention);
    const norm_layer layer = layer_of_rms(problem);
    return reason ? reason : refuses(&layer, peer_is_dense(problem));
}

static int rms_prepare(const ln_problem *problem, void **state)
{
    const norm_layer layer = layer_of_rms(problem);
    return prepare_layer(&layer, state);
}
#endif

static const ln_kernel kernels[] = {
    {ONEDNN("onednn_f32", LN_F32), .supports = supports, .prepare = prepare_layernorm,
     .release = release, .run = run_prepared},
    {ONEDNN("onednn_call_f32", LN_F32), .supports = supports, .run = run_call},
    {ONEDNN("onednn_bf16_param_f32", LN_BF16), .supports = supports, .prepare = prepare_layernorm,
     .release = release, .run = run_prepared},
#ifdef HAS_RMSNORM
    {ONEDNN("onednn_rms_f32", LN_F32), .operation = LN_OPERATION_RMSNORM, .supports = rms_supports,
     .prepare = rms_prepare, .release = release, .run = run_prepared},
    {ONEDNN("onednn_rms_bf16_param_f32", LN_BF16), .operation = LN_OPERATION_RMSNORM,
     .supports = rms_supports, .prepare = rms_prepare, .release = release, .run = run_prepared},
#endif
};

static char version[64];

static const ln_plugin_table plugin = {
    .abi_version = LN_PLUGIN_ABI,
    .struct_size = sizeof(ln_plugin_table),
    .kernel_size = sizeof(ln_kernel),
    .name = "onednn",
    .count = sizeof kernels / sizeof *kernels,
    .kernels = kernels,
    .set_threads = set_threads,
    .version = version,
};

const ln_plugin_table *ln_plugin(void)
{
    static const peer_release releases[] = {{2, 0, 2020}, {2, 1, 2021}, {2, 6, 2022},  {3, 1, 2023},
                                            {3, 4, 2024}, {3, 7, 2025}, {3, 11, 2026}, {3, 14, 0}};
    const dnnl_version_t *loaded = dnnl_version();
    peer_version(version, sizeof version, "oneDNN", loaded->major, loaded->minor, loaded->patch,
                 releases);
    return &plugin;
}
