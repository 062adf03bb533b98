/* SPDX-License-Identifier: Apache-2.0 */
/* Suites, and the versions. */
#include "internal.hpp"
#include <sstream>

namespace
{

using namespace hayai;

/* The JSON context names the library's own build type; nothing else in its interface does. */
std::string build_type()
{
    benchmark::JSONReporter reporter;
    std::ostringstream out;
    reporter.SetOutputStream(&out);
    reporter.SetErrorStream(&out);
    benchmark::BenchmarkReporter::Context context;
    reporter.ReportContext(context);
    const std::string text = out.str(), key = "\"library_build_type\": \"";
    const size_t at = text.find(key);
    if (at == std::string::npos)
        return "unknown";
    const size_t begin = at + key.size();
    return text.substr(begin, text.find('"', begin) - begin);
}

/* What the macros registered and the default suite does not hold yet. Constructors run before this
 * file's own would, so these are constants to begin with. */
hayai_node *first_node = nullptr;
hayai_node **last_node = &first_node;

hayai_status add_node(hayai_suite &suite, const hayai_node &node)
{
    hayai_benchmark *benchmark = nullptr;
    const hayai_status status =
        hayai_suite_add(&suite, node.name, node.function, nullptr, &benchmark);
    if (status == HAYAI_OK && node.configure)
        node.configure(benchmark, nullptr);
    return status;
}

hayai_suite &default_suite()
{
    static hayai_suite suite;
    return suite;
}

} // namespace

void hayai::discard(hayai_suite &suite)
{
    suite.doomed = false;
    if (&suite == &default_suite())
        suite.benchmarks.clear();
    else
        delete &suite;
}

extern "C" {

const char *hayai_version(void)
{
    return HAYAI_VERSION_STRING;
}

const char *hayai_google_benchmark_version(void)
{
    try {
        static const std::string version = version::library();
        return version.c_str();
    } catch (...) {
        return "unknown";
    }
}

const char *hayai_library_build(void)
{
    try {
        static const std::string build = build_type();
        return build.c_str();
    } catch (...) {
        return "unknown";
    }
}

hayai_suite *hayai_suite_create(void)
{
    clear_message();
    hayai_suite *suite = new (std::nothrow) hayai_suite;
    if (!suite)
        fail(HAYAI_ERROR_MEMORY, "out of memory (suite)");
    return suite;
}

void hayai_suite_destroy(hayai_suite *suite)
{
    if (!suite)
        return;
    if (suite == running_suite())
        suite->doomed = true;
    else
        hayai::discard(*suite);
}

void hayai_register(hayai_node *node)
{
    if (!node || node->next || last_node == &node->next) /* once is enough: twice is a circle */
        return;
    *last_node = node;
    last_node = &node->next;
}

hayai_suite *hayai_default_suite(void)
{
    hayai_suite &suite = default_suite();
    const hayai_status status = guard([&] {
        for (; first_node; first_node = first_node->next) {
            const hayai_status added = add_node(suite, *first_node);
            if (added != HAYAI_OK)
                return added;
        }
        last_node = &first_node;
        return HAYAI_OK;
    });
    return status == HAYAI_OK ? &suite : nullptr;
}

hayai_status hayai_suite_add(hayai_suite *suite, const char *name, hayai_function *function,
                             void *user, hayai_benchmark **out)
{
    if (!suite || !name || !*name || !function)
        return fail(HAYAI_ERROR_ARGUMENT, "hayai_suite_add(%s): no %s", name ? name : "",
                    !suite            ? "suite"
                    : !name || !*name ? "name"
                                      : "function");
    if (suite == running_suite())
        return fail(HAYAI_ERROR_STATE, "hayai_suite_add(%s): the suite is running", name);
    return guard([&] {
        auto benchmark = std::make_unique<hayai_benchmark>();
        benchmark->name = name;
        benchmark->function = function;
        benchmark->user = user;
        benchmark->suite = suite;
        benchmark->index = suite->benchmarks.size();
        suite->benchmarks.push_back(std::move(benchmark));
        if (out)
            *out = suite->benchmarks.back().get();
        return HAYAI_OK;
    });
}
}
