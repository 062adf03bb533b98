/* SPDX-License-Identifier: Apache-2.0 */
/* Threads: whether the system has enough of them, and runners in C. */
#include "internal.hpp"
#include <condition_variable>
#include <system_error>
#include <thread>

namespace
{

using namespace hayai;

/* Threads that wait until all are there, or until one could not be made. */
class trial
{
  public:
    ~trial()
    {
        {
            const std::lock_guard<std::mutex> lock(mutex_);
            over_ = true;
        }
        changed_.notify_all();
        for (std::thread &thread : threads_)
            thread.join();
    }
    void add()
    {
        threads_.emplace_back([this] {
            std::unique_lock<std::mutex> lock(mutex_);
            changed_.wait(lock, [this] { return over_; });
        });
    }
    size_t count() const
    {
        return threads_.size();
    }

  private:
    std::mutex mutex_;
    std::condition_variable changed_;
    bool over_ = false;
    std::vector<std::thread> threads_;
};

} // namespace

/* Google Benchmark makes its threads one by one, and those that it has wait for the others: where
 * one can't be made, it ends the process, or waits for ever. */
void hayai::require_threads(int threads)
{
    trial trial;
    try {
        while (trial.count() + 1 < static_cast<size_t>(threads))
            trial.add();
    } catch (const std::exception &exception) {
        throw limit_exceeded("the system has no " + std::to_string(threads) +
                             " threads now, only " + std::to_string(trial.count() + 1) + ": " +
                             exception.what());
    }
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
