/* Exchanges between threads of the CPU: see nccl.h here. All is made of sends and
 * receives that a group posts together and that match by their order. */
#include "nccl.h"

#include <atomic>
#include <deque>
#include <map>
#include <memory>
#include <mutex>
#include <string.h>
#include <thread>
#include <vector>

namespace
{

struct letter {
    const void *data;
    size_t bytes;
    std::atomic<bool> is_taken{false};
};

struct meeting {
    std::mutex mutex;
    int ranks = 0, joined = 0;
    std::map<std::pair<int, int>, std::deque<std::shared_ptr<letter>>> boxes;
};

std::mutex meetings_mutex;
std::map<int, std::shared_ptr<meeting>> meetings;
int last_id = 0;

} // namespace

struct emulated_nccl {
    std::shared_ptr<meeting> place;
    int rank;
    std::shared_ptr<std::atomic<bool>> is_aborted =
        std::make_shared<std::atomic<bool>>(false);
};

namespace
{

struct post {
    bool is_send;
    const void *read;
    void *written;
    size_t bytes;
    int peer;
    ncclComm_t comm;
    cudaStream_t stream;
};

thread_local std::vector<post> posts;
thread_local int depth = 0;

/** Copy what a rank has sent, while it cannot withdraw it. @return whether it was there
 */
bool receive(meeting &place, int to, const post &p)
{
    std::lock_guard<std::mutex> lock(place.mutex);
    std::deque<std::shared_ptr<letter>> &box = place.boxes[{p.peer, to}];
    if (box.empty())
        return false;
    const std::shared_ptr<letter> found = box.front();
    box.pop_front();
    memcpy(p.written, found->data, found->bytes < p.bytes ? found->bytes : p.bytes);
    found->is_taken = true;
    return true;
}

/** What an aborted rank has sent and nobody has taken is gone. */
void withdraw(meeting &place, int rank)
{
    std::lock_guard<std::mutex> lock(place.mutex);
    for (auto &box : place.boxes)
        if (box.first.first == rank)
            box.second.clear();
}

/** On a stream: send all, receive all, then wait for what was sent to be taken. */
void exchange(const std::vector<post> &all, std::shared_ptr<meeting> place, int rank,
              const std::atomic<bool> &is_aborted)
{
    std::vector<std::shared_ptr<letter>> sent;
    for (const post &p : all) {
        if (!p.is_send)
            continue;
        std::shared_ptr<letter> l = std::make_shared<letter>();
        l->data = p.read;
        l->bytes = p.bytes;
        sent.push_back(l);
        std::lock_guard<std::mutex> lock(place->mutex);
        place->boxes[{rank, p.peer}].push_back(l);
    }
    for (const post &p : all)
        while (!p.is_send && !is_aborted && !receive(*place, rank, p))
            std::this_thread::yield();
    for (const std::shared_ptr<letter> &l : sent)
        while (!l->is_taken && !is_aborted)
            std::this_thread::yield();
    if (is_aborted)
        withdraw(*place, rank);
}

ncclResult_t put(post p)
{
    posts.push_back(p);
    return depth > 0 ? ncclSuccess : ncclInvalidUsage;
}

} // namespace

ncclResult_t ncclGetUniqueId(ncclUniqueId *id)
{
    std::lock_guard<std::mutex> lock(meetings_mutex);
    last_id++;
    meetings[last_id] = std::make_shared<meeting>();
    memset(id, 0, sizeof *id);
    memcpy(id->internal, &last_id, sizeof last_id);
    return ncclSuccess;
}

ncclResult_t ncclCommInitRankConfig(ncclComm_t *comm, int ranks, ncclUniqueId id,
                                    int rank, ncclConfig_t *config)
{
    int number;
    memcpy(&number, id.internal, sizeof number);
    std::lock_guard<std::mutex> lock(meetings_mutex);
    if (meetings.count(number) == 0 || config->blocking)
        return ncclInvalidUsage;
    *comm = new emulated_nccl{meetings[number], rank};
    std::lock_guard<std::mutex> inner((*comm)->place->mutex);
    (*comm)->place->ranks = ranks;
    (*comm)->place->joined++;
    return ncclInProgress;
}

ncclResult_t ncclCommFinalize(ncclComm_t)
{
    return ncclInProgress;
}

ncclResult_t ncclCommDestroy(ncclComm_t comm)
{
    delete comm;
    return ncclSuccess;
}

ncclResult_t ncclCommAbort(ncclComm_t comm)
{
    *comm->is_aborted = true;
    delete comm;
    return ncclSuccess;
}

ncclResult_t ncclCommGetAsyncError(ncclComm_t comm, ncclResult_t *state)
{
    std::lock_guard<std::mutex> lock(comm->place->mutex);
    *state = comm->place->joined < comm->place->ranks ? ncclInProgress : ncclSuccess;
    return ncclSuccess;
}

const char *ncclGetErrorString(ncclResult_t result)
{
    return result == ncclSuccess ? "no error" : "invalid usage";
}

ncclResult_t ncclGroupStart(void)
{
    depth++;
    return ncclSuccess;
}

ncclResult_t ncclGroupEnd(void)
{
    if (--depth > 0 || posts.empty())
        return ncclSuccess;
    const std::vector<post> all = std::move(posts);
    posts.clear();
    std::shared_ptr<meeting> place = all[0].comm->place;
    std::shared_ptr<std::atomic<bool>> is_aborted = all[0].comm->is_aborted;
    const int rank = all[0].comm->rank;
    emulated_enqueue(all[0].stream, [=] { exchange(all, place, rank, *is_aborted); });
    return ncclInProgress;
}

ncclResult_t ncclSend(const void *p, size_t n, ncclDataType_t, int peer,
                      ncclComm_t comm, cudaStream_t stream)
{
    return put({true, p, nullptr, n, peer, comm, stream});
}

ncclResult_t ncclRecv(void *p, size_t n, ncclDataType_t, int peer, ncclComm_t comm,
                      cudaStream_t stream)
{
    return put({false, nullptr, p, n, peer, comm, stream});
}

ncclResult_t ncclAllGather(const void *src, void *dst, size_t n, ncclDataType_t type,
                           ncclComm_t comm, cudaStream_t stream)
{
    (void)ncclGroupStart();
    for (int r = 0; r < comm->place->ranks; r++) {
        (void)ncclSend(src, n, type, r, comm, stream);
        (void)ncclRecv((char *)dst + n * (size_t)r, n, type, r, comm, stream);
    }
    return ncclGroupEnd();
}

ncclResult_t ncclBroadcast(const void *src, void *dst, size_t n, ncclDataType_t type,
                           int root, ncclComm_t comm, cudaStream_t stream)
{
    (void)ncclGroupStart();
    for (int r = 0; r < comm->place->ranks && comm->rank == root; r++)
        if (r != root || src != dst)
            (void)ncclSend(src, n, type, r, comm, stream);
    if (comm->rank != root || src != dst)
        (void)ncclRecv(dst, n, type, root, comm, stream);
    return ncclGroupEnd();
}
