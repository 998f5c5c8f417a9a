/* Blocks of threads on the CPU: see cuda_runtime.h here. Apart from the streams, as a
 * thread sanitizer would not follow contexts that are switched. */
#include "cuda_runtime.h"

#include <math.h>
#include <memory>
#include <string.h>
#include <ucontext.h>
#include <vector>

/* ---- blocks ------------------------------------------------------------------ */

thread_local dim3 threadIdx, blockIdx, blockDim, gridDim;

namespace
{

constexpr size_t stack_bytes = 96 << 10;
constexpr unsigned warp_threads = 32;

/** Counts who has come; all go on when the last alive has. */
struct barrier {
    unsigned alive = 0, come = 0;
    uint64_t round = 0;
    bool is_any = false, was_any = false; /* in this round, in the one before */

    void check()
    {
        if (come < alive)
            return;
        come = 0;
        round++;
        was_any = is_any;
        is_any = false;
    }
};

struct warp_state {
    barrier meeting;
    uint64_t lanes[2][warp_threads];
};

/** The block that this thread of the CPU runs; its threads are contexts. */
struct block_state {
    const std::function<void()> *work;
    std::vector<ucontext_t> threads;
    std::vector<std::unique_ptr<char[]>> stacks;
    std::vector<bool> is_done;
    std::vector<warp_state> warps;
    barrier meeting;
    std::unique_ptr<char[]> shared;
    ucontext_t scheduler;
    unsigned now = 0;
};

thread_local block_state block;

void yield()
{
    swapcontext(&block.threads[block.now], &block.scheduler);
}

void meet(barrier &at)
{
    const uint64_t round = at.round;
    at.come++;
    at.check();
    while (at.round == round)
        yield();
}

void thread_main()
{
    (*block.work)();
    block.is_done[block.now] = true;
    block.meeting.alive--;
    block.meeting.check();
    barrier &warp = block.warps[block.now / warp_threads].meeting;
    warp.alive--;
    warp.check();
    yield();
}

void start_threads(unsigned n)
{
    block.threads.resize(n);
    block.warps.assign((n + warp_threads - 1) / warp_threads, warp_state());
    block.is_done.assign(n, false);
    block.meeting = barrier();
    block.meeting.alive = n;
    while (block.stacks.size() < n)
        block.stacks.emplace_back(new char[stack_bytes]);
    for (unsigned i = 0; i < n; i++) {
        block.warps[i / warp_threads].meeting.alive++;
        getcontext(&block.threads[i]);
        block.threads[i].uc_stack.ss_sp = block.stacks[i].get();
        block.threads[i].uc_stack.ss_size = stack_bytes;
        block.threads[i].uc_link = nullptr;
        makecontext(&block.threads[i], thread_main, 0);
    }
}

void run_block(unsigned n)
{
    start_threads(n);
    for (bool has_any = true; has_any;) {
        has_any = false;
        for (unsigned i = 0; i < n; i++) {
            if (block.is_done[i])
                continue;
            has_any = true;
            block.now = i;
            threadIdx = dim3(i);
            swapcontext(&block.scheduler, &block.threads[i]);
        }
    }
}

} // namespace

void *emulated_shared()
{
    return block.shared.get();
}

void emulated_block_barrier()
{
    meet(block.meeting);
}

void emulated_warp_barrier()
{
    meet(block.warps[block.now / warp_threads].meeting);
}

uint64_t *emulated_lanes()
{
    warp_state &warp = block.warps[block.now / warp_threads];
    return warp.lanes[warp.meeting.round % 2];
}

int __syncthreads_or(int value)
{
    block.meeting.is_any = block.meeting.is_any || value != 0;
    meet(block.meeting);
    return block.meeting.was_any;
}

void emulated_launch(cudaStream_t stream, dim3 grid, dim3 threads, size_t shared,
                     std::function<void()> work)
{
    emulated_enqueue(stream, [=] {
        block.work = &work;
        gridDim = grid;
        blockDim = threads;
        for (unsigned i = 0; i < grid.x; i++) {
            block.shared.reset(new char[shared]);
            memset(block.shared.get(), 0xff, shared);
            blockIdx = dim3(i);
            run_block(threads.x);
        }
    });
}

float rsqrtf(float x)
{
    return 1.0f / sqrtf(x);
}
