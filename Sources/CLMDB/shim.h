/* The system's LMDB, and what Swift has no word for. */
#include <lmdb.h>

/* The cache line at this address is about to be read; the address need not be mapped. */
static inline void quire_prefetch(const void *address) { __builtin_prefetch(address); }

#ifdef __linux__
#include <errno.h>
#include <pthread.h>
#include <sched.h>
#include <signal.h>
#include <stdint.h>
#include <sys/resource.h>
#include <sys/types.h>
#include <sys/vfs.h>
#include <time.h>

/* fcntl(2): a lock that belongs to the open file, not to the process. */
static const int quire_set_open_file_lock = 37;

#if defined(__GLIBC__)
int pthread_mutex_clocklock(pthread_mutex_t *, clockid_t, const struct timespec *);
#endif

/* Locks a mutex, or returns ETIMEDOUT when the monotonic clock shows `end`. */
static inline int quire_lock_until(pthread_mutex_t *mutex, const struct timespec *end)
{
#if defined(__GLIBC__)
    return pthread_mutex_clocklock(mutex, CLOCK_MONOTONIC, end);
#else
    const struct timespec pause = { 0, 1000000 };
    struct timespec now;
    for (;;) {
        int status = pthread_mutex_trylock(mutex);
        if (status != EBUSY) return status;
        clock_gettime(CLOCK_MONOTONIC, &now);
        if (now.tv_sec > end->tv_sec || (now.tv_sec == end->tv_sec && now.tv_nsec >= end->tv_nsec))
            return ETIMEDOUT;
        nanosleep(&pause, 0);
    }
#endif
}

int fallocate(int, int, off_t, off_t);

/* Gives the first `size` bytes of a file blocks of the disk, keeping what they hold. 0 or an error number;
   0 also where the file system cannot. */
static inline int quire_allocate(int descriptor, off_t size)
{
    if (fallocate(descriptor, 0, 0, size) == 0 || errno == EOPNOTSUPP || errno == ENOSYS) return 0;
    return errno;
}

/* The largest size of a file that this process may write, UINT64_MAX if there is no limit. */
static inline uint64_t quire_file_size_limit(void)
{
    struct rlimit limit;
    if (getrlimit(RLIMIT_FSIZE, &limit) != 0 || limit.rlim_cur == RLIM_INFINITY) return UINT64_MAX;
    return limit.rlim_cur;
}

/* Writing beyond that limit kills the process by SIGXFSZ, unless the thread holds the signal back. */
static inline void quire_hold_size_signal(sigset_t *before)
{
    sigset_t signals;
    sigemptyset(&signals);
    sigaddset(&signals, SIGXFSZ);
    pthread_sigmask(SIG_BLOCK, &signals, before);
}

/* Lets it through again; one that came meanwhile is forgotten, the failed write tells as much. */
static inline void quire_release_size_signal(const sigset_t *before)
{
    const struct timespec now = { 0, 0 };
    sigset_t signals;
    sigemptyset(&signals);
    sigaddset(&signals, SIGXFSZ);
    if (!sigismember(before, SIGXFSZ)) while (sigtimedwait(&signals, 0, &now) > 0) {}
    pthread_sigmask(SIG_SETMASK, before, 0);
}

/* The number of the file system that holds a path, 0 if there is none. Swift does not import statfs(2). */
static inline uint64_t quire_file_system(const char *path)
{
    struct statfs status;
    return statfs(path, &status) == 0 ? (uint32_t)status.f_type : 0;
}
#endif
