/* SPDX-License-Identifier: Apache-2.0 */
/* Threads: whether the system has enough of them, and runners in C. */
#include "internal.hpp"
#include <condition_variable>
#include <cstdlib>
#include <sys/mman.h>
#include <system_error>
#include <thread>

namespace
{

using namespace hayai;

class gate
{
  public:
    void close()
    {
        const std::lock_guard<std::mutex> lock(mutex_);
        is_open_ = false;
    }
    void open()
    {
        {
            const std::lock_guard<std::mutex> lock(mutex_);
            is_open_ = true;
        }
        changed_.notify_all();
    }
    void pass()
    {
        std::unique_lock<std::mutex> lock(mutex_);
        changed_.wait(lock, [this] { return is_open_; });
    }

  private:
    std::mutex mutex_;
    std::condition_variable changed_;
    bool is_open_ = true;
};

/* Of the threads of the run that is under way. */
gate all_made;

/* Address space that is left to the real run: for what malloc reserves for a thread, for a moment
 * (glibc: twice 64 MiB), and for the library's lists of threads. */
class reserve
{
  public:
    reserve() : at_(mmap(nullptr, size, PROT_NONE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0))
    {
    }
    ~reserve()
    {
        if (exists())
            munmap(at_, size);
    }
    reserve(const reserve &) = delete;
    reserve &operator=(const reserve &) = delete;
    bool exists() const
    {
        return at_ != MAP_FAILED;
    }

  private:
    static constexpr size_t size = size_t{128} << 20;
    void *const at_;
};

/* Threads that wait until all are there, or until one could not be made. */
class trial
{
  public:
    trial()
    {
        over_.close();
    }
    ~trial()
    {
        over_.open();
        for (std::thread &thread : threads_)
            thread.join();
    }
    /* Each has malloc reserve its memory before the next one is made, as the real ones may. */
    void add()
    {
        if (!reserve_.exists())
            throw std::runtime_error("128 MiB of address space must be left");
        allocated_.close();
        threads_.emplace_back([this] {
            void *volatile bytes = malloc(1);
            free(bytes);
            allocated_.open();
            over_.pass();
        });
        allocated_.pass();
    }
    size_t count() const
    {
        return threads_.size();
    }

  private:
    const reserve reserve_;
    gate allocated_, over_;
    std::vector<std::thread> threads_;
};

} // namespace

/* Google Benchmark makes its threads one by one, and those that it has wait for the others: where
 * one can't be made, it ends the process, or waits for ever. So all are tried, and no benchmark runs
 * in the real ones until they are all there. */
void hayai::prepare_threads(int threads)
{
    if (threads < 2)
        return;
    trial trial;
    try {
        while (trial.count() + 1 < static_cast<size_t>(threads))
            trial.add();
    } catch (const std::exception &exception) {
        throw limit_exceeded("the system has no " + std::to_string(threads) +
                             " threads now, only " + std::to_string(trial.count() + 1) + ": " +
                             exception.what());
    }
    all_made.close();
}

/* Thread 0 is the one that makes the others, and is called last. */
void hayai::wait_for_threads(int index)
{
    if (index == 0)
        all_made.open();
    else
        all_made.pass();
}

namespace
{

/* One call of a runner in C: counts what it calls. */
struct thread_work {
    const std::function<void(int)> &body;
    const int threads;
    std::atomic<int> called{0};
};

void call_body(int index, void *user)
{
    thread_work &work = *static_cast<thread_work *>(user);
    if (index < 0 || index >= work.threads)
        return;
    work.called++;
    work.body(index);
}

} // namespace

version::thread_runner hayai::runner_of(const thread_call &call)
{
    return [call](int threads, const std::function<void(int)> &body) {
        thread_work work{body, threads};
        call.function(threads, call_body, &work, call.user);
        if (work.called != threads)
            throw std::runtime_error("the thread runner called " + std::to_string(work.called) +
                                     " of " + std::to_string(threads) + " threads");
    };
}
