/* SPDX-License-Identifier: Apache-2.0
 *
 * Benchmarks by macro, registered before main() in the order of the file.
 *
 *     HAYAI_BENCHMARK(number, square_root)
 *     {
 *         double number = 2;
 *         while (hayai_state_keep_running(state)) {
 *             hayai_do_not_optimize_in_out(number);
 *             double root = sqrt(number);
 *             hayai_do_not_optimize(root);
 *         }
 *     }
 *
 *     HAYAI_FIXTURE(buffer) { char *bytes; };
 *     HAYAI_SET_UP(buffer) { fixture->bytes = malloc(4096); }
 *     HAYAI_TEAR_DOWN(buffer) { free(fixture->bytes); }
 *     HAYAI_BENCHMARK_F_WITH(buffer, fill, hayai_benchmark_range(benchmark, 64, 4096))
 *     {
 *         while (hayai_state_keep_running(state)) {
 *             memset(fixture->bytes, 1, (size_t)hayai_state_range(state, 0));
 *             hayai_do_not_optimize(fixture->bytes);
 *         }
 *     }
 *
 *     HAYAI_BENCHMARK_P(math, power, (double base, int exponent))
 *     {
 *         while (hayai_state_keep_running(state)) {
 *             hayai_do_not_optimize_in_out(base);
 *             double result = pow(base, exponent);
 *             hayai_do_not_optimize(result);
 *         }
 *     }
 *     HAYAI_BENCHMARK_P_INSTANCE(math, power, (1.5, 3))
 *
 *     HAYAI_MAIN()
 *
 * The names in the reports are "number/square_root", "buffer/fill/64", "math/power(1.5, 3)". Define
 * HAYAI_SHORT_NAMES before including hayai.h for the same without HAYAI_. */
#ifndef HAYAI_H
#include "hayai.h"
#endif

#ifndef HAYAI_MACROS_H
#define HAYAI_MACROS_H

#ifdef __cplusplus
extern "C" {
#endif
#pragma GCC visibility push(default)

/* A benchmark that a macro defined; it is static data, so registering cannot fail. */
typedef struct hayai_node {
    const char *name;
    void (*function)(hayai_state *state, void *user);
    void (*configure)(hayai_benchmark *benchmark, void *user); /* or NULL */
    struct hayai_node *next;
} hayai_node;

/* Appends a node to the later contents of hayai_default_suite(). Call it only before the first use
 * of that suite, once per node, from one thread. */
void hayai_register(hayai_node *node);

#pragma GCC visibility pop
#ifdef __cplusplus
}
#endif

#define HAYAI_UNUSED __attribute__((unused))
#define HAYAI_UNPACK(...) __VA_ARGS__
#ifdef __cplusplus
#define HAYAI_ZEROED_(type, object) type object = {}
#else
#define HAYAI_ZEROED_(type, object)                                                                \
    type object;                                                                                   \
    __builtin_memset(&object, 0, sizeof object)
#endif

/* The group is at both ends, so that (a_b, c) and (a, b_c) differ. */
#define HAYAI_ID_(group, name) group##_##name##_of_##group

#define HAYAI_REGISTER_(id, text, call, configuration)                                             \
    __attribute__((constructor)) static void HAYAI_JOIN(hayai_register_, id)(void)                 \
    {                                                                                              \
        static hayai_node node = {text, call, configuration, NULL};                                \
        hayai_register(&node);                                                                     \
    }

#define HAYAI_CONFIGURE_(id, ...)                                                                  \
    static void HAYAI_JOIN(hayai_configure_, id)(hayai_benchmark * benchmark HAYAI_UNUSED,         \
                                                 void *user HAYAI_UNUSED)                          \
    {                                                                                              \
        __VA_ARGS__;                                                                               \
    }

/* Registers a call of `body` with `arguments` under this name. */
#define HAYAI_CALL_(id, text, body, arguments, ...)                                                \
    static void HAYAI_JOIN(hayai_call_, id)(hayai_state * state, void *user HAYAI_UNUSED)          \
    {                                                                                              \
        body arguments;                                                                            \
    }                                                                                              \
    HAYAI_CONFIGURE_(id, __VA_ARGS__)                                                              \
    HAYAI_REGISTER_(id, text, HAYAI_JOIN(hayai_call_, id), HAYAI_JOIN(hayai_configure_, id))

#define HAYAI_BODY_(id) HAYAI_JOIN(hayai_body_, id)

/* A plain benchmark: the body has `state`. */
#define HAYAI_BENCHMARK(group, name) HAYAI_BENCHMARK_WITH(group, name, (void)0)

/* The same with settings: statements that use `benchmark`. */
#define HAYAI_BENCHMARK_WITH(group, name, ...)                                                     \
    static void HAYAI_BODY_(HAYAI_ID_(group, name))(hayai_state * state);                          \
    HAYAI_CALL_(HAYAI_ID_(group, name), #group "/" #name, HAYAI_BODY_(HAYAI_ID_(group, name)),     \
                (state), __VA_ARGS__)                                                              \
    static void HAYAI_BODY_(HAYAI_ID_(group, name))(hayai_state * state)

/* An existing function, a hayai_function, once more under the name "function/variant". It gets NULL
 * as `user`. */
#define HAYAI_BENCHMARK_NAMED(function, variant)                                                   \
    HAYAI_BENCHMARK_NAMED_WITH(function, variant, (void)0)
#define HAYAI_BENCHMARK_NAMED_WITH(function, variant, ...)                                         \
    HAYAI_CALL_(HAYAI_ID_(function, variant), #function "/" #variant, function, (state, NULL),     \
                __VA_ARGS__)

/* A fixture: its members, then the required code before and after each call of each of its
 * benchmarks, which is not timed. Each thread has its own fixture, which starts as zeros. */
#define HAYAI_FIXTURE(fixture_name) struct fixture_name
#define HAYAI_SET_UP(fixture_name)                                                                 \
    static void hayai_set_up_##fixture_name(struct fixture_name *fixture HAYAI_UNUSED,             \
                                            hayai_state *state HAYAI_UNUSED)
#define HAYAI_TEAR_DOWN(fixture_name)                                                              \
    static void hayai_tear_down_##fixture_name(struct fixture_name *fixture HAYAI_UNUSED,          \
                                               hayai_state *state HAYAI_UNUSED)

/* The body is not called if set-up has skipped; tear-down is. */
#define HAYAI_FIXTURE_CALL_(fixture_name, call, ...)                                               \
    HAYAI_ZEROED_(struct fixture_name, fixture);                                                   \
    hayai_set_up_##fixture_name(&fixture, state);                                                  \
    if (!hayai_state_skipped(state))                                                               \
        call(__VA_ARGS__);                                                                         \
    hayai_tear_down_##fixture_name(&fixture, state)

/* A benchmark of a fixture: the body has `state` and `fixture`. */
#define HAYAI_BENCHMARK_F(fixture_name, name) HAYAI_BENCHMARK_F_WITH(fixture_name, name, (void)0)
#define HAYAI_BENCHMARK_F_WITH(fixture_name, name, ...)                                            \
    static void HAYAI_BODY_(HAYAI_ID_(fixture_name, name))(                                        \
        hayai_state * state, struct fixture_name * fixture HAYAI_UNUSED);                          \
    HAYAI_CALL_(HAYAI_ID_(fixture_name, name), #fixture_name "/" #name, HAYAI_FIXTURE_CALL_,       \
                (fixture_name, HAYAI_BODY_(HAYAI_ID_(fixture_name, name)), state, &fixture),       \
                __VA_ARGS__)                                                                       \
    static void HAYAI_BODY_(HAYAI_ID_(fixture_name, name))(                                        \
        hayai_state * state, struct fixture_name * fixture HAYAI_UNUSED)

/* A parametrised benchmark: `parameters` is a list in parentheses. Only its instances are run. */
#define HAYAI_BENCHMARK_P(group, name, parameters)                                                 \
    static void HAYAI_BODY_(HAYAI_ID_(group, name))(hayai_state * state, HAYAI_UNPACK parameters)
#define HAYAI_BENCHMARK_P_INSTANCE(group, name, values)                                            \
    HAYAI_BENCHMARK_P_INSTANCE_WITH(group, name, values, (void)0)
#define HAYAI_BENCHMARK_P_INSTANCE_WITH(group, name, values, ...)                                  \
    HAYAI_CALL_(HAYAI_JOIN(HAYAI_ID_(group, name), __COUNTER__), #group "/" #name #values,         \
                HAYAI_BODY_(HAYAI_ID_(group, name)), (state, HAYAI_UNPACK values), __VA_ARGS__)

/* A parametrised benchmark of a fixture: the body has `state`, `fixture` and the parameters. */
#define HAYAI_BENCHMARK_PF(fixture_name, name, parameters)                                         \
    static void HAYAI_BODY_(HAYAI_ID_(fixture_name, name))(                                        \
        hayai_state * state, struct fixture_name * fixture HAYAI_UNUSED, HAYAI_UNPACK parameters)
#define HAYAI_BENCHMARK_PF_INSTANCE(fixture_name, name, values)                                    \
    HAYAI_BENCHMARK_PF_INSTANCE_WITH(fixture_name, name, values, (void)0)
#define HAYAI_BENCHMARK_PF_INSTANCE_WITH(fixture_name, name, values, ...)                          \
    HAYAI_CALL_(HAYAI_JOIN(HAYAI_ID_(fixture_name, name), __COUNTER__),                            \
                #fixture_name "/" #name #values, HAYAI_FIXTURE_CALL_,                              \
                (fixture_name, HAYAI_BODY_(HAYAI_ID_(fixture_name, name)), state, &fixture,        \
                 HAYAI_UNPACK values),                                                             \
                __VA_ARGS__)

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
#define BENCHMARK_NAMED HAYAI_BENCHMARK_NAMED
#define BENCHMARK_NAMED_WITH HAYAI_BENCHMARK_NAMED_WITH
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
#define BENCHMARK_PF_INSTANCE_WITH HAYAI_BENCHMARK_PF_INSTANCE_WITH
#define BENCHMARK_MAIN HAYAI_MAIN
#endif

#endif
