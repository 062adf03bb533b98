/* SPDX-License-Identifier: Apache-2.0 */
/* What is around all runs: custom context, memory manager, profiler. */
#include "internal.hpp"

namespace
{

using namespace hayai;

/* A copy of the library's object, never one of our own: its constructor needs a constant that
 * 1.7.1 does not export. */
void keep(const benchmark::MemoryManager::Result &result)
{
    instance *measured = last_called();
    if (measured)
        measured->memory.push_back(result);
}

#ifdef __clang__
#pragma clang diagnostic ignored "-Winconsistent-missing-override"
#endif

/* Both forms of Stop, since versions differ in which one is theirs: neither says override. */
class memory_manager : public benchmark::MemoryManager
{
  public:
    hayai_memory_manager manager = {};
    bool measures = false;

    void Start() override
    {
        manager.start(manager.user);
        measures = true;
    }
    void Stop(Result &result)
    {
        hayai_memory measured = {HAYAI_MEMORY_UNKNOWN, HAYAI_MEMORY_UNKNOWN, HAYAI_MEMORY_UNKNOWN,
                                 HAYAI_MEMORY_UNKNOWN};
        manager.stop(&measured, manager.user);
        measures = false;
        result.num_allocs = measured.allocations;
        result.max_bytes_used = measured.max_bytes_used;
        result.total_allocated_bytes = measured.total_allocated_bytes;
        result.net_heap_growth = measured.net_heap_growth;
        keep(result);
    }
    void Stop(Result *result)
    {
        Stop(*result);
    }
};

memory_manager the_memory_manager;

using profiler = version::profiler<benchmark::ProfilerManager>;

} // namespace

bool hayai::memory_is_measured()
{
    return the_memory_manager.measures;
}

extern "C" {

hayai_status hayai_add_context(const char *key, const char *value)
{
    if (!key || !*key || !value)
        return fail(HAYAI_ERROR_ARGUMENT, "a context without a key or a value");
    return guard([&] {
        const auto *context = benchmark::internal::GetGlobalContext();
        if (context && context->count(key) && context->at(key) == value)
            return HAYAI_OK;
        if (context && context->count(key))
            return fail(HAYAI_ERROR_ARGUMENT, "context %s: there already, with value %s", key,
                        context->at(key).c_str());
        benchmark::AddCustomContext(key, value);
        return HAYAI_OK;
    });
}

hayai_status hayai_register_memory_manager(const hayai_memory_manager *manager)
{
    return guard([&] {
        if (manager && (!manager->start || !manager->stop))
            return fail(HAYAI_ERROR_ARGUMENT, "a memory manager without start or stop");
        const hayai_status status =
            manager ? adopt("hayai_memory_manager", *manager, the_memory_manager.manager)
                    : HAYAI_OK;
        if (status == HAYAI_OK)
            benchmark::RegisterMemoryManager(manager ? &the_memory_manager : nullptr);
        return status;
    });
}

hayai_status hayai_register_profiler_manager(const hayai_profiler_manager *manager)
{
    return guard([&] {
        if (manager && (!manager->after_set_up_start || !manager->before_tear_down_stop))
            return fail(HAYAI_ERROR_ARGUMENT, "a profiler manager without one of its calls");
        hayai_profiler_manager own = {};
        const hayai_status status =
            manager ? adopt("hayai_profiler_manager", *manager, own) : HAYAI_OK;
        if (status != HAYAI_OK)
            return status;
        return profiler::enroll(manager ? &own : nullptr)
                   ? HAYAI_OK
                   : fail(HAYAI_ERROR_UNSUPPORTED,
                          "profiler managers need Google Benchmark 1.8.5, this is %s",
                          hayai_google_benchmark_version());
    });
}

void hayai_shutdown(void)
{
    benchmark::RegisterMemoryManager(nullptr);
    profiler::enroll(nullptr);
    /* The library deletes its context and keeps the pointer. */
    benchmark::Shutdown();
    benchmark::internal::GetGlobalContext() = nullptr;
}
}
