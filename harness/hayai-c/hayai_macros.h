/* Benchmarks by macro, registered before main() in the order of the file.
 *
 *     HAYAI_BENCHMARK(text, length) { ... state ... }
 *     HAYAI_BENCHMARK_WITH(text, copy, hayai_benchmark_range(benchmark, 8, 64)) { ... state ... }
 *
 *     HAYAI_FIXTURE(buffers) { float *data; };
 *     HAYAI_SET_UP(buffers) { fixture->data = malloc(4096); }
 *     HAYAI_TEAR_DOWN(buffers) { free(fixture->data); }
 *     HAYAI_BENCHMARK_F(buffers, sum) { ... state, fixture->data ... }
 *
 *     HAYAI_BENCHMARK_P(matrix, transpose, (int rows, int columns)) { ... state, rows, columns ...
 * } HAYAI_BENCHMARK_P_INSTANCE(matrix, transpose, (8, 64))
 *
 *     HAYAI_MAIN()
 *
 * The names in the reports are "text/length", "buffers/sum", "matrix/transpose(8, 64)". Define
 * HAYAI_SHORT_NAMES before including hayai.h for the same without HAYAI_. */
#ifndef HAYAI_MACROS_H
#define HAYAI_MACROS_H

#ifndef HAYAI_H
#include "hayai.h"
#endif

#ifdef __cplusplus
extern "C" {
#endif

/* A benchmark that a macro made; it lives in the program's data, so registering can't fail. */
typedef struct hayai_node {
    const char *name;
    void (*function)(hayai_state *state, void *context);
    void (*configure)(hayai_benchmark *benchmark, void *context); /* or NULL */
    struct hayai_node *next;
} hayai_node;

/* Puts a node at the end of what hayai_default_suite() will hold. Only before its first use. */
void hayai_register(hayai_node *node);

#ifdef __cplusplus
}
#endif

#define HAYAI_UNUSED __attribute__((unused))
#define HAYAI_JOIN_(a, b) a##b
#define HAYAI_JOIN(a, b) HAYAI_JOIN_(a, b)
#define HAYAI_UNPACK(...) __VA_ARGS__
#ifdef __cplusplus
#define HAYAI_ZEROED_(type, object) type object = {}
#else
#define HAYAI_ZEROED_(type, object)                                                                \
    type object;                                                                                   \
    __builtin_memset(&object, 0, sizeof object)
#endif

#define HAYAI_REGISTER_(id, text, call, configuration)                                             \
    __attribute__((constructor)) static void HAYAI_JOIN(hayai_register_, id)(void)                 \
    {                                                                                              \
        static hayai_node node = {text, call, configuration, NULL};                                \
        hayai_register(&node);                                                                     \
    }

#define HAYAI_CONFIGURE_(id, ...)                                                                  \
    static void HAYAI_JOIN(hayai_configure_, id)(hayai_benchmark * benchmark HAYAI_UNUSED,         \
                                                 void *context HAYAI_UNUSED)                       \
    {                                                                                              \
        __VA_ARGS__;                                                                               \
    }

/* A plain benchmark: the body gets `state`. */
#define HAYAI_BENCHMARK(group, name) HAYAI_BENCHMARK_WITH(group, name, (void)0)

/* The same with settings: statements that use `benchmark`. */
#define HAYAI_BENCHMARK_WITH(group, name, ...)                                                     \
    static void hayai_body_##group##_##name(hayai_state *state);                                   \
    static void hayai_call_##group##_##name(hayai_state *state, void *context HAYAI_UNUSED)        \
    {                                                                                              \
        hayai_body_##group##_##name(state);                                                        \
    }                                                                                              \
    HAYAI_CONFIGURE_(group##_##name, __VA_ARGS__)                                                  \
    HAYAI_REGISTER_(group##_##name, #group "/" #name, hayai_call_##group##_##name,                 \
                    hayai_configure_##group##_##name)                                              \
    static void hayai_body_##group##_##name(hayai_state *state)

/* A fixture: its members; then, both of them required, what is done before and after each call of
 * each of its benchmarks, untimed, in each thread with a fixture of its own that starts as zeros.
 */
#define HAYAI_FIXTURE(fixture_name) struct fixture_name
#define HAYAI_SET_UP(fixture_name)                                                                 \
    static void hayai_set_up_##fixture_name(struct fixture_name *fixture HAYAI_UNUSED,             \
                                            hayai_state *state HAYAI_UNUSED)
#define HAYAI_TEAR_DOWN(fixture_name)                                                              \
    static void hayai_tear_down_##fixture_name(struct fixture_name *fixture HAYAI_UNUSED,          \
                                               hayai_state *state HAYAI_UNUSED)

/* The body is not called when set-up has skipped; tear-down is. */
#define HAYAI_FIXTURE_CALL_(fixture_name, call, ...)                                               \
    HAYAI_ZEROED_(struct fixture_name, fixture);                                                   \
    hayai_set_up_##fixture_name(&fixture, state);                                                  \
    if (!hayai_state_skipped(state))                                                               \
        call(__VA_ARGS__);                                                                         \
    hayai_tear_down_##fixture_name(&fixture, state)

/* A benchmark of a fixture: the body gets `state` and `fixture`. */
#define HAYAI_BENCHMARK_F(fixture_name, name) HAYAI_BENCHMARK_F_WITH(fixture_name, name, (void)0)
#define HAYAI_BENCHMARK_F_WITH(fixture_name, name, ...)                                            \
    static void hayai_body_##fixture_name##_##name(hayai_state *state,                             \
                                                   struct fixture_name *fixture HAYAI_UNUSED);     \
    static void hayai_call_##fixture_name##_##name(hayai_state *state, void *context HAYAI_UNUSED) \
    {                                                                                              \
        HAYAI_FIXTURE_CALL_(fixture_name, hayai_body_##fixture_name##_##name, state, &fixture);    \
    }                                                                                              \
    HAYAI_CONFIGURE_(fixture_name##_##name, __VA_ARGS__)                                           \
    HAYAI_REGISTER_(fixture_name##_##name, #fixture_name "/" #name,                                \
                    hayai_call_##fixture_name##_##name, hayai_configure_##fixture_name##_##name)   \
    static void hayai_body_##fixture_name##_##name(hayai_state *state,                             \
                                                   struct fixture_name *fixture HAYAI_UNUSED)

/* A parametrised benchmark: `parameters` is a list in parentheses. It is run by its instances. */
#define HAYAI_BENCHMARK_P(group, name, parameters)                                                 \
    static void hayai_body_##group##_##name(hayai_state *state, HAYAI_UNPACK parameters)
#define HAYAI_BENCHMARK_P_INSTANCE(group, name, values)                                            \
    HAYAI_BENCHMARK_P_INSTANCE_WITH(group, name, values, (void)0)
#define HAYAI_BENCHMARK_P_INSTANCE_WITH(group, name, values, ...)                                  \
    HAYAI_P_INSTANCE_(group, name, values, HAYAI_JOIN(group##_##name##_, __COUNTER__), __VA_ARGS__)
#define HAYAI_P_INSTANCE_(group, name, values, id, ...)                                            \
    static void HAYAI_JOIN(hayai_call_, id)(hayai_state * state, void *context HAYAI_UNUSED)       \
    {                                                                                              \
        hayai_body_##group##_##name(state, HAYAI_UNPACK values);                                   \
    }                                                                                              \
    HAYAI_CONFIGURE_(id, __VA_ARGS__)                                                              \
    HAYAI_REGISTER_(id, #group "/" #name #values, HAYAI_JOIN(hayai_call_, id),                     \
                    HAYAI_JOIN(hayai_configure_, id))

/* A parametrised benchmark of a fixture: the body gets `state`, `fixture` and the parameters. */
#define HAYAI_BENCHMARK_PF(fixture_name, name, parameters)                                         \
    static void hayai_body_##fixture_name##_##name(                                                \
        hayai_state *state, struct fixture_name *fixture HAYAI_UNUSED, HAYAI_UNPACK parameters)
#define HAYAI_BENCHMARK_PF_INSTANCE(fixture_name, name, values)                                    \
    HAYAI_PF_INSTANCE_(fixture_name, name, values,                                                 \
                       HAYAI_JOIN(fixture_name##_##name##_, __COUNTER__))
#define HAYAI_PF_INSTANCE_(fixture_name, name, values, id)                                         \
    static void HAYAI_JOIN(hayai_call_, id)(hayai_state * state, void *context HAYAI_UNUSED)       \
    {                                                                                              \
        HAYAI_FIXTURE_CALL_(fixture_name, hayai_body_##fixture_name##_##name, state, &fixture,     \
                            HAYAI_UNPACK values);                                                  \
    }                                                                                              \
    HAYAI_REGISTER_(id, #fixture_name "/" #name #values, HAYAI_JOIN(hayai_call_, id), NULL)

#define HAYAI_MAIN()                                                                               \
    int main(int argc, char **argv)                                                                \
    {                                                                                              \
        return hayai_main(argc, argv);                                                             \
    }

#ifdef HAYAI_SHORT_NAMES
#ifdef BENCHMARK
#error "HAYAI_SHORT_NAMES: another library defines BENCHMARK; use the HAYAI_ names"
#endif
#define BENCHMARK HAYAI_BENCHMARK
#define BENCHMARK_WITH HAYAI_BENCHMARK_WITH
#define FIXTURE HAYAI_FIXTURE
#define SET_UP HAYAI_SET_UP
#define TEAR_DOWN HAYAI_TEAR_DOWN
#define BENCHMARK_F HAYAI_BENCHMARK_F
#define BENCHMARK_F_WITH HAYAI_BENCHMARK_F_WITH
#define BENCHMARK_P HAYAI_BENCHMARK_P
#define BENCHMARK_P_INSTANCE HAYAI_BENCHMARK_P_INSTANCE
#define BENCHMARK_P_INSTANCE_WITH HAYAI_BENCHMARK_P_INSTANCE_WITH
#define BENCHMARK_PF HAYAI_BENCHMARK_PF
#define BENCHMARK_PF_INSTANCE HAYAI_BENCHMARK_PF_INSTANCE
#define BENCHMARK_MAIN HAYAI_MAIN
#endif

#endif
