/* Streams, events and memory on the CPU: see cuda_runtime.h here. */
#include "cuda_runtime.h"

#include <condition_variable>
#include <deque>
#include <memory>
#include <mutex>
#include <stdlib.h>
#include <string.h>
#include <thread>
#include <vector>

/* ---- streams ------------------------------------------------------------------ */

struct emulated_stream {
    std::mutex mutex;
    std::condition_variable change;
    std::deque<std::function<void()>> work;
    bool is_busy = false, is_closed = false;
    std::thread thread{[this] { run(); }};

    void run()
    {
        std::unique_lock<std::mutex> lock(mutex);
        for (;;) {
            change.wait(lock, [this] { return !work.empty() || is_closed; });
            if (work.empty())
                return;
            std::function<void()> next = std::move(work.front());
            work.pop_front();
            is_busy = true;
            lock.unlock();
            next();
            lock.lock();
            is_busy = false;
            change.notify_all();
        }
    }

    void put(std::function<void()> next)
    {
        std::lock_guard<std::mutex> lock(mutex);
        work.push_back(std::move(next));
        change.notify_all();
    }

    void finish()
    {
        std::unique_lock<std::mutex> lock(mutex);
        change.wait(lock, [this] { return work.empty() && !is_busy; });
    }

    ~emulated_stream()
    {
        {
            std::lock_guard<std::mutex> lock(mutex);
            is_closed = true;
            change.notify_all();
        }
        thread.join();
    }
};

cudaStream_t emulated_own_stream(void)
{
    static thread_local emulated_stream own;
    return &own;
}

void emulated_enqueue(cudaStream_t stream, std::function<void()> work)
{
    stream->put(std::move(work));
}

cudaError_t cudaStreamCreateWithFlags(cudaStream_t *stream, unsigned)
{
    *stream = new emulated_stream;
    return cudaSuccess;
}

cudaError_t cudaStreamDestroy(cudaStream_t stream)
{
    delete stream;
    return cudaSuccess;
}

cudaError_t cudaStreamSynchronize(cudaStream_t stream)
{
    stream->finish();
    return cudaSuccess;
}

/* ---- events ------------------------------------------------------------------- */

/** What an event stands for is replaced by each record. */
struct emulated_mark {
    std::mutex mutex;
    std::condition_variable change;
    bool has_passed = false;
};

struct emulated_event {
    std::mutex mutex;
    std::shared_ptr<emulated_mark> mark;

    std::shared_ptr<emulated_mark> get()
    {
        std::lock_guard<std::mutex> lock(mutex);
        return mark;
    }
};

static void wait_for(const std::shared_ptr<emulated_mark> &mark)
{
    if (mark == nullptr)
        return;
    std::unique_lock<std::mutex> lock(mark->mutex);
    mark->change.wait(lock, [&] { return mark->has_passed; });
}

cudaError_t cudaEventCreateWithFlags(cudaEvent_t *event, unsigned)
{
    *event = new emulated_event;
    return cudaSuccess;
}

cudaError_t cudaEventDestroy(cudaEvent_t event)
{
    delete event;
    return cudaSuccess;
}

cudaError_t cudaEventRecord(cudaEvent_t event, cudaStream_t stream)
{
    std::shared_ptr<emulated_mark> mark = std::make_shared<emulated_mark>();
    {
        std::lock_guard<std::mutex> lock(event->mutex);
        event->mark = mark;
    }
    stream->put([mark] {
        std::lock_guard<std::mutex> lock(mark->mutex);
        mark->has_passed = true;
        mark->change.notify_all();
    });
    return cudaSuccess;
}

cudaError_t cudaEventQuery(cudaEvent_t event)
{
    std::shared_ptr<emulated_mark> mark = event->get();
    if (mark == nullptr)
        return cudaSuccess;
    std::lock_guard<std::mutex> lock(mark->mutex);
    return mark->has_passed ? cudaSuccess : cudaErrorNotReady;
}

cudaError_t cudaEventSynchronize(cudaEvent_t event)
{
    wait_for(event->get());
    return cudaSuccess;
}

cudaError_t cudaStreamWaitEvent(cudaStream_t stream, cudaEvent_t event, unsigned)
{
    std::shared_ptr<emulated_mark> mark = event->get();
    stream->put([mark] { wait_for(mark); });
    return cudaSuccess;
}

/* ---- memory ------------------------------------------------------------------- */

cudaError_t cudaMallocAsync(void **p, size_t bytes, cudaStream_t)
{
    *p = aligned_alloc(256, (bytes + 255) / 256 * 256);
    if (*p == nullptr)
        return cudaErrorMemoryAllocation;
    memset(*p, 0xff, bytes); /* NaN */
    return cudaSuccess;
}

cudaError_t cudaFreeAsync(void *p, cudaStream_t stream)
{
    stream->put([p] { free(p); });
    return cudaSuccess;
}

cudaError_t cudaMallocManaged(void **p, size_t bytes, unsigned)
{
    *p = malloc(bytes); /* exactly, so that a sanitizer sees where it ends */
    return *p == nullptr ? cudaErrorMemoryAllocation : cudaSuccess;
}

cudaError_t cudaFree(void *p)
{
    free(p);
    return cudaSuccess;
}

cudaError_t cudaMemsetAsync(void *p, int value, size_t bytes, cudaStream_t stream)
{
    stream->put([=] { memset(p, value, bytes); });
    return cudaSuccess;
}

/** What comes from the host is read before the call returns. */
cudaError_t cudaMemcpyAsync(void *to, const void *from, size_t bytes,
                            enum cudaMemcpyKind kind, cudaStream_t stream)
{
    if (kind != cudaMemcpyHostToDevice) {
        stream->put([=] { memcpy(to, from, bytes); });
        return cudaSuccess;
    }
    const char *const bytes_of = (const char *)from;
    std::vector<char> kept(bytes_of, bytes_of + bytes);
    stream->put([to, kept] { memcpy(to, kept.data(), kept.size()); });
    return cudaSuccess;
}

cudaError_t cudaMemcpyPeerAsync(void *to, int, const void *from, int, size_t bytes,
                                cudaStream_t stream)
{
    stream->put([=] { memcpy(to, from, bytes); });
    return cudaSuccess;
}

/* ---- devices ------------------------------------------------------------------ */

const char *cudaGetErrorString(cudaError_t error)
{
    return error == cudaSuccess ? "no error" : "an emulated error";
}

cudaError_t cudaGetDeviceCount(int *count)
{
    *count = 8;
    return cudaSuccess;
}

cudaError_t cudaSetDevice(int)
{
    return cudaSuccess;
}

cudaError_t cudaDeviceGetAttribute(int *value, enum cudaDeviceAttr attr, int)
{
    *value = attr == cudaDevAttrMultiProcessorCount            ? 1
             : attr == cudaDevAttrMaxSharedMemoryPerBlockOptin ? 163 << 10
                                                               : 1;
    return cudaSuccess;
}

cudaError_t cudaDeviceGetDefaultMemPool(cudaMemPool_t *pool, int)
{
    *pool = nullptr;
    return cudaSuccess;
}

cudaError_t cudaMemPoolSetAttribute(cudaMemPool_t, enum cudaMemPoolAttr, void *)
{
    return cudaSuccess;
}

cudaError_t cudaFuncSetAttribute(const void *, enum cudaFuncAttribute, int)
{
    return cudaSuccess;
}
